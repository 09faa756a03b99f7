"""The terms of a model and how sure their coefficients are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import stats

from .._utils.arrays import FloatArray
from .drawing import AGAINST, FOR, Display, class_name, legend_above, make_axes, name_rows, rows_height, set_title
from .sources import model_of


@dataclass(eq=False, repr=False, kw_only=True)
class CoefficientsDisplay(Display):
    """Coefficients of the terms with intervals, the largest on top.

    The intervals take the terms as given. The search looked at many terms to find these, so they are too narrow to be
    read as evidence against chance.

    Parameters
    ----------
    coef : ndarray of shape (n_terms,)
        Coefficients on the [0, 1] scale, in the order in which they are drawn.
    reach : ndarray of shape (n_terms,) or None
        How far the intervals reach to either side; None where nothing is known of them.
    names : tuple of str
        Names of the terms.
    level : float
        Level of the intervals.
    label : object
        The class that positive coefficients speak for.
    """

    coef: FloatArray
    reach: FloatArray | None
    names: tuple[str, ...]
    level: float
    label: object

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, output: int = 0, level: float = 0.95, ax: Any = None, max_terms: int = 20
    ) -> Self:
        """Draw the coefficients of a model.

        Parameters
        ----------
        estimator : object
            A fitted RFSCClassifier or pipeline, a loaded predictor, or a SparseModel.
        output : int, default=0
            Which of its models.
        level : float, default=0.95
            Level of the intervals.
        ax : Axes, Figure or None, default=None
            Where to draw; a figure is given the size that suits, None makes one.
        max_terms : int, default=20
            Most terms that are drawn, those with the largest coefficients.

        Returns
        -------
        CoefficientsDisplay
            Drawn.
        """
        if not 0 < level < 1:
            msg = f"level must be between 0 and 1, such as 0.95, got {level}."
            raise ValueError(msg)
        model = model_of(estimator, output)
        reach = None
        if model.standard_error is not None:
            freedom = max(model.n_observations - model.coef.size, 1.0)  # those of the p-values
            reach = stats.t.ppf(0.5 + level / 2, freedom) * model.standard_error
        order = np.argsort(-np.abs(model.coef), kind="stable")
        display = cls(
            coef=model.coef[order],
            reach=None if reach is None else reach[order],
            names=tuple(model.names[j] for j in order),
            level=level,
            label=model.label,
        )
        return display.plot(ax, max_terms=max_terms)

    def plot(self, ax: Any = None, *, max_terms: int = 20) -> Self:
        """Draw.

        Parameters
        ----------
        ax : Axes, Figure or None, default=None
            Where to draw; a figure is given the size that suits, None makes one.
        max_terms : int, default=20
            Most terms that are drawn, the first ones.

        Returns
        -------
        CoefficientsDisplay
            Itself, with `ax_` and `figure_` set.
        """
        shown = min(len(self.coef), max_terms)
        left_out = len(self.coef) - shown
        axes = make_axes(ax, (7.5, rows_height(shown + (left_out > 0))))
        ax = axes[0]
        coef, rows = self.coef[:shown], np.arange(shown)
        ax.axvline(0, color="0.5", lw=1)
        for which, colour, marker, side in (
            (coef >= 0, FOR, "o", "for the class"),
            (coef < 0, AGAINST, "s", "against the class"),
        ):
            reach = None if self.reach is None else self.reach[:shown][which]
            look = {"color": colour, "fmt": marker, "ms": 6, "lw": 1.6, "capsize": 3}
            if which.any():
                ax.errorbar(coef[which], rows[which], xerr=reach, label=side, **look)
        name_rows(ax, self.names[:shown], f"+{left_out} more" if left_out else "")
        interval = "" if self.reach is None else f", with naive {100 * self.level:g} % interval"
        ax.set_xlabel(f"coefficient on the [0, 1] scale{interval}")
        set_title(ax, f"The {len(self.coef)} terms for class {class_name(self.label)}")
        legend_above(ax)
        self._show_in(axes)
        return self
