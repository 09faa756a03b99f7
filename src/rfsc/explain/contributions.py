"""What every term, or feature, adds to f in a sample, and what favours a class and what contradicts it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .._model import Predictor, SparseModel
from .._model.access import as_predictor, one_model
from .._model.recipe import Recipe, columns_lacking
from .._utils.arrays import FloatArray
from .._utils.validation import check_choice

CONSTANT = "constant"


class ForAgainst(NamedTuple):
    """f of every sample, split by the sign of the contributions: f = for_class - against_class.

    Each contribution is counted on the side that it favours, also beyond the training ranges, where a term may change
    its sign.

    Parameters
    ----------
    for_class, against_class : ndarray of shape (n_samples,)
        What favours the class and what is against it; at least zero.
    """

    for_class: FloatArray
    against_class: FloatArray

    @property
    def delta(self) -> FloatArray:
        """(y+ - y-) / max(y+, y-): 1 if nothing is against the class, -1 if nothing favours it; no probability."""
        larger = np.maximum(self.for_class, self.against_class)
        gap = self.for_class - self.against_class
        return np.divide(gap, larger, out=np.zeros_like(gap), where=larger > 0)


@dataclass(frozen=True, slots=True, eq=False)
class Contributions:
    """What adds up to f in every sample.

    Parameters
    ----------
    names : tuple of str
        Terms, as in ``model.names``; or the features that the model reads, and "constant" at the end.
    values : ndarray of shape (n_samples, n_names)
        Contributions; every row adds up to f, to rounding.
    total : ndarray of shape (n_samples,)
        f.
    sides : ForAgainst
        y+ and y-, by term as in the paper.
    label : object
        The class that f > 0 predicts; of several outputs, the largest f decides.
    by : {"term", "feature"}
        What the columns are.
    """

    names: tuple[str, ...]
    values: FloatArray
    total: FloatArray
    sides: ForAgainst
    label: object
    by: str


def for_and_against(model: SparseModel, X: FloatArray) -> ForAgainst:
    """Split the output of a model into what favours its class and what is against it (paper, Eq. nl_reg2).

    Parameters
    ----------
    model : SparseModel
        The model of one output.
    X : ndarray of shape (n_samples, n_features)
        Samples in the user's own units.

    Returns
    -------
    ForAgainst
        y+ and y- of every sample.
    """
    return split(model.coef[:, None] * model.columns(X))


def contributions(source: Any, X: Any, *, by: str = "term", label: object = None) -> Contributions:
    """What every term or feature adds to f, in every sample of a table.

    A term of several features is shared between them in equal parts: the formula does not say whose part is larger. The
    constant belongs to no feature and is listed separately.

    Parameters
    ----------
    source : SparseModel, fitted RFSCClassifier, Predictor or fitted Pipeline
        The model, or what holds it.
    X : array-like or data frame of shape (n_samples, n_columns), or one row
        Samples in the user's own units: raw columns if the source makes its features itself. One row may also be a
        dict, a Series or a list.
    by : {"term", "feature"}, default="term"
        What to show the contributions of.
    label : object, optional
        Which class, by default the second of two; for the first, f has the opposite sign.

    Returns
    -------
    Contributions
        Names, values and f.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from rfsc import RFSCClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> y = np.where(y == 1, "versicolor", "other")
    >>> clf = RFSCClassifier(basis="step", size=4, n_restarts=2, random_state=0).fit(X[:, 2:], y)
    >>> parts = contributions(clf, [6.2, 2.4], by="feature")
    >>> parts.names
    ('x0', 'x1', 'constant')
    >>> parts.values.round(2)
    array([[ 0.25, -0.18, -4.13]])
    """
    check_choice("by", by, ("term", "feature"))
    model = one_model(source, label)
    table = feature_table(as_predictor(source), X)
    parts = model.coef[:, None] * model.columns(table)
    names, values = (model.names, parts) if by == "term" else _by_feature(model, parts)
    return Contributions(names, values.T, model.decision(table), split(parts), model.label, by)


def split(parts: FloatArray) -> ForAgainst:
    """Sum the positive and the negative contributions, shape (n_terms, n_samples), separately."""
    return ForAgainst(np.maximum(parts, 0.0).sum(axis=0), np.maximum(-parts, 0.0).sum(axis=0))


def _by_feature(model: SparseModel, parts: FloatArray) -> tuple[tuple[str, ...], FloatArray]:
    """Equal shares of every term for its features, and what no feature has a share in."""
    place = {p: i for i, p in enumerate(model.features)}
    values = np.zeros((len(place) + 1, parts.shape[1]))
    for term, part in zip(model.terms, parts, strict=True):
        rows = [place[p] for p in term.features] or [len(place)]
        values[rows] += part / len(rows)
    return (*(model.feature_names[p] for p in place), CONSTANT), values


def feature_table(predictor: Predictor, X: Any) -> FloatArray:
    """The features of a table or a single row, shape (n_samples, n_features); columns without names by position."""
    if isinstance(X, Mapping) or np.ndim(X) == 1:
        cells = np.empty((1, len(predictor.column_names)), dtype=object)
        cells[0] = row_cells(predictor, X)
        recipe = predictor.recipe_ or Recipe.identity(predictor.column_names)  # whose messages name the column
        return Predictor(predictor.models_, predictor.classes_, recipe, named=False).features(cells)
    # an array is no mistake here, so scikit-learn need not warn of its missing names
    named = hasattr(X, "columns") and hasattr(predictor, "feature_names_in_")
    return Predictor(predictor.models_, predictor.classes_, predictor.recipe_, named=named).features(X)


def row_cells(predictor: Predictor, row: Any) -> list[Any]:
    """The cells of one row in the order of the columns, by name if they have names."""
    names = predictor.column_names
    if hasattr(row, "columns"):
        if len(row) != 1:
            msg = f"expected one row, got a table of {len(row)}. Pick one, such as X.iloc[[0]]."
            raise ValueError(msg)
        row = {name: np.asarray(row[name], dtype=object)[0] for name in row.columns}
    pairs = list(row.items()) if hasattr(row, "items") else []
    if [name for name, _ in pairs] == list(range(len(pairs))):  # a list, or a Series without names, which counts from 0
        cells = np.asarray([cell for _, cell in pairs] if pairs else row, dtype=object)
        cells = cells[0] if cells.ndim == 2 and len(cells) == 1 else cells
        if cells.shape != (len(names),):
            msg = f"expected one row of {len(names)} values, got an array of shape {cells.shape}."
            raise ValueError(msg)
        return list(cells)
    named = {str(name): cell for name, cell in pairs}
    absent = [name for name in names if name not in named]
    if absent:
        raise ValueError(columns_lacking("row", absent, len(names)))
    return [named[name] for name in names]
