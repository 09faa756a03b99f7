"""Tables as people keep them, with text, blanks and laboratory values, turned into named columns of numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from numbers import Integral
from types import MappingProxyType
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ._input.column_checks import far_from_others, useless
from ._input.column_types import (
    COMMAS,
    Column,
    column_of_kind,
    comma_meaning,
    in_days,
    infer_column,
    settled,
    share_of_numbers,
)
from ._model.cells import CellFormat, level_key, small
from ._model.recipe import (
    LEAST_ROWS_OF_LEVEL,
    LEAST_SHARE_OF_LEVEL,
    Ingredient,
    LevelOf,
    LimitIn,
    MissingIn,
    NumberOf,
    RawColumn,
    Recipe,
)
from ._utils.arrays import FloatArray
from ._utils.compat import Interval, RealNotInt, StrOptions
from ._utils.validation import check_cells, check_columns
from ._utils.words import listed, plural
from .explain.term_table import ReadableTable, per_row

__all__ = ["ColumnTable", "TableEncoder"]

AS_IT_IS = "used as it is"
MOST_INDICATORS = 5  # in a description
ABBREVIATIONS = {"f": "female", "m": "male", "y": "yes", "n": "no"}  # the same level if a column holds both


@dataclass(frozen=True, slots=True, eq=False)
class ColumnTable(ReadableTable):
    """What was read, changed and doubted, one row for each column of a table."""

    column: tuple[str, ...] = field(metadata=per_row())
    kind: tuple[str, ...] = field(metadata=per_row(text=True, sentence=True))
    use: tuple[str, ...] = field(metadata=per_row(text=True, sentence=True))
    changed: tuple[str, ...] = field(metadata=per_row(text=True, sentence=True))
    doubtful: tuple[str, ...] = field(metadata=per_row(text=True, sentence=True))

    @classmethod
    def of(cls, rows: Sequence[Sequence[str]]) -> ColumnTable:
        columns = list(zip(*rows, strict=True)) or [()] * len(fields(cls))
        return cls(*columns)


class TableEncoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Turn a table with text, categories, blanks and laboratory values into named columns of numbers.

    Every column is looked at as a whole. Numbers may be written as laboratories do: ``<0.5`` and ``>1000`` count as the
    limit, with an indicator such as ``CRP below limit``; ``45.3%``, ``12 mg/L`` and ``CHF 5'859.50`` are numbers if at
    least half of the column has that unit; ``n.d.``, ``-``, ``NA`` and ``?`` are blanks. Blanks become the median, with
    an indicator such as ``CRP missing``. Dates become days, such as ``admitted (days since 2021-03-01)``. Text becomes
    one indicator for each level, such as ``smokes=current``; levels that differ only in case or blanks are one level,
    and so are ``F`` and ``female``, ``m`` and ``male``, ``y`` and ``yes``, ``n`` and ``no``; rare levels are grouped.
    Columns without information are dropped.

    What was done is plain data, `recipe_`: a pipeline with this encoder and an `RFSCClassifier` can be saved, explained
    and exported, and all of these read raw cells in the same way.

    Parameters
    ----------
    kinds : mapping of str to {"number", "text", "date"}, default=None
        Kinds of columns, by name, that the cells should not decide. Cells of a column of numbers that hold none count
        as blank.
    decimal : {".", ","}, default=None
        The decimal sign; with ``"."`` commas may separate thousands, but in a column of cells such as ``1,5`` they are
        decimal, and with ``","`` points in one of cells such as ``1.234,5``. With None, a single cell such as ``1,5``
        anywhere in the table shows that commas are decimal, or else one such as ``1.5`` that they separate thousands;
        without either, texts with commas are no numbers.
    min_frequency : int or float, default=None
        Least number of rows, or share of the rows, of a level or limit that becomes a feature. None is 5 rows, or 1 %
        of the rows if that is more.
    max_categories : int, default=20
        Most features that a text column may become.

    Attributes
    ----------
    recipe_ : Recipe
        How every feature is made from the raw columns; ``print(encoder.recipe_)`` shows it as a table.
    columns_ : ColumnTable
        What was read, changed and doubted, for every column; with ``rows()``, ``text()`` and ``to_frame()``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if the table has names.
    n_features_in_ : int
        Number of columns.

    Examples
    --------
    >>> import pandas as pd
    >>> from rfsc.tables import TableEncoder
    >>> cells = {"CRP": ["<0.5", "12", "n.d.", "3.5"] * 5, "sex": ["F", "m", "f ", "m"] * 5}
    >>> encoder = TableEncoder().set_output(transform="pandas").fit(pd.DataFrame(cells))
    >>> encoder.transform(pd.DataFrame({"CRP": ["<1", ""], "sex": ["F", "m"]}))
       CRP  CRP missing  CRP below limit  sex=m
    0  1.0          0.0              1.0    0.0
    1  3.5          1.0              0.0    1.0
    >>> print(encoder.recipe_)
    feature          column  value
    --------------------------------------------------------------
    CRP              CRP     unchanged; missing values become 3.5
    CRP missing      CRP     1 if missing, else 0
    CRP below limit  CRP     1 if below a limit such as <5, else 0
    sex=m            sex     1 if “m”, else 0
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "kinds": [Mapping, None],
        "decimal": [StrOptions({".", ","}), None],
        "min_frequency": [
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0, 1, closed="neither"),
            None,
        ],
        "max_categories": [Interval(Integral, 2, None, closed="left")],
    }
    _dates: Mapping[str, CellFormat] = MappingProxyType({})  # how columns of dates are read, if that is decided

    def __init__(
        self,
        *,
        kinds: Mapping[str, str] | None = None,
        decimal: str | None = None,
        min_frequency: float | None = None,
        max_categories: int = 20,
    ) -> None:
        self.kinds = kinds
        self.decimal = decimal
        self.min_frequency = min_frequency
        self.max_categories = max_categories

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Look at every column, and decide how it becomes numbers.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_columns)
            The table: pandas, polars, or an array.
        y : None
            Not used.

        Returns
        -------
        TableEncoder
            Itself.
        """
        self._validate_params()
        names, cells = self._cells(X, reset=True)
        kinds = dict(self.kinds or {})
        unknown = [repr(name) for name in kinds if name not in names]
        if unknown or not all(kind in ("number", "text", "date") for kind in kinds.values()):
            got = f"no column {unknown[0]}" if unknown else "another kind"
            msg = f"kinds must name columns of the table as 'number', 'text' or 'date', got {got}."
            raise ValueError(msg)
        known = comma_meaning(cells)
        comma = COMMAS[self.decimal] if self.decimal else known
        columns = [
            column_of_kind(name, column, kinds[name], comma) if name in kinds else infer_column(name, column, comma)
            for name, column in zip(names, cells, strict=True)
        ]
        self._decide(settled(columns) if known == "" else columns, comma)
        return self

    def transform(self, X: Any) -> FloatArray:
        """Make the features.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_columns)
            A table with the columns of `fit`; new levels count as rare ones.

        Returns
        -------
        ndarray or data frame of shape (n_samples, n_features)
            Numbers without gaps; `set_output` says in which container.
        """
        check_is_fitted(self)
        self._cells(X, reset=False)
        return self.recipe_.complete_table(X)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray[Any, Any]:  # noqa: ARG002
        """Names of the features.

        Parameters
        ----------
        input_features : None
            Not used: the names of the columns are those of `fit`.

        Returns
        -------
        ndarray of str
            One for each column of the result.
        """
        check_is_fitted(self)
        return np.array(self.recipe_.names, dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.input_tags.categorical = tags.input_tags.allow_nan = True
        return tags

    def _cells(self, X: Any, *, reset: bool) -> tuple[list[str], list[Any]]:
        """Names and cells of the columns, checked as scikit-learn does."""
        if not hasattr(X, "columns"):
            X = check_cells(self, X, reset=reset)
            return [f"x{j}" for j in range(X.shape[1])], list(X.T)
        check_columns(self, X, reset=reset)
        if reset and not len(X):
            msg = "the table has no rows (n_samples = 0), but at least one is needed."
            raise ValueError(msg)
        names = [str(name) for name in X.columns]
        return names, [X[name] for name in X.columns] if reset else []

    def _decide(self, columns: Sequence[Column], comma: str | None) -> None:
        """Make the recipe and the table of what was done."""
        features: list[Ingredient] = []
        names: list[str] = []
        rows = []
        formats = []
        for j, column in enumerate(columns):
            words, read = _abbreviations(column), column
            if words:
                read = replace(column, values=np.array([words.get(v, v) for v in column.values], dtype=object))
            reason, doubts = useless(read, self._least(column)), []
            if column.kind == "date" and not reason:
                read, is_doubtful = in_days(column, self._dates.get(column.name))
                doubts = ["01/02/2026 read as 1 February, but it may be 2 January"] if is_doubtful else []
            made = {} if reason else self._number(j, read) if read.kind == "number" else self._levels(j, read, words)
            names += made
            features += made.values()
            formats.append(read.cells)
            use = f"dropped ({reason})" if reason else description(made)
            doubts += _doubtful(read, comma)
            rows.append((column.name, column.kind, use, _changed(read, words), "; ".join(doubts)))
        repeated = [repr(name) for name, n in Counter(names).items() if n > 1]
        if repeated:
            msg = f"two features would have the name {repeated[0]}, such as a column 'sex=male' beside a column sex. "
            raise ValueError(msg + "Rename one of the columns.")
        kinds = ("number" if column.kind in ("number", "date") else "text" for column in columns)
        each = zip(columns, kinds, formats, strict=True)
        raw = (RawColumn(column.name, kind, None, form) for column, kind, form in each)
        self.recipe_ = Recipe(tuple(raw), tuple(features), tuple(names))
        self.columns_ = ColumnTable.of(rows)

    def _least(self, column: Column) -> float:
        """How many rows a level or limit needs."""
        n_rows, given = len(column.values), self.min_frequency
        if given is None:
            return max(LEAST_ROWS_OF_LEVEL, LEAST_SHARE_OF_LEVEL * n_rows)
        return given if isinstance(given, int | np.integer) else given * n_rows

    def _number(self, j: int, column: Column) -> dict[str, Ingredient]:
        since = column.cells.since if column.cells is not None else ""
        name = f"{column.name} (days since {since})" if since else column.name
        made: dict[str, Ingredient] = {name: NumberOf(j, float(np.median(column.values[~column.blank])))}
        if column.blank.any():
            made[f"{column.name} missing"] = MissingIn(j)
        for word, limit in (("below", column.below), ("above", column.above)):
            if limit is not None and limit.sum() >= self._least(column):
                made[f"{column.name} {word} limit"] = LimitIn(j, word == "above")
        return made

    def _levels(self, j: int, column: Column, words: Mapping[str, str]) -> dict[str, Ingredient]:
        """An indicator for each frequent level, then one for the rare ones; two need one only."""
        counts = Counter(column.values.tolist())
        order = sorted((level for level in counts if level is not None), key=level_key) + [None] * (None in counts)
        frequent = [level for level in order if counts[level] >= self._least(column)]
        if len(frequent) + (len(frequent) < len(order)) > self.max_categories:
            ranked = sorted(frequent, key=lambda level: -counts[level])[: self.max_categories - 1]
            frequent = [level for level in frequent if level in ranked]
        keys: dict[str | None, tuple[str | None, ...]] = {
            level: (None if level is None else level_key(level),) for level in frequent
        }
        keys |= {word: (level_key(word), level_key(letter)) for letter, word in words.items() if word in keys}
        made: dict[str, Ingredient] = {
            f"{column.name} missing" if level is None else f"{column.name}={level}": LevelOf(j, own)
            for level, own in keys.items()
        }
        if len(frequent) < len(order):
            made[f"{column.name}: other"] = LevelOf(j, sum(keys.values(), ()), other=True)
        return dict(list(made.items())[len(made) == 2 :])


def description(made: Mapping[str, Ingredient]) -> str:
    """How a column is used, for the user."""
    flags = [name for name, feature in made.items() if not isinstance(feature, NumberOf)]
    numbers = [feature.fill for feature in made.values() if isinstance(feature, NumberOf)]
    shown = f"indicator{'s' if len(flags) > 1 else ''} {listed(flags, MOST_INDICATORS)}"
    if not numbers:
        return shown
    if not flags:
        return AS_IT_IS
    has_blanks = any(isinstance(feature, MissingIn) for feature in made.values())
    return f"blanks become {numbers[0]:.6g}, with {shown}" if has_blanks else f"{AS_IT_IS}, with {shown}"


def _changed(column: Column, words: Mapping[str, str]) -> str:
    """How cells that are no plain numbers, and levels of several spellings, were read."""
    if column.kind != "number" or column.cells is None:
        said = [f"{plural(column.n_merged, 'spelling')} merged with others"] if column.n_merged else []
        return "; ".join(said + [f"{letter} read as {word}" for letter, word in words.items()])
    n_limits = sum(int(limit.sum()) for limit in (column.below, column.above) if limit is not None)
    said = [f"unit {column.cells.unit}"] if column.cells.unit else []
    said += [f"days since {column.cells.since}"] if column.cells.since else []
    said += ["decimal commas"] if column.cells.comma in (".", "swap") else []
    said += ["points between thousands"] if column.cells.comma == "swap" else []
    said += [f"{plural(n_limits, 'cell')} with < or > {_count(n_limits)} as the limit"] if n_limits else []
    return "; ".join(said)


def _doubtful(column: Column, comma: str | None) -> list[str]:
    said, n_far = [], far_from_others(column).size
    if n := column.n_not_numbers:
        unit = f" in {column.cells.unit}" if column.cells is not None and column.cells.unit else ""
        what = "date" if column.cells is not None and column.cells.since else "number"
        said.append(f"{plural(n, 'cell')} without a {what}{unit} {_count(n)} as blank")
    if n_far:
        said.append(f"{plural(n_far, 'value')} far from the others")
    if column.doubtful_sign == ",":
        said.append(f"1,234 read as {'1234' if column.kind == 'number' else 'text'}, but it may be 1.234")
    elif column.doubtful_sign:
        said.append("1.234 read as 1.234, but it may be 1234")
    elif share := share_of_numbers(column, comma):
        said.append(f"text, although {share:.0%} of its cells are numbers")
    return said + [f"{letter} and {word} may be the same: write them alike" for letter, word in _abbreviated(column)]


def _abbreviations(column: Column) -> dict[str, str]:
    """Levels such as F of a column of text that also holds the word they stand for."""
    if column.kind != "text":
        return {}
    levels = {level_key(level): level for level in column.values.tolist() if level is not None}
    return {levels[letter]: levels[word] for letter, word in ABBREVIATIONS.items() if {letter, word} <= levels.keys()}


def _abbreviated(column: Column) -> list[tuple[str, str]]:
    """Other frequent levels of one letter, each with the only frequent word that begins with it."""
    counts = Counter(column.values.tolist()) if column.kind == "text" else Counter()
    levels = [text for text, n in counts.items() if text is not None and text.isalpha() and n >= LEAST_ROWS_OF_LEVEL]
    words = {text: [word for word in levels if len(word) > 1 and small(word[0]) == small(text)] for text in levels}
    return [(text, found[0]) for text, found in words.items() if len(text) == len(found) == 1]


def _count(n: int) -> str:
    return "counts" if n == 1 else "count"
