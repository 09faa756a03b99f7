"""`rfsc fit`: messages, refusals, scores, saved files."""

from __future__ import annotations

import io
import json
import os
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.pipeline import make_pipeline

from rfsc import Restrictions, RFSCClassifier, SearchSettings
from rfsc._input.example_table import patients
from rfsc._input.table_files import read_table
from rfsc._input.training_data import ColumnChoice, training_table
from rfsc.cli import fit_command, main
from rfsc.explain import equation
from rfsc.export import from_json, load, to_json
from rfsc.export.compare import compared_text

from .conftest import QUICK

DROP = ColumnChoice(drop=["patient"])


def quick_search():
    """The search of the options QUICK."""
    settings = SearchSettings(max_iter=15, n_models=40)
    return RFSCClassifier(basis="polynomial", n_restarts=1, search=settings, random_state=0)


def fit(table, *more, target="diagnosis"):
    return main(["fit", str(table), "--target", target, *QUICK, *map(str, more)])


def test_messages(hospital, capsys):
    assert fit(hospital / "patients.csv", "--drop", "patient") == 0
    found = capsys.readouterr()
    for words in [
        "patients.csv: 160 rows, 10 columns",
        "indicator sex=male",
        "with indicator CRP missing",
        "dropped (--drop)",
        "dropped (the same value everywhere)",
        "The model was not saved; pass -o model.json",
    ]:
        assert words in found.err
    assert "f > 0 predicts class sick" in found.out
    assert "Score on held-out rows (6 folds, mean ± standard deviation)" in found.out  # two folds, three times over


def test_saved_model_is_the_pipeline(hospital):
    training = training_table(read_table(str(hospital / "patients.csv")), "diagnosis", DROP)
    search = quick_search()
    pipeline = make_pipeline(training.encoder, search).fit(training.X, training.y)
    model = load(hospital / "model.json")
    X = training.X
    np.testing.assert_allclose(model.decision_function(X), pipeline.decision_function(X), rtol=1e-12)
    assert model.classes_.tolist() == ["healthy", "sick"]


@pytest.mark.filterwarnings("ignore:Found unknown categories")
def test_score_is_that_of_held_out_rows(hospital, capsys):
    assert fit(hospital / "patients.csv", "--drop", "patient", "--json", "--quiet") == 0
    result = json.loads(capsys.readouterr().out)
    training = training_table(read_table(str(hospital / "patients.csv")), "diagnosis", DROP)
    X, y = training.X, training.y
    search = quick_search()
    scores = []
    for train, test in RepeatedStratifiedKFold(n_splits=2, n_repeats=3, random_state=0).split(X, y):
        model = make_pipeline(training.encoder, search).fit(X.iloc[train], y[train])
        scores.append(accuracy_score(y[test], model.predict(X.iloc[test])))
    ours = result["score"]["methods"]["RFSC"]["accuracy"]
    assert ours["mean"] == pytest.approx(np.mean(scores))
    assert ours["std"] == pytest.approx(np.std(scores, ddof=1))
    majority = result["score"]["methods"]["majority class"]["accuracy"]["mean"]
    assert majority == pytest.approx(pd.Series(y).value_counts(normalize=True).max(), abs=0.01)


def test_json(hospital, capsys, tmp_path):
    model = tmp_path / "m.json"
    assert fit(hospital / "patients.csv", "--drop", "patient", "--json", "-o", model) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["model"], result["rows"], result["classes"]) == (str(model), 160, ["healthy", "sick"])
    dropped = {"column": "patient", "kind": "", "use": "dropped (--drop)", "changed": "", "doubtful": ""}
    assert dropped in result["columns"]
    assert result["settings"]["n_restarts"] == 1
    assert result["outputs"][0]["equation"].startswith("f = ")
    assert all(isinstance(term["coef"], float) for term in result["outputs"][0]["terms"])


def test_model_to_stdout_from_stdin(hospital, capsys, monkeypatch):
    content = (hospital / "patients.csv").read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    assert fit("-", "--drop", "patient", "-o", "-") == 0
    printed = from_json(capsys.readouterr().out)
    assert to_json(printed, timings=False) == to_json(load(hospital / "model.json"), timings=False)


