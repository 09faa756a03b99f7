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

from .._optional import require

# Okabe and Ito's colours, which colour-blind readers can tell apart; their yellow is too pale for lines on white
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
STYLES = ("-", "--", ":")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")  # one more than colours: both together repeat late
FOR, AGAINST = COLOURS[:2]
FAINT = "0.8"
GREY = "0.45"
SMALL = 9  # points: legends and notes
LONGEST = 38  # characters of a name


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
        self.figure_ = axes[0].get_figure(root=True)

    def _repr_svg_(self) -> str | None:
        # notebooks show pyplot's figures by themselves
        figure = getattr(self, "figure_", None)
        return None if figure is None or figure.canvas.manager is not None else to_svg(figure)


def shorten(name: object, longest: int = LONGEST, tail: int | None = None) -> str:
    """A name for a picture: at most so many characters, cut in the middle, dollar signs not taken for mathematics.

    Parameters
    ----------
    name : object
        What to call something.
    longest : int, default=38
        Most characters shown.
    tail : int or None, default=None
        How many of them come from the end; None for half.

    Returns
    -------
    str
        The text to hand to matplotlib.
    """
    text = "".join(c if c.isprintable() else " " for c in str(name))
    if len(text) > longest:
        tail = (longest - 1) // 2 if tail is None else tail
        text = text[: longest - 1 - tail] + "…" + text[len(text) - tail :]
    return text.replace("$", r"\$")


def shorten_all(names: Iterable[object], longest: int = LONGEST) -> list[str]:
    """The same for several names that stand side by side: names that differ stay different.

    Parameters
    ----------
    names : iterable
        What to call them.
    longest : int, default=38
        Most characters shown of each.

    Returns
    -------
    list of str
        Cut in the middle, or where that leaves them different; numbered where no cut does.
    """
    names = [str(name) for name in names]
    for tail in (None, longest * 3 // 4, longest // 4):
        short = [shorten(name, longest, tail) for name in names]
        if len(set(short)) == len(set(names)):
            return short
    number = {name: place for place, name in enumerate(dict.fromkeys(names), start=1)}
    return [f"{shorten(name, longest - 5)} ({number[name]})" for name in names]


def legend_name(name: object) -> str:
    """A short name that matplotlib does not leave out of a legend for its underscore."""
    text = shorten(name, 28)
    return " " + text if text.startswith("_") else text


def make_axes(ax: Any, size: tuple[float, float], ratios: Sequence[float] = (1,)) -> Any:
    """The axes that were given, or those of a new figure, one panel below the other.

    Parameters
    ----------
    ax : Axes, sequence of Axes or None
        As the user has passed it.
    size : (float, float)
        Width and height of a new figure in inches.
    ratios : sequence of float, default=(1,)
        Heights of the panels.

    Returns
    -------
    ndarray of Axes
        One for each panel.
    """
    require("Drawing", ["matplotlib"], "plot")
    if ax is None:
        return _new_figure(size).subplots(len(ratios), 1, height_ratios=ratios, squeeze=False)[:, 0]
    axes = np.asarray(ax, dtype=object).ravel()
    if axes.size != len(ratios) or not all(hasattr(one, "plot") for one in axes):
        what = "one Axes" if len(ratios) == 1 else f"a sequence of {len(ratios)} Axes"
        msg = f"ax must be {what} or None, got {axes.size} object(s) of type {type(axes.flat[0]).__name__}."
        raise ValueError(msg)
    return axes


def _new_figure(size: tuple[float, float]) -> Any:
    """A figure that pyplot shows where pyplot is in use; else a plain one, so that no screen or backend is asked for."""
    if "matplotlib.pyplot" in sys.modules:
        from matplotlib import pyplot as plt

        return plt.figure(figsize=size, layout="constrained")
    from matplotlib.figure import Figure

    return Figure(figsize=size, layout="constrained")


def tidy(ax: Any) -> None:
    """Take away the frame that says nothing."""
    ax.spines[["top", "right"]].set_visible(False)


def set_title(ax: Any, title: str) -> None:
    """A title that starts with the picture and is not larger than it has to be."""
    ax.set_title(title, loc="left", fontsize=11)


def legend_above(ax: Any, handles: Sequence[Any] | None = None) -> None:
    """One line of legend between the title and the axes, where no data can be."""
    handles = ax.get_legend_handles_labels()[0] if handles is None else handles
    options = {"frameon": False, "fontsize": SMALL, "borderaxespad": 0.2, "borderpad": 0.0, "columnspacing": 1.4}
    ax.legend(handles=handles, loc="lower left", bbox_to_anchor=(0, 1), ncols=len(handles), **options)
    ax.set_title(ax.get_title(loc="left"), loc="left", fontsize=11, pad=22)


def rows_height(n_rows: int) -> float:
    """Inches that so many named rows need, with title and axis."""
    return 1.3 + 0.27 * max(n_rows, 2)


def name_rows(ax: Any, names: Sequence[object], note: str = "") -> None:
    """Names down the left side, the first on top, and below them a note about what is not shown.

    Parameters
    ----------
    ax : Axes
        Rows are at heights 0, 1, 2, ...
    names : sequence
        One for each row.
    note : str, default=""
        Takes a row of its own where it is not empty.
    """
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
    """Places near the wanted ones, in their order, no two nearer than `gap` and all within [low, high].

    Parameters
    ----------
    wanted : ndarray of shape (n,)
        Where labels would like to be.
    gap : float
        Room that each needs; less is used where they would not fit.
    low, high : float
        Where they may be.

    Returns
    -------
    ndarray of shape (n,)
        Where they are.
    """
    wanted = np.asarray(wanted, dtype=np.float64)
    if wanted.size < 2:
        return np.clip(wanted, low, high)
    gap = min(gap, (high - low) / (wanted.size - 1))
    order = np.argsort(wanted, kind="stable")
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
