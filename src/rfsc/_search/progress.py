"""A progress bar on stderr: one observer among others."""

from __future__ import annotations

import multiprocessing
import shutil
import sys
import threading
import time
from collections.abc import Callable
from typing import TextIO

from .history import IterationRecord

FULL, EMPTY = "━", "─"
TEXT_WIDTH = 76  # of a line with single-digit outputs and two-digit restarts, and a space
LONG_FIT = 10.0  # seconds
FIRST_WORD = 3.0  # seconds after which a fit may say that it is long although hardly a search is over


def progress_of(verbose: int | None, most_seconds: float) -> ConsoleProgress | None:
    """The progress bar if it was asked for, or one for long fits if nothing was said.

    Fits in worker processes and threads say nothing unasked, because others may write to stderr at the same time.
    """
    is_worker = multiprocessing.current_process().name != "MainProcess"
    is_alone = not is_worker and threading.current_thread() is threading.main_thread()
    if verbose is None and sys.stderr is not None and is_alone:
        return ConsoleProgress(least_seconds=LONG_FIT, most_seconds=most_seconds)
    return ConsoleProgress() if verbose else None


class ConsoleProgress:
    """Shows the progress of a fit in one line that is rewritten.

    On a terminal the line is redrawn a few times a second; elsewhere (a log file, a notebook's stderr) one line is
    written at the end of every restart. With `least_seconds` nothing is shown until the fit is known to take longer;
    it ends after `most_seconds` in any case. Timers ask for that too, because a single search may be long.
    """

    def __init__(
        self,
        stream: TextIO | None = None,
        seconds_between: float = 0.1,
        least_seconds: float = 0.0,
        most_seconds: float = float("inf"),
        now: Callable[[], float] = time.monotonic,
        timer: Callable[[float, Callable[[], None]], threading.Timer] = threading.Timer,
    ) -> None:
        self._n_outputs = self._n_restarts = self._max_iter = 1
        self._stream = stream if stream is not None else sys.stderr
        self._is_live = self._stream.isatty()
        self._seconds_between = seconds_between
        self._now, self._least_seconds, self._most_seconds = now, least_seconds, most_seconds
        self._is_shown = least_seconds == 0.0
        self._started = self._last = now()
        # searches of one kind that are over and left, and when the first one began or, later, was over
        self._n_over, self._n_left, self._since = 0, float("inf"), self._started
        self._is_estimated = self._is_closed = False
        self._speaking = threading.Lock()
        self._previous: IterationRecord | None = None
        self._fold = -1
        self.is_finished = False
        is_silent = 0.0 < least_seconds < most_seconds
        self._timers = [timer(seconds, self.on_timer) for seconds in (FIRST_WORD, least_seconds) if is_silent]
        for one in self._timers:
            one.daemon = True
            one.start()

    def expect_choice(self, n_searches: int) -> None:
        """Set how many searches the cross-validation has at most."""
        self._n_over, self._n_left, self._since = 0, n_searches, self._now()

    def expect(self, n_outputs: int, n_restarts: int, max_iter: int) -> None:
        """Set how much there is to do at most."""
        self._n_outputs, self._n_restarts, self._max_iter = n_outputs, n_restarts, max_iter
        self.expect_choice(n_outputs * n_restarts)

    def on_choice(self, fold: int, n_folds: int, basis: str, n_left: int) -> None:
        """Show on which fold of the cross-validation models were searched last, and of which basis."""
        text = f"cross-validation: fold {fold + 1} of {n_folds}"
        now = self._now()
        self._count(n_left)
        if not self._is_shown:
            return
        if self._is_live and now - self._last >= self._seconds_between:
            self._last = now
            self._draw(f"{text}, {basis} {self._clock()}", fold / n_folds)
        elif not self._is_live and fold != self._fold:
            self._stream.write(f"{text} {self._clock()}\n")
        self._fold = fold

    def on_half(self, n_done: int, n_halves: int) -> None:
        """Show how many of the fits of a certificate are done."""
        self._count(n_halves - n_done)
        if self._is_shown and (self._is_live or n_done % 10 == 0):
            self._draw(f"fit {n_done} of {n_halves} halves {self._clock()}", n_done / n_halves)
            self._fold = n_done

    def on_iteration(self, record: IterationRecord) -> None:
        """Redraw the line, unless that was done a moment ago."""
        before, self._previous = self._previous, record
        now = self._now()
        is_next = before is not None and (before.output, before.restart) != (record.output, record.restart)
        if is_next:
            self._count(self._n_outputs * self._n_restarts - self._n_over - 1)
        if not self._is_shown:
            return
        if self._is_live:
            if now - self._last >= self._seconds_between:
                self._last = now
                self._draw(self._text(record), self._share(record))
        elif before is not None and is_next:
            self._stream.write(self._text(before) + "\n")

    def say(self, text: str) -> None:
        """Leave a line on the screen or in the log."""
        if not self._is_shown:
            return
        if self._is_live:
            width = shutil.get_terminal_size().columns - 1
            text = "\r" + text[:width].ljust(width)
        self._stream.write(text + "\n")

    def close(self) -> None:
        """Leave the last state on the screen and end the line."""
        for one in self._timers:
            one.cancel()
        with self._speaking:
            self._is_closed = True
        if not self._is_shown:
            return
        if self._previous is not None:
            if self._is_live:
                self._draw(self._text(self._previous), 1.0 if self.is_finished else self._share(self._previous))
                self._stream.write("\n")
            else:
                self._stream.write(self._text(self._previous) + "\n")
            self._stream.flush()
        elif self._is_live and self._fold >= 0:
            self._stream.write("\n")  # stopped while bases were compared

    def on_timer(self) -> None:
        """Say that the fit is long, if it is, or if the first or second search is and there are many more."""
        now, least = self._now(), self._least_seconds
        if now - self._started >= least:
            self._announce(f"take more than {least:.0f} s")
        elif self._n_over < 2 and now - self._started + (now - self._since) * (self._n_left - 1) > least:
            self._announce(f"probably take more than {least:.0f} s")

    def _count(self, n_left: int) -> None:
        """Count a search that is over; the first one, which may compile, says nothing about those that are left."""
        now = self._now()
        self._n_over, self._n_left = self._n_over + 1, n_left
        if self._n_over == 1:
            self._since = now
            return
        left = n_left * (now - self._since) / (self._n_over - 1)
        seconds = min(now - self._started + left, self._most_seconds)
        if seconds > self._least_seconds > 0.0:
            amount = f"{seconds:.0f} s" if seconds < 120.0 else f"{seconds / 60:.0f} min"
            self._announce(f"take about {amount}", is_estimate=True)

    def _announce(self, how_long: str, *, is_estimate: bool = False) -> None:
        """Say how long the fit takes, if nothing was said so far; also an estimate, once."""
        with self._speaking:
            if self._is_closed or self._is_estimated or (self._is_shown and not is_estimate):
                return
            hint = "" if self._is_shown else "; set verbose=0 to hide this"
            self._is_shown, self._is_estimated = True, is_estimate
            self.say(f"This will {how_long}{hint}.")

    def _draw(self, text: str, part: float) -> None:
        width = shutil.get_terminal_size().columns - 1
        room = max(min(width - TEXT_WIDTH, 30), 0)  # the same for every text, so that it stands still
        filled = int(room * part)
        bar = FULL * filled + EMPTY * (room - filled)
        self._stream.write("\r" + f"{bar} {text}"[:width].ljust(width))
        self._stream.flush()

    def _share(self, record: IterationRecord) -> float:
        """Part of the work done; a restart counts as a whole once it is over, however few iterations it took."""
        restarts = record.output * self._n_restarts + record.restart + record.iteration / self._max_iter
        return restarts / (self._n_outputs * self._n_restarts)

    def _text(self, record: IterationRecord) -> str:
        output = f"output {record.output + 1}/{self._n_outputs} " if self._n_outputs > 1 else ""
        return (
            f"{output}restart {record.restart + 1}/{self._n_restarts} iter {record.iteration:3d} "
            f"best {record.best_so_far:.4f} size {record.mean_size_drawn:4.1f}→{record.mean_size_kept:4.1f} "
            f"open {record.n_open:3d} {self._clock()}"
        )

    def _clock(self) -> str:
        seconds = int(self._now() - self._started)
        return f"{seconds // 60}:{seconds % 60:02d}"
