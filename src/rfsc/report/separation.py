"""Whether the terms of a model can tell the classes of some rows apart without a single mistake."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog

from .._utils.arrays import FloatArray

MAX_ROWS = 20_000  # a linear program over more rows takes long, and long tables are hardly ever separable
NEGLIGIBLE = 1e-7


def separation(columns: FloatArray, target: FloatArray) -> float:
    """Look for coefficients with which no row lies on the wrong side, and most lie strictly on theirs.

    Where there are any, the likelihood has no maximum: without the ridge some coefficients would grow for ever, and
    their standard errors say more about the ridge than about the data.
    """
    n_terms, n_rows = columns.shape
    if not n_terms or n_rows > MAX_ROWS:
        return 0.0
    sides = (columns * target).T
    largest = np.abs(sides).max(axis=0)
    sides = sides / np.where(largest > 0, largest, 1.0)
    strict = linprog(np.zeros(n_terms), A_ub=-sides, b_ub=-np.ones(n_rows), bounds=(None, None))
    if strict.status == 0:
        return 1.0
    weak = linprog(-sides.sum(axis=0), A_ub=-sides, b_ub=np.zeros(n_rows), bounds=(-1.0, 1.0))
    return float((sides @ weak.x > NEGLIGIBLE).mean()) if weak.status == 0 else 0.0
