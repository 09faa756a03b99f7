"""Final fits and engines on terms, classes and weights that are hard on the numbers, beside a hundred digits."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.torture.high_precision import exact_fit
from benchmarks.torture.numerics import RIDGES, Case, cases, engine_faults, final_fit_faults, penalties

from rfsc._model import refit

HARD = cases(conditions=range(8, 17, 8))  # the others are for `make torture`
QUICK = ["collinear 1e8", "collinear 1e16", "scales 1e16", "powers to 5", "weights", "imbalance", "separable"]
QUICK += ["quasi separable", "separable by weight"]


@pytest.mark.parametrize("ridge", RIDGES)
@pytest.mark.parametrize("name", QUICK)
def test_final_fit_is_exact(name, ridge):
    assert not list(final_fit_faults(HARD[name](np.random.default_rng(0)), ridge))


@pytest.mark.parametrize("engine", ["numba", "numpy"])
@pytest.mark.parametrize("ridge", RIDGES)
@pytest.mark.parametrize("name", ["collinear 1e16", "weights", "imbalance", "separable by weight"])
def test_engines_are_exact(name, ridge, engine):
    assert not list(engine_faults(HARD[name](np.random.default_rng(0)), ridge, engine))


def test_reference_solves_what_can_be_solved_by_hand():
    """The constant alone: log-odds of the classes, with variance 1 / (n p q)."""
    target = np.repeat([1.0, -1.0], [30, 10])
    exact = exact_fit(np.ones((1, 40)), target, np.ones(40), np.zeros(1))
    np.testing.assert_allclose(exact.coef, np.log(3.0), rtol=1e-15)
    np.testing.assert_allclose(exact.standard_error, 1 / np.sqrt(40 * 0.75 * 0.25), rtol=1e-15)
    np.testing.assert_allclose(exact.log_loss, -0.75 * np.log(0.75) - 0.25 * np.log(0.25), rtol=1e-15)


def test_the_comparison_sees_a_wrong_fit(monkeypatch):
    case = HARD["weights"](np.random.default_rng(0))
    monkeypatch.setattr(
        "benchmarks.torture.numerics.refit", lambda *data: refit(*data[:3], 1.001 * data[3] + 1e-6, data[4])
    )
    assert len(list(final_fit_faults(case, 1.0))) == 2


def test_duplicate_terms_share_their_effect_and_say_that_they_are_not_known():
    rng = np.random.default_rng(0)
    x = rng.random(50)
    case = Case(np.stack([np.ones(50), x, x]), np.where(rng.random(50) < x, 1.0, -1.0), np.ones(50))
    found = refit(*case[:3], penalties(case, 0.0), np.zeros(3))
    alone = refit(case.columns[:2], *case[1:3], np.zeros(2), np.zeros(2))
    np.testing.assert_allclose(found.coef, [alone.coef[0], alone.coef[1] / 2, alone.coef[1] / 2], rtol=1e-9)
    np.testing.assert_allclose(found.standard_error[0], alone.standard_error[0], rtol=1e-9)
    assert (found.standard_error[1:] > 1e6).all()
