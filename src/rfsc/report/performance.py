"""How well probabilities separate and fit one class: ROC, calibration, thresholds and net benefit, all weighted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats
from scipy.special import expit, logit

from .._model import measures
from .._utils.arrays import BoolArray, FloatArray
from .honest_score import HonestScore, resamples
from .metrics import auc_of
from .subject import MIN_ROWS

THRESHOLDS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
CURVE = np.arange(1, 100) / 100  # thresholds of the decision curve
N_ROC = 100  # points of the ROC curve at most
LEVEL = 0.95
DIGITS = 5  # of the points of curves
RARE = 0.2  # share of a class below which calibration is shown before accuracy
NO_ERROR = 1e-12  # what rounding leaves of zero


@dataclass(frozen=True, slots=True, eq=False)
class Outcomes:
    """Predicted probabilities of an event, and whether it happened."""

    event: BoolArray
    probability: FloatArray
    weight: FloatArray
    n_repeats: int = 1  # predictions of each row
    groups: np.ndarray[Any, Any] | None = None  # whose rows are not independent

    @classmethod
    def of_class(cls, score: HonestScore, k: int) -> Outcomes:
        """Those of one class."""
        weight = np.ones(score.code.size) if score.weight is None else score.weight
        return cls(score.code == k, score.proba[:, k], weight, score.n_repeats, score.groups)

    @property
    def prevalence(self) -> float:
        return float(np.average(self.event, weights=self.weight))

    def auc(self, mean: float | None = None) -> tuple[float, float, float]:
        """Area under the ROC curve, or its mean over the folds, and a 95 % interval on the logit scale.

        The interval is by DeLong, or by resampling whole groups.
        """
        area, error = measures.auc(self.event, self.probability, self.weight)
        if area is None or error is None:
            return (float("nan"),) * 3
        if self.groups is not None:
            error = self._error_by_groups()
        area = area if mean is None else mean
        error *= np.sqrt(self.n_repeats)  # repeated predictions of a row say little more than one
        if not 0.0 < area < 1.0 or error < NO_ERROR:
            return area, float("nan"), float("nan")
        reach = stats.norm.ppf(0.5 + LEVEL / 2) * error / (area * (1 - area))
        return area, float(expit(logit(area) - reach)), float(expit(logit(area) + reach))

    def _error_by_groups(self) -> float:
        draws = [some for some in resamples(self.event.size, self.groups) if 0 < self.event[some].sum() < some.size]
        areas = [auc_of(self.event[some], self.probability[some], self.weight[some]) for some in draws]
        return float(np.std(areas, ddof=1)) if len(areas) > 1 else float("inf")

    def calibration(self) -> tuple[float, float]:
        """Slope and intercept: of a logistic regression on the logit of the predictions, and with a slope of one."""
        rows = self.event, self.probability, self.weight
        found = measures.calibration_slope(*rows)[0], measures.calibration_intercept(*rows)[0]
        slope, intercept = (float("nan") if value is None else value for value in found)
        return slope, intercept

    def roc(self) -> dict[str, list[float]]:
        """False and true positive rates by falling threshold, thinned out."""
        values, rank = np.unique(-self.probability, return_inverse=True)
        rates = []
        for which in (~self.event, self.event):
            found = np.cumsum(np.bincount(rank, self.weight * which, values.size))
            rates.append(np.append(0.0, found / max(found[-1], np.finfo(float).tiny)))
        kept = np.unique(np.linspace(0, values.size, N_ROC).round().astype(int))
        names = ("false_positive_rate", "true_positive_rate")
        return {name: rate[kept].round(DIGITS).tolist() for name, rate in zip(names, rates, strict=True)}

    def at(self, threshold: float) -> dict[str, float]:
        """What happens if rows with at least this probability are called positive."""
        called = self.probability >= threshold
        table = {
            (is_event, is_called): float(self.weight[(self.event == is_event) & (called == is_called)].sum())
            for is_event in (True, False)
            for is_called in (True, False)
        }
        total, odds = float(self.weight.sum()), threshold / (1 - threshold)
        least = MIN_ROWS * self.n_repeats
        enough = {True: called.sum() >= least, False: (~called).sum() >= least}
        return {
            "threshold": threshold,
            "called": (table[True, True] + table[False, True]) / total,
            "sensitivity": _share(table[True, True], table[True, False]),
            "specificity": _share(table[False, False], table[False, True]),
            "ppv": _share(table[True, True], table[False, True]) if enough[True] else float("nan"),
            "npv": _share(table[False, False], table[True, False]) if enough[False] else float("nan"),
            "net_benefit": (table[True, True] - odds * table[False, True]) / total,
        }

    def decision_curve(self) -> dict[str, list[float]]:
        """Net benefit of the model, and of treating everybody, by threshold; treating nobody has none."""
        odds = CURVE / (1 - CURVE)
        return {
            "threshold": CURVE.tolist(),
            "model": [round(self.at(float(t))["net_benefit"], DIGITS) for t in CURVE],
            "all": (self.prevalence - (1 - self.prevalence) * odds).round(DIGITS).tolist(),
        }


def _share(part: float, rest: float) -> float:
    return part / (part + rest) if part + rest else float("nan")


def performance(outcomes: Outcomes, label: str, mean_auc: float | None = None) -> dict[str, Any]:
    """All of it, for one class."""
    auc, low, high = outcomes.auc(mean_auc)
    slope, intercept = outcomes.calibration()
    return {
        "label": label,
        "prevalence": outcomes.prevalence,
        "auc": auc,
        "auc_low": low,
        "auc_high": high,
        "slope": slope,
        "intercept": intercept,
        "roc": outcomes.roc(),
        "thresholds": [outcomes.at(threshold) for threshold in THRESHOLDS],
        "decision_curve": outcomes.decision_curve(),
    }
