"""`rfsc card`."""

from __future__ import annotations

import json

import pytest
from sklearn.datasets import load_iris

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
    assert "changes the left-out log-loss by" in found.out
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
    assert "on the command line --basis hinge" in products
    assert "--cv expects 2 or more folds" in refused("card", model, "--cv", "1", status=2)
    assert "ends with one of .html" in refused("card", model, "-o", tmp_path / "card.pdf", status=2)
    assert "--class must be one of healthy and sick, got other" in refused("card", model, "--class", "other", status=2)


def test_either_of_two_classes(run, hospital):
    sick, healthy = (run(hospital / "patients.csv", "--cv", "2", "--class", one).out for one in ("sick", "healthy"))
    assert healthy.startswith("Points for class healthy\n")
    assert "changes the left-out log-loss by" in healthy
    assert sick != healthy


def test_the_class_of_several_is_named(refused, tmp_path, capsys):
    flowers = load_iris(as_frame=True)
    flowers.data.assign(kind=flowers.target_names[flowers.target]).to_csv(tmp_path / "iris.csv", index=False)
    line = ["fit", tmp_path / "iris.csv", "-t", "kind", *QUICK, "-o", tmp_path / "m.json", "--quiet"]
    assert main([str(part) for part in line]) == 0
    words = "choose one with --class: setosa, versicolor and virginica."
    assert words in refused("card", tmp_path / "m.json", status=2)
    assert "--class must be one of setosa, " in refused("card", tmp_path / "m.json", "--class", "rose", status=2)
    assert main(["card", str(tmp_path / "m.json"), "--class", "virginica"]) == 0
    assert "Points for class virginica" in capsys.readouterr().out


def test_a_fit_says_how_to_get_a_card(model, hospital, tmp_path, capsys):
    line = ["fit", str(hospital / "patients.csv"), "-t", "diagnosis", "--drop", "patient", *QUICK]
    assert main([*line, "-o", str(tmp_path / "hinge.json")]) == 0
    assert f"rfsc card {tmp_path / 'hinge.json'} {hospital / 'patients.csv'}" in capsys.readouterr().err
    assert main([*line, "--basis", "polynomial", "-o", str(tmp_path / "products.json")]) == 0
    said = capsys.readouterr().err
    assert "rfsc card" not in said
    assert "For a score card, fit with --basis hinge, step or rule." in said
