"""The classifier on tables of dask: fits, predictions that are not computed yet, and scores."""

from __future__ import annotations

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from rfsc import Restrictions, RFSCClassifier
from rfsc._fit import large_tables

N = 900
NAMES = list("abcd")


@pytest.fixture(autouse=True)
def _in_this_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(N, 4))
    f = X[:, 0] - X[:, 1] * X[:, 2] + 0.5 * rng.logistic(size=N)
    labels = np.array(["low", "middle", "high"])[np.digitize(f, [-1.0, 1.0])]
    return X, (f > 0).astype(int), labels, rng.integers(1, 3, N).astype(float)


@pytest.fixture(scope="module")
def frame_model(table):
    X, _, labels, _ = table
    return classifier().fit(pd.DataFrame(X, columns=NAMES), labels)


def classifier(**settings):
    return RFSCClassifier("polynomial", n_restarts=1, random_state=0, **settings)


def test_small_tables_give_the_model_of_memory(table):
    X, y, labels, weight = table
    frame, column = pd.DataFrame(X, columns=NAMES), pd.Series(labels, name="level")
    lazy = {
        "array": ((da.from_array(X, chunks=(400, 3)), da.from_array(y, chunks=500), weight), (X, y, weight)),
        "frame": ((dd.from_pandas(frame, npartitions=3), dd.from_pandas(column, npartitions=3)), (frame, column)),
    }
    for there, here in lazy.values():
        found, expected = (
            classifier(class_weight="balanced").fit(*there),
            classifier(class_weight="balanced").fit(*here),
        )
        assert found.classes_.tolist() == expected.classes_.tolist()
        assert found.manifest_["data"] == expected.manifest_["data"]
        assert getattr(found, "feature_names_in_", None) is None or found.feature_names_in_.tolist() == NAMES
        for a, b in zip(found.models_, expected.models_, strict=True):
            assert a.names == b.names
            np.testing.assert_allclose(a.coef, b.coef, rtol=1e-12)


def test_large_tables_are_searched_on_a_sample_and_fitted_to_all_rows(table, monkeypatch):
    monkeypatch.setattr(large_tables, "MAX_SAMPLE_ROWS", 400)
    X, y, _, weight = table
    clf = classifier(restrictions=Restrictions(force=["1"])).fit(da.from_array(X, chunks=(250, 4)), y, weight)
    (model,) = clf.models_
    assert {"1", "x1*x2"} <= set(model.names)
    assert model.n_observations == weight.sum()
    assert clf.manifest_["data"]["rows"] == N
    # the constant has no ridge: with it, probabilities have the mean of the labels over the rows that were fitted
    mean = np.average(clf.predict_proba(X)[:, 1], weights=weight)
    assert mean == pytest.approx(np.average(y, weights=weight), abs=1e-9)


def test_predictions_are_lazy_and_the_same(table, frame_model):
    X, y, _, _ = table
    frame = pd.DataFrame(X, columns=NAMES)
    bare = classifier().fit(X, y)
    cases = ((frame_model, frame, dd.from_pandas(frame, npartitions=3)), (bare, X, da.from_array(X, chunks=(400, 2))))
    for model, here, there in cases:
        for method in ("predict", "predict_proba", "decision_function"):
            found, expected = getattr(model, method)(there), getattr(model, method)(here)
            assert isinstance(found, da.Array)
            assert found.ndim == expected.ndim
            assert found.dtype == expected.dtype
            np.testing.assert_array_equal(found.compute(), expected)


def test_scores_are_those_of_memory(table, frame_model):
    X, _, labels, weight = table
    frame, column = pd.DataFrame(X, columns=NAMES), pd.Series(labels)
    lazy = dd.from_pandas(frame, npartitions=3)
    for y in (column, labels, dd.from_pandas(column, npartitions=3), da.from_array(labels, chunks=300)):
        assert frame_model.score(lazy, y) == pytest.approx(frame_model.score(frame, labels), abs=1e-12)
        assert frame_model.score(lazy, y, weight) == pytest.approx(frame_model.score(frame, labels, weight), abs=1e-12)


def test_an_error_leaves_the_classifier_as_it_was(table):
    X, y, _, _ = table
    bad = np.where(np.arange(N)[:, None] == 7, np.nan, X)
    clf = classifier()
    with pytest.raises(ValueError, match="contains NaN"):
        clf.fit(da.from_array(bad, chunks=(300, 4)), y)
    assert not hasattr(clf, "n_features_in_")
    with pytest.raises(NotFittedError):
        clf.predict(da.from_array(X))
