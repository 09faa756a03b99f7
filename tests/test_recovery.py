"""On planted data the search finds the terms that made the classes."""

from __future__ import annotations

import pytest
from paper.recovery import METHODS, PLANTED, planted_data

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("n", "noise", "least"), [(1000, 0.25, 1.0), (3000, 1.0, 0.6)])
def test_planted_terms_are_found(n, noise, least):
    """Little noise: all of them; as much as the model assumes: most. `make accuracy` measures the rates."""
    for seed in (100, 101):
        model = METHODS["default"].estimator("", "", seed).fit(*planted_data(n, noise, seed))
        assert len(set(PLANTED) & set(model.models_[0].names)) >= least * len(PLANTED)
