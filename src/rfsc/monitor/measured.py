"""How good probabilities are on rows whose classes are known: AUC, calibration, log-loss, each with its error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._model.measures import SMALLEST_PROBABILITY, auc, calibration_intercept, calibration_slope
from .._model.reference import Measured
from .._utils.arrays import FloatArray, IntArray

LOG_LOSS, AUC, INTERCEPT, SLOPE = "log-loss", "AUC", "calibration intercept", "calibration slope"


def scored_classes(classes: Sequence[Any]) -> list[int]:
    """Positions of the classes whose probabilities are scores: the second of two, else all."""
    return [1] if len(classes) == 2 else list(range(len(classes)))


def figures_of(code: IntArray, proba: FloatArray, classes: Sequence[Any]) -> tuple[Measured, ...]:
    """All measures of predictions of shape (n_samples, n_classes); `code` holds the positions of the true classes."""
    losses = -np.log(np.maximum(proba[np.arange(len(code)), code], SMALLEST_PROBABILITY))
    error = float(losses.std(ddof=1) / np.sqrt(losses.size)) if losses.size > 1 else None
    figures = [Measured(LOG_LOSS, "", float(losses.mean()), error)]
    for k in scored_classes(classes):
        rows = code == k, proba[:, k]
        found = {AUC: auc(*rows), INTERCEPT: calibration_intercept(*rows), SLOPE: calibration_slope(*rows)}
        figures += [Measured(measure, str(classes[k]), *estimate) for measure, estimate in found.items()]
    return tuple(figures)
