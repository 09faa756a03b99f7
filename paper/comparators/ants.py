"""Ant-colony feature selection with a pattern-matching vote: our reading of Sreeja and Sankar (2015)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays import BoolArray, FloatArray, IntArray
from .base import Comparator

TOLERANCES = (0.02, 0.05, 0.1, 0.2)
PHEROMONE = (0.01, 1.0)

Counts = npt.NDArray[np.uint16]


def matches(left: FloatArray, right: FloatArray, tolerance: float) -> npt.NDArray[np.uint8]:
    """Which rows agree in which feature: ones of shape (n_features, n_left, n_right)."""
    pairs = zip(left.T, right.T, strict=True)
    return np.stack([(np.abs(a[:, None] - b) <= tolerance).view(np.uint8) for a, b in pairs])


def matching_vote(count: Counts, code: IntArray, n_classes: int, *, leave_one_out: bool = False) -> IntArray:
    """Majority class among the training rows that agree in most features.

    `count` has shape (n_rows, n_training). Of equal votes the class with the larger mean number of agreements over all
    its rows wins, then the first.
    """
    votes, total, size = _tally(count, code, n_classes, leave_one_out=leave_one_out)
    mean = total / np.maximum(size, 1.0)
    leading = votes == votes.max(axis=1, keepdims=True)
    return np.asarray(np.argmax(np.where(leading, mean, -1.0), axis=1))


def _tally(
    count: Counts, code: IntArray, n_classes: int, *, leave_one_out: bool
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Votes of the best-matching rows, agreements of all rows, and rows, per row and class."""
    member = np.eye(n_classes, dtype=np.float32)[code]
    value = count.astype(np.float32)  # counts up to 2**24 are exact
    size = np.broadcast_to(member.sum(axis=0, dtype=np.float64), (len(count), n_classes))
    if leave_one_out:
        np.fill_diagonal(value, -1.0)
    voter = (value == value.max(axis=1, keepdims=True)).astype(np.float32)
    if leave_one_out:
        np.fill_diagonal(value, 0.0)
        size = size - member
    return (voter @ member).astype(np.float64), (value @ member).astype(np.float64), size


class Colony:
    """Ants over the features of one table, at one tolerance."""

    def __init__(self, X: FloatArray, code: IntArray, tolerance: float) -> None:
        self._match = matches(X, X, tolerance)
        self._code, self._n_classes = code, int(code.max()) + 1
        self._seen: dict[frozenset[int], int] = {}

    def hits(self, chosen: frozenset[int], count: Counts) -> int:
        """Leave-one-out hits of a set of features, given in how many of them two rows agree."""
        if chosen not in self._seen:
            label = matching_vote(count, self._code, self._n_classes, leave_one_out=True)
            self._seen[chosen] = int(np.sum(label == self._code))
        return self._seen[chosen]

    def walk(self, pheromone: FloatArray, rng: np.random.Generator) -> tuple[int, frozenset[int]]:
        """Let one ant add features, with probability proportional to the pheromone, while its hits rise.

        Returns the hits and the features.
        """
        # the whole walk in one draw: the order in which proportional draws without return would come
        order = np.argsort(rng.exponential(size=pheromone.size) / pheromone)
        count = np.zeros(self._match.shape[1:], dtype=np.uint16)
        best, chosen = -1, frozenset[int]()
        for j in order.tolist():
            wider = chosen | {j}
            count += self._match[j]
            hits = self.hits(wider, count)
            if hits <= best:
                break
            best, chosen = hits, wider
        return best, chosen

    def search(
        self, n_ants: int, n_iterations: int, evaporation: float, rng: np.random.Generator
    ) -> tuple[int, BoolArray]:
        """Send the ants out again and again, guided by what the best of them left; hits and best set."""
        pheromone = np.ones(len(self._match))
        best, chosen = -1, frozenset[int]()
        for _ in range(n_iterations):
            walks = [self.walk(pheromone, rng) for _ in range(n_ants)]
            hits, found = max(walks, key=lambda walk: (walk[0], -len(walk[1])))
            pheromone *= 1.0 - evaporation
            pheromone[list(found)] += hits / len(self._code)
            pheromone = pheromone.clip(*PHEROMONE)
            if (hits, -len(found)) > (best, -len(chosen)):
                best, chosen = hits, found
        return best, np.isin(np.arange(len(self._match)), list(chosen))


class ACOPMC(Comparator):
    """Pattern-matching vote on features that an ant colony chose: our reading of Sreeja and Sankar (2015).

    Only the abstract of the paper was at hand. Known is that the class of a row is the majority among the training
    rows that match it in most of the selected features, and that ants select these guided by the vote itself. What
    follows is our reading: two values match when they differ by at most `tolerance`; an ant adds features, with
    probability proportional to their pheromone, until its leave-one-out accuracy on the training rows stops rising;
    the best ant of an iteration deposits its accuracy; pheromone stays between 0.01 and 1; equal votes go to the class
    that matches best on average. `tolerance=None` searches with several, which suit features scaled to [0, 1],
    and keeps the best.
    """

    def __init__(
        self,
        n_ants: int = 20,
        n_iterations: int = 50,
        evaporation: float = 0.1,
        tolerance: float | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_ants = n_ants
        self.n_iterations = n_iterations
        self.evaporation = evaporation
        self.tolerance = tolerance
        self.random_state = random_state

    def _learn(self, X: FloatArray, code: IntArray) -> None:
        rng, best = self._generator(), -1
        for tolerance in TOLERANCES if self.tolerance is None else (self.tolerance,):
            hits, support = Colony(X, code, tolerance).search(self.n_ants, self.n_iterations, self.evaporation, rng)
            if hits > best:
                best, self.tolerance_, self.support_ = hits, tolerance, support
        self.rows_, self.codes_ = X[:, self.support_], code

    def _classify(self, X: FloatArray) -> IntArray:
        count = np.zeros((len(X), len(self.rows_)), dtype=np.uint16)
        for row, column in zip(X[:, self.support_].T, self.rows_.T, strict=True):
            count += matches(row[:, None], column[:, None], self.tolerance_)[0]
        return matching_vote(count, self.codes_, len(self.classes_))
