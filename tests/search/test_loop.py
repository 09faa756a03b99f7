"""The search: step by step like the naive twin, deterministic, observable, and able to find what was planted."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from rfsc._engines import Criterion, Memo, Supports, make_engine
from rfsc._engines.base import Evaluation
from rfsc._search.context import Context, Verdict
from rfsc._search.rips import RIPs, sample_population
from rfsc._search.screening import Screening
from rfsc._utils.determinism import stream
from tests.reference import naive
from tests.search.runs import search, watched


def sparse(rip, common):
    """A dense vector as the RIPs that the sampler reads: terms away from the common value are listed."""
    listed = np.flatnonzero(np.abs(rip - common) > 1e-12)
    return RIPs(rip.size, common, listed, rip[listed])


@pytest.mark.parametrize(
    ("unseen", "criterion", "engine"),
    [
        ("keep", Criterion.LOO_LOG_LOSS, "numba"),
        ("zero", Criterion.ACCURACY, "numba"),
        ("keep", Criterion.ACCURACY, "numpy"),
        ("zero", Criterion.LOO_LOG_LOSS, "numpy"),
    ],
)
def test_agrees_step_by_step_with_the_naive_search(unseen, criterion, engine, make_problem):
    rng = np.random.default_rng(0)
    problem = make_problem(rng, n_rows=120, n_features=3, criterion=criterion, ridge=0.1, max_terms=10)
    settings = {"n_models": 30, "max_iter": 8, "unseen": unseen, "least_rip": 0.5}
    result = search(Memo(make_engine(engine, problem)), 10, 5, max_terms=10, **settings)
    draws = (stream(np.random.SeedSequence(5), iteration) for iteration in itertools.count(1))

    def draw(rip, common):
        population = sample_population(sparse(rip, common), 30, 10, next(draws))
        return [population[m] for m in range(30)]

    slow = naive.search(problem, draw, 8, unseen, naive.one_step_left_out_predictor, least=0.05)
    steps = list(zip(result.history, slow, strict=False))
    assert len(steps) == 8
    for record, (rip, common, scores, drawn_size, kept_size) in steps:
        listed = record.rips.ids
        np.testing.assert_allclose(record.rips.values, rip[listed], atol=1e-6)
        others = np.delete(rip, listed)  # at the common value, or at the least
        assert np.all((np.abs(others - common) < 1e-9) | (others == 0.05))
        assert record.mean_score == pytest.approx(scores.mean(), abs=1e-6)
        assert record.best_score == pytest.approx(scores.max(), abs=1e-6)
        assert record.mean_size_drawn == pytest.approx(drawn_size)
        assert record.mean_size_kept == pytest.approx(kept_size)


def test_agrees_with_the_naive_search_from_screened_rips(rng, make_problem):
    problem = make_problem(rng, n_rows=120, n_features=3, ridge=0.1, max_terms=10)
    engine = Memo(make_engine("numba", problem))
    start = Screening(problem, 10, None, 1).first_rips(0, engine)
    result = search(engine, 10, 5, max_terms=10, start=start, n_models=30, max_iter=6, tol=0.0)
    draws = (stream(np.random.SeedSequence(5), iteration) for iteration in itertools.count(1))

    def draw(rip, common):
        population = sample_population(sparse(rip, common), 30, 10, next(draws))
        return [population[m] for m in range(30)]

    first = start[np.arange(10)], start.default
    slow = naive.search(problem, draw, 6, "keep", naive.one_step_left_out_predictor, start=first, least=start.least)
    for record, (rip, _, scores, drawn_size, _) in zip(result.history, slow, strict=True):
        np.testing.assert_allclose(record.rips.values, rip[record.rips.ids], atol=1e-5)
        assert record.mean_score == pytest.approx(scores.mean(), abs=1e-6)
        assert record.mean_size_drawn == pytest.approx(drawn_size)


def test_a_search_from_unequal_rips_that_has_drawn_nothing_yet_goes_on(rng, make_problem):
    engine = Memo(make_engine("numba", make_problem(rng, ridge=0.1)))
    start = RIPs(21, 1e-9, np.array([1]), np.array([0.02]))
    result = search(engine, 21, 1, start=start, n_models=2, max_iter=40)
    drawn = [record.mean_size_drawn > 0 for record in result.history]
    assert not drawn[0]
    assert any(drawn) or len(drawn) == 40


def test_same_seed_same_search_whatever_the_threads(make_problem):
    problem = make_problem(np.random.default_rng(0), n_rows=200, ridge=0.1)
    runs = [
        search(Memo(make_engine("numba", problem, threads)), 21, 1, n_models=40, max_iter=20) for threads in (1, 2, 3)
    ]
    for other in runs[1:]:
        assert np.array_equal(runs[0].model.coef, other.model.coef)
        assert [r.mean_score for r in runs[0].history] == [r.mean_score for r in other.history]


def test_returns_the_better_of_limit_and_best_visited(rng, make_problem):
    problem = make_problem(rng, ridge=0.1)
    engine = Memo(make_engine("numba", problem))
    result = search(engine, 21, 1, n_models=50, patience=None, least_rip=0.0)
    assert result.stop_reason == "converged"
    assert result.model.score == max(r.best_score for r in result.history)
    assert result.limit is not None
    assert result.limit.score <= result.model.score


def test_an_observer_sees_every_iteration_and_can_stop_the_search(rng, make_problem):
    seen = []

    def watch(record):
        seen.append(record.iteration)
        return "stop_search" if record.iteration == 3 else None

    context = watched(watch)
    result = search(make_engine("numba", make_problem(rng, ridge=0.1)), 21, 1, context=context, n_models=10, tol=0.0)
    assert seen == [1, 2, 3]
    assert result.stop_reason == "observer"
    assert not context.signals.stop_all


def test_the_strongest_verdict_of_several_observers_wins(rng, make_problem):
    context = watched(lambda _: "stop_search", lambda _: None, lambda _: Verdict.STOP_ALL)
    search(make_engine("numba", make_problem(rng, ridge=0.1)), 21, 1, context=context, n_models=10, tol=0.0)
    assert context.signals.stop_all
    assert Context().ask(None) is Verdict.CONTINUE


def test_an_unknown_verdict_names_the_callback_and_the_choices(rng, make_problem):
    engine = make_engine("numba", make_problem(rng, ridge=0.1))
    with pytest.raises(TypeError, match="expected None or one of 'continue', 'stop_search', 'stop_all'"):
        search(engine, 21, 1, context=watched(lambda record: 17), n_models=5, max_iter=2)


def test_no_information_leaves_no_limit_model(rng, make_problem):
    problem = make_problem(rng, ridge=0.1)
    result = search(make_engine("numba", problem), 21, 1, n_models=2, max_iter=1)
    assert result.limit is None
    assert result.n_iter == 1


def test_history_keeps_no_dead_terms(rng, make_problem):
    problem = make_problem(rng, ridge=0.1)
    result = search(make_engine("numba", problem), 21, 1, n_models=50, max_iter=40)
    assert all((record.rips.values > 0).all() for record in result.history)


def test_supports_handed_to_the_engine_respect_max_terms(rng, make_problem):
    problem = make_problem(rng, ridge=0.1, max_terms=3)
    engine = make_engine("numba", problem)
    sizes = []

    class Watch:
        def evaluate(self, supports: Supports):
            sizes.extend(supports.sizes.tolist())
            return engine.evaluate(supports)

    search(Watch(), 21, 1, max_terms=3, n_models=30, max_iter=30)
    assert max(sizes) == 3


def test_a_search_that_has_found_nothing_yet_goes_on():
    """A first population of which nothing passes the test moves no RIP by more than tol; that is no convergence."""

    class Pruning:
        """Lets nothing pass in the first three iterations, then everything."""

        def __init__(self):
            self.calls = 0

        def evaluate(self, supports):
            self.calls += len(supports)
            kept = np.full(supports.ids.size, self.calls > 1200)
            score = np.where((supports.sizes > 0) & (self.calls > 1200), 0.9, 0.5)
            zeros = np.zeros(len(supports))
            return Evaluation.from_kept(
                supports, kept, np.ones(kept.size), score, -np.log(score), zeros.astype(np.int8), zeros.astype(np.int64)
            )

    result = search(Pruning(), 2000, 0, n_models=400, max_iter=60)
    assert result.n_iter > 3
    assert result.model.ids.size > 0


def test_a_search_ends_when_everything_has_died():
    class Nothing:
        def evaluate(self, supports):
            zeros = np.zeros(len(supports))
            kept = np.zeros(supports.ids.size, dtype=bool)
            return Evaluation.from_kept(
                supports, kept, np.ones(kept.size), zeros + 0.5, zeros, zeros.astype(np.int8), zeros.astype(np.int64)
            )

    result = search(Nothing(), 20, 0, n_models=50, patience=None, least_rip=0.0)
    assert result.stop_reason == "converged"
    patient = search(Nothing(), 20, 0, n_models=50, patience=7)
    assert (patient.stop_reason, patient.n_iter) == ("patience", 8)
    assert result.n_iter < 50
    assert result.model.ids.size == 0


def test_patience_counts_from_the_last_better_model(rng, make_problem):
    result = search(make_engine("numba", make_problem(rng, ridge=0.1)), 21, 1, n_models=20, patience=5)
    best = [record.best_score for record in result.history]
    assert result.stop_reason == "patience"
    assert result.n_iter == 1 + int(np.argmax(best)) + 5
    assert len({tuple(ids) for ids in result.leaders}) == len(result.leaders) > 1
