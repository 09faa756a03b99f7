"""Five figures for how well class probabilities fit the classes that came true."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

from .._typing import FloatArray, IntArray

SURE = 1e-15  # a probability of exactly zero would make the log-loss infinite


@dataclass(frozen=True, slots=True)
class Metric:
    """A figure of merit, and what a reader has to know of it.

    Parameters
    ----------
    key : str
        Its name in the JSON.
    name : str
        Its name on the page.
    meaning : str
        One sentence for a reader who has not met it.
    higher_is_better : bool
        Which way is better.
    """

    key: str
    name: str
    meaning: str
    higher_is_better: bool


METRICS = (
    Metric("accuracy", "accuracy", "share of rows that get the right class", True),
    Metric("balanced_accuracy", "balanced accuracy", "the same, every class counting alike", True),
    Metric("auc", "AUC", "chance that a row of a class is ranked above a row of another; 0.5 is a coin", True),
    Metric("log_loss", "log-loss", "punishes probabilities that were confident and wrong", False),
    Metric("brier", "Brier", "mean squared error of the probabilities", False),
)


def measure(code: IntArray, proba: FloatArray) -> dict[str, float]:
    """All metrics of some predictions.

    Parameters
    ----------
    code : ndarray of shape (n_samples,), dtype=int
        Positions of the true classes.
    proba : ndarray of shape (n_samples, n_classes)
        Predicted probabilities.

    Returns
    -------
    dict of str to float
        By the metric's key; NaN where it has no meaning, such as the AUC of rows that are all of one class.
    """
    n_samples, n_classes = proba.shape
    truth = np.zeros_like(proba)
    truth[np.arange(n_samples), code] = 1.0
    right = proba.argmax(axis=1) == code
    present = [k for k in range(n_classes) if 0 < truth[:, k].sum()]
    # with two classes both columns rank the rows alike
    ranked = [k for k in present if truth[:, k].sum() < n_samples][: None if n_classes > 2 else 1]
    return {
        "accuracy": float(right.mean()),
        "balanced_accuracy": float(np.mean([right[code == k].mean() for k in present])),
        "auc": _mean([roc_auc_score(truth[:, k], proba[:, k]) for k in ranked]),
        "log_loss": float(-np.log(np.clip(proba[truth == 1.0], SURE, 1.0)).mean()),
        # halved, so that two classes give the usual figure
        "brier": float(((proba - truth) ** 2).sum(axis=1).mean() / 2),
    }


def _mean(values: list[Any]) -> float:
    return float(np.mean(values)) if values else float("nan")
