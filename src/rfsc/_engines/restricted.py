"""Pruning that obeys restrictions: the test cannot take out what a model must hold."""

from __future__ import annotations

import numpy as np

from .._terms.rules import Rules
from .base import Evaluation, Supports, Ties, TyingEngine


class Restricted:
    """Wrap an engine so that what is left of a support obeys the rules.

    In every round of the test a term stays when it passes, is forced, or is required by one that stays: a product
    keeps its parents, and one member that passes keeps its group. Whether it goes depends on the fit of that round
    alone, so what is left of a support evaluates to itself, as `Memo` needs it.

    Parameters
    ----------
    engine : TyingEngine
        Fits the supports.
    rules : Rules
        What the supports obey; those handed in must obey them already.
    """

    def __init__(self, engine: TyingEngine, rules: Rules) -> None:
        self._engine, self._rules = engine, rules

    @property
    def prefers_whole(self) -> bool:
        """Whether a batch should not be cut."""
        return getattr(self._engine, "prefers_whole", False)

    def evaluate(self, supports: Supports) -> Evaluation:
        """Fit, prune and score every support."""
        return self._engine.evaluate(supports, ties_of(supports, self._rules))


def ties_of(supports: Supports, rules: Rules) -> Ties:
    """What each entry of a batch holds under the rules."""
    entries: list[int] = []
    counts = [0]
    for m in range(len(supports)):
        place = {j: int(supports.indptr[m]) + i for i, j in enumerate(supports[m].tolist())}
        for j in place:
            required = [place[k] for k in rules.needs(j) or () if k != j and k in place]
            entries += sorted(required)
            counts.append(len(required))
    exempt = np.isin(supports.ids, list(rules.forced))
    return Ties(exempt, np.cumsum(counts, dtype=np.int64), np.array(entries, dtype=np.int64))
