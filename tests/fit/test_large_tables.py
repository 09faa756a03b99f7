"""Tables beyond memory: what is read, the sample, and fits to all rows, beside the same in memory."""

from __future__ import annotations

import os

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rfsc._engines import FitOptions, Problem
from rfsc._fit import large_tables
from rfsc._fit.large_tables import LargeTable, max_sample_rows
from rfsc._fit.streamed_refit import streamed_refit
from rfsc._fit.targets import encode, row_weights
from rfsc._model.inference import refit
from rfsc._terms import MonomialSpace
from rfsc._terms.scaling import Scaling
from rfsc._utils import validation
from rfsc._utils.manifest import fingerprint
from rfsc._utils.validation import is_large

N = 900
SUPPORTS = [[0, 1, 2, 9], [0, 1, 4, 9, 12], [1]]


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


def in_memory(X, y, weight, class_weight, output, ridge):
    """Fit of every support to the rows in memory, and the problem of the last one."""
    weight = row_weights(weight, class_weight, X, y)
    used = weight > 0
    X, y, weight = X[used], y[used], weight[used]
    targets, scaling = encode(y), Scaling.from_rows(X)
    space, table = MonomialSpace(np.arange(4), 2), scaling.table(X)
    fits = []
    for ids in map(np.array, SUPPORTS):
        columns = space.columns(table, ids)
        mean = np.average(columns, axis=1, weights=weight)
        variance = np.average((columns.T - mean) ** 2, axis=0, weights=weight)
        fits.append(refit(columns, targets.outputs[output], weight, ridge * variance, np.zeros(ids.size)))
    problem = Problem(space, table, targets.outputs[output], weight, FitOptions(ridge=ridge, significance=0.5), 10)
    return fits, problem


def streamed(large, output=0, ridge=1.0, supports=SUPPORTS):
    space = MonomialSpace(np.arange(4), 2)
    models = [(np.array(ids, dtype=np.int64), np.zeros(len(ids))) for ids in supports]
    return [streamed_refit(large, space, ids, coef, output, ridge) for ids, coef in models]


