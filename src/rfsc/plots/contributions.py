"""The paper's picture of single samples: what speaks for a class, what against it, and how clearly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from .._model.access import as_predictor
from .._utils.arrays import BoolArray, FloatArray
from ..explain import ForAgainst, for_and_against
from .drawing import AGAINST, FOR, Display, class_name, legend_above, make_axes, set_title, tidy
from .sources import labels_of, model_of


@dataclass(eq=False, repr=False, kw_only=True)
class ContributionsDisplay(Display):
    """y+ and y- of samples side by side, and below them the confidence delta = (y+ - y-) / max(y+, y-).

    Parameters
    ----------
    sides : ForAgainst
        y+ and y- of every sample.
    truth : ndarray of shape (n_samples,), dtype=bool, or None
        Whether each sample belongs to the class; None where that is not known.
    label : object
        The class.
    title : str, default=""
        What is shown; empty names the class.
    """

    sides: ForAgainst
    truth: BoolArray | None
    label: object
    title: str = ""

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any = None, *, output: int = 0, ax: Any = None, max_samples: int = 30
    ) -> Self:
        """Draw what speaks for and against a class in some samples.

        Parameters
        ----------
        estimator : object
            A fitted RFSCClassifier or pipeline, a loaded predictor, or a SparseModel.
        X : array-like or data frame of shape (n_samples, n_features)
            Samples.
        y : array-like of shape (n_samples,) or None, default=None
            Their classes, to mark the samples that are on the wrong side.
        output : int, default=0
            Which of its models.
        ax : sequence of two Axes, Figure or None, default=None
            Where to draw; a figure is given the size that suits, None makes one.
        max_samples : int, default=30
            Most samples that are drawn, the first ones.

        Returns
        -------
        ContributionsDisplay
            Drawn.
        """
        model = model_of(estimator, output)
        sides = for_and_against(model, as_predictor(estimator).features(X))
        truth = None if y is None else labels_of(y, len(sides.for_class)) == model.label
        return cls(sides=sides, truth=truth, label=model.label).plot(ax, max_samples=max_samples)

    def plot(self, ax: Any = None, *, max_samples: int = 30) -> Self:
        """Draw.

        Parameters
        ----------
        ax : sequence of two Axes, Figure or None, default=None
            Where to draw contributions and confidence; a figure is given the size that suits, None makes one.
        max_samples : int, default=30
            Most samples that are drawn, the first ones.

        Returns
        -------
        ContributionsDisplay
            Itself, with `ax_` and `figure_` set.
        """
        n = len(self.sides.for_class)
        shown = min(n, max_samples)
        axes = make_axes(ax, (8.5, 5.2), (2, 1))
        bars, deltas = axes
        samples = np.arange(1, shown + 1)
        y_for, y_against = self.sides.for_class[:shown], self.sides.against_class[:shown]
        bars.bar(samples - 0.2, y_for, 0.4, color=FOR, label="y⁺, for the class")
        bars.bar(samples + 0.2, y_against, 0.4, color=AGAINST, hatch="///", edgecolor="w", lw=0, label="y⁻, against it")
        bars.set(ylabel="contribution")
        bars.tick_params(labelbottom=False)
        set_title(bars, self.title or f"What speaks for and against class {class_name(self.label)}")
        legend_above(bars)
        self._draw_confidence(deltas, samples, self.sides.confidence[:shown])
        more = f" (the first {shown} of {n})" if shown < n else ""
        deltas.set_xlabel(f"sample{more}")
        ticks = samples if shown <= 30 else [1, *range(10, shown + 1, 10)]
        for one in axes:
            one.set_xlim(0.3, shown + 0.7)
            one.set_xticks(ticks)
            tidy(one)
        self._show_in(axes)
        return self

    def _draw_confidence(self, ax: Any, samples: Any, delta: FloatArray) -> None:
        """delta of every sample, and whether it is on the right side where that is known."""
        ax.axhline(0, color="0.6", lw=0.8)
        ax.vlines(samples, 0, delta, color="0.6", lw=1)
        ax.set(ylabel="confidence δ", ylim=(-1.15, 1.15))
        if self.truth is None:
            ax.plot(samples, delta, "o", color="k", ms=5)
            return
        right = (delta > 0) == self.truth[: len(delta)]
        ax.plot(samples[right], delta[right], "o", color="k", ms=5, label="right side")
        if not right.all():
            ax.plot(samples[~right], delta[~right], "X", color=AGAINST, ms=9, label="wrong side")
        legend_above(ax)
