"""`rfsc verify`: fit a saved model again, and say whether the same comes out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from .console import Failure, Voice, show, show_json
from .options import Data, Jobs, Json, Model, Quiet
from .rows import labels_for, load_model, rows_for

if TYPE_CHECKING:
    from .._model.predictor import Predictor
    from .._tables.reading import RawTable
    from ..classifier import RFSCClassifier

NAME = "verify"


def command(
    model: Model,
    data: Data,
    target: Annotated[
        str | None,
        typer.Option("--target", "-t", metavar="COLUMN", help="Column with the class.", show_default="as in the model"),
    ] = None,
    tolerance: Annotated[
        float,
        typer.Option(min=0.0, help="Difference of coefficients that still counts as the same, such as 1e-8."),
    ] = 0.0,
    jobs: Jobs = -1,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Fit a saved model again on its table, and say whether the result is identical or what differs.

    The settings and the seed come from the model file, the columns are those that it knows, and the preprocessing is
    that of `rfsc fit`. The exit status is 0 where the same model comes out, and 1 where not. On another machine or with
    other versions the last digits may differ: see --tolerance.
    """
    voice = Voice(quiet=quiet)
    if model == data == "-":
        msg = "model and table cannot both come from stdin; give one of them as a file."
        raise Failure(msg)
    from .._tables.large import is_large
    from .._tables.reading import read_raw

    predictor = load_model(model)
    manifest = _repeatable(predictor)
    column = target or manifest["target"]
    if column is None:
        msg = "the model file does not say which column holds the class; name it with --target."
        raise Failure(msg)
    search = _search(predictor, jobs)
    in_blocks = search.engine == "dask" and predictor.recipe_ is None and is_large(data)
    table = None if in_blocks else _known_columns(predictor, read_raw(data), column)
    voice.say(f"Fitting again with seed {manifest['seed']} ...")
    if table is None:
        again = _refitted_in_blocks(predictor, search, data, column)
    else:
        again = _refitted(voice, predictor, search, table, column)
    answer = _answer(predictor, again, tolerance)
    if as_json:
        show_json(answer)
    else:
        show(_as_text(answer))
    raise typer.Exit(0 if answer["same"] else 1)


def _repeatable(predictor: Predictor) -> dict[str, Any]:
    """The manifest of a model that can be fitted again."""
    manifest = predictor.manifest_
    if manifest is None:
        msg = "the file holds a single model without the story of its fit, so it cannot be fitted again."
        raise Failure(msg)
    if manifest["seed"] is None:
        msg = "the model was fitted without a seed (random_state was no whole number), so no fit can repeat it."
        raise Failure(msg)
    early = {"time_limit", "interrupted", "observer"} & {one for own in manifest["stop_reasons"] for one in own}
    if early:
        msg = f"the fit was ended before its time ({', '.join(sorted(early))}), so no other fit can repeat it."
        raise Failure(msg)
    return manifest


def _search(predictor: Predictor, jobs: int) -> RFSCClassifier:
    """The classifier with the settings of the file, if these are all there."""
    from ..bases import resolve
    from ..partitioned import classifier_with

    search = classifier_with(predictor.settings_)
    search.set_params(n_jobs=jobs, verbose=0, callbacks=None)
    try:
        search._validate_params()
        if search.basis != "auto":
            resolve(search.basis)
    except ValueError:
        msg = "a setting of this model, such as a basis object, is in the file as words only; fit it again in Python."
        raise Failure(msg) from None
    return search


def _known_columns(predictor: Predictor, table: RawTable, target: str) -> RawTable:
    """The columns that the model knows, in its order and under its names, and the class."""
    from dataclasses import replace

    from .._tables.training import check_names

    there = list(table.frame.columns)
    if hasattr(predictor, "feature_names_in_"):
        names = [str(name) for name in predictor.feature_names_in_]
        check_names(there, [*names, target], table.name)
        return replace(table, frame=table.frame[[*names, target]])
    check_names(there, [target], table.name)
    n = predictor.n_features_in_
    if len(there) != n + 1:
        msg = (
            f"the model was fitted to {n} columns without names, but {table.name} has {len(there) - 1} besides the "
            "class. Leave only those columns in it, in their order."
        )
        raise Failure(msg)
    numbered = iter(range(n))
    return replace(
        table, frame=table.frame.set_axis([c if c == target else f"x{next(numbered)}" for c in there], axis=1)
    )


def _refitted(voice: Voice, predictor: Predictor, search: RFSCClassifier, table: RawTable, target: str) -> Any:
    """The search, or the pipeline of `rfsc fit` around it, fitted to the table."""
    from sklearn.pipeline import make_pipeline

    from .._tables.encode import encoder_of
    from .._tables.training import training_of

    if predictor.recipe_ is None:
        rows, labels = labels_for(predictor, table, target)
        X = rows_for(voice, predictor, table)[rows]
        return search.fit(X if predictor.named else X.to_numpy(), labels)
    training = training_of(table, target, keep=[str(name) for name in table.frame.columns if name != target])
    return make_pipeline(encoder_of(training.columns), search).fit(training.frame, training.labels)


def _refitted_in_blocks(predictor: Predictor, search: RFSCClassifier, data: str, target: str) -> Any:
    """The search, fitted to a table that memory cannot hold, cut as `rfsc fit --engine dask` cuts it."""
    from .._tables.large import large_training

    names = list(predictor.models_[0].feature_names)
    training = large_training(data, target, keep=names, only=names)
    return search.fit(training.X, training.y)


def _answer(predictor: Predictor, again: Any, tolerance: float) -> dict[str, Any]:
    from ..export.compare import compared_text, differences, largest_difference

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
