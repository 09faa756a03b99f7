"""What stands in the columns of a table, in figures behind each of which there are several rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from .._model.recipe import is_missing
from .._utils.arrays import BoolArray, FloatArray

FEW = 5  # rows: fewer never stand behind a figure
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
DIGITS = 4
HUGE = 1e300  # from here on differences may overflow
MAX_LEVELS = 4


@dataclass(frozen=True, slots=True)
class ColumnSummary:
    """One column in aggregate.

    Parameters
    ----------
    name : str
        Its header.
    kind : {"number", "yes/no", "text", "date", "constant", "empty"}
        What its cells hold.
    missing : float
        Share of the cells that are missing.
    n_distinct : int
        Different values, missing cells aside.
    quantiles : dict of str to float
        Quantiles of numbers, rounded; those with fewer than five rows beyond them are left out.
    levels : tuple of (str, float)
        The most frequent values of a text or yes/no column with their shares, each of at least five rows.
    """

    name: str
    kind: str
    missing: float
    n_distinct: int
    quantiles: dict[str, float]
    levels: tuple[tuple[str, float], ...]


def summarize_columns(X: Any, names: Sequence[str] | None = None) -> list[ColumnSummary]:
    """One summary for each column."""
    columns = _columns(X)
    if hasattr(X, "columns"):
        names = [str(name) for name in X.columns]
    names = [f"x{j}" for j in range(len(columns))] if names is None else list(names)
    return [_summarize(name, column) for name, column in zip(names, columns, strict=True)]


def _columns(X: Any) -> list[np.ndarray[Any, Any]]:
    if hasattr(X, "iloc"):  # by place: names may repeat
        return [X.iloc[:, j].to_numpy() for j in range(X.shape[1])]
    if hasattr(X, "get_columns"):
        return [column.to_numpy() for column in X.get_columns()]
    return list(np.asarray(X).T)


def _summarize(name: str, column: np.ndarray[Any, Any]) -> ColumnSummary:
    missing = _missing(column)
    cells = column[~missing]
    numbers = _numbers(cells)
    share = float(missing.mean()) if missing.size else 0.0
    if cells.dtype.kind in "mM":
        return ColumnSummary(name, "date", share, np.unique(cells).size, {}, ())
    counts = Counter(cells.tolist()) if numbers is None else None
    n_distinct = np.unique(numbers).size if numbers is not None else len(counts or ())
    if n_distinct <= 1:
        return ColumnSummary(name, "constant" if n_distinct else "empty", share, n_distinct, {}, ())
    if numbers is None:
        levels = [(str(level), count) for level, count in (counts or Counter()).most_common(MAX_LEVELS)]
        return ColumnSummary(name, "text", share, n_distinct, {}, _shares(levels, len(cells)))
    if n_distinct == 2 and set(np.unique(numbers)) == {0.0, 1.0}:
        ones = int(numbers.sum())
        levels = [("yes", ones)] if len(cells) - ones >= FEW else []
        return ColumnSummary(name, "yes/no", share, 2, {}, _shares(levels, len(cells)))
    return ColumnSummary(name, "number", share, n_distinct, _quantiles(numbers), ())


def _missing(column: np.ndarray[Any, Any]) -> BoolArray:
    if column.dtype.kind in "biu":
        return np.zeros(len(column), dtype=np.bool_)
    if column.dtype.kind == "f":
        return np.asarray(np.isnan(column))
    if column.dtype.kind in "mM":
        return np.asarray(np.isnat(column))
    return np.array([is_missing(cell) for cell in column], dtype=np.bool_)


def _numbers(cells: np.ndarray[Any, Any]) -> FloatArray | None:
    """The cells as numbers; None where some are not."""
    if cells.dtype.kind in "biuf" or all(isinstance(cell, Real | np.bool_) for cell in cells):
        return np.asarray(cells, dtype=np.float64)
    return None


def _quantiles(numbers: FloatArray) -> dict[str, float]:
    shown = [q for q in QUANTILES if min(q, 1 - q) * len(numbers) >= FEW]
    scale = 16.0 if np.abs(numbers).max() > HUGE else 1.0  # differences of huge numbers overflow
    values = [float(f"{np.quantile(numbers / scale, q):.{DIGITS}g}") for q in shown]
    most = np.finfo(np.float64).max / scale  # which rounding may have passed
    return {f"{q:.0%}": min(max(value, -most), most) * scale for q, value in zip(shown, values, strict=True)}


def _shares(levels: list[tuple[str, int]], n_cells: int) -> tuple[tuple[str, float], ...]:
    return tuple((level, count / n_cells) for level, count in levels if count >= FEW)
