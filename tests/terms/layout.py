"""What the tests of the families share: training rows of a plain table, all terms of a space, awkward tables."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from rfsc._terms import Training
from rfsc._terms.scaling import Scaling


def training_of(X, weight=None, features=None):
    X = np.asarray(X, dtype=float)
    scaling = Scaling.from_rows(X)
    weight = np.ones(len(X)) if weight is None else np.asarray(weight, dtype=float)
    features = np.arange(X.shape[1]) if features is None else np.asarray(features, dtype=np.int64)
    return Training(scaling.table(X), weight, features, scaling)


def lay_out(basis, X, weight=None, features=None, seed=0):
    training = training_of(X, weight, features)
    return basis.space(training, np.random.default_rng(seed)), training


def all_terms(space):
    return space.terms(np.arange(space.n_terms))


def all_names(space, names):
    return [term.name(names) for term in all_terms(space)]


@st.composite
def rows(draw, places=(0.0, -3.0, 1e3)):
    """Quantities, whole numbers and zeros and ones, of any size and place."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(2, 40))
    scale, place = draw(st.sampled_from([1e-6, 1.0, 1e6])), draw(st.sampled_from(places))
    quantities = scale * (rng.normal(size=(n, 2)) + place)
    return np.column_stack([quantities, rng.integers(0, 2, n), rng.integers(-3, draw(st.integers(-2, 9)), n)])
