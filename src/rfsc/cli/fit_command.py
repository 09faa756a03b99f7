"""`rfsc fit`: from a table with text and blanks to a scored model in a file; and `rfsc demo`, which fits an example."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._utils.words import listed, plural, rows_text
from . import arguments, fit_score
from .arguments import Columns, column_option, file_option
from .column_table import describe_columns, dropped_columns, plain_columns, refusal, show_columns
from .console import (
    LIBRARY_WARNINGS,
    CommandError,
    Messages,
    check_writable,
    print_json,
    print_result,
    write_result,
)
from .fit_again import fit_with_groups
from .fit_model import fallback_text, model_text, model_with_fallbacks
from .fit_score import FitTimeLimit
from .model_commands import REPORT_ENDINGS, model_as_dict, summaries, write_report
from .new_rows import asked_class, shown
from .refit_commands import Pairs, certificate_of, certificate_text

if TYPE_CHECKING:
    from .. import Checkpoint
    from .._input.training_data import ChunkedTable, ColumnChoice, TrainingTable
    from ..certify import Certificate
    from ..classifier import RFSCClassifier

MOST_DOUBTFUL = 5  # in a message


@dataclass(frozen=True, slots=True, kw_only=True)
class FitJob:
    """What the options of `rfsc fit` ask for."""

    data: str
    target: str
    columns: ColumnChoice
    search: RFSCClassifier
    messages: Messages
    time_limit: FitTimeLimit
    checkpoint: list[Checkpoint]
    cv: int | None = None
    test_size: float | None = None
    output: str | None = None
    report: str | None = None
    label: str | None = None  # the class that the model is about
    certify: bool = False
    pairs: int = 50
    fallback: bool = False
    as_json: bool = False

    @property
    def prints(self) -> bool:
        """Whether the result is text on stdout."""
        return not self.as_json and self.output != "-"


def fit(
    data: arguments.Data,
    target: arguments.Target,
    output: arguments.ModelFile = None,
    report: arguments.ReportFile = None,
    drop: Annotated[Columns, column_option("Do not use this column; repeat the option for more columns.")] = None,
    keep: Annotated[Columns, column_option("Use this column although it looks suspicious.")] = None,
    only: Annotated[Columns, column_option("Use only this column (and others given by --only).")] = None,
    number: Annotated[Columns, column_option("Read this column as numbers; other cells count as blank.")] = None,
    decimal: arguments.Decimal = None,
    group: Annotated[str | None, column_option("Rows with the same value stay together, such as visits.")] = None,
    site: Annotated[str | None, column_option("Score on each of these places after a fit to the others.")] = None,
    when: Annotated[str | None, column_option("Score on rows later than those of the fit.", "--time")] = None,
    label: arguments.FittedClass = None,
    increasing: Annotated[Columns, column_option("The odds of this class never fall with this column.")] = None,
    decreasing: Annotated[Columns, column_option("The odds of this class never rise with this column.")] = None,
    basis: arguments.Basis = "auto",
    degree: arguments.Degree = None,
    size: arguments.Size = "best",
    max_terms: arguments.MaxTerms = 8,
    restarts: arguments.Restarts = 3,
    setting: arguments.Setting = None,
    cv: arguments.Folds = None,
    test_size: arguments.TestSize = None,
    time_limit: arguments.TimeLimit = None,
    checkpoint: arguments.CheckpointFile = None,
    resume: arguments.Resume = False,
    certify: arguments.Certify = False,
    pairs: Pairs = 50,
    fallback: arguments.Fallback = False,
    seed: arguments.Seed = 0,
    jobs: arguments.Jobs = -1,
    force: arguments.Force = False,
    quiet: arguments.Quiet = False,
    as_json: arguments.Json = False,
) -> None:
    """Fit a small, readable model to a table, and score it on held-out rows.

    Text columns become indicators, with rare levels grouped; blanks in columns of numbers become the median, with an
    indicator. The model file includes this preprocessing, so that it reads raw tables.

    Columns that look like identifiers or like the target itself are refused until you --drop or --keep them.

    Ctrl-C ends the search with the best model so far, which is saved without a score (exit status 130); a second
    Ctrl-C stops at once. After a crash, the same command with --resume continues from the checkpoint.
    """
    fit_score.check_score_options(cv, test_size)
    output, report = _checked_results(data, output, report, force=force, as_json=as_json)
    files = {"the table": data, "the model": output, "the report": report}
    chosen = {"size": _size(size), "max_terms": max_terms, "n_restarts": restarts, "random_state": seed, "n_jobs": jobs}
    signs, roles = arguments.sign_restrictions(increasing or (), decreasing or ()), _roles(group, site, when, test_size)
    more: dict[str, Any] = {"cv": cv, "test_size": test_size, "output": output, "report": report, "as_json": as_json}
    job = FitJob(
        data=data,
        target=target,
        columns=arguments.column_choice(signs, roles, decimal, drop=drop, keep=keep, only=only, number=number),
        search=arguments.configured_search(basis, degree, setting or (), restrictions=signs, **chosen),
        messages=Messages(quiet=quiet),
        time_limit=FitTimeLimit(time_limit),
        checkpoint=arguments.checkpoint_at(checkpoint, resume=resume, force=force, inputs=files),
        label=label,
        certify=certify,
        pairs=pairs,
        fallback=fallback,
        **more,
    )
    run_fit(job)


def _roles(group: str | None, site: str | None, when: str | None, test_size: float | None) -> dict[str, str]:
    """Columns that say how rows belong together."""
    roles = {role: name for role, name in {"group": group, "site": site, "time": when}.items() if name is not None}
    if site is not None and (when is not None or test_size is not None):
        msg = f"--site and {'--time' if when is not None else '--test-size'} are two ways to score; pass one of them."
        raise CommandError(msg, 2)
    return roles


def _size(text: str) -> int | str:
    """What --size asks for."""
    if text in ("best", "1se"):
        return text
    if not text.isdecimal():
        msg = f"--size expects best, 1se or a number of terms, got {text!r}."
        raise CommandError(msg, 2)
    return int(text)


def _checked_results(
    data: str, output: str | None, report: str | None, *, force: bool, as_json: bool
) -> tuple[str | None, str | None]:
    """The files of the model and the report, if they can be written."""
    if output is not None:
        output = check_writable(output, force=force, inputs={"the table": data, "the report": report})
    if report is not None:
        inputs = {"the table": data, "the model": output}
        report = check_writable(report, force=force, inputs=inputs, endings=REPORT_ENDINGS)
    if report == "-" or (as_json and output == "-"):
        msg = "only one result can go to stdout; give --report a file, and with --json also -o."
        raise CommandError(msg, 2)
    return output, report


# ---- the steps


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """A table that is ready for a fit."""

    estimator: Any  # the search, or a pipeline that ends with it
    table: TrainingTable | ChunkedTable
    columns: list[dict[str, str]]  # what happens to every column
    n_scored: int  # fits of the score
    score: Callable[[], Any]

    @property
    def groups(self) -> Any:
        return getattr(self.table, "roles", {}).get("group")


def run_fit(job: FitJob) -> None:
    """Read, fit, score, show and save."""
    from .._input.training_data import LeakError, is_larger_than_memory

    try:
        prepared = _prepare_chunked(job) if is_larger_than_memory(job.data) else _prepare(job)
    except LeakError as error:
        raise CommandError(refusal(error.reasons, error.subjects)) from None
    was_interrupted = _fit(job, prepared)
    score = None
    if prepared.n_scored and not was_interrupted:
        try:
            score = prepared.score()
        except KeyboardInterrupt:
            was_interrupted = True
    job.search.set_params(verbose=None, callbacks=None)  # not part of the model file
    model = model_with_fallbacks(prepared.estimator, prepared.table, wanted=job.fallback and not was_interrupted)
    _show(job, shown(model), score)
    _save(job, prepared, model, score)
    certificate = None
    if job.certify and not was_interrupted:
        try:
            certificate = _certificate(job, prepared, model)
        except KeyboardInterrupt:
            was_interrupted = True
    if job.as_json:
        print_json(_as_dict(job, prepared, score, certificate) | model_as_dict(shown(model)))
    if was_interrupted:
        missing = {"score": score is None, "certificate": job.certify and certificate is None, "report": job.report}
        msg = f"interrupted: the model has {listed([f'no {what}' for what in missing if missing[what]])}."
        raise CommandError(msg, 130)
    if job.report is not None:
        from ..report import Report

        job.messages.info("Writing the report ...")
        more: dict[str, Any] = {"cv": score, "certificate": certificate, "target": job.target}
        more |= {"source": Path(job.data).name, "warnings": [*job.messages.warned, *LIBRARY_WARNINGS]}
        more |= {"notes": job.messages.notes, "groups": prepared.groups, "fallbacks": model.fallbacks_}
        more["label"] = asked_class(model)
        X, y = prepared.table.X, prepared.table.y
        write_report(Report.from_estimator(prepared.estimator, X, y, **more), job.report)
        job.messages.info(f"Wrote {job.report}", "green")


def _prepare(job: FitJob) -> Prepared:
    from sklearn.pipeline import make_pipeline

    from .._input.table_files import read_table
    from .._input.training_data import training_table

    raw = read_table(job.data)
    n_rows, n_columns = raw.frame.shape
    job.messages.info(f"{raw.name}: {plural(n_rows, 'row')}, {plural(n_columns, 'column')}", "bold")
    for note in raw.notes:
        job.messages.note(note)
    table = training_table(raw, job.target, job.columns)
    for name, share in table.nearly_numbers.items():
        job.messages.warn(
            f"{name!r} is read as text, although {share:.0%} of its cells are numbers. Pass --number "
            f"{shlex.quote(name)} to read it as numbers, with other cells as blanks, or correct those cells."
        )
    for text in table.doubts:
        job.messages.warn(text)
    if table.doubtful:
        where = [f"{name!r} ({rows_text(rows.tolist())})" for name, rows in table.doubtful.items()]
        job.messages.warn(f"values far from all others in {listed(where, MOST_DOUBTFUL)}; check them for mistakes")
    _choose_class(job, table.y)
    folds = fit_score.choose_folds(table, job.cv, job.test_size, job.search.random_state, job.time_limit)
    pipeline = make_pipeline(table.encoder, job.search)
    columns = describe_columns(table)
    show_columns(job.messages, columns)
    n_scored = 0 if folds is None else len(folds) if isinstance(folds, list) else folds.get_n_splits()
    all_methods = job.report is not None
    score = partial(fit_score.cross_validation, job.messages, pipeline, table, folds, baselines=all_methods)
    return Prepared(pipeline, table, columns, n_scored, score)


def _choose_class(job: FitJob, y: Any) -> None:
    """Check the class that the model is to be about; signs are those of its odds."""
    if job.label is None:
        return
    known = sorted(set(y.tolist()))
    if len(known) != 2:
        msg = f"--class chooses one of two classes, but {job.target!r} holds {len(known)}. Leave it out."
        raise CommandError(msg, 2)
    if job.label not in map(str, known):
        msg = f"--class must be {known[0]} or {known[1]}, the classes of {job.target!r}, got {job.label}."
        raise CommandError(msg, 2)
    if job.search.restrictions is not None and job.label == str(known[0]):
        signs = job.search.restrictions  # those of the second class say the same with the directions exchanged
        turned = replace(signs, increasing=signs.decreasing, decreasing=signs.increasing)
        job.search.set_params(restrictions=turned)


def _prepare_chunked(job: FitJob) -> Prepared:
    from .._input.training_data import chunked_table

    given = {"--report": job.report, "--number": job.columns.number, "--cv": job.cv, "--certify": job.certify}
    given |= {"--fallback": job.fallback, "--class": job.label}
    given |= {f"--{role}": name for role, name in job.columns.roles.items()}
    for option, value in given.items():
        if value:
            msg = f"{option} needs the table in memory, but {Path(job.data).name} is too large for that."
            raise CommandError(msg, 2)
    with job.messages.progress("reading the table"):
        table = chunked_table(job.data, job.target, job.columns)
    size = f"{plural(table.n_rows, 'row')}, {plural(len(table.X.columns), 'feature')}"
    job.messages.info(f"{table.name}: {size}; larger than memory, so it is read in chunks", "bold")
    columns = plain_columns(table.X.columns)
    score = partial(fit_score.held_out_score, job.messages, job.search, table, job.test_size)
    return Prepared(job.search, table, columns + dropped_columns(table.dropped), int(job.cv != 0), score)


def _fit(job: FitJob, prepared: Prepared) -> bool:
    """Fit the model; whether Ctrl-C ended the search."""
    from .._fit.fitting import undecided

    search, table, limit = job.search, prepared.table, job.time_limit
    if table.n_unlabelled:
        job.messages.warn(f"dropped {plural(table.n_unlabelled, 'row')} without a value of {job.target!r}")
    job.messages.info("\nSearching for a model ...", "bold")
    n_more = prepared.n_scored + job.certify
    callbacks = [*limit.callbacks(1 + n_more), *job.checkpoint]
    search.set_params(verbose=int(job.messages.is_live), callbacks=callbacks)
    fit_with_groups(prepared.estimator, table.X, table.y, prepared.groups)
    search.set_params(verbose=0, callbacks=limit.callbacks(n_more) or None)
    search.manifest_["target"] = job.target  # labels are an array without a name
    search.manifest_["class"] = job.label
    search.manifest_["group"] = job.columns.roles.get("group")
    search.manifest_["columns"] = prepared.columns
    if search.stop_reason_ == "time_limit":
        job.messages.warn("the time limit ended the search early; with more time the model may differ")
    if not any(model.size for model in search.models_):
        rows = plural(table.n_rows, "row")
        text = f"the model is empty: no column has a significant relation to the class in {rows}"
        job.messages.warn(text, in_report=False)
    elif undecided(search):
        job.messages.warn("the search came to no decision; more rows, or --set max_iter=1000, may help")
    return bool(search.stop_reason_ == "interrupted")


def _show(job: FitJob, model: Any, score: Any) -> None:
    if job.prints:
        parts = [*summaries(model), *([] if score is None else [fit_score.score_text(score)])]
        parts += [fallback_text(model)] if job.fallback else []
        job.messages.info()
        print_result("\n\n".join(parts))
        job.messages.info()
    if score is not None and not score.beats_majority:
        text = "on held-out rows the model is not clearly better than the shares of the classes alone"
        job.messages.warn(text, in_report=False)
    elif score is not None and score.never_predicted:
        never = listed([str(model.classes_[k]) for k in score.never_predicted])
        text = f"no held-out row is predicted as {never}; use the probabilities (rfsc predict --proba) and a threshold"
        job.messages.warn(text, in_report=False)


def _as_dict(job: FitJob, prepared: Prepared, score: Any, certificate: Certificate | None) -> dict[str, Any]:
    facts: dict[str, Any] = {"model": job.output, "report": job.report, "rows": prepared.table.n_rows}
    facts |= {"rows_without_label": prepared.table.n_unlabelled, "columns": prepared.columns}
    facts["score"] = None if score is None else fit_score.score_as_dict(score)
    if job.certify:
        facts["certificate"] = None if certificate is None else json.loads(certificate.to_json())
    return facts


def _save(job: FitJob, prepared: Prepared, model: Any, score: Any) -> None:
    from .._model.access import models_of
    from ..card.pieces import pieces_of

    if job.output is None:
        job.messages.info("The model was not saved; pass -o model.json to save it.")
        return
    write_result(model_text(model, prepared.table, score), job.output)
    if job.output != "-":
        job.messages.info(f"Saved the model to {job.output}", "green")
        path = shlex.quote(job.output)
        shown = f"Next: rfsc predict {path} new.csv, rfsc explain {path} new.csv --row 1, rfsc export --help"
        try:
            for one in models_of(model):
                pieces_of(model, one.label)
            job.messages.info(f"{shown}\nFor a score card: rfsc card {path} {shlex.quote(job.data)}")
        except ValueError:
            job.messages.info(f"{shown}\nFor a score card, fit with --basis hinge, step or rule.")


def _certificate(job: FitJob, prepared: Prepared, model: Any) -> Certificate | None:
    """Make and show the certificate; None if there was no time for it."""
    job.messages.info("\nFitting halves of the rows for the certificate ...", "bold")
    options = {"random_state": job.search.random_state, "callbacks": job.time_limit.callbacks(1), "n_pairs": job.pairs}
    table, options["groups"] = prepared.table, prepared.groups
    try:
        found = certificate_of(job.messages, prepared.estimator, table.X, table.y, **options)
    except TimeoutError as error:
        job.messages.warn(f"there is no certificate: {error}")
        return None
    if job.prints:
        print_result(certificate_text(found, model))
    return found


# ---- demo


def demo(
    data: Annotated[str | None, file_option("Only write the example table to this file.", "--data")] = None,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Other patients for every number.")] = 0,
    force: arguments.Force = False,
    quiet: arguments.Quiet = False,
) -> None:
    """Fit a model to an example table and show the result; or write the table, to try the other commands on it.

    The table is made up: 400 patients with text columns, blanks and an identifier.
    """
    from .._input.example_table import patients

    messages, text = Messages(quiet=quiet), patients(seed=seed).to_csv(index=False, lineterminator="\n")
    if data is None:
        with TemporaryDirectory() as folder:
            path = Path(folder, "patients.csv")
            path.write_text(text)
            fit(str(path), "diagnosis", drop=["patient"], quiet=quiet)
        messages.info("With a table of your own: rfsc fit data.csv --target COLUMN -o model.json --report report.html")
        return
    output = check_writable(data, force=force, inputs={})
    write_result(text, output)
    if output != "-":
        messages.info(f"Wrote {output}", "green")
        options = "--target diagnosis --drop patient -o model.json --report report.html"
        messages.info(f"Next: rfsc fit {shlex.quote(output)} {options}")
