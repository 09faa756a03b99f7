"""Counts, lists and numbers as text, for messages, the report and the command line."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence

NO_VALUE = "–"
WIDTH = 120  # of a line of text


def plural(n: int, one: str, many: str | None = None) -> str:
    """A count with its noun: "1 row", "12,345 rows"."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def listed(items: Sequence[str], most: int | None = None) -> str:
    """Items joined as "a, b and c", or as "a, b and 3 more" if there are more than `most`."""
    shown = list(items[:most])
    if len(shown) < len(items):
        shown.append(f"{len(items) - len(shown):,} more")
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def rows_text(rows: Sequence[int], most: int = 5) -> str:
    """Positions of rows as their numbers: "row 1", or "rows 1, 5 and 3 more"."""
    return f"row{'s' * (len(rows) != 1)} {listed([f'{row + 1:,}' for row in rows], most)}"


def shortened(name: str, width: int) -> str:
    """A name of at most `width` characters; a long one loses its middle."""
    if len(name) <= width:
        return name
    left = (width - 1) // 2
    return f"{name[:left]}…{name[len(name) - (width - 1 - left) :]}"


def paragraphs(parts: Iterable[Iterable[str]]) -> str:
    """Lines of text, broken where they are too long, with an empty line between the parts."""
    lines = "\n\n".join("\n".join(map(_broken, part)) for part in parts).split("\n")
    return "\n".join(line.rstrip() for line in lines)


def _broken(line: str) -> str:
    is_text = "\n" not in line  # a table has lines of its own
    return textwrap.fill(line, WIDTH, break_long_words=False, break_on_hyphens=False) if is_text else line


def percent(share: float) -> str:
    """A share as a percentage: whole numbers, one decimal near 0 and 100, never a rounded 0 or 100."""
    value = 100 * share
    if 0 < value < 0.1:
        return "<0.1 %"
    if 99.9 < value < 100:
        return ">99.9 %"
    return f"{value:.1f} %" if 0 < value < 1 or 99 < value < 100 else f"{value:.0f} %"


def number(value: float | None, digits: int = 4) -> str:
    """A number with few significant digits; a dash for None and NaN."""
    if value is None or value != value:
        return NO_VALUE
    rounded = float(f"{value:.{digits}g}") + 0.0  # never -0
    return minus_sign(f"{rounded:,.0f}" if 10.0**digits <= abs(rounded) < 1e9 else f"{rounded:.{digits}g}")


def fixed(value: float | None, decimals: int = 3) -> str:
    """A number with a fixed count of decimals; a dash for None and NaN."""
    return (
        NO_VALUE if value is None or value != value else f"{round(value, decimals) + 0.0:.{decimals}f}"
    )  # never -0.00


def p_value(value: float | None) -> str:
    """A p-value, cut off at 0.0001; a dash for None and NaN."""
    if value is None or value != value:
        return NO_VALUE
    return "<0.0001" if value < 1e-4 else f"{value:.2g}"


def minus_sign(text: str) -> str:
    """The text with typographic minus signs in place of hyphens."""
    return text.replace("-", "\N{MINUS SIGN}")
