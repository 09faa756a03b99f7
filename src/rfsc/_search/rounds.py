"""Rounds of bins: the terms are dealt into bins, every bin is searched, and what they find is shared in the next round.

This is the distributed form of the method (D-RFSC) with two changes that let the number of bins grow. Not all that the
bins find is shared, for a thousand bins of noise find thousands of terms, but a pool of the terms that are worth most.
And the model that stands for the pool is not the best one that some bin happened to hold, but the best small one among
the terms of the pool.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from joblib import delayed

from .._engines import Criterion, Problem, make_engine
from .._fit.dispatch import abandon, any_backend, results_of
from .._terms.subspace import SubSpace
from .._utils.arrays import IntArray
from .._utils.seeds import Seed
from .bins import BinResult, BinSpec, BinTask, search_bins
from .checkpoint import Checkpoint
from .history import Candidate
from .observers import Verdict, ask
from .pool import priced, shortened
from .stopping import NEVER, Brake

NO_TEST = 0.5  # the level at which the threshold on abs(t) is zero
BINS_IN_A_TASK = 4  # a bin takes a tenth of a second: to send one off by itself would take as long


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundsSpec:
    """How the bins work together.

    Parameters
    ----------
    n_rounds : int
        Largest number of rounds.
    patience : int
        The pool is stable when its model has stood for so many rounds.
    sharing : {"pool", "model", "none"}
        What all bins hold: the pool, only the terms of its model, or nothing.
    reshuffle : bool
        Whether the terms are dealt anew in every round.
    max_pool : int
        Most terms of the pool.
    largest : int
        Most terms of its model.
    price : float
        What each of them must improve the left-out log-loss by.
    """

    n_rounds: int
    patience: int
    sharing: str
    reshuffle: bool
    max_pool: int
    largest: int
    price: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Round:
    """What one round has come to.

    Parameters
    ----------
    pool : ndarray of int
        Terms of the pool after the round, ascending.
    model : ndarray of int
        Those of its best small model, ascending.
    score : float
        exp(-left-out log-loss) of that model.
    best_score : float
        Best score of a bin, by what the search maximises.
    n_found : int
        Distinct terms in the models of all bins.
    n_fitted : int
        Models that were fitted.
    """

    pool: IntArray
    model: IntArray
    score: float
    best_score: float
    n_found: int
    n_fitted: int


@dataclass(frozen=True, slots=True, eq=False)
class PoolResult:
    """All rounds of one output.

    Parameters
    ----------
    rounds : tuple of Round
        In their order.
    stop_reason : {"stable", "perfect", "n_rounds", "observer", "time_limit", "interrupted"}
        Why there was no further one.
    """

    rounds: tuple[Round, ...]
    stop_reason: str

    @property
    def pool(self) -> IntArray:
        """The terms that were left at the end."""
        return self.rounds[-1].pool


def find_pool(
    problem: Problem,
    bins: BinSpec,
    spec: RoundsSpec,
    seed: int,
    *,
    n_jobs: int | None = None,
    observers: Sequence[Any] = (),
    output: int = 0,
    brake: Brake = NEVER,
    checkpoint: Checkpoint | None = None,
) -> PoolResult:
    """Search bins in rounds until their pool is stable."""
    bins = replace(bins, tells=bool(observers), deadline=brake.deadline)
    rounds: list[Round] = []
    shared, best, stood, reason = np.empty(0, np.int64), None, 0, ""
    # without time nothing is sent off, and nobody waits for workers that Ctrl-C may have ended
    with nullcontext() if brake.reason else any_backend(n_jobs) as backend:
        crew = Crew(backend, problem, bins, observers, brake, checkpoint)
        while not reason:
            number = len(rounds)
            found, reason = crew.search(_tasks(seed, output, number, bins.n_bins, spec.reshuffle, shared))
            this, model = _conclude(problem, bins, spec, found, shared, best)
            stood = stood + 1 if best is not None and np.array_equal(model.ids, best.ids) else 0
            rounds.append(this)
            best, shared = model, _to_share(spec.sharing, this)
            reason = reason or _stop_reason(this, spec, stood, len(rounds))
    return PoolResult(tuple(rounds), reason)


@dataclass(frozen=True, slots=True)
class Crew:
    """Whoever searches the bins of a round: processes, threads or machines, by way of joblib.

    Parameters
    ----------
    backend : joblib.Parallel
        Gives results in order.
    problem, bins, observers, brake, checkpoint
        As in `find_pool`.
    """

    backend: Any
    problem: Problem
    bins: BinSpec
    observers: Sequence[Any]
    brake: Brake
    checkpoint: Checkpoint | None

    def search(self, tasks: Sequence[BinTask]) -> tuple[list[BinResult], str]:
        """The bins in their order, up to where the round was cut short; and why it was, else an empty text."""
        key = f"round/{tasks[0].output}/{tasks[0].number // len(tasks)}"
        kept = None if self.checkpoint is None else self.checkpoint.find(key)
        found = [BinResult.from_dict(d) for d in kept or ()]
        data = self.problem.table, self.problem.target, self.problem.weight, self.problem.space
        groups = [tasks[k : k + BINS_IN_A_TASK] for k in range(len(found), len(tasks), BINS_IN_A_TASK)]
        calls = (delayed(search_bins)(*data, self.bins, group) for group in groups)
        results = results_of(self.backend, calls, self.brake)
        reason = ""
        for group in results:
            reason = self._take_in(group, found)
            if reason:
                break
            if self.checkpoint is not None:
                self.checkpoint.put(key, partial(_as_dicts, tuple(found)), is_finished=len(found) == len(tasks))
        abandon(results)
        if not found:  # no time, or Ctrl-C has ended all processes: a glance at one bin, here
            found = search_bins(*data, replace(self.bins, deadline=time.time()), tasks[:1])
        return found, reason or (self.brake.reason if len(found) < len(tasks) else "")

    def _take_in(self, group: Sequence[BinResult], found: list[BinResult]) -> str:
        """Add to what was found, up to where an observer stops everything; why to go no further, else an empty text."""
        for result in group:
            found.append(result)
            if Verdict.STOP_ALL in [ask(self.observers, record) for record in result.history]:
                return "observer"
        return self.brake.reason


def _as_dicts(found: Sequence[BinResult]) -> list[dict[str, Any]]:
    return [one.as_dict() for one in found]


def ranked(found: Sequence[BinResult], shared: IntArray, n_bins: int) -> IntArray:
    """All terms that the bins found, those that are worth most first.

    A term's worth is the fall of the score without it, averaged over the bins that could have held it: all of them for
    a shared term, one for any other.
    """
    ids, at = np.unique(np.concatenate([one.model.ids for one in found]), return_inverse=True)
    total = np.bincount(at, weights=np.concatenate([one.worth for one in found]), minlength=ids.size)
    worth = total / np.where(np.isin(ids, shared), n_bins, 1)
    return np.asarray(ids[np.lexsort((ids, -worth))])


def _tasks(seed: int, output: int, number: int, n_bins: int, reshuffle: bool, shared: IntArray) -> list[BinTask]:
    """All bins of a round, each with its seed."""
    dealing = Seed(seed, spawn_key=(output, number if reshuffle else 0))
    own = (Seed(seed, spawn_key=(output, number, k)) for k in range(n_bins))
    return [BinTask(output, number * n_bins + k, k, dealing, one, shared) for k, one in enumerate(own)]


def _conclude(
    problem: Problem,
    bins: BinSpec,
    spec: RoundsSpec,
    found: Sequence[BinResult],
    shared: IntArray,
    best: Candidate | None,
) -> tuple[Round, Candidate]:
    """The pool after a round, and its model: the one of the rounds before, unless a better one was found."""
    order = ranked(found, shared, bins.n_bins)
    standing = np.empty(0, np.int64) if best is None else best.ids
    top = min(found, key=lambda one: one.model.rank).model
    # what has stood and the best model that a bin held are never lost, whatever the worth of their terms
    first = np.concatenate([standing, top.ids, order, [bins.constant]])
    first = first[np.sort(np.unique(first, return_index=True)[1])]
    model, n_fitted = _best_small(problem, np.sort(first[: min(spec.max_pool, problem.max_terms)]), spec)
    if best is not None and priced(best, spec.price) <= priced(model, spec.price):
        model = best
    pool = np.union1d(model.ids, first[: spec.max_pool])
    n_fitted += sum(one.n_fitted for one in found)
    return Round(pool, model.ids, model.score, top.score, order.size, n_fitted), model


def _best_small(problem: Problem, ids: IntArray, spec: RoundsSpec) -> tuple[Candidate, int]:
    """The best small model among some terms by left-out log-loss, and how many models were fitted to find it."""
    part = SubSpace(problem.space, ids)
    options = replace(problem.options, criterion=Criterion.LOO_LOG_LOSS, significance=NO_TEST)
    n = min(ids.size, problem.max_terms)
    engine = make_engine("auto", replace(problem, space=part, options=options))
    found = shortened(np.arange(n), engine, largest=spec.largest, price=spec.price)
    assert found is not None  # there is no brake
    return replace(found, ids=part.outside(found.ids)), n * (n + 1) // 2


def _to_share(sharing: str, last: Round) -> IntArray:
    """What the bins of the next round hold beside their own terms."""
    return {"pool": last.pool, "model": last.model, "none": np.empty(0, np.int64)}[sharing]


def _stop_reason(last: Round, spec: RoundsSpec, stood: int, n_rounds: int) -> str:
    if last.best_score >= 1.0:
        return "perfect"
    if stood >= spec.patience:
        return "stable"
    return "n_rounds" if n_rounds >= spec.n_rounds else ""
