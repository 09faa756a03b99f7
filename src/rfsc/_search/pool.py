"""One small model out of several restarts: their terms in one pot, then the least useful taken out one by one.

Each restart has picked its terms by a score that it maximised over thousands of supports, and luck has a part in that.
Backward elimination by the left-out log-loss lets the terms of all restarts compete in one small model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from .._engines.base import Engine, Supports
from .._terms.rules import Rules
from .._utils.arrays import IntArray
from .history import Candidate, SearchResult
from .parts import evaluate_in_parts
from .stopping import NEVER, Brake, StoppedEarly
from .subsample import FINALISTS


def pool(
    searches: Sequence[SearchResult],
    engine: Engine,
    *,
    most: int,
    largest: int,
    rules: Rules | None = None,
    all_rows: Engine | None = None,
    brake: Brake = NEVER,
    price: float = 0.0,
) -> Candidate | None:
    """The best model of at most `largest` terms on the way from all pooled terms down to one.

    Under restrictions it goes down to what must stay; where even that is larger, it is the answer.
    """
    support = _most_frequent(searches, most, rules)
    if support.size == 0:
        return None
    return shortened(support, engine, largest=largest, rules=rules, all_rows=all_rows, brake=brake, price=price)


def shortened(
    support: IntArray,
    engine: Engine,
    *,
    largest: int,
    rules: Rules | None = None,
    all_rows: Engine | None = None,
    brake: Brake = NEVER,
    price: float = 0.0,
) -> Candidate | None:
    """The best model of at most `largest` terms on the way from a support down to one term."""
    leader = Candidate.best_of(engine.evaluate(Supports.from_lists([support])))
    small = [leader] if support.size <= largest else []
    while shorter := _one_step_down(support, rules):
        try:
            leader = Candidate.best_of(evaluate_in_parts(engine, shorter, brake))
        except StoppedEarly:
            break
        support = leader.ids if leader.ids.size else shorter[0]
        if support.size <= largest:
            small.append(leader)
    if not small and brake.reason:
        return None
    found = sorted(small or [leader], key=lambda c: priced(c, price))
    if all_rows is None:
        return found[0]
    return Candidate.best_of(all_rows.evaluate(Supports.from_lists(c.ids for c in found[:FINALISTS])))


def priced(model: Candidate, price: float) -> tuple[float, ...]:
    """Sorts better models first, where every term has its price in log-loss."""
    return (model.log_loss + price * model.ids.size, *model.rank) if price else model.rank


def _one_step_down(support: IntArray, rules: Rules | None) -> Supports:
    """The support without each of its terms or, under restrictions, each thing that may go; never the empty one."""
    units = [frozenset({j}) for j in support.tolist()] if rules is None else rules.removable(support.tolist())
    rests = [[j for j in support.tolist() if j not in unit] for unit in units]
    return Supports.from_lists(rest for rest in rests if rest)


def _most_frequent(searches: Sequence[SearchResult], most: int, rules: Rules | None) -> IntArray:
    """Terms that the restarts chose, those chosen by most of them first, cut at `most`; ascending."""
    count = Counter(int(j) for search in searches for j in search.model.ids)
    order = sorted(count, key=lambda j: (-count[j], j))
    chosen = order[:most] if rules is None else rules.gather(order, most)
    return np.array(sorted(chosen), dtype=np.int64)
