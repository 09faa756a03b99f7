"""The passes of `kernels.py` over a chunk of rows, for engines that add up the sums of many chunks themselves.

The compiled code holds functions of `kernels.py`: touch this file after a change there.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from .kernels import (
    BLOCK,
    SHARED,
    SUMS,
    TILE,
    Data,
    Workspace,
    _derivatives,
    _exp_minus_abs,
    _fill_tile,
    _leave_one_out,
    _log1p_unit,
)

Scratch = dict[tuple[int, int], Workspace]


def add_derivatives(
    columns: Any, target: Any, weight: Any, indptr: Any, slots: Any, coef: Any, begins: Any, out: Any, scratch: Scratch
) -> None:
    """Add gradient and upper half of the Hessian of every support at its coefficients."""
    data, workspace = _prepared(columns, target, weight, indptr, scratch)
    _add_derivatives(data, indptr, slots, coef, begins, workspace, out)


def add_scores(
    columns: Any,
    target: Any,
    weight: Any,
    indptr: Any,
    slots: Any,
    coef: Any,
    inverse: Any,
    leaves: bool,
    out: Any,
    scratch: Scratch,
) -> None:
    """Add loss and hits of both classes of every support; of left-out predictions where `leaves` says so."""
    data, workspace = _prepared(columns, target, weight, indptr, scratch)
    _add_scores(data, indptr, slots, coef, inverse, leaves, workspace, out)


def _prepared(columns: Any, target: Any, weight: Any, indptr: Any, scratch: Scratch) -> tuple[Data, Workspace]:
    none = np.empty(0)
    data = Data(columns, none, target, weight, 0.0, 0.0, np.empty((0, 0)), none)
    size = int(np.diff(indptr).max()), target.size
    if size not in scratch:
        scratch[size] = Workspace.allocate(*size)
    return data, scratch[size]


@njit(fastmath=SUMS, error_model="numpy", nogil=True, cache=True)
def _add_derivatives(data, indptr, slots, coef, begins, ws, out):  # type: ignore[no-untyped-def]
    for s in range(indptr.size - 1):
        start = indptr[s]
        m = indptr[s + 1] - start
        for j in range(m):
            ws.slots[j] = slots[start + j]
            ws.penalty[j] = 0.0
            ws.trial[j] = coef[start + j]
        for j in range(m, m + 2 * TILE):
            ws.trial[j] = 0.0
        _fill_tile(m, ws)
        _derivatives(m, ws.trial, 1, data, ws)
        k = begins[s]
        for j in range(m):
            out[k] += ws.hessian[j, m]
            k += 1
        for i in range(m):
            for j in range(i, m):
                out[k] += ws.hessian[i, j]
                k += 1


@njit(fastmath=SUMS, error_model="numpy", nogil=True, cache=True)
def _add_scores(data, indptr, slots, coef, inverse, leaves, ws, out):  # type: ignore[no-untyped-def]
    for s in range(indptr.size - 1):
        start = indptr[s]
        m = indptr[s + 1] - start
        for j in range(m):
            ws.slots[j] = slots[start + j]
        _fill_tile(m, ws)
        _predict(m, start, coef, data, ws)
        if leaves:
            for i in range(m + TILE):
                for j in range(m + TILE):
                    ws.inverse[i, j] = inverse[s, i, j] if i < m and j < m else 0.0
            _leave_one_out(m, data, ws)
        loss = upper = lower = 0.0
        for k in range(data.target.size):
            z = data.target[k] * ws.predictor[k]
            loss += data.weight[k] * (_log1p_unit(_exp_minus_abs(z)) + max(-z, 0.0))
            hit = data.weight[k] if z > 0.0 else 0.0
            upper += hit if data.target[k] > 0.0 else 0.0
            lower += hit if data.target[k] < 0.0 else 0.0
        out[s, 0] += loss
        out[s, 1] += upper
        out[s, 2] += lower


@njit(**SHARED)
def _predict(m, start, coef, data, ws):  # type: ignore[no-untyped-def]
    """Leave the predictor in the workspace, block by block."""
    for first in range(0, data.target.size, BLOCK):
        f = ws.predictor[first : min(first + BLOCK, data.target.size)]
        for k in range(f.size):
            f[k] = 0.0
        for j in range(m):
            c, column = coef[start + j], data.columns[ws.slots[j], first : first + f.size]
            for k in range(f.size):
                f[k] += c * column[k]
