"""New rows beside those of a fit."""

from __future__ import annotations

import json

import jsonschema
import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from rfsc import RFSCClassifier, SearchSettings
from rfsc.export import from_json, load, save, to_json
from rfsc.export.json_file import ModelFileError
from rfsc.monitor import monitor, with_reference
from rfsc.monitor.shift import LEAST_ROWS
from rfsc.monitor.shift_tables import BY_CHANCE, LARGE_CHANGE, STABLE

from ..export.test_json_file import SCHEMA

SEARCH = SearchSettings(max_iter=20, n_models=30)
QUICK = {"basis": "polynomial", "n_restarts": 1, "size": None, "random_state": 0, "search": SEARCH}


def rows(n, seed, shift=0.0):
    """A table with blanks and text, and classes that depend on all but the last column."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {"age": rng.normal(60 + shift, 10, n), "ward": rng.choice(["n", "s", "w"], n), "noise": rng.random(n)}
    )
    f = 0.15 * (X["age"] - 60) + 2.0 * (X["ward"] == "s") - 0.7
    y = np.where(rng.random(n) < 1 / (1 + np.exp(-f)), "sick", "well")
    X.loc[rng.random(n) < 0.1, "age"] = np.nan
    return X, y


@pytest.fixture(scope="module")
def fitted():
    X, y = rows(400, 0)
    encoder = make_column_transformer(
        (SimpleImputer(strategy="median", add_indicator=True), ["age", "noise"]),
        (OneHotEncoder(sparse_output=False, handle_unknown="ignore"), ["ward"]),
        verbose_feature_names_out=False,
    ).set_output(transform="pandas")
    pipeline = make_pipeline(encoder, RFSCClassifier(**QUICK)).fit(X, y)
    proba = cross_val_predict(pipeline, X, y, method="predict_proba", cv=3)
    return with_reference(pipeline, X, y, proba=proba)


def test_rows_of_the_same_kind_are_stable(fitted):
    X, y = rows(300, 1)
    found = monitor(fitted, X, y)
    assert found.largest_psi < 0.25
    assert set(found.columns.verdict) == {STABLE}
    assert found.columns.name != ()
    assert found.performance.verdict[0] == "no clear change"
    assert found.n_labelled == 300
    assert found.deciles.n.sum() == 300
    assert found.deciles.n.min() >= LEAST_ROWS


def test_scores_are_compared_with_those_of_the_same_model(fitted):
    assert monitor(fitted, rows(400, 0)[0]).scores.psi.tolist() == [0.0]  # though its measures are of left-out rows


def test_what_moves_is_named(fitted):
    X, _ = rows(300, 2, shift=25.0)
    X.loc[:99, "age"] = np.nan
    X.loc[:40, "ward"] = "new"
    X.loc[41:43, "ward"] = "rare"
    found = monitor(fitted, X)
    shifts = {row["name"]: row for row in found.columns.rows()}
    assert shifts["age"]["verdict"] == shifts["ward"]["verdict"] == LARGE_CHANGE
    assert shifts["age"]["blank"] == X["age"].isna().mean()
    assert shifts["age"]["outside"] == (X["age"] > rows(400, 0)[0]["age"].max()).mean()
    assert shifts["ward"]["unlisted"] == 44 / 300
    assert shifts["ward"]["new_levels"] == ("new",)
    assert shifts["ward"]["unlisted_at_fit"] == 0.0
    assert found.performance is found.deciles is None
    text = found.text()
    assert "Columns with large change, more than chance explains: age and ward." in text
    assert "Levels that were rare at the fit or are new: ward (new)." in text
    assert "rare " not in text.replace("rare at", "")


def test_few_rows_are_left_to_chance(fitted):
    found = monitor(fitted, rows(12, 3)[0])
    assert set(found.scores.verdict + found.columns.verdict) <= {BY_CHANCE, STABLE}
    assert found.largest_psi == 0.0
    assert "The PSI of few rows is noisy" in found.lines()[-1]


def test_worse_predictions_are_named(fitted):
    X, y = rows(600, 4)
    turned = np.where(np.random.default_rng(0).random(600) < 0.6, y, "sick")
    rows_of = {row["measure"]: row for row in monitor(fitted, X, turned).performance.rows()}
    assert rows_of["log-loss"]["verdict"] == rows_of["AUC"]["verdict"] == "worse than at the fit"
    assert rows_of["calibration intercept"]["verdict"] == "predictions are too high"  # of class well
    assert rows_of["calibration slope"]["verdict"] == "predictions are too extreme"


def test_rows_whose_class_is_unknown_are_not_judged(fitted):
    X, y = rows(300, 5)
    some = y.astype(object)
    some[100:] = None
    one, other = monitor(fitted, X, some), monitor(fitted, X[:100], y[:100])
    assert one.n_labelled == 100
    assert one.performance.now.tolist() == other.performance.now.tolist()
    assert monitor(fitted, X, np.full(300, None)).performance is None


def test_reference_survives_the_model_file(fitted, tmp_path):
    save(fitted, tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    assert again.reference_ == fitted.reference_
    X, y = rows(200, 6)
    assert monitor(again, X, y).to_json() == monitor(fitted, X, y).to_json()
    jsonschema.validate(json.loads(to_json(fitted)), SCHEMA)


@pytest.mark.parametrize("change", [{"counts": [1]}, {"counts": [-5, 5]}, {"cuts": ["a"]}, {"n_blank": None}])
def test_damaged_reference_is_refused(fitted, change):
    document = json.loads(to_json(fitted))
    document["reference"]["scores"][0] |= change
    with pytest.raises(ModelFileError, match="is damaged"):
        from_json(json.dumps(document))


def test_reference_holds_no_small_count(fitted):
    spreads = [*fitted.reference_.scores, *fitted.reference_.columns]
    assert min(n for spread in spreads for n in spread.counts) >= LEAST_ROWS
    assert {spread.name for spread in fitted.reference_.columns} <= {"age", "ward", "noise"}


def test_json_and_html(fitted):
    X, y = rows(200, 7)
    X["ward"] = np.where(X["ward"] == "n", "<b>", X["ward"])
    found = monitor(fitted, X, y)
    facts = json.loads(found.to_json())
    assert facts["rows"] == facts["rows_with_class"] == 200
    assert facts["largest_psi"] == found.largest_psi
    assert [row["name"] for row in facts["columns"]] == list(found.columns.name)
    page = found._repr_html_()
    assert "<b>" not in page
    assert "&lt;b&gt;" in page


def test_arrays_and_three_classes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = np.digitize(X[:, 0] + 0.3 * rng.normal(size=300), [-0.5, 0.5])
    model = with_reference(RFSCClassifier(**QUICK).fit(X, y), X, y)
    found = monitor(model, pd.DataFrame(X), y)
    assert found.largest_psi == 0.0
    assert found.scores.name == ("probability of 0", "probability of 1", "probability of 2")
    assert set(found.performance.label) == {"", "0", "1", "2"}
    assert "its own rows" in " ".join(found.lines())


def test_errors_say_what_to_do(fitted):
    X, y = rows(50, 8)
    with pytest.raises(ValueError, match="holds no reference"):
        monitor(fitted.with_reference(None), X)
    with pytest.raises(ValueError, match="lacks 1 of the 3 columns"):
        monitor(fitted, X.drop(columns="age"))
    with pytest.raises(ValueError, match="no rows"):
        monitor(fitted, X[:0])
    with pytest.raises(ValueError, match="not among the 2 classes"):
        monitor(fitted, X, np.full(50, "other"))
    with pytest.raises(ValueError, match=r"of shape \(50,\)"):
        with_reference(fitted, X, y, proba=np.ones(50))


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d["columns"][0].update(name="SECRET"),
        lambda d: d["columns"].pop(),
        lambda d: d.update(scores=[]),
        lambda d: d["columns"][1].update(kind="number", cuts=[0.5], levels=[], counts=[5, 5]),
    ],
)
def test_a_reference_of_another_model(fitted, change):
    """Its file is sound, but a column of text is not in bins of numbers, and so on."""
    document = json.loads(to_json(fitted))
    change(document["reference"])
    with pytest.raises(ValueError, match=r"^the reference of the model is that of another one\. Make it again"):
        monitor(from_json(json.dumps(document)), rows(50, 1)[0])


def test_classes_and_probabilities_that_are_none(fitted):
    X, y = rows(50, 1)
    for wrong in (y[:40], [[one] for one in y], pd.DataFrame({"y": y, "z": y})):
        with pytest.raises(ValueError, match=r"y must hold one label for each of the 50 rows"):
            monitor(fitted, X, wrong)
    for wrong in (["SECRET"] * 50, np.full((50, 2), np.nan), np.full((50, 2), 2.0), np.zeros((50, 3)), None):
        given = (y, wrong) if wrong is not None else (y[:40], np.zeros((50, 2)))
        with pytest.raises(ValueError, match="expected one row of 2 probabilities from 0 to 1") as caught:
            with_reference(fitted, X, given[0], proba=given[1])
        assert "SECRET" not in str(caught.value)
