"""A model as SQL: a SELECT of formulas, probabilities and classes of all rows.

The query is a chain of small steps: columns as they are read (c0, c1, ...; l0 for the sign of a limit), features made
of them (x0, ...), features on [0, 1] (s0, ...), formulas (f0, ...). NULL in a column that a formula needs gives NULL.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from .._utils.validation import check_choice
from .._utils.words import listed
from .program import Program, plain_label
from .sql_dialects import DIALECTS, SQLite

OUTPUTS = ("all", "decision", "probability", "class")
MAX_ARGUMENTS = 100  # of a function; SQLite takes 127
FAR_BELOW = -30.0  # where the logarithm of the sigmoid is its argument to thirteen digits


def to_sql(
    source: Any,
    *,
    dialect: str = "sqlite",
    table: str | Sequence[str] = "data",
    output: str = "all",
    label: Any = None,
    keep: Iterable[str] = (),
) -> str:
    """Write a SELECT that applies a model to the rows of a table.

    Parameters
    ----------
    source : SparseModel, RFSCClassifier, Pipeline or Predictor
        What to write. If it carries its preprocessing, the query reads the raw columns.
    dialect : {"sqlite", "duckdb", "postgresql"}, default="sqlite"
        The database.
    table : str or sequence of str, default="data"
        The table or view; a sequence for a name with its schema, such as ``("clinic", "patients")``.
    output : {"all", "decision", "probability", "class"}, default="all"
        What to return: values of the formulas, class probabilities, the most likely class, or all three.
    label : object, default=None
        Return the formula and the probability of this class only; None for all classes.
    keep : iterable of str, default=()
        Columns of the table to return with the results, such as the key.

    Returns
    -------
    str
        The query, without a semicolon, so that it can stand in a view or an INSERT. Its columns are those kept, then
        ``decision``, ``probability_<class>`` and ``predicted``; with three and more classes ``decision_<class>``, and
        with a label plain ``probability``.
    """
    check_choice("output", output, OUTPUTS)
    program = Program.of(source)
    check_choice("dialect", dialect, tuple(DIALECTS))
    printer = DIALECTS[dialect](program)
    wanted = _wanted(program, label)
    keep = [keep] if isinstance(keep, str) else list(keep)
    names = [table] if isinstance(table, str) else list(table)
    kept = {f"k{j}": f"d.{printer.identifier(name)}" for j, name in enumerate(keep)}
    used = program.features_used
    steps = {**_columns(printer, used), **_features(printer, used)}
    first = next(iter(steps))
    steps[first] = kept | steps[first]
    steps["formulas"] = {f"f{k}": _formula(printer, k) for k in range(len(program.models))}
    if output in ("all", "probability") and len(program.models) > 1:
        steps |= _shares(printer)
    answers = _answers(printer, output, wanted, plain=label is not None)
    aliases = _unique([*keep, *answers], printer.longest_name)
    final = dict(zip(map(printer.identifier, aliases), [*kept, *answers.values()], strict=True))
    return _chained(steps, final, list(kept), [printer.identifier(name) for name in names], printer.fence)


def _columns(printer: SQLite, used: Sequence[int]) -> dict[str, dict[str, str]]:
    """Steps to the columns that some features are made of, read as numbers or texts."""
    read = {}
    for j in sorted({printer.program.features[p].column for p in used}):
        # with the table's name: SQLite takes a quoted name that it does not know for a text
        read[j] = printer.reading(j, f"d.{printer.identifier(printer.program.columns[j].name)}")
    steps: list[dict[str, str]] = [{} for _ in range(max(map(len, read.values()), default=1))]
    for parts in read.values():
        done = {name: name for name in parts[-1]}  # columns that need fewer steps wait for the others
        for step, part in zip(steps, [*parts, *[done] * (len(steps) - len(parts))], strict=True):
            step |= part
    names = [f"cells_{k}" for k in range(1, len(steps))]
    return dict(zip([*names, "columns"], steps, strict=True))


def _features(printer: SQLite, used: Sequence[int]) -> dict[str, dict[str, str]]:
    """Features, and features on [0, 1]; a first step that would do nothing is omitted."""
    columns = {p: f"c{printer.program.features[p].column}" for p in used}
    made = {p: printer.made_feature(printer.program, p, columns[p]) for p in used}
    alias = {p: columns[p] if made[p] == columns[p] else f"x{p}" for p in used}
    scaled = {printer.scaled[p]: printer.scaled_column(p, alias[p]) for p in used}
    if all(alias[p] == columns[p] for p in used):
        return {"scaled": scaled}
    return {"features": {alias[p]: made[p] for p in used}, "scaled": scaled}


def _formula(printer: SQLite, output: int) -> str:
    """One output; NULL if a feature is, which steps and hinges would not notice."""
    used = printer.program.models[output].features
    text = "\n    ".join(printer.output(printer.program, output))
    if not used:
        return f"CAST({text} AS {printer.double})"  # if nothing is read, nothing has made it a double
    gaps = [printer.scaled[p] for p in used if printer.program.may_be_missing(p)]
    return f"CASE WHEN {' + '.join(gaps)} IS NOT NULL THEN\n    {text}\n  END" if gaps else text


def _shares(printer: SQLite) -> dict[str, dict[str, str]]:
    """Steps to e_k / (e_0 + e_1 + ...), the sigmoids over their sum, for formulas that may all be far below zero."""
    values = [f"f{k}" for k in range(len(printer.program.models))]
    logs = [f"l{k}" for k in range(len(values))]
    far = printer.number(FAR_BELOW)
    log_sigmoid = {
        log: f"CASE WHEN {f} < {far} THEN {f} ELSE -ln(1.0 + {printer.exponential(f'-{f}')}) END"
        for f, log in zip(values, logs, strict=True)
    }
    kept = {f: f for f in values}
    return {
        "logarithms": kept | log_sigmoid,
        "largest": kept | {log: log for log in logs} | {"top": _greatest(printer, logs)},
        "sigmoids": kept | {f"e{k}": printer.exponential(f"{log} - top") for k, log in enumerate(logs)},
    }


def _answers(printer: SQLite, output: str, wanted: Sequence[int], *, plain: bool) -> dict[str, str]:
    """The columns of the result, by name; `wanted` are the places of the classes to return."""
    program = printer.program
    several = len(program.models) > 1
    labels = [plain_label(label) for label in program.classes]
    out = {}
    if output in ("all", "decision"):
        for k in wanted if several or plain else [1]:
            name = "decision" if plain or not several else f"decision_{labels[k]}"
            out[name] = f"f{k}" if several else ("-f0", "f0")[k]
    if output in ("all", "probability"):
        values, shares = (" + ".join(f"{letter}{k}" for k in range(len(program.models))) for letter in "fe")
        for k in wanted:
            name = "probability" if plain else f"probability_{labels[k]}"
            text = f"e{k} / ({shares})" if several else printer.sigmoid(("f0", "-f0")[k])
            out[name] = printer.unless_null(values, text)
    if output in ("all", "class"):
        out["predicted"] = _predicted(printer, labels)
    return out


def _predicted(printer: SQLite, labels: Sequence[str | float]) -> str:
    """The most likely class; of equal formulas the first."""
    alike = len({type(label) for label in labels}) == 1
    texts = [printer.literal(label if alike else str(label)) for label in labels]
    if len(printer.program.models) == 1:
        return f"CASE WHEN f0 > 0 THEN {texts[1]} WHEN f0 <= 0 THEN {texts[0]} END"
    values = [f"f{k}" for k in range(len(labels))]
    cases = " ".join(f"WHEN {f} THEN {text}" for f, text in zip(values, texts, strict=True))
    return f"CASE WHEN {' + '.join(values)} IS NOT NULL THEN CASE {_greatest(printer, values)} {cases} END END"


def _greatest(printer: SQLite, values: Sequence[str]) -> str:
    """The largest of many values; a function takes only so many at once."""
    if len(values) > MAX_ARGUMENTS:
        blocks = [values[i : i + MAX_ARGUMENTS] for i in range(0, len(values), MAX_ARGUMENTS)]
        return _greatest(printer, [_greatest(printer, block) for block in blocks])
    return f"{printer.greatest}({', '.join(values)})" if len(values) > 1 else values[0]


def _wanted(program: Program, label: Any) -> list[int]:
    """Places of the classes to return."""
    if label is None:
        return list(range(len(program.classes)))
    places = [k for k, known in enumerate(program.classes) if known == label]
    if not places:
        shown = listed(list(map(repr, program.classes)), 10)
        msg = f"label must be one of the classes ({shown}), got {label!r}."
        raise ValueError(msg)
    return places


def _unique(names: Sequence[str], longest: int | None) -> list[str]:
    """The names, cut to what the database allows, and numbered if two would be the same to it."""
    out: list[str] = []
    for name in names:
        cut, number = _cut(name, longest), 1
        while cut.casefold() in {known.casefold() for known in out}:
            number += 1
            cut = _cut(name, None if longest is None else longest - len(f"_{number}")) + f"_{number}"
        out.append(cut)
    return out


def _cut(name: str, longest: int | None) -> str:
    """The beginning of a name that has at most so many bytes."""
    return name.encode()[:longest].decode(errors="ignore")


def _chained(
    steps: dict[str, dict[str, str]], final: dict[str, str], kept: list[str], table: list[str], fence: str
) -> str:
    """A query in steps, each reading from the one before, and the last with the result."""
    prefix = "rfsc_"
    while table[-1].lower().startswith(f'"{prefix}'):  # SQLite would take the table for the step of that name
        prefix += "_"
    origin, blocks = f"{'.'.join(table)} AS d", []
    for name, columns in steps.items():
        if not columns and name != "columns":  # a model that reads nothing
            continue
        body = _select({k: k for k in kept} | (columns or {"no_column": "1"}), f"\nFROM {origin}{fence}")
        blocks.append(f"{prefix}{name} AS (\n{body}\n)")
        origin = prefix + name
    return f"WITH {', '.join(blocks)}\n" + _select(final, f"\nFROM {origin}")


def _select(columns: dict[str, str], rest: str) -> str:
    """A SELECT; a column that keeps its name needs no other."""
    lines = [text if text == alias else f"{text} AS {alias}" for alias, text in columns.items()]
    return "SELECT\n  " + ",\n  ".join(lines) + rest
