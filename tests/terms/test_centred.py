"""Products of deviations against plain Python, their centres, and what they are for."""

from __future__ import annotations

import json
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rfsc import RFSCClassifier
from rfsc._terms import MonomialSpace
from rfsc._terms.centred import Centred, CentredTerm, Deviation
from tests.terms.layout import all_terms, rows, training_of

NAMES = ["age", "bmi", "sex", "a-b"]


def lay_out(X, degree=2, weight=None):
    training = training_of(np.asarray(X, dtype=float), weight)
    return Centred(degree).space(training, np.random.default_rng(0)), training


def naive_column(term, table):
    """A feature, or a product of differences."""
    if isinstance(term, CentredTerm):
        return np.prod([[x - f.centre for x in table[f.feature]] for f in term.factors], axis=0)
    (p,) = term.factors
    return table[p]


@given(X=rows(), degree=st.integers(1, 3))
def test_columns_are_those_of_the_terms_and_of_plain_python(X, degree):
    space, training = lay_out(X, degree)
    ids = np.random.default_rng(0).permutation(space.n_terms)[:60]
    columns = space.columns(training.table, ids)
    assert columns.flags.c_contiguous
    by_feature = dict(enumerate(training.table))
    for term, column in zip(space.terms(ids), columns, strict=True):
        assert term.column(by_feature, len(X)).tobytes() == column.tobytes()
        np.testing.assert_allclose(naive_column(term, training.table), column, rtol=1e-13)


@given(X=rows())
def test_unscaled_is_the_same_function_of_the_raw_features(X):
    space, training = lay_out(X, 3)
    raw = dict(enumerate(X.T))
    for term, column in zip(all_terms(space), space.columns(training.table, np.arange(space.n_terms)), strict=True):
        total = sum(weight * other.column(raw, len(X)) for other, weight in term.unscaled(training.scaling).items())
        np.testing.assert_allclose(total, column, rtol=1e-7, atol=1e-9)


@given(X=rows())
def test_names_are_unique_and_terms_survive_json(X):
    space, _ = lay_out(X, 3)
    terms = all_terms(space)
    assert len({term.name(NAMES) for term in terms}) == len(set(terms)) == space.n_terms
    products = [term for term in terms if isinstance(term, CentredTerm)]
    assert [CentredTerm.from_dict(json.loads(json.dumps(term.as_dict()))) for term in products] == products


@given(X=rows(), seed=st.integers(0, 1000))
def test_no_value_exceeds_the_bound(X, seed):
    rng = np.random.default_rng(seed)
    space, _ = lay_out(X, 3)
    ends = np.sort(rng.normal(size=(4, 2)), axis=1)
    ranges = {p: (float(low), float(high)) for p, (low, high) in enumerate(ends)}
    points = {p: np.append(rng.uniform(low, high, 20), [low, high]) for p, (low, high) in ranges.items()}
    for term in all_terms(space):
        assert np.abs(term.column(points, 22)).max() <= term.bound(ranges) * (1 + 1e-12)


@given(X=rows(), seed=st.integers(0, 1000))
def test_a_row_of_weight_two_is_the_row_twice(X, seed):
    weight = np.random.default_rng(seed).integers(0, 4, len(X))
    weight[X.argmin(axis=0)] = weight[X.argmax(axis=0)] = 1  # the ranges are those of the rows that count
    weighted, _ = lay_out(X, 2, weight)
    repeated, _ = lay_out(np.repeat(X, weight, axis=0))
    assert all_terms(weighted) == all_terms(repeated)


@given(X=rows())
def test_centres_are_medians_up_to_a_tenth_of_the_way_to_a_quartile(X):
    space, _ = lay_out(X)
    for term in all_terms(space):
        for f in term.factors if isinstance(term, CentredTerm) else ():
            low, middle, high = np.quantile(X[:, f.feature], (0.25, 0.5, 0.75), method="inverted_cdf")
            assert abs(f.shown - middle) <= min(middle - low, high - middle) / 10 * (1 + 1e-9) + 1e-12 * abs(middle)


def test_order_is_that_of_monomials_without_the_constant():
    X = np.random.default_rng(0).normal(size=(30, 3))
    space, _ = lay_out(X, 3)
    monomials = MonomialSpace(np.arange(3), 3)
    assert space.n_terms == monomials.n_terms - 1
    pairs = zip(all_terms(space), monomials.terms(np.arange(1, monomials.n_terms)), strict=True)
    assert all(term.features == monomial.features for term, monomial in pairs)


def test_names_read_well():
    term = CentredTerm(
        (Deviation(0, 0.5, 52.0), Deviation(0, 0.5, 52.0), Deviation(2, 0.0, 0.0), Deviation(3, 0.1, -1.5))
    )
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


def test_constants_have_no_terms():
    space, _ = lay_out(np.column_stack([np.arange(9.0), np.full(9, 7.0)]))
    assert {p for term in all_terms(space) for p in term.features} == {0}
    assert lay_out(np.full((4, 2), 1.0))[0].n_terms == 0


def test_twenty_thousand_features_cost_nothing():
    X = np.random.default_rng(0).normal(size=(20, 20_000))
    started = time.perf_counter()
    space, training = lay_out(X)
    ids = np.array([0, 19_999, 20_000, space.n_terms - 1])
    names = [f"x{p}" for p in range(20_000)]
    assert [space.find(term.name(names), names) for term in space.terms(ids)] == ids.tolist()
    assert space.columns(training.table, ids).shape == (4, 20)
    assert time.perf_counter() - started < 5


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
