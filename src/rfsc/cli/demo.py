"""`rfsc demo`: a first look without any data of one's own."""

from __future__ import annotations

import shlex
from typing import Annotated, Any

import typer

from .console import Voice, show
from .files import check_free, put
from .options import Force, Quiet

NAME = "demo"


def command(
    data: Annotated[
        str | None,
        typer.Option("--data", metavar="FILE", help="Write an example table and stop.", show_default=False),
    ] = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Fit an example and show what comes out; or write an example table to try the commands on.

    The example is made up: 400 patients with text columns, blanks and an identifier.
    """
    from .._tables.example import patients

    voice = Voice(quiet=quiet)
    text = patients().to_csv(index=False, lineterminator="\n")
    if data is not None:
        data = check_free(data, force=force)
        put(text, data)
        if data == "-":
            return
        voice.say(f"Written: {data}", "green")
        place = shlex.quote(data)
        voice.say(f"Next: rfsc fit {place} --target diagnosis --drop patient -o model.json --report report.html")
        return
    fit_example(voice)


def fit_example(voice: Voice, n_rows: int = 400, folds: Any = "auto", **settings: Any) -> None:
    """Fit the example table as `rfsc fit` would."""
    from sklearn.pipeline import make_pipeline

    from .._tables.encode import encoder_of
    from .._tables.example import patients
    from .._tables.reading import RawTable
    from .._tables.training import training_of
    from ..classifier import RFSCClassifier
    from ..explain import explain
    from .info import summaries
    from .scoring import honest_score, score_text

    training = training_of(RawTable(patients(n_rows), "example"), "diagnosis", drop=["patient"])
    X, labels = training.frame, training.labels
    voice.say(f"{len(labels)} made-up patients with {X.shape[1]} columns: who is sick?\n", "bold")
    search = RFSCClassifier(random_state=0, n_jobs=-1, verbose=int(voice.live)).set_params(**settings)
    pipeline = make_pipeline(encoder_of(training.columns), search).fit(X, labels)
    score = honest_score(voice, pipeline, X, labels, folds, 0, beside_others=True)
    show(f"{summaries(pipeline)[0]}\n\n{score_text(score)}\n\nThe first patient: {explain(pipeline, X.iloc[[0]])}")
    voice.say("\nWith a table of your own: rfsc fit data.csv --target COLUMN -o model.json --report report.html")
