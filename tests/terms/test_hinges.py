"""Hinges against plain Python, their knots, and the numbering of huge spaces."""

from __future__ import annotations

import json
import time
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rfsc._terms.base import Training
from rfsc._terms.hinges import Hinge, HingeFactor, HingeTerm
from rfsc._terms.knots import readable
from rfsc._terms.scaling import Scaling
from tests.terms.layout import rows

NAMES = ["age", "bmi", "sex", "a-b"]


def lay_out(basis, X, weight=None, features=None):
    X = np.asarray(X, dtype=float)
    scaling = Scaling.from_rows(X)
    weight = np.ones(len(X)) if weight is None else np.asarray(weight, dtype=float)
    features = np.arange(X.shape[1]) if features is None else np.asarray(features)
    training = Training(scaling.table(X), weight, features, scaling)
    return basis.space(training, np.random.default_rng(0)), training


def single(feature, sign, shown):
    return HingeTerm((HingeFactor(feature, sign, shown, shown),))


def shown_of(space):
    return [[f.feature, f.sign, f.shown] for term in space.terms(np.arange(space.n_singles)) for f in term.factors]


def naive_column(term, table):
    out = []
    for k in range(table.shape[1]):
        value = 1.0
        for f in term.factors:
            x = table[f.feature, k]
            value *= max(0.0, x - f.knot) if f.sign > 0 else max(0.0, f.knot - x)
        out.append(value)
    return np.array(out)


@given(X=rows(), n_knots=st.integers(1, 6), products=st.booleans())
def test_columns_are_those_of_the_terms_and_of_plain_python(X, n_knots, products):
    space, training = lay_out(Hinge(n_knots, products), X)
    ids = np.random.default_rng(0).permutation(space.n_terms)[:60]
    columns = space.columns(training.table, ids)
    assert columns.flags.c_contiguous
    by_feature = dict(enumerate(training.table))
    for term, column in zip(space.terms(ids), columns, strict=True):
        assert term.column(by_feature, len(X)).tobytes() == column.tobytes()
        np.testing.assert_array_equal(naive_column(term, training.table), column)
        assert np.ptp(column) > 0 or len(term.factors) == 2


@given(X=rows(), products=st.booleans())
def test_unscaled_is_the_same_function_of_the_raw_features(X, products):
    space, training = lay_out(Hinge(3, products), X)
    ids = np.arange(space.n_terms)
    raw = dict(enumerate(X.T))
    for term, column in zip(space.terms(ids), space.columns(training.table, ids), strict=True):
        ((other, weight),) = term.unscaled(training.scaling).items()
        np.testing.assert_allclose(weight * other.column(raw, len(X)), column, rtol=1e-9, atol=1e-11)
        assert other.name(NAMES) == term.name(NAMES)


@given(X=rows(), products=st.booleans())
def test_names_are_unique_and_terms_survive_json(X, products):
    space, _ = lay_out(Hinge(3, products), X)
    terms = space.terms(np.arange(space.n_terms))
    assert len({term.name(NAMES) for term in terms}) == len(set(terms)) == space.n_terms
    assert tuple(HingeTerm.from_dict(json.loads(json.dumps(term.as_dict()))) for term in terms) == terms


@given(X=rows(), seed=st.integers(0, 1000))
def test_no_value_exceeds_the_bound(X, seed):
    rng = np.random.default_rng(seed)
    space, _ = lay_out(Hinge(3, products=True), X)
    ends = np.sort(rng.normal(size=(4, 2)), axis=1)
    ranges = {p: (float(low), float(high)) for p, (low, high) in enumerate(ends)}
    points = {p: np.append(rng.uniform(low, high, 20), [low, high]) for p, (low, high) in ranges.items()}
    for term in space.terms(np.arange(0, space.n_terms, 7)):
        assert np.abs(term.column(points, 22)).max() <= term.bound(ranges)


@given(X=rows(), seed=st.integers(0, 1000), n_knots=st.integers(1, 9))
def test_a_row_of_weight_two_is_the_row_twice(X, seed, n_knots):
    weight = np.random.default_rng(seed).integers(0, 4, len(X))
    weight[X.argmin(axis=0)] = weight[X.argmax(axis=0)] = 1  # the ranges are those of the rows that count
    weighted, _ = lay_out(Hinge(n_knots), X, weight)
    repeated, _ = lay_out(Hinge(n_knots), np.repeat(X, weight, axis=0))
    assert shown_of(weighted) == shown_of(repeated)


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
        assert (np.abs(knots - edges[:-1]) <= reach * (1 + 1e-9)).all()
        assert knots[0] <= x.min()


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
    assert [term.name(["sex", "c"]) for term in space.terms(np.arange(space.n_terms))] == ["max(0, sex)"]
    np.testing.assert_array_equal(space.columns(training.table, np.array([0])), [[0, 1, 1]])


def test_singles_come_first_then_pairs_in_order():
    X = np.column_stack([np.arange(9.0), np.arange(9.0) ** 2, np.arange(9) % 2])
    space, _ = lay_out(Hinge(2, products=True), X, features=[0, 2])
    singles, _ = lay_out(Hinge(2), X, features=[0, 2])
    n = singles.n_terms
    hinges = [term.factors[0] for term in singles.terms(np.arange(n))]
    expected = [(h,) for h in hinges]
    expected += [(g, h) for i, g in enumerate(hinges) for h in hinges[i:] if h.feature > g.feature]
    assert [term.factors for term in space.terms(np.arange(space.n_terms))] == expected
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
        (HingeTerm(single(0, 1, 52.0).factors + single(1, -1, 30.0).factors), "max(0, age-52)*max(0, 30-bmi)"),
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


@pytest.mark.parametrize("ids", [[-1], [10**6], [0, 10**6]])
@pytest.mark.parametrize("ask", ["terms", "columns"])
@pytest.mark.parametrize("products", [False, True])
def test_ids_out_of_range_raise(ids, ask, products):
    space, training = lay_out(Hinge(2, products), np.arange(12.0).reshape(6, 2))
    arguments = (training.table, np.array(ids)) if ask == "columns" else (np.array(ids),)
    with pytest.raises(IndexError, match=r"must lie in \[0, "):
        getattr(space, ask)(*arguments)


@pytest.mark.parametrize("products", [False, True])
def test_without_features_there_are_no_terms(products):
    space, training = lay_out(Hinge(products=products), np.ones((4, 2)))
    assert space.n_terms == 0
    assert space.terms(np.empty(0, np.int64)) == ()
    assert space.columns(training.table, np.empty(0, np.int64)).shape == (0, 4)
    assert lay_out(Hinge(products=products), np.eye(3), features=np.empty(0, np.int64))[0].n_terms == 0


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
    began = time.process_time()
    space = Hinge(8, products=True).space(training, rng)
    took, (kept, _) = time.process_time() - began, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert space.n_terms > 5 * 10**10
    assert took < 1
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
