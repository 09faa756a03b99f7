"""What engines that fit several supports together share: the rounds of fit, test and refit, and the scores.

Supports are fitted in stacks, arrays of shape (n_models, width); those that are shorter than their stack is wide are
padded with the id -1. A support whose terms all pass the test is done; what is left of the others joins a later stack.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from .._utils.arrays import BoolArray, FloatArray, IntArray
from .base import Criterion, Evaluation, Status, Supports, Ties, empty_model_score

PADDING = -1


class FittedStack(Protocol):
    """Supports that were fitted together; arrays of NumPy."""

    coef: FloatArray  # (n_models, width)
    variance: FloatArray  # of each coefficient; zero for a term that depends on others
    status: Any  # (n_models,)
    steps: IntArray

    def without(self, dropped: BoolArray) -> FloatArray:
        """Coefficients to start from: at the minimum of the quadratic model of the loss that lacks dropped terms."""

    def score(self, which: IntArray) -> tuple[FloatArray, FloatArray]:
        """Score and mean log-loss of the models at some positions."""


class StackFitter(Protocol):
    """What fits stacks."""

    def parts(self, supports: Supports) -> list[tuple[int, int]]:
        """Ranges of supports whose columns fit into memory together."""

    def width(self, size: int) -> int:
        """How wide the stack is that a support of so many terms belongs to."""

    def at_once(self, width: int) -> int:
        """Most supports of one stack."""

    def fit(self, ids: IntArray, start: FloatArray) -> FittedStack:
        """Fit a stack from given coefficients."""


def evaluate_in_stacks(
    fitter: StackFitter, criterion: Criterion, t_quantiles: FloatArray, supports: Supports, ties: Ties | None
) -> Evaluation:
    """Fit, prune and score every support."""
    n_entries = supports.ids.size  # one more entry stands for all padding
    ids, coef = np.append(supports.ids, PADDING), np.zeros(n_entries + 1)
    scores, losses = np.full(len(supports), empty_model_score(criterion)), np.full(len(supports), np.log(2.0))
    status = np.full(len(supports), int(Status.EMPTY), dtype=np.int8)
    n_newton = np.zeros(len(supports), dtype=np.int64)
    entries = [np.arange(a, b) for a, b in zip(supports.indptr[:-1], supports.indptr[1:], strict=True)]
    for first, last in fitter.parts(supports):
        waiting = [m for m in range(first, last) if entries[m].size]
        while waiting:
            stack, at, waiting = _next_stack(fitter, waiting, entries, padding=n_entries)
            fit = fitter.fit(ids[at], coef[at])
            stays = _significant(fit, t_quantiles, np.array([entries[m].size for m in stack]))
            if ties is not None:
                stays = held(stays, fit.coef, at, ties)
            n_newton[stack] += fit.steps
            coef[at] = np.where(stays, fit.without(~stays), 0.0)
            finished = (stays | (at == n_entries)).all(axis=1)
            if finished.any():
                done = np.array(stack)[finished]
                scores[done], losses[done] = fit.score(np.flatnonzero(finished))
                status[done] = fit.status[finished]
            for m, row, stay in zip(stack, at, stays, strict=True):
                entries[m] = row[stay]
            waiting += [m for m, ends in zip(stack, finished, strict=True) if entries[m].size and not ends]
    kept = np.zeros(n_entries, dtype=np.bool_)
    for row in entries:
        kept[row] = True
    return Evaluation.from_kept(supports, kept, coef[:-1], scores, losses, status, n_newton)


def _next_stack(
    fitter: StackFitter, waiting: list[int], entries: list[IntArray], padding: int
) -> tuple[list[int], IntArray, list[int]]:
    """Supports of one width to fit together, the entries of their terms, and the supports that must wait."""
    # the widest first: what is left of them joins those that are narrower from the start
    width = max(fitter.width(entries[m].size) for m in waiting)
    stack = [m for m in waiting if fitter.width(entries[m].size) == width][: fitter.at_once(width)]
    at = np.full((len(stack), width), padding)
    for row, m in zip(at, stack, strict=True):
        row[: entries[m].size] = entries[m]
    taken = set(stack)
    return stack, at, [m for m in waiting if m not in taken]


def _significant(fit: FittedStack, t_quantiles: FloatArray, sizes: IntArray) -> BoolArray:
    """Which terms pass the t-test (interval (8) of the paper); padding has no variance and never does."""
    threshold = t_quantiles[sizes][:, None] * np.sqrt(fit.variance)
    return np.asarray((fit.variance > 0.0) & (np.abs(fit.coef) > threshold))


def held(passed: BoolArray, coef: FloatArray, at: IntArray, ties: Ties) -> BoolArray:
    """Which terms stay, given those that pass the test, all coefficients, and their entries in the batch."""
    stays: BoolArray = passed | np.append(ties.exempt, False)[at]
    is_wrong = np.append(ties.sign, 0.0)[at] * coef < 0.0 if ties.sign.size else np.zeros_like(stays)
    stays &= ~is_wrong
    for row, entries in zip(stays, at, strict=True):
        kept = [ties.entries[ties.indptr[e] : ties.indptr[e + 1]] for e in entries[row]]
        if kept:
            row |= np.isin(entries, np.concatenate(kept))
    return stays & ~is_wrong


def score_of_sums(
    criterion: Criterion, sums: FloatArray, class_weights: tuple[float, float]
) -> tuple[FloatArray, FloatArray]:
    """Score and mean log-loss from the sums of `row_sums`: loss, hits of the upper class, hits of the lower one."""
    loss, hit_upper, hit_lower = sums.T
    total, upper = class_weights
    mean, lower = loss / total, total - upper
    if criterion in (Criterion.LOG_LOSS, Criterion.LOO_LOG_LOSS):
        return np.exp(-mean), mean
    if criterion is Criterion.BALANCED_ACCURACY:
        return 0.5 * (hit_upper / upper + hit_lower / lower), mean
    accuracy = (hit_upper + hit_lower) / total
    if criterion is Criterion.KAPPA:
        called_upper = hit_upper + (lower - hit_lower)
        chance = (called_upper * upper + (total - called_upper) * lower) / (total * total)
        kappa = (accuracy - chance) / (1.0 - chance)
        return np.where(kappa < 0.0, 0.0, kappa), mean
    return accuracy, mean
