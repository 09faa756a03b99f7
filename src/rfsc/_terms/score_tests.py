"""Score tests of candidate terms against what a model has left unexplained, and the terms that stand out in them.

A model with probabilities p leaves the residual r = w (y - p), and its curvature is c = w p (1 - p) for rows of weight
w. A term with column x, less what the columns Z explain of it (least squares with weights c), has the statistic

    abs(x' r) / sqrt(x' diag(c) x),

close to the absolute value of a standard normal number if the term has nothing to add to Z. Z is the constant; for a
product of two features it is the constant and both features, because x_i x_j repeats most of what they say, and
because that makes the statistic independent of the points from which the features are measured.

All terms of a space are tested, block by block, and few are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import reduce
from itertools import combinations_with_replacement
from typing import Protocol, Self

import numpy as np
from scipy.special import expit

from .._utils.arrays import FloatArray, IntArray
from .._utils.determinism import one_blas_thread

AT_ONCE = 2**13  # rows whose products are formed together, so that scratch memory does not grow with the table
SMALLEST = np.finfo(np.float64).tiny
LEAST_OWN = 1e-9  # share of a column's sum of squares that must be its own, or it is rounding that would be tested
COLUMN_BYTES = 4 * 2**20  # of the columns tested together
PAIR_FEATURES = 256  # features on each side of a block of pairs: its matrices of half a MiB stay near the core
PAIR_ROWS = 32  # of these, statistics are formed together: a dozen intermediate results stay nearer still
COLUMN_EFFORT = 20.0  # time for a value of a column, relative to that of a row in the matrix products of a pair
Columns = Callable[[FloatArray, IntArray], FloatArray]  # `TermSpace.columns`
Sums = tuple[FloatArray, ...]
ROUNDED = 1e-9
DIGITS = 9  # of a statistic that count; terms that differ by rounding alone stand in the order of their ids


@dataclass(frozen=True, slots=True, eq=False)
class ScoreTest:
    """What every term is tested against, one number for each row."""

    residual: FloatArray  # w (y - p), y being 0 or 1
    curvature: FloatArray  # w p (1 - p)

    @classmethod
    def of_model(cls, target: FloatArray, weight: FloatArray, predictor: FloatArray | None = None) -> Self:
        """Against a model's predictor, by default that of the constant alone."""
        second = target > 0
        # the share of a class that outweighs the other may be rounded to more than one
        p = min(weight[second].sum() / weight.sum(), 1.0) if predictor is None else expit(predictor)
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

        If the two rows depend on each other, as in a square, it is beside the constant and the one.
        """
        if not self.curvature.any():  # one class outweighs the other beyond double precision
            return np.zeros((len(left), len(right)))
        means = self._mean(left)[:, None], self._mean(right)[:, None]
        first, second, of_left, of_right = self.over_rows(
            lambda some: self._sums(left[:, some] - means[0], right[:, some] - means[1], some)
        )
        found = np.empty((len(left), len(right)))
        for start in range(0, len(left), PAIR_ROWS):
            some = slice(start, start + PAIR_ROWS)
            found[some] = self._of_sums(first[:, some], second[:, some], of_left[:, some, None], of_right)
        return found

    def over_rows(self, sums: Callable[[slice], Sums]) -> Sums:
        """Sums over all rows, out of those over some at a time."""
        chunks = (slice(start, start + AT_ONCE) for start in range(0, self.residual.size, AT_ONCE))
        return reduce(lambda one, other: tuple(map(np.add, one, other)), map(sums, chunks))

    def _sums(self, a: FloatArray, b: FloatArray, some: slice) -> Sums:
        """Sums over some rows: r a b, c a b, c a^2 b, then c a b^2, c a^2 b^2 for all pairs; r a, c a^2, r b, c b^2."""
        r, c, shape = self.residual[some], self.curvature[some], (-1, len(a), len(b))
        a_squared, b_squared = np.square(a), np.square(b)
        rows = np.concatenate([a * r, a * c, a_squared * c])
        products = (rows @ b.T).reshape(shape), (rows[len(a) :] @ b_squared.T).reshape(shape)
        return *products, np.array([a @ r, a_squared @ c]), np.array([b @ r, b_squared @ c])

    def _of_sums(self, first: FloatArray, second: FloatArray, of_left: FloatArray, of_right: FloatArray) -> FloatArray:
        """Statistics of some pairs; a is taken out of the product first, then what is left of b."""
        (rab, cab, caab), (cabb, caabb), (ra, caa), (rb, cbb) = first, second, of_left, of_right
        r_sum, c_sum = self.residual.sum(), self.curvature.sum()
        inverse = np.divide(1.0, caa, out=np.zeros_like(caa), where=caa > SMALLEST)  # finite
        on_a = cab * inverse
        b_left = cbb - on_a * cab
        own = b_left > LEAST_OWN * cbb  # a feature that does not vary, or repeats the other, has nothing left
        with_b = cabb - on_a * caab
        product_on_b = with_b * own / np.maximum(b_left, ~own)
        product_on_a = caab * inverse
        score = rab - cab * (r_sum / c_sum) - product_on_a * ra - (rb - on_a * ra) * product_on_b
        square = caabb - np.square(cab) / c_sum - product_on_a * caab - with_b * product_on_b
        return _ratio(score, square, caabb)

    def sums_of_pairs(self, left: FloatArray, right: FloatArray, some: slice) -> Sums:
        """Sums over some rows for all pairs of rows of two tables of 0 and 1: r a b, c a b; r a, c a; r b, c b."""
        r, c = self.residual[some], self.curvature[some]
        return (left * r) @ right.T, (left * c) @ right.T, left @ r, left @ c, right @ r, right @ c

    def of_conjunctions(self, sums: Sums, least: float = 0.0) -> FloatArray:
        """Statistics of a and b holding together, out of such sums over all rows: the smaller of two.

        One is beside the constant; the other beside the constant, a and b, which is the same for the four boxes that
        two cuts make. Without it, whatever is added to one strong condition would stand out. An empty box gives 0 / 0,
        which counts as nothing. What is below `least` may be 0.
        """
        rab, cab, ra, ca, rb, cb = sums
        r, c = self.residual.sum(), self.curvature.sum()
        with np.errstate(divide="ignore", invalid="ignore"):
            alone = (np.abs(rab - cab * (r / c)) / np.sqrt(cab * (1.0 - cab / c))).ravel()
            found, high = np.zeros(alone.size), np.flatnonzero(alone >= least)
            i, j = np.divmod(high, rb.size)
            rab, cab, ra, ca, rb, cb = rab.ravel()[high], cab.ravel()[high], ra[i], ca[i], rb[j], cb[j]
            both, first, second, none = 1.0 / cab, 1.0 / (ca - cab), 1.0 / (cb - cab), 1.0 / (cab - ca - cb + c)
            score = rab * both + (rab - ra) * first + (rab - rb) * second + (rab - ra - rb + r) * none
            beside = np.abs(score) / np.sqrt(both + first + second + none)
        found[high] = np.fmax(np.minimum(alone[high], beside), 0.0)
        return found

    def _mean(self, columns: FloatArray) -> FloatArray:
        return np.asarray((columns @ self.curvature) / self.curvature.sum())


def _ratio(scores: FloatArray, squares: FloatArray, whole: FloatArray) -> FloatArray:
    """Statistics; zero if next to nothing of a column is its own."""
    tested = squares > LEAST_OWN * whole
    return np.asarray(np.abs(scores) * tested / np.sqrt(np.maximum(squares, ~tested)))


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Terms of a space that are alike and are compared with each other."""

    blocks: Callable[[], Iterable[Block]]  # a space may have too many terms even for a list of their blocks
    n_terms: int
    effort: float = 1.0  # time for a term and a row, relative to that for a product of two features
    leans: bool = False  # whether a term shows what the test sees only in a model that holds its parents too
    first: int = 0  # added to the ids of the blocks

    def shifted(self, by: int) -> Part:
        """The same terms as part of a larger space."""
        return replace(self, first=self.first + by)


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """The terms of a part that stand out most, best first."""

    ids: IntArray
    statistic: FloatArray  # falling
    n_terms: int  # that were tested
    leans: bool  # as in `Part`


