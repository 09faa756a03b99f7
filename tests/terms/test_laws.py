"""What holds for every family of terms: one expression says what a term computes, is called, and is bounded by."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rfsc._terms import Term
from rfsc._terms.expression import bound, evaluate
from rfsc.bases import Centred, Fourier, Hinge, Polynomial, Radial, Rule, Sigmoid, Step

from . import layout
from .layout import all_names, all_terms, rows

FAMILIES = {
    "polynomial": Polynomial(degree=3),
    "centred": Centred(3),
    "hinge": Hinge(3, products=True),
    "step": Step(4, levels=True),
    "rule": Rule(n_knots=2, max_conditions=3),
    "fourier": Fourier(3),
    "radial": Radial(4),
    "sigmoid": Sigmoid(12, n_features=3),
}
NAMES = ["age", "bmi", "sex", "a-b"]
SEEDS = st.integers(0, 2**32 - 1)
every_family = pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
few = settings(max_examples=10)


def lay_out(family, X, weight=None, features=None):
    if isinstance(family, Polynomial) and features is None:  # never given constant features
        features = np.flatnonzero(np.ptp(X, axis=0))
    return layout.lay_out(family, X, weight, features)


def inside(ranges, rng, n=40):
    """Random points of a box, and all its corners."""
    corners = np.array(np.meshgrid(*ranges.values())).reshape(len(ranges), -1)
    low, high = np.array(list(ranges.values())).T
    return np.concatenate([corners, low[:, None] + (high - low)[:, None] * rng.random((len(ranges), n))], axis=1)


@every_family
@few
@given(X=rows(), seed=SEEDS)
def test_columns_are_the_expressions_to_the_last_bit(family, X, seed):
    space, training = lay_out(family, X)
    ids = np.random.default_rng(seed).permutation(space.n_terms)[:60]
    columns = space.columns(training.table, ids)
    assert columns.flags.c_contiguous
    assert columns.shape == (ids.size, len(X))
    for term, column in zip(space.terms(ids), columns, strict=True):
        assert term.column(training.table, len(X)).tobytes() == column.tobytes()


@every_family
@few
@given(X=rows())
def test_unscaled_is_the_same_function_of_the_raw_features(family, X):
    space, training = lay_out(family, X)
    for term in all_terms(space):
        column = term.column(training.table, len(X))
        parts = term.unscaled(training.scaling)
        summands = [weight * part.column(X.T, len(X)) for part, weight in parts.items()]
        np.testing.assert_array_less(np.abs(sum(summands) - column), 1e-9 * (1.0 + sum(map(np.abs, summands))))
        if term.factors is None:
            ((part, _),) = parts.items()
            assert part.name(NAMES) == term.name(NAMES)


@every_family
@few
@given(X=rows())
def test_names_are_unique_and_found_and_terms_survive_json(family, X):
    space, training = lay_out(family, X)
    terms, names = all_terms(space), all_names(space, NAMES)
    assert len(set(names)) == len(set(terms)) == space.n_terms
    some = np.unique(np.linspace(0, max(space.n_terms - 1, 0), 12).astype(int))[: space.n_terms]
    assert [space.find(names[j], NAMES) for j in some] == some.tolist()
    for term in (*terms[::4], *(part for one in terms[1::4] for part in one.unscaled(training.scaling))):
        again = Term.from_dict(json.loads(json.dumps(term.as_dict(), allow_nan=False)))
        assert again == term
        assert hash(again) == hash(term)
        assert again.name(NAMES) == term.name(NAMES)
        assert list(again.features) == sorted(set(term.features))


@every_family
@few
@given(X=rows(), seed=SEEDS)
def test_no_value_exceeds_the_bound(family, X, seed):
    rng = np.random.default_rng(seed)
    space, _ = lay_out(family, X)
    ends = np.sort(rng.normal(size=(4, 2)), axis=1)
    ranges = {p: (float(low), float(high)) for p, (low, high) in enumerate(ends)}
    points = inside(ranges, rng)
    for term in all_terms(space)[::3]:
        largest = np.abs(term.column(points, points.shape[1])).max()
        assert largest <= bound(term.expression, ranges) * (1 + 1e-12)


@pytest.mark.parametrize("name", ["polynomial", "centred", "hinge", "step", "sigmoid"])
@few
@given(X=rows(), seed=SEEDS)
def test_bounds_are_reached_at_a_corner(name, X, seed):
    rng = np.random.default_rng(seed)
    space, _ = lay_out(FAMILIES[name], X)
    ends = np.sort(rng.normal(size=(4, 2)), axis=1)
    ranges = {p: (float(low), float(high)) for p, (low, high) in enumerate(ends)}
    points = inside(ranges, rng, n=0)
    for term in all_terms(space)[::3]:
        largest = np.abs(term.column(points, points.shape[1])).max()
        if "=" not in term.name(NAMES):  # a level may lie between the corners
            assert bound(term.expression, ranges) <= largest * (1 + 1e-6) + 1e-300


def test_the_bound_of_a_cluster_is_its_value_at_the_nearest_point(rng):
    space, _ = lay_out(Radial(3), rng.normal(size=(40, 2)))
    ranges = {0: (0.2, 0.9), 1: (-0.5, 0.1)}
    points = np.array(np.meshgrid(*(np.linspace(*ends, 201) for ends in ranges.values()))).reshape(2, -1)
    for term in all_terms(space):
        assert bound(term.expression, ranges) == pytest.approx(term.column(points, points.shape[1]).max(), rel=0.02)
        assert bound(term.expression, dict.fromkeys((0, 1), (0.0, 1.0))) == pytest.approx(1.0)


@pytest.mark.parametrize("name", ["centred", "hinge", "step", "radial", "sigmoid"])
@few
@given(X=rows(), seed=SEEDS)
def test_a_row_of_weight_two_is_the_row_twice(name, X, seed):
    weight = np.random.default_rng(seed).integers(0, 4, len(X))
    weight[X.argmin(axis=0)] = weight[X.argmax(axis=0)] = 1  # the ranges are those of the rows that count
    if name in ("radial", "sigmoid"):
        weight = np.maximum(weight, 1)
    weighted, _ = lay_out(FAMILIES[name], X, weight)
    repeated, _ = lay_out(FAMILIES[name], np.repeat(X, weight, axis=0))
    assert all_names(weighted, NAMES) == all_names(repeated, NAMES)


@every_family
def test_the_order_of_ids_is_the_order_of_columns_and_other_ids_are_refused(family, rng):
    space, training = lay_out(family, rng.normal(size=(30, 3)))
    ids = rng.permutation(space.n_terms)
    everything = space.columns(training.table, np.arange(space.n_terms))
    np.testing.assert_array_equal(space.columns(training.table, ids), everything[ids])
    assert space.columns(training.table, ids[:0]).shape == (0, 30)
    for wrong in ([-1], [space.n_terms], [0, space.n_terms]):
        for ask in (space.terms, lambda ids: space.columns(training.table, ids)):
            with pytest.raises(IndexError, match=r"must lie in \[0, "):
                ask(np.array(wrong))


@every_family
@pytest.mark.parametrize("features", [[], [1], [1, 2]])
def test_only_allowed_features_that_vary_are_used(family, features, rng):
    X = rng.normal(size=(30, 4))
    X[:, 1] = 7.0
    if isinstance(family, Polynomial):  # monomials take what they are given; constant features are never given
        features = [p for p in features if p != 1]
    space, training = lay_out(family, X, features=features)
    assert {p for term in all_terms(space) for p in term.features} == {2} & set(features)
    assert np.isfinite(space.columns(training.table, np.arange(space.n_terms))).all()


@every_family
@pytest.mark.parametrize("far", [1.0, 1e6, 1e49])
def test_far_away_values_are_finite_without_a_warning(family, far, rng):
    space, _ = lay_out(family, rng.normal(size=(20, 3)))
    points = far * rng.normal(size=(3, 9))
    with np.errstate(all="raise", under="ignore", over="ignore"):
        for term in all_terms(space):
            assert not np.isnan(evaluate(term.expression, points)).any()
