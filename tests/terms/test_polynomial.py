"""Restricted monomials against brute force and PolynomialFeatures, and the union of several restrictions."""

from __future__ import annotations

import math
from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from sklearn.preprocessing import PolynomialFeatures

from rfsc._terms import MonomialSpace, Training
from rfsc._terms.polynomial import RestrictedMonomialSpace, monomials_of
from rfsc._terms.scaling import Scaling
from rfsc.bases import Polynomial


def brute_force(features, degree, max_features=None, interaction_only=False):
    """All monomials as tuples of factors, by looking at each one."""
    for d in range(degree + 1):
        for factors in combinations_with_replacement(features, d):
            few = max_features is None or len(set(factors)) <= max_features
            if few and not (interaction_only and len(set(factors)) < d):
                yield factors


def factors_of(space, ids=None):
    return [term.factors for term in space.terms(np.arange(space.n_terms) if ids is None else np.asarray(ids))]


CASES = list(product([0, 1, 3, 5], [0, 2, 5], [None, 1, 2, 7], [False, True]))


@pytest.mark.parametrize(("n", "degree", "max_features", "interaction_only"), CASES)
def test_every_monomial_has_one_number(n, degree, max_features, interaction_only):
    family = Polynomial(degree=degree, max_features=max_features, interaction_only=interaction_only)
    features = np.arange(n) * 3 + 1
    expected = set(brute_force(features.tolist(), degree, max_features, interaction_only))
    for space in (monomials_of([family], features), RestrictedMonomialSpace(features, family.shapes)):
        found = factors_of(space)
        assert space.n_terms == len(found) == len(expected)
        assert set(found) == expected
        assert found[0] == ()
        assert [len(factors) for factors in found] == sorted(map(len, found))


@pytest.mark.parametrize(("n", "degree"), [(1, 3), (3, 2), (4, 4), (6, 3)])
def test_interactions_are_those_of_polynomial_features(n, degree, rng):
    X = rng.normal(size=(7, n))
    poly = PolynomialFeatures(degree, interaction_only=True).fit(X)
    space = monomials_of([Polynomial(degree=degree, interaction_only=True)], np.arange(n))
    column_of = dict(zip(factors_of(space), space.columns(X.T, np.arange(space.n_terms)), strict=True))
    powers = [tuple(np.flatnonzero(power).tolist()) for power in poly.powers_]
    assert set(column_of) == set(powers)
    for factors, expected in zip(powers, poly.transform(X).T, strict=True):
        np.testing.assert_allclose(column_of[factors], expected, rtol=1e-13)


@pytest.mark.parametrize(
    ("family", "n_terms"),
    [
        (Polynomial(degree=3, interaction_only=True), 1 + 50_000 + math.comb(50_000, 2) + math.comb(50_000, 3)),
        (Polynomial(degree=5, max_features=1), 1 + 5 * 50_000),
        (Polynomial(degree=5, max_features=2), 1 + 5 * 50_000 + 10 * math.comb(50_000, 2)),
    ],
)
def test_huge_spaces_cost_nothing(family, n_terms):
    space = monomials_of([family], np.arange(50_000))
    assert space.n_terms == n_terms
    ids = np.unique(np.linspace(0, n_terms - 1, 200).astype(np.int64))
    ids[-1] = n_terms - 1
    found = factors_of(space, ids)
    assert len(set(found)) == ids.size
    most = family.max_features or family.degree
    assert found[-1][-1] == 49_999
    assert all(len(set(factors)) <= most and len(factors) <= family.degree for factors in found)


def test_too_many_terms_are_refused_with_advice():
    with pytest.raises(ValueError, match=r"the basis gives .* terms.*Lower degree"):
        monomials_of([Polynomial(degree=4, interaction_only=True)], np.arange(1_000_000))


@pytest.mark.parametrize("ids", [[-1], [11], [0, 11]])
def test_ids_out_of_range_raise(ids):
    space = RestrictedMonomialSpace(np.arange(4), [(1, 1), (2, 2)])
    for ask in (space.terms, lambda ids: space.columns(np.ones((4, 3)), ids)):
        with pytest.raises(IndexError, match=r"must lie in \[0, 11\)"):
            ask(np.array(ids))


def test_several_restrictions_share_their_terms():
    families = [
        Polynomial(degree=2),
        Polynomial(degree=4, max_features=1),
        Polynomial(degree=3, interaction_only=True),
    ]
    expected = set().union(
        brute_force(range(4), 2), brute_force(range(4), 4, max_features=1), brute_force(range(4), 3, None, True)
    )
    found = factors_of(monomials_of(families, np.arange(4)))
    assert len(found) == len(expected)
    assert set(found) == expected


@pytest.mark.parametrize(
    "families",
    [
        [Polynomial(degree=3)],
        [Polynomial(degree=3, max_features=3)],
        [Polynomial(degree=3, max_features=9), Polynomial(degree=2, interaction_only=True)],
        [Polynomial(degree=3, max_features=2), Polynomial(degree=3, interaction_only=True)],
    ],
)
def test_no_restriction_gives_the_usual_order(families):
    space = monomials_of(families, np.arange(4))
    assert isinstance(space, MonomialSpace)
    assert factors_of(space) == factors_of(MonomialSpace(np.arange(4), 3))


def test_the_family_uses_only_the_allowed_features(rng):
    X = rng.normal(size=(9, 4))
    scaling = Scaling.from_rows(X)
    training = Training(scaling.table(X), np.ones(9), np.array([1, 3]), scaling)
    found = factors_of(Polynomial(degree=2, interaction_only=True).space(training, rng))
    assert found == [(), (1,), (3,), (1, 3)]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"degree": -1}, "degree must be an integer of at least 0"),
        ({"degree": 6}, "degree must be at most 5"),
        ({"degree": 2.0}, "degree must be an integer"),
        ({"degree": True}, "degree must be an integer"),
        ({"max_features": 0}, "max_features must be an integer of at least 1"),
        ({"interaction_only": "yes"}, "interaction_only must be True or False"),
    ],
)
def test_bad_settings_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        Polynomial(**settings)
