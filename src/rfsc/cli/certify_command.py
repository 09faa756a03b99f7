"""`rfsc certify`: which features and terms of a saved model can be believed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from .arguments import (
    CheckpointFile,
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
    file_option,
)
from .console import CommandError, Messages, check_writable, print_result
from .fit_again import unfitted_in_memory
from .fit_score import FitTimeLimit
from .new_rows import check_stdin, load_model

if TYPE_CHECKING:
    from ..certify import Certificate

Pairs = Annotated[
    int, typer.Option("--pairs", metavar="N", min=1, help="Random splits for a certificate; each takes two fits.")
]


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
        print_result(found.text())
    if output not in (None, "-"):
        found.save(str(output))
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
