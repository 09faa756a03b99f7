"""Which terms the restarts of the search selected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from .._utils.arrays import BoolArray, FloatArray
from .drawing import FOR, GREY, TermRowsDisplay, class_name, search_of, title_and_legend


@dataclass(eq=False, repr=False, kw_only=True)
class StabilityDisplay(TermRowsDisplay):
    """How many restarts selected each term: the terms of the model first, then others, the most frequent on top.

    Parameters
    ----------
    share : ndarray of shape (n_terms,)
        Share of the restarts whose own model holds the term, in the order in which they are drawn.
    in_model : ndarray of shape (n_terms,), dtype=bool
        Whether the final model holds the term.
    names : tuple of str
        Names of the terms.
    n_restarts : int
        Number of restarts.
    label : object
        The class of the model.
    max_terms : int, default=20
        Largest number of terms to draw.
    """

    share: FloatArray
    in_model: BoolArray
    names: tuple[str, ...]
    n_restarts: int
    label: object
    max_terms: int = 20

    @classmethod
    def from_estimator(cls, estimator: Any, *, output: int = 0, ax: Any = None, max_terms: int = 20) -> Self:
        """Draw how often the terms were selected.

        Parameters
        ----------
        estimator : RFSCClassifier, Pipeline, Predictor or SparseModel
            A fitted classifier, a fitted pipeline that ends in one, or a model read from a file.
        output : int, default=0
            Index of the model, for classifiers with several.
        ax : Axes, Figure or None, default=None
            Where to draw; a figure is resized to fit, None makes a new one.
        max_terms : int, default=20
            Largest number of terms to draw.

        Returns
        -------
        StabilityDisplay
            The display, drawn.
        """
        model, evidence = search_of(estimator, output)
        share = evidence.selected.mean(axis=0)
        in_model = np.arange(share.size) < len(model.terms)
        order = np.lexsort((-share, ~in_model))
        order = order[in_model[order] | (share[order] > 0)]
        return cls(
            share=share[order],
            in_model=in_model[order],
            names=tuple(evidence.term_names[j] for j in order),
            n_restarts=evidence.n_restarts,
            label=model.label,
            max_terms=max_terms,
        ).plot(ax)

    def _draw(self, *axes: Any) -> None:
        (ax,) = axes
        count, ours = self.share[: self.max_terms] * self.n_restarts, self.in_model[: self.max_terms]
        rows = np.arange(len(count))
        looks = ((ours, {"color": FOR}, "in the model"), (~ours, {"color": "w", "edgecolor": GREY}, "not in the model"))
        for which, look, label in looks:
            if which.any():
                ax.barh(rows[which], count[which], 0.62, label=label, **look)
        ax.set_xlim(0, self.n_restarts)
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.set_xlabel(f"restarts out of {self.n_restarts} that selected the term")
        title_and_legend(ax, f"Terms selected for class {class_name(self.label)}")
