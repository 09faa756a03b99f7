"""`rfsc predict` and the exports read the raw cells of a file by one rule."""

from __future__ import annotations

import contextlib
import json
import re
import sqlite3

import numpy as np
import pandas as pd
import pytest

from rfsc.cli import main
from rfsc.explain import explain
from rfsc.export import load, to_python, to_sql

from .test_fit import fit


def test_predict_and_exports_read_the_raw_cells_of_a_file(tmp_path, capsys):
    """Columns of plain numbers in the training table; what a new file holds is read by one rule."""
    rng = np.random.default_rng(0)
    weight, day = rng.normal(70, 12, 200).round(1), rng.integers(0, 400, 200)
    admitted = (pd.Timestamp("2021-03-01") + pd.to_timedelta(day, unit="D")).strftime("%d.%m.%Y")
    table = pd.DataFrame({"weight": weight, "admitted": admitted})
    f = (weight - 70) / 6 + (day - 200) / 60
    table["diagnosis"] = np.where(f + rng.logistic(size=200) > 0, "sick", "healthy")
    table.to_csv(tmp_path / "t.csv", index=False)
    options = ["--cv", "0", "--size", "2", "--keep", "admitted", "--basis", "polynomial"]
    assert fit(tmp_path / "t.csv", *options, "-o", tmp_path / "m.json") == 0
    assert "days since 2021-03-0" in capsys.readouterr().err
    cells = ["<30", "22.7 kg", "n.d.", "1 234", "\u22125", "about 70", "true", "70", "", "7e1", ">= 1'000", "70 "]
    dates = ["2021-05-01", "1.5.2021", "01/05/2021", "n.d.", "", "31.02.2021", "2021-05-01 10:00", *["1.6.2021"] * 5]
    new = pd.DataFrame({"weight": cells, "admitted": dates})
    new.to_csv(tmp_path / "new.csv", index=False, sep=";")
    assert main(["predict", str(tmp_path / "m.json"), str(tmp_path / "new.csv"), "--proba", "--json"]) == 0
    said = capsys.readouterr()
    assert "2 cells of 'weight' are not numbers and count as blank" in " ".join(said.err.split())
    assert "1 cell of 'admitted' is not a date and counts as blank" in " ".join(said.err.split())
    expected = [row["probability_sick"] for row in json.loads(said.out)]
    model, scope = load(tmp_path / "m.json"), {}
    np.testing.assert_allclose(model.predict_proba(new)[:, 1], expected, atol=1e-12)
    exec(to_python(model), scope)
    found = [scope["predict"](row)["probability"]["sick"] for row in new.to_dict("records")]
    np.testing.assert_allclose(found, expected, atol=1e-12)
    with contextlib.closing(sqlite3.connect(":memory:")) as database:
        new.to_sql("data", database)
        found = database.execute(to_sql(model, output="probability", label="sick")).fetchall()
    np.testing.assert_allclose([row[0] for row in found], expected, atol=1e-12)
    said = explain(model, {"weight": "70 kg", "admitted": "1.6.1999"})
    assert re.search(r"dmitted 1.6.1999 (raises|lowers) it compared with the typical 202\d-\d\d-\d\d", said)
    assert re.search(r"admitted = 1.6.1999 \(2021-03-0\d to 2022-0\d-\d\d\)", said)
    new["weight"] = new["weight"].str.replace("22.7 kg", "22,7")
    new.to_csv(tmp_path / "new.csv", index=False, sep=";")
    assert main(["predict", str(tmp_path / "m.json"), str(tmp_path / "new.csv")]) == 1
    assert "--decimal ," in capsys.readouterr().err
    with pytest.raises(ValueError, match=r"column 'weight' has decimal commas, but decimal points in the table of the"):
        model.predict_proba(new)
