"""Numbers and lists as a reader expects them; shared by the page, the Markdown and the cautions."""

from __future__ import annotations

from collections.abc import Sequence


def percent(share: float) -> str:
    """A share as percentage: whole numbers, one decimal where that says more, never a false 0 or 100.

    Parameters
    ----------
    share : float
        Between 0 and 1.

    Returns
    -------
    str
        For instance ``37 %``, ``99.6 %``.
    """
    value = 100 * share
    if 0 < value < 0.1:
        return "<0.1 %"
    if 99.9 < value < 100:
        return ">99.9 %"
    return f"{value:.1f} %" if 0 < value < 1 or 99 < value < 100 else f"{value:.0f} %"


def fixed(value: float | None, decimals: int = 3) -> str:
    """A score with a fixed number of decimals; a dash where there is none.

    Parameters
    ----------
    value : float or None
        The score.
    decimals : int, default=3
        Digits after the point.

    Returns
    -------
    str
        For instance ``0.974``.
    """
    return "–" if value is None or value != value else f"{value:.{decimals}f}"


def points(share: float | None) -> str:
    """A spread of percentages.

    Parameters
    ----------
    share : float or None
        A difference of two shares.

    Returns
    -------
    str
        For instance ``1.3 points``.
    """
    return "unknown" if share is None or share != share else f"{100 * share:.1f} points"


def plural(n: int, one: str, many: str | None = None) -> str:
    """A count with its noun.

    Parameters
    ----------
    n : int
        How many.
    one : str
        The noun for one.
    many : str or None, default=None
        The noun for more; an s is added otherwise.

    Returns
    -------
    str
        For instance ``1 row``, ``12 rows``.
    """
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def listed(items: Sequence[str], *, more: int = 0) -> str:
    """Items with commas and an "and".

    Parameters
    ----------
    items : sequence of str
        What to list.
    more : int, default=0
        How many were left out; none where it is not positive.

    Returns
    -------
    str
        For instance ``a, b and c``, ``a, b and 3 more``.
    """
    items = [*items, f"{more:,} more"] if more > 0 else list(items)
    return " and ".join([", ".join(items[:-1]), items[-1]] if len(items) > 1 else items)


def number(value: float | None, digits: int = 4) -> str:
    """A number with few significant digits; a dash where there is none.

    Parameters
    ----------
    value : float or None
        The number.
    digits : int, default=4
        Significant digits.

    Returns
    -------
    str
        With a true minus sign.
    """
    if value is None or value != value:
        return "–"
    return f"{value:.{digits}g}".replace("-", "−")


def p_value(value: float | None) -> str:
    """A p-value, cut off where smaller ones mean the same.

    Parameters
    ----------
    value : float or None
        The p-value.

    Returns
    -------
    str
        For instance ``0.032`` or ``<0.0001``.
    """
    if value is None or value != value:
        return "–"
    return "<0.0001" if value < 1e-4 else f"{value:.2g}"
