"""From score tests to RIPs: what stands out is drawn often, nothing is excluded, restrictions are obeyed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rfsc._engines import FitOptions, Memo, Problem, Restricted, Supports, make_engine
from rfsc._search.history import Candidate
from rfsc._search.loop import CUTOFF
from rfsc._search.rips import RIPs
from rfsc._search.screening import CROWD, HIGHEST, REST, STANDS_OUT, Screening, affordable, rated
from rfsc._terms import MonomialSpace, UnionSpace
from rfsc._terms.centred import CentredSpace
from rfsc._terms.requirements import Requirements
from rfsc._terms.scaling import Scaling
from rfsc._terms.score_tests import Found, Part
from tests.reference import naive_screening as naive
from tests.search.runs import dense, search

CONSTANT = 0


def planted(seed, *, centred=False, n_rows=300, n_features=30):
    """A main effect of feature 0 and a pure interaction of 1 and 2; centred terms have the ids of the monomials."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features))
    f = X[:, 0] + X[:, 1] * X[:, 2]
    target = np.where(f + 0.3 * rng.logistic(size=n_rows) > 0, 1.0, -1.0)
    table = Scaling.from_rows(X).table(X)
    features = np.arange(n_features)
    space = MonomialSpace(features, 2)
    if centred:
        products = CentredSpace(features, np.median(table, axis=1), np.median(X, axis=0), 2)
        space = UnionSpace([MonomialSpace(features, 0), products])
    return Problem(space, table, target, np.ones(n_rows), FitOptions(), 60)


def rips_of(problem, requirements=None, **settings):
    engine = make_engine("numba", problem)
    engine = engine if requirements is None else Restricted(engine, requirements)
    return Screening(problem, settings.get("max_terms", 60), requirements, 1).first_rips(CONSTANT, engine)


def test_terms_that_stand_out_get_the_highest_rip_with_the_parents_that_they_need(rng):
    problem = planted(int(rng.integers(100)))
    space, rips = problem.space, rips_of(problem)
    wanted = np.array([space.rank(factors) for factors in ([], [0], [1, 2], [1], [2])])
    np.testing.assert_allclose(rips[wanted], HIGHEST, rtol=0.4)
    assert rips[np.array([space.rank([1, 2])])] == rips[np.array([space.rank([1])])]


def test_without_need_parents_get_no_rip_for_their_products(rng):
    problem = planted(int(rng.integers(100)), centred=True)
    rank = MonomialSpace(np.arange(30), 2).rank
    product, parent = (rips_of(problem)[np.array([rank(factors)])][0] for factors in ([1, 2], [1]))
    assert product > 5 * parent


def test_rips_are_those_of_the_evidence_term_by_term(rng):
    """The whole way again, plainly: test, p-value, number as good by chance, rank, parents."""
    problem = planted(int(rng.integers(100)), n_features=8)
    space = problem.space
    residual, curvature = naive.residual_and_curvature(problem.target, problem.weight)
    z = naive.statistics(space, problem.table, residual, curvature, lambda term: len(term.factors) == 2)
    number = np.where(np.arange(space.n_terms) <= 8, 8, 36)
    by_chance = 2 * stats.norm.sf(z) * number
    by_chance[CONSTANT] = np.inf
    rank = np.argsort(np.argsort(by_chance))
    half = max(STANDS_OUT, by_chance.min())
    expected = HIGHEST / (1 + np.maximum((by_chance / half) ** 2, rank / CROWD))
    expected[CONSTANT] = HIGHEST
    before = expected.copy()
    for j, term in enumerate(space.terms(np.arange(space.n_terms))):
        if len(term.factors) == 2:
            for p in term.factors:
                expected[1 + p] = max(expected[1 + p], before[j])
    together = Supports.from_lists([np.flatnonzero(expected >= HIGHEST / 2)])
    best = Candidate.best_of(make_engine("numpy", problem).evaluate(together))
    for j, value in zip(*Screening(problem, 60, None, 1).beside(best), strict=True):
        expected[j] = max(expected[j], value)
    np.testing.assert_allclose(dense(rips_of(problem)), np.maximum(expected, REST / space.n_terms), rtol=1e-5)


def test_nothing_is_excluded_and_models_are_of_readable_size(rng):
    problem = planted(int(rng.integers(100)))
    rips = rips_of(problem)
    assert rips.default > 0
    assert rips.values.min() > 0
    assert 1 < rips.values.sum() < 10
    assert rips.values.max() < CUTOFF


def test_a_crowd_of_strong_terms_does_not_make_large_models():
    ids = np.arange(3000)
    found = Found(ids, np.linspace(30, 20, 3000), 3000, False)
    values = rated([found])[1]
    assert values[0] == pytest.approx(HIGHEST)
    assert np.all(np.diff(values) <= 0)
    assert values[:200].sum() < 20


