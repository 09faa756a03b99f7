"""The metrics against scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

from rfsc.report.metrics import METRICS, measure


@given(seed=st.integers(0, 2**32 - 1), n_classes=st.integers(2, 5))
def test_equal_to_scikit_learn(seed, n_classes):
    rng = np.random.default_rng(seed)
    code = np.concatenate([np.arange(n_classes), np.arange(n_classes), rng.integers(n_classes, size=20)])
    proba = rng.dirichlet(np.ones(n_classes), size=code.size)
    found = measure(code, proba)
    said = proba.argmax(axis=1)
    truth = np.eye(n_classes)[code]
    auc = (
        metrics.roc_auc_score(code, proba[:, 1])
        if n_classes == 2
        else metrics.roc_auc_score(code, proba, multi_class="ovr")
    )
    assert found["accuracy"] == pytest.approx(metrics.accuracy_score(code, said))
    assert found["balanced_accuracy"] == pytest.approx(metrics.balanced_accuracy_score(code, said))
    assert found["auc"] == pytest.approx(auc)
    assert found["log_loss"] == pytest.approx(metrics.log_loss(code, proba))
    halves = [metrics.brier_score_loss(truth[:, k], proba[:, k]) / 2 for k in range(n_classes)]
    assert found["brier"] == pytest.approx(sum(halves))
    assert list(found) == [metric.key for metric in METRICS]


def test_rows_of_one_class_have_no_auc():
    found = measure(np.zeros(3, dtype=int), np.array([[0.9, 0.1], [0.4, 0.6], [1.0, 0.0]]))
    assert np.isnan(found["auc"])
    assert found["balanced_accuracy"] == found["accuracy"] == pytest.approx(2 / 3)


def test_the_log_loss_of_a_certain_error_is_finite():
    found = measure(np.array([0, 1]), np.array([[0.0, 1.0], [0.0, 1.0]]))
    assert 10 < found["log_loss"] < 40


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_weight_is_a_number_of_rows(rng, n_classes):
    code, proba = rng.integers(n_classes, size=60), rng.dirichlet(np.ones(n_classes), size=60).round(1)
    weight = rng.integers(0, 4, 60)
    often = np.repeat(np.arange(60), weight)
    assert measure(code, proba, weight.astype(float)) == pytest.approx(measure(code[often], proba[often]))
