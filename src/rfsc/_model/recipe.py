"""From the columns of a raw table, with texts and missing cells, to the numbers that a model reads.

A recipe is a fitted preprocessing as plain data, which can be saved with a model and written as SQL or C. Only the
levels of text columns come from single rows.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from .._utils.arrays import BoolArray, FloatArray
from .._utils.words import listed, plural

Level = str | float | None  # None stands for a missing cell


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

    def cells(self, X: Any, wanted: Iterable[int]) -> dict[int, tuple[np.ndarray[Any, Any], BoolArray]]:
        """The cells of some columns, numbers as floats with NaN for missing ones, and which are missing."""
        cells = _columns(X, [column.name for column in self.columns])
        return {c: _cells(cells[c], self.columns[c]) for c in wanted}


def _columns(X: Any, names: Sequence[str]) -> list[Any]:
    """The cells of every column, by name if X has names."""
    if hasattr(X, "columns"):
        there = {str(name): name for name in X.columns}
        missing = [name for name in names if name not in there]
        if missing:
            raise ValueError(columns_lacking("table", missing, len(names)))
        return [np.asarray(X[there[name]], dtype=object) for name in names]
    cells = np.asarray(X, dtype=object)
    if cells.ndim != 2 or cells.shape[1] != len(names):
        msg = (
            f"expected a table with {len(names)} columns, got {'one' if cells.ndim == 2 else 'an array'} of shape "
            f"{cells.shape}. Pass rows with all the columns that the model was fitted to, in their order."
        )
        raise ValueError(msg)
    return list(cells.T)


def columns_lacking(what: str, missing: Sequence[str], n_columns: int) -> str:
    """The message for a table or a row without some of its columns."""
    shown = listed(list(map(repr, missing)), 5)
    return f"the {what} lacks {len(missing)} of the {n_columns} columns that the model was fitted to: {shown}."


def _cells(column: Any, raw: RawColumn) -> tuple[np.ndarray[Any, Any], BoolArray]:
    """The cells of a column, numbers as floats with NaN for missing ones, and which are missing."""
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
    except (TypeError, ValueError):
        msg = f"column {raw.name!r} must hold numbers, got a cell that is neither a number nor missing."
        raise ValueError(msg) from None
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
