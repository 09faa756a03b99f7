"""Subsamples of the rows: every class in its share, drawn before anything is fitted, like the naive twin."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rfsc import RFSCClassifier
from rfsc._engines import Criterion, Memo, make_engine
from rfsc._fit.fitting import sample_size
from rfsc._search.history import Candidate
from rfsc._search.loop import LEAST_OF_A_CLASS, N_FINALISTS, Subsamples, best_on_all_rows
from rfsc._search.rips import sample_population
from rfsc._utils.determinism import stream
from tests.reference import naive
from tests.search.runs import restarts, search
from tests.search.test_loop import sparse


def subsamples_of(problem, size, engine="numba"):
    code = (problem.target > 0).astype(int)
    return Subsamples.of_size(size, code, lambda rows: Memo(make_engine(engine, problem.take(rows))))


@pytest.mark.parametrize(("engine", "criterion"), [("numpy", Criterion.ACCURACY), ("numba", Criterion.LOO_LOG_LOSS)])
def test_agrees_step_by_step_with_the_naive_search(engine, criterion, make_problem):
    rng = np.random.default_rng(0)
    weight = rng.integers(1, 3, 150).astype(float)
    problem = make_problem(rng, n_rows=150, n_features=3, criterion=criterion, ridge=0.1, max_terms=10, weight=weight)
    all_rows = Memo(make_engine(engine, problem))
    subsamples = subsamples_of(problem, 90, engine)
    settings = {"n_models": 30, "max_iter": 6, "tol": 0.0, "max_terms": 10}
    result = search(all_rows, 10, 5, subsamples=subsamples, **settings)
    draws = []

    def draw(rip, common):
        draws.append(stream(np.random.SeedSequence(5), len(draws) + 1))
        population = sample_population(sparse(rip, common), 30, 10, draws[-1])
        return [population[m] for m in range(30)]

    def sample():
        return naive.stratified_rows(problem.target > 0, 90, draws[-1])

    slow = naive.search(problem, draw, 6, "keep", naive.one_step_left_out_predictor, sample, least=0.05)
    steps = list(zip(result.history, slow, strict=False))
    assert len(steps) == 6
    for record, (rip, _, scores, drawn_size, kept_size) in steps:
        np.testing.assert_allclose(record.rips.values, rip[record.rips.ids], atol=1e-6)
        assert record.mean_score == pytest.approx(scores.mean(), abs=1e-6)
        assert record.best_score == pytest.approx(scores.max(), abs=1e-6)
        assert record.mean_size_drawn == pytest.approx(drawn_size)
        assert record.mean_size_kept == pytest.approx(kept_size)
    kept, coef, value = naive.evaluate(problem, result.model.ids, naive.one_step_left_out_predictor)
    assert kept.tolist() == result.model.ids.tolist()
    np.testing.assert_allclose(result.model.coef, coef, rtol=1e-4, atol=1e-6)
    assert result.model.score == pytest.approx(value, abs=1e-6)  # on all rows, not on a subsample


@given(
    counts=st.lists(st.integers(1, 200), min_size=2, max_size=4),
    size=st.integers(1, 700),
    seed=st.integers(0, 2**32 - 1),
)
def test_every_class_has_its_share(counts, size, seed):
    rng = np.random.default_rng(seed)
    code = rng.permutation(np.repeat(np.arange(len(counts)), counts))
    subsamples = Subsamples.of_size(size, code, lambda rows: rows)
    expected = [max(min(n, LEAST_OF_A_CLASS), min(n, round(size * n / code.size))) for n in counts]
    if subsamples is None:
        assert size >= code.size or sum(expected) == code.size
        return
    rows = subsamples.draw(rng)
    assert np.all(np.diff(rows) > 0)
    assert np.bincount(code[rows], minlength=len(counts)).tolist() == expected


def test_rows_are_drawn_evenly_and_independently():
    code = np.repeat([0, 1], [300, 100])
    subsamples = Subsamples.of_size(200, code, lambda rows: rows)
    rng = np.random.default_rng(0)
    times = sum(np.bincount(subsamples.draw(rng), minlength=400) for _ in range(400))
    assert times.sum() == 400 * 200
    assert abs(times - 200).max() < 50  # five deviations of a fair coin thrown 400 times


@pytest.mark.parametrize(
    ("given_as", "rows"), [(None, None), ("auto", None), (70, 70), (0.55, 55), (1.0, 100), (1, 40), (0.001, 40)]
)
def test_max_samples_as_rows(given_as, rows):
    assert sample_size(given_as, n_rows=100, n_classes=2) == rows


def test_auto_samples_long_tables_only():
    assert sample_size("auto", n_rows=10_000, n_classes=2) is None
    assert sample_size("auto", n_rows=10_001, n_classes=2) == 5_000


def test_the_smallest_subsample_still_finds_a_model():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 4))
    y = X[:, 0] + X[:, 1] > 0
    clf = RFSCClassifier(basis="polynomial", max_samples=1, n_restarts=1, random_state=0).fit(X, y)
    assert {0, 1} <= set(clf.models_[0].features)
    assert clf.score(X, y) > 0.9


@given(size=st.integers(120, 400))
def test_as_many_as_there_are_rows_leaves_none_out(size):
    assert Subsamples.of_size(size, np.arange(120) % 2, lambda rows: rows) is None


def test_none_of_the_engines_sees_all_rows_before_the_end(rng, make_problem):
    problem = make_problem(rng, n_rows=400, ridge=0.1)
    asked = []

    class Watch:
        def __init__(self, name, engine):
            self.name, self.engine = name, engine

        def evaluate(self, supports):
            asked.append((self.name, len(supports)))
            return self.engine.evaluate(supports)

    few = Subsamples.of_size(
        100, (problem.target > 0).astype(int), lambda rows: Watch(rows.size, make_engine("numba", problem.take(rows)))
    )
    engine = Watch("all", make_engine("numba", problem))
    result = search(engine, 21, 1, subsamples=few, n_models=20, max_iter=30)
    n = result.n_iter
    first_on_all = next(i for i, (name, _) in enumerate(asked) if name == "all")
    assert sum(models for _, models in asked[:first_on_all]) >= 20 * n
    assert 98 <= asked[0][0] <= 102
    assert sum(models for name, models in asked if name == "all") <= N_FINALISTS + 1  # and the limit model


def test_the_best_on_all_rows_is_found_among_those_that_lead_on_few(rng, make_problem):
    problem = make_problem(rng, n_rows=600, ridge=0.1)
    few, everything = make_engine("numba", problem.take(np.arange(300))), make_engine("numba", problem)
    supports = [np.sort(rng.choice(21, 4, replace=False)) for _ in range(12)]
    models = [Candidate(ids, np.zeros(4), 0.5, 0.7) for ids in [*supports, *supports]]
    found = best_on_all_rows(models, few, everything)

    def scored(part, ids):
        return naive.evaluate(part, ids, naive.one_step_left_out_predictor)

    leading = sorted(supports, key=lambda ids: -scored(problem.take(np.arange(300)), ids)[2])[:N_FINALISTS]
    kept, _, value = max((scored(problem, ids) for ids in leading), key=lambda outcome: outcome[2])
    assert found.ids.tolist() == kept.tolist()
    assert found.score == pytest.approx(value, abs=1e-6)


def test_same_seed_same_search_whatever_the_threads(make_problem):
    problem = make_problem(np.random.default_rng(0), n_rows=500, ridge=0.1)
    runs = []
    for threads in (1, 2, 3):
        few = Subsamples.of_size(
            200, (problem.target > 0).astype(int), lambda rows, n=threads: make_engine("numba", problem.take(rows), n)
        )
        engine = make_engine("numba", problem, threads)
        runs.append(restarts(engine, 21, 1, 2, subsamples=few, n_models=40, max_iter=20))
    for other in runs[1:]:
        for one, two in zip(runs[0], other, strict=True):
            assert np.array_equal(one.model.coef, two.model.coef)
            assert [r.mean_score for r in one.history] == [r.mean_score for r in two.history]


def test_searches_settle_although_the_rows_change(rng, make_problem):
    problem = make_problem(rng, n_rows=3000, ridge=0.1)
    few = subsamples_of(problem, 300)
    searches = restarts(make_engine("numba", problem), 21, 2, 4, subsamples=few, patience=None, least_rip=0.0)
    assert [s.stop_reason for s in searches] == ["converged"] * 4
    assert all(s.limit is not None for s in searches)


def test_some_rows_keep_their_weight(rng, make_problem):
    problem = make_problem(rng, weight=rng.random(120))
    rows = np.array([3, 5, 90])
    part = problem.take(rows)
    np.testing.assert_array_equal(part.weight, problem.weight[rows])
    np.testing.assert_array_equal(part.target, problem.target[rows])
    np.testing.assert_array_equal(part.table, problem.table[:, rows])
    assert part.table.flags.c_contiguous


def test_what_is_computed_ahead_does_not_change_the_outcome(rng, make_problem):
    """Without the Gram matrix of all terms a fit starts from sums in another order: the last bits, nothing more."""
    problem = make_problem(rng, ridge=0.1)
    drawn = sample_population(sparse(np.full(21, 0.2), 0.2), 30, 10, rng)
    ahead = make_engine("numba", problem).evaluate(drawn)
    few = make_engine("numba", replace(problem, few_supports=True)).evaluate(drawn)
    assert np.array_equal(ahead.supports.ids, few.supports.ids)
    np.testing.assert_allclose(ahead.score, few.score, rtol=1e-9)
