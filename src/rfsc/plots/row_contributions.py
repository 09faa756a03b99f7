"""Why one row got its class: what every term of the model adds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from .._model.access import as_predictor
from .._utils.arrays import FloatArray
from .drawing import AGAINST, FOR, SMALL, Display, class_name, make_axes, minus, name_rows, rows_height, set_title
from .sources import model_of


@dataclass(eq=False, repr=False, kw_only=True)
class RowContributionsDisplay(Display):
    """What each term adds to f for a single row, the largest on top.

    Parameters
    ----------
    contribution : ndarray of shape (n_terms,)
        Coefficient times value of each term, in the order in which they are drawn; their sum is f.
    names : tuple of str
        Names of the terms.
    label : object
        The class that f > 0 speaks for.
    """

    contribution: FloatArray
    names: tuple[str, ...]
    label: object

    @property
    def total(self) -> float:
        """f of the row."""
        return float(self.contribution.sum())

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, *, output: int = 0, ax: Any = None, max_terms: int = 20) -> Self:
        """Draw the contributions to one row.

        Parameters
        ----------
        estimator : object
            A fitted RFSCClassifier or pipeline, a loaded predictor, or a SparseModel.
        X : array-like or data frame of shape (1, n_features)
            The row, as a table of a single row: `X.iloc[[5]]` or `X[5:6]`.
        output : int, default=0
            Which of its models.
        ax : Axes, Figure or None, default=None
            Where to draw; a figure is given the size that suits, None makes one.
        max_terms : int, default=20
            Most terms that are drawn, those that add most; the others together take one bar.

        Returns
        -------
        RowContributionsDisplay
            Drawn.
        """
        model = model_of(estimator, output)
        features = as_predictor(estimator).features(X)
        if len(features) != 1:
            msg = f"X must be a table of one row, such as X.iloc[[5]] or X[5:6], got {len(features)} rows."
            raise ValueError(msg)
        contribution = model.coef * model.columns(features)[:, 0]
        order = np.argsort(-np.abs(contribution), kind="stable")
        names = tuple(model.names[j] for j in order)
        display = cls(contribution=contribution[order], names=names, label=model.label)
        return display.plot(ax, max_terms=max_terms)

    def plot(self, ax: Any = None, *, max_terms: int = 20) -> Self:
        """Draw.

        Parameters
        ----------
        ax : Axes, Figure or None, default=None
            Where to draw; a figure is given the size that suits, None makes one.
        max_terms : int, default=20
            Most terms that are drawn, the first ones; the others together take one bar.

        Returns
        -------
        RowContributionsDisplay
            Itself, with `ax_` and `figure_` set.
        """
        bars, names, note = self.contribution, self.names, ""
        if len(bars) > max_terms:
            left_out = len(bars) - max_terms
            bars = np.append(bars[:max_terms], bars[max_terms:].sum())
            names, note = names[:max_terms], f"+{left_out} more, together"
        axes = make_axes(ax, (7.5, rows_height(len(bars))))
        ax = axes[0]
        rows, positive = np.arange(len(bars)), bars >= 0
        ax.barh(rows[positive], bars[positive], 0.62, color=FOR)
        ax.barh(rows[~positive], bars[~positive], 0.62, color=AGAINST, hatch="///", edgecolor="w", lw=0)
        ax.axvline(0, color="0.3", lw=1)
        for row, bar in zip(rows, bars, strict=True):
            way = 1 if bar >= 0 else -1
            text, where = minus(f"{bar:+.2f}"), "left" if way > 0 else "right"
            ax.annotate(
                text, (bar, row), (4 * way, 0), textcoords="offset points", va="center", ha=where, fontsize=SMALL
            )
        ax.margins(x=0.2)
        name_rows(ax, names, note)
        ax.set_xlabel("contribution to f (against | for the class)")
        side = "for" if self.total > 0 else "against"
        set_title(ax, minus(f"f = {self.total:.3g}: {side} class {class_name(self.label)}"))
        self._show_in(axes)
        return self
