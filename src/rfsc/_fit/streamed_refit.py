"""The fit of a model to all rows of a large table: the steps of `refit` in memory, one pass over the rows each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._model.inference import AT_A_TIME, WaldFit, joined_roots, predictor_and_gradient, refit_by, root_of_hessian
from .._terms import TermSpace
from .._terms.scaling import Scaling
from .._utils.arrays import FloatArray, IntArray
from .._utils.compat import safe_indexing
from .large_tables import Encoding, LargeTable

Sums = tuple[FloatArray, FloatArray]  # negative gradient, and R with R'R = Hessian; without the penalty


def streamed_refit(
    table: LargeTable, space: TermSpace, ids: IntArray, coef: FloatArray, output: int, ridge: float
) -> WaldFit:
    """Fit a model of one output to all rows, starting from its coefficients; every step is one pass over the rows."""
    job = _Job(table.encoding, table.scaling, space, ids, 1 if table.classes.size == 2 else output)
    penalty = ridge * _variances(table, job)

    def derive(coef: FloatArray) -> tuple[FloatArray, Callable[[], FloatArray]]:
        gradient, root = table.total(_sums_of_chunk, _added, replace(job, coef=coef))
        return gradient, lambda: joined_roots([np.diag(np.sqrt(penalty)), root])

    return refit_by(derive, penalty, coef)


def _variances(table: LargeTable, job: _Job) -> FloatArray:
    """Weighted variances of the terms over all rows."""
    root = table.total(_root_of_chunk, joined_roots, job)
    # of columns beside a constant one: what is left without the first row and column belongs to the centred columns
    return np.asarray(np.square(root[1:, 1:]).sum(axis=0) / table.n_observations)


@dataclass(frozen=True, slots=True, eq=False)
class _Job:
    """What every chunk must know."""

    encoding: Encoding
    scaling: Scaling
    space: TermSpace
    ids: IntArray
    positive: int  # code of the class whose target is +1
    coef: FloatArray | None = None

    def blocks(self, X: Any, y: Any, weight: Any) -> Iterator[tuple[FloatArray, FloatArray, FloatArray]]:
        """Columns of the terms, target and weight, some rows at a time: a chunk is never copied as a whole."""
        code, weight = self.encoding.codes(y, weight)
        for first in range(0, code.size, AT_A_TIME):
            part = slice(first, first + AT_A_TIME)
            used = code[part] >= 0
            if used.any():
                rows = np.asarray(safe_indexing(X, part), dtype=np.float64)[used]
                target = np.where(code[part][used] == self.positive, 1.0, -1.0)
                yield self.space.columns(self.scaling.table(rows), self.ids), target, weight[part][used]


def _root_of_chunk(X: Any, y: Any, weight: Any, job: _Job) -> FloatArray:
    """R with R'R = Z'Z, where the rows of Z are those of (1, terms) times the root of their weight."""
    root = np.empty((0, job.ids.size + 1))
    for columns, _, own in job.blocks(X, y, weight):
        root = joined_roots([root, (np.vstack([np.ones(own.size), columns]) * np.sqrt(own)).T])
    return root


def _sums_of_chunk(X: Any, y: Any, weight: Any, job: _Job) -> Sums:
    coef = np.zeros(job.ids.size) if job.coef is None else job.coef
    total, root = np.zeros(coef.size), np.empty((0, coef.size))
    for columns, target, own in job.blocks(X, y, weight):
        f, gradient = predictor_and_gradient(columns, target, own, coef)
        total, root = total + gradient, root_of_hessian(f, columns, own, root)
    return total, root


def _added(found: Sequence[Sums]) -> Sums:
    return np.sum([gradient for gradient, _ in found], axis=0), joined_roots([root for _, root in found])
