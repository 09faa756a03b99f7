"""`rfsc fit`: from a table with texts and blanks to a model file, with an honest score on the way."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .budget import Clock, checkpoint_of
from .console import Failure, Voice, counted, show, show_json, verb
from .files import check_free, put
from .options import Data, Force, Jobs, Json, Quiet, Seed
from .scoring import check_score, folds_for, honest_score, n_fits, no_better, score_as_dict, score_text
from .search import search_of

if TYPE_CHECKING:
    from .._tables.training import Training

NAME = "fit"
MANY_COLUMNS = 40
LONG, SAMPLE = 10_000, 5_000  # rows; above, a search on all of them takes minutes


def command(
    data: Data,
    target: Annotated[str, typer.Option("--target", "-t", metavar="COLUMN", help="Column with the class.")],
    output: Annotated[
        str | None,
        typer.Option("-o", "--output", metavar="FILE", help="Model file to write; - is stdout.", show_default=False),
    ] = None,
    report: Annotated[
        str | None, typer.Option("--report", metavar="FILE", help="HTML report to write.", show_default=False)
    ] = None,
    drop: Annotated[
        list[str] | None, typer.Option("--drop", metavar="COLUMN", help="Leave this column out.", show_default=False)
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option("--keep", metavar="COLUMN", help="Use this column, suspicious or not.", show_default=False),
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option("--only", metavar="COLUMN", help="Use no other columns.", show_default=False)
    ] = None,
    number: Annotated[
        list[str] | None,
        typer.Option("--number", metavar="COLUMN", help="Read as numbers, other cells as blank.", show_default=False),
    ] = None,
    basis: Annotated[
        str,
        typer.Option(help="What terms are made of: auto, polynomial, centred, hinge, step, fourier, radial, sigmoid."),
    ] = "auto",
    degree: Annotated[int, typer.Option(min=1, max=5, help="Largest degree of polynomial terms.")] = 2,
    restarts: Annotated[int, typer.Option(min=1, help="Independent searches.")] = 10,
    max_terms: Annotated[
        int | None, typer.Option(min=1, help="Largest model that the search draws.", show_default="60")
    ] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Any other parameter of RFSCClassifier.", show_default=False),
    ] = None,
    cv: Annotated[
        int | None,
        typer.Option("--cv", help="Folds of the cross-validation; 0 for no score.", show_default="5 up to 5000 rows"),
    ] = None,
    test_size: Annotated[
        float | None,
        typer.Option(help="Score on this share of the rows instead.", show_default="0.2 above 5000 rows"),
    ] = None,
    engine: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Where models are fitted; dask reads Parquet or .npy larger than memory.",
            show_default="auto",
        ),
    ] = None,
    time_limit: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", help="Search and score in this time.", show_default="as long as it takes"),
    ] = None,
    checkpoint: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Keep the search here as it goes on.", show_default=False),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the checkpoint, where there is one.")] = False,
    seed: Seed = 0,
    jobs: Jobs = -1,
    force: Force = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Fit a small, readable model to a table, and score it honestly.

    Text columns become yes-or-no columns, with rare levels together; blanks in columns of numbers become the median,
    and a column says where they were. The model file carries all of that: it reads raw tables.

    Columns that look like identifiers or like the target itself are refused until you --drop or --keep them. Options
    that take a column may be repeated.

    Ctrl-C ends the search with the best model so far, which is saved and not scored (exit status 130); a second one
    stops at once. After a crash the same command with --resume goes on from the checkpoint, to the same model.
    """
    voice = Voice(quiet=quiet)
    clock = Clock(time_limit)
    keeper = checkpoint_of(
        checkpoint, resume=resume, force=force, others={"the table": data, "the model": output, "the report": report}
    )
    if output is not None:
        output = check_free(output, force=force, others={"the table": data, "the report": report})
    if report is not None:
        report = check_free(report, force=force, others={"the table": data})
    if report == "-" or (as_json and output == "-"):
        msg = "stdout can hold one result only; give --report a file, and -o a file where --json is passed."
        raise Failure(msg, 2)
    check_score(cv, test_size)

    from sklearn.pipeline import make_pipeline

    from .._tables.encode import encoder_of

    search, given = search_of(
        basis,
        setting,
        degree=degree,
        n_restarts=restarts,
        max_terms=max_terms,
        random_state=seed,
        n_jobs=jobs,
        engine=engine,
    )
    if search.engine == "dask":
        if report is not None or number:
            what = "--report" if report is not None else "--number"
            msg = f"{what} needs the table in memory, which --engine dask does without. Leave out one of the two."
            raise Failure(msg, 2)
        from .large import fit_large

        choice = {"drop": drop or (), "keep": keep or (), "only": only or ()}
        fit_large(
            voice,
            data,
            target,
            search,
            given,
            choice,
            clock,
            keeper,
            cv=cv,
            test_size=test_size,
            seed=seed,
            output=output,
            as_json=as_json,
        )
        return
    training = _read(voice, data, target, drop=drop or (), keep=keep or (), only=only or (), number=number or ())
    if len(training.labels) > LONG and "max_samples" not in given:
        search.set_params(max_samples=SAMPLE)
        voice.say(f"  a long table: models are compared on {SAMPLE} rows at a time (--set max_samples=none for all)")
    folds = folds_for(training.labels, cv, test_size, seed, in_haste=time_limit is not None)
    fits_left = n_fits(folds, len(training.labels))
    pipeline = make_pipeline(encoder_of(training.columns), search)
    described = _describe(voice, training, pipeline[0])
    voice.say("\nSearching for a model ...", "bold")
    search.set_params(verbose=int(voice.live), callbacks=[*clock.limit(1 + fits_left), *keeper])
    pipeline.fit(training.frame, training.labels)
    was_interrupted = search.stop_reason_ == "interrupted"
    search.set_params(verbose=0, callbacks=clock.limit(fits_left) or None)
    search.manifest_["target"] = target  # labels out of a table have lost it
    tell_of_limit(voice, search)
    if not any(len(model.terms) for model in search.models_):
        voice.warn("the model is empty: no column tells anything about the class that passes the test")
    score = None
    if not was_interrupted:
        try:
            score = honest_score(
                voice, pipeline, training.frame, training.labels, folds, seed, beside_others=report is not None
            )
        except KeyboardInterrupt:
            was_interrupted = True
    report_left_out, report = (report, None) if was_interrupted else (None, report)
    search.set_params(callbacks=None)  # the file does not depend on who watched
    if output != "-" and not as_json:
        voice.say()
        show(_as_text(pipeline, score))
        voice.say()
    if score is not None and no_better(score):
        voice.warn(no_better(score))
    _finish(voice, pipeline, training, score, output, report, target)
    if as_json:
        show_json(_as_json(pipeline, training, described, score, output, report))
    if was_interrupted:
        msg = f"interrupted: the model is not scored{' and gets no report' if report_left_out else ''}."
        raise Failure(msg, 130)


