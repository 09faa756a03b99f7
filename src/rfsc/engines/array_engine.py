"""The readable engine: the same mathematics in batched array code, and the oracle of the compiled one.

It is written against the array-API standard: given NumPy arrays it runs on NumPy, and other libraries that follow the
standard (torch, CuPy) run through the same lines. Supports of one size are fitted together as a stack
(n_models, n_terms, n_rows); a model that is done keeps its values while the others go on, so that the result of one
support never depends on its neighbours.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._blas import one_blas_thread
from .._typing import BoolArray, FloatArray, IntArray
from .base import (
    MAX_HALVINGS,
    MAX_NEWTON,
    MAX_OVERSHOOT,
    MIN_LEFT_OUT,
    NEWTON_TOL,
    PIVOT_TOL,
    Evaluation,
    Score,
    Status,
    Supports,
    Ties,
    empty_model_score,
)
from .problem import Problem, load_in_parts, slots_of

STACK_BYTES = 32 * 2**20  # terms of the models fitted together
Array = Any  # of whatever library


class Fit(NamedTuple):
    """A stack of fitted models."""

    coef: Array  # (n_models, n_terms)
    predictor: Array  # (n_models, n_rows)
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
        self._problem, self._xp = problem, xp
        self._store = problem.store()
        self._t_quantiles = problem.t_quantiles()
        self._target = xp.asarray(problem.target)
        self._weight = xp.asarray(problem.weight)

    def evaluate(self, supports: Supports, ties: Ties | None = None) -> Evaluation:
        """Fit, prune and score every support; what a tie holds is not pruned."""
        score = self._problem.options.score
        kept, coef = np.zeros(supports.ids.size, dtype=np.bool_), np.zeros(supports.ids.size)
        scores, losses = np.full(len(supports), empty_model_score(score)), np.full(len(supports), np.log(2.0))
        status = np.full(len(supports), int(Status.EMPTY), dtype=np.int8)
        n_newton = np.zeros(len(supports), dtype=np.int64)
        entries = [np.arange(a, b) for a, b in zip(supports.indptr[:-1], supports.indptr[1:], strict=True)]
        # one BLAS thread: more would only change the rounding; a vanishing column may have an infinite variance
        with one_blas_thread(), np.errstate(over="ignore"):
            for first, last in load_in_parts(self._store, supports):
                waiting = list(range(first, last))
                while waiting:
                    stack, waiting = self._next_stack(waiting, entries)
                    where = np.stack([entries[m] for m in stack])
                    if where.shape[1] == 0:
                        continue
                    terms, penalty = self._load(supports.ids[where])
                    fit = _newton(self._xp, terms, self._target, self._weight, penalty, self._xp.asarray(coef[where]))
                    stays = self._significant(fit) if ties is None else _held(self._significant(fit), where, ties)
                    n_newton[stack] += np.asarray(fit.steps)
                    coef[where] = np.where(stays, _without(fit, ~stays), 0.0)
                    for m, row, stay in zip(stack, where, stays, strict=True):
                        entries[m] = row[stay]
                    done = np.flatnonzero(stays.all(axis=1))
                    waiting += [m for m, stay in zip(stack, stays, strict=True) if not stay.all()]
                    if done.size:
                        at = [stack[i] for i in done]
                        scores[at], losses[at] = self._score(terms, fit, done)
                        status[at] = np.asarray(fit.status)[done]
        for row in entries:
            kept[row] = True
        return Evaluation.from_kept(supports, kept, coef, scores, losses, status, n_newton)

    def _next_stack(self, waiting: list[int], entries: list[IntArray]) -> tuple[list[int], list[int]]:
        """Supports of one size to fit together, and those that must wait."""
        size = entries[waiting[0]].size
        at_once = max(1, STACK_BYTES // (8 * self._problem.target.size * max(size, 1)))
        alike = [m for m in waiting if entries[m].size == size][:at_once]
        taken = set(alike)
        return alike, [m for m in waiting if m not in taken]

    def _load(self, ids: IntArray) -> tuple[Array, Array]:
        """Columns and penalties of a stack of supports."""
        slots = slots_of(self._store, ids.ravel()).reshape(ids.shape)
        penalty = self._problem.options.ridge * self._store.variance[slots]
        return self._xp.asarray(self._store.columns[slots]), self._xp.asarray(penalty)

    def _significant(self, fit: Fit) -> BoolArray:
        """Which terms pass the t-test (interval (8) of the paper)."""
        xp = self._xp
        variance = xp.sum(fit.inverse * fit.inverse, axis=2)
        threshold = float(self._t_quantiles[fit.coef.shape[1]])
        return np.asarray((variance > 0.0) & (xp.abs(fit.coef) > threshold * xp.sqrt(variance)))

    def _score(self, terms: Array, fit: Fit, which: IntArray) -> tuple[FloatArray, FloatArray]:
        """Score and mean log-loss of the models at positions `which` of a stack."""
        xp, score = self._xp, self._problem.options.score
        at = xp.asarray(which)
        predictor = xp.take(fit.predictor, at, axis=0)
        if score.leaves_one_out:
            terms, inverse = xp.take(terms, at, axis=0), xp.take(fit.inverse, at, axis=0)
            predictor = _leave_one_out(xp, terms, inverse, predictor, self._target, self._weight)
        value, loss = _score(xp, score, predictor, self._target, self._weight)
        return np.asarray(value), np.asarray(loss)


def _held(passed: BoolArray, where: IntArray, ties: Ties) -> BoolArray:
    """Which terms stay, given those that pass the test and the entries that they stand at."""
    stays = passed | ties.exempt[where]
    for row, entries in zip(stays, where, strict=True):
        held = [ties.entries[ties.indptr[e] : ties.indptr[e + 1]] for e in entries[row]]
        if held:
            row |= np.isin(entries, np.concatenate(held))
    return stays


def _newton(xp: Any, terms: Array, target: Array, weight: Array, penalty: Array, coef: Array) -> Fit:
    """Fit a stack of models from `coef` by Newton's method.

    A step is halved while the loss rises at its end more than half as steeply as it fell at the start; the loss is
    convex, so a step that ends before its minimum needs no further check.
    """
    done = xp.zeros(coef.shape[0], dtype=xp.bool)
    steps = xp.zeros(coef.shape[0], dtype=xp.int64)
    predictor, gradient, hessian = _derivatives(xp, terms, target, weight, penalty, coef)
    for _ in range(MAX_NEWTON):
        step, decrement = _solve(xp, _factorise(xp, hessian), gradient)
        steps = xp.where(done, steps, steps + 1)
        arrived = ~done & (decrement <= NEWTON_TOL)
        coef = xp.where(arrived[:, None], coef + step, coef)
        done = done | arrived
        if xp.all(done):
            break
        for _ in range(MAX_HALVINGS):
            reached = _derivatives(xp, terms, target, weight, penalty, coef + step)
            too_far = ~done & (-xp.sum(reached[1] * step, axis=1) > MAX_OVERSHOOT * decrement)
            if not xp.any(too_far):
                break
            # along the halved step the slope at the start is half as steep
            step = xp.where(too_far[:, None], 0.5 * step, step)
            decrement = xp.where(too_far, 0.5 * decrement, decrement)
        coef = xp.where(done[:, None], coef, coef + step)
        predictor = xp.where(done[:, None], predictor, reached[0])
        gradient = xp.where(done[:, None], gradient, reached[1])
        hessian = xp.where(done[:, None, None], hessian, reached[2])
    status = xp.where(done, xp.asarray(int(Status.CONVERGED)), xp.asarray(int(Status.STOPPED)))
    return Fit(coef, predictor, hessian, _invert(xp, _factorise(xp, hessian)), status, steps)


def _log_loss(xp: Any, margin: Array) -> Array:
    """log(1 + exp(-margin)), never overflowing."""
    return xp.log1p(xp.exp(-xp.abs(margin))) + xp.where(margin < 0.0, -margin, 0.0)


def _misfit(xp: Any, margin: Array) -> tuple[Array, Array]:
    """Probability of the wrong class, and its product with that of the right one."""
    e = xp.exp(-xp.abs(margin))
    likelier = 1.0 / (1.0 + e)
    return xp.where(margin < 0.0, likelier, e * likelier), e * likelier * likelier


def _derivatives(
    xp: Any, terms: Array, target: Array, weight: Array, penalty: Array, coef: Array
) -> tuple[Array, Array, Array]:
    """Linear predictor at `coef`; negative gradient and Hessian of the penalised loss."""
    predictor = xp.matmul(coef[:, None, :], terms)[:, 0, :]
    wrong, curvature = _misfit(xp, target * predictor)
    residual = weight * target * wrong
    gradient = xp.matmul(terms, residual[:, :, None])[:, :, 0] - penalty * coef
    weighted = terms * (weight * curvature)[:, None, :]
    hessian = xp.matmul(terms, xp.matrix_transpose(weighted))
    return predictor, gradient, hessian + penalty[:, :, None] * xp.eye(coef.shape[1], dtype=xp.float64)


def _factorise(xp: Any, hessian: Array) -> Array:
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


def _invert(xp: Any, factor: Array) -> Array:
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


def _solve(xp: Any, factor: Array, gradient: Array) -> tuple[Array, Array]:
    """Newton steps H^-1 g and their squared decrements g' H^-1 g."""
    inverse = _invert(xp, factor)
    half = xp.matmul(gradient[:, None, :], inverse)[:, 0, :]
    return xp.matmul(inverse, half[:, :, None])[:, :, 0], xp.sum(half * half, axis=1)


