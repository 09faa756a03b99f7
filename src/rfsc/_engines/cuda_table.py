"""The rows on a device: scaled features, and the columns of terms that only the host can compute.

A term is a product of rows of this table. For a monomial they are its features; the column of any other term is
uploaded when a support first needs it and makes room when others need it more.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from .._terms.polynomial import MonomialSpace
from .._utils.arrays import FloatArray, IntArray
from .base import Supports
from .cuda_device import Array, CudaDevice
from .problem import Problem, load_in_parts
from .stacks import PADDING

COLUMN_BYTES = 2 * 2**30  # columns that were uploaded
BLOCK_BYTES = 64 * 2**20  # terms whose variances are computed together
BATCH = 16  # terms, always as many: a library may sum batches of other sizes in another order
TILE = 32  # the number of rows is padded to a multiple


class DeviceTable:
    """Features, target and weights on a device.

    The rows of `table` are the features, a row of ones, a row of zeros, and uploaded columns; the rows of the data are
    padded with weight zero to `n_rows`.
    """

    def __init__(self, problem: Problem, device: CudaDevice) -> None:
        self._problem, self._device = problem, device
        n_features, n_rows = problem.table.shape
        self.n_rows = -(-n_rows // TILE) * TILE
        self._one, self._zero = n_features, n_features + 1
        is_product = isinstance(problem.space, MonomialSpace)  # every term, of features
        most = max(COLUMN_BYTES // (8 * self.n_rows), problem.max_terms)
        self.capacity = 0 if is_product else int(min(problem.space.n_terms, most))  # of uploaded columns
        self.table = device.empty((n_features + 2 + self.capacity, self.n_rows))
        self.table[:] = 0.0
        self.table[:n_features, :n_rows] = device.put(problem.table)
        self.table[self._one, :n_rows] = 1.0
        padding = self.n_rows - n_rows
        self.target = device.put(np.concatenate([problem.target, np.ones(padding)]))
        self.weight = device.put(np.concatenate([problem.weight, np.zeros(padding)]))
        self.class_weights = problem.class_weights
        self.degree = max(getattr(problem.space, "degree", 1), 1)  # most factors of a term, as far as terms were seen
        self._monomials: dict[int, tuple[int, ...] | None] = {}  # factors of each term; None for other terms
        self._slots: OrderedDict[int, int] = OrderedDict()  # of uploaded columns, those not used for longest first
        self._variance: dict[int, float] = {PADDING: 0.0}

    def parts(self, supports: Supports) -> list[tuple[int, int]]:
        """Ranges of supports whose columns fit into the table together; they are uploaded as their range is fitted."""
        self._learn(supports.ids)
        other = np.array([self._monomials[j] is None for j in supports.ids.tolist()], dtype=np.bool_)
        before = np.concatenate(([0], np.cumsum(other)))
        return load_in_parts(self.capacity, Supports(before[supports.indptr].astype(np.int64), supports.ids[other]))

    def factors(self, ids: IntArray) -> npt.NDArray[np.int32]:
        """Rows of the table whose product each term is, shape (*ids.shape, degree)."""
        distinct, at = np.unique(ids, return_inverse=True)
        known = distinct.tolist()
        self._upload([j for j in known if j != PADDING and self._monomials[j] is None])
        rows = [self._rows_of(j) for j in known]
        self.degree = max(self.degree, *(len(row) for row in rows))
        padded = [(*row, *[self._one] * (self.degree - len(row))) for row in rows]
        return np.array(padded, dtype=np.int32)[at].reshape(*ids.shape, self.degree)

    def variances(self, ids: IntArray) -> FloatArray:
        """Weighted variance of every term, zero for padding."""
        new = np.array([j for j in np.unique(ids).tolist() if j not in self._variance], dtype=np.int64)
        for first in range(0, new.size, BATCH):
            some = new[first : first + BATCH]
            padded = np.concatenate([some, np.full(BATCH - some.size, PADDING)])
            found = self._moments(self.factors(padded))
            self._variance.update(zip(some.tolist(), found.tolist(), strict=False))
        return np.array([self._variance[j] for j in ids.ravel().tolist()]).reshape(ids.shape)

    def _moments(self, factors: npt.NDArray[np.int32]) -> FloatArray:
        """Weighted variances of a batch of terms, in two passes as on the host."""
        mean: Any = 0.0
        for terms, share in self._blocks(factors):
            mean = mean + (terms * share).sum(axis=1)
        variance: Any = 0.0
        for terms, share in self._blocks(factors):
            deviation = terms - mean[:, None]
            variance = variance + (deviation * deviation * share).sum(axis=1)
        return self._device.get(variance)

    def _blocks(self, factors: npt.NDArray[np.int32]) -> Iterator[tuple[Array, Array]]:
        """Values of a batch of terms on one block of rows after the other, and the rows' shares of the weight."""
        index = [self._device.put(factors[:, d].astype(np.int64)) for d in range(factors.shape[1])]
        step = max(TILE, BLOCK_BYTES // (8 * BATCH))
        for first in range(0, self.n_rows, step):
            rows = slice(first, min(first + step, self.n_rows))
            terms = self.table[:, rows][index[0]]
            for one in index[1:]:
                terms = terms * self.table[:, rows][one]
            yield terms, self.weight[rows] / self.class_weights[0]

    def _learn(self, ids: IntArray) -> None:
        """Find out what terms are made of."""
        new = np.array([j for j in np.unique(ids).tolist() if j not in self._monomials], dtype=np.int64)
        for j, term in zip(new.tolist(), self._problem.space.terms(new), strict=True):
            self._monomials[j] = term.factors

    def _rows_of(self, j: int) -> tuple[int, ...]:
        if j == PADDING:
            return (self._zero,)
        factors = self._monomials[j]
        if factors is None:
            return (self._slots[j],)
        return factors or (self._one,)

    def _upload(self, ids: list[int]) -> None:
        """Make the columns of other terms resident; at most `capacity` of them at a time."""
        for j in ids:
            if j in self._slots:
                self._slots.move_to_end(j)
        missing = [j for j in ids if j not in self._slots]
        if not missing:
            return
        columns = self._problem.space.columns(self._problem.table, np.array(missing, dtype=np.int64))
        for j, column in zip(missing, columns, strict=True):
            taken = len(self._slots)
            slot = self._zero + 1 + taken if taken < self.capacity else self._slots.popitem(last=False)[1]
            self._slots[j] = slot
            self.table[slot, : column.size] = self._device.put(column)
