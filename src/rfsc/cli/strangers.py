"""New rows that are unlike those that a model was fitted to, in words."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from .console import counted, verb

if TYPE_CHECKING:
    from pandas import DataFrame

    from .._model.predictor import Predictor
    from ..export.program import Program

SHOWN = 5  # columns that one sentence names
MOST = 0.5  # share of levels and of rows from which a column was probably written in another way


def oddities(predictor: Predictor, X: DataFrame) -> list[str]:
    """What should make a reader of predictions doubt them."""
    from ..export.program import Program

    program = Program.of(predictor)
    read = [program.columns[c] for c in program.read]
    blank = [raw.name for raw in read if X[raw.name].isna().all()]
    strange = [c for c in program.read if program.columns[c].kind == "text" and _mostly_unknown(program, c, X)]
    found = [_outside(program, predictor.features(X))]
    if blank:
        found.append(
            f"{_named(blank)} {verb(len(blank), 'is', 'are')} blank in all rows, and the model reads "
            f"{verb(len(blank), 'it', 'them')}"
        )
    if strange:
        found.append(
            f"most levels of {_named([program.columns[c].name for c in strange])} are unknown to the model; are they "
            "spelled as in the table that it was fitted to?"
        )
    return [words for words in found if words]


def _outside(program: Program, features: Any) -> str:
    """Rows beyond the numbers that training has seen."""
    import numpy as np

    from .._model.recipe import NumberOf

    read = sorted({p for used in program.used for p in used if isinstance(program.features[p], NumberOf)})
    low, span = program.scaling.half_minimum[read] * 2, program.scaling.half_span[read] * 2
    slack = 1e-9 * np.maximum(span, np.abs(low))  # rounding of a range kept as minimum and span
    beyond = (features[:, read] < low - slack) | (features[:, read] > low + span + slack)
    n_rows = int(beyond.any(axis=1).sum())
    if not n_rows:
        return ""
    names = [
        program.columns[program.features[p].column].name
        for p, some in zip(read, beyond.any(axis=0), strict=True)
        if some
    ]
    return (
        f"{n_rows} of {counted(len(features), 'row')} {verb(n_rows, 'lies', 'lie')} outside of the training range of "
        f"{_named(names)}; there the formula is a guess"
    )


def _mostly_unknown(program: Program, column: int, X: DataFrame) -> bool:
    """Whether a text column seems to be written in other words; a few rare levels are as expected."""
    from .._model.recipe import LevelOf

    made = [f for f in program.features if isinstance(f, LevelOf) and f.column == column]
    known = {level for feature in made for level in feature.levels}
    cells = Counter(cell for cell in X[program.columns[column].name] if cell is not None)
    unknown = {level: n for level, n in cells.items() if level not in known}
    n_unnamed = len(made) == 1  # of two levels a recipe names one
    return len(unknown) - n_unnamed >= MOST * len(cells) > 0 and sum(unknown.values()) > MOST * cells.total()


def _named(names: list[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(map(repr, names[:SHOWN])) + more
