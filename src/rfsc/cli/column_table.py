"""What happens to every column of a table, and which columns need a decision before a fit."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .._utils.words import plural
from .console import Messages

if TYPE_CHECKING:
    from .._tables.column_types import Column
    from .._tables.training_data import TrainingTable

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


def describe_columns(table: TrainingTable, encoder: Any) -> list[dict[str, str]]:
    """What happens to every column."""
    from .._model.recipe_reader import read_recipe
    from .._tables.training_data import description, fitted_encoder

    fitted = fitted_encoder(encoder, table.X)
    recipe = read_recipe(fitted, [column.name for column in table.columns]).recipe
    rows = []
    for j, column in enumerate(table.columns):
        rows.append({"column": column.name, "kind": column.kind, "use": description(recipe, j) + _odd_cells(column)})
    return rows + dropped_columns(table.dropped)


def _odd_cells(column: Column) -> str:
    """How cells that are no plain numbers were read."""
    number = f"a number in {column.unit}" if column.unit else "a number"
    counts = {"with < or >": (column.n_limits, "the limit"), f"without {number}": (column.n_not_numbers, "blank")}
    said = [f"unit {column.unit}"] if column.unit else []
    for which, (n, meaning) in counts.items():
        if n:
            said.append(f"{plural(n, 'cell')} {which} {'counts' if n == 1 else 'count'} as {meaning}")
    return "".join(f"; {one}" for one in said)


def dropped_columns(dropped: dict[str, str]) -> list[dict[str, str]]:
    return [{"column": name, "kind": "", "use": f"dropped ({reason})"} for name, reason in dropped.items()]


def show_columns(messages: Messages, rows: list[dict[str, str]]) -> None:
    """A table of the columns; of very many, only those that are changed or dropped."""
    from .._tables.training_data import AS_IT_IS

    is_long = len(rows) > MOST_COLUMNS_SHOWN
    shown = [row for row in rows if row["use"] != AS_IT_IS][:MOST_COLUMNS_SHOWN] if is_long else rows
    dim = [i for i, row in enumerate(shown) if row["use"].startswith("dropped")]
    if shown:
        messages.table(["column", "kind", "use"], [list(row.values()) for row in shown], dim=dim)
    if is_long:
        n_plain = sum(row["use"] == AS_IT_IS for row in rows)
        more = f"... and {plural(len(rows) - len(shown), 'more column', 'more columns')}; "
        messages.info(f"{more}{plural(n_plain, 'column')} of numbers are used as they are")
