"""A dask table gives the model that the same table in memory gives."""

from __future__ import annotations

import warnings

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from rfsc import Restrictions, RFSCClassifier
from rfsc._engines import block_sums
from rfsc.blocks import reading

N = 900


@pytest.fixture(autouse=True)
def _in_this_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(N, 4))
    f = X[:, 0] - X[:, 1] * X[:, 2] + 0.5 * rng.logistic(size=N)
    return X, f, rng.integers(0, 3, N).astype(float)


def two(f):
    return (f > 0).astype(int)


def three(f):
    return np.array(["low", "middle", "high"])[np.digitize(f, [-1.0, 1.0])]


def fitted(X, y, weight=None, **settings):
    settings = {"n_restarts": 1, "max_iter": 4, "basis": "polynomial", "random_state": 0} | settings
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return RFSCClassifier(**settings).fit(X, y, weight)


def assert_same_model(one, other):
    assert one.classes_.tolist() == other.classes_.tolist()
    for a, b in zip(one.models_, other.models_, strict=True):
        assert a.terms == b.terms
        np.testing.assert_allclose(b.coef, a.coef, rtol=1e-8, atol=1e-8)
        if a.standard_error is not None:
            np.testing.assert_allclose(b.standard_error, a.standard_error, rtol=1e-8)
        assert a.n_observations == pytest.approx(b.n_observations)


CASES = {
    "two classes": (two, False, {}),
    "three classes, weights": (three, True, {}),
    "balanced classes": (two, True, {"class_weight": "balanced"}),
    "a class left out": (three, False, {"class_weight": {"low": 0.0, "middle": 2.0}}),
    "subsamples": (two, True, {"max_samples": 200}),
    "restrictions": (two, False, {"restrictions": Restrictions(force=["x3"], hierarchy=True)}),
    "accuracy": (two, True, {"score": "balanced_accuracy", "combine": "best"}),
    "filter": (three, True, {"filter_significance": 0.05}),
    "other families": (two, False, {"basis": ["hinge", "radial"], "combine": "average"}),
}


@pytest.mark.parametrize("case", CASES)
def test_same_model_as_in_memory(table, case):
    X, f, weight = table
    labels, weighted, settings = CASES[case]
    y, weight = labels(f), weight if weighted else None
    parts = da.from_array(X, chunks=(400, 3)), da.from_array(y, chunks=500), weight
    there = fitted(*parts, engine="dask", **settings)
    here = fitted(X, y, weight, **settings)
    assert there.engine_ == "dask"
    assert_same_model(here, there)
    assert there.manifest_["data"] == here.manifest_["data"]
    assert [s.n_iter for s in there.searches_[0]] == [s.n_iter for s in here.searches_[0]]


@given(cuts=st.sets(st.integers(1, N - 1), max_size=6))
@settings(max_examples=5)
def test_cuts_do_not_matter(table, cuts):
    X, f, weight = table
    chunks = tuple(np.diff([0, *sorted(cuts), N]).tolist())
    there = fitted(da.from_array(X, chunks=(chunks, 4)), two(f), weight, engine="dask", max_iter=2)
    assert_same_model(fitted(X, two(f), weight, max_iter=2), there)


def test_without_a_compiler(table, monkeypatch):
    X, f, weight = table
    compiled = fitted(da.from_array(X, chunks=(500, 4)), two(f), weight, engine="dask", score="loo_accuracy")
    monkeypatch.setattr(block_sums, "find_spec", lambda name: None)
    assert_same_model(
        compiled, fitted(da.from_array(X, chunks=(500, 4)), two(f), weight, engine="dask", score="loo_accuracy")
    )


def test_data_frames_keep_their_names(table):
    X, f, _ = table
    frame, y = pd.DataFrame(X, columns=list("abcd")), pd.Series(three(f), name="level")
    here = fitted(frame, y)
    there = fitted(dd.from_pandas(frame, npartitions=3), dd.from_pandas(y, npartitions=3), engine="dask")
    assert there.feature_names_in_.tolist() == list("abcd")
    assert there.manifest_["data"] == here.manifest_["data"]
    assert there.manifest_["target"] == "level"
    assert_same_model(here, there)
    assert_same_model(here, fitted(frame, y, engine="dask"))


def test_small_tables_are_fetched_and_fitted_here(table):
    X, f, _ = table
    there = fitted(da.from_array(X, chunks=(500, 4)), two(f))
    assert there.engine_ != "dask"
    assert there.models_[0].coef.tolist() == fitted(X, two(f)).models_[0].coef.tolist()


def test_large_tables_are_fitted_by_all_rows(table, monkeypatch):
    """With few rows in hand: all candidate terms, RIPs and scores are those of all rows."""
    monkeypatch.setattr(reading, "MOST_ROWS", 200)
    X, f, weight = table
    for spec in ({"combine": "best"}, {"max_samples": 150}):
        there = fitted(da.from_array(X, chunks=(250, 4)), two(f), weight, **spec)
        assert there.engine_ == "dask"
        assert_same_model(fitted(X, two(f), weight, **spec), there)
        assert there.manifest_["data"]["rows"] == np.count_nonzero(weight)


