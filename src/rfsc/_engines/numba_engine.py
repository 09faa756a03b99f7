"""The default engine: one compiled kernel per support, run over threads in chunks."""

from __future__ import annotations

import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np

from .._utils.arrays import FloatArray, IntArray
from .base import Evaluation, Supports, Ties
from .problem import ColumnStore, Problem, aligned, load_in_parts, slots_of

if TYPE_CHECKING:
    from .kernels import Output

COMPILE_NOTICE = "rfsc: compiling its kernels for this machine (about ten seconds; kept for later runs)\n"
GRAM_TERMS = 512  # beyond, a search fits too few models to gain what the matrix costs
NOTICE_AFTER = 1.5  # seconds: loading from the cache is over by then


class NumbaEngine:
    """Fit supports with the kernels of `kernels.py`; the result does not depend on the number of threads."""

    def __init__(self, problem: Problem, n_threads: int = 1) -> None:
        from . import kernels

        self._kernels = kernels
        self._problem, self._n_threads = problem, n_threads
        self._store: ColumnStore = problem.store()
        self._t_quantiles = problem.t_quantiles()
        self._gram, self._gradient = _derivatives_of_all_terms(problem, self._store)
        width = self._store.padded.shape[1]
        upper, lower = (float(problem.weight[problem.target == side].sum()) for side in (1.0, -1.0))
        self._rows = (_padded(problem.target, width, 1.0), _padded(problem.weight, width, 0.0), upper, lower)
        self._workspaces = [kernels.Workspace.allocate(problem.max_terms, width) for _ in range(n_threads)]
        self._pool = ThreadPoolExecutor(n_threads)  # starts a thread when it first needs one
        self._compile()

    def evaluate(self, supports: Supports, ties: Ties | None = None) -> Evaluation:
        if supports.sizes.max(initial=0) > self._problem.max_terms:  # the kernels would write beyond their workspace
            msg = f"supports of at most {self._problem.max_terms} terms were announced, got {supports.sizes.max()}."
            raise ValueError(msg)
        ties = Ties.none() if ties is None else ties
        out = self._kernels.Output.allocate(len(supports), supports.ids.size)
        if self._gram.size:  # every column is resident, in the order of the ids
            self._run(0, len(supports), supports, supports.ids, ties, out)
        else:
            for first, last in load_in_parts(self._store.capacity, supports):
                slots = np.zeros_like(supports.ids)
                entries = slice(supports.indptr[first], supports.indptr[last])
                slots[entries] = slots_of(self._store, supports.ids[entries])
                self._run(first, last, supports, slots, ties, out)
        return Evaluation.from_kept(
            supports, out.kept, out.coef, out.score, out.log_loss, out.status.astype(np.int8), out.n_newton
        )

    def _run(self, first: int, last: int, supports: Supports, slots: IntArray, ties: Ties, out: Output) -> None:
        """Evaluate the supports first, ..., last - 1; each thread takes the next one as soon as it is free."""
        options = self._problem.options
        penalty = options.ridge * self._store.variance
        data = self._kernels.Data(self._store.padded, penalty, *self._rows, self._gram, self._gradient)
        turn = np.array([first], dtype=np.int64)
        common = (turn, last, supports.indptr, slots, data, self._t_quantiles, int(options.criterion), ties)
        own, *others = self._workspaces[: max(1, last - first)]
        work = self._kernels.evaluate_supports
        tasks = [self._pool.submit(work, *common, workspace, out) for workspace in others]
        work(*common, own, out)
        for task in tasks:
            task.result()

    def _compile(self) -> None:
        """Compile or load the kernels with a call that has nothing to do; say so when it takes long."""
        if self._kernels.evaluate_supports.signatures:
            return
        notice = threading.Timer(NOTICE_AFTER, lambda: sys.stderr.write(COMPILE_NOTICE))
        notice.daemon = True
        notice.start()
        try:
            nothing = Supports.from_lists([])
            self._run(0, 0, nothing, nothing.ids, Ties.none(), self._kernels.Output.allocate(0, 0))
        finally:
            notice.cancel()


def _padded(values: FloatArray, width: int, fill: float) -> FloatArray:
    """The values of the rows, and a filling for the zeros that follow in the columns."""
    out = aligned(width)
    out[: values.size], out[values.size :] = values, fill
    return out


def _derivatives_of_all_terms(problem: Problem, store: ColumnStore) -> tuple[FloatArray, FloatArray]:
    """Hessian and negative gradient of every term at coefficients of zero, where every fit starts.

    Worth its memory if all columns are resident anyway; empty for larger spaces, or if few supports will come.
    """
    from .kernels import gram_matrix

    n_terms = problem.space.n_terms
    if problem.few_supports or n_terms > min(store.capacity, GRAM_TERMS):
        return np.empty((0, 0)), np.empty(0)
    store.slots_of(np.arange(n_terms))
    gradient = (store.columns * (problem.weight * problem.target / 2)).sum(axis=1)
    return gram_matrix(store.padded, _padded(problem.weight / 4, store.padded.shape[1], 0.0)), gradient
