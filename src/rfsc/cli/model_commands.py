"""`rfsc predict`, `rfsc explain`, `rfsc report`, `rfsc info` and `rfsc monitor`: what can be done with a model file."""

from __future__ import annotations

import io
import json
import re
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .._utils.optional import require
from .._utils.words import plural
from .arguments import Data, Force, Json, Model, ModelTarget, Output, Quiet, Target, column_option, file_option
from .column_table import shown_columns
from .console import (
    CommandError,
    Messages,
    check_writable,
    output_width,
    print_json,
    print_result,
    table_text,
    write_result,
)
from .fit_again import fitted_again
from .fit_model import fallback_text
from .new_rows import asked_class, labels_for_model, load_model, read_model_and_table, rows_for_model, shown, unusual

if TYPE_CHECKING:
    from .._input.table_files import RawTable
    from .._model.predictor import Predictor

PARQUET_ENDINGS = ("parquet", "pq")
FORMULA_SIGNS = frozenset("=+-@＝＋－＠")  # with which formulas begin, in Japanese sheets too
REPORT_ENDINGS = (".html", ".json")


# ---- predict


def predict(
    model: Model,
    data: Data,
    output: Output = None,
    proba: Annotated[bool, typer.Option("--proba", help="Add the probability of every class.")] = False,
    all_digits: Annotated[
        bool, typer.Option("--all-digits", help="Write probabilities with all digits instead of three.")
    ] = False,
    keep: Annotated[list[str] | None, column_option("Copy this column to the result, such as a key.")] = None,
    spreadsheet: Annotated[
        bool, typer.Option("--spreadsheet", help="Put an apostrophe before cells that look like formulas.")
    ] = False,
    force: Force = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Predict the class of every row of a table.

    The table needs the raw columns that the model reads, in any order. The result has one row for each row of the
    table: CSV, or TSV or Parquet if the file name ends with .tsv or .parquet, or JSON. Names and cells are written as
    they are; pass --spreadsheet if the result is to be opened in a spreadsheet program.
    """
    path = check_writable(output or "-", force=force, inputs={"the table": data, "the model file": model})
    messages = Messages(quiet=quiet)
    predictor, table = read_model_and_table(messages, model, data)

    from pandas import DataFrame

    from .._input.column_checks import check_names

    kept = keep or []
    check_names(list(table.frame.columns), kept, table.name)
    proba_names = [f"probability_{label}" for label in predictor.classes_.tolist()] if proba else []
    taken = [name for name in kept if name in ("predicted", *proba_names)]
    if taken:
        msg = f"--keep {taken[0]}: the result already has a column of this name. Rename the column of the table."
        raise CommandError(msg, 2)
    X = rows_for_model(messages, predictor, table)
    for text in unusual(predictor, X):
        messages.warn(text)
    columns = {name: table.frame[name] for name in kept} | {"predicted": predictor.predict(X)}
    is_text = not as_json and _ending(path) not in PARQUET_ENDINGS
    if proba:
        values = predictor.predict_proba(X).T
        shown = [[f"{p:.3f}" for p in row] for row in values.tolist()] if is_text and not all_digits else values
        columns |= dict(zip(proba_names, shown, strict=True))
    result = DataFrame(columns)
    if spreadsheet:
        result = _without_formulas(result)
    elif is_text:
        _warn_of_formulas(messages, result)
    write_result(_as_json(result) if as_json else _as_file(result, _ending(path)), path)
    if path != "-":
        messages.info(f"Wrote {path} ({plural(len(result), 'row')})", "green")


def _ending(path: str) -> str:
    return path.rpartition(".")[2].lower()


def as_text(cell: str) -> str:
    """A cell that spreadsheets show and never compute: what looks like a formula gets an apostrophe in front."""
    if cell.lstrip()[:1] not in FORMULA_SIGNS:
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell


def _without_formulas(result: Any) -> Any:
    safe = result.map(lambda cell: as_text(cell) if isinstance(cell, str) else cell)
    return safe.set_axis([as_text(name) for name in result.columns], axis=1)


def _warn_of_formulas(messages: Messages, result: Any) -> None:
    n = sum(isinstance(cell, str) and as_text(cell) != cell for name in result for cell in (name, *result[name]))
    if n:
        what = f"{plural(n, 'cell')} {'looks like a formula' if n == 1 else 'look like formulas'}"
        messages.warn(f"{what} that a spreadsheet program would run; --spreadsheet writes text instead")


def _as_json(result: Any) -> str:
    from ..report.content import plain

    # not by pandas, which writes 15 digits of a number
    return f"{json.dumps(plain(result.to_dict('records')), indent=2, ensure_ascii=False)}\n"


def _as_file(result: Any, ending: str) -> str | bytes:
    if ending in PARQUET_ENDINGS:
        require("writing Parquet", ["pyarrow"], "parquet")
        buffer = io.BytesIO()
        for name in result.columns[[len(set(map(type, result[name].dropna()))) > 1 for name in result]]:
            result[name] = result[name].astype("string")  # a column of Parquet holds cells of one type
        result.to_parquet(buffer, index=False)
        return buffer.getvalue()
    return str(result.to_csv(index=False, sep="\t" if ending in ("tsv", "tab") else ",", lineterminator="\n"))


# ---- explain


def explain(
    model: Model,
    data: Data,
    row: Annotated[
        list[int] | None,
        typer.Option("--row", metavar="N", min=1, help="Only this row; the first is 1.", show_default="all rows"),
    ] = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Explain in plain words which probability each row gets, and why.

    Each value is compared with the typical one: the median or the most frequent level of the training table. The text
    contains cells of the table: consider who may read it.
    """
    messages = Messages(quiet=quiet)
    predictor, table = read_model_and_table(messages, model, data)
    predictor = shown(predictor)
    wanted = list(row or range(1, len(table.frame) + 1))
    if max(wanted) > len(table.frame):
        msg = f"{table.name} has {plural(len(table.frame), 'row')}, but row {max(wanted)} was asked for."
        raise CommandError(msg)

    from ..explain.sentence import explanation

    X = rows_for_model(messages, predictor, table).iloc[[number - 1 for number in wanted]]
    found = [explanation(predictor, X.iloc[[i]]) for i in range(len(X))]
    if not as_json:
        numbered = zip(wanted, (one.text() for one in found), strict=True)
        print_result("\n".join(text if len(X) == 1 else f"{number}: {text}" for number, text in numbered))
        return
    classes = [str(label) for label in predictor.classes_.tolist()]
    keys = ("row", "predicted", "probability", "text", "reasons")
    proba = [dict(zip(classes, p, strict=True)) for p in predictor.predict_proba(X).tolist()]
    texts, reasons = [one.text() for one in found], [[asdict(reason) for reason in one.reasons] for one in found]
    rows = zip(wanted, predictor.predict(X).tolist(), proba, texts, reasons, strict=True)
    print_json([dict(zip(keys, cells, strict=True)) for cells in rows])


# ---- report


def report(
    model: Model,
    data: Data,
    target: Target,
    output: Annotated[str, file_option("Report to write (.html or .json); - is stdout.", "-o", "--output")],
    title: Annotated[str | None, typer.Option(help="Title of the report.", show_default="from the target")] = None,
    certificate: Annotated[str | None, file_option("Certificate to show, written by `rfsc certify`.")] = None,
    atlas: Annotated[str | None, file_option("Table of the fit: also show other models that are as good.")] = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Write a report of a saved model on a table: score, equation, terms, figures, warnings.

    The report is one HTML page that needs no network and contains no row of the table; a file name that ends with
    .json gives the numbers. The model is scored on the rows of the table, which should be rows that it was not fitted
    to. To cross-validate, use `rfsc fit --report` instead.
    """
    inputs = {"the table": data, "the model file": model, "the certificate": certificate, "the table of the fit": atlas}
    if atlas is not None and "-" in (model, atlas):
        msg = "--atlas needs the model and the table of its fit as files, not from stdin."
        raise CommandError(msg, 2)
    output = check_writable(output, force=force, inputs=inputs, endings=REPORT_ENDINGS)
    from ..atlas import atlas as atlas_of
    from ..certify import Certificate
    from ..report import Report

    messages = Messages(quiet=quiet)
    predictor, table = read_model_and_table(messages, model, data)
    evidence = None if certificate is None else Certificate.load(certificate)
    rows, labels = labels_for_model(predictor, table, target)
    if not rows.all():
        messages.warn(f"dropped {plural(int((~rows).sum()), 'row')} without a value of {target!r}")
    X = rows_for_model(messages, predictor, table)[rows].reset_index(drop=True)
    again = None if atlas is None else fitted_again(messages, load_model(model), atlas, target, "atlas")
    good = None if again is None else atlas_of(*again[:3])
    more: dict[str, Any] = {"target": target, "title": title, "source": Path(data).name}
    more |= {"warnings": messages.warned, "notes": messages.notes, "groups": _groups(predictor, table, rows)}
    more["label"] = asked_class(predictor)
    made = Report.from_estimator(predictor, X, labels, cv=None, certificate=evidence, atlas=good, **more)
    write_report(made, output)
    if output != "-":
        messages.info(f"Wrote {output}", "green")


def _groups(predictor: Predictor, table: RawTable, rows: Any) -> Any:
    """Which rows belong together, if the fit was told so and the table has the column."""
    name = (predictor.manifest_ or {}).get("group")
    return table.frame[name][rows].astype(str).to_numpy() if name in table.frame.columns else None


def write_report(made: Any, path: str) -> None:
    """Write a report in the format that the file name asks for."""
    write_result(made.json() if _ending(path) == "json" else made.html(), path)


# ---- info


def info(model: Model, as_json: Json = False) -> None:
    """Show what is in a model file: classes, columns that the model reads, equations, settings."""
    predictor = shown(load_model(model))
    facts = model_as_dict(predictor)
    if as_json:
        print_json(facts)
        return
    blanks = [
        "" if c["needed"] else f"blanks become {c['fill']:.6g}" if c["fill"] is not None else "may be blank"
        for c in facts["reads"]
    ]
    columns = [[c["name"], c["kind"], blank] for c, blank in zip(facts["reads"], blanks, strict=True)]
    manifest = facts["manifest"]
    timings = manifest and manifest["timings"]
    when = f" in {timings['seconds']:g} s on {timings['finished'][:10]}" if timings else ""
    head = [
        f"classes: {', '.join(facts['classes'])}",
        f"fitted to {facts['n_observations']:g} rows{when}",
        f"reads {len(columns)} of {plural(facts['n_columns'], 'column')}:",
        table_text(["column", "kind", ""], columns),
    ]
    if manifest and manifest["columns"]:
        head += [
            "",
            "what the fit did with every column of its table:",
            table_text(*shown_columns(manifest["columns"])),
        ]
    settings = ", ".join(f"{key}={value}" for key, value in facts["settings"].items())
    parts = ["\n".join(head), *summaries(predictor), f"settings: {settings}"]
    if predictor.fallbacks_:
        parts.insert(-1, fallback_text(predictor))
    if manifest:
        versions = ", ".join(f"{name} {version}" for name, version in manifest["versions"].items())
        parts.append(f"made with: {versions}; engine {manifest['engine']}\ndata: {manifest['data']['content']}")
    print_result("\n\n".join(parts))


def summaries(source: Any) -> list[str]:
    """Every output of a model as text that fits the screen."""
    from .._model.access import models_of
    from ..explain import summary

    labels, width = [model.label for model in models_of(source)], output_width()
    return [summary(source, label=label, width=width) + _definitions(source, label, width) for label in labels]


def _definitions(source: Any, label: object, width: int) -> str:
    """What the equation of one output only names, in the units of the table."""
    from ..explain.equation import original_equation

    lines = definition_lines(source, label) if original_equation(source, label=label) else []
    return "\n".join(["\n\nwhere, in original units:", *(_wrapped(line, width) for line in lines)]) if lines else ""


def definition_lines(source: Any, label: object) -> list[str]:
    """Definitions of the functions that an equation only names."""
    from ..explain import definitions

    return [f"{name} = {formula}" for name, formula in definitions(source, label=label).items()]


def _wrapped(formula: str, width: int) -> str:
    """A long formula on several lines, broken before a sign."""
    first, *parts = re.split(r" (?=[+-] )", formula)
    lines = [first]
    for part in parts:
        if len(lines[-1]) + len(part) + 1 > width:
            lines.append(f"    {part}")
        else:
            lines[-1] += f" {part}"
    return "\n".join(lines)


def model_as_dict(source: Any) -> dict[str, Any]:
    """What is in a model, for JSON."""
    from .._model.access import as_predictor
    from .._model.recipe import NumberOf
    from ..export.program import Program

    predictor = as_predictor(source)
    program = Program.of(predictor)
    return {
        "classes": [str(label) for label in predictor.classes_.tolist()],
        "n_observations": float(predictor.models_[0].n_observations),
        "n_columns": len(program.columns),
        "reads": [
            {
                "name": program.columns[c].name,
                "kind": program.columns[c].kind,
                "needed": c in program.required,
                "fill": next((made.fill for made in program.made_of(c) if isinstance(made, NumberOf)), None),
            }
            for c in program.read
        ],
        "outputs": [_output_as_dict(model) for model in predictor.models_],
        "fallbacks": [
            {
                "when_missing": one.when_missing,
                "outputs": [_output_as_dict(model) for model in one.models],
                **one.figures,
            }
            for one in predictor.fallbacks_
        ],
        "settings": {
            key: value if isinstance(value, str | int | float | bool | None) else str(value)
            for key, value in sorted(predictor.settings_.items())
        },
        "manifest": predictor.manifest_,
    }


def _output_as_dict(model: Any) -> dict[str, Any]:
    from ..explain import definitions
    from ..explain.equation import original_equation

    original = original_equation(model)
    return {
        "label": str(model.label),
        "equation": original,
        "definitions": {} if original is None else definitions(model),
        "terms": [{"name": n, "coef": float(c)} for n, c in zip(model.names, model.coef, strict=True)],
    }


# ---- monitor


def monitor(
    model: Model,
    data: Data,
    target: ModelTarget = None,
    fail_above: Annotated[
        float | None,
        typer.Option(
            metavar="PSI",
            min=0.0,
            help="Exit with status 1 if a PSI is above this, and more than chance explains.",
            show_default="always 0",
        ),
    ] = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Show what has moved since the fit: the score, the columns that the model reads, blanks, levels and ranges.

    No classes are needed. If the table has the target column, calibration, AUC and log-loss are shown beside those of
    the fit. The output contains no row of the table; levels are named if they are in at least five rows.
    """
    from .. import monitor as monitoring

    messages = Messages(quiet=quiet)
    predictor, table = read_model_and_table(messages, model, data)
    if predictor.reference_ is None:
        msg = f"{model} holds no reference to compare new rows with; fit the model again with `rfsc fit`."
        raise CommandError(msg)
    found = monitoring.monitor(
        predictor, rows_for_model(messages, predictor, table), _known_classes(predictor, table, target, messages)
    )
    print_result(found.to_json() if as_json else found.text())
    if fail_above is not None and found.largest_psi > fail_above:
        messages.warn(f"a PSI of {found.largest_psi:.3f} is above {fail_above:g}, and more than chance explains")
        raise typer.Exit(1)


def _known_classes(predictor: Predictor, table: RawTable, target: str | None, messages: Messages) -> Any:
    """The class of every row, None for rows without one; None if the table has no column of classes."""
    import numpy as np

    from .._input.column_types import column_of_kind

    given = target
    target = target or (predictor.manifest_ or {}).get("target")
    if target is None or (given is None and target not in table.frame.columns):
        return None
    if given is None and column_of_kind(target, table.frame[target], "text").blank.all():
        messages.info(f"{target!r} is blank in all rows, so only the shifts are shown.")
        return None
    rows, labels = labels_for_model(predictor, table, target)
    found = np.full(len(rows), None, dtype=object)
    found[rows] = labels
    return found
