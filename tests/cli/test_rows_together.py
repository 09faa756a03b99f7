"""`rfsc fit --group`, `--site` and `--time`: rows that belong together, in the fit, score, certificate and file."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from rfsc._tables.table_files import read_table
from rfsc._tables.training_data import ColumnChoice, training_table
from rfsc.cli import fit_score, main
from rfsc.export import load

from .conftest import QUICK

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def visits(tmp_path_factory):
    """Three visits of each of 60 patients, whose class nobody can know; a forest would recognise the patients."""
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(60), 3)
    table = pd.DataFrame(rng.normal(size=(60, 3))[who] + 0.01 * rng.normal(size=(180, 3)), columns=["a", "b", "c"])
    table["patient_id"] = [f"P{100 + k}" for k in who]
    table["clinic"] = np.array(["north", "south", "west"])[who % 3]
    table["seen"] = pd.Timestamp("2024-01-31") + pd.to_timedelta(rng.permutation(180), unit="D")
    table["ill"] = np.where(rng.random(60) < 0.5, "yes", "no")[who]
    path = tmp_path_factory.mktemp("visits") / "visits.csv"
    table.to_csv(path, index=False)
    return path, table


def run(capsys, *arguments, status=0):
    capsys.readouterr()
    assert main(["fit", *map(str, arguments), "--jobs", "1"]) == status
    return capsys.readouterr()


def test_an_identifier_that_repeats_is_refused(capsys, visits):
    said = run(capsys, visits[0], "-t", "ill", "--drop", "seen", *QUICK, status=1).err
    assert "patient_id  60 values in 180 rows, as of subjects with several rows each" in said
    assert "--group patient_id" in said
    assert "--drop patient_id" in said


def test_groups_stay_together_everywhere(capsys, visits, tmp_path):
    path, _ = visits
    model = tmp_path / "m.json"
    line = (path, "-t", "ill", "--drop", "seen", "--drop", "clinic", "--group", "patient_id", *QUICK)
    said = run(capsys, *line, "-o", model, "--report", tmp_path / "r.json")
    assert "2 folds of whole groups" in said.out
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["score"]["folds_of"] == "groups"
    forest = next(one for one in report["score"]["methods"] if one["name"] == "random forest")
    assert forest["scores"]["accuracy"]["mean"] < 0.7  # of random rows nearly 1
    assert load(model).manifest_["group"] == "patient_id"
    assert "patient_id" not in load(model).feature_names_in_
    capsys.readouterr()
    assert main(["verify", str(model), str(path), "--jobs", "1"]) == 0
    assert main(["certify", str(model), str(path), "--jobs", "1", "--pairs", "1", "-q"]) == 0


def test_sites_and_times_are_folds(capsys, visits, tmp_path):
    path, _ = visits
    line = (path, "-t", "ill", "--drop", "seen", "--group", "patient_id", "--site", "clinic", *QUICK[:-2])
    both = run(capsys, *line, "--report", tmp_path / "r.json")
    assert "3 folds, one for each site" in both.out
    report = json.loads((tmp_path / "r.json").read_text())
    assert [(row["site"], row["n_rows"]) for row in report["sites"]] == [("north", 60), ("south", 60), ("west", 60)]
    mean = report["score"]["methods"][0]["scores"]["log_loss"]["mean"]
    assert np.mean([row["log_loss"] for row in report["sites"]]) == pytest.approx(mean)
    methods = " ".join(part["text"] for part in report["methods"])
    assert "180 rows of 60 subjects" in methods
    assert "they come from 3 sites: north, south and west" in methods
    assert "resampling whole subjects" in methods
    later = run(capsys, path, "-t", "ill", "--drop", "clinic", "--drop", "patient_id", "--time", "seen", *QUICK)
    assert "2 folds of later rows" in later.out


def test_no_row_is_judged_by_later_ones_or_by_its_group(visits):
    path, table = visits
    roles = {"group": "patient_id", "time": "seen"}
    rows = training_table(read_table(str(path)), "ill", ColumnChoice(drop=["clinic"], roles=roles))
    folds = fit_score.choose_folds(rows, 4, None, 0, fit_score.FitTimeLimit(None))
    assert len(folds) == 4
    for seen, left in folds:
        assert table["seen"][seen].max() < table["seen"][left].min()
        assert not set(table["patient_id"][seen]) & set(table["patient_id"][left])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--site", "clinic", "--time", "seen"), "--site and --time are two ways to score"),
        (("--site", "clinic", "--test-size", "0.3"), "--site and --test-size are two ways to score"),
        (("--time", "clinic"), "--time expects a column of numbers or dates without blanks, but 'clinic' holds text"),
        (("--group", "nobody"), "has no column 'nobody'"),
    ],
)
def test_what_cannot_be_is_one_sentence(capsys, visits, options, words):
    status = 2 if "two ways" in words else 1
    assert words in run(capsys, visits[0], "-t", "ill", "--drop", "patient_id", *options, status=status).err
