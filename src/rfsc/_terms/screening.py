"""Which terms of a space stand out in a score test: all of them are tested, block by block, and few are kept.

A space that knows a faster or better way than testing its columns offers it in a method `parts(table, weight)`; of the
others, blocks of columns are tested.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement
from typing import Protocol

import numpy as np

from .._utils.arrays import FloatArray, IntArray
from .._utils.blas import one_blas_thread
from .base import TermSpace
from .score_test import ScoreTest

COLUMN_BYTES = 4 * 2**20  # of the columns tested together
PAIR_FEATURES = 256  # features on each side of a block of pairs: its matrices of half a MiB stay near the core
COLUMN_EFFORT = 20.0  # time for a value of a column, beside that of a row in the matrix products of a pair
DIGITS = 9  # of a statistic that count; terms that differ by rounding alone stand in the order of their ids


class Block(Protocol):
    """Some terms that are tested together."""

    def statistics(self, test: ScoreTest) -> FloatArray:
        """Of every term, in one row; negative for entries that are no term."""
        ...

    def ids(self, entries: IntArray) -> IntArray:
        """Ids of the terms at these entries of the statistics."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Terms of a space that are alike and are compared with each other.

    Parameters
    ----------
    blocks : callable
        Gives all of them, in blocks; a space may have too many even for a list of its blocks.
    n_terms : int
        How many they are.
    effort : float
        What a term costs for each row, beside one of a pair of features.
    leans : bool
        Whether a term shows what the test sees only in a model that holds its parents too.
    first : int
        Added to the ids of the blocks.
    """

    blocks: Callable[[], Iterable[Block]]
    n_terms: int
    effort: float = 1.0
    leans: bool = False
    first: int = 0

    def shifted(self, by: int) -> Part:
        """The same terms as part of a larger space."""
        return replace(self, first=self.first + by)


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """The terms of a part that stand out most, best first.

    Parameters
    ----------
    ids : ndarray of int
        The terms.
    statistic : ndarray of float
        Their statistics, falling.
    n_terms : int
        Number of terms that were tested.
    leans : bool
        As in `Part`.
    """

    ids: IntArray
    statistic: FloatArray
    n_terms: int
    leans: bool


@dataclass(frozen=True, slots=True, eq=False)
class ColumnBlock:
    """The terms first, ..., last - 1 of a space, by their columns."""

    space: TermSpace
    table: FloatArray
    first: int
    last: int

    def statistics(self, test: ScoreTest) -> FloatArray:
        """Of every term."""
        return test.of_columns(self.space.columns(self.table, np.arange(self.first, self.last)))

    def ids(self, entries: IntArray) -> IntArray:
        """Ids of the terms."""
        return self.first + entries


@dataclass(frozen=True, slots=True, eq=False)
class PairBlock:
    """Products of two features, one from each of two ranges of `features`.

    Parameters
    ----------
    table : ndarray of shape (n_features, n_rows)
        The scaled features.
    features : ndarray of int
        Features of the space.
    left, right : (int, int)
        Ranges within `features`; the right one is the left one or lies behind it.
    squares : bool
        Whether the product of a feature with itself is a term.
    number : callable
        From positions i <= j within `features` to ids.
    """

    table: FloatArray
    features: IntArray
    left: tuple[int, int]
    right: tuple[int, int]
    squares: bool
    number: Callable[[IntArray, IntArray], IntArray]

    def statistics(self, test: ScoreTest) -> FloatArray:
        """Of every pair, by rows; on the diagonal, pairs that come twice are left out the second time."""
        found = test.of_products(*(self._features(side) for side in (self.left, self.right)))
        if self.left == self.right:
            found[np.tril_indices(len(found), -1 if self.squares else 0)] = -1.0
        return found.ravel()

    def _features(self, side: tuple[int, int]) -> FloatArray:
        """The features of one range; no copy where they stand one after the other in the table."""
        chosen = self.features[slice(*side)]
        first, last = int(chosen[0]), int(chosen[-1])
        return self.table[first : last + 1] if last - first + 1 == chosen.size else self.table[chosen]

    def ids(self, entries: IntArray) -> IntArray:
        """Ids of the products."""
        i, j = np.divmod(entries, self.right[1] - self.right[0])
        return self.number(self.left[0] + i, self.right[0] + j)


def centred(table: FloatArray, weight: FloatArray) -> FloatArray:
    """Deviations of the features from their weighted means."""
    mean = (table * (weight / weight.sum())).sum(axis=1)
    return np.asarray(table - mean[:, None])


def column_part(space: TermSpace, table: FloatArray, first: int, last: int, *, leans: bool = False) -> Part:
    """The terms first, ..., last - 1, tested by their columns beside the constant."""
    size = max(COLUMN_BYTES // (8 * table.shape[1]), 1)

    def blocks() -> Iterable[Block]:
        return (ColumnBlock(space, table, a, min(a + size, last)) for a in range(first, last, size))

    return Part(blocks, last - first, COLUMN_EFFORT, leans)


def pair_part(
    table: FloatArray,
    features: IntArray,
    number: Callable[[IntArray, IntArray], IntArray],
    *,
    squares: bool,
    leans: bool,
) -> Part:
    """All products of two features, tested by matrix products beside the constant and the two features."""
    n = features.size

    def blocks() -> Iterable[Block]:
        ranges = [(a, min(a + PAIR_FEATURES, n)) for a in range(0, n, PAIR_FEATURES)]
        pairs = combinations_with_replacement(ranges, 2)
        return (PairBlock(table, features, left, right, squares, number) for left, right in pairs)

    return Part(blocks, n * (n + 1) // 2 if squares else n * (n - 1) // 2, leans=leans)


def parts_of(space: TermSpace, table: FloatArray, weight: FloatArray) -> list[Part]:
    """All terms of a space that can be tested, in the parts that the space itself suggests."""
    own: Callable[[FloatArray, FloatArray], Iterable[Part]] | None = getattr(space, "parts", None)
    parts = [column_part(space, table, 0, space.n_terms)] if own is None else own(table, weight)
    return [part for part in parts if part.n_terms]


def strongest(part: Part, test: ScoreTest, keep: int, n_threads: int = 1) -> Found:
    """Test every term of a part and keep those with the largest statistics."""

    def best_of(block: Block) -> tuple[IntArray, FloatArray]:
        values = np.round(block.statistics(test), DIGITS)
        least = np.partition(values, -keep)[-keep] if values.size > keep else 0.0
        some = np.flatnonzero(values >= max(least, 0.0))
        return part.first + block.ids(some), values[some]

    best = np.empty(0, np.int64), np.empty(0)
    with one_blas_thread(), ThreadPoolExecutor(n_threads) as pool:
        for found in pool.map(best_of, part.blocks()):
            ids, values = (np.concatenate(pair) for pair in zip(best, found, strict=True))
            order = np.lexsort((ids, -values))[:keep]
            best = ids[order], values[order]
    return Found(*best, part.n_terms, part.leans)
