"""One small model out of several restarts: their terms in one pot, then the least useful taken out one by one.

Each restart has picked its terms by a score that it maximised over thousands of supports, and luck has a part in that.
Backward elimination by the left-out log-loss lets the terms of all restarts compete in one small model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from .._typing import IntArray
from ..engines.base import Engine, Supports
from .history import Candidate, SearchResult


def pool(searches: Sequence[SearchResult], engine: Engine, *, most: int, largest: int) -> Candidate | None:
    """The best model of at most `largest` terms on the way from all pooled terms down to one.

    Parameters
    ----------
    searches : sequence of SearchResult
        The restarts.
    engine : Engine
        Fits and scores supports without pruning them.
    most : int
        How many terms to pool; those that fewest restarts chose are left out.
    largest : int
        Size that the answer may have.

    Returns
    -------
    Candidate or None
        None where no restart has found a term.
    """
    support = _most_frequent(searches, most)
    if support.size == 0:
        return None
    leader = Candidate.best_of(engine.evaluate(Supports.from_lists([support])))
    best = leader if support.size <= largest else None
    while support.size > 1:
        shorter = Supports.from_lists([np.delete(support, j) for j in range(support.size)])
        result = engine.evaluate(shorter)
        leader = Candidate.best_of(result)
        support = leader.ids if leader.ids.size else shorter[0]
        if support.size <= largest and (best is None or leader.rank < best.rank):
            best = leader
    return best


def _most_frequent(searches: Sequence[SearchResult], most: int) -> IntArray:
    """Terms that the restarts chose, those chosen by most of them first, cut at `most`; ascending."""
    count = Counter(int(j) for search in searches for j in search.model.ids)
    chosen = sorted(count, key=lambda j: (-count[j], j))[:most]
    return np.array(sorted(chosen), dtype=np.int64)
