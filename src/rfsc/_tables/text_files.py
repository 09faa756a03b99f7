"""What the readers of all formats share: text of a file, cells of a line, numbers in cells, the form of an error."""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

StrArray = np.ndarray[Any, np.dtype[np.str_]]
AnyPath = str | os.PathLike[str]

BLANK = frozenset({"", "?", "na", "n/a", "nan", "null", "<null>", "<na>", "#n/a"})
NO_NUMBER = BLANK | {"-", "--", ".", "none", "n.a.", "n.d.", "unknown", "missing", "#null!", "#value!", "#div/0!"}
"""More words than for text, where "none" or "unknown" may well be a level of its own."""

MOSTLY = 0.95  # of the cells that are not blank must be numbers for a column of numbers


def text_of(path: Path) -> str:
    """The text of a UTF-8 file, without a byte-order mark."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        msg = f"{path.name} must be UTF-8 text, got another encoding. Save it as UTF-8."
    raise ValueError(msg)  # outside the handler: the original error carries the whole file


def numbered_lines(text: str) -> Iterator[tuple[int, str]]:
    """Numbered lines, without blank ones and comments."""
    for number, line in enumerate(text.split("\n"), start=1):
        line = line.strip()
        if line and not line.startswith("%"):
            yield number, line


def number_of(cell: str) -> float | None:
    """The finite number that a cell holds; None for anything else."""
    try:
        value = math.nan if "_" in cell else float(cell)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def cells_of(line: str) -> list[str]:
    """What stands between the commas, without blanks and quotes."""
    quote = '"' if '"' in line else "'"
    reader = csv.reader([line.strip()], quotechar=quote, escapechar="\\", skipinitialspace=True)
    try:
        return [cell.strip() for cell in next(reader, [])]
    except csv.Error:  # a cell of more letters than csv takes, which no caller expects
        return line.split(",")


def problem(path: Path, line: int, expected: str, got: str, advice: str) -> ValueError:
    """An error that names file and line, what was expected, what came and what to do; never a cell."""
    return ValueError(f"{path.name}, line {line}: expected {expected}, got {got}. {advice}.")
