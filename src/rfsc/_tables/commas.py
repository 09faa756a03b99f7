"""Commas inside numbers: decimal commas, or thousands."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from .text_files import MOSTLY, NO_NUMBER, number_of

DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+(?:[eE][+-]?\d+)?")
THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d*)?")


def comma_of(delimiter: str, columns: Iterable[Iterable[str]]) -> str | None:
    """What a comma inside a number stands for: "." in place of a point, "" for nothing; None where nobody knows."""
    if delimiter == ",":
        return ""
    # 1,5 settles what 1,234 means; where nothing does, such cells are left as they are
    settled = any(DECIMAL_COMMA.fullmatch(c) and not THOUSANDS.fullmatch(c) for cells in columns for c in cells)
    return "." if settled else None


def pointed(cell: str, comma: str | None) -> str:
    """A number as Python writes it; any other cell as it is."""
    if comma is None or "," not in cell:
        return cell
    return cell.replace(",", comma) if (THOUSANDS if comma == "" else DECIMAL_COMMA).fullmatch(cell) else cell


def pointed_column(cells: Sequence[str], comma: str | None) -> list[str]:
    """A column with points, where that makes it one of numbers; cells that say that there is none do not count."""
    found = [pointed(cell, comma) for cell in cells]
    if found == list(cells):
        return found
    present = [cell for cell in found if cell.lower() not in NO_NUMBER]
    n_numbers = sum(number_of(cell) is not None for cell in present)
    return found if n_numbers >= MOSTLY * len(present) else list(cells)
