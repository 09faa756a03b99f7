"""A model as a Python function that needs nothing but the modules math, re and datetime."""

from __future__ import annotations

import keyword
from datetime import date
from typing import Any

from .._model.cells import AS_TYPED, BELOW, DATE, LIMIT, SMALL_LETTERS, SPACES, TRUTH, trimmed
from .._model.recipe import RawColumn
from .._terms.scaling import FAR
from .program import CodePrinter, Program, one_line, plain_label

HELPERS = {
    "_cell": '''
def _cell(value):
    """None if a cell is missing."""
    missing = value is None or type(value).__name__ == "NAType" or value != value
    return None if missing else value
''',
    "_number": '''
def _number(value):
    """A cell as a number, None if it is missing."""
    value = _cell(value)
    if isinstance(value, (str, bytes)) and not set(value) <= set("+-.0123456789eE \\xa0\\t\\n\\r"):
        raise ValueError("a column of numbers holds a text that is no number")
    number = None if value is None else float(value)
    if number in (math.inf, -math.inf):
        raise ValueError("a column of numbers holds an infinite number")
    return number
''',
    "_trimmed": f'''
def _trimmed(text):
    """A text in small letters, without spaces around it."""
    text = text.replace("\\xa0", " ").strip({SPACES!r})
    small = [{SMALL_LETTERS!a}.get(letter, letter.lower()) for letter in text]
    return "".join(low if len(low) == 1 else letter for low, letter in zip(small, text))
''',
    "_measured": f'''
def _measured(value, unit, pattern, separators):
    """The number in a cell, as laboratories write it, None if there is none; and < or > if it is a limit."""
    if not isinstance(value, str):
        try:
            number = math.nan if isinstance(value, bytes) else float(_cell(value))
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        return number if math.isfinite(number) else None, ""
    text = _trimmed(value)
    if text in {TRUTH!r}:
        return {TRUTH!r}[text], ""
    text = text.translate({AS_TYPED!r})
    found = re.match("({LIMIT}) *", text)
    sign = "" if not found else "<" if text[0] in "{BELOW}" else ">"
    text = text[found.end() :] if found else text
    text = text.removeprefix(unit).lstrip(" ").removesuffix(unit).rstrip(" ")
    if not re.fullmatch(pattern, text):
        return None, ""
    number = float("".join(sign for sign in text if sign not in separators).replace(",", "."))
    return (number, sign) if math.isfinite(number) else (None, "")
''',
    "_days": f'''
def _days(value, since, month_first):
    """The days from a date to that in a cell, None if there is none."""
    if isinstance(value, str):
        found = re.match({DATE.pattern!r}, _trimmed(value))
        if not found:
            return None
        year, month, day = found.group(1, 2, 3) if found[1] else found.group(7, 6, 4)
        if month_first and found[5] in ("/", "-"):
            month, day = day, month
        try:
            value = datetime.date(int(year), int(month), int(day))
        except ValueError:
            return None
    is_date = isinstance(value, datetime.date) and value == value
    return float(value.toordinal() - since) if is_date else None
''',
    "_level": '''
def _level(value, blanks):
    """A level, whatever its case and blanks, None if it is missing."""
    value = _cell(value)
    if value is None:
        return None
    text = str(int(value)) if "float" in type(value).__name__ and value.is_integer() else str(value)
    text = re.sub(" +", " ", _trimmed(text))
    return None if text in blanks else text
''',
    "_scaled": f'''
def _scaled(x, half_minimum, half_span):
    """A feature in training ranges above its minimum, cut off far beyond any real value."""
    return min(max((x / 2.0 - half_minimum) / half_span, {-FAR!r}), {FAR!r})
''',
    "_sigmoid": '''
def _sigmoid(z):
    """1 / (1 + exp(-z)) without overflow."""
    small = math.exp(-abs(z))
    return 1.0 / (1.0 + small) if z >= 0.0 else small / (1.0 + small)
''',
    "_log_sigmoid": '''
def _log_sigmoid(z):
    """Logarithm of 1 / (1 + exp(-z)) without overflow."""
    return min(z, 0.0) - math.log1p(math.exp(-abs(z)))
''',
}


