"""A long table whose truth is known: main effects, a square and interactions of different strength."""

from __future__ import annotations

import numpy as np
from scipy.special import expit


def make_long(n_rows: int, n_features: int = 30, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Features from a normal distribution, and classes by a logistic model of eleven of them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features))
    x = X.T
    logit = (
        1.5 * x[0]
        - 1.0 * x[1]
        + 0.8 * x[2] * x[3]
        - 0.7 * x[4] ** 2
        + 0.5 * x[5] * x[6]
        + 0.4 * x[7]
        - 0.3 * x[8] * x[9]
        + 0.2 * x[10]
        + 0.5
    )
    y = rng.random(n_rows) < expit(logit)
    return X, y.astype(int)
