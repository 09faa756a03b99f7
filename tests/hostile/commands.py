"""Hostile command lines, beside good.csv and good.json, and what `rfsc` must answer."""

from __future__ import annotations

from typing import NamedTuple

from .tables import WORKS

DIGITS = "9" * 400
LONG = "x" * 5000
NOWHERE = "/proc/rfsc.json"  # a folder where nobody can make a file


class Command(NamedTuple):
    """The arguments, and WORKS or a pattern that the error matches."""

    arguments: tuple[str, ...]
    outcome: str
    status: int = 1

    @property
    def name(self) -> str:
        return " ".join(one[:20] for one in self.arguments).encode("ascii", "backslashreplace").decode()


def fit(outcome: str, *options: str, status: int = 2) -> Command:
    """`rfsc fit good.csv -t class`, quickly, with more options; --set wrong values are usage errors."""
    return Command(("fit", "good.csv", "-t", "class", *options), outcome, status)


def on(command: str, outcome: str, *options: str, status: int = 2) -> Command:
    """A command that reads good.json and good.csv."""
    return Command((command, "good.json", "good.csv", *options), outcome, status)


def export(outcome: str, to: str, *options: str, status: int = 1) -> Command:
    return Command(("export", "good.json", "--to", to, *options), outcome, status)


NUMBERS = [
    *(fit("--seed|random_state|Invalid value", "--seed", value) for value in (DIGITS, "-1", "1e3", "", "0x10")),
    fit(WORKS, "--jobs", DIGITS),
    *(fit("n_jobs|--jobs", "--jobs", value) for value in ("0", "-2", "1.5")),
    *(fit(WORKS, option, DIGITS) for option in ("--max-terms", "--size")),
    fit(WORKS, "--size", "\u0663"),
    *(fit("--size expects", "--size", value) for value in ("\u00b2", "-1", "1e2", "")),
    *(fit("--restarts|n_restarts", "--restarts", value) for value in ("0", DIGITS)),
    fit("--degree", "--degree", "6"),
    *(fit("--time-limit expects a positive", "--time-limit", value) for value in ("nan", "-1", "0", "-inf")),
    fit(WORKS, "--time-limit", "1e400"),
    *(fit("--cv expects|more folds", "--cv", value) for value in ("1", "-3", DIGITS)),
    *(fit("parameter", "--set", f"ridge={value}") for value in ("1e400", "nan", "-1", "(" * 500, "9**99**99", "[1]")),
    *(fit("parameter", "--set", f"n_models={value}") for value in (DIGITS, "1", "1e3", "None")),
    *(fit("parameter", "--set", f"max_samples={value}") for value in ("1e999", "0", "-0.5")),
    *(fit("parameter", "--set", f"significance={value}") for value in ("0", "1", "nan", "True")),
    fit("parameter", "--set", "tol=nan"),
    *(fit(WORKS, "--set", pair) for pair in ("max_samples=1e-7", "least_rip=1e300", "significance=1e-300")),
    *(fit("class_weight", "--set", f"class_weight={value}", status=1) for value in ("{'no':-1}", "{'maybe':1}")),
    fit("at least two classes", "--set", "class_weight={'yes':0}", status=1),
    *(on("certify", "--level expects", "--level", value) for value in ("nan", "0", "1", "inf")),
    on("certify", "--pairs", "--pairs", "0"),
    *(on("atlas", "--tolerance expects", "--tolerance", value) for value in ("nan", "-1", "1e400", "")),
    *(on("atlas", WORKS, "--max-terms", value) for value in (DIGITS, "0")),
    *(on("verify", "--tolerance", "--tolerance", value) for value in ("nan", "-1")),
    *(on("monitor", "--fail-above", "--fail-above", value) for value in ("nan", "-1")),
    *(on("explain", "--row", "--row", value) for value in ("0", "1e1")),
    *(on("explain", "has 40 rows", "--row", value, status=1) for value in ("41", DIGITS)),
    Command(("demo", "--seed", DIGITS, "--data", "d.csv"), WORKS),
]

