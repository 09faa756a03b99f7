"""From score tests of all terms to the RIPs with which a search begins.

The evidence for a term is the number of terms, of as many as were tested with it, that would look as good by chance
alone: its p-value times their number. Under pure noise the best term has about 1, the k-th best about k; a term that
matters has far less than 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from scipy.special import ndtr

from .._engines.base import Engine, Supports
from .._engines.problem import Problem
from .._terms.requirements import Requirements
from .._terms.score_tests import Found, Part, ScoreTest, strongest
from .._utils.arrays import FloatArray, IntArray
from .history import Candidate
from .loop import first_rips
from .rips import RIPs, admit

KEPT_TERMS = 200  # terms of a part that may get a RIP of their own
HIGHEST = 0.4  # RIP of a term that stands out; it takes evidence from models to get beyond the cutoff
STANDS_OUT = 0.01  # number by chance at which a term gets half of that; it falls with the square, because a search
# takes in whatever it is offered: the best of millions of irrelevant terms fit the training rows well
CROWD = 10.0  # rank at which a term gets no more than half, however much it stands out
REST = 0.01  # expected number of all other terms in a model: they were tested too
MOST_WORK = 1e11  # rows x pairs of features; about 30 seconds on one core, and as long for each fold of "auto"
WORK_PER_SECOND = 1e9  # a third of that: a time limit must hold on slower machines too
ROWS_MORE = 200  # what a pair costs whatever the number of rows


class Screening:
    """Score tests of the terms of one output, shared by its restarts; only the rows of `problem` are looked at."""

    def __init__(
        self,
        problem: Problem,
        max_terms: int,
        requirements: Requirements | None,
        n_threads: int,
        seconds: float = np.inf,
    ) -> None:
        self._problem, self._max_terms = problem, max_terms
        self._requirements, self._n_threads = requirements, n_threads
        self._most_work = min(MOST_WORK, seconds * WORK_PER_SECOND)  # a cautious guess of what the time allows

    @cached_property
    def _split(self) -> tuple[list[Part], list[Part]]:
        """The parts to test and those to leave out; searches that begin uniform never ask, and may copy no table."""
        problem = self._problem
        parts = problem.space.parts(problem.table, problem.weight)
        return affordable([part for part in parts if part.n_terms], problem.target.size, self._most_work)

    @property
    def n_tested(self) -> int:
        """How many terms can be tested."""
        return sum(part.n_terms for part in self._split[0])

    @property
    def is_complete(self) -> bool:
        """Whether no term would cost too much to test."""
        return not self._split[1]

    def first_rips(self, constant: int, engine: Engine) -> RIPs:
        """RIPs that follow the evidence against the model of the constant alone; all other terms share a small one.

        The terms that stand out are then fitted together, and those that stand out from what this model leaves
        unexplained are raised too: the stronger effects hide the weaker ones.
        """
        room = self._max_terms
        ids, values = self._rated(ScoreTest.of_model(self._problem.target, self._problem.weight))
        ids, values = _highest_of(np.append(ids, constant), np.append(values, HIGHEST))
        best_first = ids[np.argsort(-values, kind="stable")][: min(np.count_nonzero(values >= HIGHEST / 2), room)]
        together = admit(Supports.from_lists([best_first]), self._requirements, room)
        hidden, more = self.beside(Candidate.best_of(engine.evaluate(together)))
        ids, values = _highest_of(np.concatenate([ids, hidden]), np.concatenate([values, more]))
        others = first_rips(self._problem.space.n_terms, self._requirements, REST, REST)
        return others.raised(*self._admissible(ids, values))

    def beside(self, best: Candidate) -> tuple[IntArray, FloatArray]:
        """Terms that stand out from what a model leaves unexplained, and the RIPs that they deserve."""
        return self._admissible(*self._rated(self._left_by(best), only_standing_out=True))

    def strongest(self, best: Candidate) -> IntArray:
        """Terms that explain most of what a model leaves unexplained, whether they stand out or not; best first."""
        ids, values = self._rated(self._left_by(best))
        return ids[np.argsort(-values, kind="stable")]

    def _left_by(self, best: Candidate) -> ScoreTest:
        problem = self._problem
        predictor = np.einsum("j,jk->k", best.coef, problem.space.columns(problem.table, best.ids))
        return ScoreTest.of_model(problem.target, problem.weight, predictor)

    def _rated(self, test: ScoreTest, *, only_standing_out: bool = False) -> tuple[IntArray, FloatArray]:
        """The best terms, and those that they need to show what they are; and their RIPs."""
        found = [strongest(part, test, KEPT_TERMS, self._n_threads) for part in self._split[0]]
        ids, values = self._allowed(*rated(found, only_standing_out=only_standing_out))
        leaning = np.isin(ids, np.concatenate([np.empty(0, np.int64), *(f.ids for f in found if f.leans)]))
        parents = self._problem.space.parents(ids[leaning])
        above = np.array([k for own in parents for k in own], dtype=np.int64)
        above_values = np.repeat(values[leaning], [len(own) for own in parents])
        every = np.concatenate([ids, above])
        if self._requirements is not None:
            every = self._problem.space.simplest(every)
        return _highest_of(every, np.concatenate([values, above_values]))

    def _allowed(self, ids: IntArray, values: FloatArray) -> tuple[IntArray, FloatArray]:
        """Without the terms that no model may hold."""
        if self._requirements is None:
            return ids, values
        self._requirements.look_at(ids)
        allowed = np.array([self._requirements.needs(j) is not None for j in ids.tolist()], dtype=np.bool_)
        return ids[allowed], values[allowed]

    def _admissible(self, ids: IntArray, values: FloatArray) -> tuple[IntArray, FloatArray]:
        """Without the terms that no model may hold; no more than models have room for."""
        ids, values = self._allowed(ids, values)
        room = self._max_terms / 2.0
        return ids, values * min(1.0, room / max(float(values.sum()), room))


def affordable(parts: Sequence[Part], n_rows: int, most_work: float = MOST_WORK) -> tuple[list[Part], list[Part]]:
    """The parts whose terms can all be tested in bounded time, the cheapest first; and the others."""
    taken: list[Part] = []
    left: list[Part] = []
    work = 0.0
    for part in sorted(parts, key=lambda part: part.n_terms * part.effort):
        work += part.n_terms * part.effort * (n_rows + ROWS_MORE)
        (taken if work <= most_work else left).append(part)
    return taken, left


def rated(found: Sequence[Found], *, only_standing_out: bool = False) -> tuple[IntArray, FloatArray]:
    """Terms, best first, and RIPs that fall with the number of terms that look as good by chance, and with the rank."""
    ids = np.concatenate([np.empty(0, np.int64), *(f.ids for f in found)])
    by_chance = np.concatenate([np.empty(0), *(2.0 * ndtr(-f.statistic) * f.n_terms for f in found)])
    statistic = np.concatenate([np.empty(0), *(f.statistic for f in found)])
    order = np.lexsort((ids, -statistic, by_chance))
    half = max(STANDS_OUT, by_chance.min(initial=np.inf))  # where nothing stands out, the best are tried all the same
    if only_standing_out:
        half, order = STANDS_OUT, order[by_chance[order] <= STANDS_OUT]
    doubt = np.maximum(np.square(by_chance[order] / half), np.arange(order.size) / CROWD)
    return ids[order], HIGHEST / (1.0 + doubt)


def _highest_of(ids: IntArray, values: FloatArray) -> tuple[IntArray, FloatArray]:
    """Every id once, ascending, with the largest of its values."""
    distinct, at = np.unique(ids, return_inverse=True)
    highest = np.zeros(distinct.size)
    np.maximum.at(highest, at, values)
    return distinct, highest
