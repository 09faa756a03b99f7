"""The data that every support of one output shares, and its columns, computed on demand under a memory budget."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, replace

import numpy as np
from scipy import stats

from .._terms import TermSpace
from .._utils.arrays import FloatArray, IntArray
from .base import FitOptions, Supports

BUDGET = 256 * 2**20  # bytes
AT_A_TIME = 8 * 2**20  # bytes of columns that are computed together: scratch memory is a few times that
CACHE_LINE = 8  # in numbers of 8 bytes
ROW_MULTIPLE = 4 * CACHE_LINE  # columns are filled up with zeros to whole multiples, so that vector loops come out even


@dataclass(frozen=True, slots=True)
class Problem:
    """One output of a classification problem, ready for an engine."""

    space: TermSpace
    table: FloatArray  # (n_features, n_rows): scaled features
    target: FloatArray  # (n_rows,): -1 or +1
    weight: FloatArray  # (n_rows,): observations that each row stands for, positive
    options: FitOptions
    max_terms: int  # of the largest support that will be asked for
    few_supports: bool = False  # so few will be asked for that nothing should be computed ahead for all terms

    def take(self, rows: IntArray) -> Problem:
        """Some of the rows, for a few supports; the weight of a row stays what it is."""
        table = np.take(self.table, rows, axis=1)
        return replace(self, table=table, target=self.target[rows], weight=self.weight[rows], few_supports=True)

    @property
    def class_weights(self) -> tuple[float, float]:
        """Summed weights of all rows, and of those of the upper class."""
        return float(np.sum(self.weight)), float(np.sum(np.where(self.target > 0.0, self.weight, 0.0)))

    def store(self) -> ColumnStore:
        """An empty store for the columns of this problem."""
        return ColumnStore(self.space, self.table, self.weight, max_terms=self.max_terms)

    def t_quantiles(self) -> FloatArray:
        """Threshold on abs(t) for supports of 0, 1, ..., max_terms terms."""
        freedom = np.maximum(float(self.weight.sum()) - np.arange(self.max_terms + 1), 1.0)
        return np.asarray(stats.t.isf(self.options.significance, freedom), dtype=np.float64)


def load_in_parts(capacity: int, supports: Supports) -> list[tuple[int, int]]:
    """Cut a batch into ranges (first, last) whose distinct terms fit into a store together."""
    if np.unique(supports.ids).size <= capacity:
        return [(0, len(supports))]
    ranges, first, seen = [], 0, set[int]()
    for m in range(len(supports)):
        terms = set(supports[m].tolist())
        if len(seen | terms) > capacity:
            ranges.append((first, m))
            first, seen = m, set()
        seen |= terms
    return [*ranges, (first, len(supports))]


def slots_of(store: ColumnStore, ids: IntArray) -> IntArray:
    """Slots of term ids that may repeat."""
    distinct, at = np.unique(ids, return_inverse=True)
    return store.slots_of(distinct)[at]


def aligned(*shape: int) -> FloatArray:
    """Zeros whose rows begin at whole cache lines; vector loads that straddle two lines cost double."""
    rows, width = math.prod(shape[:-1]), -(-shape[-1] // CACHE_LINE) * CACHE_LINE
    memory = np.zeros(rows * width + CACHE_LINE)
    skip = -(memory.ctypes.data // 8) % CACHE_LINE
    return memory[skip : skip + rows * width].reshape(*shape[:-1], width)


class ColumnStore:
    """A bounded table of term columns; the columns that were not used for longest make room for new ones.

    It always holds at least `max_terms` columns, and as many more as fit into `budget` bytes. `padded` are the resident
    columns, filled up with zeros, `columns` the same without the zeros; `slots_of` says where each term is. `variance`
    is weighted.
    """

    def __init__(
        self, space: TermSpace, table: FloatArray, weight: FloatArray, *, max_terms: int, budget: int = BUDGET
    ) -> None:
        self._space, self._table = space, table
        self._share = weight / weight.sum()
        n_rows = table.shape[1]
        self.capacity = int(min(space.n_terms, max(budget // (8 * n_rows), max_terms)))
        _check_memory(self.capacity, n_rows, max_terms)
        self.padded = aligned(self.capacity, -(-n_rows // ROW_MULTIPLE) * ROW_MULTIPLE)
        self.columns = self.padded[:, :n_rows]
        self.variance = np.zeros(self.capacity)  # engines read all of it, resident or not
        self._slot_of: dict[int, int] = {}
        self._id_in = np.full(self.capacity, -1, dtype=np.int64)
        self._last_use = np.zeros(self.capacity, dtype=np.int64)
        self._clock = 0

    def slots_of(self, ids: IntArray) -> IntArray:
        """Slots of the distinct terms `ids` (at most `capacity`), after computing the columns that are missing."""
        self._clock += 1
        slots = np.array([self._slot_of.get(j, -1) for j in ids.tolist()], dtype=np.int64)
        self._last_use[slots[slots >= 0]] = self._clock
        missing = np.flatnonzero(slots < 0)
        if missing.size:
            slots[missing] = self._load(ids[missing])
        return slots

    def _load(self, ids: IntArray) -> IntArray:
        """Compute the columns of `ids` into the slots that were used least recently."""
        slots = np.argsort(self._last_use, kind="stable")[: ids.size]
        step = max(AT_A_TIME // (8 * self._table.shape[1]), 1)
        for first in range(0, ids.size, step):
            part = slice(first, first + step)
            columns = self._space.columns(self._table, ids[part])
            # row by row: a matrix product would round a column differently beside other columns
            mean = (columns * self._share).sum(axis=1)
            self.columns[slots[part]] = columns
            self.variance[slots[part]] = (np.square(columns - mean[:, None]) * self._share).sum(axis=1)
        for slot, old, new in zip(slots.tolist(), self._id_in[slots].tolist(), ids.tolist(), strict=True):
            self._slot_of.pop(old, None)
            self._slot_of[new] = slot
        self._id_in[slots] = ids
        self._last_use[slots] = self._clock
        return slots


def _check_memory(capacity: int, n_rows: int, max_terms: int) -> None:
    """Refuse early, with advice, what the machine cannot hold."""
    need = 8.0 * capacity * n_rows
    have = float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")) if hasattr(os, "sysconf") else np.inf
    if need > 0.8 * have:
        msg = (
            f"one model of max_terms={max_terms} terms over {n_rows:,} rows needs {need / 2**30:.1f} GiB of columns, "
            f"this machine has {have / 2**30:.1f} GiB. Lower max_terms or fit on fewer rows."
        )
        raise MemoryError(msg)
