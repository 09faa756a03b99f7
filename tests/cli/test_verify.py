"""`rfsc verify`: identical, or what differs."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.datasets import load_iris

from rfsc import Restrictions, RFSCClassifier, SearchSettings
from rfsc._input.example_table import patients
from rfsc.cli import main
from rfsc.export import load, save

QUICK = {"basis": "polynomial", "n_restarts": 1, "random_state": 0, "search": SearchSettings(max_iter=10, n_models=30)}
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture
def verify(capsys):
    def run(*arguments, status):
        capsys.readouterr()
        assert main(["verify", *map(str, arguments), "--quiet"]) == status
        return capsys.readouterr().out

    return run


@pytest.mark.parametrize("columns", [1, -1], ids=["as they were", "the other way round"])
def test_the_same_table_gives_the_identical_model(hospital, verify, tmp_path, columns):
    patients(160, 5).iloc[:, ::columns].assign(more=1).to_csv(tmp_path / "t.csv", index=False)
    assert verify(hospital / "model.json", tmp_path / "t.csv", status=0).startswith("identical: ")


@pytest.mark.parametrize("options", [["--decimal", ","], ["--decimal", "."], ["--number", "age"]])
def test_how_cells_were_read_is_known(verify, tmp_path, options):
    """The table alone does not say what its commas mean, nor that a column of few numbers holds numbers."""
    table = patients(160, 5)
    table["CRP"] = [f"{1 + i % 40},{i % 1000:03d}" for i in np.random.default_rng(0).integers(0, 10**6, 160)]
    table["age"] = table["age"].where(np.arange(160) % 5 > 0, "about " + table["age"])
    table.to_csv(tmp_path / "t.csv", sep=";", index=False)
    line = [
        "fit",
        str(tmp_path / "t.csv"),
        "-t",
        "diagnosis",
        "--drop",
        "patient",
        "--keep",
        "CRP",
        *options,
        "--quiet",
    ]
    line += ["--cv", "0", "--basis", "polynomial", "--restarts", "1", "--set", "max_iter=10"]
    assert main([*line, "-o", str(tmp_path / "m.json")]) == 0
    assert verify(tmp_path / "m.json", tmp_path / "t.csv", status=0).startswith("identical: ")


def test_another_table_is_reported(hospital, verify, tmp_path):
    table = patients(160, 5)
    table.loc[3, "age"] = 81
    table.to_csv(tmp_path / "t.csv", index=False)
    said = verify(hospital / "model.json", tmp_path / "t.csv", status=1)
    assert said.startswith("not identical:\n  the data differ: the cells or labels differ\n")
    assert "81" not in said
    table[:140].to_csv(tmp_path / "t.csv", index=False)
    said = verify(hospital / "model.json", tmp_path / "t.csv", "--json", status=1)
    answer = json.loads(said)
    assert (answer["same"], answer["identical"]) == (False, False)
    assert answer["differences"][0] == "number of rows: 160, now 140"
    assert any(line.startswith("the model of class sick has") for line in answer["differences"])


def edited(path, hospital, change):
    document = json.loads((hospital / "model.json").read_text())
    change(document)
    path.write_text(json.dumps(document))
    return path


def test_a_changed_coefficient_is_found(hospital, verify, tmp_path):
    def change(document):
        document["outputs"][0]["coef"][0] *= 1 + 1e-10

    model = edited(tmp_path / "m.json", hospital, change)
    said = verify(model, hospital / "patients.csv", status=1)
    assert "has the same terms, but coefficients that differ by up to 1.0e-10 of the largest" in said
    said = verify(model, hospital / "patients.csv", "--tolerance", "1e-8", status=0)
    assert said.startswith("the same within the tolerance, but not identical:\n")


def test_other_versions_are_reported_but_accepted_if_the_model_is_the_same(hospital, verify, tmp_path):
    def change(document):
        document["manifest"]["versions"]["numpy"] = "1.0"

    said = verify(edited(tmp_path / "m.json", hospital, change), hospital / "patients.csv", status=0)
    assert said.startswith("identical: ")
    assert f"version of numpy: 1.0, now {np.__version__}" in said


def test_models_from_python(verify, refused, tmp_path):
    """Without a recipe, with labels that are numbers, with and without names."""
    X, y = load_iris(return_X_y=True, as_frame=True)
    table, model = tmp_path / "t.csv", tmp_path / "m.json"
    X.assign(kind=y)[["kind", *X.columns]].to_csv(table, index=False)
    save(RFSCClassifier(**QUICK).fit(X, y), model, history=False)
    assert verify(model, table, "-t", "kind", status=0).startswith("identical")
    save(RFSCClassifier(**QUICK | {"restrictions": Restrictions(hierarchy=True)}).fit(X, y), model, history=False)
    assert verify(model, table, "-t", "kind", status=0).startswith("identical")
    assert "has no column 'target'" in refused("verify", model, table)
    assert "as a feature" in refused("verify", model, table, "-t", X.columns[0])
    save(RFSCClassifier(**QUICK).fit(X.to_numpy(), y.to_numpy() == 1), model)
    boolean = tmp_path / "b.csv"
    named = X.set_axis([f"x{j}" for j in range(4)], axis=1).assign(kind=y == 1)
    named.to_csv(boolean, index=False)
    assert verify(model, boolean, "-t", "kind", status=0).startswith("identical")
    assert "name it with --target" in refused("verify", model, boolean)
    named.drop(columns="x3").to_csv(boolean, index=False)
    assert "has no column 'x3'" in refused("verify", model, boolean, "-t", "kind")


def test_fits_that_cannot_be_repeated(verify, refused, hospital, tmp_path):
    X, y = load_iris(return_X_y=True, as_frame=True)
    table, model = hospital / "patients.csv", tmp_path / "m.json"
    clf = RFSCClassifier(**QUICK | {"random_state": None}).fit(X, y)
    save(clf, model)
    assert "without a seed" in refused("verify", model, table)
    save(clf.models_[0], model)
    assert load(model).manifest_ is None
    assert "cannot be fitted again" in refused("verify", model, table)
    assert "cannot both come from stdin" in refused("verify", "-", "-")


def test_info_shows_versions_and_data(hospital, capsys):
    assert main(["info", str(hospital / "model.json")]) == 0
    out = capsys.readouterr().out
    manifest = load(hospital / "model.json").manifest_
    assert manifest["target"] == "diagnosis"
    assert f"made with: rfsc {manifest['versions']['rfsc']}, python" in out
    assert manifest["data"]["content"] in out


@pytest.mark.parametrize(
    "basis", ["Polynomial(degree=1", "__import__('os').abort()", "Polynomial(degree=foo)", 3, "exec()"]
)
def test_a_basis_in_a_model_file_is_never_run(hospital, tmp_path, refused, basis):
    def change(document):
        document["settings"]["basis"] = basis

    model = edited(tmp_path / "m.json", hospital, change)
    assert "cannot be read back" in refused("verify", model, hospital / "patients.csv")


def test_families_and_search_settings_are_read_back(verify, hospital, tmp_path):
    line = ["fit", str(hospital / "patients.csv"), "-t", "diagnosis", "--drop", "patient", "--cv", "0", "--quiet"]
    options = ["--basis", "centred,step", "--degree", "3", "--restarts", "1", "--set", "max_iter=10"]
    assert main([*line, *options, "-o", str(tmp_path / "m.json")]) == 0
    assert verify(tmp_path / "m.json", hospital / "patients.csv", status=0).startswith("identical")
