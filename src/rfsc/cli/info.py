"""`rfsc info`: what is in a model file."""

from __future__ import annotations

import re
from typing import Any

from .console import out_width, plain, show, show_json, text_table
from .options import Json, Model
from .rows import load_model

NAME = "info"


def command(model: Model, as_json: Json = False) -> None:
    """Show what a model file holds: classes, columns that it reads, formulas, settings."""
    predictor = load_model(model)
    if as_json:
        show_json(model_as_dict(predictor))
        return
    facts = model_as_dict(predictor)
    columns = [[c["name"], c["kind"], "" if c["needed"] else "may be blank"] for c in facts["reads"]]
    head = [
        f"classes: {', '.join(facts['classes'])}",
        f"fitted to {facts['n_observations']:g} rows{_when(facts['manifest'])}",
        f"reads {len(columns)} of {facts['n_columns']} columns:",
        plain(text_table(["column", "kind", ""], columns)),
    ]
    settings = ", ".join(f"{key}={value}" for key, value in facts["settings"].items())
    parts = ["\n".join(head), *summaries(predictor), f"settings: {settings}", *_origin(facts["manifest"])]
    show("\n\n".join(parts))


def summaries(source: Any) -> list[str]:
    """Every output as a page of text that fits the screen."""
    from .._model import models_of
    from ..explain import summary

    labels, width = [model.label for model in models_of(source)], out_width()
    return [summary(source, label=label, width=width) + own_units(source, label, width) for label in labels]


def own_units(source: Any, label: object, width: int) -> str:
    """The formula of one output in the units of the table, with the definitions that it needs."""
    from ..explain.checks import one_model
    from ..explain.equation import summands
    from ..explain.notation import Text
    from ..explain.rounding import has_own_units
    from ..explain.summary import equation_lines

    model = one_model(source, label)
    if not has_own_units(model):
        return ""
    parts = []
    if set(summands(model, Text(), units="original")) != set(summands(model, Text())):
        parts.append(["In your own units:", *equation_lines(model, width, "original")])
    meanings = defined(source, label)
    if meanings:
        parts.append(["where, in your own units:", *(_broken(line, width) for line in meanings)])
    return "".join("\n\n" + "\n".join(lines) for lines in parts)


def _broken(formula: str, width: int) -> str:
    """A long formula on several lines, broken before a sign."""
    first, *parts = re.split(r" (?=[+-] )", formula)
    lines = [first]
    for part in parts:
        if len(lines[-1]) + len(part) + 1 > width:
            lines.append(f"    {part}")
        else:
            lines[-1] += f" {part}"
    return "\n".join(lines)


def defined(source: Any, label: object) -> list[str]:
    """What the equation of one output only names, each as one line."""
    from ..explain import definitions

    return [f"{name} = {formula}" for name, formula in definitions(source, label=label).items()]


def model_as_dict(source: Any) -> dict[str, Any]:
    """What is worth knowing of a model, as plain numbers and texts."""
    from .._model import as_predictor
    from ..explain import definitions, equation
    from ..explain.rounding import has_own_units
    from ..export.program import Program

    predictor = as_predictor(source)
    program = Program.of(predictor)
    return {
        "classes": [str(label) for label in predictor.classes_.tolist()],
        "n_observations": float(predictor.models_[0].n_observations),
        "n_columns": len(program.columns),
        "reads": [
            {"name": program.columns[c].name, "kind": program.columns[c].kind, "needed": c in program.required}
            for c in program.read
        ],
        "outputs": [
            {
                "label": str(one.label),
                "equation": equation(one, units="original") if has_own_units(one) else None,
                "definitions": definitions(one) if has_own_units(one) else {},
                "terms": [{"name": n, "coef": float(c)} for n, c in zip(one.names, one.coef, strict=True)],
            }
            for one in predictor.models_
        ],
        "settings": {key: _plain(value) for key, value in sorted(predictor.settings_.items())},
        "manifest": predictor.manifest_,
    }


def _when(manifest: Any) -> str:
    timings = manifest and manifest["timings"]
    return f" in {timings['seconds']:g} s on {timings['finished'][:10]}" if timings else ""


def _origin(manifest: Any) -> list[str]:
    """What the model was made with and made of, in two lines."""
    if manifest is None:
        return []
    made = ", ".join(f"{name} {version}" for name, version in manifest["versions"].items())
    return [f"made with: {made}; engine {manifest['engine']}\ndata: {manifest['data']['content']}"]


def _plain(value: Any) -> Any:
    return value if isinstance(value, str | int | float | bool | None) else str(value)
