"""The generator of noise and weak signal, and the section about it."""

from __future__ import annotations

import numpy as np
import pytest

from paper import noise as module
from paper.methods import DEFAULT, Method
from paper.noise import EVENTS, N_TEST, draw_table, noise_section
from paper.protocols import auc_of, log_loss_of
from rfsc import RFSCClassifier


@pytest.mark.parametrize("kind", EVENTS)
def test_table_is_always_the_same_and_within_its_limits(kind):
    shapes = []
    for number in range(5):
        fold, truth = draw_table(kind, number)
        np.testing.assert_array_equal(fold.X_train, draw_table(kind, number).fold.X_train)
        assert 200 <= len(fold.y_train) <= 1000
        assert 10 <= fold.X_train.shape[1] <= 200
        assert len(fold.y_test) == len(truth) == N_TEST
        low, high = EVENTS[kind]
        assert low - 0.02 < truth[:, 1].mean() < high + 0.02
        shapes.append(fold.X_train.shape)
    assert len(set(shapes)) == 5


def test_truth_of_noise_and_of_weak_signal():
    for number in range(8):
        _, truth = draw_table("pure noise", number)
        assert np.ptp(truth[:, 1]) == 0
        fold, truth = draw_table("weak signal", number)
        assert 0.55 < auc_of(truth, fold.y_test) < 0.77
        rate = np.full_like(truth, truth[:, 1].mean())
        rate[:, 0] = 1 - rate[:, 0]
        assert log_loss_of(truth, fold.y_test) < log_loss_of(rate, fold.y_test)


def test_section_and_resumption(counted, monkeypatch, tmp_path):
    quick = {"basis": "polynomial", "n_restarts": 1, "n_jobs": 1, "max_terms": 2}
    monkeypatch.setattr(module, "METHOD", Method(name=DEFAULT, make=lambda _: RFSCClassifier(**quick), kind="rfsc"))
    text = noise_section(tmp_path, n_jobs=1, n_tables=1)
    assert len([line for line in text.splitlines() if line.startswith(("| pure noise | 1 |", "| weak signal"))]) == 2
    assert "- pure noise: the constant on >= 1 of 1: " in text
    assert "- weak signal: log-loss above the constant's on <= 0: " in text
    assert noise_section(tmp_path, n_jobs=1, n_tables=1) == text
    assert len(counted) == 2
