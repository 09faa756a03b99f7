"""From the columns of a raw table, with texts and blanks, to the numbers that a model reads.

A recipe is what is left of a fitted preprocessing when all code is taken away: plain data that can be saved with a
model and written down in SQL or C. Nothing in it comes from single rows but the levels of text columns.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from .._utils.arrays import BoolArray, FloatArray

Level = str | float | None  # None stands for a missing cell


@dataclass(frozen=True, slots=True)
class RawColumn:
    """A column of the raw table.

    Parameters
    ----------
    name : str
        Its header.
    kind : {"number", "text"}
        What its cells hold.
    levels : tuple of str, float or None, default=None
        The only levels that cells may have, where others are to be refused; None lets any come.
    """

    name: str
    kind: str
    levels: tuple[Level, ...] | None = None


@dataclass(frozen=True, slots=True)
class NumberOf:
    """The number in a column, with `fill` in the place of missing cells.

    Parameters
    ----------
    column : int
        Which raw column.
    fill : float or None, default=None
        What stands in for a missing cell; None leaves it missing.
    """

    column: int
    fill: float | None = None


@dataclass(frozen=True, slots=True)
class MissingIn:
    """1 where the cell of a column is missing, else 0.

    Parameters
    ----------
    column : int
        Which raw column.
    """

    column: int


@dataclass(frozen=True, slots=True)
class LevelOf:
    """1 where the cell is one of the levels, else 0; the other way round for `other`.

    Parameters
    ----------
    column : int
        Which raw column.
    levels : tuple of str, float or None
        Levels; None stands for a missing cell.
    other : bool, default=False
        1 where the cell is none of the levels: rare levels, and those that training has not seen.
    """

    column: int
    levels: tuple[Level, ...]
    other: bool = False


Ingredient = NumberOf | MissingIn | LevelOf
KINDS: dict[str, type[Ingredient]] = {"number": NumberOf, "missing": MissingIn, "level": LevelOf}


class DamagedRecipeError(ValueError):
    """What a dict lacks to describe a recipe, in words that show none of its values."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """How every feature of a model is made from the raw columns.

    Parameters
    ----------
    columns : tuple of RawColumn
        The raw table.
    features : tuple of NumberOf, MissingIn or LevelOf
        One for each feature.
    names : tuple of str
        Names of the features.
    """

    columns: tuple[RawColumn, ...]
    features: tuple[Ingredient, ...]
    names: tuple[str, ...]

    @classmethod
    def identity(cls, names: Sequence[str]) -> Recipe:
        """Every feature is a column of numbers."""
        columns = tuple(RawColumn(name, "number") for name in names)
        return cls(columns, tuple(NumberOf(j) for j in range(len(columns))), tuple(names))

    def table(self, X: Any) -> FloatArray:
        """The features of every row.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_columns)
            The raw table. The columns of a data frame are found by their names, others by their place.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            Numbers; NaN where a feature is missing.
        """
        cells = _columns(X, [column.name for column in self.columns])
        n_samples = len(cells[0]) if cells else len(X)
        used = {feature.column for feature in self.features}
        raw = {c: _cells(cells[c], self.columns[c]) for c in used}
        out = np.empty((n_samples, len(self.features)))
        for j, feature in enumerate(self.features):
            out[:, j] = _values(feature, *raw[feature.column])
        return out

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers, texts and lists that `from_dict` turns back into an equal recipe."""
        kind_of = {cls: kind for kind, cls in KINDS.items()}
        features = [{"kind": kind_of[type(feature)], **asdict(feature)} for feature in self.features]
        for feature in features:
            if "levels" in feature:
                feature["levels"] = list(feature["levels"])
        columns = [asdict(column) for column in self.columns]
        for column in columns:
            column["levels"] = None if column["levels"] is None else list(column["levels"])
        return {"columns": columns, "features": features, "names": list(self.names)}

    @classmethod
    def from_dict(cls, d: Mapping[str, Any]) -> Recipe:
        """The recipe that `as_dict` described; a ValueError that says what is wrong where it is damaged."""
        try:
            columns = tuple(
                RawColumn(str(c["name"]), str(c["kind"]), None if c["levels"] is None else tuple(c["levels"]))
                for c in d["columns"]
            )
            features = tuple(_ingredient(f) for f in d["features"])
            recipe = cls(columns, features, tuple(str(name) for name in d["names"]))
            sound = recipe.as_dict() == {key: d[key] for key in ("columns", "features", "names")}
        except (KeyError, TypeError, ValueError, AttributeError):
            sound = False  # Python's own words would show values
        if not sound:
            msg = "its columns, features and names are not those that as_dict() writes"
            raise DamagedRecipeError(msg)
        if not all(column.kind in ("number", "text") for column in columns):
            msg = "the kind of a column must be 'number' or 'text'"
            raise DamagedRecipeError(msg)
        known = all(type(f.column) is int and f.column in range(len(columns)) for f in features)
        if len(features) != len(recipe.names) or not known:
            msg = "every feature needs a name and a column that is there"
            raise DamagedRecipeError(msg)
        if not all(_is_sound(feature) for feature in features) or not all(
            _are_plain(column.levels or ()) for column in columns
        ):
            msg = "a feature has a value of the wrong type"
            raise DamagedRecipeError(msg)
        return recipe


