"""What a reader must be able to read in a figure: every text within it, none upon another."""

from __future__ import annotations

from itertools import combinations

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text


def texts(figure):
    """Every text that is drawn, with its box in pixels."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    out_of_sight = set()
    for ax in figure.axes:
        for axis, (low, high) in ((ax.xaxis, sorted(ax.get_xlim())), (ax.yaxis, sorted(ax.get_ylim()))):
            ticks = [*axis.get_major_ticks(), *axis.get_minor_ticks()]
            out_of_sight |= {t.label1 for t in ticks if not low - 1e-9 <= t.get_loc() <= high + 1e-9}
            out_of_sight |= {t.label2 for t in ticks}
    found = [t for t in figure.findobj(Text) if t.get_text().strip() and t.get_visible() and t not in out_of_sight]
    return [(t.get_text(), t.get_window_extent(canvas.get_renderer())) for t in found]


def check(figure):
    """Fail where a text leaves the figure or covers another."""
    boxes = texts(figure)
    assert boxes
    width, height = figure.bbox.size
    for text, box in boxes:
        assert box.x0 >= -1, text
        assert box.y0 >= -1, text
        assert box.x1 <= width + 1, text
        assert box.y1 <= height + 1, text
    for (one, a), (other, b) in combinations(boxes, 2):
        across = min(a.x1, b.x1) - max(a.x0, b.x0)
        down = min(a.y1, b.y1) - max(a.y0, b.y0)
        assert across <= 1 or down <= 1, (one, other)
