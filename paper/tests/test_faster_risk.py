"""FasterRisk through its own environment."""

from __future__ import annotations

import numpy as np
import pytest

from paper.comparators.faster_risk import PYTHON, FasterRisk

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not PYTHON.exists(), reason="make .venv-fasterrisk/created"),
]


def test_points_are_whole_numbers_and_predict_the_class():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    y = np.where((X[:, 0] > 0) ^ (rng.random(200) < 0.1), "ill", "healthy")
    model = FasterRisk(k=2).fit(X, y)
    used = [model.conditions_[j][0] for j in np.flatnonzero(model.coef_[0])]
    assert 0 in used
    assert len(used) <= 2
    points = model.coef_[0][model.coef_[0] != 0.0]
    ratio = points / np.abs(points).min()
    assert np.abs(ratio).max() <= 5.0 + 1e-9
    assert np.mean(model.predict(X) == y) > 0.8
    assert model.predict_proba(X).sum(axis=1) == pytest.approx(1.0)
