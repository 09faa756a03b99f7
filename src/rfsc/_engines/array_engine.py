"""The readable engine: the same mathematics in batched array code, and the oracle of the compiled one.

It is written against the array-API standard: given NumPy arrays it runs on NumPy, and other libraries that follow the
standard (torch, CuPy) run through the same lines. Supports of one size are fitted together as a stack
(n_models, n_terms, n_rows); a model that is done keeps its values while the others go on, so that the result of one
support never depends on its neighbours.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .._utils.arrays import BoolArray, FloatArray, IntArray
from .._utils.blas import one_blas_thread
from .base import (
    MAX_HALVINGS,
    MAX_NEWTON,
    MAX_OVERSHOOT,
    MIN_LEFT_OUT,
    NEWTON_TOL,
    PIVOT_TOL,
    Criterion,
    Evaluation,
    Status,
    Supports,
    Ties,
)
from .problem import Problem, load_in_parts, slots_of
from .stacks import ClassWeights, evaluate_in_stacks, score_of_sums

STACK_BYTES = 32 * 2**20  # terms of the models fitted together
Array = Any  # of whatever library
Derivatives = Callable[[Array], tuple[Array, Array, Array]]


class Fit(NamedTuple):
    """A stack of fitted models."""

    coef: Array  # (n_models, n_terms)
    seen: Array  # what belongs to the point before the last step: the predictor, or the coefficients there
    hessian: Array  # (n_models, n_terms, n_terms)
    inverse: Array  # inverse of the upper Cholesky factor of the Hessian
    status: Array  # (n_models,)
    steps: Array  # (n_models,)


class ArrayEngine:
    """Fit supports in stacks with array-API code.

    Parameters
    ----------
    problem : Problem
        What to fit.
    xp : module, optional
        An array-API namespace; NumPy by default.
    """

    def __init__(self, problem: Problem, xp: Any = np) -> None:
        self._problem, self.xp, self.criterion = problem, xp, problem.options.criterion
        self._store = problem.store()
        self._t_quantiles = problem.t_quantiles()
        self.target = xp.asarray(problem.target)
        self.weight = xp.asarray(problem.weight)
        self.class_weights = ClassWeights.of(problem.target, problem.weight)

    def evaluate(self, supports: Supports, ties: Ties | None = None) -> Evaluation:
        """Fit, prune and score every support; what a tie holds is not pruned."""
        # one BLAS thread: more would only change the rounding; a vanishing column may have an infinite variance
        with one_blas_thread(), np.errstate(over="ignore"):
            return evaluate_in_stacks(self, self.criterion, self._t_quantiles, supports, ties)

    def parts(self, supports: Supports) -> list[tuple[int, int]]:
        """Ranges of supports whose columns fit into the store together."""
        return load_in_parts(self._store, supports)

    def width(self, size: int) -> int:
        """Only supports of one size are fitted together."""
        return size

    def at_once(self, width: int) -> int:
        """Most supports of one stack."""
        return max(1, STACK_BYTES // (8 * self._problem.target.size * width))

    def fit(self, ids: IntArray, start: FloatArray) -> _Stack:
        """Fit supports of one size from given coefficients."""
        xp = self.xp
        slots = slots_of(self._store, ids.ravel()).reshape(ids.shape)
        terms = xp.asarray(self._store.columns[slots])
        penalty = xp.asarray(self._problem.options.ridge * self._store.variance[slots])
        return _Stack(self, terms, penalty, xp.asarray(start))


class _Stack:
    """Supports of one size, their columns, and the models fitted to them."""

    def __init__(self, engine: ArrayEngine, terms: Array, penalty: Array, start: Array) -> None:
        xp, target, weight = engine.xp, engine.target, engine.weight
        self._engine, self._terms = engine, terms
        self._fit = newton(xp, lambda coef: derivatives(xp, terms, target, weight, penalty, coef), start)
        self.coef = np.asarray(self._fit.coef)
        self.variance = np.asarray(xp.sum(self._fit.inverse * self._fit.inverse, axis=2))
        self.status, self.steps = np.asarray(self._fit.status), np.asarray(self._fit.steps)

    def without(self, dropped: BoolArray) -> FloatArray:
        """Coefficients to start from when some terms are dropped."""
        return without(self._fit, dropped)

    def score(self, which: IntArray) -> tuple[FloatArray, FloatArray]:
        """Score and mean log-loss of the models at some positions."""
        engine, xp, at = self._engine, self._engine.xp, self._engine.xp.asarray(which)
        predictor = xp.take(self._fit.seen, at, axis=0)
        if engine.criterion.leaves_one_out:
            terms, inverse = xp.take(self._terms, at, axis=0), xp.take(self._fit.inverse, at, axis=0)
            predictor = leave_one_out(xp, terms, inverse, predictor, engine.target, engine.weight)
        loss, hits = row_sums(xp, engine.criterion, predictor, engine.target, engine.weight)
        found = None if hits is None else (np.asarray(hits[0]), np.asarray(hits[1]))
        return score_of_sums(engine.criterion, np.asarray(loss), found, engine.class_weights)


def newton(xp: Any, derive: Derivatives, coef: Array, tol: float = NEWTON_TOL) -> Fit:
    """Fit a stack of models by Newton's method.

    A step is halved while the loss rises at its end more than half as steeply as it fell at the start; the loss is
    convex, so a step that ends before its minimum needs no further check.
    """
    done = xp.zeros(coef.shape[0], dtype=xp.bool)
    steps = xp.zeros(coef.shape[0], dtype=xp.int64)
    seen, gradient, hessian = derive(coef)
    for _ in range(MAX_NEWTON):
        step, decrement = solve(xp, factorise(xp, hessian), gradient)
        steps = xp.where(done, steps, steps + 1)
        arrived = ~done & (decrement <= tol)
        coef = xp.where(arrived[:, None], coef + step, coef)
        done = done | arrived
        if xp.all(done):
            break
        for _ in range(MAX_HALVINGS):
            reached = derive(coef + step)
            too_far = ~done & (-xp.sum(reached[1] * step, axis=1) > MAX_OVERSHOOT * decrement)
            if not xp.any(too_far):
                break
            # along the halved step the slope at the start is half as steep
            step = xp.where(too_far[:, None], 0.5 * step, step)
            decrement = xp.where(too_far, 0.5 * decrement, decrement)
        coef = xp.where(done[:, None], coef, coef + step)
        seen = xp.where(done[:, None], seen, reached[0])
        gradient = xp.where(done[:, None], gradient, reached[1])
        hessian = xp.where(done[:, None, None], hessian, reached[2])
    status = xp.where(done, xp.asarray(int(Status.CONVERGED)), xp.asarray(int(Status.STOPPED)))
    return Fit(coef, seen, hessian, invert(xp, factorise(xp, hessian)), status, steps)


def _log_loss(xp: Any, margin: Array) -> Array:
    """log(1 + exp(-margin)), never overflowing."""
    return xp.log1p(xp.exp(-xp.abs(margin))) + xp.where(margin < 0.0, -margin, 0.0)


def _misfit(xp: Any, margin: Array) -> tuple[Array, Array]:
    """Probability of the wrong class, and its product with that of the right one."""
    e = xp.exp(-xp.abs(margin))
    likelier = 1.0 / (1.0 + e)
    return xp.where(margin < 0.0, likelier, e * likelier), e * likelier * likelier


def row_derivatives(xp: Any, terms: Array, target: Array, weight: Array, coef: Array) -> tuple[Array, Array, Array]:
    """Linear predictor at `coef`; negative gradient and Hessian of the loss of these rows."""
    predictor = xp.matmul(coef[:, None, :], terms)[:, 0, :]
    wrong, curvature = _misfit(xp, target * predictor)
    gradient = xp.matmul(terms, (weight * target * wrong)[:, :, None])[:, :, 0]
    weighted = terms * (weight * curvature)[:, None, :]
    return predictor, gradient, xp.matmul(terms, xp.matrix_transpose(weighted))


def derivatives(
    xp: Any, terms: Array, target: Array, weight: Array, penalty: Array, coef: Array
) -> tuple[Array, Array, Array]:
    """Linear predictor at `coef`; negative gradient and Hessian of the penalised loss."""
    predictor, gradient, hessian = row_derivatives(xp, terms, target, weight, coef)
    return predictor, *penalised(xp, gradient, hessian, penalty, coef)


def penalised(xp: Any, gradient: Array, hessian: Array, penalty: Array, coef: Array) -> tuple[Array, Array]:
    """Negative gradient and Hessian with the penalty."""
    return gradient - penalty * coef, hessian + penalty[:, :, None] * xp.eye(coef.shape[1], dtype=xp.float64)


def factorise(xp: Any, hessian: Array) -> Array:
    """Upper Cholesky factors; a term that depends on earlier ones gets a row of zeros instead of an error."""
    rest, rows = hessian, []
    for i in range(hessian.shape[1]):
        pivot = rest[:, i, i]
        fits = pivot > PIVOT_TOL * hessian[:, i, i]
        scale = xp.where(fits, 1.0 / xp.sqrt(xp.where(fits, pivot, 1.0)), 0.0)
        after = xp.asarray(np.arange(hessian.shape[1]) >= i)
        row = xp.where(after[None, :], rest[:, i, :] * scale[:, None], 0.0)
        rest = rest - row[:, :, None] * row[:, None, :]
        rows.append(row)
    return xp.stack(rows, axis=1)


def invert(xp: Any, factor: Array) -> Array:
    """Inverses of upper factors; rows and columns of dependent terms become zero."""
    n = factor.shape[1]
    rest = xp.broadcast_to(xp.eye(n, dtype=xp.float64)[None, :, :], factor.shape)
    columns = []
    for j in range(n):
        pivot = factor[:, j, j]
        good = pivot > 0.0
        column = xp.where(good[:, None], rest[:, :, j] / xp.where(good, pivot, 1.0)[:, None], 0.0)
        rest = rest - column[:, :, None] * factor[:, j, :][:, None, :]
        columns.append(column)
    return xp.stack(columns, axis=2)


def solve(xp: Any, factor: Array, gradient: Array) -> tuple[Array, Array]:
    """Newton steps H^-1 g and their squared decrements g' H^-1 g."""
    inverse = invert(xp, factor)
    half = xp.matmul(gradient[:, None, :], inverse)[:, 0, :]
    return xp.matmul(inverse, half[:, :, None])[:, :, 0], xp.sum(half * half, axis=1)


