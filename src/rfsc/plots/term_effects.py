"""What the terms of a model do: their coefficients, and what they contribute to a single sample."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from .._model.access import as_predictor, model_of
from .._utils.arrays import FloatArray
from .._utils.words import minus_sign, plural
from .drawing import AGAINST, FOR, SMALL, TermRowsDisplay, class_name, title_and_legend


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
        reach = model.reach(level)
        return cls(
            coef=model.coef[order],
            reach=None if reach is None else reach[order],
            names=tuple(model.names[j] for j in order),
            level=level,
            label=model.label,
            max_terms=max_terms,
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
        ax.barh(rows[~positive], bars[~positive], 0.62, color=AGAINST, hatch="///", edgecolor="w", lw=0)
        ax.axvline(0, color="0.3", lw=1)
        for row, bar in zip(rows, bars, strict=True):
            shift, side = (4, "left") if bar >= 0 else (-4, "right")
            look = {"textcoords": "offset points", "va": "center", "ha": side, "fontsize": SMALL}
            ax.annotate(minus_sign(f"{bar:+.2f}"), (bar, row), (shift, 0), **look)
        ax.margins(x=0.2)
        ax.set_xlabel("contribution to f (against | for the class)")
        side = "for" if self.total > 0 else "against"
        title_and_legend(ax, minus_sign(f"f = {self.total:.3g}: ") + f"{side} class {class_name(self.label)}")
