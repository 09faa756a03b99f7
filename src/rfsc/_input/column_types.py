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
    AS_TYPED,
    BLANK_NUMBERS,
    BLANK_TEXTS,
    GROUPS,
    SPACES,
    TRUTH,
    CellFormat,
    level_key,
    number_in,
    read_numbers,
    split_limit,
    trimmed,
)
from .._utils.arrays import BoolArray, IntArray
from .._utils.validation import is_missing

LEAST_SHARE = 0.95  # of the cells that are not blank must be numbers, or dates, for a column of these
NEARLY_NUMBERS = 0.7  # share of numbers in a text column from which numbers were probably meant
MOST_LEVELS = 10  # more different numbers are measurements
CODE = re.compile(r"0\d+")  # a post code rather than a number: the leading zero matters
DATE = re.compile(r"(?:\d{4}[-/]\d{1,2}[-/]\d{1,2}|\d{1,2}[./-]\d{1,2}[./-](?:\d{4}|\d{2}))(?:[T ].*)?")
YEAR_FIRST = re.compile(r"(\d{4})[-/](\d{1,2})[-/](\d{1,2})(.*)", re.DOTALL)
YEAR_LAST = re.compile(r"(\d{1,2})([./-])(\d{1,2})[./-](\d{4}|\d{2})(.*)", re.DOTALL)
COMMAS: dict[str | None, str | None] = {".": "", ",": ".", None: None}  # the meaning of commas by the decimal sign
DECIMAL_SIGNS = {comma: sign for sign, comma in COMMAS.items()}
CENTURY = 69  # from which on years of two digits are those of the last century
NUMBER = r"[+-]?[0-9.,](?:[0-9.,' ]*[0-9.,])?(?:[eE][+-]?\d+)?"
CURRENCY = r"(?:US)?[$€£¥]|AUD|BRL|CAD|CHF|CNY|CZK|DKK|EUR|GBP|HKD|HUF|INR|JPY|MXN|NOK|NZD|PLN|SEK|SGD|USD|ZAR"
UNIT = rf"%|{CURRENCY}|[°µμ]?[A-Za-z][\w^/.·]{{0,15}}"
MEASUREMENT = re.compile(rf"(?:[<>]=?|[≤≥])?\s*(?P<currency>{CURRENCY})?\s*{NUMBER}\s*(?P<unit>{UNIT})?")
LONGEST_NUMBER = 200  # letters of a number with its unit; expressions take quadratic time
DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+")
DECIMAL_POINT = re.compile(r"[^.,]*\d\.(?:\d{1,2}|\d{4,})(?!\d)[^.,]*")
ONE_COMMA = re.compile(r"[^,.]*\d,\d+[^,.\d]*")
DOUBTFUL = {sign: re.compile(rf"(?:[^,.]*[^,.\d])?[1-9]\d{{0,2}}[{sign}]\d{{3}}[^,.\d]*") for sign in ",."}
THOUSANDS = re.compile(GROUPS.format(".", ","))
IN_SHEETS = (str, Number, Decimal, np.bool_, date)
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
    doubtful_sign: str = ""  # of numbers such as 1,234, if it may be decimal or stand between thousands

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
    # words such as "none" that are blank for numbers may be levels; beside texts a sheet holds numbers and dates
    are_texts = any(isinstance(cell, str) for cell in present) or not present
    is_text = are_texts and all(isinstance(cell, IN_SHEETS) for cell in present)
    kind = _kind_of_texts(_counts(present), comma) if is_text else _kind_of_objects(present)
    return Column(name, kind, cells) if kind == "other" else column_of_kind(name, cells, kind, comma)


def column_of_kind(name: str, column: Any, kind: str, comma: str | None = None) -> Column:
    """A column of numbers, text or dates, as the user says."""
    cells = objects_of(column)
    texts = _counts(cell for cell in cells if isinstance(cell, str))
    if kind == "date":
        return Column(name, kind, text_column(name, cells).values)
    own = _comma_in(texts, comma) if kind == "number" else comma
    if kind == "number":
        counts = Counter(cell for cell in cells if isinstance(cell, str))
        found = number_column(name, cells, CellFormat(common_unit(counts), own if counts else None))
    else:
        found = _merged(text_column(name, cells))
    sign = "." if own == "." and kind == "number" else "," if own in (None, "") else ""
    present = Counter({text: n for text, n in texts.items() if not _is_blank(text, BLANK_NUMBERS)})
    if sign == ".":  # beside numbers with a comma, or without any sign
        present = Counter({text: n for text, n in present.items() if "." in text})
    is_doubtful = sign != "" and any(sign in text for text in present) and _most_match(DOUBTFUL[sign], present)
    return replace(found, doubtful_sign=sign if is_doubtful else "")