@pytest.mark.slow
def test_two_commands_from_a_table_to_a_report(hospital, tmp_path, capsys):
    model, page, again = tmp_path / "m.json", tmp_path / "r.html", tmp_path / "again.html"
    assert fit(hospital / "patients.csv", "--drop", "patient", "-o", model, "--report", page) == 0
    assert "gradient boosting" in page.read_text(encoding="utf-8")
    line = ["report", str(model), str(hospital / "new.csv"), "-t", "diagnosis", "-o", str(again)]
    assert main(line) == 0
    html = again.read_text(encoding="utf-8")
    assert html.startswith("<!doctype html>")
    assert "diagnosis" in html
    assert "P4" not in html  # no identifier of a patient
    assert "Wrote " in capsys.readouterr().err


def test_the_code_in_a_report_runs_as_it_is_printed(hospital, tmp_path):
    assert fit(hospital / "patients.csv", "--drop", "patient", "--cv", "0", "--report", tmp_path / "r.json", "-q") == 0
    code = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))["settings"]["code"]
    training = training_table(read_table(str(hospital / "patients.csv")), "diagnosis", DROP)
    made = {"X": training.X, "y": training.y}
    exec(code, made)
    assert equation(made["model"]) == equation(load(hospital / "model.json"))


@pytest.mark.parametrize("options", [["--cv", "0"], ["--test-size", "0.25"]])
def test_other_scores(hospital, capsys, options):
    line = ["fit", str(hospital / "patients.csv"), "-t", "diagnosis", "--drop", "patient", *QUICK[:-2], *options]
    assert main([*line, "--quiet"]) == 0
    found = capsys.readouterr()
    assert found.err == ""
    assert ("(40 rows, ± standard deviation over random resamples)" in found.out) == ("--test-size" in options)
    assert ("Score on held-out rows" in found.out) == ("--test-size" in options)


def test_more_than_two_classes_and_other_settings(tmp_path, capsys):
    table = patients(150, 2).assign(diagnosis=np.random.default_rng(0).choice(["a", "b", "c"], 150))
    table.to_csv(tmp_path / "t.csv", index=False)
    line = ["--drop", "patient", "--degree", "1", "--max-terms", "9", "--set", "criterion=kappa", "--only", "age"]
    assert fit(tmp_path / "t.csv", *line, "--only", "ward", "--json", "--quiet") == 0
    result = json.loads(capsys.readouterr().out)
    assert [one["label"] for one in result["outputs"]] == ["a", "b", "c"]
    assert (result["settings"]["criterion"], result["settings"]["max_terms"]) == ("kappa", 9)
    assert {c["name"] for c in result["reads"]} <= {"age", "ward"}


@pytest.mark.filterwarnings("ignore:Found unknown categories")
def test_decimal_commas_beside_words_for_blanks(hospital, tmp_path, capsys):
    """The same rows as a German spreadsheet writes them give the same model and the same answers."""
    table = patients(160, 5)
    crp = table["CRP"].where(table["CRP"] != "", "?").str.replace(".", ",")
    table.assign(**{"CRP": crp, "body mass": table["body mass"].str.replace(".", ",")}).to_csv(
        tmp_path / "de.csv", index=False, sep=";"
    )
    assert fit(tmp_path / "de.csv", "--drop", "patient", "-o", tmp_path / "m.json", "--quiet") == 0
    found = [json.loads(compared_text(load(path))) for path in (tmp_path / "m.json", hospital / "model.json")]
    commas = [{c["name"]: (c.pop("cells") or {}).get("comma") for c in one["recipe"]["columns"]} for one in found]
    assert found[0] == found[1]
    assert (commas[0]["CRP"], commas[1]["CRP"]) == (".", "")  # the model knows how its table was written
    capsys.readouterr()
    model = str(tmp_path / "m.json")
    assert main(["predict", model, str(tmp_path / "de.csv"), "--proba", "--quiet"]) == 0
    found = capsys.readouterr().out
    assert main(["predict", model, str(hospital / "patients.csv"), "--proba", "--quiet"]) == 0
    assert found == capsys.readouterr().out
    assert main(["predict", str(hospital / "model.json"), str(tmp_path / "de.csv"), "--proba"]) == 1
    said = " ".join(capsys.readouterr().err.split())  # never the prediction of the median
    assert "'body mass' has decimal commas in de.csv, but decimal points in the table of the fit." in said
    assert "or fit again with --decimal , which reads 1.5 and 1,5 alike" in said
    patients(160, 5).assign(CRP="1,234").to_csv(tmp_path / "points.csv", index=False)
    assert main(["predict", model, str(tmp_path / "points.csv"), "--proba"]) == 0
    said = " ".join(capsys.readouterr().err.split())
    assert "'CRP' has cells such as 1,234, which count as 1.234 as in the table of the fit, but points.csv" in said


