"""`rfsc atlas`: which other models are as good as a saved one, and the best model under a wish."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .arguments import Data, Force, Jobs, Json, Model, ModelTarget, Quiet, column_option, file_option
from .certify_command import check_table
from .console import CommandError, Messages, check_writable, print_json, print_result
from .fit_again import unfitted
from .new_rows import check_stdin, load_model

if TYPE_CHECKING:
    from .._model.predictor import Predictor

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
    from .._tables.training_data import is_larger_than_memory
    from ..atlas import atlas

    messages, allowed = Messages(quiet=quiet), _tolerance(tolerance)
    check_stdin(model, data)
    signs = {"increasing": increasing or [], "decreasing": decreasing or []}
    wish: dict[str, Any] = {"without": without or [], "require": require or [], "max_terms": max_terms, **signs}
    is_wish = max_terms is not None or any(own for own in wish.values() if isinstance(own, list))
    if output is not None and not is_wish:
        msg = "--output is for the model that was found under a wish; say what to find, for instance with --without."
        raise CommandError(msg, 2)
    if output is not None:
        output = check_writable(output, force=force, inputs={"the table": data, "the model file": model})
    predictor = load_model(model)
    if is_larger_than_memory(data):
        msg = f"an atlas needs the table in memory, but {Path(data).name} is too large for that; use a sample."
        raise CommandError(msg)
    estimator, X, y = unfitted(messages, predictor, data, target, n_jobs=jobs, verbose=int(messages.is_live))
    check_table(messages, predictor, estimator, X, y, "atlas")
    messages.info("Fitting again ...")
    estimator.fit(X, y)
    _check_models(messages, predictor, estimator)
    made = atlas(estimator, X, y, allowed, max_models)
    if not is_wish:
        print_result(made.to_json() if as_json else made.text())
        return
    found = made.find(**wish)
    if as_json:
        facts = ("wish", "terms", "log_loss", "price", "standard_error")
        print_json(json.loads(made.to_json())["settings"] | {name: getattr(found, name) for name in facts})
    else:
        print_result(str(found))
    if output is not None:
        from ..export import save

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


def _check_models(messages: Messages, predictor: Predictor, estimator: Any) -> None:
    """End if the fit was interrupted, and warn if it has found other terms than the file holds."""
    from .._model.access import models_of
    from ..certify.halves import last_step

    if last_step(estimator).stop_reason_ == "interrupted":
        msg = "interrupted: an atlas needs a fit that came to its end."
        raise CommandError(msg, 130)
    found, kept = ([set(model.names) for model in models_of(one)] for one in (estimator, predictor))
    if found != kept:
        messages.warn("fitting again gave another model than that of the file; the atlas is about the new one")