def objects_of(column: Any) -> np.ndarray[Any, Any]:
    """Cells as Python objects, None if missing; a copy."""
    cells = np.array(column, dtype=object)
    cells[[is_missing(cell) for cell in cells]] = None
    return cells


# ---- numbers


def number_column(name: str, cells: np.ndarray[Any, Any], form: CellFormat) -> Column:
    """Numbers; cells that hold none are blank, and counted unless they are words for a blank."""
    values, below, above = read_numbers(cells, form)
    blank = np.array([_is_blank(cell, BLANK_NUMBERS) for cell in cells], dtype=bool)
    return Column(name, "number", values, form, int((np.isnan(values) & ~blank).sum()), below, above)


def _measurement(text: str) -> re.Match[str] | None:
    """A number with its unit."""
    return MEASUREMENT.fullmatch(text.strip()) if len(text) <= LONGEST_NUMBER else None


def common_unit(counts: Counter[str]) -> str:
    """The unit that at least half of the numbers have; empty without one."""
    units: Counter[str] = Counter()
    for text, n in counts.items():
        if found := _measurement(text.translate(AS_TYPED).replace("\xa0", " ")):
            units[found["unit"] or found["currency"] or ""] += n
    unit, n_with = units.most_common(1)[0] if units else ("", 0)
    return unit if 2 * n_with >= units.total() else ""


def comma_meaning(columns: Iterable[Iterable[Any]]) -> str | None:
    """What replaces a comma in a number: "." if a single 1,5 shows that it is decimal; None if that is unknown.

    It separates thousands, and nothing replaces it, if there is none such, but one such as 1.5.
    """
    has_points = False
    for column in columns:
        signs = "," if has_points else ",."
        for text in {cell for cell in column if isinstance(cell, str) and any(sign in cell for sign in signs)}:
            if _measurement(text):
                found = DECIMAL_COMMA.search(text)
                if found and not THOUSANDS.fullmatch(found[0]):
                    return "."
                has_points = has_points or DECIMAL_POINT.fullmatch(text) is not None
    return "" if has_points else None


def settled(columns: Iterable[Column]) -> list[Column]:
    """The same columns in a table in which 1,234 has one meaning only."""
    return [replace(column, doubtful_sign=column.doubtful_sign.replace(",", "")) for column in columns]


def share_of_numbers(column: Column, comma: str | None) -> float:
    """Which share of a text column's cells, blanks not counted, are numbers; 0 if it is small or they are levels."""
    if column.kind != "text":
        return 0.0
    present = Counter(text for text in column.values if not _is_blank(text, BLANK_NUMBERS))
    if not present or any(CODE.fullmatch(text) for text in present):
        return 0.0
    numbers = _numbers_of(present, ".") | (_numbers_of(present, "") if comma != "." else Counter())
    share = numbers.total() / present.total()
    is_known = share < NEARLY_NUMBERS and (share <= 1.0 - LEAST_SHARE or len(numbers) <= MOST_LEVELS)
    return 0.0 if is_known or _are_levels(numbers) else share


def _comma_in(counts: Counter[str], comma: str | None) -> str | None:
    """What a comma means in a column: it separates no thousands if there are many numbers such as 1,5.

    If commas are decimal, points separate thousands if there are more numbers such as 1.234,5 than such as 22.7.
    """
    if comma == "" and any("," in text for text in counts):
        decimal, thousands = _numbers_of(counts, "."), _numbers_of(counts, "")
        n_only, n_lost = (decimal - thousands).total(), (thousands - decimal).total()
        comma = "." if n_only > max((1.0 - LEAST_SHARE) * decimal.total(), n_lost) else ""
    if comma == "." and any("." in text for text in counts):
        decimal, swapped = _numbers_of(counts, "."), _numbers_of(counts, "swap")
        return "swap" if (swapped - decimal).total() > (decimal - swapped).total() else "."
    return comma


