"""AUC, calibration and log-loss of probabilities, each with its standard error; rows may have weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import expit, logit

from .._utils.arrays import BoolArray, FloatArray, IntArray
from .inference import intercepts, refit
from .reference import Measured

SMALLEST_PROBABILITY = 1e-15  # a probability of exactly zero would make the log-loss infinite
LOG_LOSS, AUC, INTERCEPT, SLOPE = "log-loss", "AUC", "calibration intercept", "calibration slope"
UNDETERMINED = 1e3  # error of a slope, as a multiple of it: the probabilities separate the classes, or are all equal

Estimate = tuple[float | None, float | None]  # a value and its standard error; None if the rows do not tell
UNKNOWN: Estimate = (None, None)


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


def auc(event: BoolArray, probability: FloatArray, weight: FloatArray | None = None) -> Estimate:
    """Area under the ROC curve, ties counting half, with the standard error of DeLong, DeLong and Clarke-Pearson."""
    own, others = event, ~event
    weight = _weight(event, weight)
    if min(own.sum(), others.sum()) < 2:
        return UNKNOWN
    values, rank = np.unique(probability, return_inverse=True)
    mass = [np.bincount(rank, weight * which, values.size) for which in (own, others)]
    below, above = (np.cumsum(m) - m / 2 for m in (mass[1], mass[0][::-1]))
    area, variance = 0.0, 0.0
    for which, share in ((own, below / mass[1].sum()), (others, above[::-1] / mass[0].sum())):
        # share of the other class that each row is ranked rightly against
        placed, part = share[rank[which]], weight[which] / weight[which].sum()
        area = float(part @ placed)
        variance += float(part**2 @ (placed - area) ** 2) * placed.size / (placed.size - 1)
    return area, float(np.sqrt(variance))


def calibration_intercept(event: BoolArray, probability: FloatArray, weight: FloatArray | None = None) -> Estimate:
    """What must be added to the log-odds so that as many events are predicted as happen."""
    log_odds, target, weight = _log_odds(probability), np.where(event, 1.0, -1.0), _weight(event, weight)
    if not 0.0 < weight @ event < weight.sum():
        return UNKNOWN
    value = float(intercepts(log_odds[None], target, weight)[0])
    f = log_odds + value
    return _known(value, float((weight @ (expit(f) * expit(-f))) ** -0.5))


def calibration_slope(event: BoolArray, probability: FloatArray, weight: FloatArray | None = None) -> Estimate:
    """Slope of a logistic regression of the event on the log-odds; below 1 if predictions are too extreme."""
    log_odds, target, weight = _log_odds(probability), np.where(event, 1.0, -1.0), _weight(event, weight)
    if not 0.0 < weight @ event < weight.sum():
        return UNKNOWN
    columns = np.stack([np.ones_like(log_odds), log_odds])
    fit = refit(columns, target, weight, np.zeros(2), np.zeros(2))
    return _known(float(fit.coef[1]), float(fit.standard_error[1]))


def _known(value: float, error: float) -> Estimate:
    return (value, error) if error <= UNDETERMINED * max(1.0, abs(value)) else UNKNOWN


def _log_odds(probability: FloatArray) -> FloatArray:
    return np.asarray(logit(np.clip(probability, SMALLEST_PROBABILITY, 1.0 - SMALLEST_PROBABILITY)))


def _weight(event: BoolArray, weight: FloatArray | None) -> FloatArray:
    return np.ones(event.size) if weight is None else weight
