"""What can go wrong with the file of a checkpoint: each fault is refused in a sentence, or gives one warning."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import load_iris

import rfsc._fit.fitting
from benchmarks.measuring import make_classifier
from rfsc import Checkpoint
from rfsc._search.checkpoint import CheckpointError
from rfsc.export.compare import compared_text

QUICK: dict[str, Any] = {"basis": "polynomial", "n_restarts": 2, "n_models": 30, "max_iter": 15, "random_state": 0}
SMALL = 12 * 2**10  # bytes: room for the first few writes
LONGEST = 300  # characters of a message
X, Y = load_iris(return_X_y=True)


class Stop(Exception):
    """In the middle of a fit."""


def _stop_late(record: Any) -> None:
    if record.output == 1 and record.iteration == 5:
        raise Stop


def half_a_fit(path: Path) -> None:
    """A fit that ends in the middle, and leaves a checkpoint."""
    with suppress(Stop), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        make_classifier(**QUICK, callbacks=[Checkpoint(path), _stop_late]).fit(X, Y)


def finished(path: Path | None, x: Any = X, y: Any = Y, **others: Any) -> tuple[str, list[str]]:
    """The model of a whole fit as text, and the warnings about its checkpoint."""
    own = None if path is None else Checkpoint(path)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        text = compared_text(make_classifier(**(QUICK | others), callbacks=own).fit(x, y))
    return text, [str(one.message) for one in warned if "checkpoint" in str(one.message)]


# ---- files that are not what was written


def _with_head(**values: Any) -> Callable[[bytes], bytes]:
    def damage(content: bytes) -> bytes:
        first, _, rest = content.partition(b"\n")
        head = {key: value for key, value in (json.loads(first) | values).items() if value is not None}
        return json.dumps(head).encode() + b"\n" + rest

    return damage


def _flipped(share: float) -> Callable[[bytes], bytes]:
    def damage(content: bytes) -> bytes:
        at = content.index(b"\n") + 1 + int(share * (len(content) - content.index(b"\n") - 2))
        return content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]

    return damage


def _other_digit(content: bytes) -> bytes:
    """Still JSON, and another model."""
    at = content.index(b'"history"') + 30
    while not content[at : at + 1].isdigit():
        at += 1
    return content[:at] + (b"1" if content[at : at + 1] != b"1" else b"2") + content[at + 1 :]


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "nothing in it": lambda _: b"",
    "cut off half-way": lambda content: content[: len(content) // 2],
    "last byte lost": lambda content: content[:-1],
    "first line alone": lambda content: content.partition(b"\n")[0],
    "second line alone": lambda content: content.partition(b"\n")[2],
    "written twice": lambda content: content * 2,
    **{f"a bit flipped at {share:.0%}": _flipped(share) for share in (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)},
    "another digit": _other_digit,
    "zeros": lambda content: bytes(len(content)),
    "random bytes": lambda content: np.random.default_rng(0).bytes(len(content)),
    "deep lists": lambda _: b"[" * 200_000,
    "deep objects": lambda _: b'{"format":' * 200_000,
    "a list": lambda _: b"[1]",
    "a number of 5,000 digits": lambda _: b"9" * 5000,
    "a model file": lambda _: b'{"format": "rfsc-model", "version": 1}',
    "another version": _with_head(version=99),
    "no version": _with_head(version=None),
    "no digest": _with_head(digest=None),
    "another digest": _with_head(digest="0" * 64),
    "UTF-16": lambda content: content.decode().encode("utf-16"),
}


def damage_fault(name: str, folder: Path) -> str | None:
    """What is wrong with the answer to a damaged file; None if it is refused, and left as it is."""
    path = folder / "fit.checkpoint"
    half_a_fit(path)
    path.write_bytes(DAMAGES[name](path.read_bytes()))
    return _refusal_fault(path, ("is not a checkpoint", "has changed"))


# ---- another fit

OTHERS: dict[str, tuple[Any, Any, dict[str, Any], str]] = {
    "other values": (X + 1e-9, Y, {}, "data"),
    "rows in another order": (X[::-1], Y[::-1], {}, "data"),
    "a column less": (X[:, :3], Y, {}, "data"),
    "other labels": (X, np.where(Y == 2, 1, Y), {}, "data"),
    "labels of another kind": (X, Y.astype(str), {}, "data"),
    "another seed": (X, Y, {"random_state": 1}, "random_state"),
    "another basis": (X, Y, {"basis": "hinge"}, "basis"),
    "another size of populations": (X, Y, {"n_models": 31}, "search"),
    "another criterion": (X, Y, {"criterion": "kappa"}, "criterion"),
    "another engine": (X, Y, {"engine": "numpy"}, "engine"),
}


def other_fit_fault(name: str, folder: Path) -> str | None:
    """What is wrong with the answer to a checkpoint of another fit; None if it is refused by name."""
    path = folder / "fit.checkpoint"
    half_a_fit(path)
    x, y, settings, word = OTHERS[name]
    return _refusal_fault(path, (f"other work: {word} differs",), x, y, **settings)


def other_version_fault(folder: Path) -> str | None:
    """The same for a checkpoint that another version of rfsc has written."""
    path = folder / "fit.checkpoint"
    own = rfsc._fit.fitting.__version__
    try:
        rfsc._fit.fitting.__version__ = "0.0.1"
        half_a_fit(path)
    finally:
        rfsc._fit.fitting.__version__ = own
    return _refusal_fault(path, ("rfsc differs",))


def _refusal_fault(path: Path, words: tuple[str, ...], *data: Any, **settings: Any) -> str | None:
    before = path.read_bytes()
    try:
        finished(path, *data, **settings)
    except CheckpointError as error:
        text = str(error)
        if not any(word in text for word in words) or "\n" in text or len(text) > LONGEST:
            return f"the message is not as expected: {text[:LONGEST]}"
        return None if path.read_bytes() == before else "the file was changed"
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:LONGEST]
    return "it was accepted"


# ---- places that cannot be written to


@contextmanager
def _disk(folder: Path, options: str) -> Iterator[Path | None]:
    """A disk of its own; None if this user may not mount one."""
    if os.geteuid() != 0 or shutil.which("mount") is None:
        yield None
        return
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "rfsc", str(folder)], capture_output=True)
    try:
        yield folder if done.returncode == 0 else None
    finally:
        if done.returncode == 0:
            subprocess.run(["umount", str(folder)], check=True)


@contextmanager
def full_disk(folder: Path) -> Iterator[Path | None]:
    """Room for the first few writes only."""
    with _disk(folder, f"size={SMALL // 1024}k") as disk:
        yield disk


@contextmanager
def no_more_files(folder: Path) -> Iterator[Path | None]:
    """A disk that takes one file besides its folder, but not a second one beside it."""
    with _disk(folder, "size=16m,nr_inodes=2") as disk:
        yield disk


@contextmanager
def read_only(folder: Path) -> Iterator[Path | None]:
    """A read-only folder; for the administrator, a read-only disk."""
    if os.geteuid() == 0:
        with _disk(folder, "ro") as disk:
            yield disk
        return
    folder.chmod(0o500)
    try:
        yield folder
    finally:
        folder.chmod(0o700)


@contextmanager
def short_files(folder: Path) -> Iterator[Path]:
    """No file may become longer than a few kB."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (SMALL, hard))
    try:
        yield folder
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@contextmanager
def no_folder(folder: Path) -> Iterator[Path]:
    """A folder that does not exist."""
    yield folder / "nowhere"


