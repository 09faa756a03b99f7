"""What a column holds: numbers, text or dates; which of its cells are blank; how its numbers are written."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal
from numbers import Number
from typing import Any

import numpy as np

from .._model.cells import (
    PLAIN,
    SPACES,
    THOUSANDS,
    CellFormat,
    level_key,
    number_in,
    read_numbers,
    split_limit,
    trimmed,
)
from .._model.recipe import is_missing
from .._utils.arrays import BoolArray

BLANK_TEXTS = ("", "#n/a", "<na>", "<null>", "?", "n/a", "na", "nan", "null")
# more words than in text columns, where "none" or "unknown" may be a level of its own
BLANK_NUMBERS = (
    *BLANK_TEXTS,
    *("#div/0!", "#null!", "#value!", "-", "--", ".", "missing", "n.a.", "n.d.", "none", "unknown"),
)
LEAST_SHARE = 0.95  # of the cells that are not blank must be numbers, or dates, for a column of these
CODE = re.compile(r"0\d+")  # a post code rather than a number: the leading zero matters
DATE = re.compile(r"(?:\d{4}[-/]\d{1,2}[-/]\d{1,2}|\d{1,2}[./-]\d{1,2}[./-](?:\d{4}|\d{2}))(?:[T ].*)?")
NUMBER = r"[+-]?[0-9.,]+(?:[eE][+-]?\d+)?"
MEASUREMENT = re.compile(rf"(?:[<>]=?|[≤≥])?\s*{NUMBER}\s*(?P<unit>%|[°µμ]?[A-Za-z][\w^/.·]{{0,15}})?")
DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+")
CATEGORIES = ("category", "Categorical", "Enum")  # how pandas and polars call their types


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """A column whose kind is known."""

    name: str
    kind: str  # "number" (true and false are 1 and 0), "text", "date" or "other"
    values: np.ndarray[Any, Any]  # floats with NaN for blanks, or texts with None for blanks
    cells: CellFormat | None = None  # how its texts are read; None if they are plain numbers, or none
    n_not_numbers: int = 0  # cells of a column of numbers that hold something else and count as blank
    below: BoolArray | None = None  # cells such as <0.5, which count as the limit, ...
    above: BoolArray | None = None  # ... and such as >1000
    n_merged: int = 0  # spellings of levels that differ from others in case or blanks only

    @property
    def blank(self) -> BoolArray:
        if self.kind == "number":
            return np.asarray(np.isnan(self.values))
        return np.array([value is None for value in self.values], dtype=bool)

    @property
    def n_distinct(self) -> int:
        """How many different values there are, blanks not counted."""
        return len(set(self.values[~self.blank].tolist()))

    def take(self, rows: BoolArray) -> Column:
        below, above = (None if limit is None else limit[rows] for limit in (self.below, self.above))
        return replace(self, values=self.values[rows], below=below, above=above)


def infer_column(name: str, column: Any, comma: str | None = None) -> Column:
    """A column of the kind that its cells suggest; `comma` is what a comma in its numbers means."""
    cells = objects_of(column)
    if str(getattr(column, "dtype", "")).startswith(CATEGORIES):
        return _merged(text_column(name, cells))
    present = [cell for cell in cells if not _is_blank(cell, BLANK_NUMBERS)]
    are_texts = [isinstance(cell, str) for cell in present]
    if any(are_texts) != all(are_texts):
        kind = "other"
    elif any(are_texts):
        kind = _kind_of_texts(Counter(text.strip() for text in present), comma)
    else:
        kind = _kind_of_objects(present)
    if kind == "number":
        return number_column(name, cells, comma)
    # words such as "none" that are blank for numbers may be levels: a column of texts if nothing else is in it
    is_text = all(cell is None or isinstance(cell, str) for cell in cells)
    if kind in ("text", "other") and is_text:
        return _merged(text_column(name, cells))
    return Column(name, kind, text_column(name, cells).values if is_text else cells)


def column_of_kind(name: str, column: Any, kind: str, comma: str | None = None) -> Column:
    """A column of numbers or text, as the user says."""
    cells = objects_of(column)
    return number_column(name, cells, comma) if kind == "number" else _merged(text_column(name, cells))


def objects_of(column: Any) -> np.ndarray[Any, Any]:
    """Cells as Python objects, None if missing; a copy."""
    cells = np.array(column, dtype=object)
    cells[[is_missing(cell) for cell in cells]] = None
    return cells


# ---- numbers


def number_column(name: str, cells: np.ndarray[Any, Any], comma: str | None = None) -> Column:
    """Numbers; cells that hold none are blank, and counted unless they are words for a blank."""
    texts = Counter(cell for cell in cells if isinstance(cell, str))
    form = CellFormat(common_unit(texts), comma, BLANK_NUMBERS)
    values, below, above = read_numbers(cells, form)
    blank = np.array([_is_blank(cell, BLANK_NUMBERS) for cell in cells], dtype=bool)
    is_plain = all(map(_is_plain, texts)) and (comma != "." or not texts)
    n_not_numbers = int((np.isnan(values) & ~blank).sum())
    return Column(name, "number", values, None if is_plain else form, n_not_numbers, below, above)


def _is_plain(text: str) -> bool:
    """Whether any program reads the number in a text alike; beyond doubles it is none."""
    return PLAIN.fullmatch(trimmed(text)) is not None and math.isfinite(float(trimmed(text)))


def common_unit(counts: Counter[str]) -> str:
    """The unit that at least half of the numbers have; empty without one."""
    units: Counter[str] = Counter()
    for text, n in counts.items():
        if found := MEASUREMENT.fullmatch(text.strip()):
            units[found["unit"] or ""] += n
    unit, n_with = units.most_common(1)[0] if units else ("", 0)
    return unit if 2 * n_with >= units.total() else ""


def comma_meaning(columns: Iterable[Iterable[Any]]) -> str | None:
    """What replaces a comma in a number: "." if a single 1,5 shows that it is decimal; None if that is unknown."""
    for column in columns:
        for text in {cell for cell in column if isinstance(cell, str) and "," in cell}:
            number = MEASUREMENT.fullmatch(text.strip())
            found = DECIMAL_COMMA.search(text) if number else None
            if found and not THOUSANDS.fullmatch(found[0]):
                return "."
    return None


def share_of_numbers(column: Column, comma: str | None) -> float:
    """Which share of a text column's cells, blanks not counted, are numbers."""
    if column.kind != "text":
        return 0.0
    present = Counter(text for text in column.values if not _is_blank(text, BLANK_NUMBERS))
    if not present or any(CODE.fullmatch(text) for text in present):
        return 0.0
    numbers = _numbers_of(present, comma)
    return 0.0 if _are_levels(numbers) else numbers.total() / present.total()


