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
    """

    def __init__(self, search: Any, n_folds: int = 5) -> None:
        self.search = search
        self.n_folds = n_folds

    def fit(self, X: Any, y: Any) -> Self:
        """Search, then calibrate the settings that won."""
        self.search_ = clone(self.search).fit(X, y)
        self.best_estimator_ = self.search_.best_estimator_
        copies = CalibratedClassifierCV(clone(self.best_estimator_), method="sigmoid", cv=self.n_folds)
        self.calibrated_ = copies.fit(X, y)
        self.classes_ = self.search_.classes_
        self.n_features_in_ = self.search_.n_features_in_
        return self

    def predict(self, X: Any) -> np.ndarray[Any, Any]:
        """Label of every row, from the search."""
        check_is_fitted(self)
        return np.asarray(self.search_.predict(X))

    def predict_proba(self, X: Any) -> np.ndarray[Any, Any]:
        """Probability of every class, from the calibrated copies."""
        check_is_fitted(self)
        return np.asarray(self.calibrated_.predict_proba(X))
