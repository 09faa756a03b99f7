"""The paper's distance covariance test in O(N^2), from its definition: slow twin of the filter."""

from __future__ import annotations

import numpy as np


def value_distances(v):
    """a_rs = |v_r - v_s|."""
    return np.abs(v[:, None] - v[None, :])


def label_distances(code):
    """b_rs = 1 where the classes of r and s differ, else 0."""
    return (code[:, None] != code[None, :]).astype(float)


def covariance2(a, b):
    """nu^2: mean product of the doubly centred distances."""
    return (_centred(a) * _centred(b)).mean()


def statistic(a, b):
    """N nu^2 / (abar bbar); zero where one of the two does not vary."""
    scale = a.mean() * b.mean()
    return len(a) * covariance2(a, b) / scale if scale > 0 else 0.0


def correlation(a, b):
    """Distance correlation; zero where one of the two does not vary."""
    scale = np.sqrt(covariance2(a, a) * covariance2(b, b))
    return np.sqrt(max(covariance2(a, b), 0.0) / scale) if scale > 0 else 0.0


def _centred(d):
    return d - d.mean(axis=1, keepdims=True) - d.mean(axis=0, keepdims=True) + d.mean()
