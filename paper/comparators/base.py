"""What all comparators share: validation, class codes, and a generator made of `random_state`."""

from __future__ import annotations

from copy import deepcopy
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from ..arrays import FloatArray, IntArray


class Comparator(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier of the paper's tables. Subclasses see floats and class codes 0, 1, ...; they do not scale."""

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from labelled rows."""
        X, y = validate_data(self, X, y, dtype=np.float64, ensure_min_samples=2)
        check_classification_targets(y)
        self.classes_, code = np.unique(y, return_inverse=True)
        self._learn(X, code.astype(np.int64))
        return self

    def predict(self, X: Any) -> np.ndarray[Any, Any]:
        """Label of every row."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return np.asarray(self.classes_[self._classify(X)])

    def _learn(self, X: FloatArray, code: IntArray) -> None:
        """Set the fitted attributes."""
        raise NotImplementedError

    def _classify(self, X: FloatArray) -> IntArray:
        """Class codes of the rows."""
        raise NotImplementedError

    def _generator(self) -> np.random.Generator:
        """The only source of random numbers of a fit, from the parameter `random_state`, which stays as it is."""
        entropy = vars(self)["random_state"]
        if isinstance(entropy, np.random.RandomState):
            entropy = deepcopy(entropy).randint(0, 2**32, size=4, dtype=np.uint32).tolist()
        # the published figures were drawn from this stream of the seed
        return np.random.default_rng(np.random.SeedSequence(entropy, spawn_key=(0, 0)))
