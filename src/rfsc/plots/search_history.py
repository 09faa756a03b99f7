"""How a search went: score and size of the models that it drew."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from .._typing import FloatArray
from .drawing import AGAINST, FAINT, FOR, Display, legend_above, make_axes, set_title, shorten, tidy
from .sources import best_restart, model_of, traced_evidence


@dataclass(eq=False, repr=False, kw_only=True)
class SearchHistoryDisplay(Display):
    """Mean score of the models drawn in each iteration, and their mean size before and after the test.

    Parameters
    ----------
    mean_scores, best_scores, sizes_drawn, sizes_kept : tuple of ndarray of shape (n_iter,)
        One array for each restart; restarts may differ in length. `best_scores` may be empty.
    shown : int
        The restart that stands out; the others are drawn faintly.
    score : str
        Name of the score.
    title : str
        What is shown.
    """

    mean_scores: tuple[FloatArray, ...]
    best_scores: tuple[FloatArray, ...]
    sizes_drawn: tuple[FloatArray, ...]
    sizes_kept: tuple[FloatArray, ...]
    shown: int
    score: str
    title: str

    @classmethod
    def from_estimator(cls, estimator: Any, *, output: int = 0, restart: int | None = None, ax: Any = None) -> Self:
        """Draw the search behind a model.

        Parameters
        ----------
        estimator : object
            A fitted RFSCClassifier or pipeline, a loaded predictor, or a SparseModel.
        output : int, default=0
            Which of its models.
        restart : int or None, default=None
            Which restart stands out; None for the one that saw the best score.
        ax : sequence of two Axes or None, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        SearchHistoryDisplay
            Drawn.
        """
        model = model_of(estimator, output)
        evidence = traced_evidence(model)
        shown = best_restart(evidence, restart)
        display = cls(
            mean_scores=tuple(trace.mean_score for trace in evidence.traces),
            best_scores=tuple(trace.best_score for trace in evidence.traces),
            sizes_drawn=tuple(trace.size_drawn for trace in evidence.traces),
            sizes_kept=tuple(trace.size_kept for trace in evidence.traces),
            shown=shown,
            score=f"score: {evidence.score}",
            title=f"The search for class {shorten(model.label, 20)}: restart {shown + 1} of {evidence.n_restarts}",
        )
        return display.plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : sequence of two Axes or None, default=None
            Where to draw score and size; None makes a figure.

        Returns
        -------
        SearchHistoryDisplay
            Itself, with `ax_` and `figure_` set.
        """
        axes = make_axes(ax, (7.5, 5.2), (1, 1))
        score, size = axes
        others = len(self.mean_scores) > 1
        if self.best_scores:
            self._lines(score, self.best_scores, FOR, "-", "best model", faintly=False)
        label = "mean of the models drawn" if self.best_scores else None
        self._lines(score, self.mean_scores, "k" if not self.best_scores else AGAINST, "--", label, faintly=others)
        score.set(ylabel=self.score)
        self._lines(size, self.sizes_drawn, AGAINST, "--", "before the test", faintly=False)
        self._lines(size, self.sizes_kept, FOR, "-", "after the test", faintly=others)
        size.set(xlabel="iteration", ylabel="mean model size", ylim=(0, None))
        score.tick_params(labelbottom=False)
        longest = max(len(values) for values in self.mean_scores)
        for one in axes:
            one.set_xlim(1 if longest > 1 else 0.5, longest + (longest == 1))
            tidy(one)
        set_title(score, self.title)
        if self.best_scores:
            legend_above(score)
        legend_above(size)
        self._show_in(axes)
        return self

    def _lines(
        self, ax: Any, values: tuple[FloatArray, ...], colour: str, style: str, label: str | None, *, faintly: bool
    ) -> None:
        """The restart that stands out and, where asked for, the others behind it."""
        for restart, line in enumerate(values):
            iterations = np.arange(1, len(line) + 1)
            marker = "o" if len(line) == 1 else None
            if restart == self.shown:
                ax.plot(iterations, line, color=colour, ls=style, lw=1.8, label=label, zorder=3, marker=marker)
            elif faintly:
                first = restart == (0 if self.shown else 1)
                ax.plot(iterations, line, color=FAINT, lw=0.8, zorder=1, label="other restarts" if first else None)
