"""A search, iteration by iteration: the inclusion probabilities of the terms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from .._model import Evidence, SparseModel
from .._model.access import model_of
from .._utils.arrays import BoolArray, FloatArray
from .drawing import COLOURS, GREY, SMALL, Display, class_name, shorten_all, title_and_legend

FAINT = "0.8"
THICK = 2.4  # points: lines with a name
LINE_STYLES = ("-", "--", ":")


@dataclass(eq=False, repr=False, kw_only=True)
class RIPEvolutionDisplay(Display):
    """Inclusion probabilities (RIPs) over the iterations of one restart, the terms of the model thick and named.

    Parameters
    ----------
    rips : ndarray of shape (n_iter, n_terms)
        Inclusion probabilities after each iteration.
    names : tuple of str
        Names of the terms.
    in_model : ndarray of shape (n_terms,), dtype=bool
        Which of them the model holds.
    chosen : ndarray of shape (n_terms,), dtype=bool
        Which of them this restart selected.
    title : str
        Title.
    max_names : int, default=16
        Largest number of terms to name.
    longest : int, default=32
        Largest number of characters of a name.
    """

    rips: FloatArray
    names: tuple[str, ...]
    in_model: BoolArray
    chosen: BoolArray
    title: str
    max_names: int = 16
    longest: int = 32
    _size: ClassVar[tuple[float, float]] = (8.5, 4.6)

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, output: int = 0, restart: int | None = None, ax: Any = None, max_names: int = 16
    ) -> Self:
        """Draw one restart of the search behind a model.

        Parameters
        ----------
        estimator : RFSCClassifier, Pipeline, Predictor or SparseModel
            A fitted classifier, a fitted pipeline that ends in one, or a model read from a file.
        output : int, default=0
            Index of the model, for classifiers with several.
        restart : int or None, default=None
            Index of the restart; None for the one whose own model is most similar to the final one.
        ax : Axes, Figure or None, default=None
            Where to draw; a figure is resized to fit, None makes a new one.
        max_names : int, default=16
            Largest number of terms to name.

        Returns
        -------
        RIPEvolutionDisplay
            The display, drawn.
        """
        model, evidence = _search_of(estimator, output)
        restart = _restart_to_show(evidence, len(model.terms), restart)
        traced = np.array(evidence.traced, dtype=np.int64)
        return cls(
            rips=evidence.traces[restart].rips,
            names=tuple(evidence.term_names[j] for j in traced),
            in_model=traced < len(model.terms),
            chosen=evidence.selected[restart, traced],
            title=f"{_search_title(model.label, restart, evidence)}, {evidence.n_candidates:,} candidate terms",
            max_names=max_names,
        ).plot(ax)

    def _draw(self, *axes: Any) -> None:
        (ax,) = axes
        iterations = np.arange(1, len(self.rips) + 1)
        only_here = self.chosen & ~self.in_model
        handles: list[Any] = []
        for which, look, label in (
            (~self.in_model & ~only_here, {"color": FAINT, "lw": 0.7, "zorder": 1}, "not in the model"),
            (only_here, {"color": GREY, "lw": 1.0, "zorder": 2}, "selected by this restart only"),
        ):
            lines = ax.plot(iterations, self.rips[:, which], **look)
            if lines:
                lines[0].set_label(label)
                handles.insert(0, lines[0])
        looks: dict[int, dict[str, str]] = {}
        for k, j in enumerate(np.flatnonzero(self.in_model)):
            looks[int(j)] = {"color": COLOURS[k % len(COLOURS)], "ls": LINE_STYLES[k // len(COLOURS) % 3]}
            ax.plot(iterations, self.rips[:, j], lw=THICK if k < self.max_names else 1.2, zorder=3, **looks[int(j)])
        self._name_lines(ax, looks)
        ax.set(xlabel="iteration", ylabel="inclusion probability (RIP)", ylim=(-0.03, 1.03))
        _iteration_axis(ax, len(iterations))
        if handles:
            handles = [*ax.plot([], [], color="k", lw=THICK, label="in the model"), *handles]
        title_and_legend(ax, self.title, handles)

    def _name_lines(self, ax: Any, looks: dict[int, dict[str, str]]) -> None:
        """Names of the model's terms beside the ends of their lines, moved apart."""
        shown = list(looks)[: self.max_names]
        ends = self.rips[-1, shown] if shown else np.empty(0)
        height = 72 * ax.get_window_extent().height / ax.figure.dpi  # in points
        n_more = len(looks) - len(shown)
        places = spread_apart((ends + 0.03) / 1.06, 1.35 * SMALL / height, 0.06 if n_more else 0.0, 1.0)
        beside = {"transform": ax.get_yaxis_transform()}
        names = shorten_all([self.names[j] for j in shown], self.longest)
        for j, end, up, name in zip(shown, ends, 1.06 * places - 0.03, names, strict=True):
            ax.plot([1, 1.02], [end, up], color=looks[j]["color"], lw=0.8, clip_on=False, **beside)
            ax.plot([1.02, 1.08], [up, up], lw=THICK, clip_on=False, **looks[j], **beside)
            ax.text(1.09, up, name, va="center", fontsize=SMALL, **beside)
        if n_more:
            look = {"va": "center", "fontsize": SMALL, "color": GREY, "style": "italic"}
            ax.text(1.09, -0.03, f"+{n_more} more", **look, **beside)


