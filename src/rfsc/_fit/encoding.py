"""Training rows as numbers: features of missing cells, text and categories, as a recipe for new rows; classes; weights.

Classes become outputs in {-1, +1} (Eq. 1 of the paper).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.pipeline import Pipeline
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets

from .._model.recipe import (
    LEAST_ROWS_OF_LEVEL,
    LEAST_SHARE_OF_LEVEL,
    MAX_LEVELS,
    NUMERIC_KINDS,
    Ingredient,
    Level,
    LevelOf,
    MissingIn,
    NumberOf,
    RawColumn,
    Recipe,
    feature_name,
)
from .._utils.arrays import BoolArray, FloatArray, IntArray
from .._utils.compat import check_sample_weight, safe_indexing
from .._utils.validation import REPEATED_NAMES, check_columns, check_raw_table, check_table, check_unmasked, is_missing

CATEGORIES = ("category", "Categorical", "Enum")  # how pandas and polars begin the names of such types
MOST_OBSERVATIONS = 1e100  # squares and products of such weights are still finite

Cells = np.ndarray[Any, Any]


def read_features(
    estimator: Any, X: Any, y: Any, sample_weight: Any
) -> tuple[FloatArray, np.ndarray[Any, Any], FloatArray, BoolArray]:
    """Features, labels and weights of the rows whose weight is positive; and which of all rows these are.

    The estimator gets its `recipe_`: None if X holds nothing but numbers, which are then the features.
    """
    levels = level_columns(X)
    if levels:
        X = X if hasattr(X, "shape") else np.asarray(X, dtype=object)
        y = check_raw_table(estimator, X, y, min_samples=2)
    else:
        X, y = check_table(estimator, X, y, reset=True, min_samples=2, allow_nan=True)
    weight = row_weights(sample_weight, estimator.class_weight, np.empty((len(y), 0)), y)
    used = weight > 0
    if not used.all():  # the table may be long: no copy without need
        X, y, weight = safe_indexing(X, np.flatnonzero(used)), y[used], weight[used]
        levels = {c: cells[used] for c, cells in levels.items()}
    estimator.recipe_ = None
    if levels or _has_missing(X):
        # Medians and levels come from all rows, also where folds compare bases and sizes, as the ranges of the features
        # do: they say nothing about the classes, beyond the weights that these may have.
        estimator.recipe_ = recipe_of(X, feature_names(estimator), levels, weight)
        X = estimator.recipe_.complete_table(X)
    return X, y, weight, used


def feature_names(estimator: Any) -> tuple[str, ...]:
    """Names of the features: those of the columns of X, else x0, x1, ...; or of what was made of the columns."""
    recipe = getattr(estimator, "recipe_", None)
    if recipe is not None:
        return tuple(recipe.names)
    given = getattr(estimator, "feature_names_in_", [f"x{j}" for j in range(estimator.n_features_in_)])
    return tuple(str(name) for name in given)


def columns_of(estimator: Any, features: Any) -> IntArray:
    """The columns of X that some features are made from, ascending."""
    recipe, made = estimator.recipe_, np.unique(np.asarray(features, dtype=np.int64))
    return made if recipe is None else np.unique([recipe.features[p].column for p in made.tolist()]).astype(np.int64)


def shared_columns(estimator: Any) -> tuple[int, ...]:
    """The column of X from which each feature is made; empty if no two of them share one, or all do."""
    recipe = estimator.recipe_
    columns = () if recipe is None else tuple(feature.column for feature in recipe.features)
    return columns if 1 < len(set(columns)) < len(columns) else ()


def _has_missing(X: FloatArray) -> bool:
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isnan(X.sum())) and bool(np.isnan(X).any())  # the sum alone may be NaN after an overflow


class RowEncoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """What a classifier makes of such tables, for other methods that are compared with it."""

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002  a transformer takes it
        """Make the recipe of these rows."""
        levels = level_columns(X)
        if levels:
            check_columns(self, X, reset=True)
        else:
            X = check_table(self, X, reset=True, allow_nan=True)
        self.recipe_ = recipe_of(X, feature_names(self), levels, np.ones(len(X)))
        return self

    def transform(self, X: Any) -> FloatArray:
        """The features of rows."""
        return self.recipe_.complete_table(X)


def fill_later(fitted: Any, X: Any) -> None:
    """Let what was fitted to rows X without a missing cell read rows with such cells: medians of X take their place."""
    last = fitted[-1] if isinstance(fitted, Pipeline) else fitted
    if hasattr(last, "recipe_") and last.recipe_ is None:
        seen = fitted[:-1].transform(X) if isinstance(fitted, Pipeline) else X
        table = check_table(last, seen, reset=False)
        last.recipe_ = recipe_of(table, feature_names(last), {}, np.ones(len(table)))


# ---- which columns hold levels


def level_columns(X: Any) -> dict[int, Cells]:
    """Columns of categories, or of text that is not numbers throughout, with their cells."""
    if hasattr(X, "columns") and hasattr(X, "dtypes"):
        if all(getattr(dtype, "kind", None) in NUMERIC_KINDS for dtype in X.dtypes):
            return {}
        if len(set(X.columns)) < len(X.columns):
            raise ValueError(REPEATED_NAMES)
        columns = [X[name] for name in X.columns]
        is_category = [str(column.dtype).startswith(CATEGORIES) for column in columns]
    else:
        columns = _text_array(X)
        is_category = [False] * len(columns)
    cells = [np.asarray(column) for column in columns]
    return {
        c: np.asarray(columns[c], dtype=object)
        for c, (own, category) in enumerate(zip(cells, is_category, strict=True))
        if category or _is_text(own)
    }


def _text_array(X: Any) -> list[Any]:
    """The columns of an array or nested list that is not all numbers; none of others."""
    if not isinstance(X, np.ndarray | list | tuple):
        return []
    try:
        kind = np.asarray(X).dtype.kind
    except ValueError:  # rows of different lengths
        return []
    cells = np.asarray(X, dtype=object) if kind in "OU" else np.empty(0)
    return list(cells.T) if cells.ndim == 2 else []


def _is_text(cells: Cells) -> bool:
    if cells.dtype.kind not in "OUT":
        return False
    texts = [cell for cell in cells if isinstance(cell, str)]
    try:
        np.array(texts, dtype=np.float64)
    except ValueError:
        return True
    return False


# ---- the recipe


def recipe_of(X: Any, names: Sequence[str], levels: dict[int, Cells], weight: FloatArray) -> Recipe:
    """Medians with indicators for missing numbers, and indicators of the levels that are frequent."""
    made: list[list[Ingredient]] = [[] for _ in names]
    kinds = ["number"] * len(names)
    for c, cells in levels.items():
        values = _levels(cells, names[c])
        made[c] = _indicators(c, values, weight)
        kinds[c] = "text" if any(isinstance(level, str) for level in values) else "number"
    columns = tuple(RawColumn(name, kind) for name, kind in zip(names, kinds, strict=True))
    numbers = [c for c in range(len(names)) if c not in levels]
    table = Recipe(columns, tuple(map(NumberOf, numbers)), tuple(names[c] for c in numbers)).table(X)
    for c, values in zip(numbers, table.T, strict=True):
        made[c] = _filled(c, values, weight)
    features = [feature for own in made for feature in own]
    found = tuple(feature_name(feature, names[feature.column]) for feature in features)
    if len(set(found)) < len(found):
        msg = "two features would have the same name, such as a column 'age missing' beside a column age with NaN."
        raise ValueError(f"{msg} Rename one of them.")
    if not found:
        msg = "X holds no column to learn from: all cells are missing, or all levels are rare or the same. Check X."
        raise ValueError(msg)
    return Recipe(columns, tuple(features), found)


def _filled(column: int, values: FloatArray, weight: FloatArray) -> list[Ingredient]:
    """The numbers of a column, and whether they are missing if some are; nothing if all are."""
    missing = np.isnan(values)
    if missing.all():
        return []
    number = NumberOf(column, weighted_median(values[~missing], weight[~missing]))  # new rows may lack others
    return [number, MissingIn(column)] if missing.any() else [number]


def weighted_median(values: FloatArray, weight: FloatArray) -> float:
    """The median of rows of which one of weight 2 counts as two: as NumPy's, the mean of the two in the middle."""
    distinct, place = np.unique(values, return_inverse=True)
    up_to = np.cumsum(np.bincount(place, weight))
    low, high = (np.searchsorted(2.0 * up_to, up_to[-1], side=side) for side in ("left", "right"))
    return float(distinct[low] / 2 + distinct[min(high, distinct.size - 1)] / 2)


