"""What a column holds: numbers, text or dates; which of its cells are blank; how laboratories write numbers."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal
from numbers import Number
from typing import TYPE_CHECKING, Any

import numpy as np

from .._utils.arrays import BoolArray

if TYPE_CHECKING:
    from pandas import Series

BLANK_TEXTS = frozenset({"", "?", "na", "n/a", "nan", "null", "<null>", "<na>", "#n/a"})
# more words than in text columns, where "none" or "unknown" may be a level of its own
BLANK_NUMBERS = BLANK_TEXTS | {
    *("-", "--", ".", "none", "n.a.", "n.d.", "unknown", "missing", "#null!", "#value!", "#div/0!")
}
LEAST_SHARE = 0.95  # of the cells that are not blank must be numbers, or dates, for a column of these
TRUTH_VALUES = {"true": 1.0, "false": 0.0}
CODE = re.compile(r"0\d+")  # a post code rather than a number: the leading zero matters
DATE = re.compile(r"(?:\d{4}[-/]\d{1,2}[-/]\d{1,2}|\d{1,2}[./-]\d{1,2}[./-](?:\d{4}|\d{2}))(?:[T ].*)?")
LIMIT, UNIT = r"(?P<limit>(?:[<>]=?|[≤≥])\s*)?", r"(?:\s*(?P<unit>%|[°µμ]?[A-Za-z][\w^/.·]{0,15}))?"
MEASUREMENT = re.compile(rf"{LIMIT}(?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?){UNIT}")
DECIMAL_COMMA = re.compile(rf"{LIMIT}[+-]?\d*,\d+(?:[eE][+-]?\d+)?{UNIT}")
THOUSANDS = re.compile(rf"{LIMIT}[+-]?[1-9]\d{{0,2}}(?:,\d{{3}})+(?:\.\d*)?{UNIT}")


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """A column whose kind is known."""

    name: str
    kind: str  # "number" (true and false are 1 and 0), "text", "date" or "other"
    values: np.ndarray[Any, Any]  # floats with NaN for blanks, or texts with None for blanks
    n_not_numbers: int = 0  # cells of a column of numbers that hold something else and count as blank
    unit: str = ""  # that its numbers are written with
    n_limits: int = 0  # cells such as <0.5, which count as the limit

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
        return replace(self, values=self.values[rows])


def infer_column(series: Series) -> Column:
    """A column of the kind that its cells suggest."""
    name, cells = str(series.name), _objects(series)
    present = [cell for cell in cells if not _is_blank(cell, BLANK_NUMBERS)]
    are_texts = [isinstance(cell, str) for cell in present]
    if any(are_texts) != all(are_texts):
        kind = "other"
    elif any(are_texts):
        kind = _kind_of_texts(Counter(text.strip() for text in present))
    else:
        kind = _kind_of_objects(present)
    if kind == "number":
        return _number_column(name, cells)
    # words such as "none" that are blank for numbers may be levels: a column of texts if nothing else is in it
    is_text = all(cell is None or isinstance(cell, str) for cell in cells)
    if kind in ("text", "other") and is_text:
        return _text_column(name, cells)
    return Column(name, kind, _text_column(name, cells).values if is_text else cells)


def column_of_kind(series: Series, kind: str, comma: str | None = None, unit: str | None = None) -> Column:
    """A column of numbers or text, as the user or a saved model says; numbers with another unit are none."""
    name, cells = str(series.name), _objects(series)
    if kind != "number":
        return _text_column(name, cells)
    for i, cell in enumerate(cells):
        if isinstance(cell, str):
            cells[i] = _with_point(cell.strip(), comma)
    return _number_column(name, cells, unit)


def share_of_numbers(column: Column) -> float:
    """Which share of a text column's cells, blanks not counted, are numbers."""
    present = [text for text in column.values if not _is_blank(text, BLANK_NUMBERS)]
    if column.kind != "text" or not present or any(CODE.fullmatch(text) for text in present):
        return 0.0
    if 2 * sum(map(_has_limit, present)) > len(present):
        return 0.0
    unit = common_unit(Counter(present))
    return sum(number_of(text, unit) is not None for text in present) / len(present)


def number_of(cell: str, unit: str = "") -> float | None:
    """The finite number in a cell, with that unit or none; that of <0.5 is 0.5. None for anything else."""
    try:
        value = math.nan if "_" in cell else float(cell)
    except ValueError:
        found = MEASUREMENT.fullmatch(cell.strip())
        value = float(found["number"]) if found and _plain(found["unit"]) in ("", _plain(unit)) else math.nan
    return value if math.isfinite(value) else None


