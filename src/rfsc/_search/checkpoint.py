"""A fit that can be continued: finished searches in a file that is always complete."""

from __future__ import annotations

import hashlib
import json
import os
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from .._utils.files import remove_unfinished, whole_file
from .history import IterationRecord

FORMAT, VERSION = "rfsc-checkpoint", 3
Kept = TypeVar("Kept")


class CheckpointError(ValueError):
    """A checkpoint that does not belong to this fit, or that cannot be read."""


class Checkpoint:
    """Callback that keeps finished searches in a file, from which the same fit continues.

    The same call of `fit`, with the same data and settings, finds the file and runs only the searches that are
    missing; a file of another fit is refused. `random_state` must be an integer. If the file cannot be written, a
    warning is issued once and the fit goes on.

    Parameters
    ----------
    path : str or path
        The file.
    overwrite : bool, default=False
        Start again: a file that is there is not read, and replaced when the first search is finished.
    """

    def __init__(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        if not isinstance(path, str | os.PathLike) or not os.fspath(path):
            msg = f"path must be the name of a file, got {'an empty text' if path == '' else type(path).__name__}."
            raise TypeError(msg)
        self.path, self.overwrite = Path(path), overwrite
        self._finished: dict[str, Any] = {}
        self._fingerprint: Mapping[str, Any] = {}
        self._has_warned = False

    def on_iteration(self, record: IterationRecord) -> None:
        """Do nothing: the fit hands over finished searches by itself."""

    def open(self, fingerprint: Mapping[str, Any]) -> None:
        """Read the file, if there is one; refuse it if it belongs to other data or settings."""
        self._fingerprint, self._finished, self._has_warned = fingerprint, {}, False
        remove_unfinished(self.path)
        if self.overwrite or not os.path.exists(self.path):  # unlike Path.exists, it answers whatever the name
            return
        found = self._read()
        known = found["fingerprint"]
        differ = sorted(key for key in {*known, *fingerprint} if known.get(key) != fingerprint.get(key))
        if differ:
            msg = (
                f"the checkpoint {self.path.name} belongs to other work: {', '.join(differ)} "
                f"{'differs' if len(differ) == 1 else 'differ'}. Use the same data and settings, or delete the file to "
                "start again; the fits of a cross-validation cannot share one."
            )
            raise CheckpointError(msg)
        self._finished = found["finished"]

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
            msg = f"{self.path.name} is not a checkpoint of this version of rfsc. Delete it to start again."
            raise CheckpointError(msg)
        if head.get("digest") != _digest(content):
            msg = f"the checkpoint {self.path.name} has changed since it was written. Delete it to start again."
            raise CheckpointError(msg)
        try:
            found = json.loads(content)
            is_sound = all(isinstance(found[key], dict) for key in ("fingerprint", "finished"))
        except (ValueError, KeyError, TypeError, RecursionError):
            is_sound = False
        if not is_sound:
            raise CheckpointError(self._not_written_by_a_fit())
        return dict(found)

    def _not_written_by_a_fit(self) -> str:
        return f"the checkpoint {self.path.name} holds results that no fit has written. Delete it to start again."

    @property
    def keys(self) -> list[str]:
        """Under which something was kept."""
        return list(self._finished)

    def get(self, key: str, read: Callable[[Any], Kept]) -> Kept | None:
        """What was kept under a key, read by a function that raises if it is not right; None if there is nothing."""
        kept = self._finished.get(key)
        if kept is None:
            return None
        try:
            return read(kept)
        except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError, RecursionError):
            raise CheckpointError(self._not_written_by_a_fit()) from None

    def put(self, key: str, value: Any) -> None:
        """Keep a finished part of the fit, as plain numbers, texts and lists, and write the file."""
        self._finished[key] = value
        content = json.dumps({"fingerprint": self._fingerprint, "finished": self._finished}, allow_nan=False)
        head = json.dumps({"format": FORMAT, "version": VERSION, "digest": _digest(content)})
        try:
            with whole_file(self.path) as part:
                part.write_text(f"{head}\n{content}", encoding="utf-8")
        except OSError as error:
            if not self._has_warned:
                self._has_warned = True
                msg = f"the checkpoint {self.path} cannot be written ({error.strerror}); the fit goes on without it."
                warnings.warn(msg, RuntimeWarning, stacklevel=2)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
