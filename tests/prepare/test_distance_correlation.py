"""The distance-correlation test against dcor, the O(N^2) definition, and its own symmetries."""

from __future__ import annotations

import dcor
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from rfsc._fit import distance_correlation
from rfsc._fit.distance_correlation import independence_test, threshold
from tests.reference import naive_distance as naive

CLOSE = {"rtol": 1e-9, "atol": 1e-9}
# a correlation is the root of a quotient: rounding of 1e-16 in a covariance of zero shows as 1e-8
CLOSE_ROOT = {"rtol": 1e-7, "atol": 1e-6}


TWO, MANY, ANY = st.just(2), st.integers(3, 4), st.integers(2, 4)


@st.composite
def problems(draw, n_classes):
    """(X, code) with ties, constant features and classes of any size."""
    k = draw(n_classes)
    n = draw(st.integers(k, 24))
    code = np.array([*range(k), *draw(st.lists(st.integers(0, k - 1), min_size=n - k, max_size=n - k))])
    values = draw(st.sampled_from([st.integers(0, 1), st.integers(-4, 4), st.floats(-1e3, 1e3)]))
    X = draw(arrays(float, (n, draw(st.integers(1, 3))), elements=values.map(float)))
    return X, code


def unweighted(X, code, **options):
    return independence_test(X, code, np.ones(len(code)), **options)


def assert_same(a, b):
    np.testing.assert_allclose(a.statistic, b.statistic, **CLOSE)
    np.testing.assert_allclose(a.pvalue, b.pvalue, **CLOSE)
    np.testing.assert_allclose(a.correlation, b.correlation, **CLOSE_ROOT)


@settings(max_examples=150)
@given(problems(TWO))
def test_two_classes_equal_dcor_and_the_definition_of_the_paper(problem):
    X, code = problem
    y = np.where(code == 1, 1.0, -1.0)
    test = unweighted(X, code)
    b = naive.value_distances(y)
    for x, statistic, correlation in zip(X.T, test.statistic, test.correlation, strict=True):
        a = naive.value_distances(x)
        np.testing.assert_allclose(statistic, naive.statistic(a, b), **CLOSE)
        np.testing.assert_allclose(correlation, naive.correlation(a, b), **CLOSE_ROOT)
        cov2 = dcor.distance_covariance_sqr(x, y, method="naive")
        scale = a.mean() * b.mean()
        np.testing.assert_allclose(statistic * scale, len(y) * cov2, rtol=1e-9, atol=1e-9 * scale)
        np.testing.assert_allclose(correlation, dcor.distance_correlation(x, y, method="naive"), **CLOSE_ROOT)


@settings(max_examples=150)
@given(problems(ANY))
def test_any_number_of_classes_equals_the_definition_with_the_label_distance(problem):
    X, code = problem
    test = unweighted(X, code)
    b = naive.label_distances(code)
    pairs = [naive.value_distances(x) for x in X.T]
    np.testing.assert_allclose(test.statistic, [naive.statistic(a, b) for a in pairs], **CLOSE)
    np.testing.assert_allclose(test.correlation, [naive.correlation(a, b) for a in pairs], **CLOSE_ROOT)


@given(problems(ANY), st.data())
def test_integer_weights_are_repeated_rows(problem, data):
    X, code = problem
    weight = np.array(data.draw(st.lists(st.integers(1, 4), min_size=len(code), max_size=len(code))))
    repeated = unweighted(np.repeat(X, weight, axis=0), np.repeat(code, weight))
    assert_same(independence_test(X, code, weight.astype(float)), repeated)


@given(problems(MANY))
def test_one_vs_rest_is_one_binary_test_per_class(problem):
    X, code = problem
    together = unweighted(X, code, one_vs_rest=True)
    assert together.statistic.shape == (code.max() + 1, X.shape[1])
    for c in range(code.max() + 1):
        alone = unweighted(X, (code == c).astype(int))
        np.testing.assert_allclose(together.statistic[c], alone.statistic, **CLOSE)
        np.testing.assert_allclose(together.pvalue[c], alone.pvalue, **CLOSE)
        np.testing.assert_allclose(together.correlation[c], alone.correlation, **CLOSE_ROOT)


@given(problems(TWO))
def test_two_classes_have_one_output(problem):
    X, code = problem
    test = unweighted(X, code, one_vs_rest=True)
    assert test.statistic.shape == (1, X.shape[1])
    np.testing.assert_allclose(test.statistic[0], unweighted(X, code).statistic, **CLOSE)


@pytest.mark.parametrize("value", [0.0, 1.1, -1.7e308, 5e-324])
def test_constant_features_have_statistic_zero(value):
    X = np.full((10, 2), value)
    X[:, 1] = np.arange(10)
    test = unweighted(X, np.arange(10) % 2)
    assert test.statistic[0] == test.correlation[0] == 0.0
    assert test.pvalue[0] == 1.0
    assert test.statistic[1] > 0.0


@pytest.mark.parametrize("one_vs_rest", [False, True])
@pytest.mark.parametrize("n_bytes", [1, 3000])
def test_chunks_do_not_matter(n_bytes, one_vs_rest, rng, monkeypatch):
    X, code, weight = rng.normal(size=(20, 11)), rng.permutation(np.arange(20) % 3), rng.random(20)
    whole = independence_test(X, code, weight, one_vs_rest=one_vs_rest)
    monkeypatch.setattr(distance_correlation, "CHUNK_BYTES", n_bytes)
    assert_same(independence_test(X, code, weight, one_vs_rest=one_vs_rest), whole)


@pytest.mark.parametrize("unit", [1e300, 1.7e308, 1e-300, 1e-307])
def test_the_unit_does_not_matter_even_where_distances_overflow(unit, rng):
    X, code = rng.uniform(-1.0, 1.0, size=(30, 4)), np.arange(30) % 3
    assert_same(unweighted(X * unit, code), unweighted(X, code))


@given(
    arrays(float, (9, 3), elements=st.floats(allow_nan=False, allow_infinity=False)),
    st.permutations([0, 0, 0, 1, 1, 1, 2, 2, 2]),
)
def test_any_finite_values_give_finite_results(X, code):
    test = unweighted(X, np.array(code))
    assert np.isfinite(test.statistic).all()
    assert (test.statistic >= 0).all()
    assert ((test.correlation >= 0) & (test.correlation <= 1)).all()
    assert ((test.pvalue >= 0) & (test.pvalue <= 1)).all()


@pytest.mark.parametrize("significance", [0.5, 0.05, 0.001])
def test_the_threshold_is_the_statistic_whose_p_value_is_the_level(significance, rng):
    assert threshold(significance) == pytest.approx(stats.norm.ppf(1 - significance / 2) ** 2)
    test = unweighted(rng.normal(size=(40, 30)), np.arange(40) % 2)
    np.testing.assert_array_equal(test.pvalue < significance, test.statistic > threshold(significance))