def test_a_text_column_with_many_numbers(tmp_path, capsys):
    table = patients(160, 5)
    few = table["age"].where(np.arange(160) % 5 > 0, "about " + table["age"])
    table.assign(age=few).to_csv(tmp_path / "t.csv", index=False)
    options = ["--drop", "patient", "--cv", "0", "--set", "max_iter=80"]
    assert fit(tmp_path / "t.csv", *options) == 0
    err = capsys.readouterr().err
    assert "Warning: 'age' is read as text, although 80% of its cells are numbers. Pass --number age" in err
    assert fit(tmp_path / "t.csv", *options, "--number", "age", "--json") == 0
    found = capsys.readouterr()
    assert "Warning" not in found.err
    column = json.loads(found.out)["columns"][0]
    assert column["kind"] == "number"
    assert column["doubtful"] == "32 cells without a number count as blank"


def test_doubts_are_warnings(hospital, tmp_path, capsys):
    table = patients(160, 5).drop(columns=["body mass", "CRP", "haemoglobin"])  # whose points would settle the commas
    table["dose"] = [f"{1 + i % 4},{i:03d}" for i in range(160)]
    table["when"] = [f"{1 + i % 12:02d}/{1 + i % 7:02d}/2021" for i in range(160)]
    table["diagnosis"] = table["diagnosis"].where(np.arange(160) % 2 > 0, table["diagnosis"].str.upper())
    table.to_csv(tmp_path / "t.csv", index=False)
    options = ["--drop", "patient", "--keep", "dose", "--cv", "0", "--set", "max_iter=20", "--time", "when"]
    assert fit(tmp_path / "t.csv", *options) == 0
    err = " ".join(capsys.readouterr().err.split())
    assert "Warning: the 4 classes of 'diagnosis' (" in err
    assert "Warning: 'when' may hold days or months first; 01/02/2026 is read as the first of February" in err
    assert "Warning: the commas of 'dose' may be decimal or separate thousands. Pass --decimal ," in err
    assert fit(tmp_path / "t.csv", *options, "--decimal", ",") == 0
    assert "the commas of 'dose'" not in capsys.readouterr().err


def test_awkward_names(tmp_path, capsys):
    """Names that a terminal, a shell or a formula might trip over."""
    names = {"age": "[red]age[/red]", "sex": "sex; rm -rf *", "CRP": "Ünïcode 😀 CRP", "ward": "ward=1"}
    patients(160, 5).rename(columns=names).to_csv(tmp_path / "t.csv", index=False)
    assert fit(tmp_path / "t.csv", "--drop", "patient", "-o", tmp_path / "m.json") == 0
    err = capsys.readouterr().err
    assert all(name in err for name in names.values())
    assert main(["predict", str(tmp_path / "m.json"), str(tmp_path / "t.csv")]) == 0


# ---- what is refused


def test_another_decimal_sign(hospital, refused):
    words = refused("fit", hospital / "patients.csv", "-t", "diagnosis", "--decimal", ";", status=2)
    assert words == "--decimal expects . or , but got ';'.\n"


