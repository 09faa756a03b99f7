"""Score tests one term at a time, by least squares: the twin of the matrix products."""

from __future__ import annotations

import numpy as np


def residual_and_curvature(target, weight, predictor=None):
    """w (y - p) and w p (1 - p); without a predictor, p is the share of the second class."""
    y = (target + 1) / 2
    p = np.full(y.size, np.average(y, weights=weight)) if predictor is None else 1 / (1 + np.exp(-predictor))
    return weight * (y - p), weight * p * (1 - p)


def statistic(column, beside, residual, curvature):
    """Of one column, less what the columns `beside` and the constant explain of it; zero if that is all of it."""
    Z = np.column_stack([np.ones(column.size), *beside])
    root = np.sqrt(curvature)
    coef = np.linalg.lstsq(Z * root[:, None], column * root, rcond=1e-8)[0]
    own = column - Z @ coef
    squares = curvature @ own**2
    if squares <= 1e-9 * (curvature @ (column - column.mean()) ** 2):
        return 0.0
    return abs(residual @ own) / np.sqrt(squares)


def statistics(space, table, residual, curvature, is_product, deviations=None):
    """Of every term of a space, by id: products of two features beside these, all others beside the constant.

    `deviations(term)` gives the column of those that are tested as products of deviations, None for the others.
    """
    ids = np.arange(space.n_terms)
    found = []
    for term, column in zip(space.terms(ids), space.columns(table, ids), strict=True):
        if deviations is not None and deviations(term) is not None:
            column = deviations(term)
        beside = [table[p] for p in term.features] if is_product(term) else []
        found.append(statistic(column, beside, residual, curvature))
    return np.array(found)
