"""Terms of a fitted transformer: it must see the user's own numbers, and run once for many columns."""

from __future__ import annotations

import copy
import math
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    OneHotEncoder,
    PolynomialFeatures,
    SplineTransformer,
    StandardScaler,
)

from rfsc._terms.transformed import Transformed, TransformedTerm

from .layout import training_of

SMOOTH = [
    SplineTransformer(n_knots=3),
    PolynomialFeatures(2),
    StandardScaler(copy=False),
    PCA(),
    make_pipeline(StandardScaler(), SplineTransformer(n_knots=3, sparse_output=True)),
]


def space_of(transformer, X):
    training = training_of(X)
    return Transformed(transformer).space(training, np.random.default_rng(0)), training


@given(which=st.integers(0, len(SMOOTH) - 1), seed=st.integers(0, 2**32 - 1), scale=st.sampled_from([1e-6, 1.0, 1e6]))
def test_laws_of_every_space(which, seed, scale):
    rng = np.random.default_rng(seed)
    X = scale * rng.uniform(-3.0, 5.0, size=(20, 3))
    transformer = copy.deepcopy(SMOOTH[which]).fit(X)
    space, training = space_of(transformer, X)
    ids = rng.permutation(space.n_terms)
    columns, terms = space.columns(training.table, ids), space.terms(ids)
    expected = transformer.transform(X.copy())
    expected = expected.toarray() if hasattr(expected, "toarray") else expected
    expected = expected[:, expected.min(axis=0) < expected.max(axis=0)]
    atol = 1e-11 * np.abs(expected).max()
    np.testing.assert_allclose(columns, expected.T[ids], rtol=1e-9, atol=atol)
    assert columns.flags.c_contiguous
    assert len({term.name(["age", "bmi", "bp"]) for term in terms}) == space.n_terms
    for term, column in list(zip(terms, columns, strict=True))[:4]:
        assert term.features == (0, 1, 2)
        assert term.bound(dict.fromkeys(term.features, (0.0, 1.0))) == math.inf
        np.testing.assert_array_equal(term.column(training.scaling.rows(X, term.features), len(X)), column)
        ((raw, factor),) = term.unscaled(training.scaling).items()
        np.testing.assert_allclose(factor * raw.column(dict(enumerate(X.T)), len(X)), column, rtol=1e-9, atol=atol)
        assert raw.name(["age", "bmi", "bp"]) == term.name(["age", "bmi", "bp"])


@pytest.mark.parametrize("sparse", [True, False])
def test_categories_survive_the_way_to_the_unit_interval_and_back(sparse, rng):
    X = np.column_stack([rng.integers(1, 8, 60), rng.integers(-30, 900, 60) / 10, rng.choice([0.1, 0.7, 12.3], 60)])
    encoder = OneHotEncoder(sparse_output=sparse).fit(X)
    space, training = space_of(encoder, X)
    expected = OneHotEncoder(sparse_output=False).fit_transform(X)
    np.testing.assert_array_equal(space.columns(training.table, np.arange(space.n_terms)), expected.T)


def test_names_are_made_of_the_users_features(rng):
    X = rng.normal(size=(30, 2))
    space, _ = space_of(PolynomialFeatures(2, include_bias=False).fit(X), X)
    names = [term.name(["age", "bmi"]) for term in space.terms(np.arange(5))]
    assert names == ["PolynomialFeatures(age)", "PolynomialFeatures(bmi)", "age^2", "age bmi", "bmi^2"]


def test_tables_with_names(rng):
    X = pd.DataFrame(rng.normal(size=(30, 3)).round(3), columns=["age", "bmi", "bp"])
    bins = KBinsDiscretizer(3, strategy="uniform")
    transformer = ColumnTransformer([("bins", bins, ["bp"]), ("same", "passthrough", ["age"])]).fit(X)
    space, training = space_of(transformer, X.to_numpy())
    columns = space.columns(training.table, np.arange(space.n_terms))
    out = transformer.transform(X)
    np.testing.assert_allclose(columns, np.asarray(out.toarray() if hasattr(out, "toarray") else out).T)
    (last,) = space.terms(np.array([space.n_terms - 1]))
    assert last.name(["age", "bmi", "bp"]) == "same__age"
    assert last.name(["x0", "x1", "x2"]) == "same__age"  # the names of the classifier are others


def test_output_as_a_table(rng):
    X = rng.normal(size=(30, 2))
    space, training = space_of(StandardScaler().set_output(transform="pandas").fit(X), X)
    np.testing.assert_allclose(space.columns(training.table, np.array([1])), StandardScaler().fit_transform(X).T[1:])


def test_the_transformer_runs_once_for_many_columns(rng):
    calls = []
    X = rng.normal(size=(20, 3))
    transformer = FunctionTransformer(lambda X: calls.append(1) or X, feature_names_out="one-to-one").fit(X)
    space, training = space_of(transformer, X)
    calls.clear()
    space.columns(training.table, np.array([2, 0, 1, 0]))
    assert len(calls) == 1


