"""Backward elimination, one model for each size, and exchanges of single terms: like the naive ones."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from rfsc._engines import Criterion, Memo, make_engine
from rfsc._engines.base import Supports
from rfsc._search.context import Context
from rfsc._search.elimination import eliminated, exchanged, most_frequent
from rfsc._search.history import Candidate
from tests.reference import naive
from tests.search.runs import restarts


def path_of(searches, engine, *, most=20, requirements=None):
    """Models by size, of the terms of all restarts' models."""
    return eliminated(
        most_frequent([s.model.ids for s in searches], most, requirements), engine, requirements, Context(), 99
    )


@pytest.fixture
def pooled(rng, make_problem):
    """Restarts on a small problem, and the same problem without test."""
    problem = make_problem(rng, n_rows=150, n_features=4, ridge=0.5)
    searches = restarts(Memo(make_engine("numba", problem)), 15, 1, 5, n_models=30, max_iter=20)
    untested = make_problem(
        np.random.default_rng(0),
        n_rows=150,
        n_features=4,
        ridge=0.5,
        significance=0.5,
        criterion=Criterion.LOO_LOG_LOSS,
    )
    return searches, untested


def test_equals_naive_backward_elimination(pooled):
    searches, problem = pooled
    path = path_of(searches, make_engine("numba", problem))

    def value(ids):
        return naive.evaluate(problem, ids, naive.one_step_left_out_predictor)[2]

    support = sorted({int(j) for s in searches for j in s.model.ids})
    expected = [(value(support), support)]
    while len(support) > 1:
        score, support = max((value(rest), rest) for rest in ([i for i in support if i != j] for j in support))
        expected.append((score, support))
    assert [model.ids.tolist() for model in path] == [ids for _, ids in expected[::-1]]
    assert [model.score for model in path] == pytest.approx([score for score, _ in expected[::-1]], abs=1e-6)


def test_only_the_most_frequent_terms_begin():
    supports = [np.array(ids) for ids in ([1, 5], [5, 7], [7, 5], [2, 7])]
    assert most_frequent(supports, 2, None).tolist() == [5, 7]
    assert most_frequent(supports, 3, None).tolist() == [1, 5, 7]  # of equally frequent ones the first


def test_nothing_to_begin_with(pooled):
    assert eliminated(np.empty(0, np.int64), make_engine("numba", pooled[1]), None, Context(), 99) == []


def test_many_terms_go_a_quarter_at_a_time(pooled):
    engine = make_engine("numba", pooled[1])
    everything = np.arange(15)
    path = eliminated(everything, engine, None, Context(), 6)
    sizes = [model.ids.size for model in path]
    assert sizes == [1, 2, 3, 4, 5, 6, 7, 9, 12, 15]
    for smaller, larger in itertools.pairwise(path):
        assert set(smaller.ids) < set(larger.ids)
    # the three that go first are those whose removal alone costs least
    rests = [np.delete(everything, j) for j in everything]
    cost = engine.evaluate(Supports.from_lists(rests)).log_loss
    assert set(everything) - set(path[-2].ids) == set(np.argsort(cost, kind="stable")[:3].tolist())


@pytest.mark.parametrize("begun", [[0, 1, 2], [0, 7, 14], [0, 12]])
def test_equals_naive_exchanges(pooled, begun):
    problem, pool, kept = pooled[1], np.arange(0, 15, 2), frozenset({0})
    engine = make_engine("numba", problem)
    first = Candidate.best_of(engine.evaluate(Supports.from_lists([np.array(begun)])))
    found = exchanged(first, pool, engine, Context(), kept)

    def value(ids):
        return naive.evaluate(problem, ids, naive.one_step_left_out_predictor)[2]

    support, score = begun, value(begun)
    while True:
        others = [sorted({*support, new} - {j}) for j in support[1:] for new in pool.tolist() if new not in support]
        best, rest = max((value(other), other) for other in others)
        if best <= score:
            break
        support, score = rest, best
    assert found.ids.tolist() == support
    assert found.score == pytest.approx(score, abs=1e-6)


def test_nothing_to_exchange(pooled):
    engine = make_engine("numba", pooled[1])
    whole = Candidate.best_of(engine.evaluate(Supports.from_lists([np.arange(4)])))
    assert exchanged(whole, np.arange(4), engine, Context(), frozenset()) is whole
