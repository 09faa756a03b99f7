"""What all comparators share: validation, labels, and a generator out of `random_state`."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from rfsc._utils.arrays import FloatArray, IntArray
from rfsc._utils.seeds import seeds_of_searches
from rfsc._utils.validation import check_table, unchanged_on_error


class Peer(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A comparator. Subclasses see floats and class codes 0, 1, ...; scaling is left to the pipeline around them."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {}

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from labelled rows."""
        self._validate_params()
        with unchanged_on_error(self):
            X, y = check_table(self, X, y, reset=True, min_samples=2)
            check_classification_targets(y)
            self.classes_, code = np.unique(y, return_inverse=True)
            self._learn(X, code.astype(np.int64))
        return self

    def predict(self, X: Any) -> np.ndarray[Any, Any]:
        """Label of every row."""
        check_is_fitted(self)
        X = check_table(self, X, reset=False)
        return np.asarray(self.classes_[self._classify(X)])

    def _learn(self, X: FloatArray, code: IntArray) -> None:
        """Set the fitted attributes."""
        raise NotImplementedError

    def _classify(self, X: FloatArray) -> IntArray:
        """Class codes of the rows."""
        raise NotImplementedError

    def _generator(self) -> np.random.Generator:
        """The one source of random numbers of a fit, from the parameter `random_state`."""
        return np.random.default_rng(seeds_of_searches(vars(self)["random_state"], 1, 1)[0][0][0])
