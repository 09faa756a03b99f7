"""Steps and levels: the conditions they state, the rows they split."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rfsc._terms import Term, Training
from rfsc._terms.expression import Condition, Scaled
from rfsc._terms.scaling import Scaling
from rfsc._terms.steps import Step

from .layout import all_names, all_terms, lay_out, rows

NAMES = ["age", "bmi", "sex", "x>y"]


def feature_of(term):
    (p,) = term.features
    return p


@given(X=rows(), n_knots=st.integers(1, 6), levels=st.booleans())
def test_columns_are_the_conditions_on_raw_rows(X, n_knots, levels):
    space, training = lay_out(Step(n_knots, levels), X)
    for term, column in zip(all_terms(space), space.columns(training.table, np.arange(space.n_terms)), strict=True):
        x, shown = X[:, feature_of(term)], term.expression.shown
        np.testing.assert_array_equal(column, x > shown if term.expression.relation == ">" else x == shown)
        assert 0 < column.sum() < len(X)
        ((other, weight),) = term.unscaled(training.scaling).items()
        assert weight == 1
        np.testing.assert_array_equal(other.column(X.T, len(X)), column)


@given(X=rows(), n_knots=st.integers(1, 6), levels=st.booleans())
def test_no_two_terms_split_the_rows_alike(X, n_knots, levels):
    space, training = lay_out(Step(n_knots, levels), X)
    terms, columns = space.terms(np.arange(space.n_terms)), space.columns(training.table, np.arange(space.n_terms))
    splits = {(feature_of(t), min(c.tobytes(), (1 - c).tobytes())) for t, c in zip(terms, columns, strict=True)}
    assert len(splits) == space.n_terms


@given(X=rows(), n_knots=st.integers(1, 9))
def test_cuts_lie_just_above_quantiles_or_everywhere(X, n_knots):
    space, _ = lay_out(Step(n_knots), X)
    terms = space.terms(np.arange(space.n_terms))
    for p, x in enumerate(X.T):
        distinct = np.unique(x)
        quantiles = np.quantile(x, np.arange(1, n_knots + 1) / (n_knots + 1), method="inverted_cdf")
        below = distinct[:-1] if distinct.size <= n_knots + 1 else np.setdiff1d(quantiles, x.max())
        shown = [term.expression.shown for term in terms if feature_of(term) == p]
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
    assert {feature_of(term) for term in space.terms(np.arange(space.n_steps, space.n_terms))} == {1}


@pytest.mark.parametrize(
    ("term", "name"),
    [
        (Term(Condition(Scaled(1), ">", 0.4, 30.0)), "bmi>30"),
        (Term(Condition(Scaled(0), ">", 0.4, -0.5)), "age>-0.5"),
        (Term(Condition(Scaled(3), ">", 0.4, 0.5)), "[x>y]>0.5"),
        (Term(Condition(Scaled(2), "=", 1.0, 3.0)), "sex=3"),
    ],
)
def test_names(term, name):
    assert term.name(NAMES) == name


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
        np.testing.assert_array_equal(column, X[:, feature_of(term)] > term.expression.shown)


def test_many_features_are_laid_out_at_once(rng):
    scaling = Scaling(np.zeros(20_000), np.full(20_000, 0.5))
    training = Training(rng.random((20_000, 30)), np.ones(30), np.arange(20_000), scaling)
    tracemalloc.start()
    space = Step(8, levels=True).space(training, rng)
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert space.n_terms == 160_000
    assert kept < 8 * 2**20
    (term,) = space.terms(np.array([159_999]))
    column = space.columns(training.table, np.array([159_999]))[0]
    np.testing.assert_array_equal(column, training.table[19_999] > term.expression.at)


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
