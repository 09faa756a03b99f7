"""What the benchmarks share, and their sections, without measuring anything."""

from __future__ import annotations

import json

import pytest
from benchmarks import dask_rows, very_wide
from benchmarks.measuring import Outcomes, make_classifier

from rfsc import SearchSettings
from rfsc.bases import Polynomial


def test_classifier_from_plain_settings():
    clf = make_classifier(degree=3, max_iter=7, ridge=0.5, n_restarts=2)
    assert clf.basis == Polynomial(degree=3)
    assert clf.search == SearchSettings(max_iter=7, ridge=0.5)
    assert clf.n_restarts == 2
    assert make_classifier(basis="hinge").search is None
    with pytest.raises(TypeError):
        make_classifier(rescreen_every=3)


def test_outcomes_are_kept_and_not_measured_again(tmp_path):
    path = tmp_path / "deep" / "kept.json"
    Outcomes("long", path).add({"b": 1, "a": 2}, {"seconds": 3.0})
    again = Outcomes("long", path)
    assert {"a": 2, "b": 1} in again
    assert {"a": 2, "b": 2} not in again
    assert again.get({"a": 2, "b": 1})["seconds"] == 3.0
    assert list(json.loads(path.read_text())) == ['{"a": 2, "b": 1}']


def test_section_of_rows_on_workers():
    found = {"seconds": 601.0, "peak_worker": 2e9, "peak_here": 1e9, "load": 0.5, "log_loss": 0.4367, "terms": ["x0"]}
    text = dask_rows.section(found | {"processor_here": 5.0, "processor_workers": 70.0})
    assert "| 601 s | ≤ 600 s | MISSED |" in text
    assert "| largest memory of a worker | 2.00 GB | ≤ 3 GB | met |" in text


def test_section_of_very_wide_data():
    ours = {"wall": 1.0, "cpu": 0.5, "accuracy": 0.7, "best_accuracy": 0.9, "n_fits": 97, "load": 1.0}
    ours |= very_wide.recovered([3, 4, 9], [3, 8])
    found = {"62 x 2,000": {"RFSC": [ours], "drfsc": [ours], "distfeatselect": [{"failed": "not finished after 9 s"}]}}
    text = very_wide.section(found, 9.0)
    assert "| 62 x 2,000 | 1 | 50% | 2.0 | 0.40 | 0.700 | 0.900 | 97 | 0.5 | 1.0 |" in text
    assert "| drfsc 0.0.7 | 1 of 2 | 3 | 0.700 | 0 | 1 |" in text
    assert "| distfeatselect 0.1.4 | not finished after 9 s |" in text
