"""Blocks: the rows that are fetched, what is sent, and how sums are put together."""

from __future__ import annotations

import dask
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rfsc._engines import BlockProblem, FitOptions, Problem, Supports, make_engine
from rfsc._engines.block_sums import Moments, add_moments
from rfsc._search import RankSubsamples, Subsamples
from rfsc._terms import MonomialSpace
from rfsc.blocks import Parts, read_blocks
from rfsc.blocks.reading import look


@pytest.fixture(autouse=True)
def _in_this_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def blocks_of(n_rows, n_blocks, seed=0):
    """Blocks, and the same rows as a problem in memory."""
    rng = np.random.default_rng(seed)
    X = rng.random((n_rows, 4))
    y = (X[:, 0] - X[:, 1] * X[:, 2] + 0.2 * rng.logistic(size=n_rows) > 0).astype(int)
    cuts = np.array_split(np.arange(n_rows), n_blocks)
    parts = [(dask.delayed(X[own]), dask.delayed(y[own]), None) for own in cuts]
    reading = look(Parts(parts, np.empty((0, 4)), on_workers=False), None, None, 1)
    blocks = read_blocks(reading, 1)
    table, target = reading.scaling.table(X), np.where(y > 0, 1.0, -1.0)
    problem = Problem(MonomialSpace(np.arange(4), 2), table, target, np.ones(n_rows), FitOptions(), 10)
    return blocks, problem, y


@given(n_rows=st.integers(60, 400), n_blocks=st.integers(1, 6), size=st.integers(1, 300), seed=st.integers(0, 99))
def test_subsamples_are_those_of_a_table_in_memory(n_rows, n_blocks, size, seed):
    blocks, problem, code = blocks_of(n_rows, n_blocks)
    here = Subsamples.of_size(size, code, None)
    there = RankSubsamples.of_counts(size, blocks.counts.sum(axis=0), None)
    assert (here is None) == (there is None)
    if here is not None:
        rows = problem.take(here.rows(np.random.default_rng(seed)))
        fetched = BlockProblem(problem, blocks, 0).take(there.rows(np.random.default_rng(seed)))
        np.testing.assert_array_equal(fetched.table, rows.table)
        np.testing.assert_array_equal(fetched.target, rows.target)


def test_messages_are_as_large_for_many_rows_as_for_few():
    supports = Supports.from_lists([[0, 1, 6], [0, 2, 3, 7], [1, 4]])
    sent = []
    for n_rows in (300, 12_000):
        blocks, problem, _ = blocks_of(n_rows, 3)
        engine = make_engine("dask", BlockProblem(problem, blocks, 0))
        engine.evaluate(supports)
        traffic = blocks.traffic
        assert traffic.fetches == 0
        assert traffic.passes >= 4
        assert traffic.tasks == traffic.passes * 5  # the request, three blocks, one sum
        sent.append((traffic.bytes_back / traffic.passes, traffic.bytes_out / traffic.passes))
    few, many = sent
    assert many[0] < 1.5 * few[0]  # models may differ in the number of steps, and so in what the passes hold
    assert many[1] < 1.5 * few[1]


def test_a_support_has_the_same_bits_beside_others_and_alone():
    blocks, problem, _ = blocks_of(20_000, 3)
    engine = make_engine("dask", BlockProblem(problem, blocks, 0))
    lists = [[0, 1, 6], list(range(9)), [], [3]]
    together = engine.evaluate(Supports.from_lists(lists))
    for m, one in enumerate(lists):
        alone = engine.evaluate(Supports.from_lists([one]))
        assert alone.supports[0].tolist() == together.supports[m].tolist()
        assert alone.score[0] == together.score[m]
        at = together.supports.indptr
        assert alone.coef.tolist() == together.coef[at[m] : at[m + 1]].tolist()


@given(
    values=st.lists(st.tuples(st.floats(-1e6, 1e6), st.floats(0.1, 10)), min_size=2, max_size=40),
    cut=st.integers(1, 39),
)
def test_variances_of_parts_make_that_of_the_whole(values, cut):
    x, w = np.array(values).T
    cut = min(cut, x.size - 1)

    def moments(x, w):
        mean = np.average(x, weights=w)
        return Moments(float(w.sum()), np.array([mean]), np.array([w @ (x - mean) ** 2]))

    found = add_moments([moments(x[:cut], w[:cut]), moments(x[cut:], w[cut:])])
    whole = moments(x, w)
    assert found.weight == pytest.approx(whole.weight)
    np.testing.assert_allclose(found.mean, whole.mean, rtol=1e-9, atol=1e-6)
    np.testing.assert_allclose(found.squares, whole.squares, rtol=1e-9, atol=1e-3)
