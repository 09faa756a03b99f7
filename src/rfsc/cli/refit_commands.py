"""`rfsc certify`, `rfsc atlas`, `rfsc card` and `rfsc verify`: what fits a saved model again to its table."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._utils.words import listed
from .arguments import (
    CheckpointFile,
    Columns,
    Data,
    Force,
    Jobs,
    Json,
    Model,
    ModelTarget,
    Quiet,
    Resume,
    Seed,
    TimeLimit,
    checkpoint_at,
    column_option,
    file_option,
)
from .console import CommandError, Messages, check_writable, print_json, print_result, write_result
from .fit_again import fit_with_groups, fitted_again, record_of, unfitted, unfitted_in_memory
from .fit_score import FitTimeLimit
from .new_rows import asked_class, check_stdin, load_model, shown

if TYPE_CHECKING:
    from .._model.predictor import Predictor
    from ..certify import Certificate

CARD_ENDINGS = (".html", ".htm", ".json", ".txt")
MOST_LABELS = 10  # in a message
Pairs = Annotated[
    int, typer.Option("--pairs", metavar="N", min=1, help="Random splits for a certificate; each takes two fits.")
]


# ---- certify


def certify(
    model: Model,
    data: Data,
    target: ModelTarget = None,
    pairs: Pairs = 50,
    level: Annotated[float, typer.Option(help="Probability of any false entry.")] = 0.05,
    output: Annotated[str | None, file_option("Certificate to write, as JSON.", "-o", "--output")] = None,
    time_limit: TimeLimit = None,
    checkpoint: CheckpointFile = None,
    resume: Resume = False,
    seed: Seed = 0,
    jobs: Jobs = -1,
    force: Force = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Say which features and terms of a model can be believed, with p-values that hold after the selection.

    The whole fit, with the settings of the model file and the preprocessing of `rfsc fit`, is repeated on random halves
    of the table, and what it selects is tested on the other halves.

    Ctrl-C ends with the halves so far (exit status 130); a second Ctrl-C stops at once. After a crash, the same command
    with --resume continues from the checkpoint.
    """
    messages, limit = Messages(quiet=quiet), FitTimeLimit(time_limit)
    check_stdin(model, data)
    if not 0.0 < level < 1.0:
        msg = f"--level expects a probability between 0 and 1, got {level:g}."
        raise CommandError(msg, 2)
    files: dict[str, str | None] = {"the table": data, "the model file": model}
    if output is not None:
        output = check_writable(output, force=force, inputs=files | {"the checkpoint": checkpoint})
    kept = checkpoint_at(checkpoint, resume=resume, force=force, inputs=files | {"the certificate": output})
    predictor = load_model(model)
    estimator, X, y, groups = unfitted_in_memory(messages, predictor, data, target, "certificate", n_jobs=jobs)
    options = {"n_pairs": pairs, "level": level, "random_state": seed, "callbacks": [*limit.callbacks(1), *kept]}
    found = certificate_of(messages, estimator, X, y, groups=groups, **options)
    if as_json or output == "-":
        print_result(found.to_json())
    else:
        print_result(certificate_text(found, predictor))
    if output not in (None, "-"):
        write_result(found.to_json(), str(output))
        messages.info(f"Saved the certificate to {output}", "green")
    if found.settings.n_halves < 2 * pairs and not limit.is_set:
        msg = "interrupted: the certificate rests on fewer halves."
        raise CommandError(msg, 130)


def certificate_of(messages: Messages, estimator: Any, X: Any, y: Any, **options: Any) -> Certificate:
    """The certificate of an estimator, with progress on a terminal."""
    from sklearn.base import clone

    from ..certify import certify
    from ..certify.halves import last_step

    own = clone(estimator)
    search = last_step(own).set_params(verbose=int(messages.is_live), callbacks=None)
    return certify(own, X, y, n_jobs=search.n_jobs, **options)


def certificate_text(found: Certificate, model: Any) -> str:
    """A certificate as text, after its verdicts on the features of a model."""
    from .._model.access import models_of

    names = dict.fromkeys(one.feature_names[p] for one in models_of(model) for p in one.features)
    return f"{found.of_features(list(names))}\n\n{found.text()}"