def _numbers_of(counts: Counter[str], comma: str | None) -> Counter[str]:
    """The texts that are numbers."""
    form = CellFormat(common_unit(counts), comma)
    return Counter({text: n for text, n in counts.items() if number_in(text, form)[0] == number_in(text, form)[0]})


def _are_levels(numbers: Counter[str]) -> bool:
    """Whether most numbers are limits: "<50" and ">50" alone are levels."""
    return 2 * sum(n for text, n in numbers.items() if split_limit(trimmed(text))[0]) > numbers.total()


# ---- kinds


def _is_blank(cell: Any, words: Iterable[str]) -> bool:
    return cell is None or (isinstance(cell, str) and trimmed(cell) in words)


def _kind_of_objects(present: list[Any]) -> str:
    if present and all(isinstance(cell, Number | Decimal | np.bool_) for cell in present):
        return "number"
    return "date" if present and all(isinstance(cell, date | timedelta) for cell in present) else "other"


def _kind_of_texts(counts: Counter[str], comma: str | None) -> str:
    enough = LEAST_SHARE * counts.total()
    if any(CODE.fullmatch(text) for text in counts):
        return "text"
    numbers = _numbers_of(counts, comma)
    if numbers.total() >= enough and not _are_levels(numbers):
        return "number"
    return "date" if sum(n for text, n in counts.items() if DATE.fullmatch(text)) >= enough else "text"


# ---- texts


def text_column(name: str, cells: np.ndarray[Any, Any]) -> Column:
    """Texts as they are written; whole numbers of a float column without a point."""
    values = np.empty(len(cells), dtype=object)
    for i, cell in enumerate(cells):
        if not _is_blank(cell, BLANK_TEXTS):
            whole = isinstance(cell, float) and cell.is_integer()
            values[i] = str(int(cell)) if whole else str(cell).replace("\xa0", " ").strip(SPACES)
    return Column(name, "text", values, CellFormat(blanks=BLANK_TEXTS))


def _merged(column: Column) -> Column:
    """A text column in which levels that differ in case or blanks only have one spelling, the most frequent."""
    counts = Counter(text for text in column.values if text is not None)
    shown: dict[str, str] = {}
    for text in sorted(counts, key=lambda text: (-counts[text], text)):
        shown.setdefault(level_key(text), text)
    values = np.array([None if text is None else shown[level_key(text)] for text in column.values], dtype=object)
    return replace(column, values=values, n_merged=len(counts) - len(shown))
