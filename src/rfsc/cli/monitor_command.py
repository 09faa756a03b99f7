"""`rfsc monitor`: whether new rows are still like those of the fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from .arguments import Data, Json, Model, ModelTarget, Quiet
from .console import CommandError, Messages, print_result
from .new_rows import labels_for_model, read_model_and_table, rows_for_model

if TYPE_CHECKING:
    from .._model.predictor import Predictor
    from .._tables.table_files import RawTable


def monitor(
    model: Model,
    data: Data,
    target: ModelTarget = None,
    fail_above: Annotated[
        float | None,
        typer.Option(
            metavar="PSI",
            min=0.0,
            help="Exit with status 1 if a PSI is above this, and more than chance explains.",
            show_default="always 0",
        ),
    ] = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Show what has moved since the fit: the score, the columns that the model reads, blanks, levels and ranges.

    No classes are needed. If the table has the target column, calibration, AUC and log-loss are shown beside those of
    the fit. The output contains no row of the table; levels are named if they are in at least five rows.
    """
    from .. import monitor as monitoring

    messages = Messages(quiet=quiet)
    predictor, table = read_model_and_table(messages, model, data)
    if predictor.reference_ is None:
        msg = f"{model} holds no reference to compare new rows with; fit the model again with `rfsc fit`."
        raise CommandError(msg)
    found = monitoring.monitor(
        predictor, rows_for_model(messages, predictor, table), _labels(predictor, table, target, messages)
    )
    print_result(found.to_json() if as_json else found.text())
    if fail_above is not None and found.largest_psi > fail_above:
        messages.warn(f"a PSI of {found.largest_psi:.3f} is above {fail_above:g}, and more than chance explains")
        raise typer.Exit(1)


def _labels(predictor: Predictor, table: RawTable, target: str | None, messages: Messages) -> Any:
    """The class of every row, None for rows without one; None if the table has no column of classes."""
    import numpy as np

    from .._tables.column_types import column_of_kind

    given = target
    target = target or (predictor.manifest_ or {}).get("target")
    if target is None or (given is None and target not in table.frame.columns):
        return None
    if given is None and column_of_kind(target, table.frame[target], "text").blank.all():
        messages.info(f"{target!r} is blank in all rows, so only the shifts are shown.")
        return None
    rows, labels = labels_for_model(predictor, table, target)
    found = np.full(len(rows), None, dtype=object)
    found[rows] = labels
    return found
