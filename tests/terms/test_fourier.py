"""Sines and cosines against plain Python, and which of them a feature with few values offers."""

from __future__ import annotations

import json
import math
import time
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rfsc._terms.base import Training
from rfsc._terms.fourier import Fourier, FourierTerm
from rfsc._terms.scaling import Scaling
from tests.terms.layout import rows

NAMES = ["age", "bmi", "sex", "a/b"]
FAR = (0.0, -3.0, 1e9)  # places of the features: waves must stand far from zero


def lay_out(basis, X, features=None):
    X = np.asarray(X, dtype=float)
    scaling = Scaling.from_rows(X)
    features = np.arange(X.shape[1]) if features is None else np.asarray(features)
    training = Training(scaling.table(X), np.ones(len(X)), features, scaling)
    return basis.space(training, np.random.default_rng(0)), training


def all_names(space, names=NAMES):
    return [term.name(names) for term in space.terms(np.arange(space.n_terms))]


@given(X=rows(FAR), n_frequencies=st.integers(1, 5))
def test_columns_are_those_of_the_terms_and_of_plain_python(X, n_frequencies):
    space, training = lay_out(Fourier(n_frequencies), X)
    ids = np.random.default_rng(0).permutation(space.n_terms)
    columns = space.columns(training.table, ids)
    assert columns.flags.c_contiguous
    by_feature = dict(enumerate(training.table))
    for term, column in zip(space.terms(ids), columns, strict=True):
        assert term.column(by_feature, len(X)).tobytes() == column.tobytes()
        x = training.table[term.feature]
        naive = [getattr(math, term.wave)(math.pi * term.frequency * value) for value in x]
        np.testing.assert_allclose(column, naive, rtol=1e-12, atol=1e-14)


@given(X=rows(FAR))
def test_unscaled_is_the_same_function_of_the_raw_features(X):
    space, training = lay_out(Fourier(), X)
    ids = np.arange(space.n_terms)
    raw = dict(enumerate(X.T))
    for term, column in zip(space.terms(ids), space.columns(training.table, ids), strict=True):
        ((other, weight),) = term.unscaled(training.scaling).items()
        np.testing.assert_array_equal(weight * other.column(raw, len(X)), column)
        assert other.name(NAMES) == term.name(NAMES)
        assert other.unscaled(training.scaling) == {other: 1.0}


@given(X=rows(FAR))
def test_names_are_unique_and_terms_survive_json(X):
    space, training = lay_out(Fourier(), X)
    terms = space.terms(np.arange(space.n_terms))
    assert len(set(all_names(space))) == len(set(terms)) == space.n_terms
    unscaled = [part for term in terms for part in term.unscaled(training.scaling)]
    for term in (*terms, *unscaled):
        assert FourierTerm.from_dict(json.loads(json.dumps(term.as_dict()))) == term


@given(X=rows(FAR), seed=st.integers(0, 1000))
def test_no_value_exceeds_the_bound(X, seed):
    space, _ = lay_out(Fourier(), X)
    points = dict(enumerate(np.random.default_rng(seed).normal(size=(4, 20))))
    ranges = {p: (float(x.min()), float(x.max())) for p, x in points.items()}
    for term in space.terms(np.arange(space.n_terms)):
        assert np.abs(term.column(points, 20)).max() <= term.bound(ranges)


@given(X=rows(FAR), n_frequencies=st.integers(1, 5))
def test_no_column_is_constant_or_repeats_another_of_its_feature(X, n_frequencies):
    space, training = lay_out(Fourier(n_frequencies), X)
    ids = np.arange(space.n_terms)
    columns = space.columns(training.table, ids)
    columns -= columns.mean(axis=1, keepdims=True)
    assert (np.linalg.norm(columns, axis=1) > 1e-9).all()
    columns /= np.linalg.norm(columns, axis=1, keepdims=True)
    feature = np.array([term.feature for term in space.terms(ids)])
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
        (FourierTerm(0, "sin", 2, 10.0, 30.0), "sin(pi*2*(age-20)/60)"),
        (FourierTerm(0, "cos", 1, -1.5, 0.5), "cos(pi*(age+3))"),
        (FourierTerm(1, "sin", 1, 0.0, 0.5), "sin(pi*bmi)"),
        (FourierTerm(1, "sin", 3, 0.617283945, 6.17283945), "sin(pi*3*(bmi-1.235)/12.35)"),
        (FourierTerm(3, "cos", 1, 617283945.0, 5.0), "cos(pi*([a/b]-1234567890)/10)"),
    ],
)
def test_names(term, name):
    assert term.name(NAMES) == name
    assert term.features == (term.feature,)


def test_only_the_given_features_are_used(rng):
    X = rng.random((8, 5))
    space, training = lay_out(Fourier(2), X, features=[1, 4])
    assert [term.feature for term in space.terms(np.arange(space.n_terms))] == [1] * 4 + [4] * 4
    training.table[[0, 2, 3]] = np.nan
    assert np.isfinite(space.columns(training.table, np.arange(space.n_terms))).all()


@pytest.mark.parametrize("ids", [[-1], [10**6], [0, 10**6]])
@pytest.mark.parametrize("ask", ["terms", "columns"])
def test_ids_out_of_range_raise(ids, ask):
    space, training = lay_out(Fourier(2), np.arange(12.0).reshape(6, 2))
    arguments = (training.table, np.array(ids)) if ask == "columns" else (np.array(ids),)
    with pytest.raises(IndexError, match=r"must lie in \[0, 8\)"):
        getattr(space, ask)(*arguments)


def test_without_features_there_are_no_terms():
    space, training = lay_out(Fourier(), np.ones((4, 2)))
    assert space.n_terms == 0
    assert space.terms(np.empty(0, np.int64)) == ()
    assert space.columns(training.table, np.empty(0, np.int64)).shape == (0, 4)


def test_many_features_cost_nothing_until_asked_for(rng):
    scaling = Scaling(np.zeros(20_000), np.full(20_000, 0.5))
    table = rng.random((20_000, 30))
    table[10_000:] = table[10_000:] > 0.5  # half of them zeros and ones
    table[:, 0], table[:, 1] = 0.0, 1.0
    training = Training(table, np.ones(30), np.arange(20_000), scaling)
    tracemalloc.start()
    began = time.process_time()
    space = Fourier().space(training, rng)
    took, (kept, _) = time.process_time() - began, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert space.n_terms == 70_000
    assert took < 1
    assert kept < 8 * 2**20
    last = np.array([69_999])
    assert space.terms(last)[0].name([f"x{p}" for p in range(20_000)]) == "cos(pi*x19999)"
    np.testing.assert_allclose(space.columns(table, last)[0], np.cos(np.pi * table[-1]))


@pytest.mark.parametrize("n_frequencies", [0, -1, 2.5, True, "3"])
def test_bad_parameters_are_refused(n_frequencies):
    with pytest.raises(ValueError, match="n_frequencies must be"):
        Fourier(n_frequencies)