# ---- the table


def _read(voice: Voice, data: str, target: str, **choice: Any) -> Training:
    from .._tables.reading import read_raw
    from .._tables.training import LeakError, training_of

    table = read_raw(data)
    n_rows, n_columns = table.frame.shape
    voice.say(f"{table.name}: {n_rows} rows, {n_columns} columns", "bold")
    for note in table.notes:
        voice.say(f"  {note}")
    try:
        training = training_of(table, target, **choice)
    except LeakError as error:
        raise refusal(error) from None
    if training.n_unlabelled:
        voice.warn(unlabelled(training.n_unlabelled, target))
    for name, share in training.nearly_numbers.items():
        voice.warn(
            f"{name!r} is taken for text, though {share:.0%} of its cells are numbers (<5 is none). Pass "
            f"--number {shlex.quote(name)} to read it as numbers, other cells as blank, or mend those cells."
        )
    return training


def tell_of_limit(voice: Voice, search: Any) -> None:
    """Say that there was no time to search to the end."""
    if search.stop_reason_ == "time_limit":
        voice.warn("the time limit ended the search before its end: with more time the model may be another")


def unlabelled(n: int, target: str) -> str:
    """What became of rows without a class."""
    return f"{counted(n, 'row')} without a {target} {verb(n, 'was', 'were')} dropped"


