"""Calibration: whether events predicted with 80 % happen in 80 % of the cases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from scipy import stats

from .._model.access import as_predictor
from .._utils.arrays import BoolArray, FloatArray, IntArray
from .._utils.words import plural
from .drawing import FOR, GREY, SMALL, Display, class_name, codes_for, title_and_legend

FEW_IN_BIN = 10  # a bin with fewer samples is drawn hollow
FEW_SAMPLES = 200  # with fewer samples the bins are twice as wide
LEVEL = 0.95


@dataclass(eq=False, repr=False, kw_only=True)
class CalibrationDisplay(Display):
    """Predicted probabilities in bins against what happened, with intervals, and the number of samples in each bin.

    Draw it with rows that the model has not seen: on its training rows every model looks better than it is.

    Parameters
    ----------
    edges : ndarray of shape (n_bins + 1,)
        Edges of the bins.
    count : ndarray of shape (n_bins,)
        Number of samples in each bin.
    predicted : ndarray of shape (n_bins,)
        Mean predicted probability; NaN in an empty bin.
    observed : ndarray of shape (n_bins,)
        Share of the samples for which the prediction came true; NaN in an empty bin.
    low, high : ndarray of shape (n_bins,)
        Wilson's 95 % interval of that share.
    what : str
        What the probability is of.
    """

    edges: FloatArray
    count: IntArray
    predicted: FloatArray
    observed: FloatArray
    low: FloatArray
    high: FloatArray
    what: str
    _size: ClassVar[tuple[float, float]] = (6, 6.2)
    _panels: ClassVar[tuple[float, ...]] = (3, 1)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, label: Any = None, n_bins: int | None = None, ax: Any = None
    ) -> Self:
        """Draw the calibration of a classifier on unseen rows.

        Parameters
        ----------
        estimator : RFSCClassifier, Pipeline, Predictor or SparseModel
            A fitted classifier, a fitted pipeline that ends in one, or a model read from a file.
        X : array-like or data frame of shape (n_samples, n_features)
            Samples that it was not fitted to.
        y : array-like of shape (n_samples,)
            Their classes.
        label : object or None, default=None
            The class whose probability is drawn. None draws the second of two classes; with more than two, the
            probability of the predicted class: how often is the classifier right when it is 80 % sure?
        n_bins : int or None, default=None
            Number of bins; None takes 10, or 5 for fewer than 200 samples.
        ax : sequence of two Axes, Figure or None, default=None
            Where to draw; a figure is resized to fit, None makes a new one.

        Returns
        -------
        CalibrationDisplay
            The display, drawn.
        """
        predictor = as_predictor(estimator)
        proba, classes = predictor.predict_proba(X), list(predictor.classes_)
        code = codes_for(estimator, y, len(proba))
        if label is None and len(classes) > 2:
            right = code == proba.argmax(axis=1)
            return cls.from_predictions(right, proba.max(axis=1), what="the predicted class", n_bins=n_bins, ax=ax)
        label = classes[1] if label is None else label
        if label not in classes:
            msg = f"label must be one of the {len(classes)} classes of the classifier, or None."
            raise ValueError(msg)
        k, what = classes.index(label), f"class {class_name(label)}"
        return cls.from_predictions(code == k, proba[:, k], what=what, n_bins=n_bins, ax=ax)

    @classmethod
    def from_predictions(
        cls,
        happened: Any,
        probability: Any,
        *,
        what: str = "the class",
        groups: Any = None,
        n_bins: int | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw the calibration of given probabilities.

        Parameters
        ----------
        happened : array-like of shape (n_samples,), dtype=bool
            Whether the event came true.
        probability : array-like of shape (n_samples,)
            Its predicted probability.
        what : str, default="the class"
            What the probability is of.
        groups : array-like of shape (n_samples,) or None, default=None
            Samples of one group, such as visits of a patient, are not independent: the intervals become wider.
        n_bins : int or None, default=None
            Number of bins; None takes 10, or 5 for fewer than 200 samples.
        ax : sequence of two Axes, Figure or None, default=None
            Where to draw; a figure is resized to fit, None makes a new one.

        Returns
        -------
        CalibrationDisplay
            The display, drawn.
        """
        happened, probability = np.asarray(happened, dtype=bool), np.asarray(probability, dtype=np.float64)
        if happened.shape != probability.shape or happened.ndim != 1 or not happened.size:
            msg = (
                "happened and probability must be two lists of the same length with at least one sample, got shapes "
                f"{happened.shape} and {probability.shape}."
            )
            raise ValueError(msg)
        if not ((probability >= 0) & (probability <= 1)).all():
            msg = "probabilities must lie between 0 and 1; some do not. Pass predict_proba, not decision_function."
            raise ValueError(msg)
        n_bins = (5 if happened.size < FEW_SAMPLES else 10) if n_bins is None else n_bins
        return cls(what=what, **_in_bins(happened, probability, n_bins, groups)).plot(ax)

    def _draw(self, *axes: Any) -> None:
        shares, counts = axes
        shares.plot([0, 1], [0, 1], color="0.5", lw=1.2, ls="--", label="perfect")
        many = self.count >= FEW_IN_BIN
        for which, fill, label in (
            (many, FOR, "observed, 95 % interval"),
            (~many & (self.count > 0), "w", f"under {FEW_IN_BIN} samples"),
        ):
            if which.any():
                reach = np.stack([self.observed - self.low, self.high - self.observed])[:, which]
                look = {"color": FOR, "mfc": fill, "ms": 7, "lw": 1.5, "capsize": 3}
                shares.errorbar(self.predicted[which], self.observed[which], reach, fmt="o", label=label, **look)
        shares.set(ylabel="share that came true", xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
        shares.tick_params(labelbottom=False)
        title_and_legend(shares, f"Calibration of {self.what}, {plural(int(self.count.sum()), 'sample')}")
        width = np.diff(self.edges)
        middles = self.edges[:-1] + width / 2
        counts.bar(middles, self.count, 0.9 * width, color="0.75")
        look = {"textcoords": "offset points", "ha": "center", "va": "bottom", "fontsize": SMALL}
        for middle, count in zip(middles, self.count, strict=True):
            counts.annotate(f"{count}", (middle, count), (0, 2), color="k" if count else GREY, **look)
        counts.set(xlabel=f"predicted probability of {self.what}", ylabel="samples", xlim=(-0.02, 1.02))
        counts.margins(y=0.25)


def _in_bins(happened: BoolArray, probability: FloatArray, n_bins: int, groups: Any) -> dict[str, Any]:
    """Counts, means and intervals in bins of equal width."""
    edges = np.linspace(0.0, 1.0, n_bins + 1)
    place = np.clip(np.searchsorted(edges, probability, side="right") - 1, 0, n_bins - 1)
    count, hits, total = (
        np.bincount(place, weights=weights, minlength=n_bins) for weights in (None, happened, probability)
    )
    with np.errstate(invalid="ignore"):  # NaN in an empty bin
        predicted, observed = total / count, hits / count
    independent = count.astype(np.float64)
    if groups is not None:
        _, group = np.unique(groups, return_inverse=True)
        independent = np.array([_independent(happened[place == b], group[place == b]) for b in range(n_bins)])
    low, high = _wilson(observed, independent)
    return {"edges": edges, "count": count, "predicted": predicted, "observed": observed, "low": low, "high": high}


def _wilson(share: FloatArray, n: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Wilson's interval of shares of n independent samples."""
    with np.errstate(invalid="ignore", divide="ignore"):  # NaN in an empty bin
        z2 = stats.norm.ppf(0.5 + LEVEL / 2) ** 2 / n
        middle, reach = (share + z2 / 2) / (1 + z2), np.sqrt(z2 * (share * (1 - share) + z2 / 4)) / (1 + z2)
    return np.clip(np.minimum(middle - reach, share), 0, 1), np.clip(np.maximum(middle + reach, share), 0, 1)


def _independent(happened: BoolArray, group: IntArray) -> float:
    """How many independent samples tell as much about a share as these of some groups do."""
    n_groups, share = np.unique(group).size, happened.mean() if happened.size else 0.0
    variance = float((np.bincount(group, happened - share) ** 2).sum()) * n_groups / max(n_groups - 1, 1)
    if n_groups < 2 or not variance:  # all or none: the groups are what is independent
        return float(n_groups)
    return min(share * (1.0 - share) * happened.size**2 / variance, float(happened.size))
