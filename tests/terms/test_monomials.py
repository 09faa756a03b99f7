"""Monomials against PolynomialFeatures, and the numbering of huge spaces."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.preprocessing import PolynomialFeatures

from rfsc._terms import MonomialSpace, monomial
from rfsc._terms.scaling import Scaling

# (features, degree); the last ones come close to the largest space that can be numbered
SPACES = [(1, 1), (1, 5), (2, 3), (6, 2), (30, 4), (1000, 3), (20_000, 2), (20_000, 4), (10_000, 5), (10_600, 5)]


@st.composite
def space_and_id(draw):
    n, degree = draw(st.sampled_from(SPACES))
    space = MonomialSpace(np.arange(n), degree)
    return space, draw(st.integers(0, space.n_terms - 1))


@st.composite
def space_and_factors(draw):
    n, degree = draw(st.sampled_from(SPACES))
    factors = draw(st.lists(st.integers(0, n - 1), max_size=degree))
    return MonomialSpace(np.arange(n), degree), tuple(sorted(factors))


def factors_of(space, *ids):
    return [term.factors for term in space.terms(np.array(ids))]


@pytest.mark.parametrize("degree", [1, 2, 3, 4])
@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_columns_and_their_order_are_those_of_polynomial_features(n, degree, rng):
    X = rng.normal(size=(9, n))
    space = MonomialSpace(np.arange(n), degree)
    poly = PolynomialFeatures(degree)
    expected = poly.fit_transform(X).T
    ids = np.arange(space.n_terms)
    assert space.n_terms == len(expected)
    np.testing.assert_allclose(space.columns(X.T, ids), expected, rtol=1e-13)
    assert factors_of(space, *ids) == [tuple(np.repeat(np.arange(n), power)) for power in poly.powers_]


def test_columns_come_in_the_order_asked_for(rng):
    table = rng.random((4, 6))
    space = MonomialSpace(np.arange(4), 3)
    ids = rng.permutation(space.n_terms)
    np.testing.assert_array_equal(space.columns(table, ids), space.columns(table, np.arange(space.n_terms))[ids])


@pytest.mark.parametrize(
    ("n", "n_terms"), [(6, 28), (33, 595), (4, 15), (60, 1891), (30, 496), (13, 105), (20_000, 200_030_001)]
)
def test_counts_of_the_paper_at_degree_two(n, n_terms):
    assert MonomialSpace(np.arange(n), 2).n_terms == n_terms


@settings(max_examples=60)
@given(space_and_id())
def test_an_id_survives_the_way_to_factors_and_back(case):
    space, j = case
    (factors,) = factors_of(space, j)
    assert list(factors) == sorted(factors)
    assert space.rank(factors) == j


@settings(max_examples=60)
@given(space_and_factors())
def test_factors_survive_the_way_to_an_id_and_back(case):
    space, factors = case
    j = space.rank(factors)
    assert 0 <= j < space.n_terms
    assert factors_of(space, j) == [factors]


@settings(max_examples=60)
@given(space_and_id())
def test_ids_run_by_degree_then_lexicographically(case):
    space, j = case
    (before,), (after,) = factors_of(space, max(j - 1, 0)), factors_of(space, max(j, 1))
    assert (len(before), before) < (len(after), after)


@pytest.mark.parametrize(("n", "degree"), SPACES)
def test_the_ends_of_each_degree(n, degree):
    space = MonomialSpace(np.arange(n), degree)
    for d in range(1, degree + 1):
        last = math.comb(n + d, d) - 1
        assert factors_of(space, last) == [(n - 1,) * d]
        assert factors_of(space, math.comb(n + d - 1, d - 1)) == [(0,) * d]


def test_a_space_without_features_holds_the_constant():
    space = MonomialSpace(np.arange(0), 3)
    assert space.n_terms == 1
    np.testing.assert_array_equal(space.columns(np.empty((0, 4)), np.array([0])), np.ones((1, 4)))


@pytest.mark.parametrize(
    ("factors", "name"),
    [((), "1"), ((1,), "texture"), ((0, 1), "radius*texture"), ((2, 2), "area^2"), ((0, 0, 2), "radius^2*area")],
)
def test_names(factors, name):
    assert monomial(factors).name(["radius", "texture", "area"]) == name


def test_features_are_listed_once():
    assert monomial((1, 1, 4)).features == (1, 4)
    assert monomial(()).features == ()


@pytest.mark.parametrize("ids", [[-1], [28], [0, 28], [5, -(2**40)]])
@pytest.mark.parametrize("ask", ["factors", "terms", "columns"])
def test_ids_out_of_range_raise(ids, ask):
    space = MonomialSpace(np.arange(6), 2)
    arguments = (np.ones((6, 3)), np.array(ids)) if ask == "columns" else (np.array(ids),)
    with pytest.raises(IndexError, match=r"must lie in \[0, 28\)"):
        getattr(space, ask)(*arguments)


def test_too_many_terms_are_refused_with_advice():
    with pytest.raises(ValueError, match=r"gives 2\.7e\+19 terms.*Lower degree"):
        MonomialSpace(np.arange(20_000), 5)


@given(
    factors=st.lists(st.integers(0, 3), max_size=5).map(sorted),
    seed=st.integers(0, 2**32 - 1),
    scale=st.sampled_from([1e-6, 1.0, 1e6]),
)
def test_unscaled_is_the_same_function_of_the_raw_features(factors, seed, scale):
    X = scale * np.random.default_rng(seed).uniform(-3.0, 5.0, size=(12, 4))
    scaling = Scaling.from_rows(X)
    term = monomial(factors)
    scaled = term.column(scaling.rows(X, term.features), len(X))
    parts = term.unscaled(scaling)
    raw = sum(weight * X[:, list(part.factors)].prod(axis=1) for part, weight in parts.items())
    np.testing.assert_allclose(raw, scaled, rtol=1e-9, atol=1e-11)


def test_only_the_given_features_are_used(rng):
    X = rng.random((8, 7))
    features = np.array([1, 4, 6])
    space = MonomialSpace(features, 3)
    table = np.full((7, 8), np.nan)
    table[features] = X.T[features]
    expected = PolynomialFeatures(3).fit_transform(X[:, features]).T
    np.testing.assert_allclose(space.columns(table, np.arange(space.n_terms)), expected, rtol=1e-13)
    assert {p for term in space.terms(np.arange(space.n_terms)) for p in term.factors} == {1, 4, 6}
    assert [space.rank(factors) for factors in factors_of(space, *range(20))] == list(range(20))
