"""FasterRisk (Liu et al., NeurIPS 2022): risk scores of a few yes-or-no conditions with small whole numbers as points.

All its versions need NumPy below 2, so it has an environment of its own. Its finished folds are under version control
(`docs/accuracy/faster_risk.jsonl`), so that it is needed only for others.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from copy import copy
from pathlib import Path
from typing import Any, Self

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ..arrays import FloatArray

PYTHON = Path(__file__).resolve().parents[2] / ".venv-fasterrisk" / "bin" / "python"
SCRIPT = Path(__file__).with_name("faster_risk_fit.py")
N_CUTS = 9  # the deciles of a feature


class FasterRisk(ClassifierMixin, BaseEstimator):
    """The best risk score of at most k conditions `feature <= cut` for two classes; all else is FasterRisk's default.

    Parameters
    ----------
    k : int, default=8
        Largest number of conditions.
    sizes : tuple of int, default=()
        Further numbers of conditions that `at_size` knows; one process fits them all.
    """

    def __init__(self, k: int = 8, sizes: tuple[int, ...] = ()) -> None:
        self.k, self.sizes = k, sizes

    def fit(self, X: Any, y: Any) -> Self:
        """Cut every feature at its deciles, and let FasterRisk choose among the conditions."""
        X, y = validate_data(self, X, y, dtype=np.float64)
        if not PYTHON.exists():
            msg = (
                "FasterRisk's environment is missing. Make it: make .venv-fasterrisk/created; or leave FasterRisk out."
            )
            raise FileNotFoundError(msg)
        self.classes_, code = np.unique(y, return_inverse=True)
        deciles = np.quantile(X, np.arange(1, N_CUTS + 1) / (N_CUTS + 1), axis=0)
        pairs = {(j, cut) for j, own in enumerate(deciles.T) for cut in own.tolist() if cut < X[:, j].max()}
        self.conditions_ = sorted(pairs)
        with tempfile.TemporaryDirectory() as folder:
            rows = Path(folder, "rows.npz")
            np.savez(rows, X=self._columns(X), y=np.where(code == 1, 1.0, -1.0))
            command = [PYTHON, SCRIPT, rows, *map(str, {self.k, *self.sizes})]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
        self.scores_ = json.loads(done.stdout.splitlines()[-1])
        return self._use(self.k)

    def at_size(self, k: int) -> Self:
        """The score of at most k conditions."""
        return copy(self)._use(k)

    def _use(self, k: int) -> Self:
        found = self.scores_[str(k)]
        self.coef_ = np.array([found["points"]]) / found["multiplier"]
        self.intercept_ = found["intercept"] / found["multiplier"]
        return self

    def _columns(self, X: FloatArray) -> FloatArray:
        return np.array([X[:, j] <= cut for j, cut in self.conditions_], dtype=np.float64).T

    def predict_proba(self, X: Any) -> FloatArray:
        """Risks by the score."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        upper = expit(self.intercept_ + self._columns(X) @ self.coef_[0])
        return np.column_stack([1.0 - upper, upper])

    def predict(self, X: Any) -> np.ndarray[Any, Any]:
        """The more likely class."""
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])
