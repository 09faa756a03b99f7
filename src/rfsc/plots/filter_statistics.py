"""Which features the filter kept, which it dropped, and by how much."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from .._model import FilterEvidence
from .._utils.arrays import BoolArray, FloatArray, IntArray
from .drawing import AGAINST, FOR, Display, class_name, legend_above, make_axes, name_rows, rows_height, set_title
from .sources import evidence_of, model_of


@dataclass(eq=False, repr=False, kw_only=True)
class FilterDisplay(Display):
    """Statistics of the distance-correlation test against their threshold, the most dependent feature on top.

    Parameters
    ----------
    statistic : ndarray of shape (n_features,)
        The statistics, falling.
    names : tuple of str
        Names of the features.
    threshold : float
        What a statistic must exceed for the feature to be kept.
    significance : float
        Level of the test.
    kept : ndarray of shape (n_features,), dtype=bool
        Which features were not left out: those above the threshold, and those that restrictions name.
    about : str, default="the class"
        What the features are tested against.
    """

    statistic: FloatArray
    names: tuple[str, ...]
    threshold: float
    significance: float
    kept: BoolArray
    about: str = "the class"

    @classmethod
    def from_estimator(cls, estimator: Any, *, output: int = 0, ax: Any = None, max_features: int = 30) -> Self:
        """Draw the test of the features.

        Parameters
        ----------
        estimator : object
            A fitted RFSCClassifier or pipeline with `filter_significance`, a loaded predictor, a SparseModel, or a
            fitted DistanceCorrelationFilter.
        output : int, default=0
            Which of its models.
        ax : Axes, Figure or None, default=None
            Where to draw; a figure is given the size that suits, None makes one.
        max_features : int, default=30
            Most features that are drawn; see `plot`.

        Returns
        -------
        FilterDisplay
            Drawn.
        """
        if hasattr(estimator, "statistics_"):
            names = getattr(estimator, "feature_names_in_", [f"x{j}" for j in range(estimator.n_features_in_)])
            test = FilterEvidence(estimator.statistics_, estimator.threshold_, estimator.significance)
            about = "the class"
        else:
            model = model_of(estimator, output)
            found = evidence_of(model).filter
            if found is None:
                msg = "no filter was used for this model. Fit RFSCClassifier with filter_significance, such as 0.05."
                raise ValueError(msg)
            names, about = model.feature_names, f"class {class_name(model.label)}"
            test = found
        order = np.argsort(-test.statistic, kind="stable")
        display = cls(
            statistic=test.statistic[order],
            names=tuple(str(names[j]) for j in order),
            threshold=float(test.threshold),
            significance=float(test.significance),
            kept=test.kept[order],
            about=about,
        )
        return display.plot(ax, max_features=max_features)

    def plot(self, ax: Any = None, *, max_features: int = 30) -> Self:
        """Draw.

        Parameters
        ----------
        ax : Axes, Figure or None, default=None
            Where to draw; a figure is given the size that suits, None makes one.
        max_features : int, default=30
            Most features that are drawn: the first that were kept and, in up to a third of the rows, the first that
            were dropped.

        Returns
        -------
        FilterDisplay
            Itself, with `ax_` and `figure_` set.
        """
        shown, note = self._shown(max_features)
        axes = make_axes(ax, (7.5, rows_height(len(shown) + bool(note))))
        ax = axes[0]
        rows, statistic, kept = np.arange(len(shown)), self.statistic[shown], self.kept[shown]
        ax.axvline(self.threshold, color="k", lw=1.2, ls="--", label="threshold")
        n_kept = int(self.kept.sum())
        for which, look, label in (
            (kept, {"color": FOR, "marker": "o"}, f"{n_kept} kept"),
            (~kept, {"color": AGAINST, "marker": "X"}, f"{len(self.kept) - n_kept} dropped"),
        ):
            if which.any():
                ax.hlines(rows[which], 0, statistic[which], color="0.75", lw=1.2, zorder=1)
                ax.scatter(statistic[which], rows[which], 42, zorder=2, label=label, clip_on=False, **look)
        # linear up to the threshold, so that zero has a place; then logarithmic, since strong features are far beyond
        ax.set_xscale("symlog", linthresh=self.threshold, linscale=1)
        ax.set_xlim(0, 1.3 * max(float(self.statistic.max(initial=0.0)), 2 * self.threshold))
        ax.xaxis.set_major_formatter("{x:g}")
        name_rows(ax, [self.names[j] for j in shown], note)
        ax.set_xlabel(f"statistic; threshold {self.threshold:.3g} for level {self.significance:g}")
        set_title(ax, f"Dependence on {self.about}")
        legend_above(ax)
        self._show_in(axes)
        return self

    def _shown(self, max_features: int) -> tuple[IntArray, str]:
        """Which features to draw, and what to say of the others."""
        kept, dropped = np.flatnonzero(self.kept), np.flatnonzero(~self.kept)
        if len(self.statistic) <= max_features:
            return np.arange(len(self.statistic)), ""
        n_dropped = min(len(dropped), max(max_features // 3, max_features - len(kept)))
        n_kept = min(len(kept), max_features - n_dropped)
        rest = ((len(kept) - n_kept, "kept"), (len(dropped) - n_dropped, "dropped"))
        note = "+" + ", ".join(f"{n} more {what}" for n, what in rest if n)
        return np.concatenate([kept[:n_kept], dropped[:n_dropped]]), note
