"""A model as a JavaScript module without imports, for browsers and Node.js."""

from __future__ import annotations

import json
import re
from datetime import date
from typing import Any

from .._model.cells import BELOW, DATE, LIMIT, SAME_SIGNS, SMALL_LETTERS, TRUTH, trimmed
from .._model.recipe import RawColumn
from .._terms.scaling import FAR
from .program import CodePrinter, Program, one_line, plain_label

# words that cannot name a function of a module, and names that the code itself uses
WORDS = """
    arguments await break case catch class const continue debugger default delete do else enum eval export extends false
    finally for function if implements import in instanceof interface let new null package private protected public
    return static super switch this throw true try typeof var void while with yield Math Number Object TypeError
"""
LARGEST_WHOLE = 2**53  # from which on numbers are no longer told apart

HELPERS = {
    "_cell": """
// null if a cell is missing
function _cell(row, name) {
  if (!Object.hasOwn(row, name)) throw new TypeError(`the row lacks the column ${name}`);
  const cell = row[name];
  return cell === undefined || Number.isNaN(cell) ? null : cell;
}
""",
    "_isNumber": """
function _isNumber(cell) {
  return ["number", "bigint", "boolean"].includes(typeof cell);
}
""",
    "_number": """
// a cell as a number, null if it is missing
function _number(row, name) {
  const cell = _cell(row, name);
  const isOne = typeof cell === "string" ? /^[-+.\\deE \\xa0\\t\\n\\r]+$/.test(cell) && cell.trim() : _isNumber(cell);
  const number = cell === null ? 0 : isOne ? Number(cell) : NaN;
  if (!Number.isFinite(number)) throw new TypeError(`column ${name} must hold numbers, or null if one is missing`);
  return cell === null ? null : number;
}
""",
    "_measured": f"""
// the number in a cell, as laboratories write it, null if there is none; and < or > if it is a limit
function _measured(cell, unit, pattern, separators) {{
  if (typeof cell !== "string") {{
    const number = _isNumber(cell) ? Number(cell) : NaN;
    return [Number.isFinite(number) ? number : null, ""];
  }}
  let text = _trimmed(cell);
  const truth = {json.dumps(TRUTH)};
  if (Object.hasOwn(truth, text)) return [truth[text], ""];
  const same = {json.dumps(SAME_SIGNS)};
  text = [...text].map((letter) => same[letter] ?? letter).join("");
  const found = /^({LIMIT}) */.exec(text);
  const sign = !found ? "" : "{BELOW}".includes(text[0]) ? "<" : ">";
  if (found) text = text.slice(found[0].length);
  if (text.startsWith(unit)) text = text.slice(unit.length).replace(/^ +/, "");
  if (unit && text.endsWith(unit)) text = text.slice(0, -unit.length).replace(/ +$/, "");
  if (!pattern.test(text)) return [null, ""];
  const number = Number([...text].filter((one) => !separators.includes(one)).join("").replace(",", "."));
  return Number.isFinite(number) ? [number, sign] : [null, ""];
}}
""",
    "_days": f"""
// the days from a date to that in a cell, null if there is none
function _days(cell, since, monthFirst) {{
  const found = typeof cell === "string" ? /^{DATE.pattern}/.exec(_trimmed(cell)) : null;
  if (!found) return null;
  const swapped = monthFirst && (found[5] === "/" || found[5] === "-");
  const [year, month, day] = (found[1] ? [1, 2, 3] : swapped ? [7, 4, 6] : [7, 6, 4]).map((k) => Number(found[k]));
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  const isDate = year > 0 && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  return isDate ? date.getTime() / 86400000 - since : null;
}}
""",
    "_level": """
// a level, whatever its case and blanks, null if it is missing
function _level(cell, blanks) {
  if (cell === null) return null;
  const text = _trimmed(String(Number.isInteger(cell) ? BigInt(cell) : cell)).replace(/ +/g, " ");
  return blanks.includes(text) ? null : text;
}
""",
    "_trimmed": f"""
// a text in small letters without spaces around it
function _trimmed(text) {{
  const same = {json.dumps(SMALL_LETTERS)};
  const small = (letter) => {{
    const low = same[letter] ?? letter.toLowerCase();
    return [...low].length === 1 ? low : letter;
  }};
  return [...text.replaceAll("\\xa0", " ").replace(/^[ \\t\\n\\r]+|[ \\t\\n\\r]+$/g, "")].map(small).join("");
}}
""",
    "_scaled": f"""
// a feature in training ranges above its minimum, cut off far beyond any real value
function _scaled(x, halfMinimum, halfSpan) {{
  return Math.min(Math.max((x / 2 - halfMinimum) / halfSpan, {-FAR!r}), {FAR!r});
}}
""",
    "_sigmoid": """
// 1 / (1 + exp(-z)) without overflow
function _sigmoid(z) {
  const small = Math.exp(-Math.abs(z));
  return z >= 0 ? 1 / (1 + small) : small / (1 + small);
}
""",
    "_logSigmoid": """
// logarithm of 1 / (1 + exp(-z)) without overflow
function _logSigmoid(z) {
  return Math.min(z, 0) - Math.log1p(Math.exp(-Math.abs(z)));
}
""",
}