def _counts(cells: Iterable[Any]) -> Counter[str]:
    return Counter(str(cell).strip() for cell in cells)


def _most_match(pattern: re.Pattern[str], counts: Counter[str]) -> bool:
    n_found = sum(n for text, n in counts.items() if len(text) <= LONGEST_NUMBER and pattern.fullmatch(text))
    return n_found > 0 and n_found >= LEAST_SHARE * counts.total()


def _numbers_of(counts: Counter[str], comma: str | None) -> Counter[str]:
    """The texts that are numbers."""
    form = CellFormat(common_unit(counts), comma)
    return Counter(
        {
            text: n
            for text, n in counts.items()
            if trimmed(text) not in TRUTH and not math.isnan(number_in(text, form)[0])
        }
    )


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
    if any(CODE.fullmatch(text) for text in counts):
        return "text"
    own = (
        _comma_in(counts, comma) if comma == "." or _most_match(ONE_COMMA, counts) else comma
    )  # else 1,2 may stand for two choices
    numbers = _numbers_of(counts, own)
    if counts and numbers.total() >= LEAST_SHARE * counts.total() and not _are_levels(numbers):
        return "number"
    return "date" if _most_match(DATE, counts) else "text"


# ---- dates


def in_days(column: Column, form: CellFormat | None = None) -> tuple[Column, bool]:
    """A column of dates as days since the earliest of them, or as a format says, and whether days may be months."""
    if form is not None:
        return number_column(column.name, column.values, form), False
    texts = [cell for cell in column.values if isinstance(cell, str)]
    is_month_first, is_doubtful = _order_of_dates(texts)
    found = number_column(column.name, column.values, CellFormat(since="0001-01-01", month_first=is_month_first))
    n_read = int((~found.blank).sum())
    if n_read < LEAST_SHARE * (n_read + found.n_not_numbers):
        msg = f"the dates of {column.name!r} cannot be read. Write them as 2026-01-31, or drop the column."
        raise ValueError(msg)
    since = date.fromordinal(int(np.nanmin(found.values)) + 1).isoformat()
    return number_column(column.name, column.values, CellFormat(since=since, month_first=is_month_first)), is_doubtful


def _order_of_dates(texts: Iterable[str]) -> tuple[bool, bool]:
    """Whether the month is first in dates such as 1/31/2026, and whether the dates do not tell.

    Dots mean that the day is first. Elsewhere it is, unless only a second number above twelve shows that it is not.
    """
    pairs = {(int(m[1]), int(m[3])) for m in map(YEAR_LAST.fullmatch, texts) if m and m[2] != "."}
    is_day_first = any(first > 12 for first, _ in pairs)
    is_month_first = not is_day_first and any(second > 12 for _, second in pairs)
    return is_month_first, any(first != second for first, second in pairs) and not (is_day_first or is_month_first)


def times(cells: Iterable[Any]) -> tuple[IntArray, int, bool]:
    """Times that can be compared, the number of cells that hold none, and whether days may be months."""
    from pandas import to_datetime

    texts = [str(cell).strip() for cell in cells]
    is_month_first, is_doubtful = _order_of_dates(texts)
    written = [_iso(text, is_month_first=is_month_first) for text in texts]
    found = to_datetime(written, errors="coerce", format="mixed", utc=True)
    return np.asarray(found.asi8), int(found.isna().sum()), is_doubtful


def _iso(text: str, *, is_month_first: bool) -> str | None:
    """The same with the year first, None if there is no such day."""
    if found := YEAR_FIRST.fullmatch(text):
        year, month, day, rest = found.groups()
    elif found := YEAR_LAST.fullmatch(text):
        day, sign, month, year, rest = found.groups()
        if is_month_first and sign != ".":
            day, month = month, day
        year = year if len(year) == 4 else f"{19 if int(year) >= CENTURY else 20}{year}"
    else:
        return None
    try:
        return date(int(year), int(month), int(day)).isoformat() + rest
    except ValueError:
        return None


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
