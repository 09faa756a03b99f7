"""How cells that are texts are read: numbers as laboratories write them, and levels whatever their case and blanks.

These few rules are all there is, so that every export can follow them. A no-break space is a space, and spaces, tabs
and line ends around a text do not count, nor does its case. A number may stand after one of <, <=, >, >=, ≤ and ≥,
which makes it a limit, and before the unit of its column; what is no number then is a missing cell. A comma is a point
or separates thousands, as the column says.
"""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from numbers import Number
from typing import Any

import numpy as np

from .._utils.arrays import BoolArray, FloatArray

SPACES = " \t\n\r"
BELOW, ABOVE = "<≤", ">≥"
SIGNS = (*(sign + "=" for sign in "<>"), *BELOW, *ABOVE)  # of limits, longer ones first
PLAIN = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]{1,3})?")
THOUSANDS = re.compile(r"[+-]?[1-9][0-9]{0,2}(?:,[0-9]{3})+(?:\.[0-9]*)?")
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

    unit: str = ""  # that may stand behind a number
    comma: str | None = None  # what replaces a comma in a number: "." or, between thousands, ""; None: it has none
    blanks: tuple[str, ...] = ()  # words for a missing cell, in small letters


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
    """The number in a text, NaN if there is none, and the sign of a limit."""
    sign, rest = split_limit(trimmed(text))
    unit = trimmed(cells.unit)
    if unit and rest.endswith(unit):
        rest = rest[: -len(unit)].rstrip(" ")
    if cells.comma == "." or (cells.comma == "" and THOUSANDS.fullmatch(rest)):
        rest = rest.replace(",", cells.comma)
    value = float(rest) if PLAIN.fullmatch(rest) else math.nan
    return (value, sign) if math.isfinite(value) else (math.nan, "")


def is_plain_number(cell: Any) -> bool:
    """Whether every language reads a cell that is not missing as the same number."""
    if isinstance(cell, str):
        return PLAIN.fullmatch(trimmed(cell)) is not None or trimmed(cell) == "nan"
    return isinstance(cell, Number | Decimal | np.bool_)


def number_of_cell(cell: Any) -> float:
    """A cell that is no text as a finite number, NaN if it is none."""
    try:
        value: Any = cell if isinstance(cell, Number | Decimal | np.bool_) else math.nan
        value = float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan
    return value if math.isfinite(value) else math.nan


def read_numbers(column: Iterable[Any], cells: CellFormat) -> tuple[FloatArray, BoolArray, BoolArray]:
    """The numbers of a column, NaN if missing, and which cells are limits: below and above."""
    known: dict[str, tuple[float, str]] = {}  # cells repeat
    found = []
    for cell in column:
        if isinstance(cell, str):
            if cell not in known:
                known[cell] = number_in(cell, cells)
            found.append(known[cell])
        else:
            found.append((number_of_cell(cell), ""))
    values = np.array([value for value, _ in found], dtype=np.float64)
    signs = np.array([sign for _, sign in found], dtype="U1")
    return values, signs == "<", signs == ">"
