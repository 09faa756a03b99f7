"""How cells that are texts are read: numbers as laboratories write them, dates, and levels whatever their case.

These few rules are all there is, so that every export can follow them. A no-break space is a space, and spaces, tabs
and line ends around a text do not count, nor does its case. A number may stand after one of <, <=, >, >=, ≤ and ≥,
which makes it a limit, and before the unit of its column; true and false are 1 and 0; what is no number then is a
missing cell. Between thousands there may be spaces or apostrophes, and commas or points if the column says so.
"""

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

from .._utils.arrays import BoolArray, FloatArray

SPACES = " \t\n\r"
BELOW, ABOVE = "<≤", ">≥"
SIGNS = (*(sign + "=" for sign in "<>"), *BELOW, *ABOVE)  # of limits, longer ones first
LIMIT = f"[<>]=?|[{BELOW[1]}{ABOVE[1]}]"
DIGITS = "[+-]?(?:[0-9]+(?:[{0}][0-9]*)?|[{0}][0-9]+)(?:e[+-]?[0-9]{{1,3}})?"  # with a decimal sign
GROUPS = "[+-]?[1-9][0-9]{{0,2}}(?:(?:{1})[0-9]{{3}})+(?:[{0}][0-9]*)?"  # with what stands between thousands
PLAIN = re.compile(DIGITS.format("."))
DATE = re.compile(
    "(?:([0-9]{4})[./-]([0-9]{1,2})[./-]([0-9]{1,2})|([0-9]{1,2})([./-])([0-9]{1,2})[./-]([0-9]{4}))(?:[t ]|$)"
)  # and perhaps a time
BLANK_TEXTS = ("", "#n/a", "<na>", "<null>", "?", "n/a", "na", "nan", "null")
# more words than in text columns, where "none" or "unknown" may be a level of its own
BLANK_NUMBERS = (
    *BLANK_TEXTS,
    *("#div/0!", "#null!", "#value!", "-", "--", ".", "missing", "n.a.", "n.d.", "none", "unknown"),
)
TRUTH = {"true": 1.0, "false": 0.0}
# the meanings of commas and points: decimal signs, and what may stand between thousands
MEANINGS = {None: (".", " '"), "": (".", " ',"), ".": (".,", " '"), "swap": (",", " '.")}
READ = {
    comma: re.compile(f"{DIGITS}|{GROUPS}".format(one, f" +|[{more.strip()}]"))
    for comma, (one, more) in MEANINGS.items()
}
SAME_SIGNS = {"\u2212": "-", "\u2019": "'", "\u202f": " "}  # minus, apostrophe and narrow space of typesetters
AS_TYPED = {ord(letter): typed for letter, typed in SAME_SIGNS.items()}
# capitals that are not those of their small letters, and the two letters for micro
SMALL_LETTERS = {
    "\u212a": "k",
    "\u212b": "å",
    "\u2126": "ω",
    "\u03f4": "θ",
    "\u1e9e": "ß",
    "\u00b5": "\u03bc",
}


@dataclass(frozen=True, slots=True)
class CellFormat:
    """How the cells of a column are written where they are texts."""

    unit: str = ""  # that may stand before or behind a number
    # of numbers: "." if commas are decimal, "swap" if moreover points stand between thousands, "" if commas do
    comma: str | None = None
    blanks: tuple[str, ...] = ()  # words for a missing level, in small letters
    since: str = ""  # if not empty, cells are dates, and become the number of days since this one (2021-03-31)
    month_first: bool = False  # in dates such as 03/31/2021; where there are points the day is first

    @property
    def separators(self) -> str:
        """What may stand between thousands."""
        return MEANINGS[self.comma][1]

    @property
    def has_decimal_comma(self) -> bool:
        return "," in MEANINGS[self.comma][0]

    def day(self, days: float) -> str:
        """The date that many days after the first, as 2021-03-31."""
        return (date.fromisoformat(self.since) + timedelta(days=round(days))).isoformat()

    @property
    def pattern(self) -> str:
        """The regular expression of a number without unit and sign of a limit."""
        return READ[self.comma].pattern


def small(text: str) -> str:
    """A text in small letters, letter by letter: none becomes two, and none depends on those beside it."""
    if text.isascii():
        return text.lower()
    letters = (SMALL_LETTERS.get(letter, letter.lower()) for letter in text)
    return "".join(low if len(low) == 1 else letter for low, letter in zip(letters, text, strict=True))


def capitals_of(text: str) -> dict[str, str]:
    """The letters beyond ASCII that `small` turns into letters of a text, each with that letter."""
    letters = [letter for letter in text if not letter.isascii()]
    capitals = {*SMALL_LETTERS, *(capital for letter in letters for capital in (letter.upper(), letter.title()))}
    pairs = {capital: small(capital) for capital in sorted(capitals) if len(capital) == 1}
    return {capital: low for capital, low in pairs.items() if low != capital and low in text}


