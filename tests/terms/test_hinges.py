"""Knots of hinges, their names, and the numbering of huge spaces."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rfsc._terms import Term, Training
from rfsc._terms.expression import Positive, Product, Scaled, as_difference
from rfsc._terms.hinges import Hinge, hinge
from rfsc._terms.scaling import Scaling
from rfsc._terms.steps import readable

from .layout import all_names, all_terms, lay_out, rows

NAMES = ["age", "bmi", "sex", "a-b"]


def hinges_of(term):
    """Feature, sign, knot and knot shown of every hinge of a term; the knot of a straight line is -inf."""
    parts = term.expression.parts if isinstance(term.expression, Product) else (term.expression,)
    found = []
    for part in parts:
        if isinstance(part, Scaled):
            found.append((part.feature, 1, -np.inf, -np.inf))
            continue
        x, sign, number = as_difference(part.part if isinstance(part, Positive) else part)
        found.append((x.feature, sign, -sign * number.value, -sign * number.shown + 0.0))
    return found


def shown_of(space):
    return [(p, sign, shown) for term in all_terms(space)[: space.n_singles] for p, sign, _, shown in hinges_of(term)]


def single(feature, sign, shown):
    return Term(hinge(feature, sign, shown, shown))


def naive_column(term, table):
    out = np.ones(table.shape[1])
    for p, sign, knot, _ in hinges_of(term):
        out *= (
            table[p] if knot == -np.inf else [max(0.0, x - knot) if sign > 0 else max(0.0, knot - x) for x in table[p]]
        )
    return out


@given(X=rows(), n_knots=st.integers(1, 6), products=st.booleans())
def test_columns_are_those_of_plain_python(X, n_knots, products):
    space, training = lay_out(Hinge(n_knots, products), X)
    ids = np.random.default_rng(0).permutation(space.n_terms)[:60]
    for term, column in zip(space.terms(ids), space.columns(training.table, ids), strict=True):
        np.testing.assert_array_equal(naive_column(term, training.table), column)
        assert np.ptp(column) > 0 or len(term.features) == 2


@given(X=rows(), n_knots=st.integers(1, 9))
def test_knots_are_quantiles_up_to_a_tenth_of_the_gaps(X, n_knots):
    space, _ = lay_out(Hinge(n_knots), X)
    levels = np.arange(1, n_knots + 1) / (n_knots + 1)
    for p, x in enumerate(X.T):
        if np.ptp(x) == 0:
            assert all(f != p for f, _, _ in shown_of(space))
            continue
        quantiles = np.quantile(x, levels, method="inverted_cdf")
        edges = np.unique(np.concatenate([[x.min()], quantiles, [x.max()]]))
        knots = np.array([shown for f, sign, shown in shown_of(space) if (f, sign) == (p, 1)])
        falling = [shown for f, sign, shown in shown_of(space) if (f, sign) == (p, -1)]
        assert falling == knots[1:].tolist()
        gap = np.diff(edges)
        reach = np.minimum(gap, np.append(np.inf, gap[:-1])) / 10
        assert knots[0] == -np.inf
        assert (np.abs(knots - edges[:-1])[1:] <= (reach * (1 + 1e-9))[1:]).all()


@given(X=rows())
def test_no_two_hinges_of_a_feature_have_proportional_columns(X):
    space, training = lay_out(Hinge(8), X)
    columns = space.columns(training.table, np.arange(space.n_terms))
    features = np.array([term.features[0] for term in space.terms(np.arange(space.n_terms))])
    for p in np.unique(features):
        mine = columns[features == p]
        mine = mine / np.linalg.norm(mine, axis=1, keepdims=True)
        for i in range(len(mine)):
            assert (np.abs(mine[i + 1 :] - mine[i]).max(axis=1, initial=0) > 1e-9).all()


def test_two_values_give_the_feature_itself_and_constants_nothing():
    space, training = lay_out(Hinge(), [[0, 5], [1, 5], [1, 5]])
    assert all_names(space, ["sex", "c"]) == ["sex"]
    np.testing.assert_array_equal(space.columns(training.table, np.array([0])), [[0, 1, 1]])


def test_singles_come_first_then_pairs_in_order():
    X = np.column_stack([np.arange(9.0), np.arange(9.0) ** 2, np.arange(9) % 2])
    space, _ = lay_out(Hinge(2, products=True), X, features=[0, 2])
    singles, _ = lay_out(Hinge(2), X, features=[0, 2])
    n = singles.n_terms
    hinges = [hinges_of(term)[0] for term in singles.terms(np.arange(n))]
    expected = [[h] for h in hinges]
    expected += [[g, h] for i, g in enumerate(hinges) for h in hinges[i:] if h[0] > g[0]]
    found = [hinges_of(term) for term in all_terms(space)]
    as_lines = [
        [(p, 1, -np.inf, -np.inf) if knot <= 0 else (p, sign, knot, at) for p, sign, knot, at in one] for one in found
    ]
    assert as_lines == expected
    assert {p for term in space.terms(np.arange(space.n_terms)) for p in term.features} == {0, 2}


def test_pairs_of_many_features_are_each_numbered_once(rng):
    space, _ = lay_out(Hinge(3, products=True), rng.normal(size=(12, 6)))
    terms = space.terms(np.arange(space.n_terms))
    counts = np.bincount([term.features[0] for term in terms[: space.n_singles]])
    assert space.n_terms == counts.sum() + (counts.sum() ** 2 - (counts**2).sum()) // 2 == len(set(terms))
    assert all(term.features[0] < term.features[1] for term in terms[space.n_singles :])


@pytest.mark.parametrize(
    ("term", "name"),
    [
        (single(0, 1, 52.0), "max(0, age-52)"),
        (single(0, -1, 52.0), "max(0, 52-age)"),
        (single(1, 1, -3.0), "max(0, bmi+3)"),
        (single(1, -1, -3.5), "max(0, -3.5-bmi)"),
        (single(2, 1, 0.0), "max(0, sex)"),
        (single(2, -1, 0.0), "max(0, -sex)"),
        (single(3, 1, 1e-7), "max(0, [a-b]-1e-07)"),
        (
            Term(Product((hinge(0, 1, 0.5, 52.0), hinge(1, -1, 0.5, 30.0)))),
            "max(0, age-52)*max(0, 30-bmi)",
        ),
    ],
)
def test_names(term, name):
    assert term.name(NAMES) == name


def test_a_feature_named_like_a_number_is_put_in_brackets():
    assert single(0, 1, 52.0).name(["52"]) == "max(0, [52]-52)"


@pytest.mark.parametrize(
    ("value", "reach", "expected"),
    [(51.7, 1.0, 52), (51.7, 0.1, 51.7), (0.123456, 1e-4, 0.1235), (-0.02, 0.05, 0), (98765.4, 300, 99000)],
)
def test_numbers_are_as_short_as_their_reach_allows(value, reach, expected):
    value = np.array([value])
    assert readable(value, value - reach, value + reach).tolist() == [expected]
    assert readable(value, value, value).tolist() == value.tolist()


@pytest.mark.parametrize("scale", [1e-300, 1e-30, 1e30, 1.7e308])
def test_extreme_units_give_finite_columns(scale, rng):
    space, training = lay_out(Hinge(4, products=True), scale * rng.uniform(-1, 1, size=(20, 2)))
    columns = space.columns(training.table, np.arange(space.n_terms))
    assert space.n_singles == 18
    assert np.isfinite(columns).all()


def test_a_huge_space_costs_nothing_until_asked_for(rng):
    scaling = Scaling(np.zeros(20_000), np.full(20_000, 0.5))
    training = Training(rng.random((20_000, 30)), np.ones(30), np.arange(20_000), scaling)
    tracemalloc.start()
    space = Hinge(8, products=True).space(training, rng)
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert space.n_terms > 5 * 10**10
    assert kept < 8 * 2**20
    last = np.array([space.n_terms - 1])
    (term,) = space.terms(last)
    assert term.features == (19_998, 19_999)
    np.testing.assert_array_equal(space.columns(training.table, last)[0], naive_column(term, training.table))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_knots": 0}, "n_knots"),
        ({"n_knots": 2.5}, "n_knots"),
        ({"n_knots": True}, "n_knots"),
        ({"products": 1}, "products"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    with pytest.raises(ValueError, match=f"{message} must be"):
        Hinge(**parameters)
