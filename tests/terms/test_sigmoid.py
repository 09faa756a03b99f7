"""Ramps: the formula, where they stand, names in the user's own units."""

from __future__ import annotations

import json
import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rfsc._terms.sigmoid import Sigmoid, SigmoidTerm

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


def naive_ramp(term, point):
    total = sum(a * point[p] for p, a in zip(term.features, term.slopes, strict=True)) + term.offset
    return 1 / (1 + math.exp(-total)) if total > -700 else 0.0


@given(X=tables(), seed=st.integers(0, 9), n_features=st.integers(1, 4))
def test_laws_of_every_space(X, seed, n_features):
    training = training_of(X)
    space = Sigmoid(n_terms=15, n_features=n_features).space(training, np.random.default_rng(seed))
    terms, ids = all_terms(space), np.arange(space.n_terms)
    columns = space.columns(training.table, ids)
    assert space.n_terms <= 15
    assert columns.flags.c_contiguous
    assert len({term.name(NAMES) for term in terms}) == space.n_terms
    for term, column in zip(terms, columns, strict=True):
        assert 1 <= len(term.features) <= n_features
        assert list(term.features) == sorted(set(term.features))
        rows = training.scaling.rows(X, term.features)
        np.testing.assert_array_equal(term.column(rows, len(X)), column)
        np.testing.assert_allclose(column, [naive_ramp(term, row) for row in training.table.T], rtol=1e-9)
        ((raw, factor),) = term.unscaled(training.scaling).items()
        np.testing.assert_allclose(factor * raw.column(dict(enumerate(X.T)), len(X)), column, rtol=1e-9)
        assert raw.name(NAMES) == term.name(NAMES)
        for one in (term, raw):
            again = SigmoidTerm.from_dict(json.loads(json.dumps(one.as_dict(), allow_nan=False)))
            assert again == one
            assert hash(again) == hash(one)


@given(X=tables(), seed=st.integers(0, 9))
def test_a_name_is_true_within_the_training_ranges(X, seed):
    training = training_of(X)
    names = [f"X.T[{p}]" for p in range(X.shape[1])]
    for term in all_terms(Sigmoid(n_terms=10).space(training, np.random.default_rng(seed))):
        (formula,) = re.findall(r"ramp\((.*)\)$", term.name(names))
        ((raw, _),) = term.unscaled(training.scaling).items()
        argument = sum(a * X[:, p] for p, a in zip(raw.features, raw.slopes, strict=True)) + raw.offset
        np.testing.assert_allclose(eval(formula, {"X": X}), argument, atol=0.5)


def test_middle_and_slope_are_those_of_the_projection(rng):
    training = training_of(rng.normal(size=(400, 3)))
    for term in all_terms(Sigmoid(n_terms=30, steepness=6.0).space(training, rng)):
        argument = sum(a * training.table[p] for p, a in zip(term.features, term.slopes, strict=True)) + term.offset
        assert argument.std() == pytest.approx(6.0)
        assert 0.04 <= np.mean(argument < 0) <= 0.96
        assert term.slopes[0] > 0


@pytest.mark.parametrize(
    ("shown", "name"),
    [
        ((0.4, -1.2, 3.0), "ramp(0.4*age - 1.2*bmi + 3)"),
        ((-0.4, 12000.0, -0.001), "ramp(-0.4*age + 12000*bmi - 0.001)"),
    ],
)
def test_names(shown, name):
    assert SigmoidTerm((0, 1), (1.0, 1.0), 0.0, shown).name(["age", "bmi"]) == name


def test_names_that_could_be_misread_stand_in_brackets():
    term = SigmoidTerm((0, 1, 2), (1.0, 1.0, 1.0), 0.0, (2.0, -1.0, 3.0, -1.0))
    assert term.name(["a*b", "a-b", "size (cm)"]) == "ramp(2*[a*b] - 1*[a-b] + 3*size (cm) - 1)"


@given(X=tables(), seed=st.integers(0, 2**32 - 1))
def test_bound_holds(X, seed):
    rng = np.random.default_rng(seed)
    low = rng.uniform(-1.0, 1.0, X.shape[1])
    ranges = {p: (a, a + rng.uniform(0.0, 0.5)) for p, a in enumerate(low)}
    rows = {p: rng.uniform(*ends, 50) for p, ends in ranges.items()}
    for term in all_terms(Sigmoid(n_terms=10, n_features=3).space(training_of(X), rng)):
        assert term.column(rows, 50).max() <= term.bound(ranges) <= 1.0


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
            assert where[0] - 0.05 <= -term.offset / term.slopes[0] <= where[1] + 0.05


def test_a_weight_of_two_is_a_row_that_comes_twice(rng):
    X = rng.normal(size=(25, 2)).round(1)
    weight = rng.integers(1, 4, 25)
    weighted = all_terms(Sigmoid(30).space(training_of(X, weight.astype(float)), np.random.default_rng(0)))
    repeated = all_terms(Sigmoid(30).space(training_of(X.repeat(weight, axis=0)), np.random.default_rng(0)))
    assert [term.name(NAMES) for term in weighted] == [term.name(NAMES) for term in repeated]
    for one, other in zip(weighted, repeated, strict=True):
        np.testing.assert_allclose((*one.slopes, one.offset), (*other.slopes, other.offset))


@pytest.mark.parametrize("features", [[], [1], [1, 2]])
def test_only_allowed_features_that_vary_are_used(features, rng):
    X = rng.normal(size=(30, 4))
    X[:, 1] = 7.0
    training = training_of(X, features=np.array(features, dtype=np.int64))
    space = Sigmoid(10).space(training, rng)
    assert {term.features for term in all_terms(space)} == ({(2,)} if 2 in features else set())
    assert space.columns(training.table, np.arange(space.n_terms)).shape == (space.n_terms, 30)


def test_many_rows_are_sampled(rng):
    training = training_of(rng.normal(size=(10_500, 1)))
    for term in all_terms(Sigmoid(3).space(training, rng)):
        assert 0.03 <= np.mean(training.table[0] * term.slopes[0] + term.offset < 0) <= 0.97


@pytest.mark.parametrize("ids", [[-1], [4], [0, 4]])
def test_ids_out_of_range_raise(ids):
    training = training_of(np.random.default_rng(0).normal(size=(30, 2)))
    space = Sigmoid(4).space(training, np.random.default_rng(1))
    assert space.n_terms == 4
    for ask in (space.terms, lambda ids: space.columns(training.table, ids)):
        with pytest.raises(IndexError, match=r"must lie in \[0, 4\)"):
            ask(np.array(ids))


def test_columns_come_in_the_order_asked_for(rng):
    training = training_of(rng.normal(size=(30, 3)))
    space = Sigmoid(12).space(training, rng)
    ids = rng.permutation(space.n_terms)
    everything = space.columns(training.table, np.arange(space.n_terms))
    np.testing.assert_array_equal(space.columns(training.table, ids), everything[ids])


def test_far_away_is_zero_or_one_without_a_warning(rng):
    (term, *_) = all_terms(Sigmoid(1, n_features=1).space(training_of(rng.normal(size=(9, 1))), rng))
    np.testing.assert_array_equal(term.column({0: np.array([-1e50, 1e50])}, 2), [0.0, 1.0])


@pytest.mark.parametrize(
    "settings", [{"n_terms": 0}, {"n_terms": 2.5}, {"n_features": 0}, {"steepness": 0.0}, {"steepness": np.inf}]
)
def test_settings_are_checked(settings):
    with pytest.raises(ValueError, match=next(iter(settings))):
        Sigmoid(**settings)
