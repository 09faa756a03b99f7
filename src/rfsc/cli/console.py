"""What a command says: results on stdout, everything else on stderr, errors in one sentence."""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")  # all but tab and line feed


class Failure(ValueError):
    """What went wrong, in words for the user, and the exit status.

    Parameters
    ----------
    message : str
        What was expected, what came, what to do.
    status : int, default=1
        Exit status.
    """

    def __init__(self, message: str, status: int = 1) -> None:
        super().__init__(message)
        self.status = status


class Voice:
    """Messages for a person, on stderr.

    Parameters
    ----------
    quiet : bool, default=False
        Say nothing but errors.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        self.quiet = quiet
        self._console = Console(stderr=True, quiet=quiet, highlight=False)

    @property
    def live(self) -> bool:
        """Whether somebody watches, so that progress may be drawn."""
        return not self.quiet and self._console.is_terminal

    def say(self, text: str = "", style: str = "") -> None:
        """Write a line; what a user named is never taken for markup, and a path is never broken."""
        self._console.print(Text(harmless(text), style=style), soft_wrap=True)

    def warn(self, text: str) -> None:
        """Write a line that must not be overlooked."""
        self.say(f"Warning: {text}", "yellow")

    def table(self, headers: Sequence[str], rows: Iterable[Sequence[str]], dim: Sequence[int] = ()) -> None:
        """Write a table, some of its rows dimmed."""
        self._console.print(text_table(headers, rows, dim))

    @contextmanager
    def working(self, what: str) -> Iterator[Callable[[str], None]]:
        """A line that moves while something takes long; its value changes the words."""
        if not self.live:
            yield lambda _: None
            return
        with self._console.status(Text(what)) as status:
            yield lambda text: status.update(Text(text))


def text_table(headers: Sequence[str], rows: Iterable[Sequence[str]], dim: Sequence[int] = ()) -> Table:
    """A table without a frame; long cells are wrapped."""
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for header in headers:
        table.add_column(Text(header), overflow="fold")
    for i, row in enumerate(rows):
        table.add_row(*(Text(harmless(cell)) for cell in row), style="dim" if i in dim else "")
    return table


def plain(table: Table, width: int = 120) -> str:
    """A table as text for stdout, which may go into a file."""
    stream = io.StringIO()
    Console(file=stream, width=width, no_color=True).print(table)
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines())


def out_width() -> int:
    """How wide a text for stdout may be: the terminal, or what a page of text bears."""
    return min(Console().width, 120) if sys.stdout.isatty() else 100


def harmless(text: str) -> str:
    """Text for a screen: names from a table must not move the cursor or paint."""
    return CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)


def counted(number: int, what: str) -> str:
    """A number of things: "1 row", "3 rows"."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def verb(number: int, one: str, several: str) -> str:
    """The word that agrees with a number of things."""
    return one if number == 1 else several


def show(text: str) -> None:
    """Write a result to stdout."""
    text = harmless(text) if sys.stdout.isatty() else text
    sys.stdout.write(text if text.endswith("\n") else text + "\n")


def show_json(value: Any) -> None:
    """Write a result to stdout for machines."""
    show(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False))
