"""What a report is about: a model, the rows it is evaluated on, and the columns of their table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from .._input.column_types import column_of_kind
from .._model import SparseModel
from .._model.access import as_predictor, models_of, predictor_if_readable
from .._model.predictor import Predictor
from .._model.recipe import UNCHANGED, definition, read_cells
from .._utils.arrays import BoolArray, FloatArray, IntArray
from .._utils.validation import codes_of, is_missing, labels_of, odd_labels

MIN_ROWS = 5  # no quantile or level is shown that describes fewer rows
MAX_LEVELS = 4  # of a text column


@dataclass(frozen=True, slots=True, eq=False)
class Subject:
    """A model and the rows that a report evaluates it on."""

    estimator: Any  # what can be cloned and fitted again; None for a model from a file
    predictor: Predictor
    features: FloatArray  # the rows as the models read them, shape (n_samples, n_features)
    proba: FloatArray  # predictions for them, shape (n_samples, n_classes)
    code: IntArray  # positions of their classes
    labels: np.ndarray[Any, Any]
    reads_table: bool  # whether the features are made from the columns of the table in a known way
    weight: FloatArray | None = None  # of the rows
    is_turned: bool = False  # whether the first of two classes became the second

    @property
    def models(self) -> list[SparseModel]:
        return list(self.predictor.models_)

    @property
    def class_names(self) -> list[str]:
        return [str(label) for label in self.predictor.classes_]

    @property
    def features_read(self) -> list[int]:
        """Positions of the features that some model reads."""
        return sorted({p for model in self.models for p in model.features})

    @classmethod
    def read(cls, source: Any, X: Any, y: Any, weight: Any = None, label: object = None) -> Subject:
        """Predict the rows of a table by an estimator or a model; `label` becomes the second of two classes."""
        predictor, features, reads_table = _read_features(source, X)
        msg = odd_labels(y)
        if msg is not None:
            raise ValueError(msg)
        labels = labels_of(y, len(features))
        if isinstance(source, SparseModel):  # a single output separates its class from all others
            labels = np.where(labels == source.label, str(source.label), f"not {source.label}").astype(object)
        estimator = source if isinstance(source, BaseEstimator) and not isinstance(source, Predictor) else None
        proba = (predictor if estimator is None else estimator).predict_proba(X)
        about = predictor if label is None else predictor.about(label)
        is_turned = about is not predictor
        weight = None if weight is None else np.asarray(weight, dtype=np.float64)
        proba, code = proba[:, ::-1] if is_turned else proba, codes_of(labels, about.classes_)
        return cls(estimator, about, features, proba, code, labels, reads_table, weight, is_turned)

    def column_names(self) -> list[str] | None:
        """Names of the columns of the raw table; None if they are not known."""
        return self.predictor.column_names if self.reads_table else None

    def as_read(self, X: Any) -> Any:
        """The raw table with its cells as the model reads them: numbers, and one spelling of a level."""
        recipe = self.predictor.recipe_
        if recipe is None or all(column.cells is None for column in recipe.columns):
            return X
        out = np.empty((len(self.code), len(recipe.columns)), dtype=object)
        for c, (raw, cells) in enumerate(zip(recipe.columns, recipe.raw_columns(X), strict=True)):
            is_text = raw.kind == "text"
            out[:, c] = column_of_kind(raw.name, cells, "text").values if is_text else read_cells(cells, raw).values
        return out

    def columns_used(self) -> set[str] | None:
        """Names of the raw columns that some model reads; None if the preprocessing hides them."""
        recipe = self.predictor.recipe_
        if recipe is not None:
            return {recipe.columns[recipe.features[p].column].name for p in self.features_read}
        return {self.models[0].feature_names[p] for p in self.features_read} if self.reads_table else None

    def feature_definitions(self) -> list[dict[str, str]]:
        """How the features that are read are made from raw columns, except those that are columns themselves."""
        recipe = self.predictor.recipe_
        if recipe is None:
            return []
        made = [(recipe.names[p], recipe.features[p]) for p in self.features_read]
        found = [(name, recipe.columns[feature.column].name, definition(feature)) for name, feature in made]
        return [
            {"name": name, "column": column, "definition": definition}
            for name, column, definition in found
            if (name, definition) != (column, UNCHANGED)
        ]


def _read_features(source: Any, X: Any) -> tuple[Predictor, FloatArray, bool]:
    if isinstance(source, SparseModel) and not hasattr(X, "columns"):  # it may have been fitted to a named table
        source = Predictor([source], as_predictor(source).classes_, named=False)
    predictor = predictor_if_readable(source)
    if predictor is not None:
        return predictor, predictor.features(X), True
    # steps that cannot be written as a recipe, such as PCA: the report is about their output
    last = as_predictor(source[-1])
    predictor = Predictor(models_of(source), last.classes_, None, last.settings_, named=False)
    return predictor, source[-1]._table(source[:-1].transform(X)), False


@dataclass(frozen=True, slots=True)
class ColumnSummary:
    name: str
    kind: str  # "number", "yes/no", "text", "date", "constant" or "empty"
    missing: float  # share of the cells
    n_distinct: int  # different values without missing ones
    levels: tuple[tuple[str, float], ...]  # most frequent values with their shares, each of at least MIN_ROWS rows


def summarize_columns(X: Any, names: Sequence[str] | None = None) -> list[ColumnSummary]:
    """One summary for each column of a data frame or array."""
    columns = raw_columns(X)
    if hasattr(X, "columns"):
        names = [str(name) for name in X.columns]
    names = [f"x{j}" for j in range(len(columns))] if names is None else list(names)
    return [_summarize(name, column) for name, column in zip(names, columns, strict=True)]


def raw_columns(X: Any) -> list[np.ndarray[Any, Any]]:
    """The cells of each column."""
    if hasattr(X, "iloc"):  # by position, because names may repeat
        return [X.iloc[:, j].to_numpy() for j in range(X.shape[1])]
    if hasattr(X, "get_columns"):
        return [column.to_numpy() for column in X.get_columns()]
    return list(np.asarray(X).T)


def _summarize(name: str, column: np.ndarray[Any, Any]) -> ColumnSummary:
    missing = missing_cells(column)
    cells = column[~missing]
    share = float(missing.mean()) if missing.size else 0.0
    if cells.dtype.kind in "mM":
        return ColumnSummary(name, "date", share, np.unique(cells).size, ())
    numbers = numbers_of(cells)
    counts = Counter((cells if numbers is None else numbers).tolist())
    kind, levels = "number", []
    if not counts:
        kind = "empty"
    elif len(counts) == 1 and not missing.any():  # a blank says something, too
        kind = "constant"
    elif numbers is None:
        kind, levels = "text", counts.most_common(MAX_LEVELS)
    elif set(counts) == {0.0, 1.0}:
        kind, levels = "yes/no", [("yes", counts[1.0])] if counts[0.0] >= MIN_ROWS else []
    shares = tuple((str(level), n / len(cells)) for level, n in levels if n >= MIN_ROWS)
    return ColumnSummary(name, kind, share, len(counts), shares)


def missing_cells(column: np.ndarray[Any, Any]) -> BoolArray:
    if column.dtype.kind != "O":
        return np.asarray(column != column)  # NaN and NaT
    return np.array([is_missing(cell) for cell in column], dtype=np.bool_)


def numbers_of(cells: np.ndarray[Any, Any]) -> FloatArray | None:
    """The cells as numbers; None if some are not."""
    if cells.dtype.kind in "biuf" or all(isinstance(cell, Real | np.bool_) for cell in cells):
        return np.asarray(cells, dtype=np.float64)
    return None
