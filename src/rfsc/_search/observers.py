"""Observers watch a search and may ask it to stop; they cannot change it."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any, Protocol

from .history import IterationRecord


class Verdict(enum.Enum):
    """What an observer may answer."""

    CONTINUE = "continue"
    STOP_SEARCH = "stop_search"  # this restart only
    STOP_ALL = "stop_all"  # this restart and all that would follow, of every output


class Observer(Protocol):
    """Anything with this method; a plain function of a record will do as well."""

    def on_iteration(self, record: IterationRecord) -> Verdict | str | None:
        """Look at a finished iteration; None means continue."""
        ...


def ask(observers: Sequence[Any], record: IterationRecord) -> Verdict:
    """Show the record to every observer; the strongest wish to stop wins."""
    strongest = Verdict.CONTINUE
    order = list(Verdict)
    for observer in observers:
        look = getattr(observer, "on_iteration", observer)
        verdict = _read(look(record), observer)
        strongest = max(strongest, verdict, key=order.index)
    return strongest


def _read(answer: object, who: object) -> Verdict:
    if answer is None:
        return Verdict.CONTINUE
    try:
        return Verdict(answer)
    except ValueError as error:
        words = ", ".join(repr(v.value) for v in Verdict)
        msg = f"callback {type(who).__name__} answered with a {type(answer).__name__}; expected None or one of {words}."
        raise TypeError(msg) from error
