"""A progress bar on stderr: one observer among others."""

from __future__ import annotations

import shutil
import sys
import time
from typing import TextIO

from .history import IterationRecord

FULL, EMPTY = "━", "─"
TEXT_WIDTH = 76  # of a line with single-digit outputs and two-digit restarts, and a space


class ConsoleProgress:
    """Shows the progress of a fit in one line that is rewritten.

    On a terminal the line is redrawn a few times a second; elsewhere (a log file, a notebook's stderr) one line is
    written at the end of every restart.
    """

    def __init__(self, stream: TextIO | None = None, seconds_between: float = 0.1) -> None:
        self._n_outputs = self._n_restarts = self._max_iter = 1
        self._stream = stream if stream is not None else sys.stderr
        self._is_live = self._stream.isatty()
        self._seconds_between = seconds_between
        self._started = self._last = time.monotonic()
        self._previous: IterationRecord | None = None
        self._compared: str | None = None
        self.is_finished = False

    def expect(self, n_outputs: int, n_restarts: int, max_iter: int) -> None:
        """Set how much there is to do at most."""
        self._n_outputs, self._n_restarts, self._max_iter = n_outputs, n_restarts, max_iter

    def on_choice(self, name: str, part: float) -> None:
        """Show which basis is compared, and what part of the comparison is done."""
        text = f"comparing bases: {name} {self._clock()}"
        now = time.monotonic()
        if self._is_live and now - self._last >= self._seconds_between:
            self._last = now
            self._draw(text, part)
        elif not self._is_live and name != self._compared:
            self._stream.write(text + "\n")
        self._compared = name

    def on_iteration(self, record: IterationRecord) -> None:
        """Redraw the line, unless that was done a moment ago."""
        before, self._previous = self._previous, record
        now = time.monotonic()
        if self._is_live:
            if now - self._last >= self._seconds_between:
                self._last = now
                self._draw(self._text(record), self._share(record))
        elif before is not None and (before.output, before.restart) != (record.output, record.restart):
            self._stream.write(self._text(before) + "\n")

    def say(self, text: str) -> None:
        """Leave a line on the screen or in the log."""
        if self._is_live:
            width = shutil.get_terminal_size().columns - 1
            text = "\r" + text[:width].ljust(width)
        self._stream.write(text + "\n")

    def close(self) -> None:
        """Leave the last state on the screen and end the line."""
        if self._previous is not None:
            if self._is_live:
                self._draw(self._text(self._previous), 1.0 if self.is_finished else self._share(self._previous))
                self._stream.write("\n")
            else:
                self._stream.write(self._text(self._previous) + "\n")
            self._stream.flush()
        elif self._is_live and self._compared is not None:
            self._stream.write("\n")  # stopped while bases were compared

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
        seconds = int(time.monotonic() - self._started)
        return f"{seconds // 60}:{seconds % 60:02d}"