class Block(Protocol):
    """Some terms of a part that are tested together."""

    def statistics(self, test: ScoreTest, least: float) -> FloatArray:
        """Of every term, but any below `least` may be 0; what is no term is negative."""

    def ids(self, entries: IntArray) -> IntArray:
        """Ids of the terms at these entries of the statistics."""


@dataclass(frozen=True, slots=True, eq=False)
class ColumnBlock:
    """The terms first, ..., last - 1 of a space, by their columns."""

    columns: Columns
    table: FloatArray
    first: int
    last: int

    def statistics(self, test: ScoreTest, least: float) -> FloatArray:  # noqa: ARG002
        return test.of_columns(self.columns(self.table, np.arange(self.first, self.last)))

    def ids(self, entries: IntArray) -> IntArray:
        return self.first + entries


@dataclass(frozen=True, slots=True, eq=False)
class PairBlock:
    """Products of two features, one from each of two ranges of `features`."""

    table: FloatArray  # the scaled features, shape (n_features, n_rows)
    features: IntArray  # those of the space
    left: tuple[int, int]
    right: tuple[int, int]  # the same range as the left one, or behind it
    number: Callable[[IntArray, IntArray], IntArray]  # from positions i <= j within `features` to ids

    def statistics(self, test: ScoreTest, least: float) -> FloatArray:  # noqa: ARG002
        """Of every pair, by rows; on the diagonal, pairs that come twice are negative the second time."""
        found = test.of_products(*(self._features(side) for side in (self.left, self.right)))
        if self.left == self.right:
            found[np.tril_indices(len(found), -1)] = -1.0
        return found.ravel()

    def _features(self, side: tuple[int, int]) -> FloatArray:
        """The features of one range; no copy if they are neighbours in the table."""
        chosen = self.features[slice(*side)]
        first, last = int(chosen[0]), int(chosen[-1])
        return self.table[first : last + 1] if last - first + 1 == chosen.size else self.table[chosen]

    def ids(self, entries: IntArray) -> IntArray:
        i, j = np.divmod(entries, self.right[1] - self.right[0])
        return self.number(self.left[0] + i, self.right[0] + j)


