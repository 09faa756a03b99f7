"""The final fit of a chosen support, in double precision, with the covariance of its coefficients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from .._utils.arrays import BoolArray, FloatArray
from .._utils.determinism import one_blas_thread

MAX_STEPS = 50
MAX_HALVINGS = 30
MAX_OVERSHOOT = 0.5  # as in the engines: a step may end this much of its first slope beyond the minimum along it
CLOSE = 1e-20  # squared Newton decrement: the rest of the way is below the rounding of a coefficient ...
NEAR = 1e-8  # ... and from here on one that does not even halve is rounding itself
AT_A_TIME = 2**14  # rows: all rows at once would need several copies of the terms
TINY, HUGE = 1e-300, 1e300
SEPARABLE = 1e-3  # penalty that keeps a slope finite if the predictions separate the classes
SMALLEST_SLOPE = 0.05  # a model of nothing but noise is dropped before; this one says hardly anything
UNDETERMINED = 1e-14  # a direction this weak beside the strongest is rounding, not data

Derive = Callable[[FloatArray], tuple[FloatArray, Callable[[], FloatArray]]]


@dataclass(frozen=True, slots=True)
class WaldFit:
    """A penalised maximum-likelihood fit."""

    coef: FloatArray  # on the [0, 1] scale
    # roots of the diagonal of the inverse Hessian (dispersion one); huge if the rows do not determine a coefficient
    standard_error: FloatArray


def refit(
    columns: FloatArray, target: FloatArray, weight: FloatArray, penalty: FloatArray, coef: FloatArray
) -> WaldFit:
    """Minimise sum weight * log(1 + exp(-target f)) + penalty coef^2 / 2, starting from `coef`."""

    def derive(coef: FloatArray) -> tuple[FloatArray, Callable[[], FloatArray]]:
        f, gradient = predictor_and_gradient(columns, target, weight, coef)
        return gradient, lambda: root_of_hessian(f, columns, weight, np.diag(np.sqrt(penalty)))

    return refit_by(derive, penalty, coef)


def refit_by(derive: Derive, penalty: FloatArray, coef: FloatArray) -> WaldFit:
    """The same minimum; `derive` gives the gradient of the loss at given coefficients, and on demand a root."""
    coef = np.array(coef, dtype=np.float64)
    with one_blas_thread():  # more would only change the rounding
        gradient, root = derive(coef)
        gradient = gradient - penalty * coef
        curvature = Curvature.of(root())
        before = np.inf
        for _ in range(MAX_STEPS):
            step = curvature.solve(gradient)
            decrement = (gradient * step).sum()
            for _ in range(MAX_HALVINGS):
                reached, root = derive(coef + step)
                reached = reached - penalty * (coef + step)
                # the loss is convex, and its slope still has the digits that the loss itself no longer has
                if -(reached * step).sum() <= MAX_OVERSHOOT * decrement:
                    break
                step, decrement = step / 2, decrement / 2
            coef, gradient, curvature = coef + step, reached, Curvature.of(root())
            if decrement <= CLOSE or before / 2 < decrement <= NEAR:
                break
            before = decrement
    return WaldFit(coef, curvature.standard_error())


def shrunken(
    fit: WaldFit,
    slope: float,
    is_constant: BoolArray,
    columns: FloatArray,
    target: FloatArray,
    weight: FloatArray,
) -> WaldFit:
    """A fit whose coefficients are multiplied by a slope, except the intercept, which is fitted again beside them."""
    coef, error = np.where(is_constant, fit.coef, slope * fit.coef), np.where(is_constant, 1.0, slope)
    if is_constant.any():
        offset = np.einsum("j,jk->k", np.where(is_constant, 0.0, coef), columns)
        coef[is_constant] = intercepts(offset[None, :], target, weight)
    return WaldFit(coef, fit.standard_error * error)


def intercepts(offsets: FloatArray, target: FloatArray, weight: FloatArray) -> FloatArray:
    """The intercept that fits best beside each row of an array (model, row) of given log-odds."""
    found = -np.average(offsets, axis=1, weights=weight)
    for _ in range(MAX_STEPS):
        f = found[:, None] + offsets
        slopes = (weight * expit(f) * expit(-f)).sum(axis=1)
        with np.errstate(over="ignore"):  # next to no slope is left: the step is bounded
            step = (weight * target * expit(-target * f)).sum(axis=1) / np.maximum(slopes, TINY)
        found += np.clip(step, -1.0, 1.0)
        if (np.abs(step) <= NEAR).all():
            break
    return np.asarray(found)


def calibration_slopes(predictors: FloatArray, target: FloatArray, weight: FloatArray) -> FloatArray:
    """Slope of a logistic fit of the target to each row of left-out predictions (model, row).

    A slope below 1 says that the predictions are too extreme. It is at most 1, and drawn towards 1 by its own error: if
    the distance from 1 is within it, the slope is 1.
    """
    spread = np.ptp(predictors, axis=1)
    scale = np.where(spread > 0.0, spread, 1.0)
    x = (predictors - np.average(predictors, axis=1, weights=weight)[:, None]) / scale[:, None]
    coef = np.zeros((2, len(x)))
    penalty = SEPARABLE * np.array([np.ones_like(scale), scale**-2.0])
    gradient, hessian = _line_derivatives(x, target, weight, penalty, coef)
    for _ in range(MAX_STEPS):
        # weights that differ by many orders leave a single row: the other direction has no step
        step = np.einsum("kij,jk->ik", np.linalg.pinv(hessian, hermitian=True), gradient)
        decrement = (gradient * step).sum(axis=0)
        for _ in range(MAX_HALVINGS):
            reached, hessian = _line_derivatives(x, target, weight, penalty, coef + step)
            too_far = -(reached * step).sum(axis=0) > MAX_OVERSHOOT * decrement
            if not too_far.any():
                break
            step, decrement = np.where(too_far, step / 2, step), np.where(too_far, decrement / 2, decrement)
        coef, gradient = coef + step, reached
        if (decrement <= NEAR).all():
            break
    distance, error = 1.0 - coef[1] / scale, np.sqrt(np.linalg.pinv(hessian, hermitian=True)[:, 1, 1]) / scale
    drawn = 1.0 - distance * (1.0 - np.square(error / np.where(distance > error, distance, 1.0)))
    return np.where((spread > 0.0) & (distance > error), np.maximum(drawn, SMALLEST_SLOPE), 1.0)


def _line_derivatives(
    x: FloatArray, target: FloatArray, weight: FloatArray, penalty: FloatArray, coef: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Gradient (2, model) and Hessian (model, 2, 2) of logistic fits with one feature each."""
    f = coef[0][:, None] + coef[1][:, None] * x
    residual, curvature = weight * target * expit(-target * f), weight * expit(f) * expit(-f)
    gradient = np.array([residual.sum(axis=1), (residual * x).sum(axis=1)]) - penalty * coef
    cross = (curvature * x).sum(axis=1)
    along = (curvature * x * x).sum(axis=1)
    hessian = np.array([[curvature.sum(axis=1) + penalty[0], cross], [cross, along + penalty[1]]])
    return gradient, np.moveaxis(hessian, -1, 0)


