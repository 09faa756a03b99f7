"""Several searches from independent seeds, and one answer out of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._engines.base import Engine
from .._terms.rules import Rules
from .._utils.seeds import Seed
from .checkpoint import Checkpoint
from .history import Candidate, SearchResult
from .loop import Rescreen, SearchSpec, run_search
from .observers import Verdict
from .rips import RIPs
from .state import SearchState, result_as_dict, result_from_dict, state_as_dict, state_from_dict
from .stopping import EARLY, NEVER, Brake
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
    left_out : {"", "time_limit", "interrupted"}
        Why searches were not begun, though all that were begun came to their end.
    """

    searches: tuple[SearchResult, ...]
    stopped: bool
    left_out: str = ""

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
    seeds: Sequence[Seed],
    *,
    rules: Rules | None = None,
    start: RIPs | None = None,
    rescreen: Rescreen | None = None,
    subsamples: Subsamples | None = None,
    observers: Sequence[Any] = (),
    output: int = 0,
    first: int = 0,
    brake: Brake = NEVER,
    checkpoint: Checkpoint | None = None,
) -> RestartsResult:
    """Run one search for each seed, one after the other, on the same engine (and so on the same memo).

    Observers are told of restarts from number `first` on. What a checkpoint holds is not run again.
    """
    searches: list[SearchResult] = []
    verdict = Verdict.CONTINUE
    for restart, seed in enumerate(seeds, start=first):
        kept = Kept(checkpoint, search_key(output, restart))
        if kept.result is not None:
            searches.append(kept.result)
            continue
        result, verdict = run_search(
            engine,
            n_terms,
            spec,
            seed,
            rules=rules,
            start=start,
            rescreen=rescreen,
            subsamples=subsamples,
            observers=observers,
            output=output,
            restart=restart,
            brake=brake,
            state=kept.state,
            keep=kept.keep,
        )
        kept.finish(result)
        searches.append(result)
        if verdict is Verdict.STOP_ALL or result.stop_reason in EARLY:
            break
    return RestartsResult(tuple(searches), verdict is Verdict.STOP_ALL)


def search_key(output: int, restart: int) -> str:
    """What a checkpoint calls a search."""
    return f"search/{output}/{restart}"


class Kept:
    """One search in a checkpoint: finished, running, or not there yet.

    Parameters
    ----------
    checkpoint : Checkpoint or None
        Where it is kept; None keeps nothing.
    key : str
        Under what name.
    """

    def __init__(self, checkpoint: Checkpoint | None, key: str) -> None:
        self._checkpoint, self._key = checkpoint, key
        self.result: SearchResult | None = None
        self.state: SearchState | None = None
        found = None if checkpoint is None else checkpoint.find(key)
        if found is not None and "model" in found:
            self.result = result_from_dict(found)
        elif found is not None:
            self.state = state_from_dict(found)

    def keep(self, state: SearchState) -> None:
        """Between two iterations; where an observer has stopped the search, it is to go on from the one before."""
        if self._checkpoint is not None and state.stop_reason != "observer":
            now = replace(state, leaders=list(state.leaders), history=list(state.history))  # the search goes on
            self._checkpoint.put(self._key, lambda: state_as_dict(now))

    def finish(self, result: SearchResult) -> None:
        """At the end, unless there is more to find."""
        if self._checkpoint is not None and result.stop_reason not in ("observer", *EARLY):
            self._checkpoint.put(self._key, lambda: result_as_dict(result), is_finished=True)