def _search_of(source: Any, output: int) -> tuple[SparseModel, Evidence]:
    """A model and the record of its search, with every iteration."""
    model = model_of(source, output)
    if model.evidence is None:
        msg = "this model has no record of its search. Pass a fitted RFSCClassifier, or a file saved from one."
        raise ValueError(msg)
    if not model.evidence.traces:
        msg = "the iterations of the search were not saved with this model. Pass the fitted RFSCClassifier itself."
        raise ValueError(msg)
    return model, model.evidence


def _restart_to_show(evidence: Evidence, n_model_terms: int, restart: int | None) -> int:
    """The restart that was asked for, else the one whose own model is most similar to the final one."""
    n = len(evidence.traces)
    if restart is None:
        final = np.arange(evidence.selected.shape[1]) < n_model_terms
        common = (evidence.selected & final).sum(axis=1) / np.maximum((evidence.selected | final).sum(axis=1), 1)
        return max(range(n), key=lambda r: (common[r], evidence.traces[r].best_score.max()))
    if not 0 <= restart < n:
        msg = f"restart must be between 0 and {n - 1}, the last restart of this search, got {restart}."
        raise ValueError(msg)
    return restart


def _iteration_axis(ax: Any, n_iter: int) -> None:
    ax.set_xlim((1, n_iter) if n_iter > 1 else (0.5, 1.5))
    ax.xaxis.get_major_locator().set_params(integer=True)


def _search_title(label: object, restart: int, evidence: Evidence) -> str:
    which = f"restart {restart + 1} of {evidence.n_restarts}" if evidence.n_restarts > 1 else "a single restart"
    return f"Search for class {class_name(label)}: {which}"


def spread_apart(wanted: FloatArray, gap: float, low: float, high: float) -> FloatArray:
    """Places near the wanted ones, in their order, at least `gap` apart if they fit, all within [low, high]."""
    if wanted.size < 2:
        return np.clip(wanted, low, high)
    gap = min(gap, (high - low) / (wanted.size - 1))
    order = np.lexsort((-np.arange(wanted.size), wanted))  # of those at the same place, the first is on top
    steps = gap * np.arange(wanted.size)
    # without the gaps the places need only be in order, which a running maximum and the two ends make them
    place = np.minimum(np.maximum.accumulate(np.clip(wanted[order] - steps, low, None)), high - steps[-1])
    out = np.empty_like(wanted)
    out[order] = place + steps
    return out
