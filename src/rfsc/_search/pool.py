"""One small model out of several restarts: all their terms, from which the least useful is removed again and again.

Each restart has chosen its terms by a score that it maximised over thousands of supports, partly by luck. Backward
elimination by the left-out log-loss lets the terms of all restarts compete in one small model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .._engines.base import Engine, Supports
from .._terms.rules import Rules
from .._utils.arrays import IntArray
from .context import Context
from .history import Candidate, SearchResult
from .subsamples import N_FINALISTS


@dataclass(frozen=True, slots=True, eq=False)
class Elimination:
    """How the pooled terms are reduced to one model."""

    engine: Engine  # fits and scores supports without pruning them, and obeys the rules
    most_pooled: int  # terms to begin with; those that fewest restarts chose are left out
    max_terms: int  # size that the answer may have
    rules: Rules | None = None
    price: float = 0.0  # what a term must improve the log-loss by
    all_rows: Engine | None = None  # decides between the best models, if `engine` sees part of the rows


def pool(searches: Sequence[SearchResult], elimination: Elimination, context: Context) -> list[Candidate]:
    """The best models of at most `max_terms` terms on the way from all pooled terms down to one, best first.

    Under restrictions it ends at what must stay; if even that is larger, it is the answer. Empty if no restart has
    found a term, or the fit had to end before a model was small enough.
    """
    engine, rules = elimination.engine, elimination.rules
    support = _most_frequent(searches, elimination.most_pooled, rules)
    if support.size == 0:
        return []
    leader = Candidate.best_of(engine.evaluate(Supports.from_lists([support])))
    small = [leader] if support.size <= elimination.max_terms else []
    while shorter := _one_step_down(support, rules):
        result = context.evaluate(engine, shorter)
        if len(result.supports) < len(shorter):
            break
        leader = Candidate.best_of(result)
        support = leader.ids if leader.ids.size else shorter[0]
        if support.size <= elimination.max_terms:
            small.append(leader)
    if not small and context.stop_reason:
        return []
    found = sorted(small or [leader], key=lambda one: (one.log_loss + elimination.price * one.ids.size, *one.rank))
    if elimination.all_rows is None:
        return found
    finalists = Supports.from_lists(candidate.ids for candidate in found[:N_FINALISTS])
    return [Candidate.best_of(elimination.all_rows.evaluate(finalists))]


def _one_step_down(support: IntArray, rules: Rules | None) -> Supports:
    """The support without each of its terms or, under restrictions, each removable group; never the empty one."""
    units = [frozenset({j}) for j in support.tolist()] if rules is None else rules.removable(support.tolist())
    rests = [[j for j in support.tolist() if j not in unit] for unit in units]
    return Supports.from_lists(rest for rest in rests if rest)


def _most_frequent(searches: Sequence[SearchResult], most: int, rules: Rules | None) -> IntArray:
    """Terms that the restarts chose, those chosen by most of them first, cut at `most`; ascending."""
    count = Counter(int(j) for search in searches for j in search.model.ids)
    order = sorted(count, key=lambda j: (-count[j], j))
    chosen = order[:most] if rules is None else rules.gather(order, most)
    return np.array(sorted(chosen), dtype=np.int64)
