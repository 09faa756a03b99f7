"""`rfsc fit`: from a table with texts and blanks to a model file, with an honest score on the way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from .console import Failure, Voice, show, show_json
from .files import check_free, put
from .options import Data, Force, Jobs, Json, Quiet, Seed, listed, settings
from .scoring import folds_for, honest_score, score_as_dict, score_text

if TYPE_CHECKING:
    from ..tables.training import Training

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
    basis: Annotated[
        str,
        typer.Option(help="What terms are made of: auto, polynomial, centred, hinge, step, fourier, radial, sigmoid."),
    ] = "auto",
    degree: Annotated[int, typer.Option(help="Largest degree of polynomial terms.")] = 2,
    restarts: Annotated[int, typer.Option(help="Independent searches.")] = 10,
    max_terms: Annotated[
        int | None, typer.Option(help="Largest model that the search draws.", show_default="60")
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
    """
    voice = Voice(quiet=quiet)
    for path in (output, report):
        check_free(path, force=force)
    if report == "-" or (as_json and output == "-"):
        msg = "stdout can hold one result only; give --report a file, and -o a file where --json is passed."
        raise Failure(msg)

    from sklearn.pipeline import make_pipeline

    from ..classifier import RFSCClassifier
    from ..tables.encode import encoder_of

    chosen = {"basis": _basis(basis), "degree": degree, "n_restarts": restarts, "random_state": seed, "n_jobs": jobs}
    chosen |= {} if max_terms is None else {"max_terms": max_terms}
    search = RFSCClassifier(verbose=int(voice.live)).set_params(**chosen)
    more = settings(setting, search.get_params())
    training = _read(voice, data, target, drop, keep, only)
    if len(training.labels) > LONG and "max_samples" not in more:
        search.set_params(max_samples=SAMPLE)
        voice.say(f"  a long table: models are compared on {SAMPLE} rows at a time (--set max_samples=none for all)")
    search.set_params(**more)
    folds = folds_for(len(training.labels), cv, test_size, seed)
    pipeline = make_pipeline(encoder_of(training.columns), search)
    described = _describe(voice, training, pipeline[0])
    voice.say("\nSearching for a model ...", "bold")
    pipeline.fit(training.frame, training.labels)
    search.set_params(verbose=0)  # the file does not depend on who watched
    search.manifest_["target"] = target  # labels out of a table have lost it
    if not any(len(model.terms) for model in search.models_):
        voice.warn("the model is empty: no column tells anything about the class that passes the test")
    score = honest_score(
        voice, pipeline, training.frame, training.labels, folds, seed, beside_others=report is not None
    )
    if output != "-" and not as_json:
        voice.say()
        show(_as_text(pipeline, score))
        voice.say()
    _finish(voice, pipeline, training, score, output, report, target)
    if as_json:
        show_json(_as_json(pipeline, training, described, score, output, report))


def _basis(text: str) -> Any:
    names = listed([text])
    return names[0] if len(names) == 1 else names


# ---- the table


def _read(voice: Voice, data: str, target: str, drop: Any, keep: Any, only: Any) -> Training:
    from ..tables.reading import read_raw
    from ..tables.training import LeakError, training_of

    table = read_raw(data)
    n_rows, n_columns = table.frame.shape
    voice.say(f"{table.name}: {n_rows} rows, {n_columns} columns", "bold")
    for note in table.notes:
        voice.say(f"  {note}")
    try:
        training = training_of(table, target, drop=drop or (), keep=keep or (), only=only or ())
    except LeakError as error:
        raise _refusal(error) from None
    if training.n_unlabelled:
        voice.warn(f"{training.n_unlabelled} rows without a {target} were dropped")
    return training


def _refusal(error: Any) -> Failure:
    """The columns that need a decision, and how to go on."""
    found = error.found
    width = max(len(one.column) for one in found)
    lines = [f"  {one.column:<{width}}  {one.why}" for one in found]
    drops = " ".join(f"--drop {_shell(one.column)}" for one in found)
    plural = len(found) > 1
    return Failure(
        f"nothing was fitted: {len(found)} column{'s look' if plural else ' looks'} like an identifier or like the "
        "target itself.\n" + "\n".join(lines) + f"\nLeave {'them' if plural else 'it'} out with {drops}\nor, if you "
        f"know {'them' if plural else 'it'} to be fair, pass --keep instead of --drop."
    )


def _shell(name: str) -> str:
    import shlex

    return shlex.quote(name)


def _describe(voice: Voice, training: Training, encoder: Any) -> list[dict[str, str]]:
    """Say what happens to every column."""
    from ..prepare.recipe_reader import read_recipe
    from ..tables.encode import fitted_encoder, treatment

    fitted = fitted_encoder(encoder, training.frame)
    recipe = read_recipe(fitted, [column.name for column in training.columns]).recipe
    rows = []
    for j, column in enumerate(training.columns):
        odd = f"; {column.n_odd} cells that are no numbers count as blank" if column.n_odd else ""
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
        if output != "-":
            voice.say(f"Saved: {output}", "green")
            voice.say(f"Next: rfsc predict {output} new.csv, rfsc explain {output} new.csv --row 1, rfsc export --help")
    else:
        voice.say("Not saved; pass -o model.json to keep the model.")
    if report is not None:
        from .report import page_of

        voice.say("Writing the report ...")
        put(page_of(pipeline, training.frame, training.labels, score, target), report)
        voice.say(f"Written: {report}", "green")


def checked_json(pipeline: Any, X: Any) -> str:
    """The text of a model file that has been seen to predict as the pipeline does.

    Parameters
    ----------
    pipeline : Pipeline
        Fitted.
    X : DataFrame
        The rows on which both must agree.

    Returns
    -------
    str
        JSON.
    """
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