def _without(fit: Fit, dropped: BoolArray) -> FloatArray:
    """Coefficients at the minimum of the quadratic model of the loss that lacks the dropped terms (as zeros)."""
    coef, hessian = np.array(fit.coef), np.asarray(fit.hessian)
    for model in np.flatnonzero(dropped.any(axis=1)):
        out, stay = dropped[model], ~dropped[model]
        h = hessian[model]
        if stay.any():
            factor = _factorise(np, h[np.ix_(stay, stay)][None])
            step, _ = _solve(np, factor, (h[np.ix_(stay, out)] @ coef[model, out])[None])
            coef[model, stay] += step[0]
    return coef


def _leave_one_out(xp: Any, terms: Array, inverse: Array, predictor: Array, target: Array, weight: Array) -> Array:
    """Left-out predictor f - u q r / (1 - u q p (1 - p)) with q = x' H^-1 x; u is one observation, or the whole row."""
    leverage = xp.sum(xp.square(xp.matmul(xp.matrix_transpose(inverse), terms)), axis=1)
    wrong, curvature = _misfit(xp, target * predictor)
    out = xp.where(weight < 1.0, weight, 1.0) * leverage
    left = 1.0 - out * curvature
    return predictor - out * target * wrong / xp.where(left < MIN_LEFT_OUT, MIN_LEFT_OUT, left)


