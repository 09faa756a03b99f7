"""How a search went: score and size of the models that it drew."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from .._utils.arrays import FloatArray
from .drawing import AGAINST, FAINT, FOR, Display, iteration_axis, legend_above, make_axes, set_title, tidy
from .sources import model_of, nearest_restart, search_title, traced_evidence


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
            Which restart stands out; None for the one whose own model is most like the final one.
        ax : sequence of two Axes, Figure or None, default=None
            Where to draw; a figure is given the size that suits, None makes one.

        Returns
        -------
        SearchHistoryDisplay
            Drawn.
        """
        model = model_of(estimator, output)
        evidence = traced_evidence(model)
        shown = nearest_restart(evidence, len(model.terms), restart)
        display = cls(
            mean_scores=tuple(trace.mean_score for trace in evidence.traces),
            best_scores=tuple(trace.best_score for trace in evidence.traces),
            sizes_drawn=tuple(trace.size_drawn for trace in evidence.traces),
            sizes_kept=tuple(trace.size_kept for trace in evidence.traces),
            shown=shown,
            score=f"score ({evidence.score})",
            title=search_title(model.label, shown, evidence),
        )
        return display.plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : sequence of two Axes, Figure or None, default=None
            Where to draw score and size; a figure is given the size that suits, None makes one.

        Returns
        -------
        SearchHistoryDisplay
            Itself, with `ax_` and `figure_` set.
        """
        axes = make_axes(ax, (7.5, 5.2), (1, 1))
        score, size = axes
        if self.best_scores:
            self._line(score, self.best_scores, FOR, "-", "best model")
            self._line(score, self.mean_scores, AGAINST, "--", "mean of the models drawn")
        else:
            self._line(score, self.mean_scores, "k", "-", None)
        self._line(size, self.sizes_drawn, AGAINST, "--", "before the test")
        self._line(size, self.sizes_kept, FOR, "-", "after the test")
        self._others(score, self.mean_scores)
        self._others(size, self.sizes_kept)
        score.set(ylabel=self.score)
        size.set(xlabel="iteration", ylabel="mean model size", ylim=(0, None))
        score.tick_params(labelbottom=False)
        longest = max(len(values) for values in self.mean_scores)
        for one in axes:
            iteration_axis(one, longest)
            tidy(one)
        set_title(score, self.title)
        legend_above(score)
        legend_above(size)
        self._show_in(axes)
        return self

    def _line(self, ax: Any, values: tuple[FloatArray, ...], colour: str, style: str, label: str | None) -> None:
        """The restart that stands out."""
        line = values[self.shown]
        marker = "o" if len(line) == 1 else None
        ax.plot(np.arange(1, len(line) + 1), line, color=colour, ls=style, lw=1.8, label=label, zorder=3, marker=marker)

    def _others(self, ax: Any, values: tuple[FloatArray, ...]) -> None:
        """The other restarts, behind it."""
        others = [line for restart, line in enumerate(values) if restart != self.shown]
        for place, line in enumerate(others):
            label = None if place else "other restarts"
            ax.plot(np.arange(1, len(line) + 1), line, color=FAINT, lw=0.8, zorder=1, label=label)
