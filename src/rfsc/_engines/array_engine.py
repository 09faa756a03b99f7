"""The readable engine: the same mathematics in batched NumPy code, and the oracle of the other engines.

Supports of one size are fitted together as a stack (n_models, n_terms, n_rows); a model that is done keeps its values
while the others go on, so that the result of one support never depends on its neighbours.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .._utils.arrays import BoolArray, FloatArray, IntArray
from .._utils.determinism import one_blas_thread
from .base import (
    MAX_HALVINGS,
    MAX_NEWTON,
    MAX_OVERSHOOT,
    MIN_LEFT_OUT,
    NEWTON_TOL,
    PIVOT_TOL,
    Evaluation,
    Status,
    Supports,
    Ties,
)
from .problem import Problem, load_in_parts, slots_of
from .stacks import evaluate_in_stacks, score_of_sums

STACK_BYTES = 32 * 2**20  # terms of the models fitted together
Derivatives = tuple[FloatArray, FloatArray, FloatArray]  # predictor, negative gradient, Hessian


class Fit(NamedTuple):
    """A stack of fitted models."""

    coef: FloatArray  # (n_models, n_terms)
    predictor: FloatArray  # (n_models, n_rows), before the last step
    hessian: FloatArray  # (n_models, n_terms, n_terms)
    inverse: FloatArray  # inverse of the upper Cholesky factor of the Hessian
    status: IntArray  # (n_models,)
    steps: IntArray  # (n_models,)


class ArrayEngine:
    """Fit supports in stacks with NumPy."""

    def __init__(self, problem: Problem) -> None:
        self._problem, self.criterion = problem, problem.options.criterion
        self._store = problem.store()
        self._t_quantiles = problem.t_quantiles()
        self.target, self.weight = problem.target, problem.weight
        self.class_weights = problem.class_weights

    def evaluate(self, supports: Supports, ties: Ties | None = None) -> Evaluation:
        # one BLAS thread: more would only change the rounding; a vanishing column may have an infinite variance
        with one_blas_thread(), np.errstate(over="ignore"):
            return evaluate_in_stacks(self, self.criterion, self._t_quantiles, supports, ties)

    def parts(self, supports: Supports) -> list[tuple[int, int]]:
        return load_in_parts(self._store.capacity, supports)

    def width(self, size: int) -> int:
        return size  # only supports of one size are fitted together

    def at_once(self, width: int) -> int:
        return max(1, STACK_BYTES // (8 * self._problem.target.size * width))

    def fit(self, ids: IntArray, start: FloatArray) -> ArrayStack:
        slots = slots_of(self._store, ids.ravel()).reshape(ids.shape)
        penalty = self._problem.options.ridge * self._store.variance[slots]
        return ArrayStack(self, self._store.columns[slots], penalty, start)


class ArrayStack:
    """Supports of one size, their columns, and the models fitted to them."""

    def __init__(self, engine: ArrayEngine, terms: FloatArray, penalty: FloatArray, start: FloatArray) -> None:
        self._engine, self._terms = engine, terms
        self._fit = newton(lambda coef: derivatives(terms, engine.target, engine.weight, penalty, coef), start)
        self.coef, self.status, self.steps = self._fit.coef, self._fit.status, self._fit.steps
        self.variance: FloatArray = np.sum(self._fit.inverse * self._fit.inverse, axis=2)

    def without(self, dropped: BoolArray) -> FloatArray:
        coef, hessian = self.coef.copy(), self._fit.hessian
        for model in np.flatnonzero(dropped.any(axis=1)):
            out, stay = dropped[model], ~dropped[model]
            h = hessian[model]
            if stay.any():
                factor = factorise(h[np.ix_(stay, stay)][None])
                step, _ = solve(factor, (h[np.ix_(stay, out)] @ coef[model, out])[None])
                coef[model, stay] += step[0]
        return coef

    def score(self, which: IntArray) -> tuple[FloatArray, FloatArray]:
        engine, predictor = self._engine, self._fit.predictor[which]
        target, weight = engine.target, engine.weight
        if engine.criterion.leaves_one_out:
            predictor = leave_one_out(self._terms[which], self._fit.inverse[which], predictor, target, weight)
        return score_of_sums(engine.criterion, row_sums(predictor, target, weight), engine.class_weights)


def newton(derive: Callable[[FloatArray], Derivatives], coef: FloatArray) -> Fit:
    """Fit a stack of models by Newton's method, with steps that are halved as in the kernels, see `_go` there."""
    done = np.zeros(coef.shape[0], dtype=np.bool_)
    steps = np.zeros(coef.shape[0], dtype=np.int64)
    predictor, gradient, hessian = derive(coef)
    for _ in range(MAX_NEWTON):
        step, decrement = solve(factorise(hessian), gradient)
        steps = np.where(done, steps, steps + 1)
        arrived = ~done & (decrement <= NEWTON_TOL)
        coef = np.where(arrived[:, None], coef + step, coef)
        done = done | arrived
        if done.all():
            break
        for _ in range(MAX_HALVINGS):
            reached = derive(coef + step)
            too_far = ~done & (-np.sum(reached[1] * step, axis=1) > MAX_OVERSHOOT * decrement)
            if not too_far.any():
                break
            # along the halved step the slope at the start is half as steep
            step = np.where(too_far[:, None], 0.5 * step, step)
            decrement = np.where(too_far, 0.5 * decrement, decrement)
        coef = np.where(done[:, None], coef, coef + step)
        predictor = np.where(done[:, None], predictor, reached[0])
        gradient = np.where(done[:, None], gradient, reached[1])
        hessian = np.where(done[:, None, None], hessian, reached[2])
    status = np.where(done, int(Status.CONVERGED), int(Status.STOPPED))
    return Fit(coef, predictor, hessian, invert(factorise(hessian)), status, steps)


