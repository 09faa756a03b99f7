"""`rfsc export`: a model file in another language."""

from __future__ import annotations

import html
import re
import shlex
import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer

from .console import Failure, Voice
from .files import check_free, put
from .options import Force, Model, Output, Quiet
from .rows import load_model

NAME = "export"
CHOICES = {"dialect": ("sqlite", "duckdb", "postgresql"), "units": ("original", "scaled")}
CELL = re.compile("[A-Za-z]{1,3}")  # letters of a column in a spreadsheet
# what each format may be told besides the model
FORMATS: dict[str, tuple[str, ...]] = {
    "sql": ("dialect", "table"),
    "python": ("name",),
    "c": ("name",),
    "xlsx-formula": ("cell",),
    "onnx": (),
    "latex": ("units",),
    "html": ("units",),
    "text": ("units",),
    "json": (),
}


def command(
    model: Model,
    to: Annotated[str, typer.Option("--to", metavar="FORMAT", help=f"{', '.join(FORMATS)}.", show_default=False)],
    output: Output = None,
    dialect: Annotated[
        str | None, typer.Option(help="SQL: sqlite, duckdb or postgresql.", show_default="sqlite")
    ] = None,
    table: Annotated[str | None, typer.Option(help="SQL: the table to read.", show_default="data")] = None,
    name: Annotated[
        str | None, typer.Option(help="Python and C: name of the function.", show_default="predict")
    ] = None,
    cell: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN=LETTER", help="Spreadsheet: where a column is, such as age=C.", show_default="from A on"
        ),
    ] = None,
    units: Annotated[
        str | None, typer.Option(help="Equations: original or scaled to [0, 1].", show_default="original")
    ] = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Write a model so that it runs elsewhere: in a database, a program, a spreadsheet, a paper.

    What is written reads the raw columns, texts and blanks included, and gives the same answers as `rfsc predict`.
    Equations (latex, html, text) are for people.
    """
    given = {"dialect": dialect, "table": table, "name": name, "cell": cell or None, "units": units}
    options = _fitting(to, {key: value for key, value in given.items() if value is not None})
    place = check_free(output or "-", force=force, others={"the model file": model})
    content = _WRITERS[to](load_model(model), **options)
    if isinstance(content, bytes) and place == "-" and sys.stdout.isatty():
        msg = f"{to} is no text; pass -o FILE."
        raise Failure(msg)
    put(content if isinstance(content, bytes) or content.endswith("\n") else content + "\n", place)
    if place != "-":
        Voice(quiet=quiet).say(f"Written: {place}", "green")


def _fitting(to: str, given: dict[str, Any]) -> dict[str, Any]:
    """The options, if they belong to the format."""
    if to not in FORMATS:
        msg = f"--to does not know {to}. Choose from: {', '.join(FORMATS)}."
        raise Failure(msg, 2)
    for key in given:
        if key not in FORMATS[to]:
            homes = " or ".join(f"--to {form}" for form, keys in FORMATS.items() if key in keys)
            msg = f"--{key} goes with {homes}, not with --to {to}."
            raise Failure(msg, 2)
        if given[key] not in CHOICES.get(key, (given[key],)):
            msg = f"--{key} does not know {given[key]}. Choose from: {', '.join(CHOICES[key])}."
            raise Failure(msg, 2)
    return given


# ---- one writer per format; imports are theirs


def _json(source: Any) -> str:
    from ..export import to_json

    return to_json(source)


def _sql(source: Any, **options: str) -> str:
    from ..export import to_sql

    return to_sql(source, **options)


def _python(source: Any, **options: str) -> str:
    from ..export import to_python

    return to_python(source, **options)


def _c(source: Any, **options: str) -> str:
    from ..export import to_c

    return to_c(source, **options)


def _spreadsheet(source: Any, cell: list[str] | None = None) -> str:
    from ..export import to_spreadsheet
    from ..export.program import Program

    pairs = [text.rpartition("=") for text in cell or []]
    if not all(column and equals and CELL.fullmatch(letters) for column, equals, letters in pairs):
        msg = "--cell expects COLUMN=LETTER, such as age=C."
        raise Failure(msg, 2)
    places = {column: letters.upper() for column, _, letters in pairs}
    program = Program.of(source)
    read = [program.columns[c].name for c in program.read]
    missing = [name for name in read if places and name not in places]
    if missing:
        words = " ".join(f"--cell {shlex.quote(name)}=LETTER" for name in missing)
        msg = f"--cell must say where every column is that the model reads; also pass {words}."
        raise Failure(msg, 2)
    strange = [name for name in places if name not in [column.name for column in program.columns]]
    if strange:
        msg = f"--cell {strange[0]}: the model knows no such column. It reads: {', '.join(read)}."
        raise Failure(msg, 2)
    if len(set(places.values())) < len(pairs):
        msg = "--cell names a column twice, or puts two columns into one place. Give every column a letter of its own."
        raise Failure(msg, 2)
    return to_spreadsheet(source, cells=places or None)


def _onnx(source: Any) -> bytes:
    from ..export import to_onnx

    return bytes(to_onnx(source).SerializeToString())


def _equations(form: str) -> Callable[..., str]:
    def write(source: Any, units: str = "original") -> str:
        from ..explain import equations

        found = equations(source, units=units, form=form)
        if form == "text":
            found = {label: "\n".join([text, *_meanings(source, label)]) for label, text in found.items()}
        if len(found) == 1:
            return str(*found.values())
        heads = {"text": "{}: ", "latex": "% {}\n", "html": "{}: "}[form]
        return "\n\n".join(heads.format(_one_line(label, form)) + text for label, text in found.items())

    return write


def _meanings(source: Any, label: object) -> list[str]:
    """The formulas behind what an equation only names."""
    from .info import defined

    lines = defined(source, label)
    return ["where, in your own units:", *lines] if lines else []


def _one_line(label: object, form: str) -> str:
    """A class in front of its equation, where it must not break out of its line or open a tag."""
    text = " ".join(str(label).split())
    return html.escape(text) if form == "html" else text


_WRITERS: dict[str, Callable[..., str | bytes]] = {
    "sql": _sql,
    "python": _python,
    "c": _c,
    "xlsx-formula": _spreadsheet,
    "onnx": _onnx,
    "latex": _equations("latex"),
    "html": _equations("html"),
    "text": _equations("text"),
    "json": _json,
}
