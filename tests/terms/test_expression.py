"""The tree of a term computes what its column holds, for every family."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.preprocessing import SplineTransformer

from rfsc._terms import Monomial, Training
from rfsc._terms.expression import Number, evaluate
from rfsc._terms.scaling import Scaling
from rfsc.bases import Transformed, build_space, resolve

FAMILIES = ["polynomial", "centred", "hinge", "step", "radial", "fourier", "sigmoid"]


def some_terms(family, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 3)) * [1.0, 1e-3, 1e6] + [0.0, 5.0, -1e6]
    X[:, 0] = rng.integers(0, 4, 60)
    scaling = Scaling.from_rows(X)
    training = Training(scaling.table(X), np.ones(60), np.arange(3), scaling)
    space = build_space(resolve(family, 3), training, seed)
    ids = rng.choice(space.n_terms, min(space.n_terms, 12), replace=False)
    return space.terms(np.sort(ids)), scaling, X


@pytest.mark.parametrize("family", FAMILIES)
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 2**20), far=st.sampled_from([0.0, 1.0, 1e6, 1e49]))
def test_a_tree_gives_the_same_bits_as_the_column(family, seed, far):
    terms, scaling, X = some_terms(family, seed)
    rng = np.random.default_rng(seed)
    rows = {p: row + far * rng.normal(size=row.size) for p, row in scaling.rows(X, range(3)).items()}
    for term in terms:
        np.testing.assert_allclose(evaluate(term.expression(), rows), term.column(rows, len(X)), rtol=1e-15, atol=0)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_tree_in_the_users_units_reads_unscaled_rows(family):
    terms, scaling, X = some_terms(family, 3)
    rows = dict(enumerate(X.T))
    for term in terms:
        for part in term.unscaled(scaling):
            np.testing.assert_allclose(evaluate(part.expression(), rows), part.column(rows, len(X)), rtol=1e-12)


def test_the_constant_reads_nothing():
    assert Monomial(()).expression() == Number(1.0)


def test_a_transformer_has_no_tree():
    X = np.random.default_rng(0).normal(size=(30, 2))
    scaling = Scaling.from_rows(X)
    basis = Transformed(SplineTransformer().fit(X))
    space = basis.space(Training(scaling.table(X), np.ones(30), np.arange(2), scaling), np.random.default_rng(0))
    with pytest.raises(TypeError, match="SplineTransformer"):
        space.terms(np.array([0]))[0].expression()