def centred(table: FloatArray, weight: FloatArray) -> FloatArray:
    """Deviations of the features from their weighted means."""
    mean = (table * (weight / weight.sum())).sum(axis=1)
    return np.asarray(table - mean[:, None])


def column_part(columns: Columns, table: FloatArray, first: int, last: int, *, leans: bool = False) -> Part:
    """The terms first, ..., last - 1, tested by their columns beside the constant."""
    size = max(COLUMN_BYTES // (8 * table.shape[1]), 1)

    def blocks() -> Iterable[Block]:
        return (ColumnBlock(columns, table, a, min(a + size, last)) for a in range(first, last, size))

    return Part(blocks, last - first, COLUMN_EFFORT, leans)


def pair_part(
    table: FloatArray, features: IntArray, number: Callable[[IntArray, IntArray], IntArray], *, leans: bool
) -> Part:
    """All products of two features, and squares, tested by matrix products beside the constant and the features."""
    n = features.size

    def blocks() -> Iterable[Block]:
        ranges = [(a, min(a + PAIR_FEATURES, n)) for a in range(0, n, PAIR_FEATURES)]
        pairs = combinations_with_replacement(ranges, 2)
        return (PairBlock(table, features, left, right, number) for left, right in pairs)

    return Part(blocks, n * (n + 1) // 2, leans=leans)


def strongest(part: Part, test: ScoreTest, keep: int, n_threads: int = 1) -> Found:
    """Test every term of a part and keep those with the largest statistics."""

    best = np.empty(0, np.int64), np.empty(0)

    def best_of(block: Block) -> tuple[IntArray, FloatArray]:
        least = best[1][-1] if best[1].size == keep else 0.0
        values = np.round(block.statistics(test, least - ROUNDED), DIGITS)
        some = np.flatnonzero(values >= least)
        if some.size > keep:
            some = some[values[some] >= np.partition(values[some], -keep)[-keep]]
        return part.first + block.ids(some), values[some]

    with one_blas_thread(), ThreadPoolExecutor(n_threads) as pool:
        for found in pool.map(best_of, part.blocks()):
            ids, values = (np.concatenate(pair) for pair in zip(best, found, strict=True))
            order = np.lexsort((ids, -values))[:keep]
            best = ids[order], values[order]
    return Found(*best, part.n_terms, part.leans)
