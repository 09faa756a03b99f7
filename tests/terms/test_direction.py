"""Directions of expressions: what is claimed holds on pairs of points, and plain cases are not missed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rfsc._terms.direction import direction
from rfsc._terms.expression import (
    Condition,
    Divided,
    Exp,
    Number,
    Positive,
    Product,
    Ramp,
    Scaled,
    Sum,
    Wave,
    evaluate,
    falling,
    minus,
)
from rfsc._terms.requirements import Requirements
from rfsc.bases import build_space

from .layout import all_terms, rows, training_of
from .test_laws import FAMILIES, lay_out

X, Z = Scaled(0), Scaled(1)
ROUNDING = 1e-14  # exponentials of libraries are monotone but for their last digit


def pairs_of_points(feature, rng, n_features=4):
    """Points that differ in one feature, the first not above the second; the ends of the range are among them."""
    few = np.array([0.0, 1 / 3, 0.5, 1.0])
    points = np.where(rng.random((n_features, 200)) < 0.4, rng.choice(few, (n_features, 200)), rng.random((4, 200)))
    ends = np.sort(np.where(rng.random((2, 200)) < 0.4, rng.choice(few, (2, 200)), rng.random((2, 200))), axis=0)
    low, high = points.copy(), points.copy()
    low[feature], high[feature] = ends
    return low, high


def assert_holds(node, rng):
    for feature in range(4):
        way = direction(node, feature)
        if way is None:
            continue
        low, high = (np.broadcast_to(evaluate(node, side), 200) for side in pairs_of_points(feature, rng))
        slack = ROUNDING * (1.0 + np.abs(low))
        assert way != 0 or np.array_equal(low, high)
        assert (way * (high - low) >= -slack).all()


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
@settings(max_examples=8)
@given(table=rows(), seed=st.integers(0, 2**32 - 1))
def test_what_is_claimed_holds_for_every_family(family, table, seed):
    rng = np.random.default_rng(seed)
    space, _ = lay_out(family, table)
    for term in rng.permutation(np.array(all_terms(space), dtype=object))[:60]:
        assert_holds(term.expression, rng)


LEAVES = st.one_of(
    st.builds(Number, st.sampled_from([-2.0, -1.0, 0.0, 0.5, 3.0])), st.builds(Scaled, st.integers(0, 3))
)


def larger(parts):
    several = st.lists(parts, min_size=1, max_size=3).map(tuple)
    level = st.sampled_from([-1.0, 0.0, 1 / 3, 0.5, 1.0, 2.0])
    return st.one_of(
        st.builds(Sum, several),
        st.builds(Product, several),
        parts.map(lambda part: Product((part, part))),
        st.builds(Divided, parts, st.sampled_from([0.5, 4.0])),
        st.builds(Positive, parts),
        parts.map(lambda part: Exp(Product((Number(-1.0), Positive(part))))),
        st.builds(Ramp, parts),
        st.builds(Wave, st.sampled_from(["sin", "cos"]), parts),
        st.builds(Condition, parts, st.sampled_from([">", "<=", "="]), level),
    )


@settings(max_examples=400)
@given(node=st.recursive(LEAVES, larger, max_leaves=8), seed=st.integers(0, 2**32 - 1))
def test_what_is_claimed_holds_for_any_expression(node, seed):
    assert_holds(node, np.random.default_rng(seed))


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        (Number(3.0), (0, 0)),
        (X, (1, 0)),
        (Product((X, X)), (1, 0)),
        (Product((X, Z)), (1, 1)),
        (Product((X, X, Z)), (1, 1)),
        (minus(X, 0.4), (1, 0)),
        (falling(X, 0.4), (-1, 0)),
        (Positive(minus(X, 0.4)), (1, 0)),
        (Positive(falling(X, 0.4)), (-1, 0)),
        (Positive(minus(X, 1.0)), (0, 0)),  # zero throughout
        (Product((Positive(minus(X, 0.4)), Positive(falling(Z, 0.4)))), (1, -1)),
        (Product((minus(X, -0.01), Positive(minus(Z, 0.4)))), (1, 1)),  # what a line is within a product of hinges
        (Product((minus(X, 0.4), minus(Z, 0.6))), (None, None)),
        (Product((minus(X, 0.4), minus(X, 0.4))), (None, 0)),
        (Product((minus(X, 0.4), minus(X, 0.4), minus(Z, 0.6))), (None, 1)),
        (Product((minus(X, 2.0), minus(X, 2.0))), (-1, 0)),
        (Product((X, falling(X, 1.0))), (None, 0)),
        (Sum((X, Product((Number(-1.0), Z)))), (1, -1)),
        (Sum((X, falling(X, 1.0))), (None, 0)),
        (Divided(falling(X, 1.0), 3.0), (-1, 0)),
        (Ramp(Sum((Number(-2.0), Product((Number(5.0), X)), Product((Number(-3.0), Z))))), (1, -1)),
        (Exp(Product((Number(-1.0), Product((minus(X, 0.5), minus(X, 0.5)))))), (None, 0)),
        (Exp(Product((Number(-1.0), Product((X, X))))), (-1, 0)),  # a centre at the end of the range
        (Wave("cos", Product((Number(6.0), X))), (None, 0)),
        (Condition(X, ">", 0.5), (1, 0)),
        (Condition(X, "<=", 0.5), (-1, 0)),
        (Condition(X, ">", 1.0), (0, 0)),
        (Condition(X, "=", 1.0), (1, 0)),
        (Condition(X, "=", 0.0), (-1, 0)),
        (Condition(X, "=", 0.5), (None, 0)),
        (Condition(falling(X, 1.0), "=", 1.0), (-1, 0)),
        (Product((Condition(X, ">", 0.6), Condition(Z, "<=", 0.2))), (1, -1)),
        (Product((Condition(X, ">", 0.2), Condition(X, "<=", 0.6))), (None, 0)),
        (Product((Condition(X, ">", 0.2), Condition(X, "<=", 1.0))), (1, 0)),
    ],
    ids=str,
)
def test_plain_cases(node, expected):
    assert (direction(node, 0), direction(node, 1)) == expected


def test_signs_of_the_coefficients_follow_from_directions():
    table = np.random.default_rng(0).normal(size=(60, 3))
    names = ["age", "bmi", "sex"]
    space = build_space([FAMILIES["centred"], FAMILIES["hinge"], FAMILIES["rule"]], training_of(table), 0)
    requirements = Requirements(space, signs={0: 1, 1: -1})
    seen = set()
    for j, term in enumerate(all_terms(space)):
        ways = [direction(term.expression, p) for p in (0, 1)]
        wanted = [way if way is None else sign * way for sign, way in zip((1, -1), ways, strict=True)]
        expected = None if None in wanted or set(wanted) >= {1, -1} else max(wanted, key=abs)
        assert requirements.sign(j) == expected, term.name(names)
        assert (requirements.needs(j) is None) == (expected is None)
        seen.add(expected)
    assert seen == {None, -1, 0, 1}
    some = np.array([j for j in range(space.n_terms) if requirements.sign(j) is not None])
    np.testing.assert_array_equal(requirements.signs_of(some), [requirements.sign(j) for j in some.tolist()])
    assert not Requirements(space).signs_of(some).size
    assert not requirements.only_forces
    assert set(requirements.ruled_out().tolist()) == set(range(space.n_terms)) - set(some.tolist())


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_features_without_a_monotone_term_are_named(family):
    table = np.random.default_rng(0).normal(size=(60, 3))
    requirements = Requirements(build_space([family], training_of(table), 0), signs={2: 1, 0: -1, 1: 1})
    unmet = requirements.unmet_signs()
    by_hand = {p for p in range(3) if all(requirements.sign(j) is None for j in _reading(requirements.space, p))}
    assert set(unmet) == by_hand
    assert bool(unmet) == (type(family).__name__ in ("Fourier", "Radial"))
    hidden = Requirements(build_space([family], training_of(table, features=[1]), 0), signs={2: 1})
    assert hidden.unmet_signs() == []  # no term reads it, so that nothing can disobey


def _reading(space, feature):
    return [j for j, term in enumerate(all_terms(space)) if feature in term.features]
