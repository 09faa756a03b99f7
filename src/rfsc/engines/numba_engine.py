"""The default engine: one compiled kernel per support, run over threads in chunks."""

from __future__ import annotations

import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from .._typing import FloatArray
from ..terms import ColumnStore
from .base import Evaluation, Supports, Ties
from .problem import Problem, load_in_parts, slots_of

COMPILE_NOTICE = "rfsc: compiling its kernels for this machine (about ten seconds; kept for later runs)\n"
GRAM_TERMS = 2048  # 32 MiB
NOTICE_AFTER = 1.5  # seconds: loading from the cache is over by then


class NumbaEngine:
    """Fit supports with the kernels of `kernels.py`.

    Parameters
    ----------
    problem : Problem
        What to fit.
    n_threads : int
        Threads to use; the result does not depend on it.
    """

    def __init__(self, problem: Problem, n_threads: int = 1) -> None:
        from . import kernels

        self._kernels = kernels
        self._problem, self._n_threads = problem, n_threads
        self._store: ColumnStore = problem.store()
        self._t_quantiles = problem.t_quantiles()
        self._gram, self._gradient = _derivatives_of_all_terms(problem, self._store)
        self._workspaces = [
            kernels.Workspace.allocate(problem.max_terms, problem.target.size) for _ in range(n_threads)
        ]
        self._compile()

    def evaluate(self, supports: Supports, ties: Ties | None = None) -> Evaluation:
        """Fit, prune and score every support; what a tie holds is not pruned."""
        ties = Ties.none() if ties is None else ties
        out = self._kernels.Output.allocate(len(supports), supports.ids.size)
        for first, last in load_in_parts(self._store, supports):
            slots = np.zeros_like(supports.ids)
            entries = slice(supports.indptr[first], supports.indptr[last])
            slots[entries] = slots_of(self._store, supports.ids[entries])
            self._run(first, last, supports, slots, ties, out)
        return Evaluation.from_kept(
            supports, out.kept, out.coef, out.score, out.log_loss, out.status.astype(np.int8), out.n_newton
        )

    def _run(self, first: int, last: int, supports: Supports, slots, ties, out) -> None:  # type: ignore[no-untyped-def]
        """Share the supports first, ..., last - 1 among the threads; each writes to its own part of `out`."""
        problem = self._problem
        penalty = problem.options.ridge * self._store.variance
        data = self._kernels.Data(
            self._store.columns, penalty, problem.target, problem.weight, self._gram, self._gradient
        )
        common = (supports.indptr, slots, data, self._t_quantiles, int(problem.options.score), ties)
        n_chunks = min(self._n_threads, last - first)
        if n_chunks <= 1:
            self._kernels.evaluate_supports(first, last, *common, self._workspaces[0], out)
            return
        cuts = _balanced_cuts(supports, first, last, n_chunks)
        with ThreadPoolExecutor(n_chunks) as pool:
            tasks = [
                pool.submit(self._kernels.evaluate_supports, a, b, *common, workspace, out)
                for a, b, workspace in zip(cuts[:-1], cuts[1:], self._workspaces, strict=False)
            ]
            for task in tasks:
                task.result()

    def _compile(self) -> None:
        """Compile or load the kernels with a call that has nothing to do; say so when it takes long."""
        notice = threading.Timer(NOTICE_AFTER, lambda: sys.stderr.write(COMPILE_NOTICE))
        notice.daemon = True
        notice.start()
        try:
            nothing = Supports.from_lists([])
            self._run(0, 0, nothing, nothing.ids, Ties.none(), self._kernels.Output.allocate(0, 0))
        finally:
            notice.cancel()


def _derivatives_of_all_terms(problem: Problem, store: ColumnStore) -> tuple[FloatArray, FloatArray]:
    """Hessian and negative gradient of every term at coefficients of zero, where every fit starts.

    Worth its memory where all columns are resident anyway; empty for larger spaces and where few supports will come.
    """
    n_terms = problem.space.n_terms
    if problem.few_supports or n_terms > min(store.capacity, GRAM_TERMS):
        return np.empty((0, 0)), np.empty(0)
    from .kernels import gram_matrix

    store.slots_of(np.arange(n_terms))
    gradient = (store.columns * (problem.weight * problem.target / 2)).sum(axis=1)
    return gram_matrix(store.columns, problem.weight / 4), gradient


def _balanced_cuts(supports: Supports, first: int, last: int, n_chunks: int) -> list[int]:
    """Boundaries of chunks of about equal work, taken as the squared size of the supports."""
    work = np.cumsum(np.square(supports.sizes[first:last] + 2))
    inner = np.searchsorted(work, work[-1] * np.arange(1, n_chunks) / n_chunks) + first
    return [first, *(int(c) for c in inner), last]
