"""A small model of every size: the least useful of the pooled terms is removed again and again; exchanges of terms.

Each search has chosen its terms by a score that it maximised, partly by luck; the left-out log-loss lets all compete.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from .._engines.base import Engine, Supports
from .._terms.requirements import Requirements
from .._utils.arrays import IntArray
from .context import Context
from .history import Candidate


def most_frequent(supports: Iterable[IntArray], most: int, requirements: Requirements | None) -> IntArray:
    """Terms that most supports hold, at most `most` of them; ascending."""
    count = Counter(j for ids in supports for j in ids.tolist())
    return gathered(sorted(count, key=lambda j: (-count[j], j)), most, requirements)


def gathered(order: Sequence[int], most: int, requirements: Requirements | None) -> IntArray:
    """The first terms, at most `most`, or under restrictions those that fit with what they require; ascending."""
    chosen = order[:most] if requirements is None else requirements.gather(order, most)
    return np.array(sorted(chosen), dtype=np.int64)


def eliminated(
    support: IntArray, engine: Engine, requirements: Requirements | None, context: Context, one_by_one: int
) -> list[Candidate]:
    """The best models on the way from a support down to what must stay, one for each step, smallest first.

    As long as there are many more than `one_by_one` terms, a quarter of the rest goes in one step. `engine` fits and
    scores supports without pruning them. If the fit had to end, the smallest sizes are missing.
    """
    if support.size == 0:
        return []
    found = [Candidate.best_of(engine.evaluate(Supports.from_lists([support])))]
    while units := [unit for unit in removable_units(support, requirements) if len(unit) < support.size]:
        result = context.evaluate(engine, Supports.from_lists(without(support, unit) for unit in units))
        if len(result.supports) < len(units):
            break
        n_removed = min(support.size // 4, support.size - one_by_one)
        if n_removed > 1:
            least = np.argsort(result.log_loss, kind="stable")[:n_removed]
            support = without(support, frozenset().union(*(units[k] for k in least)))
            result = engine.evaluate(Supports.from_lists([support]))
        found.append(Candidate.best_of(result))
        support = found[-1].ids
    return found[::-1]


def exchanged(model: Candidate, pool: IntArray, engine: Engine, context: Context, kept: frozenset[int]) -> Candidate:
    """The model after exchanges of one term for one of the pool, as long as the left-out log-loss falls.

    The terms `kept` stay. If the fit had to end, it is the model so far.
    """
    while True:
        outside = np.setdiff1d(pool, model.ids).tolist()
        rests = [without(model.ids, frozenset({j})).tolist() for j in model.ids.tolist() if j not in kept]
        supports = [[*rest, new] for rest in rests for new in outside]
        if not supports:
            return model
        result = context.evaluate(engine, Supports.from_lists(supports))
        best = Candidate.best_of(result)
        if len(result.supports) < len(supports) or best.log_loss >= model.log_loss:
            return model
        model = best


def removable_units(support: IntArray, requirements: Requirements | None) -> list[frozenset[int]]:
    """What can be removed from a support at once: single terms or, under restrictions, groups."""
    if requirements is None:
        return [frozenset({j}) for j in support.tolist()]
    return requirements.removable(support.tolist())


def without(support: IntArray, unit: frozenset[int]) -> IntArray:
    """The support less some of its terms."""
    return np.array([j for j in support.tolist() if j not in unit], dtype=np.int64)
