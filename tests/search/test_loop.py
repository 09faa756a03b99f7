"""The search: step by step like the naive twin, deterministic, observable, and able to find what was planted."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from rfsc._engines import Criterion, Memo, Supports, make_engine
from rfsc._engines.base import Evaluation
from rfsc._search import RIPs, Screening, SearchSpec, Verdict, run_restarts, run_search
from rfsc._search.sampling import sample_population
from rfsc._utils.seeds import stream
from tests.reference import naive


def sparse(rip, common):
    """A dense vector as the RIPs that the sampler reads: terms away from the common value are listed."""
    listed = np.flatnonzero(np.abs(rip - common) > 1e-12)
    return RIPs(rip.size, common, listed, rip[listed])


@pytest.mark.parametrize("unseen", ["keep", "zero"])
@pytest.mark.parametrize("criterion", [Criterion.ACCURACY, Criterion.LOO_LOG_LOSS])
@pytest.mark.parametrize("engine", ["numpy", "numba"])
def test_agrees_step_by_step_with_the_naive_search(unseen, criterion, engine, rng, make_problem):
    problem = make_problem(rng, n_rows=120, n_features=3, criterion=criterion, ridge=0.1, max_terms=10)
    spec = SearchSpec(n_models=30, max_iter=8, tol=0.0, unseen=unseen, max_terms=10)
    result, _ = run_search(Memo(make_engine(engine, problem)), 10, spec, np.random.SeedSequence(5))
    draws = (stream(np.random.SeedSequence(5), iteration) for iteration in itertools.count(1))

    def draw(rip, common):
        population = sample_population(sparse(rip, common), 30, 10, next(draws))
        return [population[m] for m in range(30)]

    slow = naive.search(problem, draw, 8, unseen, naive.one_step_left_out_predictor)
    steps = list(zip(result.history, slow, strict=False))
    assert len(steps) == 8
    for record, (rip, common, scores, drawn_size, kept_size) in steps:
        listed = record.rips.ids
        np.testing.assert_allclose(record.rips.values, rip[listed], atol=1e-6)
        others = np.delete(rip, listed)  # at the common value, or dead
        assert np.all((np.abs(others - common) < 1e-9) | (others == 0.0))
        assert record.mean_score == pytest.approx(scores.mean(), abs=1e-6)
        assert record.best_score == pytest.approx(scores.max(), abs=1e-6)
        assert record.mean_size_drawn == pytest.approx(drawn_size)
        assert record.mean_size_kept == pytest.approx(kept_size)


def test_agrees_with_the_naive_search_from_screened_rips_and_when_screened_again(rng, make_problem):
    problem = make_problem(rng, n_rows=120, n_features=3, ridge=0.1, max_terms=10)
    spec = SearchSpec(n_models=30, max_iter=9, tol=0.0, max_terms=10, rescreen_every=2)
    engine = Memo(make_engine("numba", problem))
    start = Screening(problem, spec, None, 1).first_rips(0, engine)

    def lacking(ids):
        missing = np.setdiff1d(np.arange(10), ids)
        return missing, 0.03 * missing

    result, _ = run_search(
        engine, 10, spec, np.random.SeedSequence(5), start=start, rescreen=lambda best: lacking(best.ids)
    )
    plain, _ = run_search(engine, 10, spec, np.random.SeedSequence(5), start=start)
    draws = (stream(np.random.SeedSequence(5), iteration) for iteration in itertools.count(1))

    def draw(rip, common):
        population = sample_population(sparse(rip, common), 30, 10, next(draws))
        return [population[m] for m in range(30)]

    one_step = naive.one_step_left_out_predictor
    first = (start.dense(), start.default)
    slow = naive.search(problem, draw, 9, "keep", one_step, start=first, rescreen=lacking, every=2)
    for record, (rip, _, scores, drawn_size, _) in zip(result.history, slow, strict=True):
        np.testing.assert_allclose(record.rips.values, rip[record.rips.ids], atol=1e-5)
        assert record.mean_score == pytest.approx(scores.mean(), abs=1e-6)
        assert record.mean_size_drawn == pytest.approx(drawn_size)
    assert [r.mean_size_drawn for r in plain.history] != [r.mean_size_drawn for r in result.history]


def test_a_search_from_unequal_rips_that_has_drawn_nothing_yet_goes_on(rng, make_problem):
    engine = Memo(make_engine("numba", make_problem(rng, ridge=0.1)))
    start = RIPs(21, 1e-9, np.array([1]), np.array([0.02]))
    result, _ = run_search(engine, 21, SearchSpec(n_models=2, max_iter=40), np.random.SeedSequence(1), start=start)
    drawn = [record.mean_size_drawn > 0 for record in result.history]
    assert not drawn[0]
    assert any(drawn) or len(drawn) == 40


def test_a_search_is_screened_again_before_it_ends_by_itself(rng, make_problem):
    problem = make_problem(rng, ridge=0.1)
    asked = []

    def rescreen(best):
        asked.append(best.ids)
        missing = np.setdiff1d(np.arange(21), best.ids)
        return missing, np.full(missing.size, 0.4 if len(asked) == 1 else 0.0)

    spec = SearchSpec(n_models=50, max_iter=300, rescreen_every=1000)
    engine = Memo(make_engine("numba", problem))
    free, _ = run_search(engine, 21, spec, np.random.SeedSequence(1))
    result, _ = run_search(engine, 21, spec, np.random.SeedSequence(1), rescreen=rescreen)
    assert free.stop_reason == result.stop_reason == "converged"
    assert len(asked) == 2
    assert result.n_iter > free.n_iter


def test_same_seed_same_search_whatever_the_threads(make_problem):
    problem = make_problem(np.random.default_rng(0), n_rows=200, ridge=0.1)
    spec = SearchSpec(n_models=40, max_iter=20)
    runs = [
        run_search(make(make_engine("numba", problem, threads)), 21, spec, np.random.SeedSequence(1))[0]
        for threads, make in ((1, Memo), (2, Memo), (3, Memo))
    ]
    for other in runs[1:]:
        assert np.array_equal(runs[0].model.coef, other.model.coef)
        assert [r.mean_score for r in runs[0].history] == [r.mean_score for r in other.history]


def test_returns_the_better_of_limit_and_best_visited(rng, make_problem):
    problem = make_problem(rng, ridge=0.1)
    engine = Memo(make_engine("numba", problem))
    result, verdict = run_search(engine, 21, SearchSpec(n_models=50, max_iter=300), np.random.SeedSequence(1))
    assert verdict is Verdict.CONTINUE
    assert result.stop_reason == "converged"
    assert result.model.score == max(r.best_score for r in result.history)
    assert result.limit is not None
    assert result.limit.score <= result.model.score


def test_observers_see_every_iteration_and_can_stop(rng, make_problem):
    problem = make_problem(rng, ridge=0.1)
    engine = make_engine("numba", problem)
    seen = []

    def watch(record):
        seen.append((record.restart, record.iteration))
        if record.restart == 0 and record.iteration == 2:
            return "stop_search"
        if record.restart == 1 and record.iteration == 3:
            return Verdict.STOP_ALL
        return None

    spec = SearchSpec(n_models=10, max_iter=50, tol=0.0)
    result = run_restarts(engine, 21, spec, np.random.SeedSequence(1).spawn(4), observers=[watch])
    assert seen == [(0, 1), (0, 2), (1, 1), (1, 2), (1, 3)]
    assert result.stopped
    assert [s.stop_reason for s in result.searches] == ["observer", "observer"]


def test_an_observer_that_answers_nonsense_is_named(rng, make_problem):
    engine = make_engine("numba", make_problem(rng, ridge=0.1))
    with pytest.raises(TypeError, match="expected None or one of 'continue', 'stop_search', 'stop_all'"):
        run_search(
            engine, 21, SearchSpec(n_models=5, max_iter=2), np.random.SeedSequence(1), observers=[lambda record: 17]
        )


def test_average_is_the_mean_of_the_restarts(rng, make_problem):
    problem = make_problem(rng, ridge=0.1)
    result = run_restarts(
        Memo(make_engine("numba", problem)),
        21,
        SearchSpec(n_models=20, max_iter=15),
        np.random.SeedSequence(1).spawn(3),
    )
    ids, coef = result.average()
    f = np.mean([s.model.coef @ problem.space.columns(problem.table, s.model.ids) for s in result.searches], axis=0)
    np.testing.assert_allclose(coef @ problem.space.columns(problem.table, ids), f, atol=1e-10)


def test_no_information_leaves_no_limit_model(rng, make_problem):
    problem = make_problem(rng, ridge=0.1)
    result, _ = run_search(
        make_engine("numba", problem), 21, SearchSpec(n_models=2, max_iter=1), np.random.SeedSequence(1)
    )
    assert result.limit is None
    assert result.n_iter == 1


def test_history_keeps_no_dead_terms(rng, make_problem):
    problem = make_problem(rng, ridge=0.1)
    result, _ = run_search(
        make_engine("numba", problem), 21, SearchSpec(n_models=50, max_iter=40), np.random.SeedSequence(1)
    )
    assert all((record.rips.values > 0).all() for record in result.history)


def test_supports_handed_to_the_engine_respect_max_terms(rng, make_problem):
    problem = make_problem(rng, ridge=0.1, max_terms=3)
    engine = make_engine("numba", problem)
    sizes = []

    class Watch:
        def evaluate(self, supports: Supports):
            sizes.extend(supports.sizes.tolist())
            return engine.evaluate(supports)

    run_search(Watch(), 21, SearchSpec(n_models=30, max_iter=30, max_terms=3), np.random.SeedSequence(1))
    assert max(sizes) == 3


def test_a_search_that_has_found_nothing_yet_goes_on():
    """A first population of which nothing passes the test moves no RIP by more than tol; that is no convergence."""

    class Pruning:
        """Lets nothing pass in the first three iterations, then everything."""

        def __init__(self):
            self.calls = 0

        def evaluate(self, supports):
            self.calls += 1
            kept = np.full(supports.ids.size, self.calls > 3)
            score = np.where((supports.sizes > 0) & (self.calls > 3), 0.9, 0.5)
            zeros = np.zeros(len(supports))
            return Evaluation.from_kept(
                supports, kept, np.ones(kept.size), score, -np.log(score), zeros.astype(np.int8), zeros.astype(np.int64)
            )

    result, _ = run_search(Pruning(), 2000, SearchSpec(n_models=400, max_iter=60), np.random.SeedSequence(0))
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

    result, _ = run_search(Nothing(), 20, SearchSpec(n_models=50, max_iter=300), np.random.SeedSequence(0))
    assert result.stop_reason == "converged"
    assert result.n_iter < 50
    assert result.model.ids.size == 0
