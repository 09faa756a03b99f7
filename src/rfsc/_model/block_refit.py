"""The final fit where the rows are held in blocks: the same steps, from sums and roots that the blocks send."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from .._engines.block_problem import BlockProblem
from .._engines.dask_engine import DaskEngine
from .._terms import TermSpace
from .._utils.arrays import FloatArray, IntArray
from ..blocks.row_block import Block, RowBlock
from .inference import AT_A_TIME, WaldFit, joined_roots, predictor_and_gradient, refit_by, root_of_hessian


@dataclass(frozen=True, slots=True, eq=False)
class _Model:
    """What a block must know."""

    space: TermSpace
    ids: IntArray
    output: int
    n_classes: int


def refit_blocks(problem: BlockProblem, ids: IntArray, coef: FloatArray) -> WaldFit:
    """Minimise the penalised loss of all rows over the terms `ids`, starting from `coef`."""
    blocks = problem.blocks
    penalty = DaskEngine(problem).penalties(ids)
    if not ids.size:
        return WaldFit(coef, np.empty(0))
    model = blocks.share(_Model(problem.space, ids, problem.output, blocks.n_classes))

    def derive(coef: FloatArray) -> tuple[FloatArray, Callable[[], FloatArray]]:
        def root() -> FloatArray:
            return joined_roots([np.diag(np.sqrt(penalty)), blocks.total(_root, model, coef, joined_roots)])

        return blocks.total(_gradient, model, coef, _sum), root

    return refit_by(derive, penalty, coef)


def _gradient(block: Block, model: _Model, coef: FloatArray) -> FloatArray:
    return _sum([predictor_and_gradient(*chunk, coef)[1] for chunk in _chunks(block.open(), model)])


def _root(block: Block, model: _Model, coef: FloatArray) -> FloatArray:
    root = np.empty((0, coef.size))
    for columns, target, weight in _chunks(block.open(), model):
        f, _ = predictor_and_gradient(columns, target, weight, coef)
        root = root_of_hessian(f, columns, weight, root)
    return root


def _sum(gradients: Sequence[FloatArray]) -> FloatArray:
    return np.asarray(np.sum(gradients, axis=0))


def _chunks(rows: RowBlock, model: _Model) -> Iterator[tuple[FloatArray, FloatArray, FloatArray]]:
    """Terms, target and weight, a few rows at a time."""
    for first in range(0, rows.weight.size, AT_A_TIME):
        part = slice(first, first + AT_A_TIME)
        some = RowBlock(np.asarray(rows.table[:, part]), rows.code[part], np.asarray(rows.weight[part]))
        yield model.space.columns(some.table, model.ids), some.target(model.output, model.n_classes), some.weight
