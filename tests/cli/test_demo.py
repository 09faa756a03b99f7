"""`rfsc demo`: an example table, and a fit of it."""

from __future__ import annotations

import shlex

import pandas as pd

from rfsc import RFSCClassifier, SearchSettings
from rfsc._engines.numba_engine import COMPILE_NOTICE
from rfsc._tables.example_table import patients
from rfsc.cli import main
from rfsc.cli.console import Messages
from rfsc.cli.fit_command import fit_example

from .conftest import QUICK


def test_example_table(tmp_path, capsys):
    path = tmp_path / "the patients.csv"
    assert main(["demo", "--data", str(path)]) == 0
    command = capsys.readouterr().err.partition("Next: rfsc ")[2].partition(" -o")[0]
    assert main([*shlex.split(command), *QUICK, "--set", "max_iter=80", "--quiet"]) == 0
    capsys.readouterr()
    pd.testing.assert_frame_equal(
        pd.read_csv(path, dtype=str, keep_default_na=False), patients().astype("str"), check_dtype=False
    )
    assert main(["demo", "--data", str(path)]) == 1
    assert "already exists" in capsys.readouterr().err


def test_demo(capsys):
    settings = SearchSettings(max_iter=60, n_models=30)
    search = RFSCClassifier(basis="polynomial", n_restarts=1, search=settings, random_state=0)
    fit_example(Messages(quiet=True), search, cv=2)
    found = capsys.readouterr()
    for words in ["class sick", "majority class", "The first patient: "]:
        assert words in found.out
    assert found.err.replace(COMPILE_NOTICE, "") == ""  # once for each machine
