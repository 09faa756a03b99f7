"""What all displays share: colours, names that fit, axes, and a picture as text."""

from __future__ import annotations

import io
import re
import sys
import warnings
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import numpy as np

from .._utils.optional import require

# Okabe and Ito's colours, which colour-blind readers can tell apart; their yellow is too pale for lines on white
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
STYLES = ("-", "--", ":")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")  # one more than colours: both together repeat late
FOR, AGAINST = COLOURS[:2]
FAINT = "0.8"
GREY = "0.45"
SMALL, TITLE = 9, 11  # points: legends and notes; titles
LONGEST = 36  # characters of a name
MOST_FACTORS = 3  # of a product that are cut one by one
KEPT = 4  # characters before the first in which names differ
LETTERS = 15  # of the small font that take an inch


def class_colour(place: int) -> str:
    """The colour of a class: one of ours, and from the eighth class on paler ones."""
    colour, paler = COLOURS[place % len(COLOURS)], 1.0 - 0.55 ** (place // len(COLOURS))
    parts = [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(part + (255 - part) * paler):02X}" for part in parts)


class Display:
    """A picture and the numbers that it shows.

    Attributes
    ----------
    ax_ : Axes, or array of Axes where there are several panels
        Where it was drawn.
    figure_ : Figure
        Their figure.
    """

    ax_: Any
    figure_: Any

    def _show_in(self, axes: Any) -> None:
        """Publish the axes, a single one as itself."""
        self.ax_ = axes if len(axes) > 1 else axes[0]
        self.figure_ = axes[0].figure.figure  # the whole one, where the axes are in a subfigure

    def _repr_svg_(self) -> str | None:
        # notebooks show pyplot's figures by themselves
        figure = getattr(self, "figure_", None)
        return None if figure is None or figure.canvas.manager is not None else to_svg(figure)


def shorten(name: object, longest: int = LONGEST) -> str:
    """A name for a picture: at most so many characters, cut in the middle, dollar signs not taken for mathematics."""
    text = _printable(name)
    factors = text.split("*")
    if len(text) > longest and len(factors) <= MOST_FACTORS:
        room = longest - (len(factors) - 1)
        for left, place in enumerate(sorted(range(len(factors)), key=lambda f: len(factors[f]))):
            factors[place] = _cut(factors[place], room // (len(factors) - left))  # what short ones leave, others get
            room -= len(factors[place])
        text = "*".join(factors)
    return _cut(text, longest).replace("$", r"\$")


def shorten_all(names: Iterable[object], longest: int = LONGEST) -> list[str]:
    """The same for several names that stand side by side: names that differ stay different."""
    texts = [_printable(name) for name in names]
    short = [shorten(text, longest) for text in texts]
    if len(set(short)) == len(set(texts)):
        return short
    without = _without_common_start(texts, longest // 2)
    short = [shorten(text, longest) for text in without]
    if len(set(short)) == len(set(texts)):
        return short
    number = {text: place for place, text in enumerate(dict.fromkeys(texts), start=1)}
    return [f"{shorten(text, longest - 5)} ({number[text]})" for text in texts]


def _without_common_start(texts: Sequence[str], longest: int) -> list[str]:
    """The same names, the part that all their long factors begin with left out but for a few letters."""
    long = {factor for text in texts for factor in text.split("*") if len(factor) > longest}
    differ = next((place for place, letters in enumerate(zip(*long, strict=False)) if len(set(letters)) > 1), 0)
    first = max(0, differ - KEPT)
    if not first:
        return list(texts)
    return ["*".join("…" + f[first:] if f in long else f for f in text.split("*")) for text in texts]


def _printable(name: object) -> str:
    return "".join(c if c.isprintable() else " " for c in str(name))


def _cut(text: str, longest: int) -> str:
    tail = (longest - 1) // 2
    return text if len(text) <= longest else text[: longest - 1 - tail] + "…" + text[len(text) - tail :]


def class_name(label: object) -> str:
    """A class within a title."""
    return shorten(label, 20)


def legend_name(name: object) -> str:
    """A short name that matplotlib does not leave out of a legend for its underscore."""
    text = shorten(name, 26)
    return " " + text if text.startswith("_") else text


def minus(number: str) -> str:
    """With the sign that matplotlib writes at its axes."""
    return number.replace("-", "\N{MINUS SIGN}")


def make_axes(ax: Any, size: tuple[float, float], ratios: Sequence[float] = (1,)) -> Any:
    """The axes that were given, or new ones in the figure that was given or made, one panel below the other."""
    require("Drawing", ["matplotlib"], "plot")
    figure = _new_figure() if ax is None else ax
    if hasattr(figure, "subplots"):
        if hasattr(figure, "set_size_inches"):
            figure.set_size_inches(size)
        return figure.subplots(len(ratios), 1, height_ratios=ratios, squeeze=False)[:, 0]
    axes = np.asarray(ax, dtype=object).ravel()
    if axes.size != len(ratios) or not all(hasattr(one, "plot") for one in axes):
        what = "one Axes" if len(ratios) == 1 else f"a sequence of {len(ratios)} Axes"
        msg = f"ax must be {what}, a Figure or None, got {axes.size} object(s) of type {type(axes.flat[0]).__name__}."
        raise ValueError(msg)
    return axes


def _new_figure() -> Any:
    """A figure that pyplot shows where pyplot is in use; else a plain one, which asks for no screen."""
    if "matplotlib.pyplot" in sys.modules:
        from matplotlib import pyplot as plt

        return plt.figure(layout="constrained")
    from matplotlib.figure import Figure

    return Figure(layout="constrained")


def tidy(ax: Any) -> None:
    """Take away the frame that says nothing."""
    ax.spines[["top", "right"]].set_visible(False)


def iteration_axis(ax: Any, n_iter: int) -> None:
    """Iterations from the first to the last, whole numbers."""
    ax.set_xlim((1, n_iter) if n_iter > 1 else (0.5, 1.5))
    ax.xaxis.get_major_locator().set_params(integer=True)


def set_title(ax: Any, title: str) -> None:
    """A title that starts with the picture and is not larger than it has to be."""
    ax.set_title(title, loc="left", fontsize=TITLE)


def legend_above(ax: Any, handles: Sequence[Any] | None = None) -> None:
    """The legend between the title and the axes, where no data can be, in as few lines as it fits into."""
    handles = ax.get_legend_handles_labels()[0] if handles is None else handles
    if not handles:
        return
    width = ax.get_window_extent().width / ax.figure.dpi
    entries = [7 + len(handle.get_label()) for handle in handles]  # with the mark and the space around it
    fits = sum(entries) <= width * LETTERS
    n_columns = len(handles) if fits else max(1, int(width * LETTERS / max(entries)))
    n_lines = -(-len(handles) // n_columns)
    options = {"frameon": False, "fontsize": SMALL, "borderaxespad": 0.2, "borderpad": 0.0, "columnspacing": 1.4}
    ax.legend(handles=handles, loc="lower left", bbox_to_anchor=(0, 1), ncols=n_columns, **options)
    ax.set_title(ax.get_title(loc="left"), loc="left", fontsize=TITLE, pad=8 + 14 * n_lines)


def rows_height(n_rows: int) -> float:
    """Inches that so many named rows need, with title and axis."""
    return 1.3 + 0.27 * max(n_rows, 2)


def name_rows(ax: Any, names: Sequence[object], note: str = "") -> None:
    """Names down the left side, the first on top, and below them a note about what is not shown."""
    labels = [*shorten_all(names), *([note] if note else [])]
    ax.set_yticks(range(len(labels)), labels)
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(max(len(labels), 2) - 0.4, -0.6)
    if note:
        ax.get_yticklabels()[-1].set(color=GREY, style="italic", fontsize=SMALL)
    ax.grid(axis="y", color="0.92", lw=0.8)
    ax.set_axisbelow(True)
    tidy(ax)


def spread(wanted: Any, gap: float, low: float, high: float) -> Any:
    """Places near the wanted ones, in their order, no two nearer than `gap` and all within [low, high]."""
    wanted = np.asarray(wanted, dtype=np.float64)
    if wanted.size < 2:
        return np.clip(wanted, low, high)
    gap = min(gap, (high - low) / (wanted.size - 1))
    order = np.lexsort((-np.arange(wanted.size), wanted))  # of those that want the same place, the first is on top
    steps = gap * np.arange(wanted.size)
    # without the gaps the places need only be in order, which a running maximum and the two ends make them
    place = np.minimum(np.maximum.accumulate(np.clip(wanted[order] - steps, low, None)), high - steps[-1])
    out = np.empty_like(wanted)
    out[order] = place + steps
    return out


def to_svg(figure: Any, label: str = "") -> str:
    """A figure as an element for a page: no address, no date, the same figure gives the same text.

    Parameters
    ----------
    figure : Figure
        For instance `display.figure_`.
    label : str, default=""
        What the picture shows, for readers who cannot see it. Pictures of one page need different labels: they keep
        the parts that pictures refer to apart.

    Returns
    -------
    str
        ``<svg ...>...</svg>``; its letters are text, which can be searched and copied.
    """
    require("Drawing", ["matplotlib"], "plot")
    from matplotlib import rc_context

    file = io.StringIO()
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": f"rfsc {label}"}), warnings.catch_warnings():
        # letters that our font lacks are drawn by the reader's own fonts
        warnings.filterwarnings("ignore", "Glyph .* missing", UserWarning)
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    text = file.getvalue()
    text = text[text.index("<svg") :].rstrip()
    text = re.sub(r"\s*<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    # a page knows these names already; without them it holds nothing that looks like an address
    text = re.sub(r'\s+xmlns(:xlink)?="[^"]*"', "", text).replace("xlink:href", "href")
    text = re.sub(r'<g id="[^"]*"', "<g", text)  # numbered anew in every figure, used by none
    head, _, body = text.partition(">")
    named = f' role="img" aria-label="{escape(label)}"' if label else ' role="img"'
    return f"{head}{named}>{body}"
