"""Accuracy against size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from .._model.access import model_of
from .._model.sparse_model import SizeCurve
from .drawing import AGAINST, FOR, GREY, Display, class_name, title_and_legend


@dataclass(eq=False, repr=False, kw_only=True)
class FrontDisplay(Display):
    """Log-loss of left-out rows by the number of terms, and the size of the answer.

    Parameters
    ----------
    sizes : SizeCurve
        The sizes, their left-out log-loss, and by how much it is above that of the best size.
    chosen : int
        Number of terms of the answer.
    label : object
        The class of the model.
    """

    sizes: SizeCurve
    chosen: int
    label: object

    @classmethod
    def from_estimator(cls, estimator: Any, *, output: int = 0, ax: Any = None) -> Self:
        """Draw the log-loss of left-out rows by size.

        Parameters
        ----------
        estimator : RFSCClassifier, Pipeline, Predictor or SparseModel
            A fitted classifier, a fitted pipeline that ends in one, or a model read from a file.
        output : int, default=0
            Index of the model, for classifiers with several.
        ax : Axes, Figure or None, default=None
            Where to draw; a figure is resized to fit, None makes a new one.

        Returns
        -------
        FrontDisplay
            The display, drawn.
        """
        model = model_of(estimator, output)
        if model.sizes is None:
            msg = "sizes were not compared for this model: it was fitted with size=None, or a class has too few rows."
            raise ValueError(msg)
        return cls(sizes=model.sizes, chosen=model.size, label=model.label).plot(ax)

    def _draw(self, *axes: Any) -> None:
        (ax,) = axes
        curve = self.sizes
        loss, error = curve.log_loss, curve.standard_error
        ax.fill_between(curve.n_terms, loss - error, loss + error, color=FOR, alpha=0.15, lw=0)
        ax.plot(curve.n_terms, loss, "o-", color=FOR, label="left-out log-loss")
        is_chosen = curve.n_terms == self.chosen
        look = {"ms": 11, "mec": AGAINST, "mfc": "none", "mew": 2, "ls": ""}
        ax.plot(curve.n_terms[is_chosen], loss[is_chosen], "o", label=f"chosen: {self.chosen} terms", **look)
        ax.axhline(loss.min(), color=GREY, lw=0.8, ls=":")
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.set_xlabel("number of terms")
        ax.set_ylabel("log-loss of left-out rows")
        title_and_legend(ax, f"Size of the model for class {class_name(self.label)}")
