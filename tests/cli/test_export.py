"""`rfsc export`: what is written gives the answers of `rfsc predict` on raw columns."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from rfsc import RFSCClassifier, SearchSettings
from rfsc.cli import main
from rfsc.export import load, save, to_html, to_json


@pytest.fixture
def raw(hospital):
    """New rows with proper numbers and missing cells, as a database has them."""
    return pd.read_csv(hospital / "new.csv", na_values=["n/a"])


@pytest.fixture
def exported(hospital, capsys):
    def export(*options):
        capsys.readouterr()
        assert main(["export", str(hospital / "model.json"), *options]) == 0
        found = capsys.readouterr()
        assert found.err == ""
        return found.out

    return export


def test_sql(hospital, exported, raw):
    query = exported("--to", "sql", "--table", "the patients")
    with contextlib.closing(sqlite3.connect(":memory:")) as database:
        raw.to_sql("the patients", database, index=False)
        found = pd.read_sql(query, database)
    np.testing.assert_allclose(found["decision"], load(hospital / "model.json").decision_function(raw), atol=1e-9)
    assert "DOUBLE" in exported("--to", "sql", "--dialect", "duckdb").upper()


def test_python(hospital, exported, raw):
    space = {}
    exec(exported("--to", "python", "--name", "diagnose"), space)
    labels = [space["diagnose"](row)["label"] for row in raw.to_dict("records")]
    assert labels == load(hospital / "model.json").predict(raw).tolist()


def test_c(exported):
    assert "risk(" in exported("--to", "c", "--name", "risk")


def test_onnx_to_a_file(hospital, raw, tmp_path, capsys):
    runtime = pytest.importorskip("onnxruntime")
    path = tmp_path / "model.onnx"
    assert main(["export", str(hospital / "model.json"), "--to", "onnx", "-o", str(path)]) == 0
    assert capsys.readouterr().err == f"Wrote {path}\n"
    session = runtime.InferenceSession(path.read_bytes())
    feed = {}
    for one in session.get_inputs():
        column = raw[[one.name]]
        number = "double" in one.type
        feed[one.name] = column.to_numpy(dtype=np.float64) if number else column.fillna("").to_numpy(dtype=object)
    label = session.run(["label"], feed)[0]
    assert label.ravel().tolist() == load(hospital / "model.json").predict(raw).tolist()


def test_javascript(exported):
    assert "export function diagnose(row)" in exported("--to", "javascript", "--name", "diagnose")


def test_calculator(hospital, exported, tmp_path, capsys):
    assert exported("--to", "html").rstrip("\n") == to_html(load(hospital / "model.json")).rstrip("\n")
    openpyxl = pytest.importorskip("openpyxl")
    path = tmp_path / "model.xlsx"
    assert main(["export", str(hospital / "model.json"), "--to", "xlsx", "-o", str(path)]) == 0
    assert capsys.readouterr().err == f"Wrote {path}\n"
    assert openpyxl.load_workbook(path)["Calculator"]["A1"].value == "Calculator: diagnosis"


def test_json_is_the_file(hospital, exported):
    assert exported("--to", "json").rstrip("\n") == to_json(load(hospital / "model.json")).rstrip("\n")


@pytest.mark.parametrize(
    ("form", "words"), [("latex", r"\text{age}"), ("html-equation", "<var>age</var>"), ("text", "*age")]
)
def test_equations(exported, form, words):
    assert words in exported("--to", form)
    assert exported("--to", form, "--units", "scaled") != exported("--to", form)


def test_equations_of_several_classes(tmp_path, capsys):
    X, y = load_iris(return_X_y=True, as_frame=True)
    labels = np.array(["a<b", "c\nd", "e"])[y]
    clf = RFSCClassifier(basis="polynomial", n_restarts=1, search=SearchSettings(max_iter=10), random_state=0).fit(
        X, labels
    )
    save(clf, tmp_path / "m.json")
    heads = {
        "text": ["a<b: f", "c d: f", "e: f"],
        "latex": ["% a<b\n", "% c d\n", "% e\n"],
        "html-equation": ["a&lt;b: ", "c d: "],
    }
    for form, wanted in heads.items():
        assert main(["export", str(tmp_path / "m.json"), "--to", form]) == 0
        out = capsys.readouterr().out
        assert all(head in out for head in wanted)


@pytest.mark.parametrize(
    ("options", "words", "status"),
    [
        (["--to", "cobol"], "--to does not know cobol. Choose from: sql, python", 2),
        (["--to", "python", "--dialect", "duckdb"], "--dialect goes with --to sql, not with --to python", 2),
        (
            ["--to", "sql", "--name", "f"],
            "--name goes with --to python or --to c or --to javascript, not with --to sql",
            2,
        ),
        (["--to", "sql", "--dialect", "oracle"], "dialect", 1),
        (["--to", "text", "--units", "furlongs"], "units must be", 1),
        (["--to", "c", "--name", "no name"], "no name", 1),
    ],
)
def test_refusals(hospital, refused, tmp_path, options, words, status):
    line = ["export", hospital / "model.json", *options, "-o", tmp_path / "out"]
    assert words in refused(*line, status=status)
    assert os.listdir(tmp_path) == []


def test_a_terminal_gets_no_binary_format(hospital, refused, monkeypatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    words = "onnx is a binary format; pass -o FILE.\n"
    assert refused("export", hospital / "model.json", "--to", "onnx", "-o", "-", status=2) == words


@pytest.mark.parametrize("to", ["onnx", "xlsx"])
def test_a_pipe_gets_a_binary_format_only_if_it_is_asked_for(hospital, refused, to):
    words = f"{to} is a binary format; pass -o FILE.\n"
    assert refused("export", hospital / "model.json", "--to", to, status=2) == words
