"""The test of a unit on unseen rows: its oracle, its laws, passengers and proxies."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import statsmodels.api as sm
from firthmodels import FirthLogisticRegression
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, chi2, t
from sklearn.metrics import roc_auc_score

from rfsc._terms import monomial
from rfsc._terms.expression import Condition, Positive, Scaled, minus, product
from rfsc._terms.radial import bump
from rfsc._terms.term import Term
from rfsc.certify.halves import auc_p_value
from rfsc.certify.unit_tests import UnseenRows, feature_p_value, score_test, shape, term_p_value


def unseen(table, f, rng, clusters=(), weight=None):
    """Rows whose log-odds are f."""
    n_rows = table.shape[1]
    target = np.where(f + rng.logistic(size=n_rows) > 0.0, 1.0, -1.0)
    cluster_of = [next((own for own in clusters if j in own), j) for j in range(len(table))]
    return UnseenRows(table, target, np.ones(n_rows) if weight is None else weight, cluster_of)


@pytest.mark.parametrize("n_tested", [1, 3])
def test_score_test_is_that_of_statsmodels(rng, n_tested):
    table = rng.random((6, 300))
    rows = unseen(table, 3.0 * table[0] - 1.5, rng)
    beside, tested = np.vstack([np.ones(300), table[:2]]), table[2 : 2 + n_tested]
    fit = sm.GLM((rows.target > 0).astype(float), beside.T, family=sm.families.Binomial()).fit(tol=1e-12)
    p_value = float(np.squeeze(fit.score_test(exog_extra=tested.T)[1]))
    worth = 4.0 * np.sum(fit.fittedvalues * (1.0 - fit.fittedvalues))
    corrected = chi2.sf((1.0 - (3 + n_tested) / worth) * chi2.isf(p_value, n_tested), n_tested)
    assert score_test(beside, tested, rows) == pytest.approx(corrected, rel=1e-3)


def test_score_test_beside_firth(rng):
    """Without an effect the two agree; with one, ours is the more careful (Firth's is a likelihood ratio)."""
    for slope in (0.0, 6.0):
        found = []
        for _ in range(10):
            table = rng.random((4, 60))
            rows = unseen(table, slope * (table[0] + table[1] - 1.0), rng)
            ours = score_test(np.vstack([np.ones(60), table[1:]]), table[:1], rows)
            firth = FirthLogisticRegression(max_iter=200).fit(table.T, rows.target).lrt(features=[0])
            found.append(np.log10(ours) - np.log10(firth.lrt_pvalues_[0]))
        assert min(found) > -0.05
        assert slope > 0.0 or np.median(found) < 0.02


@pytest.mark.parametrize("n_beside", [2, 12])
def test_score_test_keeps_its_level(rng, n_beside):
    p_values = []
    for _ in range(400):
        table = rng.random((n_beside + 2, 80))
        rows = unseen(table, 3.0 * table[0] - 1.5, rng)
        p_values.append(score_test(np.vstack([np.ones(80), table[:-2]]), table[-2:], rows))
    assert 0.02 < np.mean(np.array(p_values) <= 0.05) < 0.08


def test_combinations_of_other_columns_are_not_tested(rng):
    table = rng.random((4, 200))
    rows = unseen(table, 4.0 * table[2] - 2.0, rng)
    beside = np.vstack([np.ones(200), table[0], table[1], table[0] + table[1]])
    assert score_test(beside, (table[0] - 2.0 * table[1])[None], rows) == 1.0
    once = score_test(beside, table[2][None], rows)
    assert score_test(beside, np.vstack([table[2], 1.0 - table[2], table[0]]), rows) == pytest.approx(once, rel=1e-6)


def test_separated_classes_have_a_small_p_value(rng):
    table = np.sort(rng.random((1, 60)))
    rows = UnseenRows(table, np.where(table[0] > 0.5, 1.0, -1.0), np.ones(60), range(len(table)))
    assert score_test(np.ones((1, 60)), table, rows) < 1e-6


def test_nearly_separated_classes_keep_the_level(rng):
    p_values = []
    for _ in range(300):
        table = rng.random((12, 150))
        rows = unseen(table, 30.0 * (table[0] + table[1] - 1.0), rng)
        p_values.append(score_test(np.vstack([np.ones(150), table[:-1]]), table[-1:], rows))
    assert np.mean([p is not None and p <= 0.05 for p in p_values]) < 0.08


@given(seed=st.integers(0, 2**32 - 1))
def test_order_of_rows_and_terms_and_repeated_rows_do_not_matter(seed):
    rng = np.random.default_rng(seed)
    table = rng.random((5, 120))
    rows = unseen(table, 3.0 * table[0] + 3.0 * table[1] * table[2] - 2.0, rng)
    terms = [monomial([]), monomial([0]), monomial([1, 2]), monomial([3, 4])]
    first = feature_p_value(frozenset({1}), terms, rows)
    order = rng.permutation(120)
    moved = UnseenRows(table[:, order], rows.target[order], rows.weight[order], range(5))
    assert 0.0 <= first <= 1.0
    assert feature_p_value(frozenset({1}), terms[::-1], moved) == pytest.approx(first, rel=1e-6)
    weight = rng.integers(1, 3, size=120)
    heavy = UnseenRows(table, rows.target, weight.astype(float), range(5))
    twice = UnseenRows(
        np.repeat(table, weight, axis=1), np.repeat(rows.target, weight), np.ones(weight.sum()), range(5)
    )
    assert feature_p_value(frozenset({1}), terms, heavy) == pytest.approx(
        feature_p_value(frozenset({1}), terms, twice), rel=1e-6
    )


def test_what_the_model_does_not_read_has_p_value_1(rng):
    table = rng.random((3, 100))
    assert feature_p_value(frozenset({2}), [monomial([0])], unseen(table, 4.0 * table[0] - 2.0, rng)) == 1.0


def test_passenger_has_to_beat_the_product_without_it(rng):
    table = rng.random((2, 400))
    rows = unseen(table, 5.0 * table[0] - 2.5, rng)
    product_of_both = [monomial([]), monomial([0, 1])]
    assert score_test(np.ones((1, 400)), (table[0] * table[1])[None], rows) < 1e-6  # the product itself is useful
    assert feature_p_value(frozenset({0}), product_of_both, rows) < 1e-6
    assert feature_p_value(frozenset({1}), product_of_both, rows) > 0.01
    assert term_p_value(product_of_both[1:], product_of_both, rows) > 0.01


def test_bend_and_step_have_to_beat_a_straight_effect(rng):
    table = rng.random((2, 600))
    bend, step = Term(Positive(minus(Scaled(0), 0.4))), Term(Condition(Scaled(0), ">", 0.4))
    straight, bent = 5.0 * table[0] - 2.5, 9.0 * np.maximum(table[0] - 0.4, 0.0) - 1.5
    for term in (bend, step):
        terms = [monomial([]), term]
        assert term_p_value([term], terms, unseen(table, straight, rng)) > 0.01
        assert feature_p_value(frozenset({0}), terms, unseen(table, straight, rng)) < 1e-6
    assert term_p_value([bend], [monomial([]), bend], unseen(table, bent, rng)) < 0.01
    indicator = np.array([table[0] > 0.5, table[1]], dtype=float)
    rows = unseen(indicator, 3.0 * indicator[0] - 1.5, rng)
    assert term_p_value([step], [monomial([]), step], rows) < 1e-6  # of two values every function is straight


def test_feature_of_a_radial_term_has_to_beat_the_distance_without_it(rng):
    table = rng.random((5, 600))
    bumps = [Term(bump(range(5), [0.3, 0.7, *table[2:, k]], 0.6)) for k in range(2)]
    rows = unseen(table, 9.0 * np.exp(-(((table[:2] - [[0.3], [0.7]]) / 0.5) ** 2).sum(axis=0)) - 5.0, rng)
    p_values = [feature_p_value(frozenset({j}), bumps, rows) for j in range(5)]
    assert max(p_values[:2]) < 0.01
    assert min(p_values[2:]) > 0.01
    assert feature_p_value(frozenset(range(5)), bumps, rows) < 1e-6


def test_proxy_has_to_beat_the_members_of_its_cluster(rng):
    z = rng.normal(size=400)
    table = np.array([z, z + 0.3 * rng.normal(size=400), rng.normal(size=400)])
    table -= table.min(axis=1, keepdims=True)
    table /= table.max(axis=1, keepdims=True)
    rows = unseen(table, 8.0 * table[0] - 4.0, rng, clusters=[frozenset({0, 1})])
    terms = [monomial([]), monomial([1])]
    assert feature_p_value(frozenset({0, 1}), terms, rows) < 1e-6
    assert feature_p_value(frozenset({1}), terms, rows) > 0.01
    assert term_p_value(terms[1:], terms, rows) > 0.01


def test_too_few_rows_for_all_columns_say_nothing(rng):
    table = rng.random((8, 40))
    f = 40.0 * table[0] - 20.0
    terms = [monomial([]), monomial([0])]
    assert feature_p_value(frozenset({0}), terms, unseen(table, f, rng)) < 1e-3
    assert feature_p_value(frozenset({0}), terms, unseen(table, f, rng, clusters=[frozenset(range(8))])) is None
    assert term_p_value(terms[1:], terms, unseen(table[:, :4], f[:4], rng)) is None


def test_rows_that_are_certain_without_the_unit_say_nothing(rng):
    table = np.vstack([np.sort(rng.random(60)), rng.random((1, 60))])
    target = np.where(table[0] > 0.5, 1.0, -1.0)
    rows = UnseenRows(table, target, np.ones(60), range(len(table)))
    assert score_test(np.vstack([np.ones(60), 1e4 * (table[0] - 0.5)]), table[1:], rows) is None


def test_shape_knows_all_but_the_numbers():
    x, y = Scaled(0), Scaled(1)
    assert shape(product(minus(x, 0.2), minus(y, 0.7))) == shape(product(minus(x, 0.3), minus(y, 0.5)))
    assert shape(Condition(x, ">", 0.2)) == shape(Condition(x, ">", 0.4)) != shape(Condition(x, "<=", 0.2))
    assert shape(Condition(x, "=", 0.0)) != shape(Condition(x, "=", 1.0))
    assert shape(Term(x).expression) != shape(Term(y).expression)


def visits(rng, n_subjects=60, n_features=4, *, same_class=True):
    """Rows of subjects whose features and classes are alike; the log-odds rise with the first feature."""
    subject = np.repeat(np.arange(n_subjects), rng.integers(1, 7, size=n_subjects))
    own, common = rng.normal(size=(n_features, subject.size)), rng.normal(size=(n_features, n_subjects))[:, subject]
    table = 0.9 * common + 0.4 * own
    noise = 4.0 * rng.normal(size=n_subjects)[subject] if same_class else rng.logistic(size=subject.size)
    target = np.where(2.0 * table[0] + noise > 0.0, 1.0, -1.0)
    return UnseenRows(table, target, np.ones(subject.size), range(n_features), subject)


def test_score_test_of_groups_is_that_of_generalised_estimating_equations(rng):
    rows = visits(rng)
    n, n_groups = rows.target.size, rows.n_groups
    beside, tested = np.vstack([np.ones(n), rows.table[:2]]), rows.table[2:]
    y = (rows.target > 0).astype(float)
    small, large = (
        sm.GEE(y, columns.T, groups=rows.groups, family=sm.families.Binomial()).fit(ctol=1e-12)
        for columns in (beside, np.vstack([beside, tested]))
    )
    statistic = large.model.compare_score_test(small)["statistic"]
    worth = 4.0 * np.sum(small.fittedvalues * (1.0 - small.fittedvalues)) * n_groups / n
    expected = beta.sf((1.0 - 5.0 / worth) * statistic / n_groups, 1.0, (n_groups - 2) / 2.0)
    assert score_test(beside, tested, rows) == pytest.approx(expected, rel=1e-3)


def test_groups_keep_the_level_where_rows_do_not(rng):
    p_values = []
    for _ in range(300):
        rows = visits(rng)
        beside = np.vstack([np.ones(rows.target.size), rows.table[:2]])
        alone = replace(rows, groups=None)
        p_values.append([score_test(beside, rows.table[2:], own) for own in (rows, alone)])
    in_groups, alone = np.mean(np.array(p_values) <= 0.05, axis=0)
    assert in_groups < 0.08
    assert alone > 0.2


@given(seed=st.integers(0, 2**32 - 1))
def test_names_of_groups_and_order_of_rows_do_not_matter(seed):
    rng = np.random.default_rng(seed)
    rows = visits(rng, same_class=False)
    order, name = rng.permutation(rows.target.size), rng.permutation(rows.n_groups)
    moved = replace(rows, table=rows.table[:, order], target=rows.target[order], groups=name[rows.groups[order]])
    terms = [monomial([]), monomial([0]), monomial([1])]
    assert feature_p_value(frozenset({1}), terms, moved) == pytest.approx(
        feature_p_value(frozenset({1}), terms, rows), rel=1e-6
    )
    assert auc_p_value(moved.table[0], moved) == pytest.approx(auc_p_value(rows.table[0], rows), rel=1e-9)


def test_auc_of_groups_by_its_definition(rng):
    """Pairs of rows are compared one by one; every group's part in the AUC varies around its mean."""
    rows = visits(rng)
    predicted = np.round(rows.table[0], 1)  # with ties
    upper, lower = (np.flatnonzero(rows.target == sign) for sign in (1.0, -1.0))
    wins = (predicted[upper, None] > predicted[lower]) + 0.5 * (predicted[upper, None] == predicted[lower])
    auc = roc_auc_score(rows.target, predicted)
    part = np.zeros(rows.n_groups)
    np.add.at(part, rows.groups[upper], (wins.mean(axis=1) - auc) / upper.size)
    np.add.at(part, rows.groups[lower], (wins.mean(axis=0) - auc) / lower.size)
    error = np.sqrt(rows.n_groups / (rows.n_groups - 1) * np.square(part).sum())
    assert auc_p_value(predicted, rows) == pytest.approx(t.sf((auc - 0.5) / error, rows.n_groups - 1), rel=1e-9)
    assert auc_p_value(predicted, rows) > 10.0 * auc_p_value(predicted, replace(rows, groups=None))


def test_too_few_groups_say_nothing(rng):
    rows = visits(rng, n_subjects=14)
    terms = [monomial([]), monomial([0]), monomial([1]), monomial([2])]
    assert feature_p_value(frozenset({1}), terms, rows) is None
    assert feature_p_value(frozenset({1}), terms, replace(rows, groups=None)) is not None
