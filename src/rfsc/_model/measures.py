"""AUC and calibration of probabilities, each with its standard error; rows may have weights."""

from __future__ import annotations

import numpy as np
from scipy.special import expit, logit

from .._utils.arrays import BoolArray, FloatArray

SMALLEST_PROBABILITY = 1e-15  # a probability of exactly zero would make the log-loss infinite
MOST_STEPS, MOST_HALVINGS, CLOSE = 100, 30, 1e-10  # of Newton's method
SEPARATED = 1e-6  # mean log-loss below which the probabilities separate the classes, and no slope is the best

Estimate = tuple[float | None, float | None]  # a value and its standard error; None if the rows do not tell
UNKNOWN: Estimate = (None, None)


def auc(event: BoolArray, probability: FloatArray, weight: FloatArray | None = None) -> Estimate:
    """Area under the ROC curve, ties counting half, with the standard error of DeLong, DeLong and Clarke-Pearson."""
    own, others = event, ~event
    weight = np.ones(event.size) if weight is None else weight
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
    log_odds = _log_odds(probability)
    found = _logistic(np.ones((log_odds.size, 1)), event, log_odds, weight)
    return UNKNOWN if found is None else (float(found[0][0]), float(found[1][0]))


def calibration_slope(event: BoolArray, probability: FloatArray, weight: FloatArray | None = None) -> Estimate:
    """Slope of a logistic regression of the event on the log-odds; below 1 if predictions are too extreme."""
    log_odds = _log_odds(probability)
    found = _logistic(np.column_stack([np.ones_like(log_odds), log_odds]), event, np.zeros_like(log_odds), weight)
    return UNKNOWN if found is None else (float(found[0][1]), float(found[1][1]))


def _log_odds(probability: FloatArray) -> FloatArray:
    return np.asarray(logit(np.clip(probability, SMALLEST_PROBABILITY, 1.0 - SMALLEST_PROBABILITY)))


def _logistic(
    Z: FloatArray, event: BoolArray, offset: FloatArray, weight: FloatArray | None
) -> tuple[FloatArray, FloatArray] | None:
    """Coefficients of a logistic regression and their standard errors; None if there is no finite estimate."""
    sign, weight = np.where(event, 1.0, -1.0), np.ones(event.size) if weight is None else weight

    def loss(coef: FloatArray) -> float:
        return float(weight @ np.logaddexp(0.0, -sign * (Z @ coef + offset)))

    coef = np.zeros(Z.shape[1])
    for _ in range(MOST_STEPS):
        p = expit(Z @ coef + offset)
        hessian = (Z * (weight * p * (1.0 - p))[:, None]).T @ Z
        if np.linalg.matrix_rank(hessian) < len(coef):
            return None
        step = np.linalg.solve(hessian, Z.T @ (weight * (event - p)))
        for _ in range(MOST_HALVINGS):
            if loss(coef + step) <= loss(coef):
                break
            step /= 2.0
        coef = coef + step
        if np.abs(step).max() <= CLOSE * max(1.0, np.abs(coef).max()):
            is_separated = loss(coef) <= SEPARATED * weight.sum()
            return None if is_separated else (coef, np.sqrt(np.diag(np.linalg.inv(hessian))))
    return None