def test_small_tables_limit_the_sum():
    problem = planted(0)
    assert rips_of(problem, max_terms=4).values.sum() <= 2.0 + 1e-12


def test_terms_that_no_model_may_hold_are_not_raised(rng):
    problem = planted(int(rng.integers(100)))
    space = problem.space
    barred = space.rank([1, 2])
    requirements = Requirements(
        space, forbidden=frozenset({space.rank([0])}), apart=(frozenset({1, 2}),), hierarchy=True
    )
    rips = rips_of(problem, requirements)
    assert rips[np.array([barred])][0] == 0.0  # a space this small lists what is ruled out
    children = [space.rank([0, p]) for p in range(30)]
    assert np.all(rips[np.array(children)] == 0.0)
    engine = Memo(make_engine("numba", problem))
    drawn = search(engine, space.n_terms, 1, requirements=requirements, start=rips, max_iter=3)
    assert barred not in drawn.model.ids


def test_in_large_spaces_forbidden_terms_keep_the_usual_rip(monkeypatch, rng):
    monkeypatch.setattr("rfsc._terms.requirements.MAX_TERMS_LISTED", 10)
    problem = planted(int(rng.integers(100)))
    barred = problem.space.rank([1, 2])
    rips = rips_of(problem, Requirements(problem.space, forbidden=frozenset({barred})))
    assert rips[np.array([barred])][0] == rips.default
    assert barred not in rips.ids


def test_screening_again_brings_what_the_model_lacks_and_nothing_it_holds(rng):
    problem = planted(int(rng.integers(100)), centred=True, n_features=60)
    rank = MonomialSpace(np.arange(60), 2).rank
    main, product = rank([0]), rank([1, 2])
    engine = make_engine("numba", problem)
    screening = Screening(problem, 60, None, 1)

    def lacks(*ids):
        best = Candidate.best_of(engine.evaluate(Supports.from_lists([[CONSTANT, *ids]])))
        return screening.beside(best)[0].tolist()

    assert product in lacks(main)
    assert main not in lacks(main)
    assert main in lacks(product)
    assert not {main, product} & set(lacks(main, product))


def test_a_forbidden_product_does_not_raise_its_parents(rng):
    problem = planted(int(rng.integers(100)), n_rows=2000)
    space = problem.space
    product, parents = space.rank([1, 2]), {space.rank([1]), space.rank([2])}
    best = Candidate(np.array([0, space.rank([0])]), np.array([-1.0, 2.0]), 0.5, 0.5)
    free, bound = (
        set(Screening(problem, 60, requirements, 1).beside(best)[0].tolist())
        for requirements in (None, Requirements(space, forbidden=frozenset({product})))
    )
    assert {product, *parents} <= free
    assert not {product, *parents} & bound


def test_screening_again_agrees_with_least_squares(rng):
    problem = planted(int(rng.integers(100)), n_features=12)
    space = problem.space
    best = Candidate(np.array([0, 1]), np.array([-1.0, 2.0]), 0.5, 0.5)
    ids, values = Screening(problem, 60, None, 1).beside(best)
    predictor = -1.0 + 2.0 * problem.table[0]
    residual, curvature = naive.residual_and_curvature(problem.target, problem.weight, predictor)
    z = naive.statistics(space, problem.table, residual, curvature, lambda term: len(term.factors) == 2)
    by_chance = 2 * stats.norm.sf(z) * np.where(np.arange(space.n_terms) <= 12, 12, 78)
    standing_out = {j for j in range(1, space.n_terms) if by_chance[j] <= STANDS_OUT}
    parents = {1 + p for j in standing_out for p in space.terms(np.array([j]))[0].factors if j > 12}
    assert set(ids.tolist()) == standing_out | parents
    assert np.all((values > 0) & (values <= HIGHEST))


def test_the_cheapest_parts_are_tested_while_the_work_is_bounded():
    small, large, dear = Part(list, 10), Part(list, 10**6), Part(list, 10**5, effort=20.0)
    assert affordable([large, small, dear], 1000) == ([small, large, dear], [])
    taken, left = affordable([large, small, dear], 70_000)
    assert taken == [small, large]
    assert left == [dear]
    assert affordable([large], 10**9) == ([], [large])


@given(
    listed=st.dictionaries(st.integers(0, 19), st.floats(0, 1), max_size=10),
    lifted=st.dictionaries(st.integers(0, 19), st.floats(0, 1), max_size=10),
    default=st.floats(0, 1),
)
def test_raising_rips_is_a_maximum(listed, lifted, default):
    def arrays(values):
        return np.array(sorted(values), dtype=np.int64), np.array([values[j] for j in sorted(values)])

    rips = RIPs(20, default, *arrays(listed))
    expected = dense(rips)
    for j, value in lifted.items():
        expected[j] = max(expected[j], value)
    raised = rips.raised(*arrays(lifted))
    assert np.array_equal(dense(raised), expected)
    assert np.all(np.diff(raised.ids) > 0)