def refusal(error: Any) -> Failure:
    """The columns that need a decision, and how to go on."""
    found = error.found
    width = max(len(one.column) for one in found)
    lines = [f"  {one.column:<{width}}  {one.why}" for one in found]
    drops = " ".join(f"--drop {shlex.quote(one.column)}" for one in found)
    plural = len(found) > 1
    return Failure(
        f"nothing was fitted: {len(found)} column{'s look' if plural else ' looks'} like an identifier or like the "
        "target itself.\n" + "\n".join(lines) + f"\nLeave {'them' if plural else 'it'} out with {drops}\nor, if you "
        f"know {'them' if plural else 'it'} to be fair, pass --keep instead of --drop."
    )


def _describe(voice: Voice, training: Training, encoder: Any) -> list[dict[str, str]]:
    """Say what happens to every column."""
    from .._model.recipe_reader import read_recipe
    from .._tables.encode import fitted_encoder, treatment

    fitted = fitted_encoder(encoder, training.frame)
    recipe = read_recipe(fitted, [column.name for column in training.columns]).recipe
    rows = []
    for j, column in enumerate(training.columns):
        n = column.n_odd
        odd = f"; {counted(n, 'cell')} without a number {verb(n, 'counts', 'count')} as blank" if n else ""
        rows.append({"column": column.name, "kind": column.kind, "use": treatment(recipe, j) + odd})
    rows += [{"column": name, "kind": "", "use": f"left out: {why}"} for name, why in training.left_out.items()]
    _tell(voice, rows)
    return rows


def _tell(voice: Voice, rows: list[dict[str, str]]) -> None:
    """The columns as a table; of very many only those with which something happens."""
    shown = rows if len(rows) <= MANY_COLUMNS else [row for row in rows if row["use"] != "as it is"][:MANY_COLUMNS]
    out = [i for i, row in enumerate(shown) if row["use"].startswith("left out")]
    if shown:
        voice.table(["column", "kind", "what happens"], [list(row.values()) for row in shown], dim=out)
    if len(shown) < len(rows):
        n_plain = sum(row["use"] == "as it is" for row in rows)
        n_rest = len(rows) - len(shown)
        more = f"... and {n_rest} more columns; " if shown else "  "
        voice.say(f"{more}{n_plain} columns of numbers are used as they are")


# ---- the model


def _finish(
    voice: Voice, pipeline: Any, training: Training, score: Any, output: str | None, report: str | None, target: str
) -> None:
    """Write what was asked for."""
    if output is not None:
        put(checked_json(pipeline, training.frame), output)
    saved(voice, output)
    if report is not None:
        from .report import page_of

        voice.say("Writing the report ...")
        put(page_of(pipeline, training.frame, training.labels, score, target), report)
        voice.say(f"Written: {report}", "green")


def saved(voice: Voice, output: str | None) -> None:
    """Say where the model is, and what can be done with it."""
    if output is None:
        voice.say("Not saved; pass -o model.json to keep the model.")
    elif output != "-":
        voice.say(f"Saved: {output}", "green")
        voice.say(f"Next: rfsc predict {output} new.csv, rfsc explain {output} new.csv --row 1, rfsc export --help")


def checked_json(pipeline: Any, X: Any) -> str:
    """The text of a model file that has been seen to predict as the pipeline does."""
    import numpy as np

    from ..export import from_json, to_json
    from ..export.json_limits import too_much

    text = to_json(pipeline)
    if too_much(text.encode()):
        text = to_json(pipeline, history=False)  # the course of a thousand searches, which no model file may hold
    ours, theirs = pipeline.decision_function(X), from_json(text).decision_function(X)
    if not np.allclose(ours, theirs, rtol=1e-9, atol=1e-9):
        msg = "the model file would not predict as the model does, so nothing was saved. Please report this."
        raise Failure(msg)
    return text


# ---- the answer


def _as_text(pipeline: Any, score: Any) -> str:
    from .info import summaries

    return "\n\n".join([*summaries(pipeline), *([score_text(score)] if score is not None else [])])


def _as_json(
    pipeline: Any,
    training: Training,
    described: list[dict[str, str]],
    score: Any,
    output: str | None,
    report: str | None,
) -> dict[str, Any]:
    from .info import model_as_dict

    return {
        "model": output,
        "report": report,
        "rows": len(training.labels),
        "rows_without_label": training.n_unlabelled,
        "columns": described,
        "score": None if score is None else score_as_dict(score),
        **model_as_dict(pipeline),
    }
