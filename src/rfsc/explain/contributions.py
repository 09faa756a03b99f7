"""What every term, or feature, adds to f in a sample, and what speaks for and against a class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .._model import SparseModel
from .._model.access import as_predictor
from .._utils.arrays import FloatArray
from .checks import check_word, one_model
from .rows import feature_table

CONSTANT = "constant"


class ForAgainst(NamedTuple):
    """f of every sample, split by the sign of the contributions: f = for_class - against_class.

    Both are at least zero within the training ranges, and also beyond them, where a term may turn its sign: each
    contribution is counted on the side where it pulls.
    """

    for_class: FloatArray
    against_class: FloatArray

    @property
    def confidence(self) -> FloatArray:
        """delta = (y+ - y-) / max(y+, y-): 1 where nothing speaks against the class, -1 where nothing speaks for it."""
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
        y+, y- and the confidence, by term as in the paper.
    label : object
        The class that f > 0 speaks for.
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
    """Split the output of a model into what speaks for its class and what speaks against it (paper, Eq. nl_reg2).

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


def split(parts: FloatArray) -> ForAgainst:
    """Sum the positive and the negative contributions, shape (n_terms, n_samples), apart."""
    return ForAgainst(np.maximum(parts, 0.0).sum(axis=0), np.maximum(-parts, 0.0).sum(axis=0))


def contributions(source: Any, X: Any, *, by: str = "term", label: object = None) -> Contributions:
    """What every term or feature adds to f, in every sample of a table.

    A term of several features is shared between them in equal parts: the formula does not say whose part is larger. The
    constant belongs to no feature and stands alone.

    Parameters
    ----------
    source : SparseModel, fitted RFSCClassifier, Predictor or fitted Pipeline
        The model, or what holds it.
    X : array-like or data frame of shape (n_samples, n_columns), or one row
        Samples in the user's own units: raw columns where the source makes its features itself. One row may also be a
        dict, a Series or a list.
    by : {"term", "feature"}, default="term"
        What to show the contributions of.
    label : object, optional
        Which class, where the source has an output for each of several.

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
    >>> clf = RFSCClassifier(basis="step", n_restarts=2, max_iter=60, random_state=0).fit(X[:, 2:], y)
    >>> parts = contributions(clf, [6.2, 2.4], by="feature")
    >>> parts.names
    ('x0', 'x1', 'constant')
    >>> parts.values.round(2)
    array([[ 0.25, -0.18, -4.15]])
    """
    check_word("by", by, ("term", "feature"))
    model = one_model(source, label)
    table = feature_table(as_predictor(source), X)
    parts = model.coef[:, None] * model.columns(table)
    names, values = (model.names, parts) if by == "term" else _by_feature(model, parts)
    return Contributions(names, values.T, model.decision(table), split(parts), model.label, by)


def _by_feature(model: SparseModel, parts: FloatArray) -> tuple[tuple[str, ...], FloatArray]:
    """Equal shares of every term for its features, and what no feature has a share in."""
    place = {p: i for i, p in enumerate(model.features)}
    values = np.zeros((len(place) + 1, parts.shape[1]))
    for term, part in zip(model.terms, parts, strict=True):
        rows = [place[p] for p in term.features] or [len(place)]
        values[rows] += part / len(rows)
    return (*(model.feature_names[p] for p in place), CONSTANT), values
