"""`rfsc verify`: fit a saved model again, and report whether the result is the same."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .arguments import Data, Jobs, Json, Model, Quiet, check_settings
from .console import CommandError, Messages, print_json, print_result
from .new_rows import check_stdin, labels_for_model, load_model, numbered_columns, rows_for_model

if TYPE_CHECKING:
    from .._model.predictor import Predictor
    from .._tables.table_files import RawTable
    from ..classifier import RFSCClassifier


def verify(
    model: Model,
    data: Data,
    target: Annotated[
        str | None,
        typer.Option(
            "--target", "-t", metavar="COLUMN", help="Column with the class.", show_default="that of the model file"
        ),
    ] = None,
    tolerance: Annotated[
        float, typer.Option(min=0.0, help="Relative difference of coefficients that is accepted, such as 1e-8.")
    ] = 0.0,
    jobs: Jobs = -1,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Fit a saved model again to its table, and report whether the result is identical, or what differs.

    Settings, seed and columns are those of the model file, and the preprocessing is that of `rfsc fit`. The exit status
    is 0 if the models are the same and 1 if not. On another machine or with other versions of libraries the last digits
    may differ: see --tolerance.
    """
    from .._tables.table_files import read_table
    from .._tables.training_data import ColumnChoice, chunked_table, is_larger_than_memory

    messages = Messages(quiet=quiet)
    check_stdin(model, data)
    predictor = load_model(model)
    manifest = _repeatable(predictor)
    target = target or manifest["target"]
    if target is None:
        msg = "the model file does not say which column holds the class; name it with --target."
        raise CommandError(msg)
    search = _search(predictor, jobs)
    if is_larger_than_memory(data):
        names = list(predictor.models_[0].feature_names)
        chunks = chunked_table(data, target, ColumnChoice(keep=names, only=names))
        again = search.fit(chunks.X, chunks.y)
    else:
        table = _known_columns(predictor, read_table(data), target)
        messages.info(f"Fitting again with seed {manifest['seed']} ...")
        again = _refit(messages, predictor, search, table, target)
    answer = _answer(predictor, again, tolerance)
    if as_json:
        print_json(answer)
    else:
        print_result(_as_text(answer))
    raise typer.Exit(0 if answer["same"] else 1)


def _repeatable(predictor: Predictor) -> dict[str, Any]:
    """The manifest of a model that can be fitted again."""
    manifest = predictor.manifest_
    if manifest is None:
        msg = "the file holds a single model without the record of its fit, so it cannot be fitted again."
        raise CommandError(msg)
    if manifest["seed"] is None:
        msg = "the model was fitted without a seed (random_state was not an integer), so no fit can repeat it."
        raise CommandError(msg)
    early = {"time_limit", "interrupted", "observer"} & {one for own in manifest["stop_reasons"] for one in own}
    if early:
        msg = f"the fit was ended early ({', '.join(sorted(early))}), so no other fit can repeat it."
        raise CommandError(msg)
    return dict(manifest)


def _search(predictor: Predictor, jobs: int) -> RFSCClassifier:
    from ..report.content import restored_classifier

    search = restored_classifier(predictor.settings_)
    search.set_params(n_jobs=jobs, verbose=0)
    try:
        check_settings(search)
    except (ValueError, TypeError, AttributeError):
        msg = "a setting of this model cannot be read back from its file; fit it again in Python."
        raise CommandError(msg) from None
    return search


def _known_columns(predictor: Predictor, table: RawTable, target: str) -> RawTable:
    """The columns of the model, in its order and with its names, and the class."""
    from .._tables.column_checks import check_names

    names = [str(name) for name in getattr(predictor, "feature_names_in_", ())]
    check_names(list(table.frame.columns), [*names, target], table.name)
    if not names:
        return numbered_columns(predictor, table, target)
    return replace(table, frame=table.frame[[*names, target]])


def _refit(messages: Messages, predictor: Predictor, search: RFSCClassifier, table: RawTable, target: str) -> Any:
    """The search, or the pipeline of `rfsc fit` around it, fitted to the table."""
    from sklearn.pipeline import make_pipeline

    from .._tables.training_data import ColumnChoice, encoder_of, training_table

    if predictor.recipe_ is None:
        rows, labels = labels_for_model(predictor, table, target)
        X = rows_for_model(messages, predictor, table)[rows]
        return search.fit(X if predictor.named else X.to_numpy(), labels)
    names = [str(name) for name in table.frame.columns if name != target]
    training = training_table(table, target, ColumnChoice(keep=names))
    return make_pipeline(encoder_of(training.columns), search).fit(training.X, training.y)


def _answer(predictor: Predictor, again: Any, tolerance: float) -> dict[str, Any]:
    from ..export import from_json, to_json
    from ..export.compare import compared_text, differences, largest_difference

    again = from_json(to_json(again, history=False))  # settings as texts, as in the file
    identical = compared_text(predictor) == compared_text(again)
    distance = largest_difference(predictor, again)
    return {
        "same": identical or distance <= tolerance > 0.0,
        "identical": identical,
        "largest_difference": distance if distance < float("inf") else None,
        "differences": differences(predictor, again),
    }


def _as_text(answer: dict[str, Any]) -> str:
    if answer["identical"]:
        notes = [f"  {line}" for line in answer["differences"]]
        return "\n".join(["identical: the same data and settings give the same model, to the last bit", *notes])
    head = "the same within the tolerance, but not identical:" if answer["same"] else "not identical:"
    lines = answer["differences"] or ["the models are the same, but the searches took another course"]
    return "\n".join([head, *(f"  {line}" for line in lines)])
