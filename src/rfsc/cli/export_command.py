"""`rfsc export`: a model file in another language."""

from __future__ import annotations

import html
import sys
from collections.abc import Callable
from io import BytesIO
from typing import Annotated, Any

import typer

from .arguments import Force, Model, Output, Quiet
from .console import STDOUT_NAMES, CommandError, Messages, check_writable, write_result
from .model_commands import definition_lines
from .new_rows import load_model, shown

# the options of each format
FORMATS: dict[str, tuple[str, ...]] = {
    "sql": ("dialect", "table"),
    "python": ("name",),
    "c": ("name",),
    "javascript": ("name",),
    "html": (),
    "xlsx": (),
    "onnx": (),
    "latex": ("units",),
    "html-equation": ("units",),
    "text": ("units",),
    "json": (),
}
BINARY = ("xlsx", "onnx")


def export(
    model: Model,
    to: Annotated[str, typer.Option("--to", metavar="FORMAT", help=f"{', '.join(FORMATS)}.", show_default=False)],
    output: Output = None,
    dialect: Annotated[
        str | None, typer.Option(help="SQL: sqlite, duckdb or postgresql.", show_default="sqlite")
    ] = None,
    table: Annotated[str | None, typer.Option(help="SQL: table to read.", show_default="data")] = None,
    name: Annotated[
        str | None, typer.Option(help="Python, C and JavaScript: name of the function.", show_default="predict")
    ] = None,
    units: Annotated[
        str | None, typer.Option(help="Equations: original, or scaled to [0, 1].", show_default="original")
    ] = None,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Write a model as a calculator, as code for a database or a program, or as an equation.

    A calculator is an offline page (html) or a workbook (xlsx) with a field for each raw column. Calculators and code
    read text and blanks, too, and predict the same as `rfsc predict`. Equations (latex, html-equation, text) are for
    people.
    """
    given = {"dialect": dialect, "table": table, "name": name, "units": units}
    options = {key: value for key, value in given.items() if value is not None}
    _check_options(to, options)
    if to in BINARY and (output is None or sys.stdout.isatty()) and output in (None, *STDOUT_NAMES):
        msg = f"{to} is a binary format; pass -o FILE."
        raise CommandError(msg, 2)
    path = check_writable(output or "-", force=force, inputs={"the model file": model})
    content = _content(to, shown(load_model(model)), options)
    write_result(content if isinstance(content, bytes) or content.endswith("\n") else content + "\n", path)
    if path != "-":
        Messages(quiet=quiet).info(f"Wrote {path}", "green")


def _check_options(to: str, options: dict[str, Any]) -> None:
    if to not in FORMATS:
        msg = f"--to does not know {to}. Choose from: {', '.join(FORMATS)}."
        raise CommandError(msg, 2)
    for key in options:
        if key not in FORMATS[to]:
            formats = " or ".join(f"--to {form}" for form, keys in FORMATS.items() if key in keys)
            msg = f"--{key} goes with {formats}, not with --to {to}."
            raise CommandError(msg, 2)


def _content(to: str, source: Any, options: dict[str, Any]) -> str | bytes:
    from .. import export as exporters

    if to == "onnx":
        return bytes(exporters.to_onnx(source).SerializeToString())
    if to == "xlsx":
        return _workbook(source)
    if to in ("latex", "html-equation", "text"):
        return _equations(source, to.removesuffix("-equation"), options.get("units", "original"))
    write: Callable[..., str] = getattr(exporters, f"to_{to}")
    return write(source, **options)


def _workbook(source: Any) -> bytes:
    from ..export.workbook import workbook

    content = BytesIO()
    workbook(source).save(content)
    return content.getvalue()


def _equations(source: Any, form: str, units: str) -> str:
    from ..explain import equations

    found = equations(source, units=units, form=form)
    labels, texts = list(found), list(map(str, found.values()))
    if form == "text":
        definitions = [definition_lines(source, label) for label in labels]
        parts = [["where, in original units:", *lines] if lines else [] for lines in definitions]
        texts = ["\n".join([text, *part]) for text, part in zip(texts, parts, strict=True)]
    if len(texts) == 1:
        return texts[0]
    head = "% {}\n" if form == "latex" else "{}: "
    heads = [head.format(_single_line(label, form)) for label in labels]
    return "\n\n".join(head + text for head, text in zip(heads, texts, strict=True))


def _single_line(label: object, form: str) -> str:
    """A class before its equation, which must not break the line or open a tag."""
    text = " ".join(str(label).split())
    return html.escape(text) if form == "html" else text
