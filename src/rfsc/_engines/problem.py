"""The data that every support of one output shares."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from .._terms import ColumnStore, TermSpace
from .._utils.arrays import FloatArray, IntArray
from .base import FitOptions, Supports


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
    def n_rows(self) -> int:
        """How many rows there are."""
        return self.target.size

    def store(self) -> ColumnStore:
        """An empty store for the columns of this problem."""
        return ColumnStore(self.space, self.table, self.weight, max_terms=self.max_terms)

    def t_quantiles(self) -> FloatArray:
        """Threshold on abs(t) by size of the support."""
        return self.options.t_quantiles(float(self.weight.sum()), self.max_terms)


class LimitedStore(Protocol):
    """Whatever holds a limited number of columns."""

    capacity: int


def load_in_parts(store: LimitedStore, supports: Supports) -> list[tuple[int, int]]:
    """Cut a batch into ranges (first, last) whose distinct terms fit into the store together."""
    if np.unique(supports.ids).size <= store.capacity:
        return [(0, len(supports))]
    ranges, first, seen = [], 0, set[int]()
    for m in range(len(supports)):
        terms = set(supports[m].tolist())
        if len(seen | terms) > store.capacity:
            ranges.append((first, m))
            first, seen = m, set()
        seen |= terms
    return [*ranges, (first, len(supports))]


def slots_of(store: ColumnStore, ids: IntArray) -> IntArray:
    """Slots of term ids that may repeat."""
    distinct, at = np.unique(ids, return_inverse=True)
    return store.slots_of(distinct)[at]
