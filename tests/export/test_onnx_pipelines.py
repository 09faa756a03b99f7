"""Whole pipelines as ONNX graphs."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import onnxruntime
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    RobustScaler,
    StandardScaler,
)

from rfsc import RFSCClassifier
from rfsc.export import to_onnx
from rfsc.export.program import Program

from .random_models import assert_agree


def classifier():
    """Fitted in no time."""
    return RFSCClassifier(basis="polynomial", n_restarts=1, random_state=0)


def table(n_rows=180):
    """Five numbers with blanks, two texts with blanks, and a diagnosis."""
    data = load_breast_cancer(as_frame=True)
    rng = np.random.default_rng(0)
    frame = data.data.iloc[:n_rows, :5].copy()
    frame = frame.mask(rng.random(frame.shape) < 0.1)
    worse = data.target.to_numpy()[:n_rows] == 0
    frame["stage é"] = pd.Series(np.where(rng.random(n_rows) < 0.7, np.where(worse, "III", "I"), "II"), dtype=object)
    frame["site"] = pd.Series(rng.choice(np.array(["left", "right", "rare", None], dtype=object), n_rows), dtype=object)
    return frame, np.where(worse, "malignant", "benign")


def session_of(model):
    """Runs a graph."""
    return onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])


def feeds_of(X, inputs):
    """What a graph reads of an array or a data frame."""
    if len(inputs) == 1 and inputs[0].name == "X":
        return {"X": np.asarray(X)}
    columns = {given.name: X[[given.name]].to_numpy() for given in inputs}
    return {name: np.where(pd.isna(c), "", c) if c.dtype == object else c for name, c in columns.items()}


def check(pipeline, X, model):
    """The graph says what the pipeline says, to 1e-9 and better."""
    session = session_of(model)
    label, probabilities, decision = session.run(None, feeds_of(X, session.get_inputs()))
    assert_agree(decision, pipeline.decision_function(X))
    assert_agree(probabilities, pipeline.predict_proba(X))
    np.testing.assert_array_equal(label, pipeline.predict(X))


FRAME, DIAGNOSIS = table()
NUMBERS = list(FRAME.columns[:5])
FILLED = FRAME[NUMBERS].fillna(1.0)


def encoded(**settings):
    """Numbers filled and scaled, texts as yes-or-no columns."""
    numbers = make_pipeline(SimpleImputer(strategy="median", add_indicator=False), StandardScaler())
    return ColumnTransformer([("n", numbers, NUMBERS), ("t", OneHotEncoder(**settings), ["stage é", "site"])])


@pytest.mark.parametrize("as_array", [True, False])
@pytest.mark.parametrize(
    "steps",
    [
        [],
        [StandardScaler()],
        [MinMaxScaler(feature_range=(-1, 3))],
        [RobustScaler(), MaxAbsScaler()],
        [SimpleImputer(), StandardScaler()],
        [SimpleImputer(strategy="median", add_indicator=True)],
        [SimpleImputer(strategy="constant", fill_value=3.5)],
    ],
    ids=lambda steps: "-".join(type(step).__name__ for step in steps) or "alone",
)
def test_numbers(steps, as_array):
    X = FRAME[NUMBERS] if steps and isinstance(steps[0], SimpleImputer) else FILLED
    X = X.to_numpy() if as_array else X
    pipeline = make_pipeline(*steps, classifier()).fit(X, DIAGNOSIS)
    check(pipeline, X, to_onnx(pipeline))


@pytest.mark.parametrize(
    "settings",
    [
        {"handle_unknown": "ignore"},
        {"handle_unknown": "ignore", "drop": "first"},
        {"handle_unknown": "infrequent_if_exist", "min_frequency": 50, "sparse_output": False},
    ],
)
def test_texts_and_blanks(settings):
    pipeline = make_pipeline(encoded(**settings), classifier()).fit(FRAME, DIAGNOSIS)
    model = to_onnx(pipeline)
    read = Program.of(pipeline).read
    assert [given.name for given in model.graph.input] == [FRAME.columns[c] for c in read]
    check(pipeline, FRAME, model)
    new = FRAME.iloc[:4].assign(site="nowhere before")
    if "drop" not in settings:  # scikit-learn warns of those
        check(pipeline, new, model)


def test_the_default_missing_label_of_a_pipeline():
    pipeline = make_pipeline(StandardScaler(), classifier()).fit(FILLED, DIAGNOSIS)
    session = session_of(to_onnx(pipeline))
    label, probabilities, _ = session.run(None, feeds_of(FILLED * np.nan, session.get_inputs()))
    assert set(label) == {""}
    assert np.isnan(probabilities).all()


def test_steps_that_no_recipe_can_express_are_refused():
    pipeline = make_pipeline(StandardScaler(), PCA(3), classifier()).fit(FILLED, DIAGNOSIS)
    with pytest.raises(TypeError, match="PCA"):
        to_onnx(pipeline)


def test_three_classes():
    X, y = load_iris(return_X_y=True)
    for labels in (y, np.array(["setosa", "versicolor", "virginica"])[y]):
        pipeline = make_pipeline(StandardScaler(), classifier()).fit(X, labels)
        check(pipeline, X, to_onnx(pipeline))


def test_what_is_not_ours_is_refused():
    with pytest.raises(TypeError, match="expected a fitted RFSCClassifier"):
        to_onnx(make_pipeline(StandardScaler(), PCA(2)).fit(FILLED))


@pytest.mark.slow
def test_importing_the_classifier_loads_no_exporter():
    loaded = "[name for name in sys.modules if 'onnx' in name or name.startswith('rfsc.export')]"
    code = f"import sys; from rfsc import RFSCClassifier; print({loaded})"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
