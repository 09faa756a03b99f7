"""Rounds of bins: what is shared, when the pool is stable, and what a term is worth."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rfsc._engines import FitOptions, Memo, make_engine
from rfsc._engines.base import Supports
from rfsc._search import Candidate, SearchSpec
from rfsc._search.bins import BinResult, BinSpec, BinTask, search_bin
from rfsc._search.rounds import RoundsSpec, find_pool, ranked
from rfsc._terms.bins import deal

ROUNDS = RoundsSpec(n_rounds=6, patience=2, sharing="model", reshuffle=True, max_pool=12, largest=6, price=0.01)
BINS = BinSpec(
    options=FitOptions(),
    search=SearchSpec(n_models=20, max_iter=20, max_terms=20),
    engine="numba",
    n_bins=4,
    constant=0,
    most_uniform=2_000,
)


@pytest.fixture(scope="module")
def problem(request):
    from rfsc._engines import Problem
    from rfsc._terms import MonomialSpace
    from rfsc._terms.scaling import Scaling

    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 80))
    target = np.where(2 * X[:, 3] - 2 * X[:, 50] + rng.logistic(size=150) > 0, 1.0, -1.0)
    return Problem(
        MonomialSpace(np.arange(80), 1), Scaling.from_rows(X).table(X), target, np.ones(150), FitOptions(), 20
    )


def found(ids, worth):
    return BinResult(Candidate(np.array(ids), np.zeros(len(ids)), 0.5, 0.5), np.array(worth, dtype=float), 1)


def test_worth_is_averaged_over_the_bins_that_could_hold_a_term():
    results = [found([1, 5], [0.3, 0.2]), found([1, 7], [0.5, 0.25]), found([1], [0.1])]
    assert ranked(results, np.array([1]), 3).tolist() == [1, 7, 5]  # 0.3, 0.25, 0.2
    assert ranked(results, np.array([1]), 4).tolist() == [7, 1, 5]  # 0.225: one bin did not take it
    assert ranked(results, np.array([], dtype=int), 3).tolist() == [1, 7, 5]
    assert ranked([found([], [])], np.array([2]), 3).size == 0


def test_a_bin_holds_its_own_terms_and_the_shared_ones(problem):
    seed = np.random.SeedSequence(1)
    task = BinTask(0, 2, 2, seed, np.random.SeedSequence(2), np.array([4, 51]))
    result = search_bin(problem.table, problem.target, problem.weight, problem.space, replace(BINS, tells=True), task)
    own = set(deal(81, 4, 2, seed).tolist()) | {0, 4, 51}
    assert {int(j) for record in result.history for j in record.rips.ids} <= own
    assert {4, 51} <= set(result.model.ids.tolist()) <= own
    assert {(record.output, record.restart) for record in result.history} == {(0, 2)}
    engine = Memo(make_engine("numpy", problem))  # another engine over the whole space
    for term, worth in zip(result.model.ids, result.worth, strict=True):
        rest = [j for j in result.model.ids if j != term]
        without = engine.evaluate(Supports.from_lists([rest])).score[0]
        assert worth == pytest.approx(result.model.score - without, abs=1e-6)


def test_the_pool_is_stable_when_its_model_has_stood(problem):
    result = find_pool(problem, BINS, ROUNDS, 0)
    models = [one.model.tolist() for one in result.rounds]
    assert result.stop_reason == "stable"
    assert models[-3] == models[-2] == models[-1]
    assert all(len({str(m) for m in models[k : k + 3]}) > 1 for k in range(len(models) - 3))
    assert {4, 51} <= set(models[-1])
    for one in result.rounds:
        assert set(one.model) <= set(one.pool)
        assert one.pool.size <= ROUNDS.max_pool + ROUNDS.largest
    once = find_pool(problem, BINS, replace(ROUNDS, n_rounds=1), 0)
    assert once.stop_reason == "n_rounds"
    np.testing.assert_array_equal(once.pool, result.rounds[0].pool)


def test_a_model_is_replaced_only_by_a_better_one(problem):
    result = find_pool(problem, BINS, replace(ROUNDS, patience=6), 3)
    losses = [-np.log(one.score) + ROUNDS.price * one.model.size for one in result.rounds]
    assert np.all(np.diff(losses) <= 0)


def test_a_perfect_score_ends_the_rounds(problem):
    target = np.where(problem.table[3] > 0.5, 1.0, -1.0)
    options = FitOptions(criterion=type(problem.options.criterion).ACCURACY)
    easy = replace(problem, target=target, options=options)
    assert find_pool(easy, replace(BINS, options=options), ROUNDS, 0).stop_reason == "perfect"


@pytest.mark.parametrize("sharing", ["model", "pool", "none"])
def test_what_is_shared_is_in_every_bin(problem, sharing):
    seen = []
    result = find_pool(
        problem, BINS, replace(ROUNDS, sharing=sharing, n_rounds=2), 5, observers=[lambda record: seen.append(record)]
    )
    first = result.rounds[0]
    shared = {"model": first.model, "pool": first.pool, "none": np.empty(0)}[sharing]
    bins = [[r for r in seen if r.restart == k and r.iteration == 1] for k in range(4, 8)]
    offered = [set(one[0].rips.ids.tolist()) for one in bins]
    # at the first iteration a shared term may already have fallen to zero, but not in most bins
    for term in shared:
        assert sum(term in own for own in offered) >= 2
    if sharing == "none":
        dealt = [set(deal(81, 4, k, np.random.SeedSequence(5, spawn_key=(0, 1))).tolist()) | {0} for k in range(4)]
        assert all(own <= bin_ for own, bin_ in zip(offered, dealt, strict=True))


@pytest.mark.parametrize("reshuffle", [True, False])
def test_terms_are_dealt_anew_where_asked_for(problem, reshuffle):
    seen = []
    spec = replace(ROUNDS, sharing="none", n_rounds=2, reshuffle=reshuffle)
    find_pool(problem, BINS, spec, 5, observers=[lambda record: seen.append(record)])
    touched = [{int(j) for r in seen if r.restart == k for j in r.rips.ids} - {0} for k in range(8)]
    overlap = [len(touched[k] & touched[j + 4]) for k in range(4) for j in range(4) if k != j]
    assert (sum(overlap) > 0) == reshuffle


def test_an_observer_ends_the_rounds_at_its_bin(problem):
    result = find_pool(problem, BINS, ROUNDS, 0, observers=[lambda r: "stop_all" if r.restart == 1 else None])
    assert result.stop_reason == "observer"
    assert len(result.rounds) == 1
