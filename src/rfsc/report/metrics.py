"""Five metrics of predicted class probabilities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from .._utils.arrays import BoolArray, FloatArray, IntArray

SMALLEST_PROBABILITY = 1e-15  # a probability of exactly zero would make the log-loss infinite


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric and its explanation."""

    key: str  # in the JSON
    name: str  # on the page
    meaning: str  # one sentence for a reader who does not know it
    higher_is_better: bool


METRICS = (
    Metric("accuracy", "accuracy", "share of the rows that get the right class", True),
    Metric("balanced_accuracy", "balanced accuracy", "mean over the classes of that share", True),
    Metric("auc", "AUC", "probability that a row of a class is ranked above a row of another; 0.5 is chance", True),
    Metric("log_loss", "log-loss", "penalises probabilities that were confident and wrong", False),
    Metric("brier", "Brier", "mean squared error of the probabilities", False),
)


def measure(code: IntArray, proba: FloatArray) -> dict[str, float]:
    """All metrics of predictions of shape (n_samples, n_classes); `code` holds the positions of the true classes."""
    n_samples, n_classes = proba.shape
    truth = np.zeros_like(proba)
    truth[np.arange(n_samples), code] = 1.0
    right = proba.argmax(axis=1) == code
    present = [k for k in range(n_classes) if truth[:, k].any()]
    # with two classes both columns rank the rows alike
    ranked = [k for k in present if not truth[:, k].all()][: None if n_classes > 2 else 1]
    return {
        "accuracy": float(right.mean()),
        "balanced_accuracy": float(np.mean([right[code == k].mean() for k in present])),
        "auc": float(np.mean([_auc(truth[:, k] == 1.0, proba[:, k]) for k in ranked])) if ranked else float("nan"),
        "log_loss": float(-np.log(np.clip(proba[truth == 1.0], SMALLEST_PROBABILITY, 1.0)).mean()),
        # halved, so that two classes give the usual value
        "brier": float(((proba - truth) ** 2).sum(axis=1).mean() / 2),
    }


def _auc(is_class: BoolArray, probability: FloatArray) -> float:
    """By the Mann-Whitney rank sum, fast enough for a hundred resamples."""
    n_class, n_others = is_class.sum(), (~is_class).sum()
    return float((rankdata(probability)[is_class].sum() - n_class * (n_class + 1) / 2) / (n_class * n_others))
