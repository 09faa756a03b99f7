"""Hostile rows for a model that was fitted to a good table of three columns without names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse

from .tables import NUMBER, WORKS, good, mapped, read_only, with_cell


class Rows(NamedTuple):
    """What is odd, how to make it, and WORKS or a pattern that the error of every way to predict matches."""

    name: str
    make: Callable[[], Any]
    outcome: str


ROWS = [
    Rows("too few features", lambda: good(2), "X has 2 features.*expecting 3"),
    Rows("too many features", lambda: good(5), "X has 5 features.*expecting 3"),
    Rows("no feature", lambda: good()[:, :0], "minimum of 1"),
    Rows("no row", lambda: good()[:0], "minimum of 1"),
    Rows("one dimension", lambda: np.full(3, NUMBER), "2D"),
    Rows("three dimensions", lambda: good()[:, :, None], "dim <= 2"),
    Rows("scalar", lambda: NUMBER, "2D"),
    Rows("nothing", lambda: None, "2D"),
    Rows("ragged lists", lambda: [[NUMBER], [1.0, 2.0, 3.0]], "not all of the same length"),
    Rows("dict", lambda: {"a": NUMBER}, "got dict"),
    Rows("NaN", lambda: with_cell(np.nan), "NaN"),
    Rows("infinity", lambda: with_cell(np.inf), "infinity"),
    Rows("integers beyond doubles", lambda: with_cell(10**400, object), "fit into a double"),
    Rows("text", lambda: with_cell("SECRET", object), "must hold numbers"),
    Rows("complex", lambda: good() + 1j, "(?i)complex"),
    Rows("dates", lambda: np.ones((2, 3), dtype="datetime64[s]"), "dates or durations"),
    Rows("masked", lambda: np.ma.masked_greater(good(), 1.5), "masked array"),
    Rows("sparse", lambda: sparse.csr_matrix(good()), "dense"),
    Rows("names that repeat", lambda: pd.DataFrame(good(), columns=list("aab")), "different name"),
    Rows("names where there were none", lambda: pd.DataFrame(good(), columns=list("abc")), WORKS),
    Rows("as far out as doubles go", lambda: np.array([[1.0], [-1.0]]) * np.full(3, np.finfo(float).max), WORKS),
    Rows("subnormal", lambda: np.full((2, 3), 5e-324), WORKS),
    Rows("one row", lambda: good()[:1], WORKS),
    Rows("read-only", read_only, WORKS),
    Rows("Fortran order", lambda: np.asfortranarray(good()), WORKS),
    Rows("memory-mapped", lambda: mapped("r"), WORKS),
    Rows("half precision", lambda: np.clip(good(), 0, 2).astype(np.float16), WORKS),
]
