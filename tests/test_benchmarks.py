"""What the benchmarks share, and their sections, without measuring anything."""

from __future__ import annotations

import dataclasses
import json
import subprocess

import numpy as np
import pytest
from benchmarks import certificates, dask_rows, default_fits, raw_tables, rules, speed_fits, speed_searches, very_wide
from benchmarks.default_fits import METHODS, Case
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
    found = {"seconds": 601.0, "peak_worker": 2e9, "peak_here": 1e9, "load": 0.5, "log_loss": 0.4367, "n_terms": 1}
    text = dask_rows.section(found | {"processor_here": 5.0, "processor_workers": 70.0})
    assert "| 601 s | ≤ 600 s | MISSED |" in text
    assert "| largest memory of a worker | 2.00 GB | ≤ 3 GB | met |" in text


def test_section_of_very_wide_data():
    ours = {"wall": 1.0, "cpu": 0.5, "accuracy": 0.7, "best_accuracy": 0.9, "load": 1.0}
    ours |= very_wide.recovered([3, 4, 9], [3, 8])
    found = {"62 x 2,000": {"RFSC": [ours], "drfsc": [ours], "distfeatselect": [{"failed": "not finished after 9 s"}]}}
    text = very_wide.section(found, 9.0)
    assert "| 62 x 2,000 | 1 | 50% | 2.0 | 0.40 | 0.700 | 0.900 | 0.5 | 1.0 |" in text
    assert "| drfsc 0.0.7 | 1 of 2 | 3 | 0.700 | 0 | 1 |" in text
    assert "| distfeatselect 0.1.4 | not finished after 9 s |" in text


# speed


def test_engines_hold_the_supports_that_are_timed(monkeypatch):
    for name, value in (("N_SUPPORTS", 2), ("ROUNDS", 1), ("TURN", 1e-4)):
        monkeypatch.setattr(speed_fits, name, value)
    data = speed_fits.Wdbc.load()
    for size in speed_fits.SIZES:
        assert speed_fits.time_fits(data, size).size == size


def test_section_of_one_search():
    rng = np.random.default_rng(0)
    X, y = rng.random((80, 3)), np.arange(80) % 2
    one = speed_searches.fit_ours(X, y, X, y, random_state=0, n_jobs=1, n_restarts=1, size=None)
    runs = {way: [one] for way in ("one", "one, two threads", "whole", "defaults", "scaled")}
    assert len(speed_searches.compare_searches("title", runs, 80, 80).rows) == 6


# rules


def test_fits_without_rules_choose_from_the_other_mixes():
    small = Case(90, 4, 1e9)
    with_rules, others = (rules.time_fit(small, choice)["mixes"] for choice in (True, False))
    assert "rule" in with_rules
    assert others == [name for name in with_rules if name != "rule"]
    assert "rule" in rules.bases.auto_mixes(4, 90)


def test_screening_tests_the_pairs_that_the_bar_names():
    found = rules.time_screening(200, 5, "pairs of thresholds")
    assert found["n_terms"] == 5 * 4 // 2 * 8 * 8 * 4  # two thresholds make four rules
    assert rules.time_screening(200, 5, "all rules")["n_terms"] > found["n_terms"]
    assert found["seconds"] > 0.0


def test_section_of_rules():
    def runs(seconds, **more):
        return [{"seconds": seconds, "load": 1.0, "mixes": ["linear", "rule"], "n_terms": 7, "mb": 9.0} | more] * 3

    found = {("with", name): runs(1.3) for name in rules.TABLES} | {
        ("without", name): runs(1.0) for name in rules.TABLES
    }
    found |= {(what, name): runs(2.0) for what in rules.PARTS for name in rules.SCREENED}
    found["with", "wide"] = runs(1.4, mixes=["linear"])
    text = rules.section(found)
    assert "| WDBC | 1.3 | 1.0 | 1.30 | ≤ 1.3 | met |  |" in text
    assert "| wide | 1.4 | 1.0 | 1.40 | ≤ 1.3 | MISSED | no rules among its mixes |" in text
    assert "| pairs of thresholds | 1,000 x 100 | 7 | 2.00 | 9 | ≤ 1 s, ≤ 500 MB | MISSED |" in text
    assert "| all rules | 100,000 x 30 | 7 | 2.00 | 9 |  |  |" in text


# default fits

SMALL = Case(90, 4, 1e9)


def test_simulated_tables_are_the_same_every_time_and_have_fresh_rows():
    (X, _), (X_fresh, y_fresh) = default_fits.simulated(SMALL)
    again, _ = default_fits.simulated(SMALL)
    np.testing.assert_array_equal(X, again[0])
    assert X.shape == (90, 4)
    assert len(y_fresh) == len(X_fresh) == default_fits.N_FRESH
    assert not np.isin(X[:, 0], X_fresh[:, 0]).any()
    four, _ = default_fits.simulated(Case(400, 18, 1.0, n_classes=4))
    assert np.unique(four[1]).tolist() == [0, 1, 2, 3]


