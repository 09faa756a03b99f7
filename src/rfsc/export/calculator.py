"""A model as a page that computes: one field for each raw column, the probability, and what changes it."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from .._model import Predictor
from .._model.access import WEIGHTED, as_predictor, weights_classes
from .._model.recipe import LevelOf, NumberOf
from .._utils.optional import require
from .._utils.words import listed, plural
from ..explain import definitions, equation
from ..explain.rounding import six_digits
from .javascript import label_literal, literal, to_javascript
from .program import Program

EMPTY, ANOTHER = "(empty text)", "(another)"
WITHOUT = "If blank, a formula without it is used."


@dataclass(frozen=True, slots=True)
class Field:
    """A column that the model reads, as somebody fills it in: a number, a date, or one of the levels."""

    name: str
    unit: str  # empty if none is known, or if it is part of the name
    needed: bool  # nothing replaces a missing cell
    missing: str  # what a missing cell means, in a sentence
    low: float | str | None = None  # training range; None if the model only asks whether it is missing
    high: float | str | None = None
    typical: float | str | None = None  # what replaces a missing cell, else the middle of the training range
    levels: tuple[str | float, ...] | None = None  # None for numbers
    another: str | float | None = None  # a cell that is none of the levels; None if only levels are allowed
    is_date: bool = False  # low, high and typical are then texts such as 2021-03-31

    @property
    def range(self) -> str:
        """The training range of a number or a date."""
        if self.low is None or self.high is None:
            return ""
        return f"{_shown(self.low)} to {_shown(self.high)}{self.unit and f' {self.unit}'}"

    @property
    def options(self) -> list[tuple[str | float | None, str, str]]:
        """What can be chosen: the cell, its code in a link, and its text."""
        first = (None, "", "Choose" if self.needed else "Not known")
        texts = {level: level if isinstance(level, str) else f"{level:.15g}" for level in self.levels or ()}
        codes = [(level, text or EMPTY, text or EMPTY) for level, text in texts.items()]
        if self.another is None:
            return [first, *codes]
        code = ANOTHER
        while code in texts.values():
            code += "'"
        return [first, *codes, (self.another, code, "Another" if codes else "Known")]


def fields_of(predictor: Predictor) -> list[Field]:
    """The columns that the model reads."""
    program = Program.of(predictor)
    without = {name for one in predictor.fallbacks_ for name in one.when_missing}
    fields = [_field(program, j) for j in program.read]
    return [replace(one, missing=WITHOUT) if one.name in without else one for one in fields]


def _field(program: Program, j: int) -> Field:
    column = program.columns[j]
    used = [p for p in program.features_used if program.features[p].column == j]
    made, counts = program.made_of(j), program.reads_blanks(j)
    name, unit = column.name, "" if column.cells is None else column.cells.unit
    if column.kind == "number" and not any(isinstance(one, LevelOf) for one in made):
        ranges = [program.half_range(p) for p in used if isinstance(program.features[p], NumberOf)]
        fills = dict.fromkeys(one.fill for one in made if isinstance(one, NumberOf) and one.fill is not None)
        ends = [2 * (minimum + share * span) for minimum, span in ranges[:1] for share in (0.0, 1.0, 0.5)]
        dates = column.cells if column.cells is not None and column.cells.since else None
        cells: list[Any] = [dates.day(value) if dates else value for value in (*ends, *fills)]
        low, high, middle = cells[:3] if ends else (None, None, None)
        others = cells[len(ends) :]
        said = _if_blank(j in program.required, list(map(_shown, others)), counts=counts)
        typical = others[0] if others else middle
        return Field(name, unit, j in program.required, said, low, high, typical, is_date=dates is not None)
    kind: type = str if column.kind == "text" else float
    known = [one.levels for one in program.features if isinstance(one, LevelOf) and one.column == j]
    every = dict.fromkeys(level for levels in (*known, column.levels or ()) for level in levels)
    levels = tuple(level for level in every if level is not None and isinstance(level, kind))
    needed = j in program.required or (column.levels is not None and None not in column.levels)
    said = "Needed." if needed else f"Not known counts as {'a case of its own' if counts else 'none of the levels'}."
    another = None if column.levels is not None else _none_of(levels, kind)
    return Field(name, unit, needed, said, levels=levels, another=another)


def _shown(value: float | str) -> str:
    return value if isinstance(value, str) else six_digits(value)


def _if_blank(needed: bool, fills: list[str], *, counts: bool) -> str:
    if needed:
        return "Needed."
    noted = "the model takes into account that it is missing"
    if not fills:
        return f"If blank, {noted}."
    return f"A blank counts as {listed(fills)}{f', and {noted}' if counts else ''}."


def _none_of(levels: tuple[Any, ...], kind: type) -> Any:
    """A text or number that is none of the levels."""
    return max(map(len, levels), default=0) * "?" + "?" if kind is str else max(map(abs, levels), default=0.0) + 1.0


def to_html(source: Any) -> str:
    """Write a model as a page with a calculator, which needs no network and no other file.

    The page has a field for each raw column that the model reads, and shows the probability of every class, what raises
    and lowers it, warnings of values outside of the training range, and the formula. What is entered stays on the page;
    a link keeps it in the part behind ``#``, which browsers do not send. For a model of two classes by `rfsc fit`,
    or with a reference of left-out rows by `rfsc.monitor.with_reference`, it says how often the class was true among
    rows with a similar probability, with a 95 % interval. There is none for a single case: models do not hold the
    covariances of their coefficients, and these would not allow for the search.

    Parameters
    ----------
    source : SparseModel, RFSCClassifier, Pipeline or Predictor
        What to write. If it carries its preprocessing, the page asks for the raw columns.

    Returns
    -------
    str
        The page.
    """
    require("A calculator", ["jinja2"], "report")
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    predictor, program = as_predictor(source), Program.of(source)
    fields = fields_of(predictor)
    names, shares = class_names(predictor), observed_of(predictor)
    data = {
        "FIELDS": literal([asdict(field) | {"cells": [cell for cell, _, _ in field.options]} for field in fields]),
        "LABELS": f"[{', '.join(map(label_literal, program.classes))}]",
        "NAMES": literal(names),
        "OBSERVED": literal(shares),
    }
    constants = "".join(f"const {name} = {text};\n" for name, text in data.items())
    script = to_javascript(source) + constants + _file("calculator.js")
    style = _file("calculator.css")
    loader = PackageLoader("rfsc.export", ".")
    page = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    # only what rfsc itself has escaped is marked as safe
    formulas = [
        (
            name,
            Markup(equation(predictor, form="html", label=model.label)),
            {Markup(k): Markup(v) for k, v in definitions(predictor, form="html", label=model.label).items()},
        )
        for name, model in zip(names[-len(predictor.models_) :], predictor.models_, strict=True)
    ]
    return page.get_template("calculator.html.jinja").render(
        title=title_of(predictor),
        fields=fields,
        formulas=formulas,
        about=about(predictor, program, has_interval=bool(shares)),
        style=Markup(style),
        script=Markup(script),
        allowed={"style": _digest(style), "script": _digest(script)},
    )


def _file(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    """The hash by which a page allows one script or style and no other."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def observed_of(predictor: Predictor) -> list[list[float]]:
    """For rising probabilities of the second class: how often it was true of left-out rows, with a 95 % interval."""
    from scipy.stats import binomtest

    found, classes = predictor.reference_, predictor.classes_.tolist()
    if found is None or not found.is_left_out or len(classes) > 2 or not found.is_about(classes[1]):
        return []
    rows = []
    for one in found.observed:
        ends = binomtest(round(one.share * one.n_rows), one.n_rows).proportion_ci(0.95, "wilson")
        rows.append([one.highest, one.n_rows, one.share, *map(float, ends)])
    return rows