def test_identifiers_and_leaks(hospital, tmp_path, refused):
    table = patients(160, 5)
    table = table.assign(**{"the answer": table["diagnosis"].str.upper(), "seen on": "2024-05-01"})
    table.to_csv(tmp_path / "t.csv", index=False)
    said = refused("fit", tmp_path / "t.csv", "-t", "diagnosis", "-o", tmp_path / "m.json", lines=6)
    assert said.startswith("nothing was fitted: 3 columns may be an identifier or the target itself.\n")
    for words in ["patient     nearly every cell", "the answer  each of its values occurs", "seen on     dates"]:
        assert words in said
    assert "--drop patient --drop 'the answer' --drop 'seen on'" in said
    assert not (tmp_path / "m.json").exists()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["-t", "diagnose"], "has no column 'diagnose'. Did you mean 'diagnosis'?"),
        (["-t", "age"], "holds 57 different numbers, but this is a classifier"),
        (["-t", "patient"], "every class needs at least 5 rows"),
        (["-t", "country"], "a single class"),
        (["-t", "diagnosis", "-o", "none/m.json"], "there is no folder none"),
    ],
)
def test_refusals(hospital, refused, options, words):
    assert words in refused("fit", hospital / "patients.csv", *QUICK, *options)


def test_signs(hospital, tmp_path, capsys):
    wanted = ["--increasing", "age", "--increasing", "CRP", "--decreasing", "haemoglobin"]
    line = ["fit", str(hospital / "patients.csv"), "-t", "diagnosis", "--drop", "patient", *QUICK, *wanted]
    assert main([*line, "-o", str(tmp_path / "model.json"), "--json"]) == 0
    signs = Restrictions(increasing=["age", "CRP"], decreasing=["haemoglobin"])
    facts = json.loads((tmp_path / "model.json").read_text())
    assert repr(signs) in json.dumps(facts, ensure_ascii=False).replace('\\"', '"')
    X = pd.read_csv(hospital / "patients.csv").head(1)
    model = from_json((tmp_path / "model.json").read_text())
    for name, sign in signs.signs.items():
        values = np.linspace(*pd.read_csv(hospital / "patients.csv")[name].agg(["min", "max"]), 50)
        grid = pd.concat([X] * 50, ignore_index=True).assign(**{name: values})
        assert (sign * np.diff(model.decision_function(grid)) >= -1e-9).all()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--increasing", "agee"], "has no column 'agee'. Did you mean 'age'?"),
        (
            ["--increasing", "sex"],
            "expect columns of numbers that are used, but 'sex' is text, which becomes indicators",
        ),
        (["--decreasing", "country"], "but 'country' is dropped ("),
        (["--decreasing", "patient"], "but 'patient' is dropped (--drop). Choose another column"),
        (["--decreasing", "diagnosis"], "but 'diagnosis' is the target. Choose another column"),
    ],
)
def test_columns_without_a_sign(hospital, refused, options, words):
    line = ["fit", hospital / "patients.csv", "-t", "diagnosis", "--drop", "patient", *QUICK]
    assert words in refused(*line, *options)


def test_signs_need_two_classes(tmp_path, refused):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"a": rng.normal(size=90), "b": rng.normal(size=90), "class": list("xyz") * 30})
    table.to_csv(tmp_path / "three.csv", index=False)
    found = refused("fit", tmp_path / "three.csv", "-t", "class", "--increasing", "a")
    assert "are about the second of two classes, but the target holds 3 classes. Use a target that" in found


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            ["--increasing", "age", "--decreasing", "age"],
            "--increasing and --decreasing both name 'age'. Leave out one",
        ),
        (["--set", "nonsense=1"], "--set expects NAME=VALUE"),
        (["--set", "callbacks=1"], "--set expects NAME=VALUE"),
        (["--set", "ridge=-1"], "ridge' parameter of SearchSettings must be a float in the range [0.0, inf). Got -1"),
        (["--set", "criterion=all"], "'criterion' parameter of RFSCClassifier must be a str among"),
        (["--basis", "nonsense"], "basis must be one of 'polynomial', "),
        (["--basis", ""], "basis must be one of 'polynomial', "),
        (["--basis", "auto,hinge"], 'basis="auto" chooses families'),
        (["--basis", "polynomial,centred"], "basis holds both polynomials and centred products"),
        (["--basis", "hinge", "--degree", "2"], "--degree goes with --basis polynomial or --basis centred"),
        (["--degree", "6"], "Invalid value for '--degree': "),
        (["--report", "-"], "only one result can go to stdout"),
        (["--json", "-o", "-"], "only one result can go to stdout"),
        (["--cv", "3", "--test-size", "0.5"], "pass one of them"),
        (["--cv", "1"], "expects 2 or more folds, or 0 for no score, got 1"),
        (["--test-size", "1.5"], "a share between 0 and 1, got 1.5"),
    ],
)
def test_wrong_options_are_reported_before_the_table_is_read(refused, options, words):
    assert words in refused("fit", "there is no such table", "-t", "diagnosis", *options, status=2)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--cv", "90"], "--cv 90 asks for more folds than the smallest class has rows (69). Use fewer folds."),
        (["--test-size", "0.001"], "--test-size 0.001 of 160 rows does not leave a row of every class on both sides"),
        (["--test-size", "0.999"], "does not leave a row of every class on both sides"),
    ],
)
def test_scores_that_the_table_does_not_allow(hospital, refused, options, words):
    line = ["fit", hospital / "patients.csv", "-t", "diagnosis", "--drop", "patient", *options]
    assert words in refused(*line, status=2)


