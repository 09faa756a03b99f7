"""Nearest-neighbour comparators: how far a training row is, and what its vote weighs, are all that differs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.spatial.distance import cdist
from scipy.special import gamma
from sklearn.neighbors import NearestNeighbors

from ..arrays import FloatArray, IntArray
from .base import Comparator

BLOCK_ENTRIES = 4_000_000  # distances held at once, 32 MB


def row_blocks(n_rows: int, n_columns: int) -> Iterator[slice]:
    """Slices of rows, each with at most `BLOCK_ENTRIES` distances to `n_columns` training rows."""
    height = max(1, BLOCK_ENTRIES // n_columns)
    return (slice(start, start + height) for start in range(0, n_rows, height))


def nearest(distance: FloatArray, k: int) -> IntArray:
    """Columns of the k smallest entries of each row, nearest first; of equal ones the lower column.

    A partition finds the k-th distance in linear time; scikit-learn's searches leave the order of ties open.
    """
    k = min(k, distance.shape[1])
    kth = np.partition(distance, k - 1, axis=1)[:, k - 1 : k]
    closer, level = distance < kth, distance == kth
    room = k - closer.sum(axis=1, keepdims=True)
    chosen = closer | (level & (level.cumsum(axis=1, dtype=np.int32) <= room))
    column = np.nonzero(chosen)[1].reshape(-1, k)
    order = np.take_along_axis(distance, column, axis=1).argsort(axis=1, kind="stable")
    return np.take_along_axis(column, order, axis=1)


class _Neighbours(Comparator):
    """The vote; a row at infinite distance has none. Without any vote, as with equal ones, the first class wins."""

    n_neighbors: int = 1
    skip_zero: bool

    def _learn(self, X: FloatArray, code: IntArray) -> None:
        self.rows_, self.code_ = X, code

    def _classify(self, X: FloatArray) -> IntArray:
        return np.concatenate([self._vote(X[block]) for block in row_blocks(len(X), len(self.rows_))])

    def _vote(self, X: FloatArray) -> IntArray:
        euclid = cdist(X, self.rows_)
        distance = self._distance(X, euclid)
        distance[np.isnan(distance) | (self.skip_zero & (euclid == 0))] = np.inf
        column = nearest(distance, self.n_neighbors)
        votes = np.zeros((len(X), len(self.classes_)))
        weight = self._weight(np.take_along_axis(distance, column, axis=1))
        np.add.at(votes, (np.arange(len(X))[:, None], self.code_[column]), weight)
        return np.asarray(votes.argmax(axis=1))

    def _distance(self, X: FloatArray, euclid: FloatArray) -> FloatArray:  # noqa: ARG002
        """From every row of X to every training row, given the Euclidean ones."""
        return euclid

    def _weight(self, distance: FloatArray) -> FloatArray:
        """Of every vote, from the sorted distances of the voters."""
        return np.isfinite(distance).astype(np.float64)


class KNN(_Neighbours):
    """Majority of the nearest rows.

    Equal distances go to the lower row, equal votes to the first class, so that a result can be repeated anywhere;
    scikit-learn's own classifier does not promise the first. `skip_zero` ignores training rows equal to the row to
    classify, as KEEL does.
    """

    def __init__(self, n_neighbors: int = 3, *, skip_zero: bool = False) -> None:
        self.n_neighbors = n_neighbors
        self.skip_zero = skip_zero


class AdaptiveKNN(KNN):
    """Nearest rows by a distance that shrinks for rows far from other classes (row KNN-A).

    The distance to training row i is divided by r_i, its distance to the closest training row of another class.

    Wang, Neskovic, Cooper, "Improving nearest neighbor rule with a simple adaptive distance measure", Pattern
    Recognition Letters 28, 2007.
    """

    def _learn(self, X: FloatArray, code: IntArray) -> None:
        super()._learn(X, code)
        reach = np.ones(len(X))
        for own in (code == c for c in range(len(self.classes_)) if len(self.classes_) > 1):
            # the tree computes distances directly; brute force expands the square and can miss an exact 0
            tree = NearestNeighbors(n_neighbors=1, algorithm="kd_tree").fit(X[~own])
            reach[own] = tree.kneighbors(X[own])[0][:, 0]
        # a row with an equal row of another class has no reach: it votes after all the others
        floor = np.finfo(np.float64).eps * (reach.max() or 1.0)
        self.reach_ = np.maximum(reach, floor)

    def _distance(self, X: FloatArray, euclid: FloatArray) -> FloatArray:  # noqa: ARG002
        return np.asarray(euclid / self.reach_)


class DistanceWeightedKNN(KNN):
    """Votes that fall linearly with the distance, from 1 for the nearest to 0 for the k-th (row DW-KNN).

    Dudani's weights; all are 1 if the first and the k-th are equally far.

    Dudani, "The distance-weighted k-nearest-neighbor rule", IEEE Transactions on Systems, Man, and Cybernetics 6,
    1976.
    """

    def __init__(self, n_neighbors: int = 5, *, skip_zero: bool = False) -> None:
        super().__init__(n_neighbors, skip_zero=skip_zero)

    def _weight(self, distance: FloatArray) -> FloatArray:
        usable = np.isfinite(distance)
        distance = np.where(usable, distance, 0.0)
        last = distance.max(axis=1, keepdims=True)
        width = last - distance[:, :1]
        weight = np.divide(last - distance, width, out=np.ones_like(distance), where=width > 0)
        return np.where(usable, weight, 0.0)


class CamNN(KNN):
    """Nearest rows by the cam distance, which is longer against the pull of a row's own neighbours.

    KEEL's variant. Row i learns from the K nearest rows that differ from it: the mean G of the steps towards
    them and the mean L of the steps' lengths, where a step towards another class is reversed and halved. With
    q features, n = min(q, 16) and c = sqrt(2) Gamma((n + 1) / 2) / Gamma(n / 2), the distance of x from x_i is
    ``d / (L / c + q ||G|| / c * cos(x - x_i, G))``, d the Euclidean one. Rows with a negative distance do not vote.

    Zhou, Chen, "Nearest neighbor classification using cam weighted distance", Neurocomputing 69, 2006.
    """

    def _learn(self, X: FloatArray, code: IntArray) -> None:
        super()._learn(X, code)
        parts = [self._steps(X, code, block) for block in row_blocks(len(X), len(X))]
        mean_step, mean_length = (np.concatenate(part) for part in zip(*parts, strict=True))
        n_features = X.shape[1]
        n = min(n_features, 16)
        c = np.sqrt(2) * gamma((n + 1) / 2) / gamma(n / 2)
        self.scale_ = mean_length / c
        self.pull_ = mean_step * n_features / c  # b_i tau_i: the length of G cancels, and G = 0 needs no guard

    def _steps(self, X: FloatArray, code: IntArray, block: slice) -> tuple[FloatArray, FloatArray]:
        """G and L of the rows of a block."""
        distance = cdist(X[block], X)
        distance[distance == 0] = np.inf  # the row itself and equal rows, which give no direction
        column = nearest(distance, self.n_neighbors)
        usable = np.isfinite(np.take_along_axis(distance, column, axis=1))
        sign = np.where(code[column] == code[block, None], 1.0, -0.5) * usable
        step = sign[:, :, None] * (X[column] - X[block, None])
        count = np.maximum(usable.sum(axis=1), 1)
        return step.sum(axis=1) / count[:, None], np.linalg.norm(step, axis=2).sum(axis=1) / count

    def _distance(self, X: FloatArray, euclid: FloatArray) -> FloatArray:
        along = X @ self.pull_.T - np.einsum("ij,ij->i", self.rows_, self.pull_)
        with np.errstate(divide="ignore", invalid="ignore"):
            cam = euclid / (self.scale_ + along / euclid)
        cam[~(cam > 0)] = np.inf  # written so that an undefined distance goes too
        cam[euclid == 0] = 0.0
        return np.asarray(cam)


class CenterNN(_Neighbours):
    """Class of the nearest line from a training row through the centre of its class (row CNN).

    The lines are infinite; with a single feature they all coincide, and the answer means nothing.

    Gao, Wang, "Center-based nearest neighbor classifier", Pattern Recognition 40, 2007.
    """

    def __init__(self, *, skip_zero: bool = False) -> None:
        self.skip_zero = skip_zero

    def _learn(self, X: FloatArray, code: IntArray) -> None:
        super()._learn(X, code)
        centre = np.array([X[code == c].mean(axis=0) for c in range(len(self.classes_))])
        line = centre[code] - X
        length = np.linalg.norm(line, axis=1, keepdims=True)
        # a row that is the centre of its class has no line: a zero direction leaves the distance to the row
        self.direction_ = np.divide(line, length, out=np.zeros_like(line), where=length > 0)

    def _distance(self, X: FloatArray, euclid: FloatArray) -> FloatArray:
        along = X @ self.direction_.T - np.einsum("ij,ij->i", self.rows_, self.direction_)
        # by Pythagoras; rounding may leave a tiny negative number if x is on the line
        square = euclid**2 - along**2
        return np.asarray(np.sqrt(np.maximum(square, 0.0)))
