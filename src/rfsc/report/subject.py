"""What a report is about: an estimator, a pipeline, or a model from a file, behind one face."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from .._model import SparseModel
from .._model.access import as_predictor, models_of
from .._model.predictor import Predictor
from .._utils.arrays import FloatArray, IntArray
from .._utils.validation import odd_labels


@dataclass(frozen=True, slots=True, eq=False)
class Subject:
    """A model and the rows that a report looks at it with.

    Parameters
    ----------
    source : object
        As it was given.
    estimator : estimator or None
        What can be cloned and fitted again; None for a model from a file.
    predictor : Predictor
        The formulas.
    features : ndarray of shape (n_samples, n_features)
        The rows as the formulas read them.
    proba : ndarray of shape (n_samples, n_classes)
        What the model says of them.
    code : ndarray of shape (n_samples,), dtype=int
        Positions of their classes.
    labels : ndarray of shape (n_samples,)
        The classes themselves.
    reads_table : bool
        Whether the formulas are about the columns of the table; not where other steps of a pipeline stand between.
    """

    source: Any
    estimator: Any
    predictor: Predictor
    features: FloatArray
    proba: FloatArray
    code: IntArray
    labels: np.ndarray[Any, Any]
    reads_table: bool

    @property
    def models(self) -> list[SparseModel]:
        """One for each output."""
        return list(self.predictor.models_)

    @property
    def class_names(self) -> list[str]:
        """The classes as texts."""
        return [str(label) for label in self.predictor.classes_]

    @classmethod
    def read(cls, source: Any, X: Any, y: Any) -> Subject:
        """Look at the rows through a model."""
        predictor, features, reads_table = _read_features(source, X)
        labels = _labels(source, y)
        if labels.shape != (len(features),):
            msg = f"y must hold one label for each of the {len(features)} rows of X, got shape {labels.shape}."
            raise ValueError(msg)
        estimator = source if isinstance(source, BaseEstimator) and not isinstance(source, Predictor) else None
        proba = source.predict_proba(X) if estimator is not None else predictor.predict_proba(X)
        code = codes_of(labels, predictor.classes_)
        return cls(source, estimator, predictor, features, proba, code, labels, reads_table)


def codes_of(labels: np.ndarray[Any, Any], classes: Any) -> IntArray:
    """Positions of labels among the classes of a model."""
    place = {label: k for k, label in enumerate(np.asarray(classes).tolist())}
    code = np.array([place.get(label, -1) for label in labels.tolist()], dtype=np.int64)
    if (code < 0).any():
        unknown = len(set(labels[code < 0].tolist()))
        msg = (
            f"y holds {unknown} label(s) that the model does not know; it knows {len(place)}. "
            "Leave those rows out, or check that y is the column that the model predicts."
        )
        raise ValueError(msg)
    return code


def _labels(source: Any, y: Any) -> np.ndarray[Any, Any]:
    msg = odd_labels(y)
    if msg is not None:
        raise ValueError(msg)
    labels = np.asarray(y)
    if isinstance(source, SparseModel):  # one output alone tells its class from all others
        labels = np.where(labels == source.label, str(source.label), f"not {source.label}").astype(object)
    return labels


def _read_features(source: Any, X: Any) -> tuple[Predictor, FloatArray, bool]:
    if isinstance(source, SparseModel) and not hasattr(X, "columns"):  # it may have been fitted to names
        source = Predictor([source], as_predictor(source).classes_, named=False)
    try:
        predictor = as_predictor(source)
    except TypeError:
        # steps that are no recipe (a PCA, say): the report is then about what they put out
        if not isinstance(source, Pipeline) or len(source) < 2:
            raise
        last = as_predictor(source[-1])
        predictor = Predictor(models_of(source), last.classes_, None, last.settings_, named=False)
        return predictor, np.asarray(source[:-1].transform(X), dtype=np.float64), False
    return predictor, predictor.features(X), True
