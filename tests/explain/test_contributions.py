"""y+ and y- split f exactly, on either side of zero, whatever the model and wherever the sample."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.datasets import load_breast_cancer, load_iris

from rfsc import RFSCClassifier, SparseModel
from rfsc._terms import monomial
from rfsc._terms.scaling import Scaling
from rfsc.explain import contributions, for_and_against

N_FEATURES = 3
numbers = st.floats(-100, 100)
factors = st.lists(st.integers(0, N_FEATURES - 1), max_size=3).map(lambda p: monomial(sorted(p)))


@st.composite
def models(draw):
    terms = tuple(draw(st.lists(factors, max_size=6, unique=True)))
    coef = draw(arrays(float, len(terms), elements=numbers))
    scaling = Scaling.from_rows(np.array([[-1.0, 0.0, 5.0], [1.0, 10.0, 6.0]]))
    return SparseModel(terms, coef, None, scaling, ("a", "b", "c"), "yes", 10.0, None)


samples = arrays(float, st.tuples(st.integers(1, 5), st.just(N_FEATURES)), elements=numbers)


@given(models(), samples)
def test_split_of_the_output(model, X):
    sides = for_and_against(model, X)
    assert sides.for_class.shape == sides.against_class.shape == (len(X),)
    assert (sides.for_class >= 0).all()
    assert (sides.against_class >= 0).all()
    size = 1e-12 * (1 + sides.for_class + sides.against_class)
    assert (np.abs(sides.for_class - sides.against_class - model.decision(X)) <= size).all()


@given(models(), samples)
def test_sides_by_definition(model, X):
    sides = for_and_against(model, X)
    columns = model.columns(X)
    for k in range(len(X)):
        parts = [c * columns[j, k] for j, c in enumerate(model.coef)]
        np.testing.assert_allclose(sides.for_class[k], sum(p for p in parts if p > 0), rtol=1e-12)
        np.testing.assert_allclose(sides.against_class[k], -sum(p for p in parts if p < 0), rtol=1e-12)


@given(models(), samples)
def test_delta_is_a_share_with_the_sign_of_f(model, X):
    sides = for_and_against(model, X)
    delta = sides.delta
    assert ((delta >= -1) & (delta <= 1)).all()
    np.testing.assert_array_equal(np.sign(delta), np.sign(sides.for_class - sides.against_class))
    nothing_against = (sides.against_class == 0) & (sides.for_class > 0)
    assert (delta[nothing_against] == 1).all()
    assert (delta[(sides.for_class == 0) & (sides.against_class == 0)] == 0).all()


def test_fitted_classifier():
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, :5]
    clf = RFSCClassifier(basis="polynomial", n_restarts=1, random_state=0).fit(X, y)
    sides = for_and_against(clf.models_[0], X)
    np.testing.assert_allclose(sides.for_class - sides.against_class, clf.decision_function(X), rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(clf.classes_[(sides.delta > 0).astype(int)], clf.predict(X))


@given(models(), samples)
def test_contributions_add_up_by_term_and_by_feature(model, X):
    for by in ("term", "feature"):
        found = contributions(model, X, by=by)
        assert found.values.shape == (len(X), len(found.names))
        np.testing.assert_array_equal(found.total, model.decision(X))
        size = 1e-12 * (1 + np.abs(found.values).sum(axis=1))
        assert (np.abs(found.values.sum(axis=1) - found.total) <= size).all()
        np.testing.assert_array_equal(found.sides.for_class, for_and_against(model, X).for_class)
    assert contributions(model, X).names == model.names


@given(models(), samples)
def test_features_share_terms_in_equal_parts(model, X):
    found = contributions(model, X, by="feature")
    by_term = contributions(model, X)
    expected = dict.fromkeys((*(model.feature_names[p] for p in model.features), "constant"), 0.0)
    for j, term in enumerate(model.terms):
        for p in term.features:
            expected[model.feature_names[p]] += by_term.values[0, j] / len(term.features)
        if not term.features:
            expected["constant"] += by_term.values[0, j]
    assert found.names == tuple(expected)
    np.testing.assert_allclose(found.values[0], list(expected.values()), rtol=1e-12, atol=1e-12)


def test_contributions_of_frames_rows_and_several_classes():
    X, y = load_iris(return_X_y=True, as_frame=True)
    clf = RFSCClassifier(basis="polynomial", n_restarts=1, random_state=0).fit(X, y)
    found = contributions(clf, X, label=2)
    np.testing.assert_allclose(found.values.sum(axis=1), clf.decision_function(X)[:, 2], atol=1e-9)
    assert found.label == 2
    np.testing.assert_array_equal(contributions(clf, X.to_numpy(), label=2).values, found.values)
    for row in (X.iloc[4], X.iloc[4].to_dict(), X.iloc[4].tolist()):
        np.testing.assert_array_equal(contributions(clf, row, label=2).values, found.values[[4]])
    with pytest.raises(ValueError, match="Pass label, one of 0, 1, 2"):
        contributions(clf, X)
    with pytest.raises(ValueError, match="by must be 'term' or 'feature'"):
        contributions(clf, X, by="row", label=2)
