"""`rfsc card`: a saved model as a score card."""

from __future__ import annotations

import warnings
from typing import Annotated

import typer

from .._utils.words import listed
from .arguments import Force, Jobs, Json, Model, ModelTarget, Quiet, file_option
from .console import CommandError, Messages, check_writable, print_result, write_result
from .fit_again import fitted_again
from .new_rows import check_stdin, load_model

ENDINGS = (".html", ".htm", ".json", ".txt")
MOST_LABELS = 10  # in a message


def card(
    model: Model,
    data: Annotated[
        str | None,
        typer.Argument(metavar="[DATA]", help="Its training table; without it no cost is known.", show_default=False),
    ] = None,
    target: ModelTarget = None,
    label: Annotated[
        str | None, typer.Option("--class", metavar="CLASS", help="Which class.", show_default="the second of two")
    ] = None,
    max_points: Annotated[int, typer.Option(metavar="N", min=1, max=100, help="Most points of one row.")] = 10,
    cv: Annotated[int, typer.Option(metavar="N", min=0, help="Folds that measure the cost; 0: none.")] = 5,
    output: Annotated[str | None, file_option("Card to write (.html, .json or .txt).", "-o", "--output")] = None,
    jobs: Jobs = -1,
    force: Force = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Turn a model into a score card: whole points that are added by hand, and the risk of every total.

    With its table, the model is fitted again, points are chosen that lose least, and folds say what rounding costs on
    left-out rows. Products of features cannot be shown: fit with --basis hinge, step or rule.
    """
    from ..card import card

    messages = Messages(quiet=quiet)
    if cv == 1:
        msg = "--cv expects 2 or more folds, or 0 for no cost, got 1."
        raise CommandError(msg, 2)
    if output is not None:
        inputs = {"the table": data, "the model file": model}
        output = check_writable(output, force=force, inputs=inputs, endings=ENDINGS)
    predictor = load_model(model)
    known = {str(one): one for one in predictor.classes_.tolist()}
    if label is None and len(known) > 2:
        msg = f"each class has a formula of its own; choose one with --class: {listed(list(known), MOST_LABELS)}."
        raise CommandError(msg, 2)
    if label not in (None, *known):
        msg = f"--class must be one of {listed(list(known), MOST_LABELS)}, got {label}."
        raise CommandError(msg, 2)
    chosen = known.get(label) if label is not None else None
    found = card(predictor, label=chosen, max_points=max_points)  # an error before the fits
    if data is not None:
        check_stdin(model, data)
        with warnings.catch_warnings():
            # a level that only left-out rows have counts as a rare one, which is intended
            warnings.filterwarnings("ignore", message="Found unknown categories")
            estimator, X, y, groups = fitted_again(messages, predictor, data, target, "card", n_jobs=jobs)
            found = card(estimator, X, y, label=chosen, max_points=max_points, cv=cv or None, groups=groups)
    print_result(found.to_json() if as_json else found.text())
    if output not in (None, "-"):
        ending = str(output).rpartition(".")[2].lower()
        content = {"json": found.to_json, "txt": found.text}.get(ending, found.to_html)()
        write_result(content, str(output))
        messages.info(f"Saved the card to {output}", "green")
