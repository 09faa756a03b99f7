"""Steps and levels: the rules they state, the rows they split."""

from __future__ import annotations

import json
import time
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rfsc._terms.base import Training
from rfsc._terms.scaling import Scaling
from rfsc._terms.steps import LevelTerm, Step, StepTerm
from tests.terms.layout import rows

NAMES = ["age", "bmi", "sex", "x>y"]
KINDS = {"step": StepTerm, "level": LevelTerm}


def lay_out(basis, X, weight=None, features=None):
    X = np.asarray(X, dtype=float)
    scaling = Scaling.from_rows(X)
    weight = np.ones(len(X)) if weight is None else np.asarray(weight, dtype=float)
    features = np.arange(X.shape[1]) if features is None else np.asarray(features)
    training = Training(scaling.table(X), weight, features, scaling)
    return basis.space(training, np.random.default_rng(0)), training


def all_names(space, names=NAMES):
    return [term.name(names) for term in space.terms(np.arange(space.n_terms))]


@given(X=rows(), n_knots=st.integers(1, 6), levels=st.booleans())
def test_columns_are_those_of_the_terms_and_of_the_rules_on_raw_rows(X, n_knots, levels):
    space, training = lay_out(Step(n_knots, levels), X)
    ids = np.random.default_rng(0).permutation(space.n_terms)
    columns = space.columns(training.table, ids)
    assert columns.flags.c_contiguous
    by_feature, raw = dict(enumerate(training.table)), dict(enumerate(X.T))
    for term, column in zip(space.terms(ids), columns, strict=True):
        assert term.column(by_feature, len(X)).tobytes() == column.tobytes()
        x = X[:, term.feature]
        np.testing.assert_array_equal(column, x > term.shown if isinstance(term, StepTerm) else x == term.shown)
        assert 0 < column.sum() < len(X)
        ((other, weight),) = term.unscaled(training.scaling).items()
        assert weight == 1
        np.testing.assert_array_equal(other.column(raw, len(X)), column)
        assert other.name(NAMES) == term.name(NAMES)


@given(X=rows(), n_knots=st.integers(1, 6), levels=st.booleans())
def test_no_two_terms_split_the_rows_alike(X, n_knots, levels):
    space, training = lay_out(Step(n_knots, levels), X)
    terms, columns = space.terms(np.arange(space.n_terms)), space.columns(training.table, np.arange(space.n_terms))
    splits = {(t.feature, min(c.tobytes(), (1 - c).tobytes())) for t, c in zip(terms, columns, strict=True)}
    assert len(splits) == space.n_terms


@given(X=rows(), levels=st.booleans())
def test_names_are_unique_and_terms_survive_json(X, levels):
    space, _ = lay_out(Step(5, levels), X)
    terms = space.terms(np.arange(space.n_terms))
    assert len(set(all_names(space))) == len(set(terms)) == space.n_terms
    read = [json.loads(json.dumps(term.as_dict())) for term in terms]
    assert tuple(KINDS[d["kind"]].from_dict(d) for d in read) == terms


@given(X=rows(), seed=st.integers(0, 1000))
def test_no_value_exceeds_the_bound(X, seed):
    rng = np.random.default_rng(seed)
    space, _ = lay_out(Step(levels=True), X)
    ends = np.sort(rng.normal(size=(4, 2)), axis=1)
    ranges = {p: (float(low), float(high)) for p, (low, high) in enumerate(ends)}
    points = {p: np.append(rng.uniform(low, high, 20), [low, high]) for p, (low, high) in ranges.items()}
    for term in space.terms(np.arange(space.n_terms)):
        assert term.column(points, 22).max() <= term.bound(ranges) <= 1


@given(X=rows(), seed=st.integers(0, 1000), n_knots=st.integers(1, 9))
def test_a_row_of_weight_two_is_the_row_twice(X, seed, n_knots):
    weight = np.random.default_rng(seed).integers(0, 4, len(X))
    weight[X.argmin(axis=0)] = weight[X.argmax(axis=0)] = 1  # the ranges are those of the rows that count
    weighted, _ = lay_out(Step(n_knots, levels=True), X, weight)
    repeated, _ = lay_out(Step(n_knots, levels=True), np.repeat(X, weight, axis=0))
    assert all_names(weighted) == all_names(repeated)


@given(X=rows(), n_knots=st.integers(1, 9))
def test_cuts_lie_just_above_quantiles_or_everywhere(X, n_knots):
    space, _ = lay_out(Step(n_knots), X)
    terms = space.terms(np.arange(space.n_terms))
    for p, x in enumerate(X.T):
        distinct = np.unique(x)
        quantiles = np.quantile(x, np.arange(1, n_knots + 1) / (n_knots + 1), method="inverted_cdf")
        below = distinct[:-1] if distinct.size <= n_knots + 1 else np.setdiff1d(quantiles, x.max())
        shown = [term.shown for term in terms if term.feature == p]
        np.testing.assert_array_equal([x[x <= k].max() for k in shown], below)
        assert not np.isin(shown, x).any()  # strictly between


