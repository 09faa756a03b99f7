"""How a search decides: the inclusion probabilities of the terms, iteration by iteration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from .._utils.arrays import BoolArray, FloatArray
from .drawing import (
    COLOURS,
    FAINT,
    GREY,
    SMALL,
    STYLES,
    Display,
    iteration_axis,
    legend_above,
    make_axes,
    set_title,
    shorten_all,
    spread,
    tidy,
)
from .sources import model_of, nearest_restart, search_title, traced_evidence

THICK = 2.4  # points: lines that have a name


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
            Which restart; None for the one whose own model is most like the final one.
        ax : Axes, Figure or None, default=None
            Where to draw; a figure is given the size that suits, None makes one.
        max_names : int, default=16
            Most terms that are named.

        Returns
        -------
        RIPEvolutionDisplay
            Drawn.
        """
        model = model_of(estimator, output)
        evidence = traced_evidence(model)
        restart = nearest_restart(evidence, len(model.terms), restart)
        traced = np.array(evidence.traced, dtype=np.int64)
        display = cls(
            rips=evidence.traces[restart].rips,
            names=tuple(evidence.term_names[j] for j in traced),
            in_model=traced < len(model.terms),
            chosen=evidence.selected[restart, traced],
            title=f"{search_title(model.label, restart, evidence)}, {evidence.n_candidates:,} candidate terms",
        )
        return display.plot(ax, max_names=max_names)

    def plot(self, ax: Any = None, *, max_names: int = 16, longest: int = 32) -> Self:
        """Draw.

        Parameters
        ----------
        ax : Axes, Figure or None, default=None
            Where to draw; a figure is given the size that suits, None makes one.
        max_names : int, default=16
            Most terms that are named.
        longest : int, default=32
            Most letters of a name.

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
            (~self.in_model & ~only_here, {"color": FAINT, "lw": 0.7, "zorder": 1}, "not in the model"),
            (only_here, {"color": GREY, "lw": 1.0, "zorder": 2}, "chosen by this restart only"),
        )
        handles: list[Any] = []
        for which, look, label in kinds:
            lines = ax.plot(iterations, self.rips[:, which], **look)
            if lines:
                lines[0].set_label(label)
                handles.insert(0, lines[0])
        model_terms = np.flatnonzero(self.in_model)
        looks = {int(j): _look(k) for k, j in enumerate(model_terms)}
        for place, (j, (colour, style)) in enumerate(looks.items()):
            width = THICK if place < max_names else 1.2
            ax.plot(iterations, self.rips[:, j], color=colour, ls=style, lw=width, zorder=3)
        self._name_lines(ax, looks, max_names, longest)
        ax.set(xlabel="iteration", ylabel="inclusion probability (RIP)", ylim=(-0.03, 1.03))
        iteration_axis(ax, len(iterations))
        tidy(ax)
        set_title(ax, self.title)
        if handles:
            thick = ax.plot([], [], color="k", lw=THICK, label="in the model")
            legend_above(ax, [*thick, *handles])
        self._show_in(axes)
        return self

    def _name_lines(self, ax: Any, looks: dict[int, tuple[str, str]], max_names: int, longest: int) -> None:
        """Names of the model's terms beside the ends of their lines, moved apart."""
        shown = list(looks)[:max_names]
        ends = self.rips[-1, shown] if shown else np.empty(0)
        room = 72 * ax.get_window_extent().height / ax.figure.dpi  # in points
        note = len(looks) - len(shown)
        places = spread((ends + 0.03) / 1.06, 1.35 * SMALL / room, 0.06 if note else 0.0, 1.0)
        beside = ax.get_yaxis_transform()
        for j, end, place, name in zip(
            shown, ends, places, shorten_all([self.names[j] for j in shown], longest), strict=True
        ):
            colour, style = looks[j]
            height = 1.06 * place - 0.03
            ax.plot([1, 1.02], [end, height], color=colour, lw=0.8, transform=beside, clip_on=False)
            ax.plot([1.02, 1.08], [height] * 2, color=colour, ls=style, lw=THICK, transform=beside, clip_on=False)
            ax.text(1.09, height, name, transform=beside, va="center", fontsize=SMALL)
        if note:
            ax.text(
                1.09, -0.03, f"+{note} more", transform=beside, va="center", fontsize=SMALL, color=GREY, style="italic"
            )


def _look(place: int) -> tuple[str, str]:
    """Colour and line style of the model's terms, different for the first 21."""
    return COLOURS[place % len(COLOURS)], STYLES[place // len(COLOURS) % len(STYLES)]
