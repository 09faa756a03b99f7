"""A model as a page of plain text: equation, terms, features, stability."""

from __future__ import annotations

import textwrap
from typing import Any

from .._model import SparseModel
from .checks import one_model
from .definitions import legend
from .equation import summands
from .notation import Text
from .stability import stability
from .tables import cells, text_table
from .term_table import AVERAGE, term_table

FORMATS = {"term": "", "coef": ".4g", "standard_error": ".4g", "p_value": ".2g", "rip": ".2f", "share": ".0%"}
HEADS = {"standard_error": "std. error", "p_value": "p-value", "rip": "RIP", "share": "restarts"}
WIDTH = 100
NOTE = "(p-values take the terms as given; the search that found them makes them look smaller than they are)"


def summary(source: Any, *, label: object = None, width: int = WIDTH) -> str:
    """Equation, table of terms, features and stability of a model, as plain text.

    Parameters
    ----------
    source : SparseModel, fitted RFSCClassifier, Predictor or fitted Pipeline
        The model, or what holds it. A pipeline that shifts and scales its numbers is told in the units of the raw
        table.
    label : object, optional
        Which class, where the source has an output for each of several.
    width : int, default=100
        Longest line of words and equation; a table or a single term may be wider.

    Returns
    -------
    str
        Several lines. RIP is the final inclusion probability of a term, mean over the restarts; the column after it
        tells how many of the restarts chose the term. Both are left out where the search is not known.
    """
    model = one_model(source, label)
    used = [model.feature_names[p] for p in model.features]
    n, m = len(model.terms), len(used)
    count = f"{n} term{'' if n == 1 else 's'} of {m} feature{'' if m == 1 else 's'}"
    lines = [
        f"f > 0 speaks for class {model.label}",
        *(line for words in legend(model, ranges=False) for line in textwrap.wrap(words, width)),
        "",
        *equation_lines(model, width),
        "",
        *_table(model, width),
        "",
        *textwrap.wrap(f"{count}: " + ", ".join(used), width),
    ]
    if model.evidence is not None:
        lines += textwrap.wrap(str(stability(model)), width)
    return "\n".join(lines)


def _table(model: SparseModel, width: int) -> list[str]:
    table = term_table(model)
    shown = {name: spec for name, spec in FORMATS.items() if getattr(table, name) is not None}
    text = text_table([HEADS.get(name, name) for name in shown], cells(table.rows(), shown), width=10**6)
    return [*text.splitlines(), *textwrap.wrap(f"({AVERAGE})" if model.standard_error is None else NOTE, width)]


def equation_lines(model: SparseModel, width: int, units: str = "scaled") -> list[str]:
    """The equation, broken before a sign and never inside a term."""
    lines = ["f ="]
    for i, (negative, part) in enumerate(summands(model, Text(), units=units)):
        word = f"- {part}" if negative else f"+ {part}" if i else part
        if i and len(lines[-1]) + len(word) + 1 > width:
            lines.append(f"    {word}")
        else:
            lines[-1] += f" {word}"
    return lines if model.coef.any() else ["f = 0"]
