"""Every feature to [0, 1] by its range over the training rows (the paper's normalisation), and its typical value."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from .._utils.arrays import BoolArray, FloatArray, IntArray

AT_A_TIME = 1024  # rows
MOST_SORTED = 2**20  # values at a time
FAR = 1e50  # training ranges away from the training data; its fifth power is still a number
LARGEST = float(np.finfo(np.float64).max)


@dataclass(frozen=True, slots=True, eq=False)
class Scaling:
    """Minimum and range of every feature.

    Both are kept halved: the range of a feature may overflow although its values do not, and halving is exact.
    """

    half_minimum: FloatArray
    half_span: FloatArray  # half the range; zero for a constant feature
    median: FloatArray | None = None  # of the training rows, on the [0, 1] scale; None if it is not known
    upper: FloatArray | None = None  # share of the training rows in the upper half of the range: of the ones among 0, 1

    @classmethod
    def from_rows(cls, X: FloatArray) -> Self:
        """Read the ranges off the rows of X."""
        half_minimum, half_maximum = X.min(axis=0) / 2, X.max(axis=0) / 2
        half_span = half_maximum - half_minimum
        # a range below the smallest normal number cannot be divided by
        half_span[half_span < np.finfo(np.float64).tiny] = 0.0
        return cls(half_minimum, half_span)

    def with_typical(self, table: FloatArray, weight: FloatArray) -> Self:
        """The same scaling with medians, of the scaled features that `table` gives and the weights of the rows."""
        n_parts = min(1 + table.size // MOST_SORTED, len(table))
        parts = [self._typical(part, weight) for part in np.array_split(table, n_parts)]
        median, upper = np.concatenate(parts, axis=1)
        return replace(self, median=median, upper=upper)

    @staticmethod
    def _typical(table: FloatArray, weight: FloatArray) -> FloatArray:
        """Medians, of two middle values the lower one, and shares above the middle."""
        order = np.argsort(table, axis=1)
        below = np.cumsum(weight[order], axis=1) < weight.sum() / 2
        middle = np.take_along_axis(order, below.sum(axis=1, keepdims=True), axis=1)
        median = np.take_along_axis(table, middle, axis=1)[:, 0]
        return np.stack([median, (table > 0.5) @ weight / weight.sum()])

    @property
    def constant(self) -> BoolArray:
        """Which features do not vary."""
        return np.asarray(self.half_span == 0)

    def table(self, X: FloatArray) -> FloatArray:
        """Scaled features, one contiguous row for each (the layout that terms read); constant features become 0."""
        span = np.where(self.constant, 1.0, self.half_span)
        out = np.empty(X.shape[::-1])
        for first in range(0, len(X), AT_A_TIME):  # so that transposing stays within the cache
            part = X[first : first + AT_A_TIME].T / 2
            part -= self.half_minimum[:, None]
            part /= span[:, None]
            out[:, first : first + AT_A_TIME] = part
        out[self.constant] = 0.0
        return out

    def rows(self, X: FloatArray, features: Iterable[int]) -> dict[int, FloatArray]:
        """The same for a few features only, by feature index; values far outside are clipped to stay finite."""
        with np.errstate(over="ignore"):
            scaled = {p: (X[:, p] / 2 - self.half_minimum[p]) / self.half_span[p] for p in features}
        return {p: np.clip(row, -FAR, FAR) for p, row in scaled.items()}

    def slope(self, feature: int) -> float:
        """Factor a in scaled = a * x + b."""
        return float(0.5 / self.half_span[feature])

    def offset(self, feature: int) -> float:
        """Summand b in scaled = a * x + b."""
        return float(-self.half_minimum[feature] / self.half_span[feature])

    def to_user(self, features: IntArray | int, values: FloatArray | float) -> FloatArray:
        """Scaled values in the user's units, up to rounding; halves first, because a range may overflow."""
        half = self.half_minimum[features] + self.half_span[features] * values
        return np.asarray(2.0 * np.clip(half, -LARGEST / 2, LARGEST / 2))

    def to_scaled(self, features: IntArray, values: FloatArray) -> FloatArray:
        """Values in the user's units, scaled by the very operations that scale the rows."""
        return np.asarray((values / 2 - self.half_minimum[features]) / self.half_span[features])
