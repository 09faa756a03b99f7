"""What can be done with a model file: predict, explain, report, info."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from datetime import datetime

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from rfsc import RFSCClassifier, SearchSettings
from rfsc._input.example_table import patients
from rfsc._input.table_files import read_table
from rfsc.cli import main
from rfsc.explain import explain
from rfsc.export import load, save


@pytest.fixture
def answers(hospital):
    """What the model says of new.csv, through pandas rather than through our own reader."""
    raw = pd.read_csv(hospital / "new.csv", na_values=["n/a"])
    model = load(hospital / "model.json")
    return model.predict(raw), model.predict_proba(raw), raw


def run(*arguments):
    assert main([str(argument) for argument in arguments]) == 0


# ---- predict


def test_predict(hospital, answers, capsys):
    run("predict", hospital / "model.json", hospital / "new.csv", "--proba", "--keep", "patient")
    found = capsys.readouterr()
    table = pd.read_csv(io.StringIO(found.out))
    labels, proba, raw = answers
    assert list(table.columns) == ["patient", "predicted", "probability_healthy", "probability_sick"]
    assert table["predicted"].tolist() == labels.tolist()
    assert table["patient"].tolist() == raw["patient"].tolist()
    assert all(re.search(r",[01]\.\d{3},[01]\.\d{3}$", line) for line in found.out.splitlines()[1:])
    np.testing.assert_allclose(table[["probability_healthy", "probability_sick"]], proba, atol=5.1e-4)
    run("predict", hospital / "model.json", hospital / "new.csv", "--proba", "--all-digits")
    table = pd.read_csv(io.StringIO(capsys.readouterr().out))
    np.testing.assert_allclose(table[["probability_healthy", "probability_sick"]], proba, rtol=1e-12)


@pytest.mark.parametrize("name", ["out.csv", "out.tsv", "out.parquet"])
def test_predict_to_a_file(hospital, answers, tmp_path, capsys, name):
    run("predict", hospital / "model.json", hospital / "new.csv", "-o", tmp_path / name)
    assert read_table(str(tmp_path / name)).frame["predicted"].tolist() == answers[0].tolist()
    assert capsys.readouterr().out == ""


def test_predict_json(hospital, answers, capsys):
    run("predict", hospital / "model.json", hospital / "new.csv", "--json", "--proba")
    rows = json.loads(capsys.readouterr().out)
    assert [row["predicted"] for row in rows] == answers[0].tolist()
    np.testing.assert_allclose([row["probability_sick"] for row in rows], answers[1][:, 1], rtol=1e-12)


def test_kept_cells_of_several_types(hospital, tmp_path, capsys):
    """A column of a workbook, which Parquet would refuse with a message that shows a cell."""
    cells = [1, "SECRET", datetime(2020, 1, 2), 1.5, None, True]
    table = patients(30, 6).assign(key=pd.Series(cells * 5, dtype=object))
    table.to_excel(tmp_path / "t.xlsx", index=False)
    line = ["predict", hospital / "model.json", tmp_path / "t.xlsx", "--keep", "key"]
    run(*line, "-o", tmp_path / "out.parquet")
    found = pd.read_parquet(tmp_path / "out.parquet")["key"][:6]
    cells = [None if pd.isna(cell) else cell for cell in found]
    assert cells == ["1", "SECRET", "2020-01-02 00:00:00", "1.5", None, "True"]
    capsys.readouterr()
    run(*line, "--json")
    keys = [row["key"] for row in json.loads(capsys.readouterr().out)[:6]]
    assert keys == [1, "SECRET", "2020-01-02 00:00:00", 1.5, None, True]


def test_cells_that_look_like_formulas(hospital, tmp_path, capsys):
    keys = ["=cmd|' /C calc'!A0", "+1+1", "-5", "@x", "\t=1", "a=b", "", "-1e3", "+49 30 1234"] + ["k"] * 21
    patients(30, 6).assign(key=keys).rename(columns={"key": "=key"}).to_csv(tmp_path / "t.csv", index=False)
    line = ["predict", hospital / "model.json", tmp_path / "t.csv", "--keep", "=key"]
    read = read_table(str(tmp_path / "t.csv")).frame["=key"].tolist()
    run(*line)
    found = capsys.readouterr()
    assert pd.read_csv(io.StringIO(found.out), dtype=str, keep_default_na=False)["=key"].tolist() == read
    formulas = "Warning: 6 cells look like formulas that a spreadsheet program would run; --spreadsheet writes text"
    assert formulas in found.err
    run(*line, "--spreadsheet")
    found = capsys.readouterr()
    safe = pd.read_csv(io.StringIO(found.out), dtype=str, keep_default_na=False)
    assert list(safe.columns) == ["'=key", "predicted"]
    assert safe["'=key"].tolist()[:9] == [f"'{k}" if k in {read[i] for i in (0, 1, 3, 4, 8)} else k for k in read[:9]]
    assert "formulas" not in found.err
    run(*line, "--json")
    assert "formulas" not in capsys.readouterr().err


def test_columns_in_any_order_and_only_those_that_are_read(hospital, answers, tmp_path, capsys):
    run("info", hospital / "model.json", "--json")
    read = [column["name"] for column in json.loads(capsys.readouterr().out)["reads"]]
    assert 0 < len(read) < 7
    pd.read_csv(hospital / "new.csv", dtype=str)[read[::-1]].to_csv(tmp_path / "few.csv", index=False, sep=";")
    run("predict", hospital / "model.json", tmp_path / "few.csv")
    assert capsys.readouterr().out.split()[1:] == answers[0].tolist()


def test_cells_that_are_not_numbers_count_as_blank(hospital, tmp_path, capsys):
    table = patients(30, 6)
    blank = table.assign(haemoglobin="")
    table.assign(haemoglobin="broken").to_csv(tmp_path / "odd.csv", index=False)
    blank.to_csv(tmp_path / "blank.csv", index=False)
    run("predict", hospital / "model.json", tmp_path / "blank.csv", "--proba")
    wanted = capsys.readouterr()
    run("predict", hospital / "model.json", tmp_path / "odd.csv", "--proba")
    found = capsys.readouterr()
    assert found.out == wanted.out
    assert (
        found.err
        == "Warning: 30 cells of 'haemoglobin' are not numbers and count as blank: rows 1, 2, 3, 4, 5 and 25 more\n"
        + wanted.err
    )


def test_one_cell_that_is_not_a_number(hospital, tmp_path, capsys):
    table = patients(30, 6)
    table.loc[3, "haemoglobin"] = "broken"
    table.to_csv(tmp_path / "odd.csv", index=False)
    run("predict", hospital / "model.json", tmp_path / "odd.csv")
    assert "Warning: 1 cell of 'haemoglobin' is not a number and counts as blank: row 4\n" in capsys.readouterr().err


def warnings_of(model, table, path, capsys):
    """What `predict` writes to stderr, and the columns that the model reads."""
    table.to_csv(path, index=False)
    run("predict", model, path)
    err = capsys.readouterr().err
    run("info", model, "--json")
    return err, [column["name"] for column in json.loads(capsys.readouterr().out)["reads"]]


@pytest.mark.parametrize("seed", [6, 7])
def test_rows_outside_the_training_range(hospital, tmp_path, capsys, seed):
    new, old = patients(300, seed), pd.read_csv(hospital / "patients.csv", na_values=["n/a"])
    err, read = warnings_of(hospital / "model.json", new, tmp_path / "t.csv", capsys)
    numbers = new[[name for name in read if old[name].dtype.kind in "if"]].apply(pd.to_numeric, errors="coerce")
    beyond = (numbers < old[numbers.columns].min()) | (numbers > old[numbers.columns].max())
    names = ", ".join(repr(name) for name in numbers.columns[beyond.any()])
    assert set(names.split(", ")) <= set(
        err.partition("range of ")[2].partition(", where")[0].replace(" and ", ", ").split(", ")
    )
    assert f"Warning: {beyond.any(axis=1).sum()} of 300 rows lie outside the training range of " in err
    assert err.count("Warning") == 1


def test_no_warning_about_the_training_rows(hospital, capsys):
    run("predict", hospital / "model.json", hospital / "patients.csv")
    assert capsys.readouterr().err == ""


@pytest.fixture(scope="module")
def three_columns(tmp_path_factory):
    """A model that reads the sex, the ward and the age."""
    folder = tmp_path_factory.mktemp("three_columns")
    rng = np.random.default_rng(0)
    table = patients(200, 5)[["sex", "ward", "age"]]
    f = 2.0 * (table["sex"] == "male") + 2.0 * (table["ward"] == "east") + 0.1 * (table["age"].astype(float) - 70)
    labels = np.where(f + rng.logistic(size=200) > 0, "a", "b")
    table.assign(label=labels).to_csv(folder / "t.csv", index=False)
    line = ["fit", folder / "t.csv", "-t", "label", "--basis", "polynomial", "--degree", 1, "--restarts", 1, "--cv", 0]
    run(*line, "--quiet", "-o", folder / "m.json")
    return folder / "m.json", table


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, ""),
        ({"sex": {"male": "female"}}, ""),  # nobody but women
        ({"sex": {"male": "M", "female": "F"}}, "most levels of 'sex' are unknown"),
        ({"ward": {"west": "annex", "south": "annex"}}, ""),
        ({"ward": {"east": "E", "north": "N", "south": "S"}}, "most levels of 'ward' are unknown"),
        ({"sex": {"male": "", "female": ""}}, "'sex' is blank in all rows, but the model reads it"),
        ({"sex": {"male": "", "female": "n/a"}, "ward": "east north south west annex"}, "'sex' and 'ward' are blank"),
    ],
)
def test_unknown_levels(three_columns, tmp_path, capsys, changes, words):
    model, table = three_columns
    blanks = {name: dict.fromkeys(to.split(), "") if isinstance(to, str) else to for name, to in changes.items()}
    new = table.replace(blanks)
    err, read = warnings_of(model, new, tmp_path / "new.csv", capsys)
    assert read == ["sex", "ward", "age"]
    assert (err.count("Warning"), words in err) == (int(bool(words)), True)


def test_kept_column_with_the_name_of_a_result(hospital, tmp_path, refused):
    table = patients(30, 6).assign(predicted="no", probability_sick="0.5")
    table.to_csv(tmp_path / "t.csv", index=False)
    line = ["predict", hospital / "model.json", tmp_path / "t.csv", "--keep"]
    assert refused(*line, "predicted", status=2).startswith(
        "--keep predicted: the result already has a column of this name"
    )
    assert "--keep probability_sick" in refused(*line, "probability_sick", "--proba", status=2)
    run(*line, "probability_sick")


@pytest.mark.parametrize("piped", ["model.json", "new.csv"])
def test_stdin(hospital, answers, capsys, monkeypatch, piped):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO((hospital / piped).read_bytes()), "utf-8"))
    run("predict", *("-" if name == piped else hospital / name for name in ("model.json", "new.csv")))
    assert capsys.readouterr().out.split()[1:] == answers[0].tolist()


@pytest.mark.slow
def test_closed_output(hospital):
    line = [sys.executable, "-m", "rfsc", "predict", str(hospital / "model.json"), str(hospital / "patients.csv")]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 1


# ---- explain


def test_explain(hospital, answers, capsys):
    model, raw = load(hospital / "model.json"), answers[2]
    run("explain", hospital / "model.json", hospital / "new.csv", "--row", 4)
    assert capsys.readouterr().out == explain(model, raw.iloc[[3]]) + "\n"
    run("explain", hospital / "model.json", hospital / "new.csv")
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 30
    assert lines[3] == "4: " + explain(model, raw.iloc[[3]])


def test_explain_json(hospital, answers, capsys):
    run("explain", hospital / "model.json", hospital / "new.csv", "--row", 2, "--row", 1, "--json")
    second, first = json.loads(capsys.readouterr().out)
    assert (second["row"], first["row"]) == (2, 1)
    assert first["predicted"] == answers[0][0]
    assert list(first["probability"].values()) == pytest.approx(answers[1][0].tolist())


# ---- report and info


@pytest.mark.slow
def test_report_formats(hospital, tmp_path, capsys):
    line = ["report", hospital / "model.json", hospital / "new.csv", "-t", "diagnosis", "-o"]
    run(*line, tmp_path / "r.json", "--title", "Ours")
    assert json.loads((tmp_path / "r.json").read_text())["title"] == "Ours"
    run(*line, tmp_path / "r.html", "--title", "Ours", "--quiet")
    assert "<title>Ours</title>" in (tmp_path / "r.html").read_text()
    capsys.readouterr()
    assert main([str(part) for part in (*line, tmp_path / "r.md")]) == 2
    assert "one of .html, .json" in capsys.readouterr().err
    run(*line, "-")
    assert capsys.readouterr().out.startswith("<!doctype html>")


def test_report_drops_rows_without_a_class(hospital, tmp_path, capsys):
    table = patients(30, 6)
    table.loc[:4, "diagnosis"] = ""
    table.to_csv(tmp_path / "t.csv", index=False)
    run("report", hospital / "model.json", tmp_path / "t.csv", "-t", "diagnosis", "-o", tmp_path / "r.json")
    assert "Warning: dropped 5 rows without a value of 'diagnosis'" in capsys.readouterr().err


def test_info(hospital, capsys):
    run("info", hospital / "model.json")
    out = capsys.readouterr().out
    for words in [
        "classes: healthy, sick",
        "fitted to 160 rows",
        "columns:",
        "class sick",
        "n_restarts=1",
    ]:
        assert words in out
    run("info", hospital / "model.json", "--json")
    facts = json.loads(capsys.readouterr().out)
    assert facts["n_columns"] == 7
    assert not any(column["needed"] for column in facts["reads"])
    for column in facts["reads"]:
        assert (column["fill"] is None) == (column["kind"] == "text")
        assert column["fill"] is None or re.search(rf"{column['name']} +number +blanks become {column['fill']:g}", out)


@pytest.mark.parametrize("basis", ["polynomial", "hinge", "sigmoid", "radial", "step"])
def test_equations_in_original_units(tmp_path, capsys, basis):
    """What is shown is all that it takes to compute f by hand, on rows that nobody has scaled."""
    X, y = load_iris(return_X_y=True, as_frame=True)
    X.columns = ["a", "b", "c", "d"]
    clf = RFSCClassifier(basis=basis, n_restarts=1, search=SearchSettings(max_iter=40), random_state=0).fit(
        X, np.where(y == 1, "v", "o")
    )
    save(clf, tmp_path / "m.json")
    run("info", tmp_path / "m.json")
    out = capsys.readouterr().out
    assert "\n\nf = " in out
    assert ("where, in original units:\n" in out) == (basis in ("sigmoid", "radial"))
    assert max(map(len, out.split("\n\nf = ")[-1].split("settings:")[0].splitlines())) <= 120
    run("export", tmp_path / "m.json", "--to", "text")
    formula, *meanings = capsys.readouterr().out.splitlines()
    for meaning in meanings[1:]:
        name, _, value = meaning.partition(" = ")
        assert name in formula
        formula = formula.replace(name, f"({value})")
    formula = re.sub(r"\[(.*?)\]", r"(\1)", formula.removeprefix("f = ").replace("^", "**"))
    names = {"exp": np.exp, "max": np.maximum, **{name: X[name].to_numpy() for name in X}}
    found = eval(formula, {"__builtins__": {}}, names)
    np.testing.assert_allclose(found, clf.decision_function(X), atol=0.02)


def test_models_from_python(tmp_path, capsys):
    """Files that were not made by the command line: no recipe, labels that are numbers, no names of columns."""
    X, y = load_iris(return_X_y=True)
    clf = RFSCClassifier(basis="polynomial", n_restarts=1, search=SearchSettings(max_iter=10), random_state=0).fit(X, y)
    save(clf, tmp_path / "m.json")
    pd.DataFrame(X, columns=list("abcd")).assign(kind=y).to_csv(tmp_path / "t.csv", index=False)
    pd.DataFrame(X, columns=["x0", "x1", "x2", "x3"]).to_csv(tmp_path / "x.csv", index=False)
    run("predict", tmp_path / "m.json", tmp_path / "x.csv")
    assert capsys.readouterr().out.split()[1:] == [str(label) for label in clf.predict(X)]
    run("explain", tmp_path / "m.json", tmp_path / "x.csv", "--row", 1)
    run("info", tmp_path / "m.json")
    out = capsys.readouterr().out
    assert all(f"f of class {label}; the class with the largest f is predicted" in out for label in range(3))
    assert "f > 0" not in out
    named = RFSCClassifier(basis="polynomial", n_restarts=1, search=SearchSettings(max_iter=10), random_state=0).fit(
        pd.DataFrame(X, columns=list("abcd")), y
    )
    save(named, tmp_path / "n.json")
    run("report", tmp_path / "n.json", tmp_path / "t.csv", "-t", "kind", "-o", tmp_path / "r.json")
    capsys.readouterr()
    run("predict", tmp_path / "n.json", tmp_path / "t.csv")
    assert capsys.readouterr().out.split()[1:] == [
        str(label) for label in named.predict(pd.DataFrame(X, columns=list("abcd")))
    ]


# ---- errors


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "is not a model file: it is not JSON that can be read. Pass a file that rfsc fit -o wrote."),
        ("{}", "not a model file of rfsc. Pass a file that rfsc fit -o wrote."),
        ("a,b\n1,2\n", "is not a model file"),
        (
            '{"format": "rfsc-model", "version": 1}',
            "m.json is damaged: ",
        ),
        ('{"format": "rfsc-model", "version": 99}', "version 99, but this rfsc reads version 1. Install the rfsc that"),
    ],
)
def test_files_that_are_not_models(hospital, tmp_path, refused, content, words):
    (tmp_path / "m.json").write_text(content)
    for line in (["info"], ["predict", hospital / "new.csv"], ["explain", hospital / "new.csv"]):
        assert words in refused(line[0], tmp_path / "m.json", *line[1:])


def test_no_model_or_a_folder(tmp_path, refused):
    assert "none.json: No such file or directory" in refused("info", tmp_path / "none.json")
    assert "Is a directory" in refused("info", tmp_path)


def test_refusals(hospital, tmp_path, refused):
    model, new = hospital / "model.json", hospital / "new.csv"
    pd.read_csv(new).drop(columns=["age", "haemoglobin"]).to_csv(tmp_path / "lacks.csv", index=False)
    assert "lacks.csv lacks 2 of the" in refused("predict", model, tmp_path / "lacks.csv")
    (tmp_path / "lacks.csv").write_text("age|CRP\n52|1.5\n")
    assert "It has a single column: cells must be separated" in refused("predict", model, tmp_path / "lacks.csv")
    assert "cannot both come from stdin" in refused("predict", "-", "-")
    assert "has no column 'nobody'" in refused("predict", model, new, "--keep", "nobody")
    assert "has 30 rows, but row 31 was asked for" in refused("explain", model, new, "--row", 31)
    report = ["report", model, new, "-o", tmp_path / "r.html", "-t"]
    assert "has no column 'diagnose'. Did you mean 'diagnosis'?" in refused(*report, "diagnose")
    assert "the model knows the classes 'healthy' and 'sick', but 30 rows of 'sex' hold another one" in refused(
        *report, "sex"
    )
    (tmp_path / "out.csv").write_text("precious")
    assert "already exists" in refused("predict", model, new, "-o", tmp_path / "out.csv")
    assert sorted(os.listdir(tmp_path)) == ["lacks.csv", "out.csv"]


def test_a_table_of_another_width(tmp_path, refused):
    X, y = load_iris(return_X_y=True)
    save(
        RFSCClassifier(basis="polynomial", n_restarts=1, search=SearchSettings(max_iter=10), random_state=0).fit(X, y),
        tmp_path / "m.json",
    )
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    assert "columns that the model reads: 'x" in refused("predict", tmp_path / "m.json", tmp_path / "t.csv")
