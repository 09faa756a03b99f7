"""`rfsc certify` and `rfsc fit --certify`."""

from __future__ import annotations

import json
import os
import signal
import sys

import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline

from rfsc import RFSCClassifier, SearchSettings
from rfsc._input.example_table import patients
from rfsc._input.table_files import read_table
from rfsc._input.training_data import ColumnChoice, training_table
from rfsc.certify import Certificate
from rfsc.certify import certify as certify_in_python
from rfsc.cli import main
from rfsc.export import load, save

from .conftest import QUICK

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore:Found unknown categories"),
]
FEW = ["--pairs", "2", "--jobs", "1"]
SEARCH = {"basis": "polynomial", "n_restarts": 1, "search": SearchSettings(max_iter=10, n_models=30)}


@pytest.fixture
def certify(capsys):
    def run(*arguments, status=0):
        capsys.readouterr()
        assert main(["certify", *FEW, *map(str, arguments)]) == status
        return capsys.readouterr()

    return run


def fit(hospital, *more):
    line = ["fit", str(hospital / "patients.csv"), "-t", "diagnosis", "--drop", "patient", "--jobs", "1", *QUICK]
    return main([*line, *map(str, more)])


# ---- rfsc certify


def test_the_certificate_is_that_of_the_pipeline_of_fit(hospital, certify, tmp_path):
    found = certify(hospital / "model.json", hospital / "patients.csv", "-o", tmp_path / "c.json", "--seed", "3")
    table = read_table(str(hospital / "patients.csv"))
    training = training_table(table, "diagnosis", ColumnChoice(drop=["patient"]))
    search = RFSCClassifier(**SEARCH | {"search": SearchSettings(max_iter=15, n_models=40)})
    pipeline = make_pipeline(training.encoder, search)
    same = certify_in_python(pipeline, training.X, training.y, n_pairs=2, random_state=3, n_jobs=1)
    assert found.out.partition("\n\n")[2] == same.text() + "\n"
    assert found.err == f"Saved the certificate to {tmp_path / 'c.json'}\n"
    assert Certificate.load(tmp_path / "c.json").text() == same.text()


def test_json_is_what_the_file_holds(hospital, certify, tmp_path):
    printed = certify(hospital / "model.json", hospital / "patients.csv", "--json", "-o", tmp_path / "c.json").out
    assert json.loads(printed) == json.loads((tmp_path / "c.json").read_text(encoding="utf-8"))
    assert certify(hospital / "model.json", hospital / "patients.csv", "-o", "-").out == printed


def test_no_seed_and_an_early_end_are_no_obstacles(hospital, certify, tmp_path):
    document = json.loads((hospital / "model.json").read_text(encoding="utf-8"))
    document["manifest"] |= {"seed": None, "stop_reasons": [["time_limit"]]}
    (tmp_path / "m.json").write_text(json.dumps(document))
    found = certify(tmp_path / "m.json", hospital / "patients.csv")
    assert "\n\n4 fits to halves of 160 rows" in found.out
    assert found.err == ""


def test_models_from_python_and_other_rows(certify, refused, tmp_path):
    X, y = load_iris(return_X_y=True, as_frame=True)
    table, model = tmp_path / "t.csv", tmp_path / "m.json"
    X.assign(kind=y).to_csv(table, index=False)
    save(RFSCClassifier(**SEARCH).fit(X, y), model, history=False)
    found = certify(model, table, "-t", "kind")
    assert "\n\n4 fits to halves of 150 rows" in found.out
    assert found.err == ""
    assert "as a feature" in refused("certify", model, table, "-t", "sepal length (cm)")
    X.assign(kind=y)[20:].to_csv(table, index=False)
    assert "fitted to other rows, weights or groups" in certify(model, table, "-t", "kind").err
    X.assign(kind=y)[:100].to_csv(table, index=False)
    assert "the classes 0, 1 and 2, but the table holds others" in refused("certify", model, table, "-t", "kind")
    X.assign(kind=y)[:50].to_csv(table, index=False)
    assert "at least two classes" in refused("certify", model, table, "-t", "kind")
    pd.concat([X.assign(kind=y)[:100], X.assign(kind=y)[147:]]).to_csv(table, index=False)
    said = refused("certify", model, table, "-t", "kind", *FEW)
    assert "fewer than two rows of some class" in said.splitlines()[-1]


