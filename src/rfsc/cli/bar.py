"""The progress bar of long experiments, on stderr."""

from __future__ import annotations

import sys
from typing import Any


class Bar:
    """A progress bar with the remaining time, by the expected cost of what is left rather than by counting folds."""

    _QUIET = 30.0  # seconds between lines where stderr is no terminal
    _STEPS = 1_000_000  # the bar counts whole steps: a sum of costs misses their total by a rounding error

    def __init__(self) -> None:
        self._bar: Any = None
        self._done = self._total = 0.0

    def start(self, total: float, n_known: int) -> None:
        """Begin: the cost of all that is to do, and how many folds are done already."""
        from tqdm import tqdm

        if n_known:
            sys.stderr.write(f"{n_known} folds are there already\n")
        self._done, self._total = 0.0, total
        self._bar = tqdm(
            total=self._STEPS,
            disable=total <= 0,
            mininterval=0.2 if sys.stderr.isatty() else self._QUIET,
            bar_format="{percentage:3.0f}% {bar} {elapsed} gone, {remaining} left  {desc}",
        )

    def advance(self, by: float, what: str) -> None:
        """One task is done: its cost and its name."""
        self._bar.set_description_str(what, refresh=False)
        self._done += by
        share = min(self._done / self._total, 1.0)
        self._bar.update(round(share * self._STEPS) - self._bar.n)

    def close(self) -> None:
        """End the line."""
        self._bar.close()
