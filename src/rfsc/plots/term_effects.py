"""What the terms of a model do: their coefficients, and what they contribute to single samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from scipy import stats
from scipy.special import expit

from .._model.access import as_predictor, model_of
from .._utils.arrays import BoolArray, FloatArray
from .._utils.validation import labels_of
from .._utils.words import minus_sign, plural
from ..explain import ForAgainst, for_and_against
from .drawing import AGAINST, FOR, SMALL, Display, TermRowsDisplay, class_name, title_and_legend

AGAINST_BAR = {"color": AGAINST, "hatch": "///", "edgecolor": "w", "lw": 0}


@dataclass(eq=False, repr=False, kw_only=True)
class CoefficientsDisplay(TermRowsDisplay):
    """Coefficients of the terms with confidence intervals, the largest on top.

    The intervals take the terms as given. The search tried many terms to find these, so the intervals are too narrow
    to be read as evidence against chance.

    Parameters
    ----------
    coef : ndarray of shape (n_terms,)
        Coefficients on the [0, 1] scale, in the order in which they are drawn.
    reach : ndarray of shape (n_terms,) or None
        Half-widths of the intervals; None if the model has no standard errors.
    names : tuple of str
        Names of the terms.
    level : float
        Level of the intervals.
    label : object
        The class that positive coefficients favour.
    max_terms : int, default=20
        Largest number of terms to draw.
    """

    coef: FloatArray
    reach: FloatArray | None
    names: tuple[str, ...]
    level: float
    label: object
    max_terms: int = 20

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, output: int = 0, level: float = 0.95, ax: Any = None, max_terms: int = 20
    ) -> Self:
        """Draw the coefficients of a model.

        Parameters
        ----------
        estimator : RFSCClassifier, Pipeline, Predictor or SparseModel
            A fitted classifier, a fitted pipeline that ends in one, or a model read from a file.
        output : int, default=0
            Index of the model, for classifiers with several.
        level : float, default=0.95
            Level of the intervals.
        ax : Axes, Figure or None, default=None
            Where to draw; a figure is resized to fit, None makes a new one.
        max_terms : int, default=20
            Largest number of terms to draw, those with the largest coefficients.

        Returns
        -------
        CoefficientsDisplay
            The display, drawn.
        """
        if not 0 < level < 1:
            msg = f"level must be between 0 and 1, such as 0.95, got {level}."
            raise ValueError(msg)
        model = model_of(estimator, output)
        order = np.argsort(-np.abs(model.coef), kind="stable")
        reach = None
        if model.standard_error is not None:
            freedom = max(model.n_observations - model.coef.size, 1.0)  # as for the p-values
            reach = stats.t.ppf(0.5 + level / 2, freedom) * model.standard_error[order]
        names = tuple(model.names[j] for j in order)
        return cls(
            coef=model.coef[order], reach=reach, names=names, level=level, label=model.label, max_terms=max_terms
        ).plot(ax)

    def _draw(self, *axes: Any) -> None:
        (ax,) = axes
        coef = self.coef[: self.max_terms]
        rows = np.arange(len(coef))
        ax.axvline(0, color="0.5", lw=1)
        for which, colour, marker, side in (
            (coef >= 0, FOR, "o", "for the class"),
            (coef < 0, AGAINST, "s", "against the class"),
        ):
            if which.any():
                reach = None if self.reach is None else self.reach[: self.max_terms][which]
                look = {"color": colour, "fmt": marker, "ms": 6, "lw": 1.6, "capsize": 3}
                ax.errorbar(coef[which], rows[which], xerr=reach, label=side, **look)
        interval = "" if self.reach is None else f", with naive {100 * self.level:g} % interval"
        ax.set_xlabel(f"coefficient on the [0, 1] scale{interval}")
        size = sum(name != "1" for name in self.names)
        title_and_legend(ax, f"{plural(size, 'term')} for class {class_name(self.label)}")


@dataclass(eq=False, repr=False, kw_only=True)
class RowContributionsDisplay(TermRowsDisplay):
    """What each term contributes to f for a single row, the largest on top.

    Parameters
    ----------
    contribution : ndarray of shape (n_terms,)
        Coefficient times value of each term, in the order in which they are drawn; their sum is f.
    names : tuple of str
        Names of the terms.
    label : object
        The class that f > 0 predicts; of several outputs, the largest f decides.
    max_terms : int, default=20
        Largest number of terms to draw; the others share one bar.
    """

    contribution: FloatArray
    names: tuple[str, ...]
    label: object
    max_terms: int = 20
    _note: ClassVar[str] = "+{} more, together"

    @property
    def total(self) -> float:
        """Value of f for the row."""
        return float(self.contribution.sum())

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, *, output: int = 0, ax: Any = None, max_terms: int = 20) -> Self:
        """Draw the contributions of the terms for one row.

        Parameters
        ----------
        estimator : RFSCClassifier, Pipeline, Predictor or SparseModel
            A fitted classifier, a fitted pipeline that ends in one, or a model read from a file.
        X : array-like or data frame of shape (1, n_features)
            The row, as a table with a single row: `X.iloc[[5]]` or `X[5:6]`.
        output : int, default=0
            Index of the model, for classifiers with several.
        ax : Axes, Figure or None, default=None
            Where to draw; a figure is resized to fit, None makes a new one.
        max_terms : int, default=20
            Largest number of terms to draw, those that contribute most; the others share one bar.

        Returns
        -------
        RowContributionsDisplay
            The display, drawn.
        """
        model = model_of(estimator, output)
        features = as_predictor(estimator).features(X)
        if len(features) != 1:
            msg = f"X must be a table with one row, such as X.iloc[[5]] or X[5:6], got {len(features)} rows."
            raise ValueError(msg)
        contribution = model.coef * model.columns(features)[:, 0]
        order = np.argsort(-np.abs(contribution), kind="stable")
        names = tuple(model.names[j] for j in order)
        return cls(contribution=contribution[order], names=names, label=model.label, max_terms=max_terms).plot(ax)

    def _draw(self, *axes: Any) -> None:
        (ax,) = axes
        bars = self.contribution[: self.max_terms]
        if len(self.contribution) > self.max_terms:
            bars = np.append(bars, self.contribution[self.max_terms :].sum())
        rows, positive = np.arange(len(bars)), bars >= 0
        ax.barh(rows[positive], bars[positive], 0.62, color=FOR)
        ax.barh(rows[~positive], bars[~positive], 0.62, **AGAINST_BAR)
        ax.axvline(0, color="0.3", lw=1)
        for row, bar in zip(rows, bars, strict=True):
            shift, side = (4, "left") if bar >= 0 else (-4, "right")
            look = {"textcoords": "offset points", "va": "center", "ha": side, "fontsize": SMALL}
            ax.annotate(minus_sign(f"{bar:+.2f}"), (bar, row), (shift, 0), **look)
        ax.margins(x=0.2)
        ax.set_xlabel("contribution to f (against | for the class)")
        side = "for" if self.total > 0 else "against"
        title_and_legend(ax, minus_sign(f"f = {self.total:.3g}: ") + f"{side} class {class_name(self.label)}")


@dataclass(eq=False, repr=False, kw_only=True)
class ContributionsDisplay(Display):
    """Positive and negative contributions of samples side by side, and the probability of the class below them.

    y+ is the sum of the positive contributions to f, y- that of the negative ones, and the probability that of
    f = y+ - y-; with several classes, before all are scaled to a sum of one.

    Parameters
    ----------
    sides : ForAgainst
        y+ and y- of every sample.
    truth : ndarray of shape (n_samples,), dtype=bool, or None
        Whether each sample belongs to the class; None if that is not known.
    label : object
        The class.
    title : str, default=""
        Title; if empty, one that names the class.
    max_samples : int, default=30
        Largest number of samples to draw, the first ones.
    """

    sides: ForAgainst
    truth: BoolArray | None
    label: object
    title: str = ""
    max_samples: int = 30
    _size: ClassVar[tuple[float, float]] = (8.5, 5.2)
    _panels: ClassVar[tuple[float, ...]] = (2, 1)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any = None, *, output: int = 0, ax: Any = None, max_samples: int = 30
    ) -> Self:
        """Draw the evidence for and against a class in some samples.

        Parameters
        ----------
        estimator : RFSCClassifier, Pipeline, Predictor or SparseModel
            A fitted classifier, a fitted pipeline that ends in one, or a model read from a file.
        X : array-like or data frame of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,) or None, default=None
            Their classes, to mark the samples on the wrong side.
        output : int, default=0
            Index of the model, for classifiers with several.
        ax : sequence of two Axes, Figure or None, default=None
            Where to draw; a figure is resized to fit, None makes a new one.
        max_samples : int, default=30
            Largest number of samples to draw, the first ones.

        Returns
        -------
        ContributionsDisplay
            The display, drawn.
        """
        model = model_of(estimator, output)
        sides = for_and_against(model, as_predictor(estimator).features(X))
        truth = None if y is None else labels_of(y, len(sides.for_class)) == model.label
        return cls(sides=sides, truth=truth, label=model.label, max_samples=max_samples).plot(ax)

    def _draw(self, *axes: Any) -> None:
        bars, below = axes
        n = len(self.sides.for_class)
        shown = min(n, self.max_samples)
        samples = np.arange(1, shown + 1)
        bars.bar(samples - 0.2, self.sides.for_class[:shown], 0.4, color=FOR, label="y⁺, for the class")
        against = self.sides.against_class[:shown]
        bars.bar(samples + 0.2, against, 0.4, label="y⁻, against the class", **AGAINST_BAR)
        bars.set(ylabel="contribution")
        bars.tick_params(labelbottom=False)
        title_and_legend(bars, self.title or f"Evidence for and against class {class_name(self.label)}")
        self._draw_below(below, samples)
        below.set_xlabel(f"sample (the first {shown} of {n})" if shown < n else "sample")
        for one in axes:
            one.set_xlim(0.3, shown + 0.7)
            one.set_xticks(samples if shown <= 30 else [1, *range(10, shown + 1, 10)])

    def _draw_below(self, ax: Any, samples: Any) -> None:
        ax.set(ylabel="probability", ylim=(-0.075, 1.075))
        self._draw_marks(ax, samples, expit(self.sides.for_class - self.sides.against_class), 0.5)

    def _draw_marks(self, ax: Any, samples: Any, values: FloatArray, middle: float) -> None:
        """A mark for each sample above or below the value that decides, and whether it is on the right side."""
        values = values[: len(samples)]
        ax.axhline(middle, color="0.6", lw=0.8)
        ax.vlines(samples, middle, values, color="0.6", lw=1)
        if self.truth is None:
            ax.plot(samples, values, "o", color="k", ms=5)
            return
        right = (values > middle) == self.truth[: len(values)]
        ax.plot(samples[right], values[right], "o", color="k", ms=5, label="correct")
        if not right.all():
            ax.plot(samples[~right], values[~right], "X", color=AGAINST, ms=9, label="wrong")
        title_and_legend(ax, "")
