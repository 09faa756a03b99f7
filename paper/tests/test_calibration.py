"""Simulated tables for the certificate: the same every time, judged by their truth, resumable."""

from __future__ import annotations

import numpy as np
import pytest

from paper import calibration
from paper.calibration import (
    Outcome,
    Setting,
    describe,
    draw,
    false_units,
    read_records,
    run_study,
    run_usual,
    section,
    settings,
)


class Named:
    """Units that a certificate supports."""

    def __init__(self, *names):
        self._names = names

    def named(self):
        return self._names


class Found:
    clusters = Named("x0 | x1 | x2", "x4 | x5", "x9")
    features = Named("x0", "x4")
    terms = Named("x0", "x3*x6", "x0*x9", "x3", "x4*x9")
    p_signal = 0.001


@pytest.mark.parametrize("setting", settings(), ids=describe)
def test_tables_have_what_their_cell_says(setting):
    X, y, groups = draw(setting, 3)
    again, labels, _ = draw(setting, 3)
    assert np.array_equal(X, again)
    assert np.array_equal(y, labels)
    assert X.shape == (setting.n_rows, 12)
    assert len(set(y)) == setting.n_classes
    if setting.n_classes == 2:
        assert abs(y.mean() - setting.events) < 4.0 * np.sqrt(setting.events / setting.n_rows)
    if setting.columns == "integer":
        assert set(np.unique(X)) <= {0.0, 0.25, 0.5, 0.75, 1.0}
    inside = np.corrcoef(X.T)[0, 1]
    assert abs(inside - setting.rho) < 0.35
    if setting.per_group > 1:
        assert set(np.bincount(groups)) == {setting.per_group}
        spread = [X[groups == k].std(axis=0).mean() for k in range(20)]
        assert np.mean(spread) < 0.6 * X.std(axis=0).mean()


def test_false_units_are_those_without_the_truth():
    signal, noise, three = Setting("signal"), Setting("noise"), Setting("signal", n_classes=3)
    assert [false_units(Found, signal, level) for level in calibration.LEVELS] == [1, 1, 2]
    assert [false_units(Found, noise, level) for level in calibration.LEVELS] == [3, 2, 5]
    assert false_units(Found, three, "term") == 1
    assert [false_units(Found, Setting("straight"), level) for level in calibration.LEVELS] == [1, 1, 4]


def test_study_resumes_and_reports_cells_that_are_not_kept(monkeypatch, tmp_path):
    asked = []

    def quick(setting, number):
        asked.append(number)
        false = int(setting.basis == "auto")
        return Outcome(*(getattr(setting, f) for f in setting.__slots__), number, 0, false, 0, 1, 1, 1, 0.01, 0.5)

    monkeypatch.setattr(calibration, "run_table", quick)
    cells = [Setting("noise"), Setting("noise", basis="auto")]
    outcomes = run_study(tmp_path, n_jobs=1, most=30, cells=cells)
    assert len(outcomes) == len(asked) == 60
    with (tmp_path / "tables.csv").open("a") as file:
        file.write("noise,200,0.7")  # cut short
    assert len(read_records(tmp_path / "tables.csv", Outcome)) == 60
    assert len(run_study(tmp_path, n_jobs=1, most=30, cells=cells)) == 60
    assert len(asked) == 60
    text = section(outcomes, tmp_path)
    assert (tmp_path / calibration.PICTURE).stat().st_size > 1000
    assert "**Not kept** in: noise, 200 rows, auto." in text
    assert "| noise, 200 rows, polynomial | 30 | 0.000 | 0.000 | 0.000 | 0.130 | too few tables |" in text
    whole = section([one for one in outcomes if one.basis != "auto"], tmp_path)
    assert "**Not finished**" in whole
    assert f"0 of {len(settings())} cells are complete" in whole


def test_cell_with_the_pairs_of_a_user_has_a_file_and_a_row_of_its_own(monkeypatch, tmp_path):
    asked = []

    def quick(setting, number, n_pairs):
        asked.append((number, n_pairs))
        return Outcome(*(getattr(setting, f) for f in setting.__slots__), number, 0, 0, 0, 1, 1, 1, 0.01, 0.5)

    monkeypatch.setattr(calibration, "run_table", quick)
    assert len(run_usual(tmp_path, n_jobs=1, most=2)) == 2
    usual = run_usual(tmp_path, n_jobs=1, most=3)
    assert sorted(asked) == [(0, 50), (1, 50), (2, 50)]
    text = section([], tmp_path, usual=usual)
    assert "| signal, 200 rows, polynomial, 50 pairs | 3 | 0.000 |" in text
    assert f"3 tables; 0 of {len(settings()) + 1} cells are complete" in text


def test_one_table_for_real():
    outcome = calibration.run_table(Setting("noise", n_rows=100), 0)
    assert outcome.setting == Setting("noise", n_rows=100)
    assert outcome.true_clusters == outcome.true_features == 0
    assert 0.0 <= outcome.p_signal <= 1.0