def test_files_take_the_place_of_memory(table, monkeypatch):
    X, f, _ = table
    memory = fitted(da.from_array(X, chunks=(250, 4)), two(f), engine="dask")
    monkeypatch.setattr(reading, "IN_MEMORY", 0)
    files = fitted(da.from_array(X, chunks=(250, 4)), two(f), engine="dask")
    assert files.models_[0].coef.tolist() == memory.models_[0].coef.tolist()


def test_a_full_folder_is_told(table, monkeypatch):
    X, f, _ = table
    monkeypatch.setattr(reading, "IN_MEMORY", 0)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "save", full)
    with pytest.raises(OSError, match=r"temporary folder .*No space left.* TMPDIR"):
        fitted(da.from_array(X, chunks=(250, 4)), two(f), engine="dask")


def test_scores_of_blocks(table):
    X, f, weight = table
    frame, y = pd.DataFrame(X, columns=list("abcd")), pd.Series(three(f))
    clf = fitted(frame, y)
    lazy, lazy_y = dd.from_pandas(frame, npartitions=3), dd.from_pandas(y, npartitions=3)
    for labels in (y, lazy_y, y.to_numpy(), da.from_array(y.to_numpy(), chunks=100)):
        assert clf.score(lazy, labels) == clf.score(frame, y)
        assert clf.score(lazy, labels, weight) == clf.score(frame, y, weight)
    assert clf.score(frame, lazy_y) == clf.score(frame, y)


def test_filter_of_blocks_is_that_of_all_rows(monkeypatch):
    monkeypatch.setattr(reading, "MOST_ROWS", 4000)
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=20_000), rng.exponential(size=20_000) ** 3, rng.integers(0, 4, 20_000)])
    f = X[:, 0] + 0.05 * X[:, 2] + rng.logistic(size=20_000)
    y = three(f)
    spec = {"filter_significance": 0.01, "max_samples": 500, "max_iter": 1, "combine": "best"}
    there = fitted(da.from_array(X, chunks=(7000, 3)), y, **spec)
    here = fitted(X, y, **spec)
    for a, b in zip(here.models_, there.models_, strict=True):
        np.testing.assert_allclose(b.evidence.filter.statistic, a.evidence.filter.statistic, rtol=1e-2)
        assert (a.evidence.filter.kept == b.evidence.filter.kept).all()


def test_predictions_are_lazy_and_the_same(table):
    X, f, _ = table
    clf = fitted(pd.DataFrame(X, columns=list("abcd")), three(f))
    frame = pd.DataFrame(X, columns=list("abcd"))
    lazy = dd.from_pandas(frame, npartitions=3)
    for method in ("predict", "predict_proba", "decision_function"):
        found = getattr(clf, method)(lazy)
        assert isinstance(found, da.Array)
        np.testing.assert_array_equal(found.compute(), getattr(clf, method)(frame))
    bare = fitted(X, two(f))
    np.testing.assert_array_equal(bare.predict(da.from_array(X, chunks=(400, 2))).compute(), bare.predict(X))


def broken(X, y):
    """Inputs that cannot be fitted, and what the message must say."""
    bad = X.copy()
    bad[7, 1] = np.nan
    dX, dy = da.from_array(X, chunks=(300, 4)), da.from_array(y, chunks=300)
    text = dd.from_pandas(pd.DataFrame({"a": ["secret"] * 6, "b": range(6)}), npartitions=2)
    return {
        "contains NaN": (da.from_array(bad, chunks=(300, 4)), dy, None),
        "column a holds text": (text, [0, 1] * 3, None),
        "at least two classes": (dX, np.zeros(N, int), None),
        "must not be negative": (dX, dy, -np.ones(N)),
        "no row has a positive weight": (dX, dy, np.zeros(N)),
        "or there is none": (dX[:0], dy[:0], None),
        "one entry for each of the 900 rows": (dX, y[:-1], None),
        "cut as X is": (dX, dd.from_array(y, chunksize=450), None),
        "Unknown label type": (dX, np.linspace(0, 1, N), None),
        "missing labels": (dX, np.where(y > 0, 1.0, np.nan), None),
        "y is None": (dX, None, None),
        "mixes labels": (dX, da.from_array(np.array([0, "a"] * (N // 2), dtype=object), chunks=300), None),
        "different name for every column": (dd.concat([text, text], axis=1), [0, 1] * 3, None),
    }


@pytest.mark.parametrize("words", list(broken(np.zeros((N, 4)), np.zeros(N))))
def test_bad_tables(table, words):
    X, f, _ = table
    data = broken(X, two(f))[words]
    clf = RFSCClassifier()
    with pytest.raises(ValueError, match=words) as error:
        clf.fit(*data)
    assert "secret" not in str(error.value)
    assert not hasattr(clf, "n_features_in_")


def test_other_engines_are_refused(table):
    X, f, _ = table
    with pytest.raises(ValueError, match=r"engine='auto' or engine='dask'.*X\.compute"):
        RFSCClassifier(engine="numba").fit(da.from_array(X), two(f))
