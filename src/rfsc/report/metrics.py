"""Metrics of predicted probabilities, fast enough for a hundred resamples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._model.measures import SMALLEST_PROBABILITY
from .._utils.arrays import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class Metric:
    key: str  # in the JSON
    name: str  # on the page
    meaning: str  # one sentence for a reader who does not know it
    higher_is_better: bool


METRICS = (
    Metric("accuracy", "accuracy", "share of the rows that get the right class", True),
    Metric("balanced_accuracy", "balanced accuracy", "accuracy within each class, averaged over the classes", True),
    Metric("auc", "AUC", "probability that a row of a class is ranked above a row of another; 0.5 is chance", True),
    Metric("log_loss", "log-loss", "penalises probabilities that were confident and wrong", False),
    Metric("brier", "Brier", "mean squared error of the probabilities", False),
)
SIGNS = np.array([1.0 if metric.higher_is_better else -1.0 for metric in METRICS])


def measure(code: IntArray, proba: FloatArray, weight: FloatArray | None = None) -> dict[str, float]:
    """All metrics of predictions of shape (n_samples, n_classes); `code` holds the positions of the true classes."""
    weight = np.ones(len(code)) if weight is None else weight
    n_samples, n_classes = proba.shape
    truth = np.zeros_like(proba)
    truth[np.arange(n_samples), code] = 1.0
    right = proba.argmax(axis=1) == code
    counts = np.bincount(code, weight, minlength=n_classes)
    present = np.flatnonzero(counts)
    # with two classes both columns rank the rows alike
    ranked = present[: None if n_classes > 2 else 1] if present.size > 1 else ()
    aucs = [auc_of(code == k, proba[:, k], weight) for k in ranked]
    losses = -np.log(np.clip(proba[truth == 1.0], SMALLEST_PROBABILITY, 1.0))
    return {
        "accuracy": float(np.average(right, weights=weight)),
        "balanced_accuracy": float(np.mean(np.bincount(code, weight * right, n_classes)[present] / counts[present])),
        "auc": float(np.mean(aucs)) if aucs else float("nan"),
        "log_loss": float(np.average(losses, weights=weight)),
        # halved, so that two classes give the usual value
        "brier": float(np.average(((proba - truth) ** 2).sum(axis=1), weights=weight) / 2),
    }


def auc_of(is_class: BoolArray, probability: FloatArray, weight: FloatArray) -> float:
    """Share of the pairs of rows that are ranked rightly, ties counting half; fast enough for a hundred resamples."""
    _, rank = np.unique(probability, return_inverse=True)
    own, others = np.bincount(rank, weight * is_class), np.bincount(rank, weight * ~is_class)
    return float(own @ (np.cumsum(others) - 0.5 * others) / (own.sum() * others.sum()))
