"""From models to classes and probabilities, and a classifier made of finished models alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy.special import expit, log_expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import accuracy_score

from .._utils.arrays import BoolArray, FloatArray, IntArray
from .._utils.validation import check_table, is_lazy
from .sparse_model import SparseModel

if TYPE_CHECKING:
    from .fallback import Fallback
    from .recipe import Recipe
    from .reference import Reference


def decision_table(values: Sequence[FloatArray]) -> FloatArray:
    """The outputs side by side, shape (n_samples, n_classes); with two classes the one output, shape (n_samples,)."""
    return values[0] if len(values) == 1 else np.stack(values, axis=1)


def class_codes(values: FloatArray) -> IntArray:
    """Position of the most likely class of every sample, from what `decision_table` gives."""
    return (values > 0).astype(np.int64) if values.ndim == 1 else np.asarray(values.argmax(axis=1), dtype=np.int64)


def class_probabilities(values: FloatArray) -> FloatArray:
    """Sigmoid of each output, normalised over the classes."""
    if values.ndim == 1:
        return np.stack([expit(-values), expit(values)], axis=1)
    # in logarithms, so that outputs that are all far below zero do not become 0 / 0
    proba: FloatArray = softmax(log_expit(values), axis=1)
    # outputs far above zero all have sigmoid one: the largest output still gets the largest probability
    best = values.argmax(axis=1)
    tied = np.flatnonzero(proba.argmax(axis=1) != best)
    proba[tied, best[tied]] = np.nextafter(proba[tied].max(axis=1), 2.0)
    return proba


class FormulaPredictions:
    """Classes and probabilities out of `models_` and `classes_`; a subclass says how a table becomes features."""

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
            return self._lazily("decision_function", X)
        return self._decisions(self._table(X))

    def _decisions(self, table: FloatArray) -> FloatArray:
        """Values of the formulas, of features."""
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
            return self._lazily("predict_proba", X)
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
            return self._lazily("predict", X)
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
        if not is_lazy(X):
            return float(accuracy_score(y, self.predict(X), sample_weight=sample_weight))
        import dask

        from .._utils.chunks import aligned_chunks, reduced  # only such tables need them

        shared = dask.delayed(self._detached(), traverse=False)
        count = dask.delayed(_correct_and_all, pure=False)
        correct, total = reduced([count(shared, *chunk) for chunk in aligned_chunks(X, y, sample_weight)], sum)
        return float(correct / total)

    def _lazily(self, method: str, X: Any) -> Any:
        """What a method gives for a dask table, not computed yet."""
        import dask.array as da

        predictor = self._detached()
        n_classes = len(predictor.classes_)
        widths = {"predict": (), "predict_proba": (n_classes,), "decision_function": (n_classes,)[n_classes == 2 :]}
        dtype = predictor.classes_.dtype if method == "predict" else np.float64
        empty = np.empty((0, *widths[method]), dtype=dtype)  # the result for no rows
        options = {"predictor": predictor, "method": method, "empty": empty, "meta": empty}
        if not isinstance(X, da.Array):
            return X.map_partitions(_predictions, **options)
        X = X.rechunk({1: -1})
        if empty.ndim == 1:
            return X.map_blocks(_predictions, **options, drop_axis=1, dtype=empty.dtype)
        return X.map_blocks(_predictions, **options, chunks=(X.chunks[0], empty.shape[1:]), dtype=empty.dtype)

    def _detached(self) -> Any:
        """What predicts without the history of a search, and is cheap to send to a worker."""
        return self


def _predictions(X: Any, predictor: Any, method: str, empty: np.ndarray[Any, Any]) -> Any:
    return getattr(predictor, method)(X) if len(X) else empty


def _correct_and_all(predictor: Any, X: Any, y: Any, weight: Any) -> FloatArray:
    """Weight of the rows that are predicted correctly, and of all rows."""
    weight = np.ones(len(X)) if weight is None else np.asarray(weight, dtype=np.float64)
    correct = np.asarray(y) == predictor.predict(X) if len(X) else np.empty(0, dtype=np.bool_)
    return np.array([weight[correct].sum(), weight.sum()])


class Predictor(FormulaPredictions, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Predicts as the fitted `RFSCClassifier`, or the pipeline that ends in one, from which it was made.

    Attributes
    ----------
    models_ : list of SparseModel
        One for two classes (f > 0 predicts the second), else one per class.
    classes_ : ndarray of shape (n_classes,)
        Labels.
    recipe_ : Recipe or None
        How the features are made from the columns of a raw table; None if the table holds the features themselves.
    settings_ : dict
        Parameters of the search that found the models.
    manifest_ : dict or None
        Versions, data and settings of the fit, from `RFSCClassifier.manifest_`.
    fallbacks_ : list of Fallback
        Models for rows in which some measurement is missing, from `rfsc.atlas.with_fallbacks`; often none.
    reference_ : Reference or None
        How the rows of the fit were spread, for `rfsc.monitor`.
    n_features_in_ : int
        Number of columns that it reads.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, if the table that the models were fitted to had names.
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
        fallbacks: Sequence[Fallback] = (),
    ) -> None:
        self.models = models
        self.classes = classes
        self.recipe = recipe
        self.settings = settings
        self.named = named
        self.manifest = manifest
        self.fallbacks = fallbacks
        self.models_ = list(models)
        self.classes_ = np.asarray(classes)
        self.recipe_ = recipe
        self.settings_ = dict(settings or {})
        self.manifest_ = None if manifest is None else dict(manifest)
        self.reference_: Reference | None = None
        self.fallbacks_ = list(fallbacks)
        self.n_features_in_ = len(self.column_names)
        if named:
            self.feature_names_in_ = np.array(self.column_names, dtype=object)

    @property
    def column_names(self) -> list[str]:
        """Names of the columns of a table: those of the raw table if there is a recipe, else the features."""
        recipe = self.recipe_
        return [column.name for column in recipe.columns] if recipe else list(self.models_[0].feature_names)

    def replaced(self, **given: Any) -> Self:
        """A copy with other parameters."""
        other = type(self)(**self.get_params(deep=False) | given)
        other.reference_ = self.reference_
        return other

    def with_reference(self, reference: Reference | None) -> Self:
        """A copy with what later rows are compared with."""
        other = self.replaced()
        other.reference_ = reference
        return other

    def about(self, label: object) -> Self:
        """The same predictions by the formula of one of two classes, for texts, reports and exports about this class.

        Parameters
        ----------
        label : object
            A class. Of two it becomes the second in `classes_`, whose order is then not that of scikit-learn's
            estimators; of more classes each has a formula of its own, and nothing changes.

        Returns
        -------
        Predictor
            Predicts the same.
        """
        classes = self.classes_.tolist()
        if label not in classes:
            msg = f"label must be one of {', '.join(map(repr, classes))}, got {label!r}."
            raise ValueError(msg)
        label = classes[classes.index(label)]  # 1 and 1.0 are the same class
        if len(classes) > 2 or label == classes[1]:
            return self
        models = [model.opposite(label) for model in self.models_]
        fallbacks = [
            replace(one, models=tuple(model.opposite(label) for model in one.models)) for one in self.fallbacks_
        ]
        return self.replaced(models=models, classes=self.classes_[::-1], fallbacks=fallbacks)

    def features(self, X: Any) -> FloatArray:
        """The features that the models read, shape (n_samples, n_features), made by the recipe if there is one."""
        if self.recipe_ is None:
            return np.asarray(check_table(self, X, reset=False), dtype=np.float64)
        by_position = hasattr(X, "columns") and not self.named
        return self.recipe_.complete_table(np.asarray(X, dtype=object) if by_position else X)

    _table = features

    def _decisions(self, table: FloatArray) -> FloatArray:
        values = super()._decisions(table)
        for one, rows in self._rows_of_fallbacks(table):
            values[rows] = decision_table([model.decision(table[rows]) for model in one.models])
        return values

    def _rows_of_fallbacks(self, table: FloatArray) -> Iterator[tuple[Fallback, BoolArray]]:
        """Every fallback that predicts some row, and these rows."""
        if self.recipe_ is None or not self.fallbacks_:
            return
        from .fallback import indicators, rows_of

        found = rows_of(self.fallbacks_, indicators(self.recipe_, self.fallbacks_), table)
        yield from ((one, rows) for one, rows in zip(self.fallbacks_, found, strict=True) if rows.any())

    @property
    def formulas(self) -> list[SparseModel]:
        """One formula for each output that holds for all rows, also for those that a fallback predicts."""
        if self.recipe_ is None or not self.fallbacks_:
            return self.models_
        from .fallback import combined, indicators

        return combined(self.models_, self.fallbacks_, indicators(self.recipe_, self.fallbacks_))

    def answering(self, table: FloatArray) -> tuple[Self, tuple[str, ...]]:
        """What predicts a single row of features, without fallbacks, and the columns that it does without."""
        for one, _ in self._rows_of_fallbacks(table):
            return self.replaced(models=one.models, fallbacks=()), one.when_missing
        return self, ()

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        """What notebooks show: the formulas, not scikit-learn's list of parameters."""
        return {"text/plain": repr(self), "text/html": "".join(model._repr_html_() for model in self.models_)}
