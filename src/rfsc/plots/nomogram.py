"""A formula as a nomogram: one scale for each feature, read off with a ruler."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Self

import numpy as np
from scipy.special import logit

from .._model.access import as_predictor, model_of
from .._terms.naming import written
from .._utils.arrays import FloatArray
from ..card.pieces import Bound, Piece, Ranges, YesNo, pieces_of
from .drawing import FOR, GREY, SMALL, TITLE_SIZE, Display, class_name, make_axes, shorten_all

MOST, MARGIN = 100.0, 4.0  # points of the piece that changes f most, and on either side of the scales
WIDTH, LINE = 9.0, 0.42  # inches: of the figure, and between two scales
LETTER, NAME_LETTER = 0.062, 0.085  # inches: widths of a letter of a label and of a name
FLAT = 0.02  # of the range of a feature, from which a constant stretch gets a label of its own
PER_TICK = 7.0  # points of the scale
RISKS = (0.001, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999)
Tick = tuple[float, str]  # points and label


@dataclass(eq=False, repr=False, kw_only=True)
class NomogramDisplay(Display):
    """One scale of points for each feature and rule, then the total and the probability that belongs to it.

    A value of a feature is read up to the points on top; the points of all features are added; the total is read down
    to the probability. A feature whose effect rises and falls has a scale for each direction.

    Parameters
    ----------
    names : tuple of str
        Names of the features and rules, the largest effect first.
    scales : tuple of tuple of tuple of (float, str)
        For each of them one scale, or several if its effect changes direction: points and labels of its ticks; its ends
        may have empty ones.
    f_at_zero, f_per_point : float
        Log-odds of a total of zero, and by how much every point raises them.
    highest : float
        The largest total.
    label : object
        The class of the model.
    """

    names: tuple[str, ...]
    scales: tuple[tuple[tuple[Tick, ...], ...], ...]
    f_at_zero: float
    f_per_point: float
    highest: float
    label: object

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any = None, *, output: int = 0, ax: Any = None) -> Self:
        """Make and draw the nomogram of a formula whose terms read one feature each, or are rules.

        Parameters
        ----------
        estimator : fitted RFSCClassifier, Pipeline, Predictor or SparseModel
            The model, or what holds it.
        X : array-like or data frame of shape (n_samples, n_features), default=None
            Training rows; the outermost hundredth of the values of each feature gets no room on its scale.
        output : int, default=0
            Index of the model, for classifiers with several.
        ax : Axes, Figure or None, default=None
            Where to draw; a figure is resized to fit, None makes a new one.

        Returns
        -------
        NomogramDisplay
            With `ax_` and `figure_`.
        """
        label = model_of(estimator, output).label
        found = pieces_of(estimator, label, None if X is None else as_predictor(estimator).features(X))
        per_point = found.largest / MOST
        falls = sum(min(piece.weight, 0.0) for piece in found.pieces if isinstance(piece, YesNo))
        return cls(
            names=tuple(piece.name for piece in found.pieces),
            scales=tuple(_scales(piece, per_point) for piece in found.pieces),
            f_at_zero=found.lowest + falls,
            f_per_point=per_point,
            highest=sum(piece.span for piece in found.pieces) / per_point,
            label=label,
        ).plot(ax)

    def _axes(self, ax: Any) -> Any:
        n_lines = 4.6 + sum(map(len, self.scales))
        return make_axes(ax, (WIDTH, 0.9 + LINE * n_lines))

    def _draw(self, *axes: Any) -> None:
        (ax,) = axes
        names, last = shorten_all(self.names), f"Probability of {class_name(self.label)}"
        room = ax.figure.bbox.width / ax.figure.dpi - NAME_LETTER * max(map(len, [*names, last])) - 0.4
        letter = LETTER * (MOST + 2 * MARGIN) / max(room, 2.0)  # in points of the scale
        _ruler(ax, 0.0, [(t, f"{t:g}") for t in np.arange(0.0, MOST + 1, 10.0)], letter, above=True)
        y, texts = 1.2, {0.0: "Points"}
        for name, scales in zip(names, self.scales, strict=True):
            texts[y] = name
            for ticks in scales:
                _ruler(ax, y, ticks, letter)
                y += 1.0
        ax.vlines(np.arange(0.0, MOST + 1, 10.0), 0.0, y - 0.6, color="0.93", lw=0.8, zorder=0)
        texts[y + 0.2], texts[y + 1.3] = "Total points", last
        self._draw_totals(ax, y + 0.2, letter)
        ax.set_yticks(list(texts), list(texts.values()))
        ax.get_yticklabels()[0].set_color(GREY)
        ax.tick_params(axis="y", length=0, pad=8)
        ax.set_xticks([])
        ax.set(xlim=(-MARGIN, MOST + MARGIN), ylim=(y + 1.9, -0.8))
        ax.set_title(f"Nomogram for class {class_name(self.label)}", loc="left", fontsize=TITLE_SIZE)
        for side in ("left", "bottom"):
            ax.spines[side].set_visible(False)

    def _draw_totals(self, ax: Any, y: float, letter: float) -> None:
        """Totals whose probability is not nearly sure, over the whole width, and their probabilities."""
        low, high = (float((logit(p) - self.f_at_zero) / self.f_per_point) for p in (RISKS[0], RISKS[-1]))
        low, high = max(low, 0.0), min(high, self.highest)
        if not low < high:
            low, high = 0.0, self.highest
        totals = _nice(low, high, 12)
        low, high = min([low, *totals]), max([high, *totals])

        def place(total: float) -> float:
            return MOST * (total - low) / (high - low)

        _ruler(ax, y, [(place(total), written(total)) for total in totals], letter, ends=(0.0, MOST))
        at = [(place((float(logit(p)) - self.f_at_zero) / self.f_per_point), f"{100 * p:g} %") for p in RISKS]
        risks = [(x, text) for x, text in at if -0.01 <= x <= MOST + 0.01]
        _ruler(ax, y + 1.1, risks, letter, colour=FOR)


def _ruler(
    ax: Any,
    y: float,
    ticks: Sequence[Tick],
    letter: float,
    *,
    above: bool = False,
    ends: tuple[float, float] | None = None,
    colour: str = "black",
) -> None:
    """A line with ticks; labels below it, or above where they would touch."""
    places = [x for x, _ in ticks]
    low, high = ends or (min(places, default=0.0), max(places, default=0.0))
    ax.plot([low, high], [y, y], color=colour, lw=1.1, solid_capstyle="butt")
    taken: dict[float, float] = {}  # where the last label of each level ends
    for x, text in sorted(tick for tick in ticks if tick[1]):
        half = letter * len(text) / 2
        levels = (-1.0,) if above else (1.0, -1.0)
        free = [level for level in levels if x - half >= taken.get(level, -math.inf) + letter]
        side = free[0] if free else levels[0]
        ax.plot([x, x], [y, y + 0.13 * side], color=colour, lw=1.0)
        if free:
            taken[side] = x + half
            options = {"ha": "center", "va": "top" if side > 0 else "bottom", "fontsize": SMALL - 1, "color": colour}
            ax.text(x, y + 0.17 * side, text, **options)


def _scales(piece: Piece, per_point: float) -> tuple[tuple[Tick, ...], ...]:
    """The ticks of a piece, one scale for each direction."""
    if isinstance(piece, YesNo):
        ends = ("no", "yes") if piece.weight > 0 else ("yes", "no")
        return (((0.0, ends[0]), (piece.span / per_point, ends[1])),)
    points = (piece.f - piece.lowest) / per_point
    return tuple(tuple(_ticks(piece, points, run)) for run in _runs(points))


def _runs(points: FloatArray) -> Iterable[slice]:
    """Stretches in which the points do not change direction."""
    change = np.diff(points)
    moves = np.flatnonzero(np.abs(change) > 1e-9 * MOST)
    turns = moves[1:][np.diff(np.sign(change[moves])) != 0] if moves.size else moves
    starts = [0, *(int(k) for k in turns), points.size - 1]
    return [slice(a, b + 1) for a, b in pairwise(starts)]


def _ticks(piece: Ranges, points: FloatArray, run: slice) -> Iterable[Tick]:
    """Ranges that are flat, and round values between them."""
    user, own = np.asarray(piece.curve.to_user(piece.u), dtype=np.float64), points[run]
    first, last = run.start, run.stop - 1
    changes = np.flatnonzero(np.abs(np.diff(own)) > 1e-9 * MOST) + first
    edges = [first, *(k for change in changes.tolist() for k in (change, change + 1)), last]
    flat = [(a, b) for a, b in zip(edges[::2], edges[1::2], strict=True) if piece.u[b] - piece.u[a] >= FLAT]
    for a, b in flat:
        low, high = (None if k in (0, points.size - 1) else _short(piece, k) for k in (a, b))
        yield float(points[a]), _compact(Bound(piece.curve.feature, low, high).words())
    yield from ((float(points[k]), "") for k in (first, last))  # the line reaches both ends
    edges = sorted({*(k for pair in flat for k in pair), first, last})
    named = {float(user[k]) for pair in flat for k in pair}
    for a, b in pairwise(edges):
        if (a, b) in flat or b == a + 1:  # or a jump
            continue
        wanted = max(2, round(abs(points[b] - points[a]) / PER_TICK))
        for value in _nice(float(user[a]), float(user[b]), wanted):
            if not any(math.isclose(value, edge) for edge in named):
                yield float(np.interp(value, user[a : b + 1], points[a : b + 1])), written(value)


def _compact(words: str) -> str:
    """A range in few letters."""
    for long, short in (("up to ", "≤ "), ("above ", "> "), ("below ", "< "), (" to ", "\N{EN DASH}")):
        words = words.replace(long, short)
    return words


def _short(piece: Ranges, k: int) -> float:
    """A place of the curve in the user's units, as its formula writes it where it bends or jumps."""
    u, knots = float(piece.u[k]), piece.curve.knots()
    near = min(knots, key=lambda knot: abs(knot - u), default=None)
    if near is not None and abs(near - u) < FLAT / 10:
        return knots[near]
    return float(f"{float(piece.curve.to_user(u)):.3g}")


def _nice(low: float, high: float, n: int) -> list[float]:
    """About n round numbers from low to high."""
    from matplotlib.ticker import MaxNLocator

    found = MaxNLocator(n, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high)
    slack = 1e-9 * (high - low)
    return [float(f"{value:.12g}") + 0.0 for value in found if low - slack <= value <= high + slack]
