"""Model files of this and earlier versions are read, and say what they said when they were written."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pandas as pd
import pytest

from rfsc._terms.serial import READERS
from rfsc.explain import equation
from rfsc.export import from_json, load, to_json

from ..data.make_models import FOLDER, main

FILES = sorted(path for path in FOLDER.glob("*/*.json") if not path.name.endswith(".rows.json"))


def stored(path):
    """The rows and answers that were stored with a model."""
    said = json.loads(path.with_suffix(".rows.json").read_text(encoding="utf-8"))
    rows = said["rows"] if said["columns"] is None else pd.DataFrame(said["rows"], columns=said["columns"])
    return said, rows


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_an_old_model_says_what_it_said(path):
    model = load(path)
    said, rows = stored(path)
    for again in (model, from_json(to_json(model))):
        # exponentials and sines may differ in the last digits from machine to machine
        np.testing.assert_allclose(again.decision_function(rows), said["decision"], rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(again.predict_proba(rows), said["probability"], rtol=1e-9, atol=1e-9)
        assert again.predict(rows).tolist() == said["predicted"]
    assert model.manifest_["data"]["rows"] in (120, 160)
    assert model.manifest_["versions"]["rfsc"] == path.parent.name
    assert model.settings_["random_state"] == 0
    for one in model.models_:
        assert equation(one).startswith("f = ")
        assert one.evidence.n_restarts >= 2


def test_the_stored_models_are_of_every_sort():
    documents = [json.loads(path.read_text(encoding="utf-8")) for path in FILES]
    kinds = Counter(term["kind"] for d in documents for output in d["outputs"] for term in output["terms"])
    assert set(kinds) == set(READERS)
    assert {d["classes"]["kind"] for d in documents} == {"text", "integer", "number", "boolean"}
    assert {len(d["classes"]["labels"]) for d in documents} == {2, 3}
    assert {d["features"]["named"] for d in documents} == {True, False}
    assert {d["recipe"] is None for d in documents} == {True, False}
    assert {d["outputs"][0]["standard_error"] is None for d in documents} == {True, False}  # an average has none
    assert {d["outputs"][0]["evidence"]["filter"] is None for d in documents} == {True, False}
    made = {feature["kind"] for d in documents if d["recipe"] for feature in d["recipe"]["features"]}
    assert made == {"number", "missing", "level"}


def test_the_stored_models_are_small():
    assert sum(path.stat().st_size for path in FOLDER.rglob("*.json")) < 300_000


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_stored_models_are_never_overwritten_silently(tmp_path, capsys):
    main(force=False, names=["polynomial"], folder=tmp_path)
    assert (tmp_path / "polynomial.rows.json").exists()
    (tmp_path / "polynomial.json").write_text("of another age")
    main(force=False, names=["polynomial"], folder=tmp_path)
    assert "is there already and stays" in capsys.readouterr().out
    assert (tmp_path / "polynomial.json").read_text() == "of another age"
