"""Linear discriminant analysis with equal priors on a chosen subset of the features, and the two greedy choices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..arrays import BoolArray, FloatArray, IntArray
from .base import Comparator

# relative to a correlation matrix: far below what changes a decision, enough for a singular block to be solved
RIDGE = 1e-9
# spread, relative to the level of a column, below which differences are rounding
ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Moments:
    """All that linear discriminant analysis needs to know of the training rows, for every subset of the features."""

    centre: FloatArray  # a row is standardised as (x - centre) / scale
    scale: FloatArray
    scatter: FloatArray  # pooled within-class scatter of the standardised rows, positive definite
    means: FloatArray  # class means of the standardised rows

    def standardise(self, X: FloatArray) -> FloatArray:
        """Put rows into the units of scatter and means."""
        return np.asarray((X - self.centre) / self.scale)


def moments(X: FloatArray, code: IntArray, n_classes: int) -> Moments:
    """Sums over the training rows.

    A feature without spread inside the classes is scaled by its spread between them; a constant one gets equal means,
    so that it plays no part.
    """
    centre = X.mean(axis=0)
    rows = X - centre
    rows[:, np.abs(rows).max(axis=0) <= ROUNDING * np.abs(centre)] = 0.0
    means = np.stack([rows[code == c].mean(axis=0) for c in range(n_classes)])
    within, overall = rows - means[code], np.linalg.norm(rows, axis=0)
    scale = np.linalg.norm(within, axis=0)
    scale = np.where(scale > np.sqrt(RIDGE) * overall, scale, overall)
    scale[scale == 0.0] = 1.0
    within /= scale
    return Moments(centre, scale, within.T @ within + RIDGE * np.eye(X.shape[1]), means / scale)


def lda_rule(scatter: FloatArray, means: FloatArray, subset: BoolArray | IntArray) -> tuple[FloatArray, FloatArray]:
    """Solve for the discriminants of some features; the class of a row is the largest of z @ coef + intercept."""
    chosen = means[:, subset]
    coef = np.asarray(np.linalg.solve(scatter[subset][:, subset], chosen.T), dtype=np.float64)
    return coef, -0.5 * np.einsum("cj,jc->c", chosen, coef)


def greedy(support: BoolArray, score: Callable[[BoolArray], float], *, adding: bool) -> BoolArray:
    """Add, or remove, the best single feature until a step brings no strict gain; of equals, the first."""
    best = score(support)
    while True:
        trials = []
        for j in np.flatnonzero(support != adding):
            trials.append(support.copy())
            trials[-1][j] = adding
        scores = [score(trial) for trial in trials]
        if not scores or max(scores) <= best:
            return support
        best = max(scores)
        support = trials[scores.index(best)]


class SubsetLDA(Comparator):
    """Linear discriminant analysis with equal priors on the features that `_choose` names."""

    def _choose(self, X: FloatArray, code: IntArray) -> BoolArray:
        """Mask of the features to use."""
        raise NotImplementedError

    def _learn(self, X: FloatArray, code: IntArray) -> None:
        known = moments(X, code, len(self.classes_))
        self.support_ = self._choose(X, code)
        coef, intercept = lda_rule(known.scatter, known.means, self.support_)
        # back to the units of X, so that a fitted classifier is two small arrays
        self.coef_ = coef / known.scale[self.support_, None]
        self.intercept_ = intercept - known.centre[self.support_] @ self.coef_

    def _classify(self, X: FloatArray) -> IntArray:
        return np.asarray(np.argmax(X[:, self.support_] @ self.coef_ + self.intercept_, axis=1))


class SequentialLDA(SubsetLDA):
    """Forward or backward feature selection with linear discriminant analysis, as in Lin and Chen (2009).

    One feature at a time is added to none (removed from all), the one that leaves the highest accuracy on the training
    rows; the first step without strict gain ends the search. On which rows the paper measured the gain is not known:
    this reading came closest to its figures.
    """

    def __init__(self, direction: str = "forward") -> None:
        self.direction = direction

    def _choose(self, X: FloatArray, code: IntArray) -> BoolArray:
        known = moments(X, code, len(self.classes_))
        rows = known.standardise(X)

        def hits(support: BoolArray) -> float:
            if not support.any():
                return -1.0
            coef, intercept = lda_rule(known.scatter, known.means, support)
            return float(np.sum(np.argmax(rows[:, support] @ coef + intercept, axis=1) == code))

        forward = self.direction == "forward"
        return greedy(np.full(X.shape[1], not forward), hits, adding=forward)
