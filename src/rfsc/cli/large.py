"""`rfsc fit --engine dask`: a table that memory cannot hold, read part by part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .console import Failure, Voice, counted, show, show_json
from .files import put
from .scoring import no_better, score_as_dict, score_text

if TYPE_CHECKING:
    from .._search import Checkpoint
    from .._tables.large import LargeTraining
    from ..classifier import RFSCClassifier
    from .budget import Clock

SAMPLE = 5_000  # rows that models are compared on, unless the user says otherwise
MOST_LEFT_OUT = 100_000  # rows that the score is taken on
SHARE = 0.2  # of the rows, where that is less


def fit_large(
    voice: Voice,
    data: str,
    target: str,
    search: RFSCClassifier,
    given: dict[str, Any],
    choice: dict[str, Any],
    clock: Clock,
    keeper: list[Checkpoint],
    *,
    cv: int | None,
    test_size: float | None,
    seed: int,
    output: str | None,
    as_json: bool,
) -> None:
    """Fit, score on rows left out, and save."""
    from .._search.context import uninterruptible_fits
    from .._tables.large import large_training
    from .._tables.training import LeakError
    from ..blocks.reading import most_in_hand
    from .fit import checked_json, refusal, saved, tell_of_limit, unlabelled

    if cv:
        msg = "--cv needs the table in memory; with --engine dask pass --test-size, or --cv 0 for no score."
        raise Failure(msg, 2)
    try:
        with voice.working("reading the table once"):
            training = large_training(data, target, **choice)
    except LeakError as error:
        raise refusal(error) from None
    n_rows, n_features = training.n_rows, len(training.X.columns)
    size = f"{counted(n_rows, 'row')} in {counted(training.X.npartitions, 'part')}, {training.n_columns} columns"
    voice.say(f"{training.name}: {size}, {n_features} of them features", "bold")
    if training.n_unlabelled:
        voice.warn(unlabelled(training.n_unlabelled, target))
    if n_rows <= most_in_hand(n_features):
        voice.say("  memory can hold this table: without --engine dask it is fitted faster")
    if "max_samples" not in given and n_rows > SAMPLE:
        search.set_params(max_samples=SAMPLE)
        voice.say(f"  models are compared on {SAMPLE} rows at a time (--set max_samples=none for all)")
    voice.say("\nSearching for a model ...", "bold")
    n_scored = int(cv is None)
    search.set_params(verbose=int(voice.live), callbacks=[*clock.limit(1 + n_scored), *keeper])
    search.fit(training.X, training.y)
    was_interrupted = search.stop_reason_ == "interrupted"
    search.set_params(verbose=0, callbacks=clock.limit(n_scored) or None)
    search.manifest_["target"] = target
    tell_of_limit(voice, search)
    score = None
    if not was_interrupted and cv != 0:
        try:
            with uninterruptible_fits():
                score = left_out_score(voice, search, training, test_size, seed)
        except KeyboardInterrupt:
            was_interrupted = True
    search.set_params(callbacks=None)  # the file does not depend on who watched
    if output != "-" and not as_json:
        from .info import summaries

        voice.say()
        show("\n\n".join([*summaries(search), *([score_text(score)] if score is not None else [])]))
        voice.say()
    if score is not None and no_better(score):
        voice.warn(no_better(score))
    if output is not None:
        put(checked_json(search, training.head), output)
    saved(voice, output)
    if as_json:
        from .info import model_as_dict

        found = {"model": output, "score": None if score is None else score_as_dict(score)}
        show_json({**found, **model_as_dict(search)})
    if was_interrupted:
        msg = "interrupted: the model is not scored."
        raise Failure(msg, 130)


def left_out_score(
    voice: Voice, search: RFSCClassifier, training: LargeTraining, test_size: float | None, seed: int
) -> Any:
    """The score of a clone on rows that it has not seen."""
    import numpy as np
    from sklearn.base import clone

    from ..report.honest_score import MAJORITY, OURS, HonestScore, MethodScore, aligned
    from ..report.metrics import measure
    from ..report.subject import codes_of

    n_rows = search.manifest_["data"]["rows"]
    share = test_size or min(SHARE, MOST_LEFT_OUT / n_rows)
    target = training.y.name
    seen, unseen = training.X.assign(**{target: training.y}).random_split([1.0 - share, share], random_state=seed)
    names = list(training.X.columns)
    with voice.working("scoring on rows left out"):
        fitted = clone(search).fit(seen[names], seen[target])
        rows = unseen.compute()
    code = codes_of(np.asarray(rows[target], dtype=object), search.classes_)
    proba = aligned(fitted.predict_proba(rows[names]), fitted.classes_, search.classes_)
    shares = np.tile(np.bincount(code, minlength=len(search.classes_)) / len(code), (len(code), 1))
    methods = [(OURS, proba), (MAJORITY, shares)]
    scores = tuple(MethodScore(name, np.array([list(measure(code, said).values())]), 0.0) for name, said in methods)
    return HonestScore("cross-validation", 1, 1, scores, code, proba, test_share=share / (1.0 - share))
