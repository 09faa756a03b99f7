"""Files that appear as a whole or not at all, and that nobody else can read while they are being written."""

from __future__ import annotations

import glob
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

LONGEST = 40  # characters that the name of a part takes over from that of its file


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A file to write to, which takes its name when it is complete, or vanishes."""
    target = Path(os.path.realpath(path))  # unlike Path.resolve, it never raises
    if target.exists() and not target.is_file():
        with _named(path, None):
            yield target  # to put a file in the place of /dev/null would do harm
        return
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:LONGEST]}.", suffix=".part")
    os.close(handle)
    part = Path(name)
    try:
        with _named(path, name):
            yield part
            with part.open("rb") as file:
                os.fsync(file.fileno())  # else a power cut may leave the name with nothing in it
            part.chmod(stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o666 & ~_umask())
            part.replace(target)
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def _named(path: str | os.PathLike[str], part: str | None) -> Iterator[None]:
    """Errors such as that of a full disk with the name of the file: they name none, or the part that is gone."""
    try:
        yield
    except OSError as error:
        if error.errno is None or error.filename not in (None, part):
            raise
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error


def remove_unfinished(path: str | os.PathLike[str]) -> None:
    """Remove unfinished parts of a file that killed processes have left beside it."""
    with suppress(OSError):  # a problem with the folder is reported when the file is written
        target = Path(os.path.realpath(path))
        if len(target.name) <= LONGEST:
            for part in target.parent.glob(f".{glob.escape(target.name)}.????????.part"):
                part.unlink()


def _umask() -> int:
    """Permissions that new files do not get; the only way to ask is to set them."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