@contextmanager
def file_as_folder(folder: Path) -> Iterator[Path]:
    """A file where the folder should be."""
    (folder / "file").write_text("not a folder")
    yield folder / "file"


@contextmanager
def long_name(folder: Path) -> Iterator[Path]:
    """A name that no file system takes."""
    yield folder / ("n" * 400)


PLACES: dict[str, Callable[[Path], Any]] = {
    "full disk": full_disk,
    "disk without room for another file": no_more_files,
    "read-only folder": read_only,
    "limit on the size of files": short_files,
    "folder that does not exist": no_folder,
    "file in the place of a folder": file_as_folder,
    "name that is too long": long_name,
}


class Place(NamedTuple):
    """How a fit went whose checkpoint could not be written."""

    tried: bool
    fault: str | None


def place_fault(name: str, folder: Path, expected: str) -> Place:
    """What is wrong with a fit in a place that cannot be written to; None if it warns once and goes on."""
    with PLACES[name](folder) as place:
        if place is None:
            return Place(False, None)
        path = place / "fit.checkpoint"
        try:
            text, warned = finished(path)
            again, _ = finished(path)  # from what could be written, if anything
        except Exception as error:
            return Place(True, f"{type(error).__name__}: {error}"[:LONGEST])
        if text != expected or again != expected:
            return Place(True, "another model")
        left = [file.name for file in place.iterdir() if file != path] if os.path.isdir(place) else []
        if left:
            return Place(True, f"left in the folder: {left}")
        return Place(True, None if len(warned) == 1 and "goes on" in warned[0] else f"{len(warned)} warnings")


def checkpoint_torture() -> list[tuple[str, int, int, int]]:
    """Rows (name, faults, lost, wrong); lost are fits that did not go on, or not to the same model."""
    refusals: dict[str, Callable[[Path], str | None]] = {
        **{f"file: {name}": lambda folder, name=name: damage_fault(name, folder) for name in DAMAGES},
        **{f"fit: {name}": lambda folder, name=name: other_fit_fault(name, folder) for name in OTHERS},
        "fit: another version": other_version_fault,
    }
    wrong = lost = tried = 0
    for name, check in refusals.items():
        with tempfile.TemporaryDirectory() as folder:
            fault = check(Path(folder))
        wrong += fault is not None
        if fault:
            print(f"checkpoint, {name}: {fault}")
    expected, _ = finished(None)
    for name in PLACES:
        with tempfile.TemporaryDirectory() as folder:
            place = place_fault(name, Path(folder), expected)
        tried += place.tried
        lost += place.fault is not None
        if place.fault or not place.tried:
            print(f"checkpoint, {name}: {place.fault or 'not tried: it needs an administrator'}")
    return [
        ("checkpoints that are damaged or of another fit", len(refusals), 0, wrong),
        ("checkpoints that cannot be written", tried, lost, 0),
    ]


if __name__ == "__main__":
    for row in checkpoint_torture():
        print(row)
