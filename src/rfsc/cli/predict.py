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
PARQUET = ("parquet", "pq")


def command(
    model: Model,
    data: Data,
    output: Output = None,
    proba: Annotated[bool, typer.Option("--proba", help="Add the probability of every class.")] = False,
    keep: Annotated[
        list[str] | None,
        typer.Option("--keep", metavar="COLUMN", help="Copy this column, such as a key.", show_default=False),
    ] = None,
    spreadsheet: Annotated[
        bool, typer.Option("--spreadsheet", help="Texts that look like formulas get an apostrophe in front.")
    ] = False,
    force: Force = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Predict the class of every row of a table.

    The table has the raw columns that the model was fitted to, in any order; those that the model does not read may be
    missing. The result is CSV with one line for each row, Parquet where the file's name ends so, or JSON. Names,
    classes and kept cells are written as they are; pass --spreadsheet where a spreadsheet is to open them.
    """
    place = check_free(output or "-", force=force, others={"the table": data, "the model file": model})
    voice = Voice(quiet=quiet)
    predictor, table = read_for(voice, model, data)

    from pandas import DataFrame

    from .._tables.training import check_names

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
    if spreadsheet or (not as_json and _ending(place) not in PARQUET):
        result = _checked(voice, result, disarm=spreadsheet)
    put(_written(result, place, as_json=as_json), place)
    if place != "-":
        voice.say(f"Written: {place}, {counted(len(result), 'row')}", "green")


def _ending(output: str) -> str:
    return output.rpartition(".")[2].lower()


def _checked(voice: Voice, result: Any, *, disarm: bool) -> Any:
    """The result; a spreadsheet would compute what looks like a formula, so it is disarmed, or warned of."""
    from ..export.spreadsheet import as_text

    if disarm:
        safe = result.map(lambda cell: as_text(cell) if isinstance(cell, str) else cell)
        return safe.set_axis([as_text(name) for name in result.columns], axis=1)
    n = sum(isinstance(cell, str) and as_text(cell) != cell for name in result for cell in (name, *result[name]))
    if n:
        voice.warn(f"{n} cells look like formulas, which a spreadsheet would compute; --spreadsheet makes them texts")
    return result


def _written(result: Any, output: str, *, as_json: bool) -> str | bytes:
    if as_json:
        return str(result.to_json(orient="records", indent=2, double_precision=15, force_ascii=False)) + "\n"
    ending = _ending(output)
    if ending in PARQUET:
        buffer = io.BytesIO()
        result.to_parquet(buffer, index=False)
        return buffer.getvalue()
    return str(result.to_csv(index=False, sep="\t" if ending in ("tsv", "tab") else ",", lineterminator="\n"))
