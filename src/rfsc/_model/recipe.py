"""From the columns of a raw table, with texts and missing cells, to the numbers that a model reads.

A recipe is a fitted preprocessing as plain data, which can be saved with a model and written as SQL or C. Only the
levels of text columns come from single rows.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from .._utils.arrays import BoolArray, FloatArray
from .._utils.words import listed, plural

Level = str | float | None  # None stands for a missing cell
LEAST_ROWS_OF_LEVEL = 5  # rarer levels are grouped ...
LEAST_SHARE_OF_LEVEL = 0.01  # ... in long tables, those with a smaller share
MAX_LEVELS = 20  # features that one column of levels may become
NUMERIC_KINDS = frozenset("biuf")  # of a NumPy type


@dataclass(frozen=True, slots=True)
class RawColumn:
    """A column of the raw table."""

    name: str  # its header
    kind: str  # what its cells hold: "number" or "text"
    levels: tuple[Level, ...] | None = None  # the only levels that are allowed; None allows any


@dataclass(frozen=True, slots=True)
class NumberOf:
    """The number in a column."""

    json_kind: ClassVar = "number"

    column: int
    fill: float | None = None  # in the place of a missing cell; None leaves it missing


@dataclass(frozen=True, slots=True)
class MissingIn:
    """1 if the cell of a column is missing, else 0."""

    json_kind: ClassVar = "missing"

    column: int


@dataclass(frozen=True, slots=True)
class LevelOf:
    """1 if the cell is one of the levels, else 0; the other way round for `other`."""

    json_kind: ClassVar = "level"

    column: int
    levels: tuple[Level, ...]  # None stands for a missing cell
    other: bool = False  # 1 if the cell is none of the levels: rare levels, and those not seen in training


Ingredient = NumberOf | MissingIn | LevelOf


@dataclass(frozen=True, slots=True)
class Recipe:
    """How every feature of a model is made from the raw columns."""

    columns: tuple[RawColumn, ...]
    features: tuple[Ingredient, ...]
    names: tuple[str, ...]  # of the features

    def __post_init__(self) -> None:
        kinds_known = all(column.kind in ("number", "text") for column in self.columns)
        columns_known = all(0 <= feature.column < len(self.columns) for feature in self.features)
        if not (kinds_known and columns_known and len(self.features) == len(self.names)):
            msg = "every feature of a recipe needs a name and a column that exists, of kind 'number' or 'text'"
            raise ValueError(msg)

    @classmethod
    def identity(cls, names: Sequence[str]) -> Self:
        """Every feature is a column of numbers."""
        columns = tuple(RawColumn(name, "number") for name in names)
        return cls(columns, tuple(NumberOf(j) for j in range(len(columns))), tuple(names))

    def table(self, X: Any) -> FloatArray:
        """The features of every row, shape (n_samples, n_features), with NaN for what is missing.

        The columns of a data frame are found by their names, others by their position.
        """
        raw = self.cells(X, {feature.column for feature in self.features})
        n_samples = len(next(iter(raw.values()))[0]) if raw else len(X)
        out = np.empty((n_samples, len(self.features)))
        for j, feature in enumerate(self.features):
            out[:, j] = _values(feature, *raw[feature.column])
        return out

    def complete_table(self, X: Any) -> FloatArray:
        """The same, or an error that names the columns in which a finite number is missing."""
        table = self.table(X)
        bad = np.flatnonzero(~np.isfinite(table).all(axis=0))
        if bad.size:
            gaps = sorted({self.columns[self.features[j].column].name for j in bad})
            msg = (
                f"missing or infinite values in {plural(len(gaps), 'column')} for which the model has no fill value: "
                f"{listed(list(map(repr, gaps)), 5)}. Fill them first, or drop those rows."
            )
            raise ValueError(msg)
        return table

    def renamed(self, columns: Sequence[str]) -> Self:
        """The same with other names for the columns, and for the features by them."""
        raw = tuple(replace(one, name=name) for one, name in zip(self.columns, columns, strict=True))
        names = tuple(feature_name(feature, columns[feature.column]) for feature in self.features)
        return replace(self, columns=raw, names=names)

    def cells(self, X: Any, wanted: Iterable[int]) -> dict[int, tuple[np.ndarray[Any, Any], BoolArray]]:
        """The cells of some columns, numbers as floats with NaN for missing ones, and which are missing."""
        cells = _columns(X, [column.name for column in self.columns])
        return {c: _cells(cells[c], self.columns[c]) for c in wanted}


def feature_name(feature: Ingredient, column: str) -> str:
    """What a feature is called that is made from a column: ``age``, ``age missing``, ``sex=male``, ``sex: other``."""
    match feature:
        case NumberOf():
            return column
        case LevelOf(_, _, True):
            return f"{column}: other"
        case LevelOf(_, (str(level),)):
            return f"{column}={level}"
        case LevelOf(_, (float(level),)):
            return f"{column}={repr(level).removesuffix('.0')}"
    return f"{column} missing"


def _columns(X: Any, names: Sequence[str]) -> list[Any]:
    """The cells of every column, by name if X has names; numbers stay numbers, all else becomes objects."""
    if hasattr(X, "columns") and any(isinstance(name, str) for name in X.columns):
        there = {str(name): name for name in X.columns}
        missing = [name for name in names if name not in there]
        if missing:
            raise ValueError(columns_lacking("table", missing, len(names)))
        return [_as_cells(X[there[name]]) for name in names]
    cells = _as_cells(X)
    if cells.ndim != 2 or cells.shape[1] != len(names):
        msg = (
            f"expected a table with {len(names)} columns, got {'one' if cells.ndim == 2 else 'an array'} of shape "
            f"{cells.shape}. Pass rows with all the columns that the model was fitted to, in their order."
        )
        raise ValueError(msg)
    return list(cells.T)


def _as_cells(values: Any) -> np.ndarray[Any, Any]:
    cells = np.asarray(values, dtype=None if hasattr(values, "dtype") else object)
    return cells if cells.dtype.kind in NUMERIC_KINDS | {"m", "M"} else cells.astype(object)


def columns_lacking(what: str, missing: Sequence[str], n_columns: int) -> str:
    """The message for a table or a row without some of its columns."""
    shown = listed(list(map(repr, missing)), 5)
    return f"the {what} lacks {len(missing)} of the {n_columns} columns that the model was fitted to: {shown}."


def _cells(column: Any, raw: RawColumn) -> tuple[np.ndarray[Any, Any], BoolArray]:
    """The cells of a column, numbers as floats with NaN for missing ones, and which are missing."""
    if column.dtype.kind in NUMERIC_KINDS:
        missing: BoolArray = np.isnan(column)
    else:
        missing = np.array([is_missing(cell) for cell in column], dtype=np.bool_)
    if raw.levels is not None:
        known = set(raw.levels)
        n_strange = sum((None if gone else cell) not in known for cell, gone in zip(column, missing, strict=True))
        if n_strange:
            msg = (
                f"column {raw.name!r} holds levels that the model has not seen in {plural(n_strange, 'row')}. "
                "Drop those rows, or fit with OneHotEncoder(handle_unknown='ignore')."
            )
            raise ValueError(msg)
    if raw.kind == "text":
        return column, missing
    values = np.full(len(column), np.nan)
    try:
        values[~missing] = np.asarray(column[~missing], dtype=np.float64)
        is_number = column.dtype.kind not in "mM"  # dates would become nanoseconds
    except (TypeError, ValueError):
        is_number = False
    if not is_number:  # outside of the handler, whose error quotes a cell
        msg = f"column {raw.name!r} must hold numbers, got a cell that is neither a number nor missing."
        raise ValueError(msg)
    return values, missing


def is_missing(cell: Any) -> bool:
    """None, NaN or pandas.NA, which compares to nothing and is recognised by its type."""
    return cell is None or type(cell).__name__ in ("NAType", "NaTType") or bool(cell != cell)


def _values(feature: Ingredient, cells: np.ndarray[Any, Any], missing: BoolArray) -> FloatArray:
    match feature:
        case NumberOf(_, fill):
            return np.asarray(cells if fill is None else np.where(missing, fill, cells), dtype=np.float64)
        case MissingIn():
            return missing.astype(np.float64)
        case LevelOf(_, levels, other):
            known = {level for level in levels if level is not None}
            inside = np.array(
                [None in levels if gone else cell in known for cell, gone in zip(cells, missing, strict=True)],
                dtype=bool,
            )
            return np.asarray(inside != other, dtype=np.float64)
