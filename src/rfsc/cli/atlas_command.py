"""`rfsc atlas`: which other models are as good as a saved one, and the best model under a wish."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from .arguments import Data, Force, Jobs, Json, Model, ModelTarget, Quiet, column_option, file_option
from .console import CommandError, Messages, check_writable, print_json, print_result
from .fit_again import fitted_again
from .new_rows import check_stdin, load_model

Columns = list[str] | None


def atlas(
    model: Model,
    data: Data,
    target: ModelTarget = None,
    tolerance: Annotated[str, typer.Option(metavar="X", help="1se, or a difference in log-loss.")] = "1se",
    max_models: Annotated[int, typer.Option(metavar="N", min=1, help="Most models to keep.")] = 500,
    without: Annotated[Columns, column_option("Find the best model without this column; may be repeated.")] = None,
    require: Annotated[Columns, column_option("... that reads this column.")] = None,
    max_terms: Annotated[int | None, typer.Option(metavar="N", min=0, help="... with at most so many terms.")] = None,
    increasing: Annotated[Columns, column_option("... whose odds never fall with this column.")] = None,
    decreasing: Annotated[Columns, column_option("... whose odds never rise with this column.")] = None,
    output: Annotated[str | None, file_option("Model file for the model that was found.", "-o", "--output")] = None,
    jobs: Jobs = -1,
    force: Force = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Show which other models are as good as a saved one: features in all of them, and what replaces what.

    The model is fitted again to its table, with the settings of its file and the preprocessing of `rfsc fit`. With
    --without, --require, --max-terms, --increasing or --decreasing, the best model under this wish and its price in
    log-loss are shown instead.
    """
    from ..atlas import atlas
    from ..atlas.source import FeatureNames
    from ..export import save

    messages, allowed = Messages(quiet=quiet), _tolerance(tolerance)
    check_stdin(model, data)
    given = {"without": without, "require": require, "increasing": increasing, "decreasing": decreasing}
    named = {which: names for which, names in given.items() if names}
    is_wish = max_terms is not None or bool(named)
    if output is not None:
        if not is_wish:
            msg = "--output is for the model found under a wish; say what to find, for instance with --without."
            raise CommandError(msg, 2)
        output = check_writable(output, force=force, inputs={"the table": data, "the model file": model})
    predictor = load_model(model)
    for which, names in named.items():
        FeatureNames(predictor).find(which, names)  # wrong names are an error before the fit
    estimator, X, y, _ = fitted_again(messages, predictor, data, target, "atlas", n_jobs=jobs)
    made = atlas(estimator, X, y, allowed, max_models)
    if not is_wish:
        print_result(made.to_json() if as_json else made.text())
        return
    found = made.find(max_terms=max_terms, **named)
    facts = ("wish", "terms", "log_loss", "price", "standard_error")
    if as_json:
        print_json(json.loads(made.to_json())["settings"] | {name: getattr(found, name) for name in facts})
    else:
        print_result(str(found))
    if output is not None:
        save(found.model, output)
        messages.info(f"Saved the model to {output}", "green")


def _tolerance(text: str) -> float | str:
    """What --tolerance means."""
    try:
        allowed = 0.0 if text == "1se" else float(text)
    except ValueError:
        allowed = -1.0
    if not 0.0 <= allowed < float("inf"):
        msg = f"--tolerance expects 1se or a difference in log-loss of at least 0, got {text}."
        raise CommandError(msg, 2)
    return text if text == "1se" else allowed
