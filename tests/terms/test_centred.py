"""Products of deviations: their centres, names, and what they are for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from rfsc import RFSCClassifier
from rfsc._terms import MonomialSpace, Term
from rfsc._terms.centred import Centred
from rfsc._terms.expression import Product, Scaled, as_difference, minus

from . import layout
from .layout import all_terms, rows

NAMES = ["age", "bmi", "sex", "a-b"]


def lay_out(X, degree=2, weight=None):
    return layout.lay_out(Centred(degree), X, weight)


def deviations_of(term):
    """Feature, centre and centre shown of every factor."""
    parts = term.expression.parts if isinstance(term.expression, Product) else ()
    return [(x.feature, -number.value, -number.shown) for x, _, number in map(as_difference, parts)]


@given(X=rows())
def test_columns_are_those_of_plain_python(X):
    space, training = lay_out(X, 3)
    for term, column in zip(all_terms(space), space.columns(training.table, np.arange(space.n_terms)), strict=True):
        expected = [[x - centre for x in training.table[p]] for p, centre, _ in deviations_of(term)]
        expected = expected or [training.table[p] for p in term.features]
        np.testing.assert_allclose(np.prod(expected, axis=0), column, rtol=1e-13)


@given(X=rows())
def test_centres_are_medians_up_to_a_tenth_of_the_way_to_a_quartile(X):
    space, _ = lay_out(X)
    for term in all_terms(space):
        for p, _, shown in deviations_of(term):
            low, middle, high = np.quantile(X[:, p], (0.25, 0.5, 0.75), method="inverted_cdf")
            assert abs(shown - middle) <= min(middle - low, high - middle) / 10 * (1 + 1e-9) + 1e-12 * abs(middle)


def test_order_is_that_of_monomials_without_the_constant():
    X = np.random.default_rng(0).normal(size=(30, 3))
    space, _ = lay_out(X, 3)
    monomials = MonomialSpace(np.arange(3), 3)
    assert space.n_terms == monomials.n_terms - 1
    pairs = zip(all_terms(space), monomials.terms(np.arange(1, monomials.n_terms)), strict=True)
    assert all(term.features == monomial.features for term, monomial in pairs)


def test_names_read_well():
    age, sex, other = (minus(Scaled(p), 0.5, shown) for p, shown in ((0, 52.0), (2, 0.0), (3, -1.5)))
    term = Term(Product((age, age, sex, other)))
    assert term.name(NAMES) == "(age-52)^2*(sex-0)*([a-b]+1.5)"


def test_a_plain_product_means_the_deviations():
    X = np.random.default_rng(0).normal(50, 10, size=(30, 2))
    space, _ = lay_out(X)
    names = ["age", "bmi"]
    for plain, features in (("bmi*age", (0, 1)), ("age^2", (0,)), ("age", (0,))):
        (term,) = space.terms(np.array([space.find(plain, names)]))
        assert term.features == features
    assert space.find("age^3", names) is None
    assert space.find("1", names) is None


def test_twenty_thousand_features_cost_nothing():
    X = np.random.default_rng(0).normal(size=(20, 20_000))
    space, training = lay_out(X)
    ids = np.array([0, 19_999, 20_000, space.n_terms - 1])
    names = [f"x{p}" for p in range(20_000)]
    assert [space.find(term.name(names), names) for term in space.terms(ids)] == ids.tolist()
    assert space.columns(training.table, ids).shape == (4, 20)


@pytest.mark.parametrize("degree", [0, 6, 1.5, True])
def test_degrees_that_make_no_sense_are_refused(degree):
    with pytest.raises(ValueError, match="degree must be"):
        Centred(degree)


def test_a_pure_interaction_is_found():
    """Classes from the sign of a product, among 15 features: products on [0, 1] alone do not show it."""
    rng = np.random.default_rng(0)
    X = rng.normal(10, 2, size=(600, 15))
    y = ((X[:, 0] - 10) * (X[:, 1] - 10) + 0.5 * rng.normal(size=600) > 0).astype(int)
    clf = RFSCClassifier(basis="centred", n_restarts=2, random_state=0).fit(X[:300], y[:300])
    assert max(clf.models_[0].terms, key=lambda term: term.features == (0, 1)).features == (0, 1)
    assert clf.score(X[300:], y[300:]) > 0.85
