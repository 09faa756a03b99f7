"""Probabilities for a tuned classifier that has none, without a change to what it predicts."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.utils.validation import check_is_fitted


class CalibratedSearch(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A grid search that predicts as ever, beside a calibrated copy of its winner for the probabilities.

    The two may disagree about a row near the border; accuracy is that of the search.

    Parameters
    ----------
    search : GridSearchCV
        Not fitted; its winner has a decision function.
    n_folds : int, default=5
        Folds inside the training rows in which the copies and their sigmoids are fitted.

    Attributes
    ----------
    search_ : GridSearchCV
        Fitted.
    best_estimator_ : estimator
        Its winner.
    calibrated_ : CalibratedClassifierCV
        Gives the probabilities.
    classes_ : ndarray of shape (n_classes,)
        Labels.
    n_features_in_ : int
        Number of features seen during fit.
    """

    def __init__(self, search: Any, n_folds: int = 5) -> None:
        self.search = search
        self.n_folds = n_folds

    def fit(self, X: Any, y: Any) -> Self:
        """Search, then calibrate the settings that won.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numeric features.
        y : array-like of shape (n_samples,)
            Class labels.

        Returns
        -------
        CalibratedSearch
            Itself.
        """
        self.search_ = clone(self.search).fit(X, y)
        self.best_estimator_ = self.search_.best_estimator_
        copies = CalibratedClassifierCV(clone(self.best_estimator_), method="sigmoid", cv=self.n_folds)
        self.calibrated_ = copies.fit(X, y)
        self.classes_ = self.search_.classes_
        self.n_features_in_ = self.search_.n_features_in_
        return self

    def predict(self, X: Any) -> np.ndarray[Any, Any]:
        """Label of every row, from the search.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels.
        """
        check_is_fitted(self)
        return np.asarray(self.search_.predict(X))

    def predict_proba(self, X: Any) -> np.ndarray[Any, Any]:
        """Probability of every class, from the calibrated copies.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            In the order of classes_.
        """
        check_is_fitted(self)
        return np.asarray(self.calibrated_.predict_proba(X))
