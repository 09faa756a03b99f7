"""What was selected: terms by the restarts of the search, features by the filter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from .._model import FilterEvidence
from .._utils.arrays import BoolArray, FloatArray, IntArray
from .drawing import AGAINST, FOR, GREY, Display, TermRowsDisplay, class_name, named_rows, search_of, title_and_legend


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


@dataclass(eq=False, repr=False, kw_only=True)
class FilterDisplay(Display):
    """Statistics of the distance correlation test and their threshold, the most dependent feature on top.

    Parameters
    ----------
    statistic : ndarray of shape (n_features,)
        The statistics in descending order.
    names : tuple of str
        Names of the features.
    threshold : float
        What a statistic must exceed for the feature to be kept.
    significance : float
        Level of the test.
    kept : ndarray of shape (n_features,), dtype=bool
        Features that were kept: those above the threshold, and those that restrictions name.
    about : str, default="the class"
        What the features are tested against.
    max_features : int, default=30
        Largest number of features to draw: the first that were kept and, in up to a third of the rows, the first that
        were dropped.
    """

    statistic: FloatArray
    names: tuple[str, ...]
    threshold: float
    significance: float
    kept: BoolArray
    about: str = "the class"
    max_features: int = 30

    @classmethod
    def from_estimator(cls, estimator: Any, *, output: int = 0, ax: Any = None, max_features: int = 30) -> Self:
        """Draw the test of the features.

        Parameters
        ----------
        estimator : RFSCClassifier, Pipeline, Predictor, SparseModel or DistanceCorrelationFilter
            A classifier or pipeline fitted with `filter_significance`, a model of one, or a fitted filter.
        output : int, default=0
            Index of the model, for classifiers with several.
        ax : Axes, Figure or None, default=None
            Where to draw; a figure is resized to fit, None makes a new one.
        max_features : int, default=30
            Largest number of features to draw.

        Returns
        -------
        FilterDisplay
            The display, drawn.
        """
        test: FilterEvidence | None
        if hasattr(estimator, "statistics_"):
            names = getattr(estimator, "feature_names_in_", [f"x{j}" for j in range(estimator.n_features_in_)])
            test = FilterEvidence(estimator.statistics_, estimator.threshold_, estimator.significance)
            about = "the class"
        else:
            model, evidence = search_of(estimator, output)
            names, about, test = model.feature_names, f"class {class_name(model.label)}", evidence.filter
        if test is None:
            msg = (
                "this model was fitted without a filter. Fit with SearchSettings(filter_significance=0.05) to use one."
            )
            raise ValueError(msg)
        order = np.argsort(-test.statistic, kind="stable")
        return cls(
            statistic=test.statistic[order],
            names=tuple(str(names[j]) for j in order),
            threshold=float(test.threshold),
            significance=float(test.significance),
            kept=test.kept[order],
            about=about,
            max_features=max_features,
        ).plot(ax)

    def _axes(self, ax: Any) -> Any:
        shown, note = self._shown()
        return [named_rows(ax, [self.names[j] for j in shown], note)]

    def _draw(self, *axes: Any) -> None:
        (ax,) = axes
        shown, _ = self._shown()
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
        # linear up to the threshold, so that zero can be shown; then logarithmic, because strong features are far away
        ax.set_xscale("symlog", linthresh=self.threshold, linscale=1)
        ax.set_xlim(0, 1.3 * max(float(self.statistic.max(initial=0.0)), 2 * self.threshold))
        ax.xaxis.set_major_formatter("{x:g}")
        ax.set_xlabel(f"statistic; threshold {self.threshold:.3g} for level {self.significance:g}")
        title_and_legend(ax, f"Dependence on {self.about}")

    def _shown(self) -> tuple[IntArray, str]:
        """Which features to draw, and a note about the others."""
        kept, dropped = np.flatnonzero(self.kept), np.flatnonzero(~self.kept)
        if len(self.statistic) <= self.max_features:
            return np.arange(len(self.statistic)), ""
        n_dropped = min(len(dropped), max(self.max_features // 3, self.max_features - len(kept)))
        n_kept = min(len(kept), self.max_features - n_dropped)
        rest = ((len(kept) - n_kept, "kept"), (len(dropped) - n_dropped, "dropped"))
        note = "+" + ", ".join(f"{n} more {what}" for n, what in rest if n)
        return np.concatenate([kept[:n_kept], dropped[:n_dropped]]), note
