"""`rfsc predict`: classes and probabilities for the rows of a table."""

from __future__ import annotations

import io
from typing import Annotated, Any

import typer

from .console import Failure, Voice, counted
from .files import check_free, put
from .options import Data, Force, Json, Model, Output, Quiet
from .rows import read_for, rows_for
from .strangers import oddities

NAME = "predict"


def command(
    model: Model,
    data: Data,
    output: Output = None,
    proba: Annotated[bool, typer.Option("--proba", help="Add the probability of every class.")] = False,
    keep: Annotated[
        list[str] | None,
        typer.Option("--keep", metavar="COLUMN", help="Copy this column, such as a key.", show_default=False),
    ] = None,
    force: Force = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Predict the class of every row of a table.

    The table has the raw columns that the model was fitted to, in any order; those that the model does not read may be
    missing. The result is CSV with one line for each row, Parquet where the file's name ends so, or JSON.
    """
    place = check_free(output or "-", force=force, others={"the table": data, "the model file": model})
    voice = Voice(quiet=quiet)
    predictor, table = read_for(voice, model, data)

    from pandas import DataFrame

    from ..tables.training import check_names

    check_names(list(table.frame.columns), keep or [], table.name)
    chances = [f"probability_{label}" for label in predictor.classes_.tolist()] if proba else []
    taken = [name for name in keep or [] if name in ("predicted", *chances)]
    if taken:
        msg = f"--keep {taken[0]}: the result has a column of this name already. Rename that of the table."
        raise Failure(msg, 2)
    X = rows_for(voice, predictor, table)
    for words in oddities(predictor, X):
        voice.warn(words)
    answers = {name: table.frame[name] for name in keep or []} | {"predicted": predictor.predict(X)}
    if proba:
        answers |= dict(zip(chances, predictor.predict_proba(X).T, strict=True))
    result = DataFrame(answers)
    put(_written(result, place, as_json=as_json), place)
    if place != "-":
        voice.say(f"Written: {place}, {counted(len(result), 'row')}", "green")


def _written(result: Any, output: str, *, as_json: bool) -> str | bytes:
    if as_json:
        return str(result.to_json(orient="records", indent=2, double_precision=15, force_ascii=False)) + "\n"
    ending = output.rpartition(".")[2].lower()
    if ending in ("parquet", "pq"):
        buffer = io.BytesIO()
        result.to_parquet(buffer, index=False)
        return buffer.getvalue()
    return str(result.to_csv(index=False, sep="\t" if ending in ("tsv", "tab") else ",", lineterminator="\n"))
