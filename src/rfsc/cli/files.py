"""Files that commands write: never over another one unasked, never half."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from .._utils.files import whole_file
from .console import Failure

STDOUT = ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")


def check_free(path: str, *, force: bool, others: Mapping[str, str | None] | None = None) -> str:
    """Complain, before any work is done, about a file that could not be written in the end."""
    if path in STDOUT:
        return "-"
    file = Path(path)
    if file.is_dir():
        msg = f"{path} is a folder; give the name of a file."
        raise Failure(msg)
    if not file.absolute().parent.is_dir():
        msg = f"there is no folder {file.parent} to write {file.name} to; make it first."
        raise Failure(msg)
    if _takes_anything(file):
        return path
    same = [what for what, other in (others or {}).items() if other not in (None, "-") and _same(file, Path(other))]
    if same:
        msg = f"{path} is also the name of {same[0]}; choose another name for one of them."
        raise Failure(msg, 2)
    if file.exists() and not force:
        msg = f"{path} is there already; pass --force to overwrite it, or choose another name."
        raise Failure(msg)
    return path


def _takes_anything(file: Path) -> bool:
    """Whether it is a device or a pipe, which is written into and never replaced."""
    return file.exists() and not file.is_file()


def _same(one: Path, other: Path) -> bool:
    if one.exists() and other.exists():
        return one.samefile(other)
    return one.resolve() == other.resolve()


def put(content: str | bytes, path: str) -> None:
    """Write a result to a file, or to stdout."""
    data = content.encode() if isinstance(content, str) else content
    if path == "-":
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    with whole_file(path) as part:
        part.write_bytes(data)
