"""Would another search have chosen the same terms?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from .._utils.arrays import BoolArray, FloatArray
from .drawing import FOR, GREY, Display, class_name, legend_above, make_axes, name_rows, rows_height, set_title
from .sources import evidence_of, model_of


@dataclass(eq=False, repr=False, kw_only=True)
class StabilityDisplay(Display):
    """Share of the restarts that chose each term: those of the model first, then others, the most frequent on top.

    Parameters
    ----------
    share : ndarray of shape (n_terms,)
        Share of the restarts whose own model holds the term, in the order in which they are drawn.
    in_model : ndarray of shape (n_terms,), dtype=bool
        Whether the final model holds it.
    names : tuple of str
        Names of the terms.
    n_restarts : int
        How many restarts there were.
    label : object
        The class of the model.
    """

    share: FloatArray
    in_model: BoolArray
    names: tuple[str, ...]
    n_restarts: int
    label: object

    @classmethod
    def from_estimator(cls, estimator: Any, *, output: int = 0, ax: Any = None, max_terms: int = 25) -> Self:
        """Draw how often the terms were chosen.

        Parameters
        ----------
        estimator : object
            A fitted RFSCClassifier or pipeline, a loaded predictor, or a SparseModel.
        output : int, default=0
            Which of its models.
        ax : Axes, Figure or None, default=None
            Where to draw; a figure is given the size that suits, None makes one.
        max_terms : int, default=25
            Most terms that are drawn.

        Returns
        -------
        StabilityDisplay
            Drawn.
        """
        model = model_of(estimator, output)
        evidence = evidence_of(model)
        share = evidence.selected.mean(axis=0)
        in_model = np.arange(share.size) < len(model.terms)
        order = np.lexsort((-share, ~in_model))
        order = order[in_model[order] | (share[order] > 0)]
        display = cls(
            share=share[order],
            in_model=in_model[order],
            names=tuple(evidence.term_names[j] for j in order),
            n_restarts=evidence.n_restarts,
            label=model.label,
        )
        return display.plot(ax, max_terms=max_terms)

    def plot(self, ax: Any = None, *, max_terms: int = 25) -> Self:
        """Draw.

        Parameters
        ----------
        ax : Axes, Figure or None, default=None
            Where to draw; a figure is given the size that suits, None makes one.
        max_terms : int, default=25
            Most terms that are drawn, the first ones.

        Returns
        -------
        StabilityDisplay
            Itself, with `ax_` and `figure_` set.
        """
        shown = min(len(self.share), max_terms)
        left_out = len(self.share) - shown
        axes = make_axes(ax, (7.5, rows_height(shown + (left_out > 0))))
        ax = axes[0]
        rows, count, ours = np.arange(shown), self.share[:shown] * self.n_restarts, self.in_model[:shown]
        looks = ((ours, {"color": FOR}, "in the model"), (~ours, {"color": "w", "edgecolor": GREY}, "not in the model"))
        for which, look, label in looks:
            if which.any():
                ax.barh(rows[which], count[which], 0.62, label=label, **look)
        name_rows(ax, self.names[:shown], f"+{left_out} more" if left_out else "")
        ax.set_xlim(0, self.n_restarts)
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.set_xlabel(f"restarts out of {self.n_restarts} that chose the term")
        set_title(ax, f"Terms chosen for class {class_name(self.label)}")
        legend_above(ax)
        self._show_in(axes)
        return self