def test_refusals(hospital, refused, tmp_path):
    model, table, other = hospital / "model.json", hospital / "patients.csv", tmp_path / "t.csv"
    assert "cannot both come from stdin" in refused("certify", "-", "-")
    assert "between 0 and 1, got 1." in refused("certify", model, table, "--level", "1", status=2)
    assert "--pairs" in refused("certify", model, table, "--pairs", "0", status=2)
    assert "positive number of seconds" in refused("certify", model, table, "--time-limit", "0", status=2)
    assert "--resume needs the file" in refused("certify", model, table, "--resume", status=2)
    assert "also the name of the table" in refused("certify", model, table, "-o", table, status=2)
    assert "also the name of the model file" in refused(
        "certify", model, table, "--checkpoint", model, "--resume", status=2
    )
    (tmp_path / "c.json").touch()
    assert "already exists" in refused("certify", model, table, "-o", tmp_path / "c.json")
    patients(160, 5).drop(columns="age").to_csv(other, index=False)
    assert "t.csv has no column 'age'" in refused("certify", model, other)
    patients(160, 5).assign(group=["a", "b"] * 80).to_csv(other, index=False)
    assert "knows the classes 'healthy' and 'sick'" in refused("certify", model, other, "-t", "group")
    assert "reads 'sex' as a feature" in refused("certify", model, table, "-t", "sex")
    patients(160, 5).query("diagnosis == 'sick'").to_csv(other, index=False)
    assert "single class" in refused("certify", model, other)
    few = patients(160, 5)
    few[(few["diagnosis"] == "sick") | (few.groupby("diagnosis").cumcount() < 4)].to_csv(other, index=False)
    assert "every class needs at least 5 rows" in refused("certify", model, other)
    save(load(model).models_[0], tmp_path / "m.json")
    assert "cannot be fitted again" in refused("certify", tmp_path / "m.json", table)


def test_tables_larger_than_memory_are_refused(hospital, refused, tmp_path, monkeypatch):
    monkeypatch.setattr("rfsc._input.training_data.IN_MEMORY_SHARE", 0.0)
    patients(160, 5).to_parquet(tmp_path / "t.parquet")
    said = refused("certify", hospital / "model.json", tmp_path / "t.parquet")
    assert "needs the table in memory, but t.parquet is too large for that" in said
    options = ["-t", "diagnosis", "--drop", "patient", "--certify"]
    assert "--certify needs the table in memory" in refused("fit", tmp_path / "t.parquet", *options, status=2)


def test_a_checkpoint_is_continued(hospital, certify, tmp_path, monkeypatch, refused):
    line = [hospital / "model.json", hospital / "patients.csv", "--checkpoint", tmp_path / "c.checkpoint"]
    first = certify(*line).out
    assert "pass --resume" in refused("certify", *line)

    def refuse(*_):
        raise AssertionError

    monkeypatch.setattr("rfsc.certify.halves.Halves.run", refuse)
    assert certify(*line, "--resume").out == first


def test_a_time_limit_ends_with_the_halves_so_far(hospital, certify):
    line = [hospital / "model.json", hospital / "patients.csv", "--time-limit", "2", "--json"]
    found = json.loads(certify(*line, "--pairs", "5000").out)["settings"]
    assert 2 <= found["n_halves"] < found["n_pairs"] == 5000
    said = certify(hospital / "model.json", hospital / "patients.csv", "--time-limit", "0.001", status=1).err
    assert "the time ended before the first pair of halves was fitted" in said


@pytest.mark.skipif(os.name == "nt", reason="Windows sends Ctrl-C to whole consoles")
def test_ctrl_c_ends_with_the_halves_so_far(hospital, certify, monkeypatch):
    press_in(monkeypatch, half=2)
    found = certify(hospital / "model.json", hospital / "patients.csv", "--pairs", "9", status=130)
    assert "\n\n2 fits to halves of 160 rows" in found.out
    assert found.err.splitlines()[-1] == "rfsc: interrupted: the certificate rests on fewer halves."


