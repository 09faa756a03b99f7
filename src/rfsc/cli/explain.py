"""`rfsc explain`: why a row gets its class, in one sentence."""

from __future__ import annotations

from typing import Annotated

import typer

from .console import Failure, Voice, show, show_json
from .options import Data, Json, Model, Quiet
from .rows import read_for, rows_for

NAME = "explain"


def command(
    model: Model,
    data: Data,
    row: Annotated[
        list[int] | None,
        typer.Option("--row", metavar="N", min=1, help="Only this row, counted from 1.", show_default="all rows"),
    ] = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Say in one sentence for each row which class it gets, and why.

    Sentences repeat cells of the table: mind who reads them.
    """
    voice = Voice(quiet=quiet)
    predictor, table = read_for(voice, model, data)
    wanted = row or range(1, len(table.frame) + 1)
    beyond = [number for number in wanted if number > len(table.frame)]
    if beyond:
        msg = f"{table.name} has {len(table.frame)} rows, but row {beyond[0]} was asked for."
        raise Failure(msg)

    from ..explain import explain

    X = rows_for(voice, predictor, table)
    sentences = [(number, explain(predictor, X.iloc[[number - 1]])) for number in wanted]
    if not as_json:
        single = len(sentences) == 1
        show("\n".join(text if single else f"{number}: {text}" for number, text in sentences))
        return
    chosen = X.iloc[[number - 1 for number, _ in sentences]]
    classes, proba = predictor.classes_.tolist(), predictor.predict_proba(chosen)
    show_json(
        [
            {
                "row": number,
                "predicted": label,
                "probability": dict(zip(map(str, classes), p, strict=True)),
                "sentence": text,
            }
            for (number, text), label, p in zip(
                sentences, predictor.predict(chosen).tolist(), proba.tolist(), strict=True
            )
        ]
    )
