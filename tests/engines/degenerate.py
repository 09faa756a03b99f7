"""Awkward problems that every engine must survive."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rfsc._engines import FitOptions, Problem, Supports
from rfsc._terms import MonomialSpace


def degenerate(data, ridge):
    """Duplicated, constant, zero, tiny and collinear columns; and supports made of them, in any mixture."""
    n = 30
    base = data.draw(arrays(float, (3, n), elements=st.floats(0, 1)))
    target = np.where(data.draw(arrays(bool, n)), 1.0, -1.0)
    target[:2] = [-1.0, 1.0]
    table = np.vstack([base, base[0], np.zeros(n), np.full(n, 0.5), base[1] * 1e-150, 0.3 * base[0] + 0.5 * base[1]])
    problem = Problem(MonomialSpace(np.arange(8), 2), table, target, np.ones(n), FitOptions(ridge=ridge), 12)
    chosen = data.draw(st.lists(st.lists(st.integers(0, 44), max_size=12, unique=True), min_size=1, max_size=4))
    return problem, Supports.from_lists(chosen)