@pytest.mark.filterwarnings("ignore:No term of output 0 reached", "ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("is_noise", [True, False])
def test_warning_if_not_better_than_the_class_shares(tmp_path, capsys, is_noise):
    rng = np.random.default_rng(1)
    y = np.array(["a", "b"])[(rng.random(120) < 0.3).astype(int)]
    x = rng.normal(size=120) + (0.0 if is_noise else 3.0) * (y == "b")
    pd.DataFrame({"x": x.round(2), "y": y}).to_csv(tmp_path / "t.csv", index=False)
    assert fit(tmp_path / "t.csv", target="y") == 0
    warning = "Warning: on held-out rows the model is not clearly better than the shares of the classes alone"
    assert (warning in capsys.readouterr().err) == is_noise


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"", "empty file"), (b"a,b\n", "got 1 row. "), (b"\x89PNG\0", "binary file"), (b"a,a\n1,2\n", "different name")],
)
def test_files_that_are_no_tables(tmp_path, refused, content, words):
    (tmp_path / "t.csv").write_bytes(content)
    assert words in refused("fit", tmp_path / "t.csv", "-t", "a")


def test_no_file_and_a_folder(tmp_path, refused):
    assert refused("fit", tmp_path / "none.csv", "-t", "a") == f"{tmp_path / 'none.csv'}: No such file or directory\n"
    assert "expected Parquet files in this folder, got none" in refused("fit", tmp_path, "-t", "a")


def test_names_that_collide(tmp_path, refused):
    patients(160, 5).assign(**{"sex=male": np.arange(160) % 7}).to_csv(tmp_path / "t.csv", index=False)
    said = refused("fit", tmp_path / "t.csv", "-t", "diagnosis", "--drop", "patient", *QUICK)
    assert "two features would have the name 'sex=male'" in said


# ---- files are whole, and not overwritten without --force


def test_files_are_not_overwritten_without_force(hospital, tmp_path, refused):
    model = tmp_path / "m.json"
    model.write_text("precious")
    line = ["fit", hospital / "patients.csv", "-t", "diagnosis", "--drop", "patient", *QUICK, "-o", model]
    assert "already exists; pass --force" in refused(*line)
    assert model.read_text() == "precious"
    assert main([*map(str, line), "--force", "--quiet"]) == 0
    assert load(model).classes_.tolist() == ["healthy", "sick"]
    assert os.listdir(tmp_path) == ["m.json"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError(28, "No space left on device", "disk")])
def test_interrupted_writing_leaves_nothing(hospital, tmp_path, monkeypatch, capsys, error):
    def fail(self, data):
        self.open("wb").close()
        raise error

    monkeypatch.setattr("pathlib.Path.write_bytes", fail)
    status = fit(hospital / "patients.csv", "--drop", "patient", "-o", tmp_path / "m.json")
    assert status == (130 if error is KeyboardInterrupt else 1)
    words = "interrupted" if error is KeyboardInterrupt else "rfsc: disk: No space left on device"
    assert words in capsys.readouterr().err
    assert os.listdir(tmp_path) == []


