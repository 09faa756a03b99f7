"""A classifier made of finished models alone: what a file gives back, without training data and without a search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import accuracy_score

from .._utils.arrays import FloatArray
from .._utils.validation import check_table, is_lazy
from .decision import class_codes, class_probabilities, decision_table
from .lazy_predictions import lazy_accuracy, lazy_predictions
from .recipe import Recipe
from .sparse_model import SparseModel


class FormulaPredictions:
    """Classes and probabilities out of `models_` and `classes_`, for whoever can say what a table of samples is."""

    models_: list[SparseModel]
    classes_: np.ndarray[Any, Any]

    def _table(self, X: Any) -> FloatArray:
        """The features that the models read, checked, shape (n_samples, n_features)."""
        raise NotImplementedError

    def decision_function(self, X: Any) -> Any:
        """Value of the formulas.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features_in_)
            Samples. For a dask array or data frame the result is a dask array that is not computed yet.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            With two classes, positive for the second.
        """
        if is_lazy(X):
            width = () if len(self.models_) == 1 else (len(self.models_),)
            return lazy_predictions(self._detached(), "decision_function", X, np.empty((0, *width)))
        table = self._table(X)
        return decision_table([model.decision(table) for model in self.models_])

    def predict_proba(self, X: Any) -> Any:
        """Class probabilities: the sigmoid of each output, normalised over the classes.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features_in_)
            Samples. For a dask array or data frame the result is a dask array that is not computed yet.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities in the order of `classes_`.
        """
        if is_lazy(X):
            return lazy_predictions(self._detached(), "predict_proba", X, np.empty((0, len(self.classes_))))
        return class_probabilities(self.decision_function(X))

    def predict(self, X: Any) -> Any:
        """Most likely class.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features_in_)
            Samples. For a dask array or data frame the result is a dask array that is not computed yet.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels.
        """
        if is_lazy(X):
            return lazy_predictions(self._detached(), "predict", X, np.empty(0, dtype=self.classes_.dtype))
        code = class_codes(self.decision_function(X))
        return np.asarray(self.classes_[code])

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy of the predictions.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features_in_)
            Samples; a dask array or data frame is read chunk by chunk.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples.

        Returns
        -------
        float
            Share of the samples whose class is predicted correctly.
        """
        if is_lazy(X):
            return lazy_accuracy(self._detached(), X, y, sample_weight)
        return float(accuracy_score(y, self.predict(X), sample_weight=sample_weight))

    def _detached(self) -> Any:
        """What predicts without the history of a search, and is cheap to send to a worker."""
        return self


class Predictor(FormulaPredictions, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Predicts as the fitted `RFSCClassifier`, or the pipeline that ends in one, from which it was made.

    Parameters
    ----------
    models : sequence of SparseModel
        One for two classes (f > 0 speaks for the second), else one per class.
    classes : array-like of shape (n_classes,)
        Labels.
    recipe : Recipe or None, default=None
        How the features are made from the columns of a raw table; None where the table holds the features themselves.
    settings : mapping or None, default=None
        Parameters of the search that found the models.
    named : bool, default=True
        Whether the table that the models were fitted to had column names.
    manifest : mapping or None, default=None
        What the fit was made with and made of, from `RFSCClassifier.manifest_`.

    Attributes
    ----------
    models_ : list of SparseModel
        The models.
    classes_ : ndarray of shape (n_classes,)
        Labels.
    recipe_ : Recipe or None
        The recipe.
    settings_ : dict
        The settings.
    manifest_ : dict or None
        The manifest.
    n_features_in_ : int
        Number of columns that it reads.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where they have names.
    """

    def __init__(
        self,
        models: Sequence[SparseModel],
        classes: Any,
        recipe: Recipe | None = None,
        settings: Mapping[str, Any] | None = None,
        *,
        named: bool = True,
        manifest: Mapping[str, Any] | None = None,
    ) -> None:
        self.models = models
        self.classes = classes
        self.recipe = recipe
        self.settings = settings
        self.named = named
        self.manifest = manifest
        self.models_ = list(models)
        self.classes_ = np.asarray(classes)
        self.recipe_ = recipe
        self.settings_ = dict(settings or {})
        self.manifest_ = None if manifest is None else dict(manifest)
        names = [column.name for column in recipe.columns] if recipe else list(self.models_[0].feature_names)
        self.n_features_in_ = len(names)
        if named:
            self.feature_names_in_ = np.array(names, dtype=object)

    def features(self, X: Any) -> FloatArray:
        """The features that the models read, made from the raw table where there is a recipe.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features_in_)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            Numbers without a gap.
        """
        if self.recipe_ is None:
            return np.asarray(check_table(self, X, reset=False), dtype=np.float64)
        table = self.recipe_.table(X)
        bad = np.flatnonzero(~np.isfinite(table).all(axis=0))
        if bad.size:
            gaps = sorted({self.recipe_.columns[self.recipe_.features[j].column].name for j in bad})
            shown = ", ".join(repr(name) for name in gaps[:5]) + (", ..." if len(gaps) > 5 else "")
            msg = (
                f"missing or infinite values in {len(gaps)} column(s) for which the model has no substitute: {shown}. "
                "Fill them first, or drop those rows."
            )
            raise ValueError(msg)
        return table

    def _table(self, X: Any) -> FloatArray:
        return self.features(X)

    def __sklearn_is_fitted__(self) -> bool:
        return True
