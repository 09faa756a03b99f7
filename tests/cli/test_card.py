"""`rfsc card`."""

from __future__ import annotations

import json

import pytest

from rfsc.card import ScoreCard
from rfsc.cli import main

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
QUICK = ["--basis", "hinge", "--restarts", "1", "--set", "max_iter=15", "--set", "n_models=40", "--cv", "0"]


@pytest.fixture(scope="module")
def model(hospital):
    path = hospital / "hinge.json"
    line = ["fit", str(hospital / "patients.csv"), "-t", "diagnosis", "--drop", "patient", *QUICK, "-o", str(path)]
    assert main([*line, "--quiet"]) == 0
    return path


@pytest.fixture
def run(capsys, model):
    def one(*arguments, status=0):
        capsys.readouterr()
        assert main([str(argument) for argument in ("card", model, *arguments)]) == status
        return capsys.readouterr()

    return one


def test_with_its_table(run, hospital, model, tmp_path):
    out = tmp_path / "card.json"
    found = run(hospital / "patients.csv", "--cv", "2", "--jobs", "1", "-o", out, "--max-points", "5")
    assert found.out.startswith("Points for class sick\n")
    assert "in left-out log-loss" in found.out
    assert "training rows" in found.out
    assert found.err.splitlines() == ["Fitting again ...", f"Saved the card to {out}"]
    card = ScoreCard.load(out)
    assert card.text() + "\n" == found.out
    assert card.points.points.max() <= 5
    assert card.cost.n_folds == 2


def test_from_the_model_alone(run, tmp_path):
    found = run("-o", tmp_path / "card.html")
    assert "What rounding costs is not known: the card was made without a table." in found.out
    assert "training rows" not in found.out
    assert (tmp_path / "card.html").read_text().startswith("<!doctype html>")
    content = json.loads(run("--json", "--quiet").out)
    assert content["format"] == "rfsc-card"
    assert content["cost"] is None


def test_errors_come_before_any_fit(refused, hospital, model, tmp_path):
    products = refused("card", hospital / "model.json", hospital / "patients.csv")
    assert 'Fit with basis="hinge"' in products
    assert "--cv expects 2 or more folds" in refused("card", model, "--cv", "1", status=2)
    assert "ends with one of .html" in refused("card", model, "-o", tmp_path / "card.pdf", status=2)
    assert "label must be 'sick', got 'other'" in refused("card", model, "--class", "other")
