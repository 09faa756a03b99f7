"""`rfsc monitor`."""

from __future__ import annotations

import json

import pytest

from rfsc._input.example_table import patients
from rfsc.cli import main
from rfsc.export import load, save


@pytest.fixture
def monitor(capsys, hospital):
    def run(data, *arguments, status=0):
        capsys.readouterr()
        line = ["monitor", hospital / "model.json", data, *arguments]
        assert main([str(argument) for argument in line]) == status
        return capsys.readouterr()

    return run


@pytest.fixture
def moved(tmp_path):
    """Patients who are all older."""
    table = patients(200, 7)
    table["age"] = (table["age"].astype(int) + 30).astype(str)
    table.to_csv(tmp_path / "moved.csv", index=False)
    return tmp_path / "moved.csv"


def test_fit_leaves_a_reference_of_left_out_rows(hospital):
    reference = load(hospital / "model.json").reference_
    assert reference.is_left_out
    assert reference.n_rows == 160
    assert {one.measure for one in reference.figures} == {
        *("log-loss", "AUC", "calibration intercept", "calibration slope")
    }


def test_classes_are_used_if_the_table_has_them(monitor, hospital, tmp_path):
    new = patients(200, 8)
    new.to_csv(tmp_path / "new.csv", index=False)
    said = monitor(tmp_path / "new.csv")
    assert said.out.startswith("200 new rows, compared with 160 rows of the fit.\n")
    assert "calibration slope" in said.out
    new.drop(columns="diagnosis").to_csv(tmp_path / "bare.csv", index=False)
    assert "calibration" not in monitor(tmp_path / "bare.csv").out
    new.assign(diagnosis="").to_csv(tmp_path / "blank.csv", index=False)
    said = monitor(tmp_path / "blank.csv")
    assert "calibration" not in said.out
    assert "'diagnosis' is blank in all rows" in said.err


def test_status_tells_of_a_shift_if_asked(monitor, moved):
    found = json.loads(monitor(moved, "--json").out)
    assert found["largest_psi"] > 0.25
    assert {row["name"]: row["verdict"] for row in found["columns"]}["age"] == "large change"
    said = monitor(moved, "--fail-above", "0.25", status=1)
    assert "more than chance explains" in said.err.splitlines()[-1]
    monitor(moved, "--fail-above", "50")


def test_what_cannot_be_compared(hospital, moved, refused, tmp_path):
    model = load(hospital / "model.json")
    save(model.with_reference(None), tmp_path / "bare.json")
    assert "holds no reference" in refused("monitor", tmp_path / "bare.json", moved)
    table = patients(20, 1)
    read = model.recipe_.columns[model.recipe_.features[model.models_[0].features[0]].column].name
    table.drop(columns=read).to_csv(tmp_path / "short.csv", index=False)
    assert "lacks 1 of the" in refused("monitor", hospital / "model.json", tmp_path / "short.csv")
    assert "no column 'diagnose'" in refused("monitor", hospital / "model.json", moved, "--target", "diagnose")
