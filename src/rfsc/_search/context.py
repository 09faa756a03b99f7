"""What a running fit is told from outside: when to stop, who watches it, and where finished searches are kept."""

from __future__ import annotations

import enum
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from .._engines.base import Engine, Evaluation, Supports
from .checkpoint import Checkpoint
from .history import IterationRecord

if TYPE_CHECKING:
    from .progress import ConsoleProgress

TIME_LIMIT, INTERRUPTED = "time_limit", "interrupted"
EARLY = (TIME_LIMIT, INTERRUPTED)  # stop reasons after which there is more to find
SECOND_PRESS_SECONDS = 3.0  # a second Ctrl-C within this time stops at once, even if another fit has begun meanwhile
FIRST_BATCH = 8  # supports of the first batch, before it is known how long one takes
SMALLEST_BATCH = 4  # threads share a batch
LAST_BATCH = 2  # right before a deadline
BATCH_SECONDS = 0.25


class Verdict(enum.Enum):
    """What an observer may return."""

    CONTINUE = "continue"
    STOP_SEARCH = "stop_search"  # this restart only
    STOP_ALL = "stop_all"  # this restart and all that would follow, of every output


class StopAfter:
    """Callback that ends a fit after a given number of seconds, with the best model so far.

    The time is counted from the call of `fit` and includes everything: reading the table, the choice of the basis,
    every output and restart. Each part gets its share of the time. The result depends on the speed of the machine.

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
        self.seconds: float = float(seconds)  # single precision could not represent the time of day

    def on_iteration(self, record: IterationRecord) -> None:
        """Do nothing: the fit checks the time itself."""

    def __repr__(self) -> str:
        return f"StopAfter(seconds={self.seconds!r})"


@dataclass(slots=True)
class Signals:
    """What may happen while a fit runs; no lock, because a signal handler must not wait for one."""

    interrupted: bool = False
    stop_all: bool = False  # an observer asked for it


@dataclass(slots=True)
class Pace:
    """Supports evaluated per second, as measured last."""

    per_second: float = 0.0


@dataclass(frozen=True, slots=True)
class Context:
    """Deadline, signals, observers, checkpoint and progress display of one fit."""

    deadline: float = float("inf")  # on the clock of `time.time`, which all machines share
    signals: Signals = field(default_factory=Signals)
    observers: tuple[Any, ...] = ()
    checkpoint: Checkpoint | None = None
    progress: ConsoleProgress | None = None
    pace: Pace = field(default_factory=Pace)

    @property
    def stop_reason(self) -> str:
        """Why the fit must end now; empty while it may go on."""
        if self.signals.interrupted:
            return INTERRUPTED
        return TIME_LIMIT if time.time() >= self.deadline else ""

    @property
    def seconds_left(self) -> float:
        """Time until the deadline."""
        return self.deadline - time.time()

    def within(self, share: float) -> Context:
        """The same context with a deadline after a share of the time that is left."""
        if self.deadline == float("inf"):
            return self
        return replace(self, deadline=self.deadline - max(self.seconds_left, 0.0) * (1.0 - share), pace=Pace())

    def ask(self, record: IterationRecord) -> Verdict:
        """Show a finished iteration to every observer; the strongest wish to stop wins."""
        strongest, order = Verdict.CONTINUE, list(Verdict)
        for observer in self.observers:
            look = getattr(observer, "on_iteration", observer)
            strongest = max(strongest, _read_verdict(look(record), observer), key=order.index)
        self.signals.stop_all = self.signals.stop_all or strongest is Verdict.STOP_ALL
        return strongest

    def evaluate(self, engine: Engine, supports: Supports) -> Evaluation:
        """`engine.evaluate` in batches; after a stop in between, the result of the first batches only."""
        found: list[Evaluation] = []
        first, n = 0, len(supports)
        while first < n or not found:
            last = min(first + self._batch_size(), n)
            is_whole = first == 0 and last == n
            began = time.perf_counter()
            found.append(engine.evaluate(supports if is_whole else supports.take(np.arange(first, last))))
            n_fitted = np.count_nonzero(found[-1].n_newton)
            if n_fitted:  # supports that a memo knows take no time
                self.pace.per_second = n_fitted / max(time.perf_counter() - began, 1e-6)
            first = last
            if first < n and self.stop_reason:
                break
        return Evaluation.concatenated(found)

    def _batch_size(self) -> int:
        pace = self.pace.per_second
        if not pace:
            return FIRST_BATCH
        smallest = LAST_BATCH if pace * self.seconds_left < 2 * SMALLEST_BATCH else SMALLEST_BATCH
        return max(smallest, int(pace * BATCH_SECONDS))


def _read_verdict(answer: object, observer: object) -> Verdict:
    if answer is None:
        return Verdict.CONTINUE
    try:
        return Verdict(answer)
    except ValueError as error:
        words = ", ".join(repr(v.value) for v in Verdict)
        msg = f"callback {type(observer).__name__} returned {type(answer).__name__}; expected None or one of {words}."
        raise TypeError(msg) from error


def checked_callbacks(callbacks: Any) -> tuple[Any, ...]:
    """The callbacks that a user passed, as a tuple."""
    found = () if callbacks is None else tuple(callbacks) if isinstance(callbacks, list | tuple) else (callbacks,)
    for callback in found:
        if not callable(getattr(callback, "on_iteration", callback)):
            msg = (
                f"callbacks must be functions of a record or objects with a method on_iteration, got "
                f"an object of type {type(callback).__name__}. Pass None, one of these, or a list of them."
            )
            raise TypeError(msg)
    if sum(isinstance(callback, Checkpoint) for callback in found) > 1:
        msg = "callbacks holds several checkpoints; pass only one."
        raise ValueError(msg)
    return found


@contextmanager
def fit_context(callbacks: Any, verbose: int | None) -> Iterator[Context]:
    """The context of one call of `fit`; the first Ctrl-C ends the fit early, the second raises KeyboardInterrupt."""
    from .progress import progress_of

    observers = checked_callbacks(callbacks)
    seconds = min((one.seconds for one in observers if isinstance(one, StopAfter)), default=float("inf"))
    checkpoint = next((one for one in observers if isinstance(one, Checkpoint)), None)
    progress = progress_of(verbose, seconds)
    watching = (*observers, progress) if progress else observers
    with interruptible(time.time() + seconds) as context:
        try:
            yield replace(context, observers=watching, checkpoint=checkpoint, progress=progress)
        finally:
            if progress:
                progress.close()


class _LastPress:
    """When Ctrl-C was pressed last, in any fit."""

    time = -float("inf")


@contextmanager
def interruptible(deadline: float = float("inf")) -> Iterator[Context]:
    """A context that Ctrl-C interrupts. Other threads, and handlers that a program has set, are left alone."""
    context = Context(deadline)

    def interrupt(*_: Any) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        last, _LastPress.time = _LastPress.time, time.monotonic()
        if _LastPress.time - last < SECOND_PRESS_SECONDS:
            raise KeyboardInterrupt
        context.signals.interrupted = True
        sys.stderr.write("\nInterrupted: ending with what was found so far. Press Ctrl-C again to stop at once.\n")

    with _handling_ctrl_c(interrupt):
        yield context


@contextmanager
def uninterruptible_fits() -> Iterator[None]:
    """Ctrl-C raises at once, also while a fit runs: models that were cut short must not be scored."""

    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    with _handling_ctrl_c(stop):
        yield


@contextmanager
def _handling_ctrl_c(handler: Callable[..., None]) -> Iterator[None]:
    """Install a handler of Ctrl-C, unless the program has set its own or this is not the main thread."""
    is_default = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if not is_default or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def strongest_reason(reasons: Sequence[str]) -> str:
    """Why a fit as a whole ended, from why its parts ended."""
    return next((reason for reason in (INTERRUPTED, TIME_LIMIT, "observer") if reason in reasons), "finished")
