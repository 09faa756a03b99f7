"""Score tests of candidate terms against what a model has left unexplained, many at once by matrix products.

A model with probabilities p leaves the residual r = w (y - p), and its curvature is c = w p (1 - p) for rows of weight
w. A term with column x, less what the columns Z explain of it (least squares with weights c), has the statistic

    abs(x' r) / sqrt(x' diag(c) x),

close to the absolute value of a standard normal number where the term has nothing to add to Z. Z is the constant; for a
product of two features it is the constant and both features, because x_i x_j repeats most of what they say, and
because that makes the statistic independent of the points from which the features are measured.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.special import expit

from .._utils.arrays import FloatArray

AT_ONCE = 2**13  # rows whose products are formed together, so that scratch memory does not grow with the table
LEAST_OWN = 1e-9  # share of a column's sum of squares that must be its own, or it is rounding that would be tested


@dataclass(frozen=True, slots=True, eq=False)
class ScoreTest:
    """What every term is tested against.

    Parameters
    ----------
    residual : ndarray of shape (n_rows,)
        w (y - p), y being 0 or 1.
    curvature : ndarray of shape (n_rows,)
        w p (1 - p).
    """

    residual: FloatArray
    curvature: FloatArray

    @classmethod
    def of_model(cls, target: FloatArray, weight: FloatArray, predictor: FloatArray | None = None) -> Self:
        """Against a model's predictor, by default that of the constant alone."""
        second = target > 0
        p = weight[second].sum() / weight.sum() if predictor is None else expit(predictor)
        return cls(weight * (second - p), weight * p * (1.0 - p))

    def of_columns(self, columns: FloatArray) -> FloatArray:
        """Statistic of each row of `columns` beside the constant."""
        if not self.curvature.any():
            return np.zeros(len(columns))
        own = columns - self._mean(columns)[:, None]
        squares = np.square(own) @ self.curvature
        return _ratio(own @ self.residual, squares, np.square(columns) @ self.curvature)

    def of_products(self, left: FloatArray, right: FloatArray) -> FloatArray:
        """Statistic of the product of each row of `left` with each of `right`, beside the constant and both.

        Where the two rows depend on each other, as in a square, it is beside the constant and the one.
        """
        if not self.curvature.any():  # one class outweighs the other by more than doubles can tell
            return np.zeros((len(left), len(right)))
        n, means = len(left), (self._mean(left), self._mean(right))
        first, second, single = np.zeros((3 * n, len(right))), np.zeros((2 * n, len(right))), []
        for start in range(0, self.residual.size, AT_ONCE):
            some = slice(start, start + AT_ONCE)
            r, c = self.residual[some], self.curvature[some]
            a, b = (side[:, some] - mean[:, None] for side, mean in zip((left, right), means, strict=True))
            a_squared, b_squared = np.square(a), np.square(b)
            a_weighted, a_squared_weighted = a * c, a_squared * c
            # sums over the rows of r a b, c a b, c a^2 b, then c a b^2, c a^2 b^2, for all pairs
            first += np.concatenate([a * r, a_weighted, a_squared_weighted]) @ b.T
            second += np.concatenate([a_weighted, a_squared_weighted]) @ b_squared.T
            single.append([a @ r, b @ r, a_squared @ c, b_squared @ c])
        rab, cab, caab, cabb, caabb = first[:n], first[n : 2 * n], first[2 * n :], second[:n], second[n:]
        ra, rb, caa, cbb = (np.sum(sums, axis=0) for sums in zip(*single, strict=True))
        r_sum, c_sum = self.residual.sum(), self.curvature.sum()
        # a is taken out first, then what is left of b; a feature that does not vary, or repeats the other, has nothing
        on_a = cab * _inverse(caa)[:, None]
        b_left = cbb - on_a * cab
        b_left = np.where(b_left > LEAST_OWN * cbb, b_left, np.inf)
        with_b = cabb - on_a * caab
        product_on_a = caab * _inverse(caa)[:, None]
        scores = rab - cab * (r_sum / c_sum) - product_on_a * ra[:, None]
        scores -= (rb - on_a * ra[:, None]) * with_b / b_left
        squares = caabb - np.square(cab) / c_sum - product_on_a * caab - np.square(with_b) / b_left
        return _ratio(scores, squares, caabb)

    def _mean(self, columns: FloatArray) -> FloatArray:
        return np.asarray((columns @ self.curvature) / self.curvature.sum())


def _inverse(squares: FloatArray) -> FloatArray:
    """1 / x, 0 for 0."""
    return np.divide(1.0, squares, out=np.zeros_like(squares), where=squares > 0.0)


def _ratio(scores: FloatArray, squares: FloatArray, whole: FloatArray) -> FloatArray:
    """Statistics; zero where next to nothing of a column is its own."""
    tested = squares > LEAST_OWN * whole
    return np.where(tested, np.abs(scores) / np.sqrt(np.where(tested, squares, 1.0)), 0.0)