class JavaScript(CodePrinter):
    """Expressions in JavaScript."""

    equals_sign, never, missing = "===", "false", "=== null"
    greatest, library = "Math.max", "Math."

    def filled(self, cell: str, fill: float) -> str:
        return f"({cell} ?? {fill!r})"

    def is_one_of(self, cell: str, levels: list[str | float]) -> str:
        return f"{literal(levels)}.includes({cell})"


def to_javascript(source: Any, name: str = "predict") -> str:
    """Write a model as a JavaScript function.

    Parameters
    ----------
    source : SparseModel, RFSCClassifier, Pipeline or Predictor
        What to write. If it carries its preprocessing, the function reads the raw columns.
    name : str, default="predict"
        Name of the function.

    Returns
    -------
    str
        A module (ES2022) that exports one function. It takes an object from column names to cells and returns an object
        with "label", the "decision" of every formula and the "probability" of every class, both by label; null if a
        cell that it needs is missing (null, undefined or NaN). A column that the object lacks, or a text or
        an infinity in a column of numbers, is a TypeError.
    """
    if not re.fullmatch("[A-Za-z_$][A-Za-z0-9_$]*", name) or name in (*HELPERS, *WORDS.split()):
        msg = f"name must be a name that JavaScript allows for a function, got {name!r}."
        raise ValueError(msg)
    program = Program.of(source)
    body = "\n".join(f"  {line}" for line in _body(program))
    used = {helper for helper in HELPERS if f"{helper}(" in body or f"({helper})" in body}
    used |= {"_cell"} if "_number" in used else set()
    used |= {"_trimmed"} if {"_measured", "_level", "_days"} & used else set()
    used |= {"_isNumber"} if {"_measured", "_number"} & used else set()
    helpers = [text for helper, text in HELPERS.items() if helper in used]
    intro = "// Made by rfsc: a classifier in plain JavaScript.\n"
    about = "\n// Class of one row, an object from column names to cells; null if a cell that is needed is missing."
    return "\n".join([intro.rstrip(), *helpers, about, f"export function {name}(row) {{", body, "}"]) + "\n"


def literal(value: Any) -> str:
    """A JSON value as JavaScript in ASCII, which cannot end the script element of a page."""
    return json.dumps(value).replace("<", "\\u003c")


def label_literal(label: Any) -> str:
    """A class as JavaScript writes it."""
    plain = plain_label(label)
    is_exact = isinstance(plain, str) or abs(plain) <= LARGEST_WHOLE
    return literal(plain if is_exact else str(plain))


def _comment(text: str) -> str:
    """A comment at the end of a line, which cannot end the script element of a page either."""
    return "  // " + one_line(text).replace("<", "‹")


def _body(program: Program) -> list[str]:
    lines = [_read(j, program.columns[j], has_limits=program.reads_limits(j)) for j in program.read]
    if program.required:
        lines.append(f"if ({' || '.join(f'c{j} === null' for j in program.required)}) return null;")
    used = program.features_used
    printer = JavaScript({p: f"s{p}" for p in used})
    for p in used:
        value = printer.scaled_feature(program, p, f"c{program.features[p].column}")
        lines.append(f"const s{p} = {value};{_comment(program.feature_names[p])}")
    for k in range(len(program.models)):
        names = list(map(_comment, program.models[k].names)) or [""]
        lines.append(f"const f{k} =")
        lines += [f"  {text}{name}" for text, name in zip(printer.output(program, k), names, strict=True)]
        lines.append(";")
    return lines + _answer(program)


def _read(j: int, column: RawColumn, *, has_limits: bool) -> str:
    """The line that reads the cell of a column."""
    cell, form = f"(row, {literal(column.name)})", column.cells
    if form is None:
        return f"const c{j} = {'_number' if column.kind == 'number' else '_cell'}{cell};"
    if column.kind == "text":
        return f"const c{j} = _level(_cell{cell}, {literal(form.blanks)});"
    if form.since:
        since = date.fromisoformat(form.since).toordinal() - date(1970, 1, 1).toordinal()
        return f"const c{j} = _days(_cell{cell}, {since}, {literal(form.month_first)});"
    text = f"_measured(_cell{cell}, {literal(trimmed(form.unit))}, /^(?:{form.pattern})$/, {literal(form.separators)})"
    return f"const [c{j}, limit_c{j}] = {text};" if has_limits else f"const c{j} = {text}[0];"


def _answer(program: Program) -> list[str]:
    """The lines that turn the formulas into classes and probabilities."""
    labels = [label_literal(label) for label in program.classes]
    if len(program.models) == 1:
        return [
            f"const decision = {{[{labels[1]}]: f0}};",
            f"const label = f0 > 0 ? {labels[1]} : {labels[0]};",
            f"const probability = {{[{labels[0]}]: _sigmoid(-f0), [{labels[1]}]: _sigmoid(f0)}};",
            "return {label, decision, probability};",
        ]
    return [
        f"const labels = [{', '.join(labels)}];",
        f"const f = [{', '.join(f'f{k}' for k in range(len(labels)))}];",
        "const logs = f.map(_logSigmoid), top = Math.max(...logs);",
        "const shares = logs.map((log) => Math.exp(log - top));",
        "const total = shares.reduce((a, b) => a + b);",
        "const byLabel = (values) => Object.fromEntries(labels.map((known, k) => [known, values[k]]));",
        "const label = labels[f.indexOf(Math.max(...f))];",
        "return {label, decision: byLabel(f), probability: byLabel(shares.map((share) => share / total))};",
    ]
