"""Rows on many machines: workers hold blocks of rows and send small sums, this process takes the Newton steps.

Every support is fitted by a coroutine that says what it needs next. All coroutines move in step: what they need is
asked for in one pass over the rows, so a whole population costs as many messages as a single support.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from .._utils.arrays import FloatArray, IntArray
from .._utils.blas import one_blas_thread
from .base import Evaluation, Supports, Ties, empty_model_score
from .block_fit import COARSE, FINE, SCORED, Ask, Coroutine, Fitted, fit_support
from .block_problem import BlockProblem
from .block_sums import Batch, Job, Request, add_moments, add_sums, moments_of_block, n_numbers, sums_of_block
from .stacks import ClassWeights, score_of_sums

COARSE_FROM = 2**14  # rows, from which a fit begins on part of them


class DaskEngine:
    """Fit supports over rows that are held in blocks.

    Parameters
    ----------
    problem : BlockProblem
        What to fit.
    """

    prefers_whole = True

    def __init__(self, problem: BlockProblem) -> None:
        blocks = problem.blocks
        self._problem, self._blocks = problem, blocks
        self._t_quantiles = problem.t_quantiles()
        self._job = blocks.share(Job(problem.space, problem.output, blocks.n_classes, problem.options.criterion))
        upper = float(blocks.class_weights[1 if blocks.n_classes == 2 else problem.output])
        self._class_weights = ClassWeights(blocks.n_observations, upper)
        self._variance: dict[int, float] = {}
        self._begins_coarse = blocks.n_rows >= COARSE_FROM

    def evaluate(self, supports: Supports, ties: Ties | None = None) -> Evaluation:
        """Fit, prune and score every support; what a tie holds is not pruned."""
        if supports.sizes.max(initial=0) >= self._t_quantiles.size:
            most = self._t_quantiles.size - 1
            msg = f"supports of at most {most} terms were announced, got {supports.sizes.max()}."
            raise ValueError(msg)
        # more BLAS threads would only change the rounding; a vanishing column may have an infinite variance
        with one_blas_thread(), np.errstate(over="ignore"):
            return self._evaluation(supports, self._fit_all(supports, ties))

    def penalties(self, ids: IntArray) -> FloatArray:
        """Ridge of the coefficients of distinct terms."""
        new = np.array([j for j in ids.tolist() if j not in self._variance], dtype=np.int64)
        if new.size:
            found = self._blocks.total(moments_of_block, self._job, new, add_moments)
            self._variance.update(zip(new.tolist(), (found.squares / found.weight).tolist(), strict=True))
        variance = np.array([self._variance[j] for j in ids.tolist()], dtype=np.float64)
        return self._problem.options.ridge * variance

    def _fit_all(self, supports: Supports, ties: Ties | None) -> list[Fitted]:
        """Run the coroutines of all supports in step."""
        distinct, at = np.unique(supports.ids, return_inverse=True)
        penalty = self.penalties(distinct)[at]
        running: dict[int, Coroutine] = {}
        for m, (first, last) in enumerate(pairwise(supports.indptr.tolist())):
            own = supports.ids[first:last], penalty[first:last]
            running[m] = fit_support(*own, self._t_quantiles, first, ties, self._begins_coarse)
        fitted: dict[int, Fitted] = {}
        answers: dict[int, FloatArray | None] = dict.fromkeys(running)
        while True:
            asked: dict[int, Ask] = {}
            for m, answer in answers.items():
                try:
                    asked[m] = running[m].send(answer)  # type: ignore[arg-type]  # None begins a coroutine
                except StopIteration as end:
                    fitted[m] = end.value
            if not asked:
                return [fitted[m] for m in range(len(supports))]
            answers = self._answer(asked)

    def _answer(self, asked: dict[int, Ask]) -> dict[int, FloatArray | None]:
        """One pass over all rows for all that was asked."""
        of_kind = {kind: [m for m, ask in asked.items() if ask.kind == kind] for kind in (COARSE, FINE, SCORED)}
        request = Request(*(_batch([asked[m] for m in some]) for some in of_kind.values()))
        sums = self._blocks.total(sums_of_block, self._job, request, add_sums)
        answers: dict[int, FloatArray | None] = {}
        for kind, numbers in ((COARSE, sums.coarse), (FINE, sums.fine)):
            sizes = np.array([asked[m].ids.size for m in of_kind[kind]], dtype=np.int64)
            parts = np.split(numbers, np.cumsum(n_numbers(sizes))[:-1]) if sizes.size else []
            answers.update(zip(of_kind[kind], parts, strict=True))
        answers.update(zip(of_kind[SCORED], sums.scored, strict=True))
        return answers

    def _evaluation(self, supports: Supports, fitted: Sequence[Fitted]) -> Evaluation:
        criterion = self._problem.options.criterion
        kept, coef = np.zeros(supports.ids.size, dtype=np.bool_), np.zeros(supports.ids.size)
        scores, losses = np.full(len(fitted), empty_model_score(criterion)), np.full(len(fitted), np.log(2.0))
        for first, fit in zip(supports.indptr[:-1].tolist(), fitted, strict=True):
            kept[first + fit.kept], coef[first + fit.kept] = True, fit.coef
        done = [m for m, fit in enumerate(fitted) if fit.sums is not None]
        if done:
            loss, upper, lower = np.stack([fit.sums for fit in fitted if fit.sums is not None]).T
            hits = (upper, lower) if criterion.name.endswith(("ACCURACY", "KAPPA")) else None
            scores[done], losses[done] = score_of_sums(criterion, loss, hits, self._class_weights)
        status = np.array([fit.status for fit in fitted], dtype=np.int8)
        steps = np.array([fit.steps for fit in fitted], dtype=np.int64)
        return Evaluation.from_kept(supports, kept, coef, scores, losses, status, steps)


def _batch(asks: Sequence[Ask]) -> Batch:
    """What several supports ask for, packed."""
    sizes = [ask.ids.size for ask in asks]
    indptr = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    ids = np.concatenate([np.empty(0, np.int64), *(ask.ids for ask in asks)])
    coef = np.concatenate([np.empty(0), *(ask.coef for ask in asks)])
    width = max(sizes, default=0)
    scored = [ask.inverse for ask in asks if ask.inverse is not None]
    inverse = np.zeros((len(scored), width, width))
    for table, own in zip(inverse, scored, strict=True):
        table[: len(own), : len(own)] = own
    return Batch(indptr, ids, coef, inverse)
