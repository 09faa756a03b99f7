"""How a search decides: the inclusion probabilities of the terms, iteration by iteration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from .._typing import BoolArray, FloatArray
from .drawing import (
    COLOURS,
    FAINT,
    GREY,
    SMALL,
    STYLES,
    Display,
    legend_above,
    make_axes,
    set_title,
    shorten,
    shorten_all,
    spread,
    tidy,
)
from .sources import best_restart, model_of, traced_evidence


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
        Which of them this restart chose.
    title : str
        What is shown.
    """

    rips: FloatArray
    names: tuple[str, ...]
    in_model: BoolArray
    chosen: BoolArray
    title: str

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, output: int = 0, restart: int | None = None, ax: Any = None, max_names: int = 16
    ) -> Self:
        """Draw the search behind a model.

        Parameters
        ----------
        estimator : object
            A fitted RFSCClassifier or pipeline, a loaded predictor, or a SparseModel.
        output : int, default=0
            Which of its models.
        restart : int or None, default=None
            Which restart; None for the one that saw the best score.
        ax : Axes or None, default=None
            Where to draw; None makes a figure.
        max_names : int, default=16
            Most terms that are named.

        Returns
        -------
        RIPEvolutionDisplay
            Drawn.
        """
        model = model_of(estimator, output)
        evidence = traced_evidence(model)
        restart = best_restart(evidence, restart)
        traced = np.array(evidence.traced, dtype=np.int64)
        where = f"restart {restart + 1} of {evidence.n_restarts}"
        display = cls(
            rips=evidence.traces[restart].rips,
            names=tuple(evidence.term_names[j] for j in traced),
            in_model=traced < len(model.terms),
            chosen=evidence.selected[restart, traced],
            title=f"The search for class {shorten(model.label, 20)}: {where}, {evidence.n_candidates:,} candidate terms",
        )
        return display.plot(ax, max_names=max_names)

    def plot(self, ax: Any = None, *, max_names: int = 16) -> Self:
        """Draw.

        Parameters
        ----------
        ax : Axes or None, default=None
            Where to draw; None makes a figure.
        max_names : int, default=16
            Most terms that are named.

        Returns
        -------
        RIPEvolutionDisplay
            Itself, with `ax_` and `figure_` set.
        """
        axes = make_axes(ax, (8.5, 4.6))
        ax = axes[0]
        iterations = np.arange(1, len(self.rips) + 1)
        only_here = self.chosen & ~self.in_model
        kinds = (
            (~self.in_model & ~only_here, {"color": FAINT, "lw": 0.7, "zorder": 1}, "given up"),
            (only_here, {"color": GREY, "lw": 1.0, "zorder": 2}, "chosen by this restart only"),
        )
        handles = []
        for which, look, label in kinds:
            lines = ax.plot(iterations, self.rips[:, which], **look)
            if lines:
                lines[0].set_label(label)
                handles.insert(0, lines[0])
        model_terms = np.flatnonzero(self.in_model)
        looks = {j: (COLOURS[k % 7], STYLES[k // 7 % 3]) for k, j in enumerate(model_terms)}
        for j, (colour, style) in looks.items():
            ax.plot(iterations, self.rips[:, j], color=colour, ls=style, lw=2.4, zorder=3)
        self._name_lines(ax, looks, max_names)
        ax.set(xlabel="iteration", ylabel="inclusion probability (RIP)", ylim=(-0.03, 1.03))
        ax.set_xlim(1 if len(iterations) > 1 else 0.5, len(iterations) + (len(iterations) == 1))
        tidy(ax)
        set_title(ax, self.title)
        if handles:
            thick = ax.plot([], [], color="k", lw=2.4, label="in the model")
            legend_above(ax, [*thick, *handles])
        self._show_in(axes)
        return self

    def _name_lines(self, ax: Any, looks: dict[int, tuple[str, str]], max_names: int) -> None:
        """Names of the model's terms beside the ends of their lines, moved apart."""
        shown = list(looks)[:max_names]
        ends = self.rips[-1, shown] if shown else np.empty(0)
        room = 72 * ax.get_figure(root=True).get_figheight() * ax.get_position().height  # in points
        note = len(looks) - len(shown)
        places = spread((ends + 0.03) / 1.06, 1.35 * SMALL / room, 0.06 if note else 0.0, 1.0)
        beside = ax.get_yaxis_transform()
        for j, end, place, name in zip(
            shown, ends, places, shorten_all([self.names[j] for j in shown], 30), strict=True
        ):
            colour, style = looks[j]
            height = 1.06 * place - 0.03
            ax.plot([1, 1.02], [end, height], color=colour, lw=0.8, transform=beside, clip_on=False)
            ax.plot([1.02, 1.06], [height] * 2, color=colour, ls=style, lw=2.4, transform=beside, clip_on=False)
            ax.text(1.07, height, name, transform=beside, va="center", fontsize=SMALL)
        if note:
            ax.text(
                1.07, -0.03, f"+{note} more", transform=beside, va="center", fontsize=SMALL, color=GREY, style="italic"
            )
