"""How a fit comes to an early end: a deadline, or Ctrl-C. Both leave the best model so far."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any

from .history import IterationRecord

TIME_LIMIT, INTERRUPTED = "time_limit", "interrupted"
TWICE = 3.0  # seconds; a second Ctrl-C stops, though another fit of a cross-validation may have begun meanwhile
EARLY = (TIME_LIMIT, INTERRUPTED)  # stop reasons after which there is more to find


class StopAfter:
    """Pass it to `callbacks`: the fit ends after so many seconds, with the best model so far.

    The clock starts with the call of `fit`, and counts everything: reading the table, the choice of the basis, every
    output and restart. Each part gets its share of the time. What comes out depends on the speed of the machine.

    Parameters
    ----------
    seconds : float
        How long the fit may take.
    """

    def __init__(self, seconds: float) -> None:
        is_number = isinstance(seconds, Real) and not isinstance(seconds, bool)
        if not is_number or not seconds > 0:
            msg = f"seconds must be a positive number, got {seconds!r}."
            raise ValueError(msg)
        self.seconds: float = float(seconds)  # a number of single precision could not tell the time of day

    def on_iteration(self, record: IterationRecord) -> None:
        """Look at a finished iteration: nothing to say, the fit watches the clock by itself."""

    def __repr__(self) -> str:
        return f"StopAfter(seconds={self.seconds!r})"


class StoppedEarly(Exception):
    """A batch was not evaluated to its end.

    Parameters
    ----------
    found : Evaluation
        The part that was.
    """

    def __init__(self, found: Any) -> None:
        super().__init__()
        self.found = found


@dataclass(slots=True)
class Pace:
    """How fast supports are evaluated, as measured last; shared by all that looks at the same clock."""

    per_second: float = 0.0


@dataclass(frozen=True, slots=True)
class Brake:
    """Whether a fit is to end, and why.

    Parameters
    ----------
    deadline : float
        On the clock of `time.time`, which all machines share.
    is_pulled : callable
        Whether Ctrl-C was pressed.
    pace : Pace
        For who works in parts between two looks.
    """

    deadline: float = float("inf")
    is_pulled: Callable[[], bool] = bool
    pace: Pace = field(default_factory=Pace)

    @property
    def reason(self) -> str:
        """The stop reason; empty while the fit goes on."""
        if self.is_pulled():
            return INTERRUPTED
        return TIME_LIMIT if time.time() >= self.deadline else ""

    @property
    def seconds_left(self) -> float:
        """Until the deadline."""
        return self.deadline - time.time()

    def within(self, share: float) -> Brake:
        """The same, with a deadline after a share of the time that is left."""
        if self.deadline == float("inf"):
            return self
        return replace(self, deadline=self.deadline - max(self.seconds_left, 0.0) * (1.0 - share), pace=Pace())


NEVER = Brake()


class _Presses:
    """When Ctrl-C was pressed last, in whichever fit."""

    last = -float("inf")


_presses = _Presses()


class _Pulled:
    """A flag; no Event of threading, whose lock a signal handler must not wait for."""

    def __init__(self) -> None:
        self.value = False

    def __call__(self) -> bool:
        return self.value


@contextmanager
def brake_on_ctrl_c(deadline: float = float("inf")) -> Iterator[Brake]:
    """A brake that the first Ctrl-C pulls; the second one raises KeyboardInterrupt as ever.

    Handlers that a program has set itself, and threads beside the main one, are left alone.
    """
    pulled = _Pulled()

    def pull(*_: Any) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        last, _presses.last = _presses.last, time.monotonic()
        if _presses.last - last < TWICE:
            raise KeyboardInterrupt
        pulled.value = True
        sys.stderr.write("\nInterrupted: ending with the best model so far. Press Ctrl-C again to stop at once.\n")

    with _in_place_of_the_usual(pull):
        yield Brake(deadline, pulled)


@contextmanager
def plain_ctrl_c() -> Iterator[None]:
    """Ctrl-C stops at once, also where fits are running: a score must not be taken of models that were cut short."""

    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    with _in_place_of_the_usual(stop):
        yield


@contextmanager
def _in_place_of_the_usual(handler: Callable[..., None]) -> Iterator[None]:
    """Let a handler answer to Ctrl-C, unless a program has set its own, or this is not the main thread."""
    is_usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if not is_usual or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
