"""From the columns of a raw table, with texts and missing cells, to the numbers that a model reads."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from html import escape
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from .._utils.arrays import BoolArray, FloatArray
from .._utils.validation import is_missing
from .._utils.words import listed, number, plural
from .cells import MEANINGS, CellFormat, is_plain_number, level_key, n_of_other_sign, read_numbers

Level = str | float | None  # None stands for a missing cell
LEAST_ROWS_OF_LEVEL = 5  # rarer levels are grouped ...
LEAST_SHARE_OF_LEVEL = 0.01  # ... in long tables, those with a smaller share
MAX_LEVELS = 20  # features that one column of levels may become
NUMERIC_KINDS = frozenset("biuf")  # of a NumPy type
FEW_OF_OTHER_SIGN = 0.05  # share of numbers with another decimal sign that are missing cells, as in a fit
UNCHANGED = "unchanged"
MOST_LEVELS_SHOWN = 5


@dataclass(frozen=True, slots=True)
class RawColumn:
    """A column of the raw table."""

    name: str  # its header
    kind: str  # what its cells hold: "number" or "text"
    levels: tuple[Level, ...] | None = None  # the only levels that are allowed; None allows any
    # how cells that are texts are read; None: numbers are numbers, and levels are written in one way only
    cells: CellFormat | None = None


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
class LimitIn:
    """1 if the cell of a column of numbers is a limit, such as <0.5, else 0."""

    json_kind: ClassVar = "limit"

    column: int
    above: bool  # > or ≥; else < or ≤


@dataclass(frozen=True, slots=True)
class LevelOf:
    """1 if the cell is one of the levels, else 0; the other way round for `other`."""

    json_kind: ClassVar = "level"

    column: int
    levels: tuple[Level, ...]  # None stands for a missing cell; in small letters if the column has a cell format
    other: bool = False  # 1 if the cell is none of the levels: rare levels, and those not seen in training


Ingredient = NumberOf | MissingIn | LimitIn | LevelOf


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
        read = [self.columns[feature.column] for feature in self.features if isinstance(feature, LimitIn)]
        if any(column.kind != "number" or column.cells is None or column.cells.since for column in read):
            msg = "limits of a recipe need a column of numbers with a cell format, and no dates"
            raise ValueError(msg)
        formats = [column.cells for column in self.columns if column.cells is not None]
        if any(one.comma not in MEANINGS or not is_first_day(one.since) for one in formats):
            msg = "commas in the cells of a recipe are '.', '' or 'swap', and dates begin at one such as 2021-03-31"
            raise ValueError(msg)

    @classmethod
    def identity(cls, names: Sequence[str]) -> Self:
        """Every feature is a column of numbers."""
        columns = tuple(RawColumn(name, "number") for name in names)
        return cls(columns, tuple(NumberOf(j) for j in range(len(columns))), tuple(names))

    def __str__(self) -> str:
        """One line for each feature: its name, its column, and how it is made."""
        rows = self._lines()
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
        return "\n".join([lines[0].rstrip(), "-" * len(lines[0]), *map(str.rstrip, lines[1:])])

    def _repr_html_(self) -> str:
        head, *rows = ("".join(f"<td>{escape(cell)}</td>" for cell in line) for line in self._lines())
        return (
            f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(f'<tr>{row}</tr>' for row in rows)}</tbody></table>"
        )

    def _lines(self) -> list[tuple[str, str, str]]:
        made = zip(self.names, self.features, strict=True)
        rows = [(name, self.columns[feature.column].name, definition(feature)) for name, feature in made]
        return [("feature", "column", "value"), *rows]

    @property
    def dates(self) -> dict[str, CellFormat]:
        """How columns of dates are read, by name."""
        return {column.name: column.cells for column in self.columns if column.cells is not None and column.cells.since}

    def raw_columns(self, X: Any) -> list[np.ndarray[Any, Any]]:
        """The cells of every column as they are, by name if X has names."""
        return _columns(X, [column.name for column in self.columns])

    def table(self, X: Any) -> FloatArray:
        """The features of every row, with NaN for what is missing; columns of data frames are found by their names."""
        raw = self.cells(X, {feature.column for feature in self.features})
        n_samples = len(next(iter(raw.values())).values) if raw else len(X)
        out = np.empty((n_samples, len(self.features)))
        for j, feature in enumerate(self.features):
            out[:, j] = _values(feature, raw[feature.column])
        return out

    def complete_table(self, X: Any) -> FloatArray:
        """The same, or an error that names the columns in which a finite number is missing."""
        table = self.table(X)
        for is_bad, what, more, advice in (
            (np.isinf(table), "infinite", "", "Replace them by numbers or None"),
            (np.isnan(table), "missing", " for which the model has no fill value", "Fill them first"),
        ):
            if is_bad.any():
                bad = sorted({self.columns[self.features[j].column].name for j in np.flatnonzero(is_bad.any(axis=0))})
                where = f"{plural(len(bad), 'column')}{more}: {listed(list(map(repr, bad)), 5)}"
                msg = f"{what} values in {where}. {advice}, or drop those rows."
                raise ValueError(msg)
        return table

    def renamed(self, columns: Sequence[str]) -> Self:
        """The same with other names for the columns, and for the features by them."""
        raw = tuple(replace(one, name=name) for one, name in zip(self.columns, columns, strict=True))
        names = tuple(feature_name(feature, columns[feature.column]) for feature in self.features)
        return replace(self, columns=raw, names=names)

    def cells(self, X: Any, wanted: Iterable[int]) -> "dict[int, Cells]":
        """The cells of some columns, numbers as floats with NaN for missing ones, and which are missing."""
        cells = self.raw_columns(X)
        return {c: read_cells(cells[c], self.columns[c]) for c in wanted}


def is_first_day(text: str) -> bool:
    """Whether a text is empty, or a date such as 2021-03-31."""
    try:
        return text == "" or date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


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


class Cells(NamedTuple):
    """The cells of one column, as features are made of them."""

    values: np.ndarray[Any, Any]  # numbers with NaN for missing ones, or levels
    missing: BoolArray
    below: BoolArray | None = None  # limits
    above: BoolArray | None = None


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


def read_cells(column: np.ndarray[Any, Any], raw: RawColumn) -> Cells:
    """The cells of a column as its recipe reads them."""
    if raw.cells is not None and raw.kind == "number":
        values, below, above = read_numbers(column, raw.cells)
        missing: BoolArray = np.isnan(values)
        n_other = n_of_other_sign(column[missing], raw.cells) if column.dtype.kind == "O" else 0
        if n_other > FEW_OF_OTHER_SIGN * (n_other + np.sum(~missing)):
            here, there = ("points", "commas") if raw.cells.has_decimal_comma else ("commas", "points")
            msg = f"column {raw.name!r} has decimal {here}, but decimal {there} in the table of the fit."
            raise ValueError(f"{msg} Write its numbers with decimal {there}.")
        return Cells(values, missing, below, above)
    if column.dtype.kind in NUMERIC_KINDS:
        missing = np.isnan(column)
    else:
        missing = np.array([is_missing(cell) for cell in column], dtype=np.bool_)
    if raw.cells is not None and raw.kind == "text":
        keys = np.array(["" if gone else level_key(cell) for cell, gone in zip(column, missing, strict=True)], object)
        return Cells(keys, missing | np.isin(keys, raw.cells.blanks))
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
        return Cells(column, missing)
    values = np.full(len(column), np.nan)
    try:
        values[~missing] = np.asarray(column[~missing], dtype=np.float64)
        # not of NumPy: it reads 1_000, dates as nanoseconds, and more
        is_number = column.dtype.kind in NUMERIC_KINDS or all(map(is_plain_number, column[~missing]))
    except (TypeError, ValueError, OverflowError):
        is_number = False
    if not is_number:  # outside of the handler, whose error quotes a cell
        is_date = column.dtype.kind in "mM" or any(isinstance(cell, date | np.datetime64) for cell in column)
        got = "dates. Turn them into days or years" if is_date else "a cell that is neither a number nor missing"
        msg = f"column {raw.name!r} must hold numbers, got {got}."
        raise ValueError(msg)
    return Cells(values, np.isnan(values))  # also of the text nan


def _values(feature: Ingredient, cells: Cells) -> FloatArray:
    values, missing = cells.values, cells.missing
    match feature:
        case NumberOf(_, fill):
            return np.asarray(values if fill is None else np.where(missing, fill, values), dtype=np.float64)
        case MissingIn():
            return missing.astype(np.float64)
        case LimitIn(_, above):
            return np.asarray(cells.above if above else cells.below, dtype=np.float64)
        case LevelOf(_, levels, other):
            known = {level for level in levels if level is not None}
            inside = np.array(
                [None in levels if gone else cell in known for cell, gone in zip(values, missing, strict=True)],
                dtype=bool,
            )
            return np.asarray(inside != other, dtype=np.float64)


def definition(feature: Ingredient) -> str:
    """How a feature is made of its column, in words."""
    match feature:
        case NumberOf(_, None):
            return UNCHANGED
        case NumberOf(_, fill):
            return f"{UNCHANGED}; missing values become {number(fill)}"
        case MissingIn():
            return "1 if missing, else 0"
        case LimitIn(_, above):
            return f"1 if {'above a limit such as >5' if above else 'below a limit such as <5'}, else 0"
        case LevelOf(_, levels, other):
            named = listed([_shown(level) for level in levels], MOST_LEVELS_SHOWN)
            return f"1 if none of {named}, else 0" if other else f"1 if {named}, else 0"


def _shown(level: Level) -> str:
    return "missing" if level is None else f"“{level}”" if isinstance(level, str) else number(level)
