"""Arguments that several commands take, and how their texts are read."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from typing import Annotated, Any

import typer

from .console import Failure


def seed(value: str | int) -> int:
    """An argument that scikit-learn takes as a seed; Typer hands in defaults, too."""
    text = str(value)
    if not text.isdecimal() or int(text) >= 2**32:
        msg = f"a seed is a whole number from 0 to {2**32 - 1}, got {text}"
        raise typer.BadParameter(msg)
    return int(text)


def jobs(value: str | int) -> int:
    """A number of processes or threads; -1 stands for all cores."""
    text = str(value)
    if text != "-1" and (not text.isdecimal() or int(text) == 0):
        msg = f"expected a number, or -1 for all cores, got {text}"
        raise typer.BadParameter(msg)
    return int(text)


Model = Annotated[str, typer.Argument(metavar="MODEL", help="Model file that `rfsc fit` wrote.", show_default=False)]
Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="Table: CSV, TSV, Parquet (or a folder of it), ARFF, KEEL or .npy; - reads stdin.",
        show_default=False,
    ),
]
Output = Annotated[
    str | None, typer.Option("-o", "--output", metavar="FILE", help="File to write.", show_default="stdout")
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite files that are there.")]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="Say nothing on stderr but errors.")]
Json = Annotated[bool, typer.Option("--json", help="Result as JSON, for machines.")]
Seed = Annotated[int, typer.Option("--seed", parser=seed, metavar="SEED", help="Seed; the same gives the same model.")]
Jobs = Annotated[
    int, typer.Option("--jobs", parser=jobs, metavar="N", help="Threads; -1 takes all cores. The result is the same.")
]


def listed(texts: Iterable[str] | None, known: Iterable[str] = ()) -> list[str]:
    """What was given by repeating an option or between commas; a known name may itself hold a comma."""
    names = {name.lower() for name in known}
    found: list[str] = []
    for text in texts or []:
        found += [text] if text.lower() in names else [part.strip() for part in text.split(",") if part.strip()]
    return found


def chosen(option: str, asked: Iterable[str] | None, known: Iterable[str]) -> tuple[str, ...]:
    """The names that were asked for, in our spelling and order; all of them where none was."""
    by_lower = {name.lower(): name for name in known}
    wanted = {name.lower() for name in asked} if asked else set(by_lower)
    strange = sorted(wanted - set(by_lower))
    if strange:
        quoted = ", ".join(f"'{name}'" for name in by_lower.values())
        msg = f"{option} does not know {', '.join(strange)}. Choose from: {quoted}."
        raise Failure(msg)
    return tuple(name for lower, name in by_lower.items() if lower in wanted)


def settings(pairs: Iterable[str] | None, known: Mapping[str, Any]) -> dict[str, Any]:
    """What `--set key=value` says: numbers, true, false, none, lists, and else text."""
    found = {}
    for pair in pairs or []:
        key, equals, value = pair.partition("=")
        if not equals or key not in known:
            names = ", ".join(sorted(known))
            msg = f"--set expects KEY=VALUE with a parameter of RFSCClassifier as KEY, got {pair}. There are: {names}."
            raise Failure(msg, 2)
        found[key] = _value(value)
    return found


def _value(text: str) -> Any:
    words = {"true": True, "false": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
