"""From a raw table with texts and blanks to generated code, and through the model file."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from rfsc import RFSCClassifier
from rfsc.export import from_json, to_c, to_json, to_python, to_sql

from .random_models import assert_agree
from .test_c_code import COMPILER, call, compiled
from .test_python_code import made

KINDS = {"age": "number", "dose": "number", "job's": "text", "ward": "number"}


def frame(seed, n, *, strange=False):
    """Numbers, texts and codes, with blanks."""
    rng = np.random.default_rng(seed)
    jobs = ["nurse", "cook", 'the "boss"', "rare"] + (["unheard of", "NURSE"] if strange else [])
    table = pd.DataFrame(
        {
            "age": rng.normal(50, 12, n),
            "dose": rng.exponential(3, n),
            "job's": rng.choice(jobs[:3] if not strange else jobs, n),
            "ward": rng.choice([1.0, 2.0, 7.0] + ([99.0] if strange else []), n),
        }
    )
    table.loc[:2, "job's"] = "rare"
    for name in ["age", "job's"]:
        table.loc[rng.random(n) < 0.2, name] = None
    return table


@pytest.fixture(scope="module", params=[2, 3], ids=["two", "three"])
def fitted(request):
    """A pipeline, and a table that it has not seen."""
    train = frame(0, 300)
    rng = np.random.default_rng(1)
    signal = train["age"].fillna(45) / 12 - train["dose"] / 2 + 2 * (train["job's"] == "cook") + rng.logistic(size=300)
    y = np.array(["ill", "well", "other"])[pd.qcut(signal, request.param, labels=False)]
    numbers = make_pipeline(StandardScaler(), SimpleImputer(add_indicator=True))
    texts = OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=5, sparse_output=False)
    codes = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    columns = [("numbers", numbers, ["age"]), ("texts", texts, ["job's"]), ("codes", codes, ["ward"])]
    prepare = ColumnTransformer([*columns, ("rest", "passthrough", ["dose"])])
    search = RFSCClassifier(n_restarts=1, basis="polynomial", random_state=0)
    return make_pipeline(prepare, search).fit(train, y), frame(2, 60, strange=True)


def rows_of(table):
    return table.astype(object).where(table.notna(), None).to_numpy().tolist()


@pytest.mark.filterwarnings("ignore:Found unknown categories")
def test_sql_of_a_pipeline_reads_the_raw_columns(database, fitted):
    pipeline, table = fitted
    database.load(rows_of(table), list(KINDS.items()))
    expected = pipeline.decision_function(table).reshape(len(table), -1)
    for source in (pipeline, from_json(to_json(pipeline))):
        query = to_sql(source, dialect=database.dialect, keep=["row_number"])
        _, found = database.ask(query)
        n = expected.shape[1]
        assert_agree([row[:n] for row in found], expected)
        assert_agree([row[n:-1] for row in found], pipeline.predict_proba(table))
        assert [row[-1] for row in found] == pipeline.predict(table).tolist()


@pytest.mark.filterwarnings("ignore:Found unknown categories")
def test_python_of_a_pipeline(fitted):
    pipeline, table = fitted
    predict = made(pipeline)
    found = [predict(row) for row in table.to_dict("records")]  # blanks as pandas has them
    expected = pipeline.decision_function(table).reshape(len(table), -1)
    assert_agree([list(x["decision"].values()) for x in found], expected)
    assert_agree([list(x["probability"].values()) for x in found], pipeline.predict_proba(table))
    assert [x["label"] for x in found] == pipeline.predict(table).tolist()


@pytest.mark.filterwarnings("ignore:Found unknown categories")
@pytest.mark.skipif(COMPILER is None, reason="there is no C compiler")
def test_c_of_a_pipeline(fitted, tmp_path):
    pipeline, table = fitted
    library = compiled([to_c(pipeline)], tmp_path)
    decision, probability, predicted = call(library, "rfsc_predict", pipeline, rows_of(table))
    assert_agree(decision, pipeline.decision_function(table).reshape(len(table), -1))
    assert_agree(probability, pipeline.predict_proba(table))
    assert list(predicted) == pipeline.predict(table).tolist()


def test_the_model_file_exports_the_same_text(fitted):
    pipeline, _ = fitted
    loaded = from_json(to_json(pipeline))
    for export in (to_sql, to_python, to_c):
        assert export(loaded) == export(pipeline)
