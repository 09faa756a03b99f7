"""`rfsc fit --class`: everything that is shown is about this class; what is predicted stays the same."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from rfsc._model.measures import calibration_intercept
from rfsc.cli import main
from rfsc.export import load

from .conftest import QUICK


@pytest.fixture(scope="module")
def asked(hospital):
    """A model about the healthy, who come first in the order of the alphabet, and its report as JSON."""
    line = ["fit", str(hospital / "patients.csv"), "-t", "diagnosis", "--drop", "patient", *QUICK]
    line += ["--class", "healthy", "--fallback"]
    paths = hospital / "asked.json", hospital / "asked_report.json"
    assert main([*line, "-o", str(paths[0]), "--report", str(paths[1]), "--quiet"]) == 0
    return paths


@pytest.fixture
def run(capsys, asked, hospital):
    def one(command, *arguments):
        capsys.readouterr()
        assert main([command, str(asked[0]), *map(str, arguments)]) == 0
        return capsys.readouterr().out

    return one


def test_the_model_file_predicts_as_without_the_option(asked, hospital):
    found, usual = load(asked[0]), load(hospital / "model.json")
    rows = pd.read_csv(hospital / "new.csv")
    assert found.classes_.tolist() == usual.classes_.tolist() == ["healthy", "sick"]
    assert found.models_[0].names == usual.models_[0].names
    turned = found.about("healthy")
    assert turned.classes_.tolist() == ["sick", "healthy"]
    assert found.about("sick") is found
    np.testing.assert_allclose(turned.predict_proba(rows), found.predict_proba(rows)[:, ::-1], rtol=1e-12)
    np.testing.assert_allclose(turned.decision_function(rows), -found.decision_function(rows), rtol=1e-12)
    assert turned.predict(rows).tolist() == found.predict(rows).tolist()
    with pytest.raises(ValueError, match="label must be one of 'healthy', 'sick', got 'well'"):
        found.about("well")


def test_texts_are_about_the_class(run, hospital):
    assert "f > 0 predicts class healthy" in run("info")
    assert "probability of class healthy" in run("explain", hospital / "new.csv", "--row", "1")
    sql = run("export", "--to", "sql")
    assert sql.index("sick") < sql.index("healthy")
    assert "identical" in run("verify", hospital / "patients.csv")


def test_the_report_is_about_the_class(asked, hospital, run, tmp_path):
    """What it says of the healthy follows from what the usual report says of the sick."""
    line = ["fit", str(hospital / "patients.csv"), "-t", "diagnosis", "--drop", "patient", *QUICK, "--quiet"]
    assert main([*line, "--report", str(tmp_path / "usual.json")]) == 0
    found, usual = (json.loads(path.read_text()) for path in (asked[1], tmp_path / "usual.json"))
    own, other = found["performance"][0], usual["performance"][0]
    assert (own["label"], other["label"]) == ("healthy", "sick")
    assert own["prevalence"] == pytest.approx(1 - other["prevalence"])
    assert own["auc"] == pytest.approx(other["auc"])
    assert own["slope"] == pytest.approx(other["slope"], abs=1e-6)
    assert own["intercept"] == pytest.approx(-other["intercept"], abs=1e-6)
    at, mirrored = ({row["threshold"]: row for row in one["thresholds"]} for one in (own, other))
    assert at[0.3]["sensitivity"] == pytest.approx(mirrored[0.7]["specificity"])
    assert at[0.3]["ppv"] == pytest.approx(mirrored[0.7]["npv"])
    model, before = found["models"][0], usual["models"][0]
    assert model["label"] == "healthy"
    for term, same in zip(model["terms"], before["terms"], strict=True):
        assert term["coef"] == pytest.approx(-same["coef"])
    for row, same in zip(model["odds_ratios"], before["odds_ratios"], strict=True):
        assert row["odds_ratio"] == pytest.approx(1 / same["odds_ratio"], rel=1e-6)
    assert found["score"]["figures"] == pytest.approx(usual["score"]["figures"])
    assert [c["label"] for c in found["task"]["classes"]] == ["sick", "healthy"]
    out = tmp_path / "later.json"
    run("report", hospital / "patients.csv", "-t", "diagnosis", "-o", out)
    assert json.loads(out.read_text())["performance"][0]["label"] == "healthy"


def test_monitor_is_about_the_class(asked, hospital, run):
    found = json.loads(run("monitor", hospital / "new.csv", "-t", "diagnosis", "--json"))
    text = run("monitor", hospital / "new.csv", "-t", "diagnosis")
    assert "probability of healthy" in text
    assert "probability of sick" not in text
    rows = pd.read_csv(hospital / "new.csv")
    healthy, proba = rows["diagnosis"] == "healthy", load(asked[0]).predict_proba(rows)[:, 0]
    now = {row["measure"]: row["now"] for row in found["performance"]}
    assert now["AUC"] == pytest.approx(roc_auc_score(healthy, proba))
    assert now["calibration intercept"] == pytest.approx(calibration_intercept(healthy, proba, np.ones(len(rows)))[0])


def test_signs_are_those_of_the_class(hospital, tmp_path):
    """The risk of being sick rises with age, so the odds of the healthy may only fall with it."""
    line = ["fit", str(hospital / "patients.csv"), "-t", "diagnosis", "--drop", "patient", *QUICK, "--quiet"]
    read = {}
    for sign in ("increasing", "decreasing"):
        more = ["--class", "healthy", f"--{sign}", "age", "-o", str(tmp_path / f"{sign}.json")]
        assert main([*line, *more]) == 0
        found = load(tmp_path / f"{sign}.json")
        rows = pd.read_csv(hospital / "patients.csv").drop(columns=["patient", "diagnosis"]).iloc[[0] * 2].copy()
        rows["age"] = [40, 70]
        read[sign] = np.diff(found.about("healthy").decision_function(rows))[0]
    assert read["increasing"] >= 0 > read["decreasing"]


def test_card_and_atlas_are_about_the_class(hospital, capsys):
    path = hospital / "steps.json"
    line = [
        "fit",
        str(hospital / "patients.csv"),
        "-t",
        "diagnosis",
        "--drop",
        "patient",
        "--class",
        "healthy",
        "--quiet",
    ]
    assert main([*line, "--basis", "step", "--restarts", "1", "--cv", "0", "-o", str(path)]) == 0
    assert main(["card", str(path)]) == 0
    assert "Points for class healthy" in capsys.readouterr().out
    assert main(["atlas", str(path), str(hospital / "patients.csv"), "--decreasing", "age", "--json", "--quiet"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["price"] == 0.0  # the model itself has this sign
    assert found["wish"].startswith("Never rising with age")
    without = hospital / "without.json"
    line = ["atlas", str(path), str(hospital / "patients.csv"), "--without", "age", "-o", str(without), "--quiet"]
    assert main(line) == 0
    assert load(without).classes_.tolist() == ["sick", "healthy"]


def test_classes_that_are_not_there(refused, hospital, tmp_path):
    line = ["fit", hospital / "patients.csv", "-t", "diagnosis", "--drop", "patient", "--quiet"]
    assert "must be healthy or sick, the classes of 'diagnosis', got ill" in refused(*line, "--class", "ill", status=2)
    table = pd.DataFrame({"x": np.arange(60) % 7 + 0.5, "y": list("abc") * 20})
    table.to_csv(tmp_path / "three.csv", index=False)
    said = refused("fit", tmp_path / "three.csv", "-t", "y", "--class", "a", "--quiet", status=2)
    assert "--class chooses one of two classes, but 'y' holds 3" in said
