"""How long `rfsc fit` may take, and where it keeps what it has found."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from .console import Failure
from .files import check_free

if TYPE_CHECKING:
    from .._search import Checkpoint, StopAfter

ROUND = 0.97  # of the time is for searches; tables must be read and models written


class Clock:
    """The time that is left.

    Parameters
    ----------
    seconds : float or None
        From now; None for no limit.
    """

    def __init__(self, seconds: float | None) -> None:
        if seconds is not None and not seconds > 0:
            msg = f"--time-limit expects a positive number of seconds, got {seconds:g}."
            raise Failure(msg, 2)
        self._deadline = None if seconds is None else time.monotonic() + ROUND * seconds

    def limit(self, n_fits: int) -> list[StopAfter]:
        """The callbacks of the next of so many fits, which share what is left."""
        if self._deadline is None or n_fits == 0:
            return []
        from .._search import StopAfter

        return [StopAfter(max(self._deadline - time.monotonic(), 0.1) / n_fits)]


def checkpoint_of(path: str | None, *, resume: bool, force: bool, others: Mapping[str, str | None]) -> list[Checkpoint]:
    """The callbacks that keep a fit in a file."""
    if path is None:
        if resume:
            msg = "--resume needs the file to go on from; pass --checkpoint too."
            raise Failure(msg, 2)
        return []
    file = Path(path)
    if path == "-" or (file.exists() and not file.is_file()):
        msg = f"--checkpoint expects a file, got {path}."
        raise Failure(msg, 2)
    if file.exists() and not (resume or force):
        msg = f"{path} is there already; pass --resume to go on from it, or --force to begin anew."
        raise Failure(msg)
    check_free(path, force=True, others=others)
    from .._search import Checkpoint

    if file.exists() and not resume:
        file.unlink()
    return [Checkpoint(file)]