def assert_same_fit(found, expected):
    np.testing.assert_allclose(found.coef, expected.coef, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(found.standard_error, expected.standard_error, rtol=1e-8)


CASES = {
    "two classes": (two, False, None, 0, 1.0),
    "three classes and weights": (three, True, None, 2, 1.0),
    "balanced classes": (two, True, "balanced", 0, 0.1),
    "an excluded class": (three, False, {"low": 0.0, "middle": 2.0}, 0, 1.0),
    "no ridge": (two, False, None, 0, 0.0),
}


@pytest.mark.parametrize("case", CASES)
def test_refit_is_that_of_the_same_rows_in_memory(table, case):
    X, f, weight = table
    labels, weighted, class_weight, output, ridge = CASES[case]
    y, weight = labels(f), weight if weighted else None
    large = LargeTable.read(da.from_array(X, chunks=(400, 3)), da.from_array(y, chunks=500), weight, class_weight)
    expected, problem = in_memory(X, y, weight, class_weight, output, ridge)
    assert large.n_rows == problem.target.size
    assert large.n_observations == pytest.approx(problem.weight.sum())
    for found, fit in zip(streamed(large, output, ridge), expected, strict=True):
        assert_same_fit(found, fit)


def test_a_model_without_terms_has_no_coefficients(table):
    X, f, _ = table
    (empty,) = streamed(LargeTable.read(da.from_array(X, chunks=(400, 4)), two(f)), supports=[[]])
    assert empty.coef.size == 0


@given(cuts=st.sets(st.integers(1, N - 1), max_size=6))
@settings(max_examples=5)
def test_cuts_do_not_matter(table, cuts):
    X, f, weight = table
    chunks = tuple(np.diff([0, *sorted(cuts), N]).tolist())
    one = LargeTable.read(da.from_array(X, chunks=(N, 4)), three(f), weight)
    cut = LargeTable.read(da.from_array(X, chunks=(chunks, 4)), three(f), weight)
    for a, b in zip(one.sample(200), cut.sample(200), strict=True):
        np.testing.assert_array_equal(a, b)
    for a, b in zip(streamed(one), streamed(cut), strict=True):
        assert_same_fit(b, a)


def test_sample_has_rows_of_every_class_and_their_own_weights(table):
    X, _, _ = table
    y = np.where(np.arange(N) < 12, "rare", np.where(np.arange(N) % 10, "common", "some"))
    weight = np.arange(N, dtype=float)
    sample_X, sample_y, sample_weight = LargeTable.read(da.from_array(X, chunks=(250, 4)), y, weight).sample(100)
    labels, counts = np.unique(sample_y, return_counts=True)
    assert dict(zip(labels.tolist(), counts.tolist(), strict=True)) == {"common": 89, "rare": 11, "some": 20}
    rows = sample_weight.astype(int)  # the weight of a row is its number
    assert (np.diff(rows) > 0).all()
    np.testing.assert_array_equal(sample_X, X[rows])
    np.testing.assert_array_equal(sample_y, y[rows])


def test_sample_of_a_small_table_is_the_table(table):
    X, f, weight = table
    large = LargeTable.read(da.from_array(X, chunks=(250, 4)), three(f), weight, "balanced")
    sample_X, _, sample_weight = large.sample(max_sample_rows(4))
    np.testing.assert_array_equal(sample_X, X[weight > 0])
    np.testing.assert_allclose(sample_weight, row_weights(weight, "balanced", X, three(f))[weight > 0])
    assert large.scaling.table(sample_X).min() == 0.0
    assert large.scaling.table(sample_X).max() == 1.0


def test_data_frames_keep_their_names_and_facts(table):
    X, f, weight = table
    frame, y = pd.DataFrame(X, columns=list("abcd")), pd.Series(three(f), name="level")
    targets = encode(y.to_numpy())
    expected = fingerprint(X, targets.classes, targets.code, np.ones(N), list("abcd"))
    lazy, lazy_y = dd.from_pandas(frame, npartitions=3), dd.from_pandas(y, npartitions=3)
    for labels in (y, lazy_y, da.from_array(y.to_numpy(), chunks=300)):
        large = LargeTable.read(lazy, labels)
        assert list(large.head.columns) == list("abcd")
        assert {k: large.fingerprint[k] for k in ("rows", "features", "classes", "schema", "weights")} == {
            k: expected[k] for k in ("rows", "features", "classes", "schema", "weights")
        }
        np.testing.assert_array_equal(large.sample(N)[0], X)
    other = LargeTable.read(lazy.values, y, weight)  # an array of unknown lengths
    assert other.fingerprint["weights"] is not None
    assert other.fingerprint["schema"] != large.fingerprint["schema"]


def test_rows_that_features_and_labels_share_are_read_once_per_pass():
    reads = []

    def read(number):
        reads.append(number)
        rng = np.random.default_rng(number)
        return pd.DataFrame(rng.random((50, 3)), columns=list("abc")).assign(y=rng.integers(0, 2, 50))

    frame = dd.from_map(read, range(4), meta=read(0))
    both = frame.to_dask_array(lengths=(50,) * 4)
    for X, y in ((frame[list("abc")], frame["y"]), (both[:, :3], both[:, 3].astype(int))):
        reads.clear()
        LargeTable.read(X, y)
        assert sorted(reads) == [0, 1, 2, 3]


def test_mapped_arrays_beyond_memory_are_streamed(table, tmp_path, monkeypatch):
    X, f, _ = table
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    assert not is_large(mapped)
    assert not is_large(X)
    assert is_large(da.from_array(X))
    monkeypatch.setattr(validation, "MAPPED_MEMORY_SHARE", 1e-12)
    monkeypatch.setattr(large_tables, "MAPPED_CHUNK_CELLS", 1000)
    assert is_large(mapped)
    assert not is_large(X)
    large = LargeTable.read(mapped, two(f))
    assert len(large.chunks) == 4
    expected, _ = in_memory(X, two(f), None, None, 0, 1.0)
    for found, fit in zip(streamed(large), expected, strict=True):
        assert_same_fit(found, fit)


def test_chunks_without_rows_that_count(table):
    X, f, _ = table
    weight = np.r_[np.zeros(300), np.ones(N - 300)]
    large = LargeTable.read(da.from_array(X, chunks=((300, 0, 600), 4)), two(f), weight)
    expected, _ = in_memory(X[300:], two(f)[300:], None, None, 0, 1.0)
    assert_same_fit(streamed(large)[0], expected[0])
    assert large.sample(100)[0].shape == (100, 4)


def broken(X, y):
    """Inputs that cannot be fitted, and what the message must say."""
    bad = X.copy()
    bad[7, 1] = np.nan
    dX, dy = da.from_array(X, chunks=(300, 4)), da.from_array(y, chunks=300)
    text = dd.from_pandas(pd.DataFrame({"a": ["secret"] * 6, "b": range(6)}), npartitions=2)
    short = dd.from_pandas(pd.DataFrame(X[:-1], columns=list("abcd")), npartitions=3)
    return {
        "contains NaN": (da.from_array(bad, chunks=(300, 4)), dy),
        "column a holds text": (text, [0, 1] * 3),
        "at least two classes": (dX, np.zeros(N, int)),
        "must not be negative": (dX, dy, -np.ones(N)),
        "no row has a positive weight": (dX, dy, np.zeros(N)),
        "or there is none": (dX[:0], dy[:0]),
        "one entry for each of the 900 rows": (dX, y[:-1]),
        "one entry for each of the 899 rows": (short, y),
        "inconsistent numbers of samples": (short, dd.from_pandas(pd.Series(y), npartitions=3)),
        "same partitions as X: X has 3, y has 2": (dX, dd.from_array(y, chunksize=450)),
        "got 2 dimensions": (dX, dX),
        "Expected 2D array": (dy, dy),
        "Unknown label type": (dX, np.arange(N) % 9 / 7),
        "y contains NaN": (dX, np.where(y > 0, 1.0, np.nan)),
        "y is None": (dX, None),
        "mixes labels": (dX, da.from_array(np.array([0, "a"] * (N // 2), dtype=object), chunks=300)),
        "different name for every column": (dd.concat([text, text], axis=1), [0, 1] * 3),
        "more than 100 different labels": (dX, np.arange(N)),
        "class_weight has keys that are not labels of y": (dX, dy, None, {5: 0.0}),
    }


@pytest.mark.parametrize("words", list(broken(np.zeros((N, 4)), np.zeros(N))))
def test_bad_tables(table, words, monkeypatch):
    monkeypatch.setattr(large_tables, "MAX_LABELS", 100)
    X, f, _ = table
    with pytest.raises(ValueError, match=words) as error:
        LargeTable.read(*broken(X, two(f))[words])
    assert "secret" not in str(error.value)


@pytest.mark.slow
def test_same_bits_on_one_worker_on_two_and_here(table, tmp_path):
    from distributed import Client, LocalCluster

    X, f, weight = table
    lazy = da.from_array(X, chunks=(100, 4)), da.from_array(three(f), chunks=100), weight
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r"), three(f), weight

    def found(data=lazy):
        large = LargeTable.read(*data)
        sums = [np.concatenate([one.coef, one.standard_error]) for one in streamed(large)]
        return large.fingerprint, np.concatenate(sums).tolist(), large.sample(100)[0].tolist()

    here, from_file = found(), found(mapped)
    options = {"threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
    with (
        dask.config.set(scheduler=None),
        LocalCluster(n_workers=2, **options) as cluster,
        Client(cluster) as client,
    ):
        assert found() == here
        assert found(mapped) == from_file  # read in this process
        client.retire_workers(list(client.run(os.getpid))[1:])
        assert found() == here
