"""From the content and the pictures to one page that needs nothing but itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from .._optional import require
from ..explain.definitions import definitions
from ..explain.equation import equation
from ..model import SparseModel
from .figures import Figure
from .words import listed, number, p_value, percent, plural, points

MAX_COLUMNS = 60  # of the table's columns, as many are shown; the JSON has all
STRIP_LEFT, STRIP_WIDTH, STRIP_ROW = 170, 700, 30


def render(content: Mapping[str, Any], models: Sequence[SparseModel], figures: Sequence[Figure]) -> str:
    """Write the page.

    Parameters
    ----------
    content : mapping
        What the report says.
    models : sequence of SparseModel
        The models, for their formulas in HTML.
    figures : sequence of Figure
        The pictures.

    Returns
    -------
    str
        HTML.
    """
    require("An HTML report", ["jinja2"], "report")
    from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
    from markupsafe import Markup

    environment = Environment(
        loader=PackageLoader("rfsc.report", "."),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "number": number,
        "percent": percent,
        "points": points,
        "p_value": p_value,
        "plural": plural,
        "listed": listed,
    }
    # only what rfsc itself has escaped is marked as safe: formulas, and pictures by matplotlib
    formulas = [
        {
            "original": Markup(equation(model, units="original", form="html")),
            "scaled": Markup(equation(model, units="scaled", form="html")),
            "definitions": {Markup(k): Markup(v) for k, v in definitions(model, form="html").items()},
        }
        for model in models
    ]
    pictures = [(figure, Markup(figure.svg)) for figure in figures]
    return environment.get_template("report.html.jinja").render(
        **content,
        formulas=formulas,
        pictures=pictures,
        strip=score_strip(content["score"]),
        shown=_shown(content["data"]),
        n_terms=sum(len(model["terms"]) for model in content["models"]),
        features=sorted({name for model in content["models"] for name in model["features"]}),
    )


def in_a_frame(page: str, height: int = 700) -> str:
    """A page inside another one, such as a notebook, whose styles it neither takes nor changes.

    Parameters
    ----------
    page : str
        HTML.
    height : int, default=700
        Of the frame, in pixels.

    Returns
    -------
    str
        HTML of the frame, in which no script would run.
    """
    style = f"width: 100%; height: {height}px; border: 1px solid #ccc; border-radius: 6px"
    return f'<iframe title="rfsc report" sandbox srcdoc="{escape(page)}" style="{style}"></iframe>'


def score_strip(score: Mapping[str, Any]) -> dict[str, Any]:
    """Where the dots, whiskers and ticks of the comparison stand, in the units of its picture.

    Parameters
    ----------
    score : mapping
        The content's score.

    Returns
    -------
    dict
        Rows, ticks and size.
    """
    key = score["main_metric"]
    rows = [(m["name"], m["scores"][key]["mean"], m["scores"][key]["sd"] or 0.0) for m in score["methods"]]
    low = max(0.0, min(mean - sd for _, mean, sd in rows) - 0.02)
    high = min(1.0, max(mean + sd for _, mean, sd in rows) + 0.02)
    room = STRIP_WIDTH - STRIP_LEFT - 60

    def x(value: float) -> float:
        return round(STRIP_LEFT + room * (min(max(value, low), high) - low) / (high - low), 1)

    step = next(step for step in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5) if (high - low) / step <= 6)
    ticks = [k * step for k in range(int(1 / step) + 1) if low <= k * step <= high]
    return {
        "metric": next(m["name"] for m in score["metrics"] if m["key"] == key),
        "width": STRIP_WIDTH,
        "height": STRIP_ROW * len(rows) + 28,
        "left": STRIP_LEFT,
        "rows": [
            {"name": name, "x": x(mean), "from": x(mean - sd), "to": x(mean + sd), "y": STRIP_ROW * k + 16, "mean": mean}
            for k, (name, mean, sd) in enumerate(rows)
        ],
        "ticks": [{"x": x(tick), "text": f"{100 * tick:.0f} %"} for tick in ticks],
    }


def _shown(columns: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The columns that the model reads, then others as far as there is room."""
    return sorted(columns, key=lambda column: not column["used"])[:MAX_COLUMNS]
