"""Tables and ready-made folds from files: KEEL, CSV, ARFF. Errors name the file, line and column, never a cell."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from sklearn.utils import Bunch

from rfsc._tables.csv_file import read_csv
from rfsc._tables.headed_file import read_header, read_rows
from rfsc._tables.text_files import AnyPath, number_of, numbered_lines, problem, text_of
from rfsc._utils.arrays import FloatArray, IntArray

from .keel import KeelTable, read_keel, read_keel_folds

__all__ = ["KeelTable", "folds_to_splits", "read_fold_file", "read_keel", "read_keel_folds", "read_table"]

MISSING = frozenset({"", "?", "na", "n/a", "nan", "null", "<null>", "none"})
NO_LABEL = frozenset({"", "?", "<null>"})
"""Fewer words than for a number: NA or none may well be the name of a class."""


def read_fold_file(path: AnyPath) -> IntArray:
    """Read which fold each row of a table belongs to."""
    path = Path(path)
    header, lines = read_csv(path, text_of(path))
    if header != ["row", "fold"]:
        raise problem(path, 1, "the header row,fold", "another one", "Add or correct it")
    pairs = []
    for number, cells in lines:
        if not all(cell.isdecimal() and len(cell) < 19 for cell in cells):  # longer ones do not fit into an integer
            raise problem(path, number, "two whole numbers", "something else", "Correct this line")
        pairs.append([int(cell) for cell in cells])
    row, fold = np.array(pairs, dtype=np.int64).T
    if not np.array_equal(np.sort(row), np.arange(len(row))):
        msg = f"{path.name}: expected each row number from 0 to {len(row) - 1} once, got others. Number the rows anew."
        raise ValueError(msg)
    used = np.unique(fold)
    if len(used) < 2 or not np.array_equal(used, np.arange(1, len(used) + 1)):
        msg = f"{path.name}: expected folds 1, 2, ... without a gap, at least two, got others. Number the folds anew."
        raise ValueError(msg)
    return np.asarray(fold[np.argsort(row)] - 1)


def folds_to_splits(fold: IntArray) -> list[tuple[IntArray, IntArray]]:
    """Turn fold numbers into what the `cv` parameters of scikit-learn take."""
    return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(int(fold.max()) + 1)]


def read_table(path: AnyPath, target: str | None = None) -> Bunch:
    """Read a table of numeric features and a class from a CSV, ARFF or KEEL file, by its extension."""
    path = Path(path)
    read = {".csv": _csv_columns, ".arff": _arff_columns, ".dat": _keel_columns}.get(path.suffix.lower())
    if read is None:
        msg = f"Expected a file that ends with .csv, .arff or .dat, got {path.name}. Convert it to CSV, for instance."
        raise ValueError(msg)
    columns = read(path)
    wanted = next(reversed(columns)) if target is None else target
    if wanted not in columns:
        msg = f"{path.name} has no column {wanted!r}. Pass one of its {len(columns)} column names as target."
        raise ValueError(msg)
    labels = np.array([cell.strip() for cell in columns.pop(wanted)])
    if not columns:
        msg = f"{path.name}: expected at least one feature beside the class, got none. Check the delimiter."
        raise ValueError(msg)
    if any(label.lower() in NO_LABEL for label in labels):
        msg = f"{path.name}: the class column {wanted!r} has missing cells. Drop those rows."
        raise ValueError(msg)
    return Bunch(
        data=np.column_stack([_numbers(cells, f"{path.name}: column {name!r}") for name, cells in columns.items()]),
        target=labels,
        feature_names=list(columns),
        target_names=np.unique(labels),
        source=path.name,
    )


# ---- columns of text, by format


def _csv_columns(path: Path) -> dict[str, list[str]]:
    header, lines = read_csv(path, text_of(path))
    # integers may be names, as data frames without names write them
    numbers = [name for name in header if number_of(name) is not None]
    if len(numbers) == len(header) or not all(map(str.isdecimal, numbers)):
        raise problem(path, 1, "a header row with the names of the columns", "numbers", "Add one")
    return dict(zip(header, map(list, zip(*(cells for _, cells in lines), strict=True)), strict=True))


def _arff_columns(path: Path) -> dict[str, list[str]]:
    # scipy's reader guesses the quotes of all rows from the first, and its errors quote cells
    lines = numbered_lines(text_of(path))
    header = read_header(path, lines)
    return read_rows(path, lines, header, header.order)


def _keel_columns(path: Path) -> dict[str, list[str]]:
    table = read_keel(path)
    columns = {name: list(map(str, values)) for name, values in zip(table.feature_names, table.data.T, strict=True)}
    return {**columns, table.target_name: list(table.target)}


def _numbers(cells: Sequence[str], where: str) -> FloatArray:
    """A feature; errors say which, and what to do."""
    if any(cell.lower() in MISSING for cell in cells):
        msg = f"{where} has missing cells. Fill them, or drop those rows or the column."
        raise ValueError(msg)
    numbers = [number_of(cell) for cell in cells]
    if None in numbers:
        msg = f"{where} must hold finite numbers with a decimal point, got text. Encode it as numbers or remove it."
        raise ValueError(msg)
    return np.array(numbers, dtype=np.float64)