class Python(CodePrinter):
    """Expressions in Python."""

    either, never, missing, library = "or", "False", "is None", "math."

    def choose(self, condition: str, *, flipped: bool = False) -> str:
        yes, no = ("0.0", "1.0") if flipped else ("1.0", "0.0")
        return f"({yes} if {condition} else {no})"

    def filled(self, cell: str, fill: float) -> str:
        return f"({fill!r} if {cell} is None else {cell})"

    def is_one_of(self, cell: str, levels: list[str | float]) -> str:
        return f"{cell} in {tuple(levels)!r}"


def to_python(source: Any, name: str = "predict") -> str:
    """Write a model as a Python function.

    Parameters
    ----------
    source : SparseModel, RFSCClassifier, Pipeline or Predictor
        What to write. If it carries its preprocessing, the function reads the raw columns.
    name : str, default="predict"
        Name of the function.

    Returns
    -------
    str
        A module with one public function. It takes a mapping from column names to cells and returns a dict with
        "label", the "decision" of every formula and the "probability" of every class; None if a cell that it needs is
        missing (None or NaN).
    """
    if not name.isidentifier() or keyword.iskeyword(name) or name in (*HELPERS, "math", "re", "datetime"):
        msg = f"name must be a valid Python identifier that the generated code does not already use, got {name!r}."
        raise ValueError(msg)
    program = Program.of(source)
    body = "\n".join(_body(program))
    helpers: list[str] = []
    for helper, text in reversed(HELPERS.items()):  # those that others need stand before them
        if f"{helper}(" in "".join([body, *helpers]):
            helpers.insert(0, text)
    modules = [one for one in ("datetime", "math", "re") if one == "math" or any(f"{one}." in text for text in helpers)]
    intro = '"""Made by rfsc: a classifier in plain Python."""\n\n' + "".join(f"import {one}\n" for one in modules)
    return "\n".join([intro, *helpers, f"\ndef {name}(row):", body]) + "\n"


def _body(program: Program) -> list[str]:
    lines = ['"""Class of one row: a mapping from column names to cells; None if a cell that is needed is missing."""']
    lines += [_read(j, program.columns[j], has_limits=program.reads_limits(j)) for j in program.read]
    if program.required:
        lines += [f"if {' or '.join(f'c{j} is None' for j in program.required)}:", "    return None"]
    used = program.features_used
    printer = Python({p: f"s{p}" for p in used})
    for p in used:
        value = printer.scaled_feature(program, p, f"c{program.features[p].column}")
        lines.append(f"s{p} = {value}  # {one_line(program.feature_names[p])}")
    for k in range(len(program.models)):
        names = [f"  # {one_line(name)}" for name in program.models[k].names] or [""]
        lines.append(f"f{k} = (")
        lines += [f"    {text}{name}" for text, name in zip(printer.output(program, k), names, strict=True)]
        lines.append(")")
    return ["    " + line for line in lines + _answer(program)]


def _read(j: int, column: RawColumn, *, has_limits: bool) -> str:
    """The line that reads the cell of a column."""
    cell, form = f"row[{column.name!r}]", column.cells
    if form is None:
        return f"c{j} = {'_number' if column.kind == 'number' else '_cell'}({cell})"
    if column.kind == "text":
        return f"c{j} = _level({cell}, {form.blanks!r})"
    if form.since:
        return f"c{j} = _days({cell}, {date.fromisoformat(form.since).toordinal()}, {form.month_first})"
    text = f"_measured({cell}, {trimmed(form.unit)!r}, {form.pattern!r}, {form.separators!r})"
    return f"c{j}, limit_c{j} = {text}" if has_limits else f"c{j} = {text}[0]"


def _answer(program: Program) -> list[str]:
    """The lines that turn the formulas into classes and probabilities."""
    first, second = (repr(plain_label(label)) for label in program.classes[:2])
    shown = [repr(plain_label(label)) for label in program.output_labels]
    lines = [f"decision = {{{', '.join(f'{label}: f{k}' for k, label in enumerate(shown))}}}"]
    if len(program.models) == 1:
        lines += [
            f"label = {second} if f0 > 0.0 else {first}",
            f"probability = {{{first}: _sigmoid(-f0), {second}: _sigmoid(f0)}}",
        ]
    else:
        lines += [
            "label = max(decision, key=decision.get)",
            "logs = {known: _log_sigmoid(value) for known, value in decision.items()}",
            "top = max(logs.values())",
            "shares = {known: math.exp(log - top) for known, log in logs.items()}",
            "total = sum(shares.values())",
            "probability = {known: share / total for known, share in shares.items()}",
        ]
    return [*lines, 'return {"label": label, "decision": decision, "probability": probability}']