@dataclass(frozen=True, slots=True)
class Curvature:
    """The Hessian of the penalised loss, as singular directions of a root R with R'R = H.

    The Hessian itself is never formed: it would square the condition of the terms, and standard errors would be wrong
    from a condition of 1e6 on instead of 1e12.
    """

    directions: FloatArray  # (n_terms, n_terms), one row for each direction, in the units of the coefficients
    size: FloatArray  # (n_terms,), how strongly rows and penalty determine each; falling

    @classmethod
    def of(cls, root: FloatArray) -> Curvature:
        """With any such root."""
        scale = np.linalg.norm(root, axis=0)  # terms may differ in scale by many orders
        scale[scale == 0.0] = 1.0
        _, size, directions = np.linalg.svd(root / scale)
        return cls(directions / scale, size)

    def solve(self, gradient: FloatArray) -> FloatArray:
        """The Newton step; nothing moves along directions that the rows do not determine."""
        along = np.einsum("ij,j->i", self.directions, gradient)
        known = self.size > self._least
        step = np.divide(along, self.size**2, out=np.zeros_like(along), where=known)
        return np.asarray(np.einsum("i,ij->j", step, self.directions), dtype=np.float64)

    def standard_error(self) -> FloatArray:
        """Square roots of the diagonal of the inverse; finite, and huge for what the rows do not determine."""
        parts = self.directions / np.maximum(self.size, self._least)[:, None]
        with np.errstate(over="ignore"):
            error = np.sqrt(np.square(parts).sum(axis=0))
        return np.asarray(np.minimum(error, HUGE), dtype=np.float64)

    @property
    def _least(self) -> float:
        return float(UNDETERMINED * self.size.max(initial=0.0))


def predictor_and_gradient(
    columns: FloatArray, target: FloatArray, weight: FloatArray, coef: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The predictor, and the negative gradient of the loss."""
    # einsum, here and above: the rounding of a matrix product would depend on the threads of the BLAS library
    f = np.einsum("j,jk->k", coef, columns)
    return f, np.einsum("jk,k->j", columns, weight * target * expit(-target * f))


def root_of_hessian(f: FloatArray, columns: FloatArray, weight: FloatArray, root: FloatArray) -> FloatArray:
    """R with R'R = H, upper triangular: the rows whose predictor is `f`, and those that `root` stands for."""
    slope = np.sqrt(weight) * np.sqrt(expit(f)) * np.sqrt(expit(-f))  # the product of all three may underflow
    for first in range(0, f.size, AT_A_TIME):
        part = slice(first, first + AT_A_TIME)
        root = joined_roots([root, (columns[:, part] * slope[part]).T])
    return root


def joined_roots(roots: Sequence[FloatArray]) -> FloatArray:
    """One root out of several, the Hessians of which are to be added."""
    return np.asarray(np.linalg.qr(np.vstack(roots), mode="r"), dtype=np.float64)