def press_in(monkeypatch, half, times=1):
    """Ctrl-C while a half is fitted."""
    from rfsc.certify.halves import Halves

    run = Halves.run

    def pressed(self, item, context):
        if item == half:
            for _ in range(times):
                signal.raise_signal(signal.SIGINT)
        return run(self, item, context)

    monkeypatch.setattr(Halves, "run", pressed)


def test_names_cannot_move_the_cursor(certify, tmp_path, monkeypatch):
    X, y = load_iris(return_X_y=True, as_frame=True)
    X = X.rename(columns={"petal width (cm)": "petal \x1b[2J\x9b31m"})
    X.assign(kind=y).to_csv(tmp_path / "t.csv", index=False)
    save(RFSCClassifier(**SEARCH).fit(X, y), tmp_path / "m.json", history=False)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    out = certify(tmp_path / "m.json", tmp_path / "t.csv", "-t", "kind").out
    assert "petal \N{REPLACEMENT CHARACTER}[2J" in out
    assert "\x1b" not in out
    assert "\x9b" not in out


# ---- rfsc fit --certify


def test_fit_shows_the_certificate_of_its_own_model(hospital, certify, capsys):
    assert fit(hospital, "--certify", "--pairs", "2", "--cv", "0") == 0
    found = capsys.readouterr()
    assert found.out.endswith(certify(hospital / "model.json", hospital / "patients.csv").out)
    assert "Fitting halves of the rows for the certificate ..." in found.err


def test_fit_hands_the_certificate_to_json_and_report(hospital, tmp_path, capsys):
    assert fit(hospital, "--certify", "--pairs", "2", "--cv", "0", "--json", "-q", "--report", tmp_path / "r.json") == 0
    facts = json.loads(capsys.readouterr().out)
    (tmp_path / "c.json").write_text(json.dumps(facts["certificate"]))
    certificate = Certificate.load(tmp_path / "c.json")
    report = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert report["certificate"]["lines"][1:] == certificate.lines()
    assert facts["settings"]["verbose"] is None  # the progress of the certificate is no setting of the model


def test_report_shows_a_saved_certificate(hospital, certify, refused, tmp_path, capsys):
    certify(hospital / "model.json", hospital / "patients.csv", "-o", tmp_path / "c.json")
    line = ["report", hospital / "model.json", hospital / "patients.csv", "-t", "diagnosis"]
    line += ["--certificate", tmp_path / "c.json", "-o", tmp_path / "r.json"]
    assert main([str(one) for one in line]) == 0
    report = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert report["certificate"]["lines"][1:] == Certificate.load(tmp_path / "c.json").lines()
    document = json.loads((tmp_path / "c.json").read_text(encoding="utf-8"))
    document["settings"]["classes"] = ["no", "yes"]
    (tmp_path / "c.json").write_text(json.dumps(document))
    assert "is about other classes than the model" in refused(*line, "--force")
    (tmp_path / "c.json").write_text("{}")
    assert "it is no certificate of rfsc" in refused(*line, "--force")
    (tmp_path / "c.json").unlink()
    assert "c.json: No such file" in refused(*line, "--force")


@pytest.mark.skipif(os.name == "nt", reason="Windows sends Ctrl-C to whole consoles")
def test_ctrl_c_during_the_certificate_keeps_the_model(hospital, tmp_path, capsys, monkeypatch):
    press_in(monkeypatch, half=1, times=2)
    options = ["-o", tmp_path / "m.json", "--report", tmp_path / "r.html"]
    assert fit(hospital, "--certify", "--pairs", "2", "--cv", "0", *options) == 130
    said = capsys.readouterr().err
    assert said.splitlines()[-1] == "rfsc: interrupted: the model has no score, no certificate and no report."
    assert load(tmp_path / "m.json").models_[0].size
    assert not (tmp_path / "r.html").exists()


def test_without_time_for_a_certificate_there_is_a_model(hospital, tmp_path, capsys):
    assert (
        fit(hospital, "--certify", "--pairs", "2", "--cv", "0", "--time-limit", "0.01", "-o", tmp_path / "m.json") == 0
    )
    said = capsys.readouterr().err
    assert "there is no certificate: the time ended before the first pair of halves was fitted" in said
    assert (tmp_path / "m.json").exists()