def test_the_table_of_the_command_has_text_columns():
    table = default_fits.text_table(200)
    assert table.equals(default_fits.text_table(200))
    assert table.shape == (200, 21)
    assert sum(column.startswith("text") for column in table) == 13
    assert set(table.outcome) == {"yes", "no"}
    assert table.drop(columns="outcome").isna().any(axis=None)


def test_the_lasso_gets_no_products_of_wide_tables():
    degrees = {name: case.degree for name, case in default_fits.CASES.items()}
    assert [name for name, degree in degrees.items() if degree == 1] == ["wide", "very wide"]
    assert default_fits.method_of("lasso", default_fits.CASES["wide"], None)[0].degree == 1


@pytest.mark.parametrize("method", ["RFSC", *(pytest.param(peer, marks=pytest.mark.slow) for peer in METHODS[1:])])
def test_every_method_is_measured(monkeypatch, method):
    monkeypatch.setattr(default_fits.os, "sched_setaffinity", lambda *_: None)  # of the process of the tests
    monkeypatch.setattr(default_fits, "N_FRESH", 100)
    found = default_fits.measure(SMALL, method)
    assert found["seconds"] > 0.0
    assert 0.0 < found["log_loss"] < 10.0
    assert (found["terms"] is None) == (method == "random forest")


def test_a_peer_that_was_stopped_is_not_run_again(monkeypatch, tmp_path):
    asked = []

    def run_python(*arguments, limit, **_):
        task = json.loads(arguments[-1])
        asked.append((task["method"], task["run"]))
        if task["method"] == "lasso":
            raise subprocess.TimeoutExpired("python", limit)
        return 'a warning\n{"seconds": 2.0, "log_loss": 0.5, "terms": 3}'

    monkeypatch.setattr(default_fits, "run_python", run_python)
    found = default_fits.run_all({"small": SMALL}, 2, Outcomes("default_fits", tmp_path / "kept.json"))
    assert asked == [("RFSC", 0), ("lasso", 0), ("random forest", 0), ("RFSC", 1), ("random forest", 1)]
    row = "| small | 90 x 4 | 2.0 | ≤ 1e+09 | met | > 120 | 2.0 | 0.500 |  | 0.500 | 3 |  |"
    assert row in default_fits.section({"small": SMALL}, found)


def test_section_of_default_fits():
    run = {"seconds": 9.0, "log_loss": 0.5, "terms": 3, "load": 1.0}
    runs = [run, run | {"seconds": 3.0}, run | {"seconds": 4.0}]
    found = {name: dict.fromkeys(case.methods, runs) for name, case in default_fits.CASES.items()}
    text = default_fits.section(default_fits.CASES, found)
    assert "**7 of 9 bars met.** MISSED: WDBC; wide." in text
    assert "| wide | 150 x 2,000 | 4.0 | ≤ 3 | MISSED | 4.0 (degree 1) | 4.0 |" in text
    assert "| the paper's experiment | 6 sets x 10 folds | 4.0 | ≤ 60 | met |" in text
    assert "| command | 1,000 x 20 | 4.0 | ≤ 60 | met |  |  | 0.500 |  |  | 3 |  |" in text


def test_certificates_cost_and_what_atlases_hold():
    class Known:
        def get(self, task):
            one = {"certificate": {"seconds": 110.0, "fit": 5.0, "worker": 3e8}, "fit": {"peak": 2.9e8}}
            one |= {"atlas": {"seconds": 4.0, "models": 500, "fitted": 9000}}
            one["space"] = {"good": 200, "held": 199 if task.get("enumerates") else 150}
            return one[task["what"]]

    found = certificates.sections(Known(), 50, 3)
    assert "| 100 half fits, in default fits | 22.0 | at most 20 | MISSED |" in found["cost"]
    assert "| 1.03 | at most 1.2 | met |" in found["cost"]
    assert "| 4.0 s | at most 10 s | met |" in found["measured"]
    assert "| good models held, least of 3 small spaces | 99.5% | at least 99% | met |" in found["measured"]
    assert "by exchanges alone: 450 of 600 good models held" in found["measured"]


@pytest.mark.slow
def test_raw_tables_go_through_all_commands_and_agree(tmp_path, monkeypatch):
    """The benchmark of raw files on a small table with units, limits, thousands, dates and several rows of patients."""
    table = raw_tables.TABLES["hospital"]
    small = dataclasses.replace(
        table, draw=lambda rng: table.draw(rng)[:400], options=(*table.options, "--cv", "0", "--restarts", "1")
    )
    monkeypatch.setitem(raw_tables.TABLES, "hospital", small)
    found = raw_tables.measure("hospital", tmp_path)
    assert found["shape"] == (400, 12)
    assert {"load", "Python", "SQLite", "DuckDB"} <= set(found["gaps"])
    assert max(found["gaps"].values()) <= raw_tables.TOLERANCE
    assert (tmp_path / "card.html").exists()
    assert "| hospital | 400 x 12 |" in raw_tables.section({"hospital": found})
