"""Samples in whatever form they come: tables, and single rows as dict, Series, list or frame."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .._model import Predictor
from .._utils.arrays import FloatArray


def feature_table(predictor: Predictor, X: Any) -> FloatArray:
    """The features of a table or a single row, shape (n_samples, n_features); what has no names is read by place."""
    if isinstance(X, Mapping) or np.ndim(X) == 1:
        cells = np.empty((1, len(column_names(predictor))), dtype=object)
        cells[0] = row_cells(predictor, X)
        X = cells
    # an array is no mistake here, so scikit-learn need not warn of its missing names
    named = hasattr(X, "columns") and hasattr(predictor, "feature_names_in_")
    return Predictor(predictor.models_, predictor.classes_, predictor.recipe_, named=named).features(X)


def column_names(predictor: Predictor) -> list[str]:
    """Names of the columns that a row has: those of the raw table where there is a recipe, else the features."""
    recipe = predictor.recipe_
    return [column.name for column in recipe.columns] if recipe else list(predictor.models_[0].feature_names)


def row_cells(predictor: Predictor, row: Any) -> list[Any]:
    """The cells of one row in the order of the columns."""
    names = column_names(predictor)
    named = _named(row)
    if named is None:
        cells = np.asarray(row, dtype=object)
        cells = cells[0] if cells.ndim == 2 and len(cells) == 1 else cells
        if cells.shape != (len(names),):
            msg = f"expected one row of {len(names)} values, got an array of shape {cells.shape}."
            raise ValueError(msg)
        return list(cells)
    absent = [name for name in names if name not in named]
    if absent:
        shown = ", ".join(repr(name) for name in absent[:5]) + (", ..." if len(absent) > 5 else "")
        msg = f"the row lacks {len(absent)} of the {len(names)} columns that the model was fitted to: {shown}."
        raise ValueError(msg)
    return [named[name] for name in names]


def _named(row: Any) -> dict[str, Any] | None:
    """The cells by name, None where they have none."""
    if isinstance(row, Mapping):
        return {str(name): cell for name, cell in row.items()}
    if hasattr(row, "columns"):
        if len(row) != 1:
            msg = f"expected one row, got a table of {len(row)}. Pick one, such as X.iloc[[0]]."
            raise ValueError(msg)
        return {str(name): np.asarray(row[name], dtype=object)[0] for name in row.columns}
    if hasattr(row, "index") and hasattr(row, "items"):  # a Series; one without names counts from 0, and is a list
        pairs = list(row.items())
        return None if [key for key, _ in pairs] == list(range(len(pairs))) else {str(k): cell for k, cell in pairs}
    return None
