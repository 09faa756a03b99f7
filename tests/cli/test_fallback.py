"""`rfsc fit --fallback`."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from rfsc.cli import main
from rfsc.export import load

from .conftest import QUICK

LINEAR = ["--quiet", "--fallback", *QUICK, "--degree", "1", "--size", "3"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with patients.csv, in which CRP is often blank and ESR stands in for it, and a model of it."""
    folder, rng = tmp_path_factory.mktemp("fallback"), np.random.default_rng(0)
    crp, age = rng.normal(size=(2, 600))
    table = pd.DataFrame({"CRP": crp.round(3), "age": age.round(3), "ESR": (crp + 0.8 * rng.normal(size=600)).round(3)})
    table["diagnosis"] = np.where(4 * crp + 3 * age + rng.logistic(size=600) > 0, "sick", "healthy")
    table.loc[rng.random(600) < 0.2, "CRP"] = None
    table.to_csv(folder / "patients.csv", index=False)
    line = ["fit", str(folder / "patients.csv"), "-t", "diagnosis", *LINEAR, "-o", str(folder / "model.json")]
    assert main(line) == 0
    return folder


def test_the_model_file_holds_the_fallback_and_commands_use_it(folder, capsys):
    model = load(folder / "model.json")
    assert [one.when_missing for one in model.fallbacks_] == [("CRP",)]
    path = str(folder / "model.json")
    capsys.readouterr()
    assert main(["info", path]) == 0
    assert "without CRP: " in capsys.readouterr().out
    assert main(["info", path, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["fallbacks"][0]["price"] == model.fallbacks_[0].price
    number = int(pd.read_csv(folder / "patients.csv")["CRP"].isna().to_numpy().argmax()) + 1
    assert main(["explain", path, str(folder / "patients.csv"), "--row", str(number), "--quiet"]) == 0
    assert capsys.readouterr().out.startswith("Without CRP, which is missing, the probability of class ")
    assert main(["verify", path, str(folder / "patients.csv"), "--quiet"]) == 0
    assert main(["monitor", path, str(folder / "patients.csv"), "--quiet"]) == 0


def test_the_price_is_shown(folder, capsys, tmp_path):
    line = ["fit", str(folder / "patients.csv"), "-t", "diagnosis", *LINEAR]
    capsys.readouterr()
    assert main([*line, "--drop", "CRP"]) == 0
    assert "No other model is better for rows with blanks" in capsys.readouterr().out
    assert main([*line, "--report", str(tmp_path / "r.md")]) == 0
    shown = capsys.readouterr().out
    page = (tmp_path / "r.md").read_text()
    assert "Models for rows in which a measurement is missing" in page
    assert "| `CRP` " in page
    assert "  without CRP: " in shown
    assert "price +" in shown
    assert " with the median" in shown
