"""What the tests of the families share: training rows out of a plain table, all terms of a space, awkward tables."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from rfsc._terms.base import Training
from rfsc._terms.scaling import Scaling


def training_of(X, weight=None, features=None):
    scaling = Scaling.from_rows(X)
    weight = np.ones(len(X)) if weight is None else weight
    features = np.arange(X.shape[1]) if features is None else np.asarray(features)
    return Training(scaling.table(X), weight, features, scaling)


def all_terms(space):
    return space.terms(np.arange(space.n_terms))


@st.composite
def rows(draw, places=(0.0, -3.0, 1e3)):
    """Quantities, whole numbers and zeros and ones, of any size and place."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(2, 40))
    scale, place = draw(st.sampled_from([1e-6, 1.0, 1e6])), draw(st.sampled_from(places))
    quantities = scale * (rng.normal(size=(n, 2)) + place)
    return np.column_stack([quantities, rng.integers(0, 2, n), rng.integers(-3, draw(st.integers(-2, 9)), n)])
