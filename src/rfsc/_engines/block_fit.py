"""One support from its first Newton step to its score, as a coroutine that asks for sums over the rows.

It reads as if the rows were here: every `yield` is a pass over them, which many supports share.
"""

from __future__ import annotations

from collections.abc import Generator
from functools import cache
from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dpotrf, dtrtri

from .._utils.arrays import BoolArray, FloatArray, IntArray
from .array_engine import Fit, factorise, invert, without
from .base import COARSE_RANGE, MAX_HALVINGS, MAX_NEWTON, MAX_OVERSHOOT, NEWTON_TOL, PIVOT_TOL, Status, Ties
from .block_sums import CHUNK, COARSE_ROWS
from .stacks import held

COARSE, FINE, SCORED = "coarse", "fine", "scored"
COARSE_TOL = 0.1  # squared decrement at which steps on some rows end: the minimum over all rows lies elsewhere


class Ask(NamedTuple):
    """What a support needs next: derivatives on some or on all rows, or the sums of its score."""

    kind: str
    ids: IntArray
    coef: FloatArray
    inverse: FloatArray | None = None


class Fitted(NamedTuple):
    """A pruned model."""

    kept: IntArray  # places within the support
    coef: FloatArray
    sums: FloatArray | None  # loss and hits; None for the empty model
    status: Status
    steps: int


class _Minimum(NamedTuple):
    coef: FloatArray
    seen: FloatArray  # the coefficients before the last step, where Hessian and factor were taken
    hessian: FloatArray
    inverse: FloatArray
    status: Status
    steps: int


Coroutine = Generator[Ask, FloatArray, Fitted]


def fit_support(
    ids: IntArray, penalty: FloatArray, t_quantiles: FloatArray, first: int, ties: Ties | None, coarse: bool
) -> Coroutine:
    """Fit, test, drop and refit until every term is significant or held by a tie; then ask for the score."""
    kept, coef, steps = np.arange(ids.size), np.zeros(ids.size), 0
    if coarse and ids.size:
        rough = yield from _newton(COARSE, ids, penalty * (COARSE_ROWS / CHUNK), coef, COARSE_TOL)
        coef = rough.coef if (np.abs(rough.coef) <= COARSE_RANGE).all() else coef
    while kept.size:
        fit = yield from _newton(FINE, ids[kept], penalty[kept], coef, NEWTON_TOL)
        steps += fit.steps
        variance = np.square(fit.inverse).sum(axis=1)
        stays: BoolArray = (variance > 0.0) & (np.abs(fit.coef) > t_quantiles[kept.size] * np.sqrt(variance))
        if ties is not None:
            stays = held(stays[None], first + kept[None], ties)[0]
        if stays.all():
            sums = yield Ask(SCORED, ids[kept], fit.seen, fit.inverse)
            return Fitted(kept, fit.coef, sums, fit.status, steps)
        stack = Fit(fit.coef[None], None, fit.hessian[None], None, None, None)
        kept, coef = kept[stays], without(stack, ~stays[None])[0][stays]
    return Fitted(kept, coef, None, Status.EMPTY, steps)


def _newton(
    kind: str, ids: IntArray, penalty: FloatArray, coef: FloatArray, tol: float
) -> Generator[Ask, FloatArray, _Minimum]:
    """Newton's method with the same steps and halvings as `array_engine.newton`."""
    gradient, hessian = _penalised((yield Ask(kind, ids, coef)), penalty, coef)
    for step_number in range(1, MAX_NEWTON + 1):
        inverse = inverse_factor(hessian)
        half = inverse.T @ gradient
        step, decrement = inverse @ half, float(half @ half)
        if decrement <= tol:
            return _Minimum(coef + step, coef, hessian, inverse, Status.CONVERGED, step_number)
        for _ in range(MAX_HALVINGS):
            reached = _penalised((yield Ask(kind, ids, coef + step)), penalty, coef + step)
            if -(reached[0] * step).sum() <= MAX_OVERSHOOT * decrement:
                break
            step, decrement = 0.5 * step, 0.5 * decrement
        coef, (gradient, hessian) = coef + step, reached
    return _Minimum(coef, coef, hessian, inverse_factor(hessian), Status.STOPPED, MAX_NEWTON)


def _penalised(numbers: FloatArray, penalty: FloatArray, coef: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Negative gradient and Hessian of the penalised loss out of the sums over the rows."""
    m = coef.size
    hessian = numbers[m:][_places(m)]
    hessian.flat[:: m + 1] += penalty
    return numbers[:m] - penalty * coef, hessian


@cache
def _places(m: int) -> IntArray:
    """Where among the numbers of its upper half the entries of a symmetric matrix stand."""
    places = np.zeros((m, m), dtype=np.int64)
    places[np.triu_indices(m)] = np.arange(m * (m + 1) // 2)
    return np.maximum(places, places.T)


def inverse_factor(hessian: FloatArray) -> FloatArray:
    """Inverse of the upper Cholesky factor; rows and columns of terms that depend on earlier ones are zero."""
    factor, failed = dpotrf(hessian)
    if not failed and (np.square(np.diag(factor)) > PIVOT_TOL * np.diag(hessian)).all():
        return np.ascontiguousarray(dtrtri(factor)[0])
    return np.asarray(invert(np, factorise(np, hessian[None]))[0])