def trimmed(text: str) -> str:
    """A text in small letters without spaces around it."""
    return small(text.replace("\xa0", " ").strip(SPACES))


def level_key(cell: Any) -> str:
    """What two cells of the same level have in common; whole numbers are written without a point."""
    if isinstance(cell, float | np.floating) and float(cell).is_integer():
        return str(int(cell))
    return re.sub(" +", " ", trimmed(str(cell)))


def split_limit(text: str) -> tuple[str, str]:
    """The first letter of the sign of a limit, < or >, empty without one; and the rest of a trimmed text."""
    for sign in SIGNS:
        if text.startswith(sign):
            return "<" if sign[0] in BELOW else ">", text[len(sign) :].lstrip(" ")
    return "", text


def number_in(text: str, cells: CellFormat) -> tuple[float, str]:
    """The number in a text, or the days of a date, NaN if there is none; and the sign of a limit."""
    text = trimmed(text)
    if cells.since:
        found = date_in(text, month_first=cells.month_first)
        return (math.nan if found is None else days_since(found, cells.since)), ""
    if text in TRUTH:
        return TRUTH[text], ""
    sign, rest = split_limit(text.translate(AS_TYPED))
    unit = trimmed(cells.unit)
    rest = rest.removeprefix(unit).lstrip(" ").removesuffix(unit).rstrip(" ")
    if not READ[cells.comma].fullmatch(rest):
        return math.nan, ""
    value = float(rest.translate({ord(sign): None for sign in cells.separators}).replace(",", "."))
    return (value, sign) if math.isfinite(value) else (math.nan, "")


def n_of_other_sign(column: Iterable[Any], form: CellFormat) -> int:
    """How many cells that are no numbers would be some with the other decimal sign."""
    if form.comma == "." or form.since:  # both signs are read, or none
        return 0
    points, commas = (None, ""), (".", "swap")
    own, others = (commas[1:], points) if form.has_decimal_comma else (points, commas)

    def is_number(text: str, meanings: Iterable[str | None]) -> bool:
        return not all(math.isnan(number_in(text, replace(form, comma=comma))[0]) for comma in meanings)

    counts = Counter(cell for cell in column if isinstance(cell, str))
    return sum(n for text, n in counts.items() if is_number(text, others) and not is_number(text, own))


def date_in(text: str, *, month_first: bool) -> date | None:
    """The date in a trimmed text; None if there is none."""
    found = DATE.match(text)
    if not found:
        return None
    year, month, day = found.group(1, 2, 3) if found[1] else found.group(7, 6, 4)
    if month_first and found[5] in ("/", "-"):
        month, day = day, month
    try:
        return date(int(year), int(month), int(day))
    except ValueError:
        return None


def days_since(day: date, since: str) -> float:
    """Days from one date to another."""
    return float(day.toordinal() - date.fromisoformat(since).toordinal())


def is_plain_number(cell: Any) -> bool:
    """Whether every language reads a cell that is not missing as the same number."""
    if isinstance(cell, str):
        return PLAIN.fullmatch(trimmed(cell)) is not None or trimmed(cell) == "nan"
    return is_number(cell)


def is_number(cell: Any) -> bool:
    """Whether a cell that is no text is a number; durations are none, whatever NumPy says."""
    return isinstance(cell, Number | Decimal | np.bool_) and not isinstance(cell, np.timedelta64)


def number_of_cell(cell: Any, cells: CellFormat) -> float:
    """A cell that is no text as a finite number, or the days of a date; NaN if it is none."""
    if cells.since:
        return days_since(cell, cells.since) if isinstance(cell, date) and cell == cell else math.nan
    try:
        value = float(cell) if is_number(cell) else math.nan
    except (TypeError, ValueError, OverflowError):
        return math.nan
    return value if math.isfinite(value) else math.nan


def read_numbers(column: Iterable[Any], cells: CellFormat) -> tuple[FloatArray, BoolArray, BoolArray]:
    """The numbers of a column, NaN if missing, and which cells are limits: below and above."""
    kind = getattr(getattr(column, "dtype", None), "kind", "O")
    if kind == "M":
        column = np.asarray(column).astype("datetime64[D]").astype(object)  # dates, None for none
    elif kind in "biuf" and not cells.since:
        values = np.array(column, dtype=np.float64)
        values[np.isinf(values)] = np.nan
        return values, np.zeros(len(values), dtype=np.bool_), np.zeros(len(values), dtype=np.bool_)
    known: dict[str, tuple[float, str]] = {}  # cells repeat
    found = []
    for cell in column:
        if isinstance(cell, str):
            if cell not in known:
                known[cell] = number_in(cell, cells)
            found.append(known[cell])
        else:
            found.append((number_of_cell(cell, cells), ""))
    values = np.array([value for value, _ in found], dtype=np.float64)
    signs = np.array([sign for _, sign in found], dtype="U1")
    return values, signs == "<", signs == ">"