def test_equal_by_identity(rng):
    X = rng.normal(size=(20, 2))
    transformer, twin = PCA().fit(X), PCA().fit(X)
    (a, b), _ = space_of(transformer, X)[0].terms(np.arange(2)), None
    assert a == space_of(transformer, X)[0].terms(np.arange(2))[0]
    assert len({a, b, *space_of(transformer, X)[0].terms(np.arange(2))}) == 2
    assert a != space_of(twin, X)[0].terms(np.arange(2))[0]
    assert a != next(iter(a.unscaled(training_of(X).scaling)))
    assert a != "pca0"
    a_again, b_again = pickle.loads(pickle.dumps((a, b)))
    assert a_again.transformer is b_again.transformer


def test_constant_features_are_held_at_their_value(rng):
    X = rng.normal(size=(20, 3))
    X[:, 1] = 7.0
    transformer = FunctionTransformer(lambda X: X * 2, feature_names_out="one-to-one").fit(X)
    constant = TransformedTerm(transformer, 1, training_of(X).scaling)
    assert constant.features == (0, 2)
    rows = constant.scaling.rows(X, constant.features)
    np.testing.assert_array_equal(constant.column(rows, 20), np.full(20, 14.0))


@pytest.mark.parametrize("sparse", [True, False])
def test_columns_that_do_not_vary_are_no_terms(sparse, rng):
    X = rng.integers(0, 2, size=(30, 3)).astype(float)
    X[:, 1] = 7.0
    for transformer, expected in [
        (OneHotEncoder(sparse_output=sparse), ["a_0.0", "a_1.0", "c_0.0", "c_1.0"]),
        (PolynomialFeatures(1), ["PolynomialFeatures(a)", "PolynomialFeatures(c)"]),
    ]:
        space, training = space_of(transformer.fit(X), X)
        names = [term.name(["a", "b", "c"]) for term in space.terms(np.arange(space.n_terms))]
        assert names == expected
        assert (np.ptp(space.columns(training.table, np.arange(space.n_terms)), axis=1) == 1.0).all()


def test_no_rows_and_no_ids(rng):
    X = rng.normal(size=(20, 2))
    space, training = space_of(PCA().fit(X), X)
    assert space.columns(training.table, np.arange(0)).shape == (0, 20)
    assert space.columns(training.table[:, :0], np.arange(2)).shape == (2, 0)


@pytest.mark.parametrize("ids", [[-1], [2], [0, 2]])
def test_ids_out_of_range_raise(ids, rng):
    X = rng.normal(size=(20, 2))
    space, training = space_of(PCA().fit(X), X)
    for ask in (space.terms, lambda ids: space.columns(training.table, ids)):
        with pytest.raises(IndexError, match=r"must lie in \[0, 2\)"):
            ask(np.array(ids))


def test_far_away_rows_stay_finite(rng):
    X = 1e300 * rng.normal(size=(20, 2))
    space, _ = space_of(FunctionTransformer(feature_names_out="one-to-one").fit(X), X)
    (term, _) = space.terms(np.arange(2))
    assert np.isfinite(term.column({0: np.array([1e50]), 1: np.array([-1e50])}, 1)).all()


@pytest.mark.parametrize("transformer", [PCA(), make_pipeline(StandardScaler(), PCA()), FunctionTransformer(np.log)])
def test_unfitted_transformers_are_refused(transformer, rng):
    if isinstance(transformer, FunctionTransformer):
        transformer.set_params(feature_names_out="one-to-one")
    with pytest.raises(ValueError, match=r"is not fitted\. Fit it first"):
        space_of(transformer, rng.normal(size=(20, 2)))


def test_other_tables_and_other_objects_are_refused(rng):
    X = rng.normal(size=(20, 3))
    with pytest.raises(ValueError, match="PCA was fitted to 3 features, but the table has 2"):
        space_of(PCA().fit(X), X[:, :2])
    with pytest.raises(TypeError, match="expected a fitted scikit-learn transformer, got object"):
        space_of(object(), X)


def test_values_that_are_not_finite_are_refused(rng):
    X = rng.normal(size=(20, 3))

    def holes(X):
        return np.where(X > 0, X, np.nan)

    with pytest.raises(ValueError, match="FunctionTransformer gives values that are not finite numbers"):
        space_of(FunctionTransformer(holes, feature_names_out="one-to-one").fit(X), X)


def test_json_is_refused_with_a_reason(rng):
    X = rng.normal(size=(20, 2))
    (term, *_) = space_of(KMeans(2, n_init=1, random_state=0).fit(X), X)[0].terms(np.arange(2))
    assert isinstance(term, TransformedTerm)
    with pytest.raises(TypeError, match=r"term of a transformer \(KMeans\) cannot be written as JSON"):
        term.as_dict()
