"""Output of the commands: results to stdout or whole files, messages to stderr, errors in one sentence."""

from __future__ import annotations

import io
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from .._utils.files import whole_file

# all but tab and line feed, and those that turn the direction of what follows
CONTROL_CHARACTER = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
CHECKPOINTS: list[str] = []  # that the command keeps
WRITTEN: list[str] = []  # files that the command has written
LIBRARY_WARNINGS: list[str] = []  # that Python has shown during the command
STDOUT_NAMES = ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")


class CommandError(ValueError):
    """An error for the user: what was expected, what came, what to do."""

    def __init__(self, message: str, status: int = 1) -> None:
        super().__init__(message)
        self.status = status  # exit status; 2 for a wrong option


class Messages:
    """Messages for the user, on stderr; none if `quiet`."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._console = Console(stderr=True, quiet=quiet, highlight=False)
        self.warned: list[str] = []  # for the report
        self.notes: list[str] = []
        self.is_live = not quiet and self._console.is_terminal  # whether progress may be drawn

    def info(self, text: str = "", style: str = "") -> None:
        """Write a line; names in it are never taken for markup, and paths are not wrapped."""
        self._console.print(Text(printable(text), style=style), soft_wrap=True)

    def note(self, text: str, start: str = "  ") -> None:
        """Write how the table was read; a report repeats it."""
        self.notes.append(printable(text))
        self.info(start + text)

    def warn(self, text: str, *, in_report: bool = True) -> None:
        """Write a warning; a report repeats it unless it finds the same by itself."""
        self.warned += [printable(text)] if in_report else []
        self.info(f"Warning: {text}", "yellow")

    def table(self, headers: Sequence[str], rows: Iterable[Sequence[str]], dim: Sequence[int] = ()) -> None:
        """Write a table with some rows dimmed."""
        self._console.print(_table(headers, rows, dim))

    @contextmanager
    def progress(self, what: str) -> Iterator[Callable[[str], None]]:
        """An animated line during a long step; call the value to change its text."""
        if not self.is_live:
            yield lambda _: None
            return
        with self._console.status(Text(what)) as status:
            yield lambda text: status.update(Text(text))


def printable(text: str) -> str:
    """Text without control characters: names from a table must not move the cursor or change colours."""
    return CONTROL_CHARACTER.sub("\N{REPLACEMENT CHARACTER}", text)


# ---- results


def print_result(text: str) -> None:
    text = printable(text) if sys.stdout.isatty() else text
    encoding = sys.stdout.encoding or "utf-8"  # of a terminal or a log that may not know every letter
    known = text.encode(encoding, "backslashreplace").decode(encoding)
    sys.stdout.write(known if known.endswith("\n") else known + "\n")


def print_json(value: Any) -> None:
    print_result(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False))


def output_width() -> int:
    """Width of results: that of the terminal up to 120 columns, 100 in files."""
    return min(Console().width, 120) if sys.stdout.isatty() else 100


def table_text(headers: Sequence[str], rows: Iterable[Sequence[str]], width: int = 120) -> str:
    stream = io.StringIO()
    Console(file=stream, width=width, no_color=True).print(_table(headers, rows))
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines())


def _table(headers: Sequence[str], rows: Iterable[Sequence[str]], dim: Sequence[int] = ()) -> Table:
    """A table without a frame; long cells are wrapped."""
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for header in headers:
        table.add_column(Text(header), overflow="fold")
    for i, row in enumerate(rows):
        table.add_row(*(Text(printable(cell)) for cell in row), style="dim" if i in dim else "")
    return table


# ---- files


def check_writable(path: str, *, force: bool, inputs: Mapping[str, str | None], endings: Sequence[str] = ()) -> str:
    """Raise before any work is done if a result could not be written; "-" for any name of stdout."""
    if path in STDOUT_NAMES:
        return "-"
    file = Path(path)
    real = os.path.realpath(path)  # unlike Path.resolve, it never raises
    if os.path.islink(real):
        msg = f"{path} is a link that leads to itself; give the name of a file."
        raise CommandError(msg)
    if file.is_dir():
        msg = f"{path} is a folder; give the name of a file."
        raise CommandError(msg)
    if not file.absolute().parent.is_dir():
        msg = f"there is no folder {file.parent} to write {file.name} to; create it first."
        raise CommandError(msg)
    if file.exists() and not file.is_file():  # a device or a pipe is written into, never replaced
        return path
    for what, other in inputs.items():
        if other not in (None, "-") and real == os.path.realpath(str(other)):
            msg = f"{path} is also the name of {what}; choose another name for one of them."
            raise CommandError(msg, 2)
    if endings and file.suffix.lower() not in endings:
        msg = f"expected a file name that ends with one of {', '.join(endings)}, got {path}. Rename it."
        raise CommandError(msg, 2)
    if file.exists() and not force:
        msg = f"{path} already exists; pass --force to overwrite it, or choose another name."
        raise CommandError(msg)
    try:
        with TemporaryFile(dir=Path(real).parent):
            return path
    except OSError as error:
        msg = f"{path} cannot be written to its folder: {error.strerror}. Choose another folder."
        raise CommandError(msg) from None


def write_result(content: str | bytes, path: str) -> None:
    """Write a result to a file, as a whole or not at all, or to stdout (-)."""
    if isinstance(content, str) and path == "-" and sys.stdout.isatty():
        content = printable(content)
    data = content.encode(errors="replace") if isinstance(content, str) else content  # of a file name that is no text
    if path == "-":
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    with whole_file(path) as part:
        part.write_bytes(data)
    WRITTEN.append(path)
