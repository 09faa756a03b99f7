"""Several searches from independent seeds, and one answer out of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..engines.base import Engine
from ..terms.rules import Rules
from .history import Candidate, SearchResult
from .loop import Rescreen, SearchSpec, run_search
from .observers import Verdict
from .rips import RIPs
from .subsample import Subsamples


@dataclass(frozen=True, slots=True)
class RestartsResult:
    """All restarts of one output.

    Parameters
    ----------
    searches : tuple of SearchResult
        In the order of their seeds.
    stopped : bool
        Whether an observer asked to stop everything.
    """

    searches: tuple[SearchResult, ...]
    stopped: bool

    @property
    def best(self) -> Candidate:
        """The best model of all restarts, by the score of the search itself, which never saw test data."""
        return min((s.model for s in self.searches), key=lambda c: c.rank)

    def average(self) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """(ids, coefficients) of the mean of the restarts' models: one polynomial with more terms."""
        models = [s.model for s in self.searches]
        ids, at = np.unique(np.concatenate([m.ids for m in models]), return_inverse=True)
        total = np.bincount(at, weights=np.concatenate([m.coef for m in models]), minlength=ids.size)
        return ids, total / len(models)


def run_restarts(
    engine: Engine,
    n_terms: int,
    spec: SearchSpec,
    rngs: Sequence[np.random.Generator],
    *,
    rules: Rules | None = None,
    start: RIPs | None = None,
    rescreen: Rescreen | None = None,
    subsamples: Subsamples | None = None,
    observers: Sequence[Any] = (),
    output: int = 0,
    first: int = 0,
) -> RestartsResult:
    """Run one search for each generator, one after the other, on the same engine (and so on the same memo).

    Observers are told of restarts from number `first` on.
    """
    searches: list[SearchResult] = []
    verdict = Verdict.CONTINUE
    for restart, rng in enumerate(rngs, start=first):
        result, verdict = run_search(
            engine,
            n_terms,
            spec,
            rng,
            rules=rules,
            start=start,
            rescreen=rescreen,
            subsamples=subsamples,
            observers=observers,
            output=output,
            restart=restart,
        )
        searches.append(result)
        if verdict is Verdict.STOP_ALL:
            break
    return RestartsResult(tuple(searches), verdict is Verdict.STOP_ALL)
