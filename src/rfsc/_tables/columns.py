"""What a column holds: numbers, text or dates, and which of its cells are blank."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from numbers import Number
from typing import TYPE_CHECKING, Any

import numpy as np

from .._utils.arrays import BoolArray
from .commas import pointed
from .text_files import BLANK, MOSTLY, NO_NUMBER, number_of

if TYPE_CHECKING:
    from pandas import Series

TRUTH = {"true": 1.0, "false": 0.0}
CODE = re.compile(r"0\d+")  # a leading zero means something: a post code, not a number
DATE = re.compile(r"(?:\d{4}[-/]\d{1,2}[-/]\d{1,2}|\d{1,2}[./-]\d{1,2}[./-](?:\d{4}|\d{2}))(?:[T ].*)?")


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """A column that was understood.

    Parameters
    ----------
    name : str
        Its header.
    kind : {"number", "text", "date", "other"}
        What it holds. Truth values are the numbers 0 and 1.
    values : ndarray of shape (n_rows,)
        Floats with NaN for blanks, or texts with None for blanks.
    n_odd : int, default=0
        Cells of a column of numbers that hold something else and count as blank.
    """

    name: str
    kind: str
    values: np.ndarray[Any, Any]
    n_odd: int = 0

    @property
    def blank(self) -> BoolArray:
        """Which cells are blank."""
        if self.kind == "number":
            return np.asarray(np.isnan(self.values))
        return np.array([value is None for value in self.values], dtype=bool)

    @property
    def n_distinct(self) -> int:
        """How many different values there are, not counting blanks."""
        return len(set(self.values[~self.blank].tolist()))

    def take(self, rows: BoolArray) -> Column:
        """The same column with some of the rows."""
        return Column(self.name, self.kind, self.values[rows], self.n_odd)


def understand(series: Series) -> Column:
    """Say what a column holds."""
    name, cells = str(series.name), _plain(series)
    present = [cell for cell in cells if cell is not None and not _is_word(cell, NO_NUMBER)]
    if present and not any(isinstance(cell, str) for cell in present):
        kind = _kind_of_objects(present)
        return as_number(name, cells) if kind == "number" else Column(name, kind, cells)
    if present and all(isinstance(cell, str) for cell in present):
        kind = _kind_of_texts(Counter(text.strip() for text in present))
        return as_number(name, cells) if kind == "number" else Column(name, kind, as_text(name, cells).values)
    mixed = any(cell is not None and not isinstance(cell, str) for cell in cells)
    return Column(name, "other", cells) if mixed else as_text(name, cells)


def _plain(series: Series) -> np.ndarray[Any, Any]:
    """Cells as Python objects, None where one is missing."""
    cells = np.asarray(series.astype(object), dtype=object).copy()
    cells[np.asarray(series.isna(), dtype=bool)] = None
    return cells


def _is_word(cell: Any, words: frozenset[str]) -> bool:
    return isinstance(cell, str) and cell.strip().lower() in words


def _kind_of_objects(present: list[Any]) -> str:
    if all(isinstance(cell, Number | Decimal | np.bool_) for cell in present):
        return "number"
    return "date" if all(isinstance(cell, date | timedelta) for cell in present) else "other"


def _kind_of_texts(cells: Counter[str]) -> str:
    enough = MOSTLY * cells.total()
    if all(text.lower() in TRUTH for text in cells):
        return "number"
    if any(CODE.fullmatch(text) for text in cells):
        return "text"
    if sum(n for text, n in cells.items() if number_of(text) is not None) >= enough:
        return "number"
    return "date" if sum(n for text, n in cells.items() if DATE.fullmatch(text)) >= enough else "text"


def as_number(name: str, cells: np.ndarray[Any, Any]) -> Column:
    """The numbers of a column; cells that hold none are blank, and counted unless they say so."""
    known: dict[Any, float] = {}
    values = np.array([_number(cell, known) for cell in cells], dtype=np.float64)
    empty = np.array([cell is None or _is_word(cell, NO_NUMBER) for cell in cells], dtype=bool)
    return Column(name, "number", values, int((np.isnan(values) & ~empty).sum()))


def _number(cell: Any, known: dict[Any, float]) -> float:
    """A cell as a finite number, NaN otherwise; texts are looked up where they were seen before."""
    if cell is None:
        return np.nan
    if not isinstance(cell, str):
        try:
            value = float(cell)
        except (TypeError, ValueError):
            return np.nan
        return value if np.isfinite(value) else np.nan
    if cell not in known:
        found = number_of(cell)
        known[cell] = TRUTH.get(cell.strip().lower(), np.nan) if found is None else found
    return known[cell]


def as_text(name: str, cells: np.ndarray[Any, Any]) -> Column:
    """The texts of a column."""
    values = np.empty(len(cells), dtype=object)
    for i, cell in enumerate(cells):
        if cell is not None and not _is_word(cell, BLANK):
            whole = isinstance(cell, float) and cell.is_integer()
            values[i] = str(int(cell)) if whole else str(cell).strip()
    return Column(name, "text", values)


def read_as(series: Series, kind: str, comma: str | None = None) -> Column:
    """A column of a kind that is known already, as a saved model knows it."""
    name, cells = str(series.name), _plain(series)
    if kind != "number":
        return as_text(name, cells)
    points = [pointed(cell.strip(), comma) if isinstance(cell, str) else cell for cell in cells]
    return as_number(name, np.array([*points, None], dtype=object)[:-1])  # None keeps it one of objects


def share_of_numbers(column: Column) -> float:
    """How many of the cells of a text column that say something are numbers, from 0 to 1."""
    present = [text for text in column.values if text is not None and not _is_word(text, NO_NUMBER)]
    if column.kind != "text" or not present or any(CODE.fullmatch(text) for text in present):
        return 0.0
    return sum(number_of(text) is not None for text in present) / len(present)
