"""Whether the terms of a model can tell the classes of some rows apart without a single mistake."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog

from .._typing import FloatArray

MAX_ROWS = 20_000  # a linear program over more rows takes long, and long tables are hardly ever separable
NEGLIGIBLE = 1e-7


def separation(columns: FloatArray, target: FloatArray) -> str | None:
    """Look for coefficients with which no row lies on the wrong side.

    Then the likelihood has no maximum: without the ridge the coefficients would grow for ever, and standard errors say
    more about the ridge than about the data.

    Parameters
    ----------
    columns : ndarray of shape (n_terms, n_rows)
        Values of the terms.
    target : ndarray of shape (n_rows,)
        Outputs in {-1, +1}.

    Returns
    -------
    {"complete", "partial"} or None
        "complete": every row can be put strictly on its side; "partial": some strictly, the others on the border; None:
        neither, or too many rows to tell.
    """
    n_terms, n_rows = columns.shape
    if not n_terms or n_rows > MAX_ROWS:
        return None
    sides = (columns * target).T
    largest = np.abs(sides).max(axis=0)
    sides = sides / np.where(largest > 0, largest, 1.0)
    strict = linprog(np.zeros(n_terms), A_ub=-sides, b_ub=-np.ones(n_rows), bounds=(None, None))
    if strict.status == 0:
        return "complete"
    weak = linprog(-sides.sum(axis=0), A_ub=-sides, b_ub=np.zeros(n_rows), bounds=(-1.0, 1.0))
    return "partial" if weak.status == 0 and -weak.fun > NEGLIGIBLE * n_rows else None
