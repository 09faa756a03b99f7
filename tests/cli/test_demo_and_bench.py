"""`rfsc demo` and `rfsc bench`: a first look without data of one's own."""

from __future__ import annotations

import json
import shlex

import pandas as pd
import pytest
from paper import fit_speed

from rfsc._engines.numba_engine import COMPILE_NOTICE
from rfsc._tables.example import patients
from rfsc.cli import main
from rfsc.cli.console import Voice
from rfsc.cli.demo import fit_example

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
    assert "is there already" in capsys.readouterr().err


def test_demo(capsys):
    fit_example(Voice(quiet=True), 200, 2, basis="polynomial", n_restarts=1, max_iter=60, n_models=30)
    found = capsys.readouterr()
    for words in ["f > 0 speaks for class sick", "random forest", "The first patient: This row is classed as"]:
        assert words in found.out
    assert found.err.replace(COMPILE_NOTICE, "") == ""  # said once for each machine


@pytest.fixture
def short(monkeypatch):
    for name, value in {"SIZES": (4, 7), "N_SUPPORTS": 10, "ROUNDS": 1, "TURN": 0.01}.items():
        monkeypatch.setattr(fit_speed, name, value)


def test_bench(short, capsys):
    assert main(["bench"]) == 0
    found = capsys.readouterr()
    assert "scikit-learn" in found.out
    assert [line.split()[0] for line in found.out.splitlines()[2:4]] == ["4", "7"]


def test_bench_measures_the_same_fits(short, capsys):
    assert main(["bench", "--json"]) == 0
    for row in json.loads(capsys.readouterr().out):
        assert row["difference"] < 1e-6
        assert row["ratio"] == pytest.approx(row["one_fit"] / row["sklearn"])
        assert min(row["one_fit"], row["full"], row["sklearn"]) > 0
