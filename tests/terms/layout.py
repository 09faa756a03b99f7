"""What the tests of the families share: training rows out of a plain table, and all terms of a space."""

from __future__ import annotations

import numpy as np

from rfsc.prepare.scaling import Scaling
from rfsc.terms.base import Training


def training_of(X, weight=None, features=None):
    scaling = Scaling.from_rows(X)
    weight = np.ones(len(X)) if weight is None else weight
    features = np.arange(X.shape[1]) if features is None else np.asarray(features)
    return Training(scaling.table(X), weight, features, scaling)


def all_terms(space):
    return space.terms(np.arange(space.n_terms))