def _ingredient(d: Mapping[str, Any]) -> Ingredient:
    fields = {key: value for key, value in d.items() if key != "kind"}
    if "levels" in fields:
        fields["levels"] = tuple(fields["levels"])
    return KINDS[d["kind"]](**fields)


def _is_sound(feature: Ingredient) -> bool:
    match feature:
        case NumberOf(_, fill):
            return fill is None or _is_finite(fill)
        case MissingIn():
            return True
        case LevelOf(_, levels, other):
            return _are_plain(levels) and isinstance(other, bool)


def _are_plain(levels: Sequence[Any]) -> bool:
    return all(level is None or isinstance(level, str) or _is_finite(level) for level in levels)


def _is_finite(number: Any) -> bool:
    return isinstance(number, int | float) and math.isfinite(number)


def _columns(X: Any, names: Sequence[str]) -> list[Any]:
    """The cells of every column, by name where X has names."""
    if hasattr(X, "columns"):
        there = {str(name): name for name in X.columns}
        missing = [name for name in names if name not in there]
        if missing:
            shown = ", ".join(repr(name) for name in missing[:5]) + (", ..." if len(missing) > 5 else "")
            msg = f"the table lacks {len(missing)} of the {len(names)} columns that the model was fitted to: {shown}."
            raise ValueError(msg)
        return [np.asarray(X[there[name]], dtype=object) for name in names]
    cells = np.asarray(X, dtype=object)
    if cells.ndim != 2 or cells.shape[1] != len(names):
        msg = (
            f"expected a table with {len(names)} columns, got {'one' if cells.ndim == 2 else 'an array'} of shape "
            f"{cells.shape}. Pass rows with all the columns that the model was fitted to, in their order."
        )
        raise ValueError(msg)
    return list(cells.T)


def _cells(column: Any, raw: RawColumn) -> tuple[np.ndarray[Any, Any], BoolArray]:
    """The cells of a column, numbers as floats with NaN for missing ones, and which are missing."""
    missing = np.array([is_missing(cell) for cell in column], dtype=np.bool_)
    if raw.levels is not None:
        known = set(raw.levels)
        n_strange = sum((None if gone else cell) not in known for cell, gone in zip(column, missing, strict=True))
        if n_strange:
            msg = (
                f"column {raw.name!r} holds levels that the model has not seen in {n_strange} row(s). Leave those rows "
                "out, or fit with OneHotEncoder(handle_unknown='ignore')."
            )
            raise ValueError(msg)
    if raw.kind == "text":
        return column, missing
    values = np.full(len(column), np.nan)
    try:
        values[~missing] = np.asarray(column[~missing], dtype=np.float64)
    except (TypeError, ValueError):
        msg = f"column {raw.name!r} holds numbers, but a cell that is neither a number nor missing came."
        raise ValueError(msg) from None
    return values, missing


def is_missing(cell: Any) -> bool:
    """None, NaN or pandas.NA, which compares to nothing and is known by its type alone."""
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