def _log_loss(margin: FloatArray) -> FloatArray:
    """log(1 + exp(-margin)), never overflowing."""
    return np.asarray(np.log1p(np.exp(-np.abs(margin))) + np.where(margin < 0.0, -margin, 0.0))


def _misfit(margin: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Probability of the wrong class, and its product with that of the right one."""
    e = np.exp(-np.abs(margin))
    likelier = 1.0 / (1.0 + e)
    return np.where(margin < 0.0, likelier, e * likelier), e * likelier * likelier


def derivatives(
    terms: FloatArray, target: FloatArray, weight: FloatArray, penalty: FloatArray, coef: FloatArray
) -> Derivatives:
    """Linear predictor at `coef`; negative gradient and Hessian of the penalised loss."""
    predictor = np.matmul(coef[:, None, :], terms)[:, 0, :]
    wrong, curvature = _misfit(target * predictor)
    gradient = np.matmul(terms, (weight * target * wrong)[:, :, None])[:, :, 0]
    weighted = terms * (weight * curvature)[:, None, :]
    hessian = np.matmul(terms, np.matrix_transpose(weighted))
    return predictor, gradient - penalty * coef, hessian + penalty[:, :, None] * np.eye(coef.shape[1])


def factorise(hessian: FloatArray) -> FloatArray:
    """Upper Cholesky factors; a term that depends on earlier ones gets a row of zeros instead of an error."""
    rest, rows = hessian, []
    for i in range(hessian.shape[1]):
        pivot = rest[:, i, i]
        fits = pivot > PIVOT_TOL * hessian[:, i, i]
        scale = np.where(fits, 1.0 / np.sqrt(np.where(fits, pivot, 1.0)), 0.0)
        after = np.arange(hessian.shape[1]) >= i
        row = np.where(after[None, :], rest[:, i, :] * scale[:, None], 0.0)
        rest = rest - row[:, :, None] * row[:, None, :]
        rows.append(row)
    return np.stack(rows, axis=1)


def invert(factor: FloatArray) -> FloatArray:
    """Inverses of upper factors; rows and columns of dependent terms become zero."""
    n = factor.shape[1]
    rest: FloatArray = np.broadcast_to(np.eye(n)[None, :, :], factor.shape)
    columns = []
    for j in range(n):
        pivot = factor[:, j, j]
        good = pivot > 0.0
        column = np.where(good[:, None], rest[:, :, j] / np.where(good, pivot, 1.0)[:, None], 0.0)
        rest = rest - column[:, :, None] * factor[:, j, :][:, None, :]
        columns.append(column)
    return np.stack(columns, axis=2)


def solve(factor: FloatArray, gradient: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Newton steps H^-1 g and their squared decrements g' H^-1 g."""
    inverse = invert(factor)
    half = np.matmul(gradient[:, None, :], inverse)[:, 0, :]
    return np.matmul(inverse, half[:, :, None])[:, :, 0], np.sum(half * half, axis=1)


def leave_one_out(
    terms: FloatArray, inverse: FloatArray, predictor: FloatArray, target: FloatArray, weight: FloatArray
) -> FloatArray:
    """Left-out predictor f - u q r / (1 - u q p (1 - p)) with q = x' H^-1 x; u is one observation, or the whole row."""
    leverage = np.sum(np.square(np.matmul(np.matrix_transpose(inverse), terms)), axis=1)
    wrong, curvature = _misfit(target * predictor)
    out = np.where(weight < 1.0, weight, 1.0) * leverage
    left = 1.0 - out * curvature
    return np.asarray(predictor - out * target * wrong / np.where(left < MIN_LEFT_OUT, MIN_LEFT_OUT, left))


def row_sums(predictor: FloatArray, target: FloatArray, weight: FloatArray) -> FloatArray:
    """Summed log-loss and weights of the hits of the upper and the lower class; an output of zero hits neither."""
    margin = target * predictor
    loss = np.sum(weight * _log_loss(margin), axis=1)
    hit = weight * (margin > 0.0)
    is_upper = (target > 0.0).astype(np.float64)
    return np.stack([loss, np.sum(hit * is_upper, axis=1), np.sum(hit * (1.0 - is_upper), axis=1)], axis=1)
