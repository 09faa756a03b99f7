"""Transformers: the distance-correlation filter alone, and the features or terms that a search chose."""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from ._fit.distance_correlation import independence_test, threshold
from ._fit.targets import encode, row_weights
from ._utils.arrays import BoolArray
from ._utils.compat import Interval, StrOptions
from ._utils.validation import check_columns, check_table, unchanged_on_error
from .classifier import RFSCClassifier


class _Selector(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """What both selectors share: they need y, and their errors show no data."""

    def transform(self, X: Any) -> Any:
        """Keep the selected features.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_selected)
            The selected columns.
        """
        check_is_fitted(self)
        check_table(self, X, reset=False)
        return super().transform(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = False
        return tags


class DistanceCorrelationFilter(_Selector):
    """Keep the features that depend on the class, by the test of Székely, Rizzo and Bakirov.

    The distance covariance between each feature and the label is computed exactly after one sort per feature; any
    kind of dependence counts, not only a linear one.

    Parameters
    ----------
    significance : float, default=0.05
        Level of the test: a feature stays when independence is rejected at this level.

    Attributes
    ----------
    statistics_ : ndarray of shape (n_features_in_,)
        Test statistics.
    threshold_ : float
        Value that a statistic must exceed.
    pvalues_ : ndarray of shape (n_features_in_,)
        Levels at which each feature would just be kept. The test is conservative.
    scores_ : ndarray of shape (n_features_in_,)
        Distance correlation with the label, in [0, 1].
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where X had string column names.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rfsc import DistanceCorrelationFilter
    >>> X, y = load_iris(return_X_y=True)
    >>> DistanceCorrelationFilter().fit_transform(X, y).shape
    (150, 4)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "significance": [Interval(Real, 0, 1, closed="neither")],
    }

    def __init__(self, significance: float = 0.05) -> None:
        self.significance = significance

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Test every feature.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Numeric features, no missing values.
        y : array-like of shape (n_samples,)
            Class labels, two or more classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Observations that each row stands for.

        Returns
        -------
        DistanceCorrelationFilter
            Itself.
        """
        self._validate_params()
        with unchanged_on_error(self):
            X, y = check_table(self, X, y, reset=True, min_samples=2)
            weight = row_weights(sample_weight, None, X, y)
            used = weight > 0
            test = independence_test(X[used], encode(y[used]).code, weight[used])
        self.statistics_ = test.statistic
        self.pvalues_ = test.pvalue
        self.scores_ = test.correlation
        self.threshold_ = threshold(self.significance)
        return self

    def _get_support_mask(self) -> BoolArray:
        check_is_fitted(self)
        return np.asarray(self.statistics_ > self.threshold_)


class RFSCSelector(MetaEstimatorMixin, _Selector):  # type: ignore[misc]
    """Hand the features or the terms that RFSC chose to another estimator.

    Parameters
    ----------
    estimator : RFSCClassifier or None, default=None
        What searches; None means `RFSCClassifier(basis="polynomial")`, whose terms read few features each.
    output : {"features", "terms"}, default="features"
        What `transform` returns: the columns of X that some model uses, or the chosen terms as columns (of the
        scaled features, without the constant).
    random_state : int, RandomState, Generator or None, default=None
        Seed of the search; None leaves that of `estimator`.

    Attributes
    ----------
    estimator_ : RFSCClassifier
        The fitted search.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where X had string column names.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rfsc import RFSCClassifier, RFSCSelector
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> selector = RFSCSelector(RFSCClassifier(basis="polynomial", n_restarts=1, random_state=0), output="terms")
    >>> selector.fit_transform(X, y).shape[0]
    150
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [RFSCClassifier, None],
        "output": [StrOptions({"features", "terms"})],
        "random_state": RFSCClassifier._parameter_constraints["random_state"],
    }

    def __init__(
        self, estimator: RFSCClassifier | None = None, output: str = "features", random_state: Any = None
    ) -> None:
        self.estimator = estimator
        self.output = output
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Run the search.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Whatever `RFSCClassifier` takes.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Observations that each row stands for.

        Returns
        -------
        RFSCSelector
            Itself.
        """
        self._validate_params()
        estimator = RFSCClassifier(basis="polynomial") if self.estimator is None else clone(self.estimator)
        if self.random_state is not None:
            estimator.set_params(random_state=self.random_state)
        with unchanged_on_error(self):
            self.estimator_ = estimator.fit(X, y, sample_weight=sample_weight)
            check_columns(self, X, reset=True)
        self._terms = tuple(dict.fromkeys(t for model in estimator.models_ for t in model.terms if t.features))
        return self

    def transform(self, X: Any) -> Any:
        """Select.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_selected)
            The chosen features, or the values of the chosen terms.
        """
        check_is_fitted(self)
        table = self.estimator_._table(X)
        if self.output == "features":
            return SelectorMixin.transform(self, X)
        return np.ascontiguousarray(replace(self.estimator_.models_[0], terms=self._terms).columns(table).T)

    def inverse_transform(self, X: Any) -> Any:
        """Put selected features back among columns of zeros.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_selected)
            What `transform` gave.

        Returns
        -------
        ndarray of shape (n_samples, n_features_in_)
            With zeros where features were not selected.
        """
        if self.output == "terms":
            msg = "inverse_transform needs output='features': terms cannot be turned back into features."
            raise ValueError(msg)
        return super().inverse_transform(X)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Names of the columns that `transform` returns.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Names of the features; those seen in fit by default.

        Returns
        -------
        ndarray of str
            Feature names or term names.
        """
        if self.output == "features":
            return super().get_feature_names_out(input_features)
        check_is_fitted(self)
        names, recipe = self.estimator_.models_[0].feature_names, self.estimator_.recipe_
        if input_features is not None:
            if len(input_features) != self.n_features_in_:
                msg = f"input_features should have length equal to number of features ({self.n_features_in_})."
                raise ValueError(msg)
            names = input_features if recipe is None else recipe.renamed(list(input_features)).names
        return np.array([term.name(names) for term in self._terms], dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(RFSCClassifier()).input_tags
        return tags

    def _get_support_mask(self) -> BoolArray:
        check_is_fitted(self)
        return np.asarray(self.estimator_.support_)
