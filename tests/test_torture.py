"""`make torture` counts what went wrong, and fails if anything did."""

from __future__ import annotations

import json
import sys

import pytest
from benchmarks.torture.__main__ import PARTS, main

pytestmark = pytest.mark.slow


@pytest.fixture
def torture(monkeypatch, tmp_path):
    """The command, with its files in a folder of their own."""
    page, raw = tmp_path / "page.md", tmp_path / "raw.json"
    page.write_text("before\n<!-- torture -->\nold\n<!-- /torture -->\nafter\n")

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["torture", "--raw", str(raw), "--write", str(page), *arguments])
        return main(), page.read_text(), json.loads(raw.read_text())

    return run, raw


def test_one_part_is_run_and_the_others_are_kept(torture):
    run, raw = torture
    raw.write_text(json.dumps({"memory": {"rows": [["peak", 6, 0, 0]], "seconds": 60, "versions": "v"}}))
    status, page, found = run("--quick", "--only", "seeds")
    assert status == 0
    assert list(found) == ["memory", "seeds"]
    assert "| random states left alone | 6 | 0 | 0 |" in page
    assert "| peak | 6 | 0 | 0 | 60 |" in page
    assert page.startswith("before\n")
    assert page.endswith("after\n")
    assert "old" not in page


@pytest.mark.parametrize("counts", [(6, 1, 0), (6, 0, 1)])
def test_what_is_lost_or_wrong_is_a_failure(torture, counts):
    run, raw = torture
    raw.write_text(json.dumps({"memory": {"rows": [["peak", *counts]], "seconds": 60, "versions": "v"}}))
    status, page, _ = run("--only")
    assert status == 1
    assert f"| peak | {counts[0]} | {counts[1]} | {counts[2]} |" in page


def test_a_part_that_fails_is_a_failure(torture, monkeypatch, capsys):
    def broken():
        raise RuntimeError

    monkeypatch.setitem(PARTS, "seeds", (broken, broken))
    run, _ = torture
    status, page, _ = run("--only", "seeds")
    assert status == 1
    assert "| seeds (failed) | 1 | 1 | 0 |" in page
    assert "RuntimeError" in capsys.readouterr().err