def _levels(cells: Cells, name: str) -> list[Level]:
    """The level of every row; None for a missing cell."""
    levels: list[Level] = []
    for cell in cells:
        if is_missing(cell):
            levels.append(None)
        elif isinstance(cell, str):
            levels.append(str(cell))
        elif isinstance(cell, Real | np.bool_):
            levels.append(float(cell))
        else:
            msg = (
                f"column {name!r} must hold numbers, text, or categories that are numbers or text, got cells of type "
                f"{type(cell).__name__}. Turn them into text first, for instance with X[{name!r}].astype(str)."
            )
            raise ValueError(msg)
    if len({type(level) for level in levels if level is not None}) > 1:
        msg = f"column {name!r} holds both text and numbers. Make all of its cells text, or all of them numbers."
        raise ValueError(msg)
    return levels


def _indicators(column: int, levels: Sequence[Level], weight: FloatArray) -> list[Ingredient]:
    """One for each frequent level, for all others together, and for missing cells; of two, the second is enough."""
    count: dict[Level, float] = defaultdict(float)
    for level, own in zip(levels, weight.tolist(), strict=True):
        count[level] += own
    least = max(LEAST_ROWS_OF_LEVEL, LEAST_SHARE_OF_LEVEL * float(weight.sum()))
    by_count = sorted(count, key=lambda level: (-count[level], level is None, str(level)))
    frequent = [level for level in by_count if count[level] >= least]
    if len(count) > len(frequent) or len(frequent) > MAX_LEVELS:
        frequent = frequent[: MAX_LEVELS - 1]
    named = tuple(sorted(level for level in frequent if level is not None))
    made: list[Ingredient] = [LevelOf(column, (level,)) for level in named]
    gone: tuple[Level, ...] = (None,) if None in frequent else ()
    if len(frequent) < len(count):
        made.append(LevelOf(column, named + gone, other=True))
    if gone:
        made.append(MissingIn(column))
    return made if len(made) > 2 else made[1:]


