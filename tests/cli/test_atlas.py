"""`rfsc atlas`."""

from __future__ import annotations

import json

import pytest

from rfsc import RFSCClassifier
from rfsc._input.table_files import read_table
from rfsc.cli import main
from rfsc.export import load

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture
def atlas(capsys, hospital, monkeypatch):
    monkeypatch.setattr("rfsc.atlas.exploring.MOST_WORK", 1e7)

    def run(*arguments, data="patients.csv", status=0):
        capsys.readouterr()
        line = ["atlas", hospital / "model.json", hospital / data, "--jobs", "1", *arguments]
        assert main([str(argument) for argument in line]) == status
        return capsys.readouterr()

    return run


def test_text_of_the_models_that_are_as_good(atlas):
    found = atlas("--max-models", "20")
    assert "within one paired standard error of the best of its size" in found.out
    assert "What replaces what" in found.out
    assert found.err.splitlines()[-1] == "Fitting again ..."
    assert "Fitting" not in atlas("--quiet", "--tolerance", "0.001").err


def test_json_holds_names_and_figures_only(atlas, hospital):
    found = json.loads(atlas("--json", "--quiet").out)
    assert set(found) == {"settings", "models", "features", "swaps", "unused"}
    assert found["models"][0]["number"] == 0
    columns = tuple(read_table(str(hospital / "patients.csv")).frame.columns)
    assert all(row["feature"].startswith(columns) for row in found["features"])


def test_the_best_model_under_a_wish(atlas, tmp_path, hospital):
    answer = load(hospital / "model.json")
    column = answer.recipe_.columns[answer.recipe_.features[answer.models_[0].features[0]].column].name
    out = tmp_path / "other.json"
    said = atlas("--without", column, "--max-terms", "2", "-o", out)
    assert said.out.startswith(f"Without {column}, with at most 2 terms: leave-one-out log-loss ")
    assert said.err.endswith(f"Saved the model to {out}\n")
    model = load(out)
    used = {model.recipe_.columns[model.recipe_.features[p].column].name for p in model.models_[0].features}
    assert column not in used
    assert 0 < model.models_[0].size <= 2
    assert main(["predict", str(out), str(hospital / "new.csv")]) == 0
    facts = json.loads(atlas("--without", column, "--json", "--quiet").out)
    assert facts["price"] > -0.1
    assert facts["wish"].startswith(f"Without {column}, with at most ")


def test_what_cannot_be_is_one_sentence(refused, hospital, tmp_path):
    files = [hospital / "model.json", hospital / "patients.csv"]
    assert "--output is for the model" in refused("atlas", *files, "-o", tmp_path / "x.json", status=2)
    for text in ("wide", "-1", "nan"):
        assert "--tolerance expects 1se" in refused("atlas", *files, f"--tolerance={text}", "-q", status=2)
    assert "which is no column of numbers" in refused("atlas", *files, "--increasing", "sex", "-q")
    words = "the fit has no column of this name. Choose from 'age', 'sex', "
    assert words in refused("atlas", *files, "--without", "hair", "-q")


def test_report_shows_models_that_are_as_good(atlas, refused, hospital, tmp_path):
    line = ["report", hospital / "model.json", hospital / "new.csv", "-t", "diagnosis", "-o", tmp_path / "r.json"]
    assert main([str(one) for one in [*line, "--atlas", hospital / "patients.csv"]]) == 0
    found = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))["atlas"]
    assert found["features"] == json.loads(atlas("--json").out)["features"]
    assert "as files, not from stdin" in refused(*line, "--force", "--atlas", "-", status=2)


def test_another_fit_than_that_of_the_file(atlas, refused, hospital, monkeypatch):
    fit = RFSCClassifier.fit

    def ended(reason, names=None):
        def changed(self, X, y, **given):
            fit(self, X, y, **given)
            self.stop_reason_ = reason
            if names:
                self.models_ = self.at_size(1).models_
            return self

        monkeypatch.setattr(RFSCClassifier, "fit", changed)

    ended("interrupted")
    files = [hospital / "model.json", hospital / "patients.csv"]
    assert "the atlas needs a fit that came to its end" in refused("atlas", *files, "-q", status=130)
    ended("finished", names="others")
    assert "fitting again gave another model than that of the file" in atlas("--max-models", "5").err
