"""`rfsc verify`: fit a saved model again, and report whether the result is the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from .arguments import Data, Jobs, Json, Model, ModelTarget, Quiet
from .console import CommandError, Messages, print_json, print_result
from .fit_again import fit_with_groups, record_of, unfitted
from .new_rows import check_stdin, load_model

if TYPE_CHECKING:
    from .._model.predictor import Predictor


def verify(
    model: Model,
    data: Data,
    target: ModelTarget = None,
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
    messages = Messages(quiet=quiet)
    check_stdin(model, data)
    predictor = load_model(model)
    seed = _seed_of_repeatable(predictor)
    search, X, y, groups = unfitted(messages, predictor, data, target, n_jobs=jobs, verbose=0)
    messages.info(f"Fitting again with seed {seed} ...")
    again = fit_with_groups(search, X, y, groups)
    answer = _answer(predictor, again, tolerance)
    if as_json:
        print_json(answer)
    else:
        print_result(_as_text(answer))
    raise typer.Exit(0 if answer["same"] else 1)


def _seed_of_repeatable(predictor: Predictor) -> int:
    """The seed of a model that can be fitted again."""
    manifest = record_of(predictor)
    if manifest["seed"] is None:
        msg = "the model was fitted without a seed (random_state was not an integer), so no fit can repeat it."
        raise CommandError(msg)
    early = {"time_limit", "interrupted", "observer"} & {one for own in manifest["stop_reasons"] for one in own}
    if early:
        msg = f"the fit was ended early ({', '.join(sorted(early))}), so no other fit can repeat it."
        raise CommandError(msg)
    return int(manifest["seed"])


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