# ---- classes and weights


@dataclass(frozen=True, slots=True)
class Targets:
    """The outputs of a problem: one for two classes, one against the rest for each of more."""

    classes: np.ndarray[Any, Any]  # labels, sorted; with two classes +1 stands for the second
    code: IntArray  # position of each row's label among the classes
    outputs: tuple[FloatArray, ...]  # one vector of -1 and +1 for each output


def encode(y: np.ndarray[Any, Any]) -> Targets:
    """Turn labels into outputs."""
    classes, code = _distinct(y)
    if classes.size < 2:
        msg = (
            f"y holds {classes.size} class; RFSC needs samples of at least two classes. "
            "Check how y was made, and that sample_weight and class_weight do not exclude a class."
        )
        raise ValueError(msg)
    upper = [1] if classes.size == 2 else range(classes.size)
    return Targets(classes, code, tuple(np.where(code == c, 1.0, -1.0) for c in upper))


def _distinct(y: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], IntArray]:
    """Sorted labels, and the position of each row's label among them."""
    with sortable(), np.errstate(invalid="ignore"):  # the check casts to integers, to see whether labels are whole
        check_classification_targets(y)
        return np.unique(y, return_inverse=True)


@contextmanager
def sortable(what: str = "y mixes labels") -> Iterator[None]:
    """A message for labels that cannot be sorted, where the original names types of single labels."""
    is_mixed = False
    try:
        yield
    except TypeError as error:
        if "not supported between" not in str(error):
            raise
        is_mixed = True
    if is_mixed:
        msg = f"{what} that cannot be sorted, such as text and numbers. Make all of one type."
        raise ValueError(msg)