def _score(xp: Any, score: Score, predictor: Array, target: Array, weight: Array) -> tuple[Array, Array]:
    """Score and mean log-loss; an output of exactly zero is an error on either class."""
    margin = target * predictor
    total, upper = xp.sum(weight), xp.sum(xp.where(target > 0.0, weight, 0.0))
    loss = xp.sum(weight * _log_loss(xp, margin), axis=1) / total
    if score in (Score.LOG_LOSS, Score.LOO_LOG_LOSS):
        return xp.exp(-loss), loss
    hit = weight * xp.astype(margin > 0.0, xp.float64)
    is_upper = xp.astype(target > 0.0, xp.float64)
    hit_upper, hit_lower = xp.sum(hit * is_upper, axis=1), xp.sum(hit * (1.0 - is_upper), axis=1)
    lower = total - upper
    if score is Score.BALANCED_ACCURACY:
        return 0.5 * (hit_upper / upper + hit_lower / lower), loss
    accuracy = (hit_upper + hit_lower) / total
    if score is Score.KAPPA:
        called_upper = hit_upper + (lower - hit_lower)
        chance = (called_upper * upper + (total - called_upper) * lower) / (total * total)
        kappa = (accuracy - chance) / (1.0 - chance)
        return xp.where(kappa < 0.0, 0.0, kappa), loss
    return accuracy, loss