def test_few_values_are_cut_everywhere_and_two_values_once():
    X = np.column_stack([np.arange(6) % 2, [1, 1, 1, 1, 2, 7]])
    assert all_names(lay_out(Step(2), X)[0], ["sex", "stage"]) == ["sex>0.5", "stage>1.5", "stage>4"]


def test_levels_come_after_the_steps_and_leave_out_what_a_cut_tells():
    X = np.column_stack([[1, 2, 3, 4, 4], [0, 1, 0, 1, 1], [0.5, 1, 2, 3, 4]])
    space, _ = lay_out(Step(8, levels=True), X)
    assert all_names(space, ["stage", "sex", "dose"])[space.n_steps :] == ["stage=2", "stage=3"]
    # one cut only: the ends are levels of their own, but for the one behind the cut
    names = all_names(lay_out(Step(1, levels=True), X[:, :1])[0], ["stage"])
    assert names == ["stage>3.5", "stage=1", "stage=2", "stage=3"]


def test_more_than_ten_values_are_no_levels():
    X = np.column_stack([np.arange(11), np.minimum(np.arange(11), 9)])
    space, _ = lay_out(Step(3, levels=True), X)
    assert {term.feature for term in space.terms(np.arange(space.n_steps, space.n_terms))} == {1}


@pytest.mark.parametrize(
    ("term", "name"),
    [
        (StepTerm(1, 0.4, 30.0), "bmi>30"),
        (StepTerm(0, 0.4, -0.5), "age>-0.5"),
        (StepTerm(3, 0.4, 0.5), "[x>y]>0.5"),
        (LevelTerm(2, 1.0, 3.0), "sex=3"),
    ],
)
def test_names(term, name):
    assert term.name(NAMES) == name
    assert term.features == (term.feature,)


def test_neighbouring_numbers_can_still_be_told_apart():
    low = 1e9
    X = np.array([[low], [np.nextafter(low, 2e9)]])
    space, training = lay_out(Step(), X)
    np.testing.assert_array_equal(space.columns(training.table, np.array([0])), [[0, 1]])
    np.testing.assert_array_equal(X[:, 0] > space.shown[0], [False, True])


@pytest.mark.parametrize("scale", [1e-300, 1e-30, 1e30, 1.7e308])
def test_extreme_units_are_split_as_others(scale, rng):
    X = scale * rng.uniform(-1, 1, size=(20, 2))
    space, training = lay_out(Step(4), X)
    for term, column in zip(space.terms(np.arange(8)), space.columns(training.table, np.arange(8)), strict=True):
        np.testing.assert_array_equal(column, X[:, term.feature] > term.shown)


@pytest.mark.parametrize("ids", [[-1], [10**6], [0, 10**6]])
@pytest.mark.parametrize("ask", ["terms", "columns"])
def test_ids_out_of_range_raise(ids, ask):
    space, training = lay_out(Step(2), np.arange(12.0).reshape(6, 2))
    arguments = (training.table, np.array(ids)) if ask == "columns" else (np.array(ids),)
    with pytest.raises(IndexError, match=r"must lie in \[0, 4\)"):
        getattr(space, ask)(*arguments)


def test_without_features_there_are_no_terms():
    space, training = lay_out(Step(levels=True), np.ones((4, 2)))
    assert space.n_terms == 0
    assert space.terms(np.empty(0, np.int64)) == ()
    assert space.columns(training.table, np.empty(0, np.int64)).shape == (0, 4)


def test_many_features_are_laid_out_at_once(rng):
    scaling = Scaling(np.zeros(20_000), np.full(20_000, 0.5))
    training = Training(rng.random((20_000, 30)), np.ones(30), np.arange(20_000), scaling)
    tracemalloc.start()
    began = time.process_time()
    space = Step(8, levels=True).space(training, rng)
    took, (kept, _) = time.process_time() - began, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert space.n_terms == 160_000
    assert took < 1
    assert kept < 8 * 2**20
    (term,) = space.terms(np.array([159_999]))
    column = space.columns(training.table, np.array([159_999]))[0]
    np.testing.assert_array_equal(column, training.table[19_999] > term.knot)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_knots": 0}, "n_knots"),
        ({"n_knots": 2.5}, "n_knots"),
        ({"n_knots": True}, "n_knots"),
        ({"levels": 1}, "levels"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    with pytest.raises(ValueError, match=f"{message} must be"):
        Step(**parameters)
