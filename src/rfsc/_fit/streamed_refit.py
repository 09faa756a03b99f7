"""Fits of a few models to all rows of a large table: the steps of `refit` in memory, one pass over the rows each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import block_diag

from .._model.inference import AT_A_TIME, WaldFit, joined_roots, predictor_and_gradient, refit_by, root_of_hessian
from .._terms import TermSpace
from .._terms.scaling import Scaling
from .._utils.arrays import FloatArray, IntArray
from .._utils.compat import safe_indexing
from .large_tables import Encoding, LargeTable


class StreamedFit(NamedTuple):
    """A model fitted to all rows."""

    fit: WaldFit
    log_loss: float  # expected on new rows


def streamed_refit(
    table: LargeTable,
    space: TermSpace,
    candidates: Sequence[tuple[IntArray, FloatArray]],
    output: int,
    ridge: float,
) -> list[StreamedFit]:
    """Fit candidates (ids, coef) of one output to all rows, starting from their coefficients.

    All are fitted as one problem whose Hessian has a block for each: its Newton steps are theirs, and every step is
    one pass over the rows. The log-loss is the mean over all rows plus what leaving out each observation would add, to
    first order the number of coefficients (less what the ridge takes away) over the number of observations. By the
    mean alone, a candidate would always beat those that it contains.
    """
    ids, places = np.unique(np.concatenate([ids for ids, _ in candidates]), return_inverse=True)
    ends = np.cumsum([0, *(own.size for own, _ in candidates)])
    cuts = [slice(first, last) for first, last in pairwise(ends.tolist())]
    positive = 1 if table.classes.size == 2 else output
    job = _Job(table.encoding, table.scaling, space, ids, positive, tuple(places[cut] for cut in cuts))
    penalty = (ridge * _variances(table, job))[places]
    latest: list[_Sums] = []

    def derive(coef: FloatArray) -> tuple[FloatArray, Callable[[], FloatArray]]:
        latest[:] = table.total(_sums_of_chunk, _added, replace(job, coefs=tuple(coef[cut] for cut in cuts)))
        roots = [joined_roots([np.diag(np.sqrt(penalty[c])), s.root]) for c, s in zip(cuts, latest, strict=True)]
        return np.concatenate([s.gradient for s in latest]), lambda: block_diag(*roots)

    fit = refit_by(derive, penalty, np.concatenate([coef for _, coef in candidates]))
    freedom = 1.0 - penalty * np.square(fit.standard_error)
    return [
        StreamedFit(
            WaldFit(fit.coef[cut], fit.standard_error[cut]),
            float((sums.loss + freedom[cut].sum()) / table.n_observations),
        )
        for cut, sums in zip(cuts, latest, strict=True)
    ]


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
    ids: IntArray  # terms of all candidates, distinct
    positive: int  # code of the class whose target is +1
    places: tuple[IntArray, ...]  # for each candidate, where its terms are among the ids
    coefs: tuple[FloatArray, ...] = ()

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


class _Sums(NamedTuple):
    """Sums over rows for one candidate, without the penalty."""

    gradient: FloatArray  # negative
    root: FloatArray  # R with R'R = Hessian
    loss: float


def _root_of_chunk(X: Any, y: Any, weight: Any, job: _Job) -> FloatArray:
    """R with R'R = Z'Z, where the rows of Z are those of (1, terms) times the root of their weight."""
    root = np.empty((0, job.ids.size + 1))
    for columns, _, own in job.blocks(X, y, weight):
        root = joined_roots([root, (np.vstack([np.ones(own.size), columns]) * np.sqrt(own)).T])
    return root


def _sums_of_chunk(X: Any, y: Any, weight: Any, job: _Job) -> list[_Sums]:
    found = [_Sums(np.zeros(coef.size), np.empty((0, coef.size)), 0.0) for coef in job.coefs]
    for columns, target, own in job.blocks(X, y, weight):
        for k, (place, coef, so_far) in enumerate(zip(job.places, job.coefs, found, strict=True)):
            terms = columns[place]
            f, gradient = predictor_and_gradient(terms, target, own, coef)
            root = root_of_hessian(f, terms, own, so_far.root)
            loss = float((own * np.logaddexp(0.0, -target * f)).sum())
            found[k] = _Sums(so_far.gradient + gradient, root, so_far.loss + loss)
    return found


def _added(found: Sequence[list[_Sums]]) -> list[_Sums]:
    return [
        _Sums(np.sum([s.gradient for s in own], axis=0), joined_roots([s.root for s in own]), sum(s.loss for s in own))
        for own in zip(*found, strict=True)
    ]
