"""The score test: as statsmodels computes it, as least squares do one by one, and invariant where it should be."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st

from rfsc._terms.score_tests import ScoreTest
from tests.reference import naive_screening as naive


@pytest.fixture
def rows(rng):
    """Features on [0, 1], one of them binary and two alike; a target that depends on them; whole weights."""
    table = rng.random((7, 150))
    table[4] = table[4] > 0.5
    table[5] = table[2]
    target = np.where(table[0] + table[1] * table[2] + 0.3 * rng.logistic(size=150) > 0.8, 1.0, -1.0)
    return table, target, rng.integers(1, 4, size=150).astype(float)


def repeated(rows):
    """The rows as often as their weights say, for statsmodels' score test knows no weights."""
    table, target, weight = rows
    times = weight.astype(int)
    return np.repeat(table, times, axis=1), np.repeat(target, times)


def test_single_terms_equal_the_score_test_of_statsmodels(rows):
    table, target, weight = rows
    many, y = repeated(rows)
    null = sm.GLM(y > 0, np.ones((y.size, 1)), family=sm.families.Binomial()).fit()
    theirs = [null.score_test(exog_extra=row[:, None])[0].item() for row in many]
    np.testing.assert_allclose(ScoreTest.of_model(target, weight).of_columns(table) ** 2, theirs, rtol=1e-6)


def test_products_beside_a_fitted_model_of_their_features_equal_statsmodels(rows):
    table, target, weight = rows
    many, y = repeated(rows)
    for i, j in [(0, 1), (0, 4), (1, 2), (3, 6)]:
        Z = np.column_stack([np.ones(y.size), many[i], many[j]])
        null = sm.GLM(y > 0, Z, family=sm.families.Binomial()).fit(tol=1e-12)
        theirs = null.score_test(exog_extra=(many[i] * many[j])[:, None])[0].item()
        predictor = null.params[0] + null.params[1] * table[i] + null.params[2] * table[j]
        test = ScoreTest.of_model(target, weight, predictor)
        ours = test.of_products(table[[i]], table[[j]])[0, 0]
        assert ours**2 == pytest.approx(theirs, rel=1e-5)


@pytest.mark.parametrize("with_model", [False, True])
def test_all_products_equal_least_squares_one_by_one(rows, rng, with_model):
    table, target, weight = rows
    predictor = table[0] - 2 * table[3] if with_model else None
    ours = ScoreTest.of_model(target, weight, predictor).of_products(table[:3], table)
    residual, curvature = naive.residual_and_curvature(target, weight, predictor)
    theirs = [[naive.statistic(a * b, [a, b], residual, curvature) for b in table] for a in table[:3]]
    np.testing.assert_allclose(ours, theirs, atol=1e-7)


def test_what_cannot_be_tested_counts_as_nothing(rows):
    table, target, weight = rows
    test = ScoreTest.of_model(target, weight)
    constant = np.full((1, 150), 0.7)
    assert test.of_columns(constant)[0] == 0.0
    assert test.of_products(table[[4]], table[[4]])[0, 0] == 0.0  # the square of a binary feature is that feature
    assert test.of_products(constant, table[[0]])[0, 0] == 0.0
    assert test.of_products(table[[0]], constant)[0, 0] == 0.0
    tiny = np.full((1, 150), 1e-158)  # its sum of squares has no inverse
    tiny[0, :75] = 0.0
    assert np.isfinite(test.of_products(tiny, table)).all()
    # the share of the second class is above 1 by rounding, as sums of weights differ in their order
    weight = np.array([1e99, 0.33, 3.6e16, 5.5, 5.7, 1e99, 5e-324, 2e-309, 9.9])
    target = np.where(np.arange(9) % 5 == 2, -1.0, 1.0)
    assert (ScoreTest.of_model(target, weight).curvature >= 0.0).all()


@given(seed=st.integers(0, 10_000), shift=st.floats(-3, 3), scale=st.floats(0.1, 10))
def test_products_do_not_depend_on_origin_and_unit(seed, shift, scale):
    rng = np.random.default_rng(seed)
    table, target = rng.random((4, 60)), rng.choice([-1.0, 1.0], 60)
    test = ScoreTest.of_model(target, rng.random(60) + 0.5)
    np.testing.assert_allclose(
        test.of_products(table[:2], table[2:]), test.of_products(shift + scale * table[:2], table[2:]), atol=1e-6
    )


def test_a_weight_is_so_many_rows(rows):
    table, target, weight = rows
    many, y = repeated(rows)
    weighted, plain = ScoreTest.of_model(target, weight), ScoreTest.of_model(y, np.ones(y.size))
    np.testing.assert_allclose(weighted.of_columns(table), plain.of_columns(many), atol=1e-9)
    np.testing.assert_allclose(weighted.of_products(table, table), plain.of_products(many, many), atol=1e-9)


def test_noise_is_about_standard_normal():
    rng = np.random.default_rng(0)
    table, target = rng.exponential(size=(120, 400)), rng.choice([-1.0, 1.0], 400)
    found = ScoreTest.of_model(target, np.ones(400)).of_products(table[:60], table[60:])
    assert np.mean(found > 1.96) == pytest.approx(0.05, abs=0.015)
    assert np.mean(found > 3.29) == pytest.approx(0.001, abs=0.0015)


def test_long_tables_are_summed_in_parts(monkeypatch):
    rng = np.random.default_rng(0)
    target, weight = np.where(rng.random(500) < 0.4, 1.0, -1.0), rng.uniform(0.5, 2.0, 500)
    left, right = rng.random((4, 500)), rng.random((3, 500))
    test = ScoreTest.of_model(target, weight)
    whole = test.of_products(left, right)
    monkeypatch.setattr("rfsc._terms.score_tests.AT_ONCE", 64)  # leaves a part of 52 rows
    np.testing.assert_allclose(test.of_products(left, right), whole, rtol=1e-10)
