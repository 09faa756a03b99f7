"""Pooling: backward elimination like the naive one, never larger than asked for."""

from __future__ import annotations

import numpy as np
import pytest

from rfsc._engines import Criterion, Memo, make_engine
from rfsc._search.context import Context
from rfsc._search.pool import Elimination, pool
from rfsc._search.subsamples import N_FINALISTS
from tests.reference import naive
from tests.search.runs import restarts


def best_pooled(searches, engine, **options):
    """The best model of a pool; None if there is none."""
    return next(iter(pool(searches, Elimination(engine, **options), Context())), None)


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


@pytest.mark.parametrize("largest", [2, 3, 10])
def test_equals_naive_backward_elimination(pooled, largest):
    searches, problem = pooled
    fast = best_pooled(searches, make_engine("numba", problem), most_pooled=20, max_terms=largest)

    def value(ids):
        return naive.evaluate(problem, ids, naive.one_step_left_out_predictor)[2]

    support = sorted({int(j) for s in searches for j in s.model.ids})
    found = [(value(support), support)] if len(support) <= largest else []
    while len(support) > 1:
        score, support = max((value(rest), rest) for rest in ([i for i in support if i != j] for j in support))
        if len(support) <= largest:
            found.append((score, support))
    score, support = max(found)
    assert fast.ids.tolist() == support
    assert fast.score == pytest.approx(score, abs=1e-6)


@pytest.mark.parametrize("largest", [3, 10])
def test_terms_are_removed_on_few_rows_and_the_best_models_compared_on_all(pooled, largest):
    searches, problem = pooled
    part = problem.take(np.arange(0, 150, 2))
    engine, all_rows = make_engine("numba", part), make_engine("numba", problem)
    fast = best_pooled(searches, engine, most_pooled=20, max_terms=largest, all_rows=all_rows)

    def value(rows, ids):
        return naive.evaluate(rows, ids, naive.one_step_left_out_predictor)[2]

    support = sorted({int(j) for s in searches for j in s.model.ids})
    found = [(value(part, support), support)] if len(support) <= largest else []
    while len(support) > 1:
        score, support = max((value(part, rest), rest) for rest in ([i for i in support if i != j] for j in support))
        if len(support) <= largest:
            found.append((score, support))
    score, support = max((value(problem, ids), ids) for _, ids in sorted(found)[-N_FINALISTS:])
    assert fast.ids.tolist() == support
    assert fast.score == pytest.approx(score, abs=1e-6)


def test_only_the_most_frequent_terms_are_pooled(pooled):
    searches, problem = pooled
    counts = {}
    for search in searches:
        for j in search.model.ids.tolist():
            counts[j] = counts.get(j, 0) + 1
    top = sorted(counts, key=lambda j: (-counts[j], j))[:2]
    found = best_pooled(searches, make_engine("numba", problem), most_pooled=2, max_terms=2)
    assert set(found.ids.tolist()) <= set(top)


def test_nothing_found_nothing_pooled(make_problem):
    problem = make_problem(np.random.default_rng(0), significance=1e-12)
    searches = restarts(make_engine("numba", problem), 21, 0, 1, n_models=2, max_iter=1)
    assert searches[0].model.ids.size == 0
    assert best_pooled(searches, make_engine("numba", problem), most_pooled=5, max_terms=5) is None