def common_unit(counts: Counter[str]) -> str:
    """The unit that at least half of the numbers have; empty without one."""
    units: Counter[str] = Counter()
    for text, n in counts.items():
        if found := MEASUREMENT.fullmatch(text):
            units[found["unit"] or ""] += n
    unit, n_with = units.most_common(1)[0] if units else ("", 0)
    return unit if 2 * n_with >= units.total() else ""


def _plain(unit: str | None) -> str:
    """A unit without differences of spelling."""
    return (unit or "").lower().replace("μ", "µ")


def _has_limit(text: str) -> bool:
    return text.lstrip()[:1] in ("<", ">", "≤", "≥")


# ---- commas in numbers


def comma_meaning(delimiter: str, columns: Iterable[Iterable[str]]) -> str | None:
    """What replaces a comma in a number: "." if it is decimal, "" if it separates thousands, None if unknown."""
    if delimiter == ",":
        return ""
    # a single 1,5 decides what 1,234 means; without one such cells stay as they are
    decided = any(DECIMAL_COMMA.fullmatch(c) and not THOUSANDS.fullmatch(c) for cells in columns for c in cells)
    return "." if decided else None


def with_points(cells: Sequence[str], comma: str | None) -> list[str]:
    """A column with decimal points, if that makes it a column of numbers; else as it was."""
    found = [_with_point(cell, comma) for cell in cells]
    present = [cell for cell in found if cell.lower() not in BLANK_NUMBERS]
    unit = common_unit(Counter(present))
    n_numbers = sum(number_of(cell, unit) is not None for cell in present) if found != list(cells) else 0
    return found if n_numbers >= LEAST_SHARE * len(present) else list(cells)


def _with_point(cell: str, comma: str | None) -> str:
    if comma is None or "," not in cell:
        return cell
    return cell.replace(",", comma) if (DECIMAL_COMMA if comma else THOUSANDS).fullmatch(cell) else cell


# ---- cells


def _objects(series: Series) -> np.ndarray[Any, Any]:
    """Cells as Python objects, None if missing; a copy."""
    cells = np.array(series.astype(object), dtype=object)
    cells[np.asarray(series.isna(), dtype=bool)] = None
    return cells


def _is_blank(cell: Any, words: frozenset[str]) -> bool:
    return cell is None or (isinstance(cell, str) and cell.strip().lower() in words)


def _kind_of_objects(present: list[Any]) -> str:
    if present and all(isinstance(cell, Number | Decimal | np.bool_) for cell in present):
        return "number"
    return "date" if present and all(isinstance(cell, date | timedelta) for cell in present) else "other"


def _kind_of_texts(counts: Counter[str]) -> str:
    enough = LEAST_SHARE * counts.total()
    if all(text.lower() in TRUTH_VALUES for text in counts):
        return "number"
    if any(CODE.fullmatch(text) for text in counts):
        return "text"
    unit = common_unit(counts)
    numbers = Counter({text: n for text, n in counts.items() if number_of(text, unit) is not None})
    # "<50" and ">50" alone are levels
    if numbers.total() >= enough and 2 * sum(n for text, n in numbers.items() if _has_limit(text)) <= numbers.total():
        return "number"
    return "date" if sum(n for text, n in counts.items() if DATE.fullmatch(text)) >= enough else "text"


def _number_column(name: str, cells: np.ndarray[Any, Any], unit: str | None = None) -> Column:
    """Numbers; cells that hold none are blank, and counted unless they are words for a blank."""
    if unit is None:
        unit = common_unit(Counter(cell.strip() for cell in cells if isinstance(cell, str)))
    values = np.array([_to_float(cell, unit) for cell in cells], dtype=np.float64)
    blank = np.array([_is_blank(cell, BLANK_NUMBERS) for cell in cells], dtype=bool)
    at_limit = [isinstance(cell, str) and _has_limit(cell) for cell in cells] & ~np.isnan(values)
    return Column(name, "number", values, int((np.isnan(values) & ~blank).sum()), unit, int(at_limit.sum()))


def _to_float(cell: Any, unit: str) -> float:
    """A cell as a finite number, NaN if it is none."""
    if isinstance(cell, str):
        found = number_of(cell, unit)
        return TRUTH_VALUES.get(cell.strip().lower(), math.nan) if found is None else found
    try:
        value = math.nan if cell is None else float(cell)
    except (TypeError, ValueError, OverflowError):
        return math.nan
    return value if math.isfinite(value) else math.nan


def _text_column(name: str, cells: np.ndarray[Any, Any]) -> Column:
    """Texts; whole numbers of a float column are written without a point."""
    values = np.empty(len(cells), dtype=object)
    for i, cell in enumerate(cells):
        if not _is_blank(cell, BLANK_TEXTS):
            whole = isinstance(cell, float) and cell.is_integer()
            values[i] = str(int(cell)) if whole else str(cell).strip()
    return Column(name, "text", values)
