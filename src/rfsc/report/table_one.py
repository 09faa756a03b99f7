"""Table 1: every column of the raw table, for all rows and by class, without a cell of a single row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._utils.arrays import BoolArray, FloatArray, IntArray
from .._utils.words import NO_VALUE, number, percent
from .subject import MIN_ROWS, ColumnSummary, missing_cells, numbers_of

MAX_CLASSES = 4  # with more, only all rows are described
SHARES = (0.25, 0.5, 0.75)
QUARTILES = "median [quartiles]"
QUARTILE_DIGITS = 4
HUGE = 1e300  # beyond, differences may overflow


def table_one(
    columns: Sequence[np.ndarray[Any, Any]],
    summaries: Sequence[ColumnSummary],
    code: IntArray,
    class_names: Sequence[str],
    weight: FloatArray | None,
) -> dict[str, Any]:
    """Names of the groups of rows, and one line for each column, level or count of missing cells."""
    shown = list(enumerate(class_names)) if len(class_names) <= MAX_CLASSES else []
    groups = [np.ones(code.size, dtype=bool), *(code == k for k, _ in shown)]
    table = _TableOne(groups, np.ones(code.size) if weight is None else weight)
    lines = [line for pair in zip(columns, summaries, strict=True) for line in table.lines(*pair)]
    heads = [f"all ({code.size:,})", *(f"{label} ({int((code == k).sum()):,})" for k, label in shown)]
    return {"heads": heads, "lines": lines}


class _TableOne:
    def __init__(self, groups: list[BoolArray], weight: FloatArray) -> None:
        self.groups, self.weight = groups, weight

    def lines(self, column: np.ndarray[Any, Any], of: ColumnSummary) -> list[dict[str, Any]]:
        """What there is to say about one column."""
        missing, found = missing_cells(column), []
        there = ~missing
        if of.kind == "number":
            values = np.full(column.size, np.nan)
            numbers = numbers_of(column[there])
            values[there] = np.nan if numbers is None else numbers
            cells = [self._quartiles(values, there & group) for group in self.groups]
            found.append(_line(of.name, QUARTILES, cells))
        elif of.kind == "yes/no":
            is_yes = np.zeros(column.size, dtype=bool)
            is_yes[there] = np.asarray(numbers_of(column[there])) == 1.0
            found.append(_line(of.name, "yes, n (%)", self._counts(is_yes, there)))
        elif of.kind == "text":
            rest = there.copy()
            for level, _ in of.levels:
                is_level = np.array([str(cell) == level for cell in column], dtype=bool) & there
                found.append(_line(of.name, level, self._counts(is_level, there)))
                rest &= ~is_level
            if of.levels and rest.any():
                found.append(_line(of.name, "other levels", self._counts(rest, there)))
        if found and missing.any():
            found.append(_line(of.name, "missing, n (%)", self._counts(missing, np.ones(column.size, dtype=bool))))
        return found

    def _quartiles(self, values: FloatArray, rows: BoolArray) -> str:
        """Median and quartiles, as far as at least MIN_ROWS rows lie beyond each."""
        own, weight = values[rows], self.weight[rows]
        if own.size * 0.5 < MIN_ROWS:
            return NO_VALUE
        scale = 16.0 if np.abs(own).max() > HUGE else 1.0
        is_equal = bool((weight == weight[0]).all())
        method: dict[str, Any] = {} if is_equal else {"method": "inverted_cdf", "weights": weight}
        found = np.quantile(own / scale, SHARES, **method) * scale
        low, median, high = (number(float(value), QUARTILE_DIGITS) for value in found)
        return f"{median} [{low}, {high}]" if own.size * 0.25 >= MIN_ROWS else median

    def _counts(self, which: BoolArray, of: BoolArray) -> list[str]:
        """Counts and weighted shares; groups of fewer than MIN_ROWS rows are not counted."""
        counts = [int((which & group).sum()) for group in self.groups]
        shares = [_share(self.weight, which & group, of & group) for group in self.groups]
        small = [0 < count < MIN_ROWS for count in counts]
        cells = [
            f"<{MIN_ROWS}" if is_small else f"{n:,} ({percent(share)})"
            for n, share, is_small in zip(counts, shares, small, strict=True)
        ]
        if sum(small[1:]) == 1 and not small[0]:  # else the difference would give the small count away
            cells[0] = percent(shares[0])
        return cells


def _line(column: str, what: str, cells: list[str]) -> dict[str, Any]:
    return {"column": column, "what": what, "cells": cells}


def _share(weight: FloatArray, which: BoolArray, of: BoolArray) -> float:
    total = float(weight[of].sum())
    return float(weight[which & of].sum()) / total if total else 0.0