def test_of_very_many_columns_only_some_are_shown(tmp_path, capsys):
    rng = np.random.default_rng(0)
    table = patients(160, 5).drop(columns="patient")
    more = pd.DataFrame(rng.normal(size=(160, 300)).round(3), columns=[f"gene {j}" for j in range(300)])
    pd.concat([table, more], axis=1).to_csv(tmp_path / "wide.csv", index=False)
    assert fit(tmp_path / "wide.csv", "--degree", "1", "--json") == 0
    found = capsys.readouterr()
    assert "gene 7" not in found.err
    assert "CRP missing" in found.err
    assert "dropped (the same value everywhere)" in found.err
    assert "... and 302 more columns; 302 columns of numbers are used as they are" in found.err
    assert len(json.loads(found.out)["columns"]) == 308


def test_few_rows(tmp_path, capsys):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.normal(size=60).round(3), "y": ["a", "b"] * 30})
    table[:10].to_csv(tmp_path / "ten.csv", index=False)
    assert fit(tmp_path / "ten.csv", "--cv", "0", target="y") == 0
    said = capsys.readouterr().err
    assert "no column has a significant relation to the class in 10 rows\n" in said
    assert not any(word in said for word in ("max_iter", "sample_weight", "output 0"))


def test_nothing_to_learn(tmp_path, capsys):
    pd.DataFrame({"x": np.arange(40) % 7, "y": ["a", "b"] * 20}).to_csv(tmp_path / "t.csv", index=False)
    assert fit(tmp_path / "t.csv", "-o", tmp_path / "m.json", target="y") == 0
    assert "Warning: the model is empty" in capsys.readouterr().err
    page = tmp_path / "r.html"
    for line in (["info"], ["predict", "DATA"], ["explain", "DATA"], ["report", "DATA", "-t", "y", "-o", str(page)]):
        arguments = [str(tmp_path / "t.csv") if one == "DATA" else one for one in line[1:]]
        assert main([line[0], str(tmp_path / "m.json"), *arguments]) == 0, line
    for form in ("sql", "python", "c", "javascript", "html", "xlsx", "onnx", "latex", "text"):
        assert main(["export", str(tmp_path / "m.json"), "--to", form, "-o", str(tmp_path / form)]) == 0, form


@pytest.mark.filterwarnings("default:a library says this")
def test_the_report_says_how_the_table_was_read(tmp_path, capsys, monkeypatch):
    rng = np.random.default_rng(0)
    crp, age = rng.lognormal(1, 1, 200).round(1), rng.integers(20, 80, 200)
    crp_text = [f"<{0.5}".replace(".", ",") if c < 0.5 else f"{c} mg/L".replace(".", ",") for c in crp]
    ill = np.where(0.1 * age + 0.4 * crp + rng.logistic(size=200) > 7, "ja", "nein")
    lines = [";".join(map(str, row)) for row in zip(crp_text, age, ill, strict=True)]
    path = tmp_path / "werte.csv"
    path.write_bytes("\n".join(["CRP;Alter;größer", *lines]).encode("latin-1"))
    whole = fit_command._fit

    def with_warning(*given):
        warnings.warn("a library says this", stacklevel=1)
        return whole(*given)

    monkeypatch.setattr(fit_command, "_fit", with_warning)
    line = ["fit", str(path), "-t", "größer", *QUICK, "--report", str(tmp_path / "r.json"), "--jobs", "1"]
    assert main(line) == 0
    report = json.loads((tmp_path / "r.json").read_text())
    notes = [caution["text"] for caution in report["cautions"] if caution["key"] == "table"]
    said = capsys.readouterr().err
    assert notes
    assert all(note.rstrip(".").lower() in said.lower() for note in notes)
    assert "A library says this." in [caution["text"] for caution in report["cautions"]]
    (row,) = [row for row in report["read"] if row["column"] == "CRP"]
    assert "unit mg/L" in row["changed"]
    methods = {part["head"]: part["text"] for part in report["methods"]}
    assert f"CRP ({row['changed']})" in methods["Data preparation"]
