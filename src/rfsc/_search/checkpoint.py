"""A fit that can be taken up again: finished and running searches in a file that is always whole.

The file is written beside its place, flushed to the disk and renamed, so that a crash at any moment leaves the last
whole state. All that is written is plain JSON: a line about the file, with the digest of what follows, and a line with
the searches. Since a search is a function of its state, the fit that goes on from it ends in the same bits as one that
was never interrupted; the digest sees to it that a state that was damaged on the disk is not gone on from.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
import warnings
from collections.abc import Callable, Mapping
from numbers import Real
from pathlib import Path
from typing import Any

from .._utils.files import remove_leavings, whole_file
from .history import IterationRecord

FORMAT, VERSION = "rfsc-checkpoint", 1


class CheckpointError(ValueError):
    """A checkpoint that does not belong to this fit, or that cannot be read."""


class Checkpoint:
    """Pass it to `callbacks`: the fit is saved as it goes on, and goes on from there when it is started again.

    The same call of `fit`, with the same data and settings, finds the file and continues; with others it is refused.
    `random_state` must be a whole number. A disk that is full, or a folder that cannot be written to, is warned of
    once; the fit goes on.

    Parameters
    ----------
    path : str or path
        The file.
    every : float, default=10.0
        Least seconds between two writes; what is finished is written at once.
    """

    def __init__(self, path: str | os.PathLike[str], every: float = 10.0) -> None:
        if not isinstance(path, str | os.PathLike) or not os.fspath(path):
            msg = f"path must be the name of a file, got {'an empty text' if path == '' else type(path).__name__}."
            raise TypeError(msg)
        is_number = isinstance(every, Real) and not isinstance(every, bool)
        if not is_number or not every >= 0:
            msg = f"every must be a number of seconds that is not negative, got {every!r}."
            raise ValueError(msg)
        self.path = Path(path)
        self.every = float(every)
        self._units: dict[str, Any] = {}
        self._running: dict[str, Callable[[], Any]] = {}
        self._fingerprint: Mapping[str, Any] = {}
        self._written = 0.0
        self._has_warned = False

    def on_iteration(self, record: IterationRecord) -> None:
        """Look at a finished iteration: nothing to say, the search shows its whole state elsewhere."""

    def open(self, fingerprint: Mapping[str, Any]) -> None:
        """Take up what the file holds; refuse it where it belongs to other data or settings.

        Parameters
        ----------
        fingerprint : mapping
            What the fit depends on, as plain numbers and texts.
        """
        self._fingerprint, self._units, self._running, self._has_warned = fingerprint, {}, {}, False
        self._written = time.monotonic()
        remove_leavings(self.path)
        if not os.path.exists(self.path):  # unlike the path's own method, it answers whatever the name
            return
        found = self._read()
        differ = sorted(
            key
            for key in {*found["fingerprint"], *fingerprint}
            if found["fingerprint"].get(key) != fingerprint.get(key)
        )
        if differ:
            msg = (
                f"the checkpoint {self.path.name} belongs to another fit: {', '.join(differ)} "
                f"{'differs' if len(differ) == 1 else 'differ'}. Fit with the same data and settings, or delete the "
                "file to begin anew; the fits of a cross-validation cannot share one."
            )
            raise CheckpointError(msg)
        self._units = found["units"]

    def _read(self) -> dict[str, Any]:
        try:
            first, _, content = self.path.read_text(encoding="utf-8").partition("\n")
            head = json.loads(first)
            is_ours = head["format"] == FORMAT and head["version"] == VERSION
        except OSError as error:
            msg = f"the checkpoint {self.path.name} cannot be read ({error.strerror}). Name another file."
            raise CheckpointError(msg) from error
        except (ValueError, KeyError, TypeError, RecursionError):
            is_ours = False
        if not is_ours:
            msg = f"{self.path.name} is not a checkpoint of this version of rfsc. Delete it to begin anew."
            raise CheckpointError(msg)
        if head.get("digest") != _digest(content):
            msg = f"the checkpoint {self.path.name} is damaged: it is not as it was written. Delete it to begin anew."
            raise CheckpointError(msg)
        return dict(json.loads(content))

    def find(self, key: str) -> Any:
        """What was kept of a part of the fit; None where nothing was."""
        return self._units.get(key)

    def put(self, key: str, value: Callable[[], Any], *, is_finished: bool = False) -> None:
        """Keep the state of a part of the fit, in the file at once where it is finished.

        Parameters
        ----------
        key : str
            Which part.
        value : callable
            Gives its state as plain numbers, texts and lists; asked when the file is written.
        is_finished : bool, default=False
            Whether this is its last state.
        """
        self._running = {} if is_finished else {key: value}
        if is_finished:
            self._units[key] = value()
        if is_finished or time.monotonic() - self._written >= self.every:
            self.write()

    def save(self) -> None:
        """Write what was put since the file was written last: the fit ends early."""
        if self._running:
            self.write()

    def write(self) -> None:
        """Replace the file by one that holds all that is known."""
        self._units |= {key: value() for key, value in self._running.items()}
        self._running = {}
        content = json.dumps({"fingerprint": self._fingerprint, "units": self._units}, allow_nan=False)
        head = json.dumps({"format": FORMAT, "version": VERSION, "digest": _digest(content)})
        try:
            with whole_file(self.path) as part:
                part.write_text(f"{head}\n{content}", encoding="utf-8")
        except OSError as error:
            if not self._has_warned:
                self._has_warned = True
                msg = f"the checkpoint {self.path} cannot be written ({error.strerror}); the fit goes on without it."
                warnings.warn(msg, RuntimeWarning, stacklevel=2)
        self._written = time.monotonic()


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
