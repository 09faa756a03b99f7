"""Files that commands write: never over another one unasked, never half."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .console import Failure


def check_free(path: str | None, *, force: bool) -> None:
    """Complain, before any work is done, about a file that could not be written in the end.

    Parameters
    ----------
    path : str or None
        Where something will be written; None and "-" stand for stdout.
    force : bool
        Whether a file that is there may be overwritten.
    """
    if path is None or path == "-":
        return
    file = Path(path)
    if file.is_dir():
        msg = f"{path} is a folder; give the name of a file."
        raise Failure(msg)
    if not file.absolute().parent.is_dir():
        msg = f"there is no folder {file.parent} to write {file.name} to; make it first."
        raise Failure(msg)
    if file.exists() and not force:
        msg = f"{path} is there already; pass --force to overwrite it, or choose another name."
        raise Failure(msg)


@contextmanager
def written(path: str) -> Iterator[Path]:
    """A file to write to, which takes its name when it is complete, or vanishes.

    Parameters
    ----------
    path : str
        What it will be called.

    Yields
    ------
    Path
        Where to write meanwhile, in the same folder.
    """
    target = Path(path).resolve()  # a link keeps pointing to the file
    part = target.with_name(f".{os.getpid()}.part.{target.name}")
    try:
        yield part
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def put(content: str | bytes, path: str | None) -> None:
    """Write a result to a file, or to stdout.

    Parameters
    ----------
    content : str or bytes
        The result.
    path : str or None
        The file; None and "-" stand for stdout.
    """
    data = content.encode() if isinstance(content, str) else content
    if path is None or path == "-":
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    with written(path) as part:
        part.write_bytes(data)
