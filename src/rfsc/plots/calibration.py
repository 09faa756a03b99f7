"""Do things that are given 80 % happen in 80 % of the cases?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import stats

from .._model.access import as_predictor
from .._utils.arrays import BoolArray, FloatArray, IntArray
from .drawing import FOR, GREY, SMALL, Display, class_name, legend_above, make_axes, set_title, tidy
from .sources import codes_of

FEW = 10  # samples: below, a bin is drawn hollow
MANY = 200  # samples: with fewer, bins are twice as wide
LEVEL = 0.95


@dataclass(eq=False, repr=False, kw_only=True)
class CalibrationDisplay(Display):
    """Predicted probabilities in bins against what happened, with intervals, and the number of samples in each bin.

    Draw it with rows that the model has not seen: on its training rows every model looks better than it is.

    Parameters
    ----------
    edges : ndarray of shape (n_bins + 1,)
        Borders of the bins.
    count : ndarray of shape (n_bins,)
        Samples in each bin.
    predicted : ndarray of shape (n_bins,)
        Mean predicted probability; NaN in an empty bin.
    observed : ndarray of shape (n_bins,)
        Share of the samples for which it was true; NaN in an empty bin.
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

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, label: Any = None, n_bins: int | None = None, ax: Any = None
    ) -> Self:
        """Draw the calibration of a classifier on unseen rows.

        Parameters
        ----------
        estimator : object
            A fitted RFSCClassifier or pipeline, a loaded predictor, or a SparseModel.
        X : array-like or data frame of shape (n_samples, n_features)
            Samples that it was not fitted to.
        y : array-like of shape (n_samples,)
            Their classes.
        label : object or None, default=None
            The class whose probability is looked at. None takes the second of two classes; of more than two, whichever
            is predicted: how often is the classifier right when it says that it is 80 % sure?
        n_bins : int or None, default=None
            Number of bins; None takes 10, or 5 where there are fewer than 200 samples.
        ax : sequence of two Axes, Figure or None, default=None
            Where to draw; a figure is given the size that suits, None makes one.

        Returns
        -------
        CalibrationDisplay
            Drawn.
        """
        predictor = as_predictor(estimator)
        proba, classes = predictor.predict_proba(X), list(predictor.classes_)
        code = codes_of(estimator, y, len(proba))
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
        cls, happened: Any, probability: Any, *, what: str = "the class", n_bins: int | None = None, ax: Any = None
    ) -> Self:
        """Draw the calibration of given probabilities.

        Parameters
        ----------
        happened : array-like of shape (n_samples,), dtype=bool
            Whether it was true.
        probability : array-like of shape (n_samples,)
            How probable it was thought to be.
        what : str, default="the class"
            What the probability is of.
        n_bins : int or None, default=None
            Number of bins; None takes 10, or 5 where there are fewer than 200 samples.
        ax : sequence of two Axes, Figure or None, default=None
            Where to draw; a figure is given the size that suits, None makes one.

        Returns
        -------
        CalibrationDisplay
            Drawn.
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
        n_bins = (10 if happened.size >= MANY else 5) if n_bins is None else n_bins
        return cls(what=what, **_in_bins(happened, probability, n_bins)).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : sequence of two Axes, Figure or None, default=None
            Where to draw shares and counts; a figure is given the size that suits, None makes one.

        Returns
        -------
        CalibrationDisplay
            Itself, with `ax_` and `figure_` set.
        """
        axes = make_axes(ax, (6, 6.2), (3, 1))
        shares, counts = axes
        shares.plot([0, 1], [0, 1], color="0.5", lw=1.2, ls="--", label="perfect")
        many = self.count >= FEW
        for which, fill, label in (
            (many, FOR, "observed, 95 % interval"),
            (~many & (self.count > 0), "w", f"under {FEW} samples"),
        ):
            if which.any():
                reach = np.stack([self.observed - self.low, self.high - self.observed])[:, which]
                look = {"color": FOR, "mfc": fill, "ms": 7, "lw": 1.5, "capsize": 3}
                shares.errorbar(self.predicted[which], self.observed[which], reach, fmt="o", label=label, **look)
        shares.set(ylabel="share for which it was true", xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
        shares.tick_params(labelbottom=False)
        set_title(shares, f"Calibration of {self.what}, {self.count.sum():,} samples")
        legend_above(shares)
        width = np.diff(self.edges)
        counts.bar(self.edges[:-1] + width / 2, self.count, 0.9 * width, color="0.75")
        for middle, count in zip(self.edges[:-1] + width / 2, self.count, strict=True):
            up = {"textcoords": "offset points", "ha": "center", "va": "bottom", "fontsize": SMALL}
            counts.annotate(f"{count}", (middle, count), (0, 2), color="k" if count else GREY, **up)
        counts.set(xlabel=f"probability given to {self.what}", ylabel="samples", xlim=(-0.02, 1.02))
        counts.margins(y=0.25)
        for one in axes:
            tidy(one)
        self._show_in(axes)
        return self


def _in_bins(happened: BoolArray, probability: FloatArray, n_bins: int) -> dict[str, Any]:
    """Counts, means and intervals in bins of equal width."""
    edges = np.linspace(0.0, 1.0, n_bins + 1)
    place = np.clip(np.searchsorted(edges, probability, side="right") - 1, 0, n_bins - 1)
    count = np.bincount(place, minlength=n_bins)
    some = np.where(count > 0, count, 1)
    predicted = np.bincount(place, weights=probability, minlength=n_bins) / some
    observed = np.bincount(place, weights=happened, minlength=n_bins) / some
    low, high = _wilson(observed, some)
    blank = {"predicted": predicted, "observed": observed, "low": low, "high": high}
    return {"edges": edges, "count": count, **{name: np.where(count > 0, v, np.nan) for name, v in blank.items()}}


def _wilson(share: FloatArray, count: IntArray) -> tuple[FloatArray, FloatArray]:
    """Interval of a share; unlike the textbook's it has a width where all or none were true."""
    z = float(stats.norm.ppf(0.5 + LEVEL / 2))
    middle = (share + z**2 / (2 * count)) / (1 + z**2 / count)
    reach = z * np.sqrt(share * (1 - share) / count + z**2 / (4 * count**2)) / (1 + z**2 / count)
    return np.minimum(middle - reach, share), np.maximum(middle + reach, share)