def without(fit: Fit, dropped: BoolArray) -> FloatArray:
    """Coefficients at the minimum of the quadratic model of the loss that lacks the dropped terms (as zeros)."""
    coef, hessian = np.array(fit.coef), np.asarray(fit.hessian)
    for model in np.flatnonzero(dropped.any(axis=1)):
        out, stay = dropped[model], ~dropped[model]
        h = hessian[model]
        if stay.any():
            factor = factorise(np, h[np.ix_(stay, stay)][None])
            step, _ = solve(np, factor, (h[np.ix_(stay, out)] @ coef[model, out])[None])
            coef[model, stay] += step[0]
    return coef


def leave_one_out(xp: Any, terms: Array, inverse: Array, predictor: Array, target: Array, weight: Array) -> Array:
    """Left-out predictor f - u q r / (1 - u q p (1 - p)) with q = x' H^-1 x; u is one observation, or the whole row."""
    leverage = xp.sum(xp.square(xp.matmul(xp.matrix_transpose(inverse), terms)), axis=1)
    wrong, curvature = _misfit(xp, target * predictor)
    out = xp.where(weight < 1.0, weight, 1.0) * leverage
    left = 1.0 - out * curvature
    return predictor - out * target * wrong / xp.where(left < MIN_LEFT_OUT, MIN_LEFT_OUT, left)


def row_sums(
    xp: Any, criterion: Criterion, predictor: Array, target: Array, weight: Array
) -> tuple[Array, tuple[Array, Array] | None]:
    """Summed log-loss and, if the criterion needs them, summed weights of the hits of the upper and the lower class.

    An output of exactly zero is an error on either class.
    """
    margin = target * predictor
    loss = xp.sum(weight * _log_loss(xp, margin), axis=1)
    if criterion in (Criterion.LOG_LOSS, Criterion.LOO_LOG_LOSS):
        return loss, None
    hit = weight * xp.astype(margin > 0.0, xp.float64)
    is_upper = xp.astype(target > 0.0, xp.float64)
    return loss, (xp.sum(hit * is_upper, axis=1), xp.sum(hit * (1.0 - is_upper), axis=1))
