"""What moves during a search, and how it is written down: a search taken up again goes on as if nothing had happened.

Everything is plain numbers, texts and lists, which JSON keeps to the last bit. What is not here is a function of what
is: engines compute the same results again, and the random numbers of an iteration follow from its number.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from .history import Candidate, IterationRecord, SearchResult
from .rips import RIPs


@dataclass(slots=True)
class SearchState:
    """Owned by `run_search`.

    Parameters
    ----------
    rips : RIPs
        Inclusion probabilities.
    has_moved : bool
        Whether some of them have moved by their own accord.
    best : Candidate or None
        Best model so far.
    leaders : list of Candidate
        Best model of every iteration.
    history : list of IterationRecord
        Every iteration.
    stop_reason : str
        Why the search has ended; empty while it goes on.
    """

    rips: RIPs
    has_moved: bool
    best: Candidate | None = None
    leaders: list[Candidate] = field(default_factory=list)
    history: list[IterationRecord] = field(default_factory=list)
    stop_reason: str = ""

    def consider(self, leader: Candidate) -> Candidate:
        """Take in the best model of an iteration; the best of all."""
        self.leaders.append(leader)
        self.best = leader if self.best is None else min(self.best, leader, key=lambda c: c.rank)
        return self.best


def state_as_dict(state: SearchState) -> dict[str, Any]:
    """A search between two iterations."""
    return {
        "rips": _rips(state.rips),
        "has_moved": state.has_moved,
        "best": None if state.best is None else _candidate(state.best),
        "leaders": [_candidate(leader) for leader in state.leaders],
        "history": [_record(record) for record in state.history],
        "stop_reason": state.stop_reason,
    }


def state_from_dict(d: Mapping[str, Any]) -> SearchState:
    """The search that `state_as_dict` described."""
    return SearchState(
        rips=_read_rips(d["rips"]),
        has_moved=d["has_moved"],
        best=None if d["best"] is None else _read_candidate(d["best"]),
        leaders=[_read_candidate(leader) for leader in d["leaders"]],
        history=[_read_record(record) for record in d["history"]],
        stop_reason=d["stop_reason"],
    )


def result_as_dict(result: SearchResult) -> dict[str, Any]:
    """A finished search."""
    return {
        "model": _candidate(result.model),
        "limit": None if result.limit is None else _candidate(result.limit),
        "history": [_record(record) for record in result.history],
        "stop_reason": result.stop_reason,
    }


def result_from_dict(d: Mapping[str, Any]) -> SearchResult:
    """The search that `result_as_dict` described."""
    return SearchResult(
        model=_read_candidate(d["model"]),
        limit=None if d["limit"] is None else _read_candidate(d["limit"]),
        history=tuple(_read_record(record) for record in d["history"]),
        stop_reason=d["stop_reason"],
    )


def _rips(rips: RIPs) -> list[Any]:
    return [rips.n_terms, rips.default, rips.ids.tolist(), rips.values.tolist()]


def _read_rips(d: list[Any]) -> RIPs:
    return RIPs(d[0], d[1], np.array(d[2], dtype=np.int64), np.array(d[3], dtype=np.float64))


def _candidate(candidate: Candidate) -> list[Any]:
    return [candidate.ids.tolist(), candidate.coef.tolist(), candidate.score, candidate.log_loss]


def _read_candidate(d: list[Any]) -> Candidate:
    return Candidate(np.array(d[0], dtype=np.int64), np.array(d[1], dtype=np.float64), d[2], d[3])


NUMBERS = tuple(one.name for one in fields(IterationRecord) if one.name != "rips")


def _record(record: IterationRecord) -> list[Any]:
    return [*(getattr(record, name) for name in NUMBERS), _rips(record.rips)]


def _read_record(d: list[Any]) -> IterationRecord:
    return IterationRecord(**dict(zip(NUMBERS, d, strict=False)), rips=_read_rips(d[-1]))
