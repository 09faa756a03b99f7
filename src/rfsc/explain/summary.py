"""A model as a page of plain text: equation, terms, features, stability."""

from __future__ import annotations

import textwrap
from typing import Any

from .._model import SparseModel
from .._model.access import one_model
from .equation import equation_lines, legend
from .stability import stability
from .term_table import AVERAGE, term_table

COLUMNS = ("term", "coef", "standard_error", "p_value", "rip", "share")
WIDTH = 100
NOTE = "(p-values take the terms as given; the search that found them makes them look smaller than they are)"


def summary(source: Any, *, label: object = None, width: int = WIDTH) -> str:
    """Equation, table of terms, features and stability of a model, as plain text.

    Parameters
    ----------
    source : SparseModel, fitted RFSCClassifier, Predictor or fitted Pipeline
        The model, or what holds it. A pipeline that shifts and scales its numbers is explained in the units of the raw
        table.
    label : object, optional
        Which class, if the source has an output for each of several.
    width : int, default=100
        Longest line of words and equation; a table or a single term may be wider.

    Returns
    -------
    str
        Several lines. RIP is the final inclusion probability of a term, mean over the restarts; the column after it
        says how many of the restarts chose the term. Both are absent if the search is not known.
    """
    model = one_model(source, label)
    used = [model.feature_names[p] for p in model.features]
    n, m = len(model.terms), len(used)
    count = f"{n} term{'' if n == 1 else 's'} of {m} feature{'' if m == 1 else 's'}"
    lines = [
        f"f > 0 predicts class {model.label}",
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
    shown = [name for name in COLUMNS if name in table.columns]
    text = table.aligned(shown, width=10**6, heads={"p_value": "p-value"})
    return [*text.splitlines(), *textwrap.wrap(f"({AVERAGE})" if model.standard_error is None else NOTE, width)]
