"""The weighted mean of models."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rfsc import RFSCClassifier
from rfsc._model import weighted_mean


@pytest.fixture(scope="module")
def models():
    rng = np.random.default_rng(0)
    X = rng.random((150, 3))
    y = (X[:, 0] + X[:, 1] * X[:, 2] + 0.2 * rng.normal(size=150) > 0.75).astype(int)
    settings = {"n_restarts": 1, "random_state": 0}
    return X, [RFSCClassifier(basis=basis, **settings).fit(X, y).models_[0] for basis in ("polynomial", "hinge")]


def test_output_is_the_mean_of_the_outputs(models):
    X, both = models
    mean = weighted_mean(both, [0.3, 0.7])
    np.testing.assert_allclose(mean.decision(X), 0.3 * both[0].decision(X) + 0.7 * both[1].decision(X), rtol=1e-12)
    assert set(mean.terms) == set(both[0].terms) | set(both[1].terms)
    assert len(set(mean.terms)) == len(mean.terms)
    assert list(np.abs(mean.coef)) == sorted(np.abs(mean.coef), reverse=True)
    assert mean.standard_error is None


def test_shared_terms_are_added(models):
    _, both = models
    twice = weighted_mean([both[0], replace(both[0], coef=3 * both[0].coef)], [0.5, 0.5])
    assert twice.terms == both[0].terms
    np.testing.assert_allclose(twice.coef, 2 * both[0].coef)


def test_a_single_model_stays_as_it_is(models):
    assert weighted_mean(models[1][:1], [1.0]) is models[1][0]
