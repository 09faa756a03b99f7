"""What each feature does to f."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from .._model.access import as_predictor, model_of, predictor_if_readable, yes_or_no_features
from .._utils.arrays import FloatArray
from .._utils.words import plural
from ..explain.effects import Curve, curves_of
from .drawing import FOR, GREY, SMALL, TITLE_SIZE, Display, class_name, make_panels, shorten_all

N_COLUMNS = 3
PANEL = (2.7, 2.3)  # inches
TAIL, MOST_REACH = 0.01, 0.5  # of the rows at either end, and how far beyond them the axis may reach, in ranges
N_BINS = 30
DRAWABLE = 1e300  # a wider range is more than an axis can hold
BARS = 0.14  # height of the bars below the curves, of that of a panel
Points = tuple[FloatArray, FloatArray]


@dataclass(eq=False, repr=False, kw_only=True)
class FeatureEffectsDisplay(Display):
    """One panel for each feature: the sum of the terms that read it alone, over its training range.

    Every curve is zero at its left end, and all panels have the same scale of f.

    Parameters
    ----------
    names : tuple of str
        Names of the features that are drawn, the largest change of f first.
    curves : sequence of (ndarray, ndarray)
        Values of each feature, and f less its value at the left end.
    knots : sequence of (ndarray, ndarray)
        Where each curve bends or jumps, and single values at which it differs from its surroundings.
    samples : sequence of ndarray, or None
        Values of each feature in the samples, for the bars below the curves.
    yes_or_no : tuple of bool
        Which features are 0 or 1.
    label : object
        The class of the model.
    n_features : int
        How many features there are to draw.
    n_not_shown : int
        Number of terms that read several features.
    least : int
        A bar for fewer samples is not drawn.
    """

    names: tuple[str, ...]
    curves: Sequence[Points]
    knots: Sequence[Points]
    samples: Sequence[FloatArray] | None
    yes_or_no: tuple[bool, ...]
    label: object
    n_features: int
    n_not_shown: int
    least: int = 1

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any = None, *, output: int = 0, max_features: int = 12, least: int = 1, ax: Any = None
    ) -> Self:
        """Draw the effect of each feature.

        Parameters
        ----------
        estimator : RFSCClassifier, Pipeline, Predictor or SparseModel
            A fitted classifier, a fitted pipeline that ends in one, or a model read from a file.
        X : array-like or data frame of shape (n_samples, n_features) or None, default=None
            Samples whose values are counted by bars below the curves.
        output : int, default=0
            Index of the model, for classifiers with several.
        max_features : int, default=12
            Largest number of features to draw, those that change f most.
        least : int, default=1
            A bar for fewer samples is not drawn, so that a figure shows no single sample.
        ax : sequence of Axes (one for each feature), Figure or None, default=None
            Where to draw; a figure is resized to fit, None makes a new one.

        Returns
        -------
        FeatureEffectsDisplay
            The display, drawn.
        """
        model = model_of(estimator, output)
        every = curves_of(model)
        shown = [curve for curve in every if np.abs(curve.to_user(curve.grid())).max() < DRAWABLE][:max_features]
        yes_or_no = yes_or_no_features(getattr(predictor_if_readable(estimator), "recipe_", None))
        table = None if X is None else as_predictor(estimator).features(X)
        return cls(
            names=tuple(curve.name for curve in shown),
            curves=[_points(curve, curve.grid()) for curve in shown],
            knots=[_points(curve, np.array([*curve.knots(), *curve.levels()])) for curve in shown],
            samples=None if table is None else [table[:, curve.feature] for curve in shown],
            yes_or_no=tuple(curve.feature in yes_or_no for curve in shown),
            label=model.label,
            n_features=len(every),
            n_not_shown=sum(len(term.features) > 1 for term in model.terms),
            least=least,
        ).plot(ax)

    def _axes(self, ax: Any) -> Any:
        n = max(len(self.names), 1)
        axes = make_panels(ax, n, min(n, N_COLUMNS), PANEL if n > 1 else (6.0, 3.4))
        if ax is None or hasattr(ax, "subplots"):
            axes[0].figure.suptitle(self._title(), x=0.01, ha="left", fontsize=TITLE_SIZE)
        return axes

    def _title(self) -> str:
        lines = [f"What each feature does to f of class {class_name(self.label)}"]
        if len(self.names) < self.n_features:
            lines[0] += f": the {len(self.names)} of {self.n_features} that change it most"
        if self.n_not_shown:
            lines.append(f"({plural(self.n_not_shown, 'term')} of several features not shown)")
        return "\n".join(lines)

    def _draw(self, *axes: Any) -> None:
        if not self.names:
            axes[0].set_axis_off()
            axes[0].text(0.5, 0.5, "no term reads a feature alone", ha="center", color=GREY, fontsize=SMALL)
            return
        low, high = self._heights()
        margin = 0.06 * (high - low or 1.0)
        room = 0.0 if self.samples is None else (BARS + 0.04) * (high - low + 2 * margin)
        for k, (ax, name) in enumerate(zip(axes, shorten_all(self.names, 26), strict=True)):
            self._draw_panel(ax, k)
            ax.set_xlabel(name, fontsize=SMALL)
            ax.set_ylim(low - margin - room, high + margin)
            ax.tick_params(labelsize=SMALL)
            place = ax.get_subplotspec()
            if place is None or place.is_first_col():
                ax.set_ylabel("f, 0 at the left end", fontsize=SMALL)
            else:
                ax.tick_params(labelleft=False)

    def _ends(self, k: int) -> tuple[float, float]:
        """Where nearly all rows are: a few far values would leave no room for all others."""
        x = self.curves[k][0]
        if self.samples is None or self.yes_or_no[k]:
            return float(x[0]), float(x[-1])
        low, high = np.quantile(self.samples[k], (TAIL, 1.0 - TAIL))
        reach = MOST_REACH * (high - low)
        ends = max(float(x[0]), low - reach), min(float(x[-1]), high + reach)
        return ends if ends[0] < ends[1] else (float(x[0]), float(x[-1]))

    def _heights(self) -> tuple[float, float]:
        """Lowest and highest value that is drawn."""
        drawn = []
        for k, pairs in enumerate(zip(self.curves, self.knots, strict=True)):
            low, high = self._ends(k)
            drawn += [np.interp([low, high], *pairs[0]), *(f[(x >= low) & (x <= high)] for x, f in pairs)]
        every = np.concatenate(drawn)
        return float(every.min()), float(every.max())

    def _draw_panel(self, ax: Any, k: int) -> None:
        x, f = self.curves[k]
        low, high = self._ends(k)
        ax.axhline(0, color="0.8", lw=0.8)
        if self.yes_or_no[k]:
            ax.plot(x[[0, -1]], f[[0, -1]], "o-", color=FOR, lw=1)
            ax.set_xticks(x[[0, -1]], ["no", "yes"])
        else:
            ax.plot(x, f, color=FOR, lw=2)
            ax.plot(*self.knots[k], "o", color=FOR, mfc="w", ms=5, mew=1.4)
            ax.xaxis.get_major_locator().set_params(nbins=4)
        if self.samples is not None:
            edges = np.unique(np.linspace(low, high, N_BINS + 1))  # there may be fewer numbers between the ends
            count, _ = np.histogram(self.samples[k], edges)
            height = np.where(count < self.least, 0.0, BARS * count / max(count.max(), 1))
            place = {"align": "edge", "transform": ax.get_xaxis_transform()}
            ax.bar(edges[:-1], height, np.diff(edges), color="0.75", **place)
        reach = 0.04 * (high - low)
        ax.set_xlim(low - reach, high + reach)


def _points(curve: Curve, u: FloatArray) -> Points:
    """The feature in the user's units, and f less its value at the left end."""
    return curve.to_user(u), curve.values(u) - curve.values(curve.grid()[:1])
