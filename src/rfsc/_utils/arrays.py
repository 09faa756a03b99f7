"""Types of arrays, and which rows of a table are equal."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

# not NDArray: model files are read by these types, and since NumPy 2.5 it does not show what it stands for
FloatArray = np.ndarray[tuple[Any, ...], np.dtype[np.float64]]
IntArray = np.ndarray[tuple[Any, ...], np.dtype[np.int64]]
BoolArray = np.ndarray[tuple[Any, ...], np.dtype[np.bool_]]


def distinct_rows(columns: Iterable[np.ndarray], n_rows: int) -> tuple[IntArray, IntArray]:
    """One row out of each set of equal rows in lexicographic order, and the place of every row's set in that order.

    The same as `numpy.unique` along the rows, but each column is sorted only among rows that are equal so far, and
    nothing as large as the table is made.
    """
    order = np.arange(n_rows)
    begins = order == 0  # where in `order` a set of equal rows begins
    for column in columns:
        group = np.cumsum(begins) - 1
        tied = np.flatnonzero(np.bincount(group)[group] > 1)
        if tied.size == 0:
            break
        order[tied] = order[tied][np.lexsort((column[order[tied]], group[tied]))]
        values = column[order[tied]]
        begins[tied[1:]] |= values[1:] != values[:-1]
    which = np.empty(n_rows, dtype=np.int64)
    which[order] = np.cumsum(begins) - 1
    return order[begins], which
