"""The page of promises names tests that exist, for every promise."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

from benchmarks.torture.__main__ import PARTS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| (?P<promise>[^|]+) \| (?P<tests>`tests/.+`) \|$", re.MULTILINE)


def functions_in(file):
    """Names of the functions defined in a file."""
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def test_every_named_test_exists():
    named = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", PAGE)
    assert len(named) > 60
    missing = [
        f"{file}::{name}"
        for file, name in named
        if not (ROOT / file).exists() or not name.startswith("test_") or name not in functions_in(file)
    ]
    assert missing == []


def test_every_promise_has_a_test():
    promises, _, _ = PAGE.partition("## What make torture has tried")
    rows = [line for line in promises.splitlines() if line.startswith("| ") and not line.startswith("| promise")]
    assert len(rows) > 30
    assert [row for row in rows if not ROW.match(row)] == []


def test_every_part_of_make_torture_was_run():
    found = json.loads((ROOT / "docs" / "reliability.json").read_text(encoding="utf-8"))
    assert set(found) == set(PARTS)


KNOWN = {"hard fits: engine numpy": "1"}  # trials that are wrong, each explained above the table


def test_the_torture_table_shows_nothing_lost_and_nothing_wrong_but_what_the_page_explains():
    table = PAGE.partition("<!-- torture -->")[2].partition("<!-- /torture -->")[0]
    rows = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("|")][2:]
    assert len(rows) > 20
    for name, tried, lost, wrong, *_ in rows:
        assert int(tried.replace(",", "")) > 0, name
        assert (lost, wrong) == ("0", KNOWN.get(name, "0")), name
    assert ("One trial is wrong: the NumPy engine" in PAGE) == bool(KNOWN)
