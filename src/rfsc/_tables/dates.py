"""Texts with dates as times, and the order of day and month that a whole column shows."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date
from typing import Any

import numpy as np

from .._utils.arrays import IntArray

YEAR_FIRST = re.compile(r"(\d{4})[-/](\d{1,2})[-/](\d{1,2})(.*)", re.DOTALL)
YEAR_LAST = re.compile(r"(\d{1,2})([./-])(\d{1,2})[./-](\d{4}|\d{2})(.*)", re.DOTALL)
CENTURY = 69  # from which on years of two digits are those of the last century


def times(cells: Iterable[Any]) -> tuple[IntArray, int, bool]:
    """Times that can be compared, the number of cells that hold none, and whether days may be months.

    Dots mean that the day is first. Elsewhere it is, unless only a second number above twelve shows that it is not.
    """
    from pandas import to_datetime

    texts = [str(cell).strip() for cell in cells]
    pairs = {(int(m[1]), int(m[3])) for m in map(YEAR_LAST.fullmatch, texts) if m and m[2] != "."}
    is_day_first = any(first > 12 for first, _ in pairs)
    is_month_first = not is_day_first and any(second > 12 for _, second in pairs)
    written = [_iso(text, is_month_first=is_month_first) for text in texts]
    found = to_datetime(written, errors="coerce", format="mixed", utc=True)
    is_doubtful = any(first != second for first, second in pairs) and not (is_day_first or is_month_first)
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
