"""Ramps: the formula, where they stand, names in the user's own units."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rfsc._terms import Term
from rfsc._terms.expression import Number, Product, Ramp, Scaled, Sum, as_line
from rfsc._terms.sigmoid import Sigmoid

from .layout import all_terms, training_of

NAMES = ["age", "bmi", "bp", "dose", "a*b"]


@st.composite
def tables(draw):
    """Rows of one to five features, some of few distinct values, in several units."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.normal(size=(draw(st.integers(1, 50)), draw(st.integers(1, 5))))
    if draw(st.booleans()):
        X = np.round(X)
    scale = draw(st.sampled_from([1e-3, 1.0, 1e4]))
    return scale * (draw(st.sampled_from([0.0, 40.0, -3.0])) + X)


def line_of(term):
    """Slopes by feature, and the offset."""
    offset, slopes = as_line(term.expression.part)
    return {x.feature: slope.value for slope, x in slopes}, offset.value


def argument(term, table):
    slopes, offset = line_of(term)
    return sum(slope * table[p] for p, slope in slopes.items()) + offset


def ramp(shown):
    """A ramp of as many features as there are numbers but one, with these numbers in its name."""
    parts = [Product((Number(1.0, number), Scaled(p))) for p, number in enumerate(shown[:-1])]
    return Term(Ramp(Sum((Number(0.0, shown[-1]), *parts))))


@given(X=tables(), seed=st.integers(0, 9), n_features=st.integers(1, 4))
def test_columns_are_those_of_plain_python(X, seed, n_features):
    training = training_of(X)
    space = Sigmoid(n_terms=15, n_features=n_features).space(training, np.random.default_rng(seed))
    assert space.n_terms <= 15
    for term, column in zip(all_terms(space), space.columns(training.table, np.arange(space.n_terms)), strict=True):
        assert 1 <= len(term.features) <= n_features
        naive = [1 / (1 + math.exp(-total)) if total > -700 else 0.0 for total in argument(term, training.table)]
        np.testing.assert_allclose(column, naive, rtol=1e-9)


@given(X=tables(), seed=st.integers(0, 9))
def test_a_name_is_true_within_the_training_ranges(X, seed):
    training = training_of(X)
    names = [f"X.T[{p}]" for p in range(X.shape[1])]
    for term in all_terms(Sigmoid(n_terms=10).space(training, np.random.default_rng(seed))):
        (formula,) = re.findall(r"ramp\((.*)\)$", term.name(names))
        ((raw, _),) = term.unscaled(training.scaling).items()
        np.testing.assert_allclose(eval(formula, {"X": X}), argument(raw, X.T), atol=0.5)


def test_middle_and_slope_are_those_of_the_projection(rng):
    training = training_of(rng.normal(size=(400, 3)))
    for term in all_terms(Sigmoid(n_terms=30, steepness=6.0).space(training, rng)):
        values = argument(term, training.table)
        assert values.std() == pytest.approx(6.0)
        assert 0.04 <= np.mean(values < 0) <= 0.96
        assert next(iter(line_of(term)[0].values())) > 0


@pytest.mark.parametrize(
    ("shown", "name"),
    [
        ((0.4, -1.2, 3.0), "ramp(0.4*age - 1.2*bmi + 3)"),
        ((-0.4, 12000.0, -0.001), "ramp(-0.4*age + 12000*bmi - 0.001)"),
    ],
)
def test_names(shown, name):
    assert ramp(shown).name(["age", "bmi"]) == name


def test_names_that_could_be_misread_stand_in_brackets():
    assert ramp((2.0, -1.0, 3.0, -1.0)).name(["a*b", "a-b", "size (cm)"]) == "ramp(2*[a*b] - 1*[a-b] + 3*size (cm) - 1)"


def test_same_seed_same_space():
    X = np.random.default_rng(5).normal(size=(50, 3))
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    first, second, other = (
        all_terms(Sigmoid(20).space(training_of(X), np.random.default_rng(seed))) for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(np.random.get_state()[1], state)  # noqa: NPY002
    assert first == second
    assert first != other


def test_weights_move_the_middle():
    X = np.arange(11.0)[:, None]
    heavy = np.where(X[:, 0] == 10.0, 1e6, 1.0)
    for weight, where in [(None, (0.05, 0.95)), (heavy, (0.9, 1.0))]:
        for term in all_terms(Sigmoid(20).space(training_of(X, weight), np.random.default_rng(0))):
            slopes, offset = line_of(term)
            assert where[0] - 0.05 <= -offset / slopes[0] <= where[1] + 0.05


def test_a_weight_of_two_is_a_row_that_comes_twice(rng):
    X = rng.normal(size=(25, 2)).round(1)
    weight = rng.integers(1, 4, 25)
    weighted = all_terms(Sigmoid(30).space(training_of(X, weight.astype(float)), np.random.default_rng(0)))
    repeated = all_terms(Sigmoid(30).space(training_of(X.repeat(weight, axis=0)), np.random.default_rng(0)))
    assert [term.name(NAMES) for term in weighted] == [term.name(NAMES) for term in repeated]
    for one, other in zip(weighted, repeated, strict=True):
        np.testing.assert_allclose(argument(one, np.eye(3)), argument(other, np.eye(3)))


def test_many_rows_are_sampled(rng):
    training = training_of(rng.normal(size=(10_500, 1)))
    for term in all_terms(Sigmoid(3).space(training, rng)):
        assert 0.03 <= np.mean(argument(term, training.table) < 0) <= 0.97


def test_far_away_is_zero_or_one_without_a_warning(rng):
    (term, *_) = all_terms(Sigmoid(1, n_features=1).space(training_of(rng.normal(size=(9, 1))), rng))
    np.testing.assert_array_equal(term.column({0: np.array([-1e50, 1e50])}, 2), [0.0, 1.0])


@pytest.mark.parametrize(
    "settings", [{"n_terms": 0}, {"n_terms": 2.5}, {"n_features": 0}, {"steepness": 0.0}, {"steepness": np.inf}]
)
def test_settings_are_checked(settings):
    with pytest.raises(ValueError, match=next(iter(settings))):
        Sigmoid(**settings)
