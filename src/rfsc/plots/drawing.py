"""What all displays share: what a user passes, colours, names that fit, axes, legends, and figures as SVG text."""

from __future__ import annotations

import io
import re
import sys
import warnings
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any, ClassVar, Self

import numpy as np

from .._model import SparseModel
from .._model.access import as_predictor
from .._utils.arrays import IntArray
from .._utils.optional import require
from .._utils.validation import codes_of, labels_of

# Okabe and Ito's colours, which colour-blind readers can distinguish; their yellow is too pale for lines on white
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
FOR, AGAINST = COLOURS[:2]
GREY = "0.45"
SMALL, TITLE_SIZE = 9, 11  # points: fonts of notes and legends, and of titles
MAX_NAME_LENGTH = 36  # characters
MAX_FACTORS = 3  # a product of more is shortened as a whole, not factor by factor
LETTERS_PER_INCH = 15  # of the small font


class Display:
    """A figure and the numbers that it shows.

    Attributes
    ----------
    ax_ : Axes, or array of Axes if there are several panels
        Where it was drawn.
    figure_ : Figure
        Their figure.
    """

    ax_: Any
    figure_: Any
    _size: ClassVar[tuple[float, float]] = (7.5, 5.2)  # inches
    _panels: ClassVar[tuple[float, ...]] = (1,)  # relative heights

    def plot(self, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : Axes (a sequence of two if there are two panels), Figure or None, default=None
            Where to draw; a figure is resized to fit, None makes a new one.

        Returns
        -------
        Display
            Itself, with `ax_` and `figure_` set.
        """
        axes = self._axes(ax)
        self._draw(*axes)
        for one in axes:
            one.spines[["top", "right"]].set_visible(False)
        self.ax_ = axes if len(axes) > 1 else axes[0]
        self.figure_ = axes[0].figure.figure  # the whole figure, also if the axes are in a subfigure
        return self

    def _axes(self, ax: Any) -> Any:
        return make_axes(ax, self._size, self._panels)

    def _draw(self, *axes: Any) -> None:
        raise NotImplementedError

    def _repr_svg_(self) -> str | None:
        # notebooks show pyplot's figures by themselves
        figure = getattr(self, "figure_", None)
        return None if figure is None or figure.canvas.manager is not None else to_svg(figure)


class TermRowsDisplay(Display):
    """A figure with one row for each term."""

    names: tuple[str, ...]
    max_terms: int  # to draw
    _note: ClassVar[str] = "+{} more"  # about the other terms

    def _axes(self, ax: Any) -> Any:
        n_more = len(self.names) - self.max_terms
        return [named_rows(ax, self.names[: self.max_terms], self._note.format(n_more) if n_more > 0 else "")]


# ---- what a user passes


def codes_for(source: Any, y: Any, n_samples: int) -> IntArray:
    """Positions of labels among the classes of `as_predictor(source)`."""
    labels = labels_of(y, n_samples)
    if isinstance(source, SparseModel):  # all other labels are "not this class"
        return np.asarray(labels == source.label, dtype=np.int64)
    return codes_of(labels, as_predictor(source).classes_)


# ---- names


def shorten(name: object, longest: int = MAX_NAME_LENGTH) -> str:
    """A name cut in the middle to at most `longest` characters, its dollar signs not read as mathematics.

    Of factors and conditions each is cut by itself: what is left of a rule must not say its opposite.
    """
    text = _printable(name)
    parts = re.split(r"(\*| and (?:not )?|^not )", text)
    factors, between = parts[::2], parts[1::2]
    room = longest - sum(map(len, between))
    if len(text) > longest and len(factors) <= min(MAX_FACTORS, room):
        # shortest first, so that the room they do not need goes to the longer ones
        for done, place in enumerate(sorted(range(len(factors)), key=lambda f: len(factors[f]))):
            factors[place] = _cut(factors[place], room // (len(factors) - done))
            room -= len(factors[place])
        parts[::2] = factors
        text = "".join(parts)
    return _cut(text, longest).replace("$", r"\$")


def shorten_all(names: Iterable[object], longest: int = MAX_NAME_LENGTH) -> list[str]:
    """Short forms of names that are shown side by side: names that differ stay different."""
    texts = [_printable(name) for name in names]
    short = [shorten(text, longest) for text in texts]
    if len(set(short)) == len(set(texts)):
        return short
    number = {text: place for place, text in enumerate(dict.fromkeys(texts), start=1)}
    return [f"{shorten(text, longest - 5)} ({number[text]})" for text in texts]


def _printable(name: object) -> str:
    return "".join(c if c.isprintable() else " " for c in str(name))


def _cut(text: str, longest: int) -> str:
    tail = (longest - 1) // 2
    return text if len(text) <= longest else text[: longest - 1 - tail] + "…" + text[len(text) - tail :]


def class_name(label: object) -> str:
    """A class within a title."""
    return shorten(label, 20)


# ---- axes


def make_axes(ax: Any, size: tuple[float, float], ratios: Sequence[float] = (1,)) -> Any:
    """The given axes, or new ones in the given or a new figure, one panel below the other."""
    require("Drawing", ["matplotlib"], "plot")
    figure = _new_figure() if ax is None else ax
    if hasattr(figure, "subplots"):
        if hasattr(figure, "set_size_inches"):
            figure.set_size_inches(size)
        return figure.subplots(len(ratios), 1, height_ratios=ratios, squeeze=False)[:, 0]
    axes = np.asarray(ax, dtype=object).ravel()
    if axes.size != len(ratios) or not all(hasattr(one, "plot") for one in axes):
        what = "one Axes" if len(ratios) == 1 else f"a sequence of {len(ratios)} Axes"
        msg = f"ax must be {what}, a Figure or None, got {axes.size} of type {type(axes.flat[0]).__name__}."
        raise ValueError(msg)
    return axes


def make_panels(ax: Any, n: int, columns: int, size: tuple[float, float]) -> Any:
    """The given axes, or new ones in the given or a new figure, row by row; `size` is that of one panel."""
    if ax is not None and not hasattr(ax, "subplots"):
        return make_axes(ax, size, (1,) * n)
    require("Drawing", ["matplotlib"], "plot")
    figure, n_rows = _new_figure() if ax is None else ax, -(-n // columns)
    if hasattr(figure, "set_size_inches"):
        figure.set_size_inches(columns * size[0], n_rows * size[1] + 0.6)  # with room for the title
    axes = figure.subplots(n_rows, columns, squeeze=False).ravel()
    for spare in axes[n:]:
        spare.remove()
    return axes[:n]


def _new_figure() -> Any:
    """A figure that pyplot shows if pyplot is in use; else a plain one, which needs no screen."""
    if "matplotlib.pyplot" in sys.modules:
        from matplotlib import pyplot as plt

        return plt.figure(layout="constrained")
    from matplotlib.figure import Figure

    return Figure(layout="constrained")


def named_rows(ax: Any, names: Sequence[object], note: str = "", width: float = 7.5) -> Any:
    """One Axes with a named row for each bar or dot, the first on top, and below them a note about what is left out."""
    labels = [*shorten_all(names), *([note] if note else [])]
    (ax,) = make_axes(ax, (width, 1.3 + 0.27 * max(len(labels), 2)))
    ax.set_yticks(range(len(labels)), labels)
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(max(len(labels), 2) - 0.4, -0.6)
    if note:
        ax.get_yticklabels()[-1].set(color=GREY, style="italic", fontsize=SMALL)
    ax.grid(axis="y", color="0.92", lw=0.8)
    ax.set_axisbelow(True)
    return ax


def title_and_legend(ax: Any, title: str, handles: Sequence[Any] | None = None) -> None:
    """The title, and between it and the axes, where it hides no data, the legend in as few lines as possible."""
    handles = ax.get_legend_handles_labels()[0] if handles is None else handles
    n_lines = 0
    if handles:
        room = LETTERS_PER_INCH * ax.get_window_extent().width / ax.figure.dpi
        entries = [7 + len(handle.get_label()) for handle in handles]  # with the mark and the space around it
        n_columns = len(handles) if sum(entries) <= room else max(1, int(room / max(entries)))
        n_lines = -(-len(handles) // n_columns)
        place = {"loc": "lower left", "bbox_to_anchor": (0, 1), "ncols": n_columns, "borderaxespad": 0.2}
        ax.legend(handles=handles, frameon=False, fontsize=SMALL, borderpad=0.0, columnspacing=1.4, **place)
    ax.set_title(title, loc="left", fontsize=TITLE_SIZE, pad=8 + 14 * n_lines if n_lines else None)


def to_svg(figure: Any, label: str = "") -> str:
    """A figure as an SVG element for a page, without addresses and dates; the same figure gives the same text.

    Parameters
    ----------
    figure : Figure
        For instance `display.figure_`.
    label : str, default=""
        What the figure shows, for screen readers. Figures on the same page need different labels, because the
        identifiers inside the SVG are derived from them.

    Returns
    -------
    str
        ``<svg ...>...</svg>``; its letters are text, which can be searched and copied.
    """
    require("Drawing", ["matplotlib"], "plot")
    from matplotlib import rc_context

    file = io.StringIO()
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": f"rfsc {label}"}), warnings.catch_warnings():
        # letters that matplotlib's font lacks are drawn by the reader's own fonts
        warnings.filterwarnings("ignore", "Glyph .* missing", UserWarning)
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    text = file.getvalue()
    text = text[text.index("<svg") :].rstrip()
    text = re.sub(r"\s*<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    # HTML needs no declaration of these names, and without them the text holds nothing that looks like an address
    text = re.sub(r'\s+xmlns(:xlink)?="[^"]*"', "", text).replace("xlink:href", "href")
    text = re.sub(r'<g id="[^"]*"', "<g", text)  # numbered again in every figure, and used by none
    head, _, body = text.partition(">")
    named = f' role="img" aria-label="{escape(label)}"' if label else ' role="img"'
    return f"{head}{named}>{body}"
