"""How good probabilities are on rows whose classes are known: AUC, calibration, log-loss, each with its error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import stats
from scipy.special import expit, logit

from .._model.reference import Figure
from .._utils.arrays import BoolArray, FloatArray, IntArray

LOG_LOSS, AUC, INTERCEPT, SLOPE = "log-loss", "AUC", "calibration intercept", "calibration slope"
SMALLEST_PROBABILITY = 1e-15  # a probability of exactly zero would make the log-loss infinite
MOST_STEPS, MOST_HALVINGS, CLOSE = 100, 30, 1e-10  # of Newton's method

Estimate = tuple[float | None, float | None]  # a value and its standard error; None if the rows do not tell
UNKNOWN: Estimate = (None, None)


def scored_classes(classes: Sequence[Any]) -> list[int]:
    """Positions of the classes whose probabilities are scores: the second of two, else all."""
    return [1] if len(classes) == 2 else list(range(len(classes)))


def figures_of(code: IntArray, proba: FloatArray, classes: Sequence[Any]) -> tuple[Figure, ...]:
    """All measures of predictions of shape (n_samples, n_classes); `code` holds the positions of the true classes."""
    losses = -np.log(np.maximum(proba[np.arange(len(code)), code], SMALLEST_PROBABILITY))
    figures = [Figure(LOG_LOSS, "", float(losses.mean()), _standard_error(losses))]
    for k in scored_classes(classes):
        happened, p = code == k, np.clip(proba[:, k], SMALLEST_PROBABILITY, 1.0 - SMALLEST_PROBABILITY)
        found = {AUC: auc(happened, p), INTERCEPT: calibration_intercept(happened, p)}
        found[SLOPE] = calibration_slope(happened, p)
        figures += [Figure(measure, str(classes[k]), *estimate) for measure, estimate in found.items()]
    return tuple(figures)


def _standard_error(values: FloatArray) -> float | None:
    return float(values.std(ddof=1) / np.sqrt(values.size)) if values.size > 1 else None


def auc(happened: BoolArray, probability: FloatArray) -> Estimate:
    """Area under the ROC curve, ties counting half, with the standard error of DeLong, DeLong and Clarke-Pearson."""
    n_own, n_others = int(happened.sum()), int((~happened).sum())
    if min(n_own, n_others) < 2:
        return UNKNOWN
    rank = stats.rankdata(probability)
    own = (rank[happened] - stats.rankdata(probability[happened])) / n_others
    others = (rank[~happened] - stats.rankdata(probability[~happened])) / n_own
    variance = own.var(ddof=1) / n_own + others.var(ddof=1) / n_others
    return float(own.mean()), float(np.sqrt(variance))


def calibration_intercept(happened: BoolArray, probability: FloatArray) -> Estimate:
    """What must be added to the log odds so that as many events are predicted as happen."""
    found = _logistic(np.ones((len(happened), 1)), happened, logit(probability))
    return UNKNOWN if found is None else (float(found[0][0]), float(found[1][0]))


def calibration_slope(happened: BoolArray, probability: FloatArray) -> Estimate:
    """Slope of a logistic regression of what happened on the log odds; below 1 if predictions are too extreme."""
    scores = logit(probability)
    found = _logistic(np.column_stack([np.ones_like(scores), scores]), happened, np.zeros_like(scores))
    return UNKNOWN if found is None else (float(found[0][1]), float(found[1][1]))


def _logistic(Z: FloatArray, happened: BoolArray, offset: FloatArray) -> tuple[FloatArray, FloatArray] | None:
    """Coefficients of a logistic regression and their standard errors; None if there is no finite estimate."""
    sign = np.where(happened, 1.0, -1.0)

    def loss(coef: FloatArray) -> float:
        return float(np.logaddexp(0.0, -sign * (Z @ coef + offset)).sum())

    coef = np.zeros(Z.shape[1])
    for _ in range(MOST_STEPS):
        p = expit(Z @ coef + offset)
        hessian = (Z * (p * (1.0 - p))[:, None]).T @ Z
        if np.linalg.matrix_rank(hessian) < len(coef):
            return None
        step = np.linalg.solve(hessian, Z.T @ (happened - p))
        for _ in range(MOST_HALVINGS):
            if loss(coef + step) <= loss(coef):
                break
            step /= 2.0
        coef = coef + step
        if np.abs(step).max() <= CLOSE * max(1.0, np.abs(coef).max()):
            return coef, np.sqrt(np.diag(np.linalg.inv(hessian)))
    return None
