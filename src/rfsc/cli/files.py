"""Files that commands write: never over another one unasked, never half."""

from __future__ import annotations

import sys
from pathlib import Path

from .._files import whole_file
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
    with whole_file(path) as part:
        part.write_bytes(data)
