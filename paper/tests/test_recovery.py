"""Planted polynomials: what is counted, the bar under the table, and resumption."""

from __future__ import annotations

from dataclasses import replace

import pytest

from paper import recovery as module
from paper.methods import Method
from paper.recovery import METHODS, SEEDS, TABLES, recovery_section
from rfsc import RFSCClassifier

QUICK = {"tables": ("200 rows, noise 0.25", "500 rows, noise 0.25"), "seeds": (0, 1)}


@pytest.mark.parametrize(("others", "line"), [(1, "met (1.00)"), (2, "**MISSED** (2.00)")])
def test_bar_is_about_the_default_from_500_rows_on(make_cell, monkeypatch, tmp_path, others, line):
    def found(task):
        counts = task.method == "default" and TABLES[task.data][0] >= 500
        return [replace(make_cell(), task=task, notes={"planted": 3, "others": others if counts else 9})]

    monkeypatch.setattr(module, "run_task", found)
    text = recovery_section(tmp_path, n_jobs=1)
    assert text.splitlines()[-1] == f"- default: at most 1 other term on average from 500 samples on: {line}"


def test_interrupted_run_continues(counted, monkeypatch, tmp_path):
    def make(_):
        return RFSCClassifier("polynomial", n_restarts=1, size=3)

    monkeypatch.setattr(module, "METHODS", {n: Method(name=n, make=make, kind="rfsc") for n in METHODS})
    run_task = module.run_task

    def interrupt(task):
        if len(counted) == 3:
            raise KeyboardInterrupt
        return run_task(task)

    with monkeypatch.context() as patch:
        patch.setattr(module, "run_task", interrupt)
        with pytest.raises(KeyboardInterrupt):
            recovery_section(tmp_path, n_jobs=1, **QUICK)
    text = recovery_section(tmp_path, n_jobs=1, **QUICK)
    assert len(counted) == len(set(counted)) == 2 * 2 * 2
    assert "| 500 | 0.25 | 1.00 | 0.0 | 1.0 |" in text  # three terms are asked for, and they are plain to see
    assert recovery_section(tmp_path, n_jobs=1, **QUICK) == text
    assert len(counted) == 8


def test_default_has_every_noise_and_ten_seeds():
    assert len(TABLES) == 12
    assert len(SEEDS) == 10
