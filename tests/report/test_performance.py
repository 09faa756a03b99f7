"""ROC, calibration, thresholds and net benefit against scikit-learn, statsmodels, resampling and counting."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.special import expit, logit
from sklearn.metrics import precision_score, recall_score, roc_auc_score

from rfsc.report.performance import Outcomes, performance


def outcomes_of(event, probability, weight):
    return Outcomes(event, probability, np.ones(event.size) if weight is None else weight)


@pytest.fixture(params=["plain", "weighted"])
def outcomes(request):
    rng = np.random.default_rng(0)
    x = rng.normal(size=400)
    event, probability = rng.random(400) < expit(x - 0.3), expit(1.5 * x).round(2).clip(0.01, 0.99)
    return outcomes_of(event, probability, None if request.param == "plain" else rng.integers(1, 5, 400).astype(float))


def repeated(outcomes):
    """The same rows, as often as their weights say."""
    times = outcomes.weight.astype(int)
    return np.repeat(outcomes.event, times), np.repeat(outcomes.probability, times)


def test_auc(outcomes):
    assert outcomes.auc()[0] == pytest.approx(roc_auc_score(*repeated(outcomes)))


def test_interval_of_the_auc_is_that_of_resampled_rows(outcomes):
    rng = np.random.default_rng(1)
    n, found = outcomes.event.size, []
    for rows in (rng.integers(n, size=n) for _ in range(1000)):
        weight = outcomes.weight[rows]
        found.append(roc_auc_score(outcomes.event[rows], outcomes.probability[rows], sample_weight=weight))
    np.testing.assert_allclose(outcomes.auc()[1:], np.quantile(found, [0.025, 0.975]), atol=0.012)


def test_interval_by_delong_written_out():
    rng = np.random.default_rng(2)
    event, p = rng.random(60) < 0.4, rng.random(60).round(1)
    own, others = p[event], p[~event]
    wins = (own[:, None] > others) + 0.5 * (own[:, None] == others)
    variance = wins.mean(axis=1).var(ddof=1) / own.size + wins.mean(axis=0).var(ddof=1) / others.size
    area = wins.mean()
    ends = expit(logit(area) + np.array([-1, 1]) * 1.959963985 * np.sqrt(variance) / (area * (1 - area)))
    np.testing.assert_allclose(outcomes_of(event, p, None).auc(), [area, *ends])


def test_interval_is_no_narrower_if_the_same_rows_are_predicted_repeatedly(outcomes):
    rows = (np.tile(values, 3) for values in (outcomes.event, outcomes.probability, outcomes.weight / 3))
    np.testing.assert_allclose(Outcomes(*rows, n_repeats=3).auc(), outcomes.auc(), rtol=1e-3)


def test_interval_is_that_of_the_groups_if_all_their_rows_are_alike(outcomes):
    rows = [np.repeat(values, 4) for values in (outcomes.event, outcomes.probability, outcomes.weight)]
    groups = np.repeat(np.arange(outcomes.event.size), 4)
    width = {
        which: np.ptp(one.auc()[1:])
        for which, one in {
            "rows": outcomes,
            "blind": Outcomes(*rows),
            "grouped": Outcomes(*rows, groups=groups),
        }.items()
    }
    assert width["blind"] == pytest.approx(width["rows"] / 2, rel=0.05)
    assert width["grouped"] == pytest.approx(width["rows"], rel=0.2)  # a hundred resamples


def test_calibration_is_that_of_statsmodels(outcomes):
    event, log_odds = outcomes.event.astype(float), logit(outcomes.probability)
    options = {"family": sm.families.Binomial(), "freq_weights": outcomes.weight}
    slope = sm.GLM(event, sm.add_constant(log_odds), **options).fit().params[1]
    intercept = sm.GLM(event, np.ones(event.size), offset=log_odds, **options).fit().params[0]
    np.testing.assert_allclose(outcomes.calibration(), [slope, intercept], rtol=1e-6)


def test_thresholds_and_net_benefit_by_counting(outcomes):
    event, probability = repeated(outcomes)
    for row in performance(outcomes, "ill")["thresholds"]:
        t = row["threshold"]
        called = probability >= t
        assert row["called"] == pytest.approx(called.mean())
        assert row["sensitivity"] == pytest.approx(recall_score(event, called))
        assert row["specificity"] == pytest.approx(recall_score(~event, ~called))
        assert row["ppv"] == pytest.approx(precision_score(event, called))
        assert row["npv"] == pytest.approx(precision_score(~event, ~called))
        benefit = sum(1.0 if e else -t / (1 - t) for e, c in zip(event, called, strict=True) if c) / event.size
        assert row["net_benefit"] == pytest.approx(benefit)
    curve = outcomes.decision_curve()
    everybody = outcomes_of(outcomes.event, np.ones(event.size)[: outcomes.event.size], outcomes.weight)
    np.testing.assert_allclose(curve["all"], everybody.decision_curve()["model"], atol=1e-4)


def test_the_area_under_the_points_of_the_curve_is_the_auc(outcomes):
    points = outcomes.roc()
    area = np.trapezoid(points["true_positive_rate"], points["false_positive_rate"])
    assert area == pytest.approx(outcomes.auc()[0], abs=0.002)
    assert [points[name][end] for name in points for end in (0, -1)] == [0.0, 1.0, 0.0, 1.0]


def test_what_is_not_known_is_nan():
    sure = outcomes_of(np.arange(20) > 9, np.repeat([0.1, 0.9], 10), None)
    assert sure.auc()[0] == pytest.approx(1.0)
    assert np.isnan(sure.auc()[1:]).all()
    assert np.isnan(sure.calibration()[0])
    assert np.isnan(sure.at(0.95)["ppv"])
    assert np.isnan(outcomes_of(np.ones(9, dtype=bool), np.full(9, 0.5), None).auc()).all()
