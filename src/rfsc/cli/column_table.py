"""What happens to every column of a table, and which columns need a decision before a fit."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

from .._utils.words import plural
from .console import Messages

if TYPE_CHECKING:
    from .._input.training_data import TrainingTable

MOST_COLUMNS_SHOWN = 40


def refusal(reasons: dict[str, str], subjects: Sequence[str]) -> str:
    """Columns that need a decision, and how to continue."""
    width, n = max(map(len, reasons)), len(reasons)
    lines = [f"  {name:<{width}}  {reason}" for name, reason in reasons.items()]
    drops = " ".join(f"--drop {shlex.quote(name)}" for name in reasons)
    them, they = ("it", "it is") if n == 1 else ("them", "they are")
    head = f"nothing was fitted: {plural(n, 'column')} may be an identifier or the target itself."
    keep = f"or, if {they} known when a prediction is needed, pass --keep instead of --drop."
    groups = [f"Rows of one subject must stay together: --group {shlex.quote(name)}" for name in subjects[:1]]
    return "\n".join([head, *lines, *groups, f"{'Or drop' if groups else 'Drop'} {them} with {drops}", keep])


def describe_columns(table: TrainingTable) -> list[dict[str, str]]:
    """What was read, changed and doubted, for every column."""
    from sklearn.base import clone

    found: list[dict[str, str]] = clone(table.encoder).fit(table.X).columns_.rows()
    return found + dropped_columns(table.dropped)


def plain_columns(names: Sequence[str]) -> list[dict[str, str]]:
    """The same for columns of numbers without blanks."""
    from ..tables import AS_IT_IS

    return [_row(name, "number", AS_IT_IS) for name in names]


def dropped_columns(dropped: dict[str, str]) -> list[dict[str, str]]:
    return [_row(name, "", f"dropped ({reason})") for name, reason in dropped.items()]


def _row(column: str, kind: str, use: str) -> dict[str, str]:
    return {"column": column, "kind": kind, "use": use, "changed": "", "doubtful": ""}


def shown_columns(rows: list[dict[str, str]]) -> tuple[list[str], list[list[str]]]:
    """Heads and rows of the table, without columns that are empty: most tables have nothing to doubt."""
    names = [name for name in rows[0] if any(row[name] for row in rows)]
    return names, [[row[name] for name in names] for row in rows]


def show_columns(messages: Messages, rows: list[dict[str, str]]) -> None:
    """A table of the columns; of very many, only those that are changed or dropped."""
    from ..tables import AS_IT_IS

    is_long = len(rows) > MOST_COLUMNS_SHOWN
    shown = [row for row in rows if row["use"] != AS_IT_IS][:MOST_COLUMNS_SHOWN] if is_long else rows
    dim = [i for i, row in enumerate(shown) if row["use"].startswith("dropped")]
    if shown:
        messages.table(*shown_columns(shown), dim=dim)
    if is_long:
        n_plain = sum(row["use"] == AS_IT_IS for row in rows)
        more = f"... and {plural(len(rows) - len(shown), 'more column', 'more columns')}; "
        messages.info(f"{more}{plural(n_plain, 'column')} of numbers are used as they are")
