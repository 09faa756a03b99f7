"""The commands of docs/command_line.md run, and print what the page shows unless it depends on a search."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from rfsc.cli import main

from .conftest import QUICK

pytestmark = pytest.mark.slow

PAGE = (Path(__file__).parents[2] / "docs" / "command_line.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```console\n(.*?)\n```", PAGE, flags=re.DOTALL)


def commands():
    """Every command of the page, with what is shown under it."""
    for block in BLOCKS:
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, shown = part.partition("\n")
            yield command, [line for line in shown.splitlines() if line.strip()]


def test_commands_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    n_same, short = 0, [*QUICK, "--set", "max_iter=80"]
    for command, shown in commands():
        program, *arguments = shlex.split(command)
        assert program == "rfsc"
        refused = any(line.startswith("rfsc: ") for line in shown)
        assert main([*arguments, *(short if arguments[0] == "fit" else [])]) == int(refused), command
        found = capsys.readouterr()
        said = [line.rstrip() for line in found.err.splitlines() if line.strip()]
        said = [line for line in said if not line.startswith("For a score card")]  # whether there is one depends on it
        assert said == [line for line in shown if line in said], command
        heads = [
            [line.split() for line in lines if line.startswith("term ")] for lines in (shown, found.out.splitlines())
        ]
        assert heads[0] == heads[1], command
        n_same += len(said)
    assert n_same > 20
    assert {path.name for path in tmp_path.iterdir()} >= {"patients.csv", "model.json", "report.html", "model.sql"}


def test_options_exist(capsys):
    texts = []
    commands = "fit predict export report demo explain certify atlas card monitor verify"
    for command in ("", *commands.split()):
        main([*command.split(), "--help"])
        texts.append(capsys.readouterr().out)
    assert {option for option in re.findall(r"--[a-z][a-z-]+", PAGE) if option not in "".join(texts)} == set()
