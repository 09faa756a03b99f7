"""`rfsc demo`: an example table, and a fit of it."""

from __future__ import annotations

import shlex

import pandas as pd

from rfsc import RFSCClassifier, SearchSettings
from rfsc._input.example_table import patients
from rfsc.cli import arguments, main

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


def test_demo(capsys, monkeypatch):
    def quick_search(*_, **__):
        settings = SearchSettings(max_iter=60, n_models=30)
        return RFSCClassifier(basis="polynomial", n_restarts=1, search=settings, random_state=0)

    monkeypatch.setattr(arguments, "configured_search", quick_search)
    assert main(["demo"]) == 0
    found = capsys.readouterr()
    for words in ["f > 0 predicts class sick", "majority class"]:
        assert words in found.out
    assert "With a table of your own: rfsc fit data.csv" in found.err
