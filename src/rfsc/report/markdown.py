"""A report as Markdown that reads well as plain text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from .._utils.words import fixed, listed, number, p_value, percent, plural

MAX_COLUMNS, MAX_FEATURES = 60, 12
MARKS = re.compile(r"[\\`*|<\[]|(?<!\w)_|_(?!\w)")  # an underscore within a word stands for itself
BACKTICKS = re.compile("`+")


def to_markdown(content: Mapping[str, Any]) -> str:
    """Write the content of a report as Markdown."""
    parts = [
        f"# {text(content['title'])}",
        text(content["headline"]),
        "## What to know before trusting it",
        _cautions(content["cautions"]),
        "## What was asked",
        *_asked(content["asked"]),
        "## How good it is",
        *_score(content["score"], content["asked"]["classes"]),
        "## The model",
        *(part for model in content["models"] for part in _model(model, several=len(content["models"]) > 1)),
        *_features(content["features"]),
        content["note"],
        "## The data",
        *_data(content),
        "## Run it again",
        _fenced(content["settings"]["code"], "python"),
        "Versions: " + ", ".join(f"{name} {version}" for name, version in content["settings"]["versions"].items()),
    ]
    return "\n\n".join(parts) + "\n"


def text(value: object) -> str:
    """A sentence that Markdown shows as it is: no tags, no table cells, no emphasis."""
    return MARKS.sub(r"\\\g<0>", " ".join(str(value).split()))


def code(value: object) -> str:
    """A name in a fence of backticks, longer than any in it; also fit for a cell of a table."""
    line = " ".join(str(value).split())
    fence = "`" * (1 + max(map(len, BACKTICKS.findall(line)), default=0))
    pad = " " if line.startswith("`") or line.endswith("`") or not line else ""
    return f"{fence}{pad}{line}{pad}{fence}".replace("|", "\\|")


def table(head: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """A table whose columns are aligned in plain text too."""
    width = [max(len(row[j]) for row in [head, *rows]) for j in range(len(head))]

    def line(cells: Sequence[str]) -> str:
        padded = [c.ljust(w) if j < left else c.rjust(w) for j, (c, w) in enumerate(zip(cells, width, strict=True))]
        return f"| {' | '.join(padded)} |"

    rule = [("-" * w) if j < left else "-" * (w - 1) + ":" for j, w in enumerate(width)]
    return "\n".join([line(head), line(rule), *map(line, rows)])


def _cautions(cautions: Sequence[Mapping[str, str]]) -> str:
    if not cautions:
        return "None of the usual warning signs was found."
    return "\n".join(f"- **{c['level']}**: {text(c['title'])}. {text(c['text'])}" for c in cautions)


def _asked(asked: Mapping[str, Any]) -> list[str]:
    rows = [[code(c["label"]), f"{c['n_rows']:,}", percent(c["share"])] for c in asked["classes"]]
    question = (
        f"Which class of {code(asked['target'])} does a row belong to, judging by "
        f"{plural(asked['n_columns'], 'column')}? There are {plural(asked['n_rows'], 'row')}."
    )
    return [question, table(["class", "rows", "share"], rows)]


def _score(score: Mapping[str, Any], classes: Sequence[Mapping[str, Any]]) -> list[str]:
    fits = plural(score["n_folds"], "fit")
    how = (
        f"Cross-validation with {fits}: {plural(score['n_predicted'], 'row')} predicted, each by a fit without it."
        if score["honest"]
        else "**Not known to be honest**: the model was scored on the rows given, which it may have seen."
    )
    marks = {"better": " (+)", "worse": " (-)"}
    rows = [
        [method["name"]]
        + [
            f"{fixed(one['mean'])} ± {fixed(one['sd'])}{marks.get(one.get('verdict', ''), '')}"
            for one in (method["scores"][metric["key"]] for metric in score["metrics"])
        ]
        for method in score["methods"]
    ]
    head = ["method", *(metric["name"] for metric in score["metrics"])]
    legend = "Mean ± standard deviation. Log-loss and Brier: lower is better."
    if len(score["methods"]) > 1 and score["honest"]:
        legend += " (+) and (-): clearly better or worse than RFSC."
    labels = [code(c["label"]) for c in classes]
    errors = [[label, *(f"{n:,}" for n in row)] for label, row in zip(labels, score["confusion"], strict=True)]
    return [
        how,
        table(head, rows),
        legend,
        "True class (down) and predicted class (across):",
        table(["", *labels], errors),
    ]


def _model(model: Mapping[str, Any], *, several: bool) -> list[str]:
    known = model["n_restarts"] is not None
    head = ["term", "coefficient", "p (naive)", "odds ×", "for", *(["restarts"] if known else [])]
    rows = [
        [
            code(t["term"]),
            number(t["coef"]),
            p_value(t["p_value"]),
            number(t["odds_ratio"], 3),
            t["change"] or "–",
            *([percent(t["share"])] if known else []),
        ]
        for t in model["terms"]
    ]
    definitions = [f"- {code(name)} = {code(formula)}" for name, formula in model["equation"]["definitions"].items()]
    stability = model["stability"]["terms"]
    agreed = (
        f"Stability of the choice over {plural(model['n_restarts'], 'restart')}: {stability['index']:.2f}, "
        f"{stability['word']}."
        if stability["index"] is not None
        else f"Stability of the choice: {text(stability['reason'])}"
    )
    return [
        *([f"### Class {code(model['label'])}"] if several else [f"f > 0 speaks for class {code(model['label'])}."]),
        *_equation(model["equation"]),
        *(["\n".join(definitions)] if definitions else []),
        table(head, rows),
        *_influence(model["features"]),
        agreed,
    ]


def _influence(features: Sequence[Mapping[str, Any]]) -> list[str]:
    if not features:
        return []
    named = [f"{code(f['name'])} {percent(f['influence'])}" for f in features]
    return [f"Influence of the features, beside the largest: {listed(named, MAX_FEATURES)}."]


def _features(features: Sequence[Mapping[str, str]]) -> list[str]:
    if not features:
        return []
    rows = [[code(f["name"]), code(f["column"]), text(f["how"])] for f in features]
    return ["How the features come from the columns of the table:", table(["feature", "column", "how"], rows, left=3)]


def _data(content: Mapping[str, Any]) -> list[str]:
    columns = sorted(content["data"], key=lambda column: not column["used"])
    rows = [
        [
            code(c["name"]),
            c["kind"],
            "–" if c["used"] is None else "yes" if c["used"] else "no",
            percent(c["missing"]) if c["missing"] else "–",
            *(number(c["quantiles"].get(q)) for q in ("25%", "50%", "75%")),
            ", ".join(f"{code(level)} {percent(share)}" for level, share in c["levels"]),
        ]
        for c in columns[:MAX_COLUMNS]
    ]
    parts = [table(["column", "kind", "used", "missing", "25 %", "median", "75 %", "frequent values"], rows, left=3)]
    if len(columns) > MAX_COLUMNS:
        parts.append(f"And {len(columns) - MAX_COLUMNS:,} more.")
    parts += [
        f"The filter left out {len(f['dropped'])} of {plural(f['n_tested'], 'feature')} for class {code(f['label'])}."
        for f in content["filter"]
    ]
    return parts


def _equation(equation: dict[str, Any]) -> list[str]:
    """In the user's own units, where its numbers can be written."""
    if equation["original"] is not None:
        return ["In your own units:", _fenced(equation["original"])]
    return ["With every feature on the scale from 0 to 1:", _fenced(equation["scaled"])]


def _fenced(code: str, language: str = "") -> str:
    """Code as it is; the fence is longer than any in it."""
    fence = "```"
    while fence in code:
        fence += "`"
    return f"{fence}{language}\n{code}\n{fence}"