def title_of(predictor: Predictor) -> str:
    """The title of a page or a sheet."""
    target = (predictor.manifest_ or {}).get("target")
    return f"Calculator: {target}" if target else "Calculator"


def class_names(predictor: Predictor) -> list[str]:
    """The classes in words: ``sick``, but ``diagnosis = 1``."""
    target = (predictor.manifest_ or {}).get("target")
    labels = predictor.classes_.tolist()
    return [f"{target} = {label}" if target and not isinstance(label, str) else str(label) for label in labels]


def about(predictor: Predictor, program: Program, *, has_interval: bool = False) -> list[str]:
    """What the model is and is not, in sentences."""
    n_formulas, manifest = len(program.models), predictor.manifest_
    what = "one formula" if n_formulas == 1 else f"{n_formulas} formulas, one for each class,"
    made = ""
    if manifest:
        made = f" It was fitted to {plural(manifest['data']['rows'], 'row')} by rfsc {manifest['versions']['rfsc']}."
    models, recipe = predictor.models_, predictor.recipe_
    size = plural(sum(model.size for model in models), "term")
    features = {p for model in models for p in model.features}
    n_columns = len(features if recipe is None else {recipe.features[p].column for p in features})
    blank = [" and ".join(one.when_missing) for one in predictor.fallbacks_]
    others = f" If {' or '.join(blank)} is blank, it uses another formula, made without." if blank else ""
    return [
        f"The model is {what} with {size} over {plural(n_columns, 'column')} of a table.{others}{made}",
        "Its probabilities hold for cases like those that it was fitted to. Check them on cases of your own first. "
        "Outside of the training ranges the formula is extrapolated.",
        "What raises or lowers the probability is a property of the formula. It need not be a cause.",
        "The interval is that of the share of the class among rows that were left out of the fit and got a similar "
        "probability. It is no interval for a single case."
        if has_interval
        else "There is no interval, because the model does not hold what an honest one needs.",
        *([f"Caution: {WEIGHTED}"] if weights_classes(predictor) else []),
        "Do not base decisions about people on it alone. It is not a medical device.",
    ]