def row_weights(sample_weight: Any, class_weight: Any, X: FloatArray, y: np.ndarray[Any, Any]) -> FloatArray:
    """Weight of every row; a row of weight 2 counts as two observations, a row of weight 0 as none."""
    weight = checked_weights(sample_weight, X)
    if not weight.any():
        msg = "sample_weight is zero for every row; at least two rows of different classes need a positive weight."
        raise ValueError(msg)
    if class_weight is not None:
        used = weight > 0
        weight[used] *= _class_weights(class_weight, y[used])
    with np.errstate(over="ignore"):
        total = weight.sum()
    if not total <= MOST_OBSERVATIONS:
        msg = (
            f"the weights must not sum to more than {MOST_OBSERVATIONS:g} observations. Divide them by a common factor."
        )
        raise ValueError(msg)
    return weight


def checked_weights(sample_weight: Any, X: FloatArray) -> FloatArray:
    """Weights of some rows, as numbers that are not negative; they may all be zero."""
    check_unmasked("sample_weight", sample_weight)
    if getattr(getattr(sample_weight, "dtype", None), "kind", "f") in "mM":  # would become nanoseconds
        msg = f"sample_weight must hold {X.shape[0]} real numbers, one per row, got dates. Convert it to float."
        raise ValueError(msg)
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # the sum with which it looks for NaN
            weight = np.array(check_sample_weight(sample_weight, X, dtype=np.float64))  # a copy: the user's stays
    except (TypeError, OverflowError):
        weight = None
    except ValueError as error:
        if "could not convert" not in str(error) and "Complex data" not in str(error):
            raise
        weight = None
    if weight is None:
        msg = f"sample_weight must hold {X.shape[0]} real numbers, one per row. Convert it to float."
        raise ValueError(msg)
    if weight.min() < 0:
        msg = (
            f"sample_weight must not be negative, {int((weight < 0).sum())} of {weight.size} weights are. "
            "Use 0 to leave a row out."
        )
        raise ValueError(msg)
    return weight


def class_factors(class_weight: Any, labels: np.ndarray[Any, Any], counts: FloatArray) -> FloatArray:
    """Weight of each class, where only the labels and the number of their rows are known."""
    if isinstance(class_weight, str):  # "balanced"
        return np.asarray(counts.sum() / (labels.size * counts), dtype=np.float64)
    return np.ones(labels.size) if class_weight is None else _class_weights(class_weight, labels)


def _class_weights(class_weight: Any, y: np.ndarray[Any, Any]) -> FloatArray:
    """Weight of every row by its class."""
    if isinstance(class_weight, dict):
        values: list[Any] = list(class_weight.values())
        if not all(isinstance(v, Real) for v in values) or not all(0 <= v < 1e308 for v in values):
            msg = "class_weight must map labels to finite numbers that are not negative. Use 0 to leave a class out."
            raise ValueError(msg)
        present = set(_distinct(y)[0].tolist())
        unknown = sum(label not in present for label in class_weight)
        if unknown:
            msg = f"class_weight has keys that are not labels of y ({unknown}). Use the labels of y as keys."
            raise ValueError(msg)
    return np.asarray(compute_sample_weight(class_weight, y), dtype=np.float64)
