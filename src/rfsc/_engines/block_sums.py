"""What a worker computes of its block for many supports at once: small sums, and never a column as long as the block.

A block is worked on in chunks of rows. Their length is fixed, because the order of the sums must depend on nothing but
the rows: the same support gives the same bits whatever else was asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

from .._terms import TermSpace
from .._terms.columns import ROW_MULTIPLE, aligned
from .._utils.arrays import FloatArray, IntArray
from ..blocks.row_block import Block, RowBlock, together
from .array_engine import leave_one_out, row_derivatives, row_sums
from .base import Criterion, Supports
from .problem import load_in_parts

COARSE_ROWS = 288  # of each chunk, where derivatives are needed roughly only
CHUNK = 16 * COARSE_ROWS  # rows; a column of them takes 36 KiB
MOST_COLUMNS = 1024  # of a chunk at a time: 36 MiB


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """What all requests of an engine have in common.

    Parameters
    ----------
    space : TermSpace
        The candidate terms.
    output, n_classes : int
        Which output of how many classes.
    criterion : Criterion
        How models are scored.
    """

    space: TermSpace
    output: int
    n_classes: int
    criterion: Criterion


class Batch(NamedTuple):
    """Supports and their coefficients, in compressed rows; for scores also the inverse factors of their Hessians."""

    indptr: IntArray
    ids: IntArray
    coef: FloatArray
    inverse: FloatArray  # (n_models, width, width), zero beyond a support's size; empty where no score is asked for

    @property
    def supports(self) -> Supports:
        """Without the coefficients."""
        return Supports(self.indptr, self.ids)


class Request(NamedTuple):
    """What is asked of every block in one pass."""

    coarse: Batch  # derivatives on some rows
    fine: Batch  # derivatives on all rows
    scored: Batch  # sums of the scores


class Sums(NamedTuple):
    """The answer: for every support its gradient and the upper half of its Hessian; loss and hits of both classes."""

    coarse: FloatArray
    fine: FloatArray
    scored: FloatArray  # (n_models, 3)


class Moments(NamedTuple):
    """Summed weight of rows; means of terms, and sums of squares around them."""

    weight: float
    mean: FloatArray
    squares: FloatArray


def n_numbers(sizes: IntArray) -> IntArray:
    """How many numbers the derivatives of supports of these sizes are."""
    return sizes + sizes * (sizes + 1) // 2


def sums_of_block(block: Block, job: Job, request: Request) -> Sums:
    """All that was asked for, of the rows of one block."""
    rows = block.open()
    return Sums(
        _derivatives(_thinned(rows), job, request.coarse) if request.coarse.ids.size else np.empty(0),
        _derivatives(rows, job, request.fine),
        _scores(rows, job, request.scored),
    )


def add_sums(found: Sequence[Sums]) -> Sums:
    """The sums of several blocks, in their order."""
    coarse, fine, scored = found[0]
    for other in found[1:]:
        coarse, fine, scored = coarse + other.coarse, fine + other.fine, scored + other.scored
    return Sums(coarse, fine, scored)


def moments_of_block(block: Block, job: Job, ids: IntArray) -> Moments:
    """Means and variances of some terms over the rows of one block."""
    rows = block.open()
    parts = []
    for first in range(0, ids.size, MOST_COLUMNS):
        some = ids[first : first + MOST_COLUMNS]
        chunks = [_moments(job.space.columns(table, some), weight) for table, _, weight in _chunks(rows, job)]
        parts.append(add_moments(chunks))
    return Moments(
        parts[0].weight, *(np.concatenate([getattr(p, name) for p in parts]) for name in ("mean", "squares"))
    )


def add_moments(found: Sequence[Moments]) -> Moments:
    """Those of several sets of rows together; differences of means are small numbers, and nothing cancels."""
    total = found[0]
    for other in found[1:]:
        weight = total.weight + other.weight
        gap = other.mean - total.mean
        mean = total.mean + gap * (other.weight / weight)
        squares = total.squares + other.squares + gap * gap * (total.weight * other.weight / weight)
        total = Moments(weight, mean, squares)
    return total


def _moments(columns: FloatArray, weight: FloatArray) -> Moments:
    total = float(weight.sum())
    mean = (columns * (weight / total)).sum(axis=1)
    return Moments(total, mean, (np.square(columns - mean[:, None]) * weight).sum(axis=1))


def _chunks(rows: RowBlock, job: Job) -> Iterator[tuple[FloatArray, FloatArray, FloatArray]]:
    """Features, target and weight of every chunk."""
    for first in range(0, rows.weight.size, CHUNK):
        part = slice(first, first + CHUNK)
        some = RowBlock(rows.table[:, part], rows.code[part], rows.weight[part])
        yield np.asarray(some.table), some.target(job.output, job.n_classes), np.asarray(some.weight)


def _thinned(rows: RowBlock) -> RowBlock:
    """The first rows of every chunk."""
    some = [slice(first, first + COARSE_ROWS) for first in range(0, rows.weight.size, CHUNK)]
    return together([RowBlock(rows.table[:, part], rows.code[part], rows.weight[part]) for part in some])


def _derivatives(rows: RowBlock, job: Job, batch: Batch) -> FloatArray:
    """Gradients and Hessians of all supports, one after the other in one vector."""
    begins = np.concatenate(([0], np.cumsum(n_numbers(batch.supports.sizes)))).astype(np.int64)
    out = np.zeros(int(begins[-1]))
    scratch: dict[Any, Any] = {}
    for own, columns, target, weight in _loaded(rows, job, batch):
        add = _compiled().add_derivatives if find_spec("numba") else _add_derivatives
        add(columns, target, weight, own.indptr, own.slots, own.coef, begins[own.first :], out, scratch)
    return out


def _scores(rows: RowBlock, job: Job, batch: Batch) -> FloatArray:
    """Summed loss and hits of all supports."""
    out = np.zeros((len(batch.supports), 3))
    scratch: dict[Any, Any] = {}
    for own, columns, target, weight in _loaded(rows, job, batch):
        inverse, mine = batch.inverse[own.first : own.last], out[own.first : own.last]
        if find_spec("numba"):
            leaves = job.criterion.leaves_one_out
            given = columns, target, weight, own.indptr, own.slots, own.coef
            _compiled().add_scores(*given, inverse, leaves, mine, scratch)
        else:
            _add_scores(job.criterion, columns, target, weight, own, inverse, mine)
    return out


class _Own(NamedTuple):
    """Supports first, ..., last - 1 of a batch, their terms as rows of a table of columns."""

    first: int
    last: int
    indptr: IntArray
    slots: IntArray
    coef: FloatArray


@dataclass(slots=True)
class _Room:
    capacity: int


def _loaded(rows: RowBlock, job: Job, batch: Batch) -> Iterator[tuple[_Own, FloatArray, FloatArray, FloatArray]]:
    """The columns of every chunk for as many supports as there is room for; filled up with rows of weight zero."""
    if not batch.ids.size:
        return
    room = _Room(max(MOST_COLUMNS, int(batch.supports.sizes.max())))
    for first, last in load_in_parts(room, batch.supports):
        entries = slice(batch.indptr[first], batch.indptr[last])
        ids, slots = np.unique(batch.ids[entries], return_inverse=True)
        own = _Own(first, last, batch.indptr[first : last + 1] - batch.indptr[first], slots, batch.coef[entries])
        columns = aligned(0, ROW_MULTIPLE)
        for table, target, weight in _chunks(rows, job):
            n, width = weight.size, -(-weight.size // ROW_MULTIPLE) * ROW_MULTIPLE
            if columns.shape != (ids.size, width):
                columns = aligned(ids.size, width)
            columns[:, :n] = job.space.columns(table, ids)
            yield own, columns, _filled(target, width, 1.0), _filled(weight, width, 0.0)


def _filled(values: FloatArray, width: int, fill: float) -> FloatArray:
    out = aligned(width)
    out[: values.size], out[values.size :] = values, fill
    return out


def _compiled() -> Any:
    from . import block_kernels

    return block_kernels


# ---- the same without a compiler


def _add_derivatives(
    columns: FloatArray,
    target: FloatArray,
    weight: FloatArray,
    indptr: IntArray,
    slots: IntArray,
    coef: FloatArray,
    begins: IntArray,
    out: FloatArray,
    _: Any,
) -> None:
    for s in range(indptr.size - 1):
        own = slice(indptr[s], indptr[s + 1])
        terms = columns[slots[own]][None]
        _, gradient, hessian = row_derivatives(np, terms, target, weight, coef[own][None])
        m = terms.shape[1]
        out[begins[s] : begins[s] + m] += gradient[0]
        out[begins[s] + m : begins[s + 1]] += hessian[0][np.triu_indices(m)]


def _add_scores(
    criterion: Criterion,
    columns: FloatArray,
    target: FloatArray,
    weight: FloatArray,
    own: _Own,
    inverse: FloatArray,
    out: FloatArray,
) -> None:
    for s in range(own.indptr.size - 1):
        entries = slice(own.indptr[s], own.indptr[s + 1])
        terms = columns[own.slots[entries]][None]
        predictor = np.matmul(own.coef[entries][None, None, :], terms)[:, 0, :]
        if criterion.leaves_one_out:
            m = terms.shape[1]
            predictor = leave_one_out(np, terms, inverse[s : s + 1, :m, :m], predictor, target, weight)
        loss, hits = row_sums(np, Criterion.ACCURACY, predictor, target, weight)
        assert hits is not None  # accuracy needs them
        out[s] += [loss[0], hits[0][0], hits[1][0]]
