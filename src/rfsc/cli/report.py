"""`rfsc report`: one offline page about a saved model and a table."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from .console import Voice, counted, verb
from .files import check_free, put
from .options import Data, Force, Model, Quiet
from .rows import labels_for, read_for, rows_for

NAME = "report"


def command(
    model: Model,
    data: Data,
    target: Annotated[str, typer.Option("--target", "-t", metavar="COLUMN", help="Column with the true class.")],
    output: Annotated[str, typer.Option("-o", "--output", metavar="FILE", help="Page to write; - is stdout.")],
    title: Annotated[str | None, typer.Option(help="Headline.", show_default="from the target")] = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Write a report of a saved model on a table: score, equation, terms, pictures, warnings.

    The page needs no network and holds no row of the table. A name that ends with .md or .json gives the text or the
    numbers alone. The model is scored on the rows given: take rows that it was not fitted to. `rfsc fit --report`
    cross-validates instead.
    """
    output = check_free(output, force=force, others={"the table": data, "the model file": model})
    voice = Voice(quiet=quiet)
    predictor, table = read_for(voice, model, data)
    rows, labels = labels_for(predictor, table, target)
    n_left = int((~rows).sum())
    if n_left:
        voice.warn(f"{counted(n_left, 'row')} without a {target} {verb(n_left, 'was', 'were')} dropped")
    X = rows_for(voice, predictor, table)[rows].reset_index(drop=True)
    put(page_of(predictor, X, labels, None, target, title, output), output)
    if output != "-":
        voice.say(f"Written: {output}", "green")


def page_of(
    source: Any, X: Any, labels: Any, score: Any, target: str, title: str | None = None, name: str = "report.html"
) -> str:
    """A report."""
    from ..report import Report

    report = Report.from_estimator(source, X, labels, cv=score, target=target, title=title)
    write = {"md": report.markdown, "json": report.json}.get(name.rpartition(".")[2].lower(), report.html)
    return write()
