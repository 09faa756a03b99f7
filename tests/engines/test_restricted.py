"""Pruning under restrictions: as in the naive implementation, and what is left of a support evaluates to itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.optimize import brentq

from rfsc._engines import Criterion, FitOptions, Problem, Restricted, Supports, Ties, make_engine
from rfsc._engines.base import ties_of
from rfsc._model.inference import refit
from rfsc._terms import MonomialSpace
from rfsc._terms.requirements import Requirements
from tests.reference import naive
from tests.reference.naive_requirements import NaiveRequirements

NAMES = ["numpy", "numba"]


def random_requirements(rng, space):
    """Restrictions that forbid no term, fast and naive."""
    groups = [set(rng.choice(space.n_terms, 3, replace=False).tolist()) for _ in range(rng.integers(0, 3))]
    hierarchy = bool(rng.integers(2))
    plain = NaiveRequirements(
        space, rng.choice(space.n_terms, rng.integers(0, 3), replace=False).tolist(), (), (), groups, hierarchy
    )
    by_term = {j: frozenset(plain.closure([j])) for group in groups for j in group}
    return Requirements(space, frozenset(plain.forced), groups=by_term, hierarchy=hierarchy), plain


def random_signs(rng, requirements):
    """The same requirements with signs of some features, and the signs of all coefficients."""
    some = rng.choice(3, rng.integers(1, 4), replace=False).tolist()
    signed = replace(requirements, signs={p: int(rng.choice([-1, 1])) for p in some})
    return signed, {j: signed.sign(j) for j in range(signed.space.n_terms)}


def closed_supports(rng, plain, n_terms, n, largest=6):
    drawn = [rng.choice(n_terms, rng.integers(0, largest), replace=False).tolist() for _ in range(n)]
    return Supports.from_lists([plain.admit(ids, n_terms) for ids in drawn])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("criterion", [Criterion.ACCURACY, Criterion.LOO_LOG_LOSS])
@pytest.mark.parametrize("seed", range(2))
def test_evaluation_equals_the_naive_one(name, criterion, seed, make_problem):
    rng = np.random.default_rng(seed)
    problem = make_problem(rng, n_rows=70, n_features=3, criterion=criterion, ridge=0.1, significance=0.02)
    requirements, plain = random_requirements(rng, problem.space)
    supports = closed_supports(rng, plain, 10, 12)
    result = Restricted(make_engine(name, problem), requirements).evaluate(supports)
    for m in range(len(supports)):
        ids, coef, value = naive.evaluate(problem, supports[m], naive.one_step_left_out_predictor, plain.hold)
        a, b = result.supports.indptr[m : m + 2]
        assert np.array_equal(result.supports.ids[a:b], ids)
        np.testing.assert_allclose(result.coef[a:b], coef, rtol=1e-6, atol=1e-8)
        assert abs(result.score[m] - value) < 1e-6
        assert plain.obeys(ids.tolist())


@pytest.mark.parametrize("seed", range(3))
def test_engines_agree(seed, make_problem):
    rng = np.random.default_rng(seed)
    problem = make_problem(rng, n_rows=150, ridge=0.01)
    requirements, plain = random_requirements(rng, problem.space)
    supports = closed_supports(rng, plain, 21, 40, largest=10)
    slow, fast = (Restricted(make_engine(name, problem), requirements).evaluate(supports) for name in NAMES)
    assert np.array_equal(slow.supports.ids, fast.supports.ids)
    np.testing.assert_allclose(slow.coef, fast.coef, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(slow.score, fast.score, rtol=1e-6)  # at different last steps


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("significance", [0.5, 0.02])
@pytest.mark.parametrize("seed", range(4))
def test_evaluation_with_signs_equals_the_naive_one(name, significance, seed, make_problem):
    rng = np.random.default_rng(seed)
    criterion = Criterion.LOO_LOG_LOSS
    problem = make_problem(rng, n_rows=70, n_features=3, criterion=criterion, ridge=0.1, significance=significance)
    requirements, plain = random_requirements(rng, problem.space)
    requirements, signs = random_signs(rng, requirements)
    possible = [j for j in range(10) if not {k for k in plain.closure([j]) if signs[k] is None}]
    drawn = [rng.choice(possible, rng.integers(0, min(7, len(possible))), replace=False).tolist() for _ in range(15)]
    plain.forced &= set(possible)  # a product of two features with contradictory signs cannot be forced
    requirements = replace(requirements, forced=frozenset(plain.forced))
    supports = Supports.from_lists([plain.admit(ids, 10) for ids in drawn])
    result = Restricted(make_engine(name, problem), requirements).evaluate(supports)
    for m in range(len(supports)):
        ids, coef, value = naive.evaluate(problem, supports[m], naive.one_step_left_out_predictor, plain.hold, signs)
        a, b = result.supports.indptr[m : m + 2]
        assert np.array_equal(result.supports.ids[a:b], ids)
        np.testing.assert_allclose(result.coef[a:b], coef, rtol=1e-6, atol=1e-8)
        assert abs(result.score[m] - value) < 1e-6
        assert all(signs[j] * c >= 0 for j, c in zip(ids.tolist(), coef, strict=True))
    assert result.supports.ids.size < supports.ids.size


@pytest.mark.parametrize("seed", range(3))
def test_engines_agree_about_signs(seed, make_problem):
    rng = np.random.default_rng(seed)
    problem = make_problem(rng, n_rows=150, ridge=0.01, significance=[0.5, 0.05, 0.001][seed])
    signs = {0: 1, 1: 1, 2: 1} if seed else {0: -1, 3: 1, 4: -1}
    requirements = Requirements(problem.space, frozenset({0}), signs=signs)
    drawn = [rng.choice(21, rng.integers(0, 12), replace=False).tolist() for _ in range(60)]
    supports = Supports.from_lists([requirements.gather(ids, 20) for ids in drawn])
    slow, fast = (Restricted(make_engine(name, problem), requirements).evaluate(supports) for name in NAMES)
    assert np.array_equal(slow.supports.ids, fast.supports.ids)
    np.testing.assert_allclose(slow.coef, fast.coef, rtol=1e-5, atol=1e-8)
    np.testing.assert_allclose(slow.score, fast.score, rtol=1e-6)
    again = Restricted(make_engine("numba", problem, 2), requirements).evaluate(fast.supports)
    assert np.array_equal(again.supports.ids, fast.supports.ids)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("sign", [-1, 1])
def test_a_forced_term_of_the_wrong_sign_leaves_and_one_of_the_right_sign_stays(name, sign):
    rng = np.random.default_rng(3)
    X = rng.random((2, 200))
    target = np.where(X[0] - 0.5 + rng.logistic(size=200) * 0.1 > 0, 1.0, -1.0)
    space = MonomialSpace(np.arange(2), 1)
    problem = Problem(space, X, target, np.ones(200), FitOptions(), 5)
    requirements = Requirements(space, frozenset({0, 1, 2}), signs={0: sign})
    result = Restricted(make_engine(name, problem), requirements).evaluate(Supports.from_lists([[0, 1, 2]]))
    assert result.supports[0].tolist() == ([0, 1, 2] if sign > 0 else [0, 2])
    assert result.coef[1] * sign > 0 or sign < 0


@pytest.mark.parametrize("name", NAMES)
def test_what_signs_leave_is_what_statsmodels_leaves(name):
    """Without a ridge: drop what has the wrong sign or a small t-value, and fit again."""
    rng = np.random.default_rng(0)
    for _ in range(5):
        X = rng.random((5, 150))
        slopes = rng.normal(size=5) * 3
        target = np.where(slopes @ (X - 0.5) + rng.logistic(size=150) > 0, 1.0, -1.0)
        space = MonomialSpace(np.arange(5), 1)
        problem = Problem(space, X, target, np.ones(150), FitOptions(ridge=0.0, significance=0.05), 8)
        signs = {p: int(rng.choice([-1, 1])) for p in range(4)}
        ids, coef = list(range(6)), []
        while ids:
            columns = space.columns(X, np.array(ids)).T
            fit = sm.Logit(target > 0, columns).fit(disp=False, tol=1e-12)
            least = stats.t.ppf(0.95, 150 - len(ids))
            goes = [
                j
                for j, t in zip(ids, fit.tvalues, strict=True)
                if (t if signs.get(j - 1, 0) > 0 else -t if j - 1 in signs else abs(t)) <= least
            ]
            ids, coef = [j for j in ids if j not in goes], fit.params
            if not goes:
                break
        requirements = Requirements(space, signs=signs)
        result = Restricted(make_engine(name, problem), requirements).evaluate(Supports.from_lists([range(6)]))
        assert result.supports[0].tolist() == ids
        np.testing.assert_allclose(result.coef, coef if ids else [], rtol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_a_fit_that_ends_early_knows_the_sign_of_a_coefficient_near_zero(name):
    """Weights are such that a forced coefficient is a thousandth of its standard error or less."""
    rng = np.random.default_rng(0)
    space, ones = MonomialSpace(np.arange(4), 1), np.ones(60)
    requirements = Requirements(space, frozenset(range(5)), signs={1: 1})
    n_stayed = n_gone = 0
    for _ in range(20):
        X = rng.random((4, 60)) ** 3
        target = np.where(3 * X[0] - 1 + 0.4 * rng.logistic(size=60) > 0, 1.0, -1.0)

        def t_value(tilt, X=X, target=target):
            fit = refit(np.vstack([ones, X]), target, tilted(X, target, tilt), np.zeros(5), np.zeros(5))
            return fit.coef[2] / fit.standard_error[2]

        if t_value(-6.0) * t_value(6.0) > 0.0:
            continue
        zero = brentq(t_value, -6.0, 6.0, xtol=1e-14)
        slope = (t_value(zero + 1e-4) - t_value(zero - 1e-4)) / 2e-4
        for tilt in zero + np.array([-1e-3, -3e-4, -1e-4, 1e-4, 3e-4, 1e-3]) / slope:
            problem = Problem(space, X, target, tilted(X, target, tilt), FitOptions(ridge=0.0), 5)
            result = Restricted(make_engine(name, problem), requirements).evaluate(Supports.from_lists([range(5)]))
            is_right = t_value(tilt) >= 0.0
            assert (2 in result.supports[0]) == is_right
            n_stayed, n_gone = n_stayed + is_right, n_gone + (not is_right)
    assert min(n_stayed, n_gone) > 30


def tilted(X, target, tilt):
    return np.where(target > 0, np.exp(tilt * X[1]), 1.0)


@pytest.mark.parametrize("name", NAMES)
def test_without_ties_nothing_changes_to_the_last_bit(name, rng, make_problem):
    problem = make_problem(rng, n_rows=200, ridge=0.01)
    drawn = [rng.choice(21, rng.integers(0, 9), replace=False) for _ in range(40)]
    supports = Supports.from_lists(drawn)
    plain = make_engine(name, problem).evaluate(supports)
    free = make_engine(name, problem).evaluate(supports, Ties.none() if name == "numba" else None)
    loose = Restricted(make_engine(name, problem), Requirements(problem.space)).evaluate(supports)
    entries = supports.ids.size  # signs that require nothing of any coefficient
    none, exempt = Ties.none(), np.zeros(entries, dtype=np.bool_)
    unsigned = Ties(exempt, np.zeros(entries + 1, dtype=np.int64), none.entries, np.zeros(entries))
    for other in (free, loose, make_engine(name, problem).evaluate(supports, unsigned)):
        assert np.array_equal(plain.supports.ids, other.supports.ids)
        assert plain.coef.tobytes() == other.coef.tobytes()
        assert plain.score.tobytes() == other.score.tobytes()


@pytest.mark.parametrize("name", NAMES)
def test_bits_depend_neither_on_neighbours_nor_on_threads(name, rng, make_problem):
    problem = make_problem(rng, n_rows=200, ridge=0.01)
    requirements, plain = random_requirements(rng, problem.space)
    supports = closed_supports(rng, plain, 21, 20, largest=10)
    whole = Restricted(make_engine(name, problem, 3), requirements).evaluate(supports)
    alone = Restricted(make_engine(name, problem), requirements)
    for m in range(len(supports)):
        one = alone.evaluate(supports.take(np.array([m])))
        a, b = whole.supports.indptr[m : m + 2]
        assert np.array_equal(whole.supports.ids[a:b], one.supports.ids)
        assert whole.coef[a:b].tobytes() == one.coef.tobytes()


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=15)
@given(seed=st.integers(0, 2**32 - 1), ridge=st.sampled_from([0.0, 0.1, 1.0]))
def test_what_is_left_of_a_support_evaluates_to_itself(name, seed, ridge):
    rng = np.random.default_rng(seed)
    X = rng.random((4, 60))
    target = np.where(X[0] - X[1] * X[2] + 0.3 * rng.normal(size=60) > 0.2, 1.0, -1.0)
    problem = Problem(MonomialSpace(np.arange(4), 2), X, target, np.ones(60), FitOptions(ridge=ridge), 15)
    requirements, plain = random_requirements(rng, problem.space)
    if seed % 2:
        requirements = replace(requirements, signs={0: 1, 1: -1, 3: 1})
    supports = closed_supports(rng, plain, 15, 20, largest=8)
    result = Restricted(make_engine(name, problem), requirements).evaluate(supports)
    again = Restricted(make_engine(name, problem), requirements).evaluate(result.supports)
    assert np.array_equal(result.supports.ids, again.supports.ids)
    np.testing.assert_allclose(result.score, again.score, atol=1e-5)  # a refit starts elsewhere


@pytest.mark.parametrize("name", NAMES)
def test_a_product_keeps_parents_that_fail_the_test(name):
    """Both parents fail the test, and without them the product fails as well."""
    rng = np.random.default_rng(0)
    X = rng.random((2, 200))
    f = X[0] * X[1] - 0.25 * X[0] - 0.25 * X[1]
    target = np.where(rng.random(200) < 1 / (1 + np.exp(-4 * f)), 1.0, -1.0)
    space = MonomialSpace(np.arange(2), 2)
    problem = Problem(space, X, target, np.ones(200), FitOptions(ridge=0.0, significance=1e-3), 10)
    support = Supports.from_lists([[space.rank([0]), space.rank([1]), space.rank([0, 1])]])
    free = make_engine(name, problem).evaluate(support)
    tied = Restricted(make_engine(name, problem), Requirements(space, hierarchy=True)).evaluate(support)
    assert free.supports.sizes[0] == 0
    assert tied.supports.sizes[0] == 3


@pytest.mark.parametrize("name", NAMES)
def test_a_group_stays_if_one_member_passes_and_goes_if_none_does(name):
    rng = np.random.default_rng(0)
    X = rng.random((4, 300))
    target = np.where(X[0] + 0.2 * rng.normal(size=300) > 0.5, 1.0, -1.0)
    space = MonomialSpace(np.arange(4), 1)
    problem = Problem(space, X, target, np.ones(300), FitOptions(significance=1e-3), 10)
    useful, useless = frozenset({1, 2}), frozenset({3, 4})
    requirements = Requirements(space, groups={1: useful, 2: useful, 3: useless, 4: useless})
    result = Restricted(make_engine(name, problem), requirements).evaluate(Supports.from_lists([range(5)]))
    assert result.supports[0].tolist() == [0, 1, 2]


@pytest.mark.parametrize("name", NAMES)
def test_a_forced_copy_of_a_term_keeps_the_coefficient_zero(name):
    x = np.random.default_rng(1).random(100)
    target = np.where(x + np.random.default_rng(0).normal(size=100) * 0.3 > 0.5, 1.0, -1.0)
    space = MonomialSpace(np.arange(2), 1)
    problem = Problem(space, np.stack([x, x]), target, np.ones(100), FitOptions(ridge=0.0), 5)
    requirements = Requirements(space, forced=frozenset({2}))
    result = Restricted(make_engine(name, problem), requirements).evaluate(Supports.from_lists([[0, 1, 2]]))
    assert result.supports[0].tolist() == [0, 1, 2]
    assert result.coef[2] == 0.0
    assert np.isfinite(result.coef).all()


def test_ties_name_the_entries_of_each_support():
    space = MonomialSpace(np.arange(2), 2)  # 1, x0, x1, x0^2, x0*x1, x1^2
    ties = ties_of(
        Supports.from_lists([[0, 1, 2, 4], [1, 3]]), Requirements(space, forced=frozenset({1}), hierarchy=True)
    )
    assert ties.exempt.tolist() == [False, True, False, False, True, False]
    held = [ties.entries[a:b].tolist() for a, b in zip(ties.indptr[:-1], ties.indptr[1:], strict=True)]
    assert held == [[], [], [], [1, 2], [], [4]]
