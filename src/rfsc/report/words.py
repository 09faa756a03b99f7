"""Numbers and lists as a reader expects them; shared by the page, the Markdown and the cautions."""

from __future__ import annotations

from collections.abc import Sequence


def percent(share: float) -> str:
    """A share as percentage: whole numbers, one decimal where that says more, never a false 0 or 100."""
    value = 100 * share
    if 0 < value < 0.1:
        return "<0.1 %"
    if 99.9 < value < 100:
        return ">99.9 %"
    return f"{value:.1f} %" if 0 < value < 1 or 99 < value < 100 else f"{value:.0f} %"


def fixed(value: float | None, decimals: int = 3) -> str:
    """A score with a fixed number of decimals; a dash where there is none."""
    return "–" if value is None or value != value else f"{value:.{decimals}f}"


def points(share: float | None) -> str:
    """A spread of percentages."""
    return "unknown" if share is None or share != share else f"{100 * share:.1f} points"


def plural(n: int, one: str, many: str | None = None) -> str:
    """A count with its noun."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def listed(items: Sequence[str], *, more: int = 0) -> str:
    """Items with commas and an "and"."""
    items = [*items, f"{more:,} more"] if more > 0 else list(items)
    return " and ".join([", ".join(items[:-1]), items[-1]] if len(items) > 1 else items)


def number(value: float | None, digits: int = 4) -> str:
    """A number with few significant digits; a dash where there is none."""
    if value is None or value != value:
        return "–"
    return f"{value:.{digits}g}".replace("-", "−")


def p_value(value: float | None) -> str:
    """A p-value, cut off where smaller ones mean the same."""
    if value is None or value != value:
        return "–"
    return "<0.0001" if value < 1e-4 else f"{value:.2g}"
