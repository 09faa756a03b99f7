"""Sines and cosines against plain Python, and which of them a feature with few values offers."""

from __future__ import annotations

import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rfsc._terms import Term, Training
from rfsc._terms.expression import Scaled
from rfsc._terms.fourier import Fourier, wave
from rfsc._terms.naming import as_wave
from rfsc._terms.scaling import Scaling

from .layout import all_names, all_terms, lay_out, rows

NAMES = ["age", "bmi", "sex", "a/b"]
FAR = (0.0, -3.0, 1e9)  # places of the features: waves must stand far from zero


@given(X=rows(FAR), n_frequencies=st.integers(1, 5))
def test_columns_are_those_of_plain_python(X, n_frequencies):
    space, training = lay_out(Fourier(n_frequencies), X)
    for term, column in zip(all_terms(space), space.columns(training.table, np.arange(space.n_terms)), strict=True):
        kind, frequency, p, *_ = as_wave(term.expression)
        naive = [getattr(math, kind)(math.pi * frequency * value) for value in training.table[p]]
        np.testing.assert_allclose(column, naive, rtol=1e-12, atol=1e-14)


@given(X=rows(FAR))
def test_unscaled_waves_have_the_very_same_values(X):
    space, training = lay_out(Fourier(), X)
    for term in all_terms(space):
        ((other, weight),) = term.unscaled(training.scaling).items()
        assert weight == 1.0
        np.testing.assert_array_equal(other.column(X.T, len(X)), term.column(training.table, len(X)))
        assert other.name(NAMES) == term.name(NAMES)


@given(X=rows(FAR), n_frequencies=st.integers(1, 5))
def test_no_column_is_constant_or_repeats_another_of_its_feature(X, n_frequencies):
    space, training = lay_out(Fourier(n_frequencies), X)
    ids = np.arange(space.n_terms)
    columns = space.columns(training.table, ids)
    columns -= columns.mean(axis=1, keepdims=True)
    assert (np.linalg.norm(columns, axis=1) > 1e-9).all()
    columns /= np.linalg.norm(columns, axis=1, keepdims=True)
    feature = np.array([term.features[0] for term in space.terms(ids)])
    alike = np.abs(columns @ columns.T) > 1 - 1e-12
    assert (np.argwhere(alike & (feature[:, None] == feature))[:, 0] == ids).all()


def test_few_values_offer_few_waves():
    X = np.column_stack([np.arange(12) % 2, np.arange(12) % 3, np.arange(12.0), np.ones(12)])
    space, _ = lay_out(Fourier(2), X)
    assert all_names(space, ["sex", "gene", "dose", "c"]) == [
        "cos(pi*sex)",
        "cos(pi*gene/2)",
        "sin(pi*gene/2)",
        "cos(pi*dose/11)",
        "sin(pi*dose/11)",
        "cos(pi*2*dose/11)",
        "sin(pi*2*dose/11)",
    ]


@pytest.mark.parametrize(
    ("term", "name"),
    [
        (Term(wave("sin", 2, Scaled(0, (10.0, 30.0)))), "sin(pi*2*(age-20)/60)"),
        (Term(wave("cos", 1, Scaled(0, (-1.5, 0.5)))), "cos(pi*(age+3))"),
        (Term(wave("sin", 1, Scaled(1, (0.0, 0.5)))), "sin(pi*bmi)"),
        (Term(wave("sin", 3, Scaled(1, (0.617283945, 6.17283945)))), "sin(pi*3*(bmi-1.235)/12.35)"),
        (Term(wave("cos", 1, Scaled(3, (617283945.0, 5.0)))), "cos(pi*([a/b]-1234567890)/10)"),
    ],
)
def test_names(term, name):
    assert term.name(NAMES) == name


def test_many_features_cost_nothing_until_asked_for(rng):
    scaling = Scaling(np.zeros(20_000), np.full(20_000, 0.5))
    table = rng.random((20_000, 30))
    table[10_000:] = table[10_000:] > 0.5  # half of them zeros and ones
    table[:, 0], table[:, 1] = 0.0, 1.0
    training = Training(table, np.ones(30), np.arange(20_000), scaling)
    tracemalloc.start()
    space = Fourier().space(training, rng)
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert space.n_terms == 70_000
    assert kept < 8 * 2**20
    last = np.array([69_999])
    assert space.terms(last)[0].name([f"x{p}" for p in range(20_000)]) == "cos(pi*x19999)"
    np.testing.assert_allclose(space.columns(table, last)[0], np.cos(np.pi * table[-1]))


@pytest.mark.parametrize("n_frequencies", [0, -1, 2.5, True, "3"])
def test_bad_parameters_are_refused(n_frequencies):
    with pytest.raises(ValueError, match="n_frequencies must be"):
        Fourier(n_frequencies)
