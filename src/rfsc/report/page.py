"""From the content and the pictures to one page that needs nothing but itself."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from .._model import SparseModel
from .._utils.words import fixed, listed, number, p_value, percent, plural
from ..explain.definitions import definitions
from ..explain.equation import equation
from ..explain.rounding import has_own_units
from .figures import MAX_OUTPUTS, Figure

MAX_COLUMNS = 60  # of the table's columns, as many are shown; the JSON has all
# a name is one piece, whatever signs it holds
PIECES = re.compile(r"<var>.*?</var>|<[^>]*>| [+−] |.", re.DOTALL)
UNITS = re.compile(r"(?<=\d) (?=%|points)|(?<=±) ")
TICK_STEPS, MAX_TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5), 6


def render(content: Mapping[str, Any], models: Sequence[SparseModel], figures: Sequence[Figure]) -> str:
    """Write the page."""
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
        "fixed": fixed,
        "together": together,
        "number": number,
        "percent": percent,
        "points": lambda sd: f"{fixed(None if sd is None else 100 * sd, 1)} points",
        "p_value": p_value,
        "plural": plural,
        "listed": listed,
    }
    # only what rfsc itself has escaped is marked as safe: formulas, and pictures by matplotlib
    formulas = [
        {
            "original": Markup(unbroken(equation(model, units="original", form="html")))
            if has_own_units(model)
            else None,
            "scaled": Markup(unbroken(equation(model, units="scaled", form="html"))),
            "definitions": {Markup(k): Markup(v) for k, v in definitions(model, form="html").items()},
        }
        for model in models
    ]
    pictures = [(figure, Markup(figure.svg)) for figure in figures]
    return environment.get_template("report.html.jinja").render(
        **content,
        formulas=formulas,
        pictures=pictures,
        max_outputs=MAX_OUTPUTS,
        largest_share=max(c["share"] for c in content["asked"]["classes"]),
        strip=score_strip(content["score"]),
        shown=_shown(content["data"]),
        n_terms=sum(len(model["terms"]) for model in content["models"]),
        names_read={feature["name"] for model in content["models"] for feature in model["features"]},
    )


def in_a_frame(page: str, height: int = 700) -> str:
    """A page inside another one, such as a notebook, whose styles it neither takes nor changes."""
    style = f"width: 100%; height: {height}px; border: 1px solid #ccc; border-radius: 6px"
    return f'<iframe title="rfsc report" sandbox srcdoc="{escape(page)}" style="{style}"></iframe>'


def together(sentence: str) -> str:
    """A sentence whose lines do not break between a number and its unit."""
    return UNITS.sub("\N{NO-BREAK SPACE}", sentence)


def unbroken(formula: str) -> str:
    """A formula whose lines break between its summands, never inside one."""
    start, _, rest = formula.partition(" = ")
    summands, depth = [""], 0
    for piece in PIECES.findall(rest):
        depth += (piece in "([") - (piece in ")]")
        if piece in (" + ", " − ") and depth == 0 and summands[-1]:
            summands.append("")
        summands[-1] += piece
    spans = "".join(f'<span class="summand">{summand}</span>' for summand in summands)
    return f"{start} = {spans}"


def score_strip(score: Mapping[str, Any]) -> dict[str, Any]:
    """Where the dots, whiskers and ticks of the comparison stand, in percent of its width."""
    key = score["main_metric"]
    rows = [(m["name"], m["scores"][key]["mean"], m["scores"][key]["sd"] or 0.0) for m in score["methods"]]
    low = max(0.0, min(mean - sd for _, mean, sd in rows) - 0.02)
    high = min(1.0, max(mean + sd for _, mean, sd in rows) + 0.02)

    def at(value: float) -> float:
        return float(round(100 * (min(max(value, low), high) - low) / (high - low), 2))

    step = next(step for step in TICK_STEPS if (high - low) / step <= MAX_TICKS)
    ticks = [k * step for k in range(round(1 / step) + 1) if low <= k * step <= high]
    return {
        "metric": next(m["name"] for m in score["metrics"] if m["key"] == key),
        "rows": [
            {
                "name": name,
                "at": at(mean),
                "from": at(mean - sd),
                "width": round(at(mean + sd) - at(mean - sd), 2),
                "text": f"{100 * mean:.1f} %",
            }
            for name, mean, sd in rows
        ],
        "ticks": [{"at": at(tick), "text": f"{100 * tick:.0f} %"} for tick in ticks],
    }


def _shown(columns: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The columns that the model reads, then others as far as there is room."""
    return sorted(columns, key=lambda column: not column["used"])[:MAX_COLUMNS]