# ---- atlas


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
    from .._model.access import as_predictor
    from ..atlas import atlas
    from ..atlas.source import FeatureNames
    from ..export import to_json

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
    label = asked_class(predictor)
    found = made.find(max_terms=max_terms, label=label, **named)
    facts = ("wish", "terms", "log_loss", "price", "standard_error")
    if as_json:
        print_json(json.loads(made.to_json())["settings"] | {name: getattr(found, name) for name in facts})
    else:
        print_result(str(found))
    if output is not None:
        write_result(to_json(found.model if label is None else as_predictor(found.model).about(label)), output)
        if output != "-":
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


# ---- card


def card(
    model: Model,
    data: Annotated[
        str | None,
        typer.Argument(metavar="[DATA]", help="Its training table; without it no cost is known.", show_default=False),
    ] = None,
    target: ModelTarget = None,
    label: Annotated[
        str | None, typer.Option("--class", metavar="CLASS", help="Which class.", show_default="that of the fit")
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
    from .._model.access import WEIGHTED, weights_classes
    from ..card import card

    messages = Messages(quiet=quiet)
    if cv == 1:
        msg = "--cv expects 2 or more folds, or 0 for no cost, got 1."
        raise CommandError(msg, 2)
    if output is not None:
        inputs = {"the table": data, "the model file": model}
        output = check_writable(output, force=force, inputs=inputs, endings=CARD_ENDINGS)
    predictor = load_model(model)
    known = {str(one): one for one in predictor.classes_.tolist()}
    if label is None and len(known) > 2:
        msg = f"each class has a formula of its own; choose one with --class: {listed(list(known), MOST_LABELS)}."
        raise CommandError(msg, 2)
    if label not in (None, *known):
        msg = f"--class must be one of {listed(list(known), MOST_LABELS)}, got {label}."
        raise CommandError(msg, 2)
    chosen = asked_class(predictor) if label is None else known[label]
    found = card(predictor, label=chosen, max_points=max_points)  # an error before the fits
    if predictor.fallbacks_:
        names = listed(sorted({name for one in predictor.fallbacks_ for name in one.when_missing}))
        messages.warn(f"the card has no formulas for rows without {names}; it counts a missing value as the median")
    if weights_classes(predictor):
        messages.warn(WEIGHTED)
    if data is not None:
        check_stdin(model, data)
        estimator, X, y, groups = fitted_again(messages, predictor, data, target, "card", n_jobs=jobs)
        found = card(estimator, X, y, label=chosen, max_points=max_points, cv=cv or None, groups=groups)
    print_result(found.to_json() if as_json else found.text())
    if output not in (None, "-"):
        ending = str(output).rpartition(".")[2].lower()
        content = {"json": found.to_json, "txt": found.text}.get(ending, found.to_html)()
        write_result(content, str(output))
        messages.info(f"Saved the card to {output}", "green")


# ---- verify


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
    answer = _comparison(predictor, again, tolerance)
    if as_json:
        print_json(answer)
    else:
        print_result(_comparison_text(answer))
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


def _comparison(predictor: Predictor, again: Any, tolerance: float) -> dict[str, Any]:
    from ..export import from_json, to_json
    from ..export.compare import compared_text, differences, largest_difference

    again = from_json(to_json(again, history=False))  # settings as texts, as in the file
    asked, identical = asked_class(predictor), compared_text(predictor) == compared_text(again)
    distance = largest_difference(predictor, again)
    return {
        "same": identical or distance <= tolerance > 0.0,
        "identical": identical,
        "largest_difference": distance if distance < float("inf") else None,
        "differences": differences(shown(predictor), again if asked is None else again.about(asked)),
    }


def _comparison_text(answer: dict[str, Any]) -> str:
    if answer["identical"]:
        notes = [f"  {line}" for line in answer["differences"]]
        return "\n".join(["identical: the same data and settings give the same model, to the last bit", *notes])
    head = "the same within the tolerance, but not identical:" if answer["same"] else "not identical:"
    lines = answer["differences"] or ["the models are the same, but the searches took another course"]
    return "\n".join([head, *(f"  {line}" for line in lines)])
