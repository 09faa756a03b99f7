"""Five figures for how well class probabilities fit the classes that came true."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from .._utils.arrays import BoolArray, FloatArray, IntArray

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
    """All metrics of some predictions."""
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
        "auc": _mean([_auc(truth[:, k] == 1.0, proba[:, k]) for k in ranked]),
        "log_loss": float(-np.log(np.clip(proba[truth == 1.0], SURE, 1.0)).mean()),
        # halved, so that two classes give the usual figure
        "brier": float(((proba - truth) ** 2).sum(axis=1).mean() / 2),
    }


def _auc(is_class: BoolArray, probability: FloatArray) -> float:
    """By the rank sum of Mann and Whitney: a hundred resamples are scored in a moment."""
    n_class, n_others = is_class.sum(), (~is_class).sum()
    return float((rankdata(probability)[is_class].sum() - n_class * (n_class + 1) / 2) / (n_class * n_others))


def _mean(values: list[float]) -> float:
    return float(np.mean(values)) if values else float("nan")