WORDS = [
    *(fit("basis must be one of", "--basis", value) for value in ("", "polynomial,", LONG, "__import__('os')")),
    fit("parameter", "--set", "engine=cuda"),
    fit("parameter", "--set", "criterion=__import__('os').abort()"),
    *(fit("--set expects", "--set", value) for value in ("", "=", "ridge", "search=1", "callbacks=1", "__class__=1")),
    *(fit("no column", option, "nope", status=1) for option in ("--drop", "--number", "--group", "--increasing")),
    fit("no column is left", "--only", "class", status=1),
    fit("no column is left", "--only", "a", "--drop", "a", status=1),
    fit("names the target", "--group", "class", status=1),
    fit("is the target", "--increasing", "class", status=1),
    fit("both name", "--increasing", "a", "--decreasing", "a"),
    fit("--decimal expects", "--decimal", ";"),
    fit("different numbers", "--target", "a", status=1),
    *(fit("no column", "--target", value, status=1) for value in ("", "\x1b[2J", LONG, "class\u200b", "\uff43lass")),
    *(export("--to does not know", value, status=2) for value in ("exe", "", "SQL", LONG)),
    *(
        export("name must be a", to, "--name", value)
        for to in ("python", "c", "javascript")
        for value in ("", "x;y", "class", "1x", "a b", "x\ny", "*/", "__import__('os')")
    ),
    *(export("name must be a", "c", "--name", value) for value in ("\u00e9", "main", "double")),
    *(export(WORKS, "sql", "--table", value) for value in ('a";DROP TABLE x', "--", LONG)),
    *(export("SQL cannot write", "sql", "--table", value) for value in ("", "\ud83d")),
    export("dialect must be", "sql", "--dialect", "mysql"),
    on("card", "--class must be", "--class", "maybe"),
    on("predict", "no column", "--keep", "predicted", status=1),
    *(on("atlas", "no column of this name", option, "nope", status=1) for option in ("--without", "--require")),
    on("verify", "as a feature", "-t", "a", status=1),
    on("monitor", "knows the classes", "-t", "a", status=1),
    Command(("nonsense",), "No such command", 2),
    Command(("--nonsense",), "No such option", 2),
    Command(("fit",), "Missing argument", 2),
]

FILES = [
    *(Command((command, "", "good.csv"), "Is a directory") for command in ("predict", "explain", "monitor")),
    *(Command(("predict", "good.json", value), "expected Parquet files") for value in ("", ".")),
    *(Command(("info", value), "No such file") for value in ("none", "none/x", "\udcff", "~/x")),
    *(Command(("info", value), "not a model file") for value in ("good.csv", "/dev/null")),
    Command(("info", "good.csv/x"), "Not a directory"),
    Command(("info", LONG), "File name too long"),
    Command(("fit", "/proc/self/mem", "-t", "class"), "Input/output error"),
    Command(("predict", "-", "-"), "cannot both come from stdin"),
    *(
        on("report", outcome, "-t", "class", "-o", "r.html", "--certificate", value, status=1)
        for value, outcome in (
            ("/dev/null", "it is not JSON"),
            ("good.json", "no certificate"),
            ("none", "No such file"),
        )
    ),
    *(fit("is a folder", "-o", value, status=1) for value in (".", "/")),
    *(fit("there is no folder", "-o", value, status=1) for value in ("none/x", "good.csv/x")),
    fit("File name too long", "-o", LONG, status=1),
    fit("also the name of the table", "-o", "./good.csv"),
    *(fit("ends with one of", "--report", value) for value in ("x.pdf", ".html", "html")),
    fit("only one result", "--report", "-"),
    fit("needs the file to continue from", "--resume"),
    fit("expects a file", "--checkpoint", "."),
    fit("already exists", "--checkpoint", "good.csv", status=1),
    fit("also the name of the table", "--checkpoint", "good.csv", "--force"),
    *(
        Command(line, "cannot be written to its folder")
        for line in (
            ("fit", "good.csv", "-t", "class", "-o", NOWHERE),
            ("fit", "good.csv", "-t", "class", "--report", NOWHERE),
            ("fit", "good.csv", "-t", "class", "--checkpoint", NOWHERE),
            ("predict", "good.json", "good.csv", "-o", NOWHERE),
            ("report", "good.json", "good.csv", "-t", "class", "-o", NOWHERE),
            ("export", "good.json", "--to", "xlsx", "-o", NOWHERE),
            ("card", "good.json", "-o", NOWHERE),
            ("certify", "good.json", "good.csv", "-o", NOWHERE),
            ("atlas", "good.json", "good.csv", "--without", "c", "-o", NOWHERE),
            ("demo", "--data", NOWHERE),
        )
    ),
]

COMMANDS = [*NUMBERS, *WORDS, *FILES]

WRITERS = [
    ("fit", "good.csv", "-t", "class", "-o", "result.json"),
    ("fit", "good.csv", "-t", "class", "--report", "result.html"),
    ("predict", "good.json", "good.csv", "-o", "result.csv"),
    ("predict", "good.json", "good.csv", "-o", "result.parquet"),
    *(("export", "good.json", "--to", to, "-o", "result") for to in ("sql", "c", "html", "xlsx", "json", "text")),
    ("report", "good.json", "good.csv", "-t", "class", "-o", "result.html"),
    ("card", "step.json", "-o", "result.html"),
    ("certify", "good.json", "good.csv", "--pairs", "1", "--jobs", "1", "-o", "result.json"),
    ("atlas", "good.json", "good.csv", "--without", "c", "-o", "result.json"),
    ("demo", "--data", "result.csv"),
]
"""Commands that write a file whose name begins with "result"."""
