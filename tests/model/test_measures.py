"""AUC, calibration and log-loss beside statsmodels, scikit-learn and brute force."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.special import expit, logit
from sklearn.metrics import log_loss, roc_auc_score

from rfsc._model.measures import AUC, LOG_LOSS, auc, calibration_intercept, calibration_slope, figures_of


@pytest.fixture(params=[0, 1, 2])
def predictions(request):
    """What happened, and probabilities that are too extreme and too low, in steps so that there are ties."""
    rng = np.random.default_rng(request.param)
    f = rng.normal(0, 2, 300)
    return rng.random(300) < expit(0.4 * f + 0.7), expit(f).round(2).clip(0.001, 0.999)


def test_calibration_is_that_of_statsmodels(predictions):
    happened, p = predictions
    family = sm.families.Binomial()
    whole = sm.GLM(happened.astype(float), np.ones(300), family=family, offset=logit(p)).fit(tol=1e-12)
    assert calibration_intercept(happened, p) == pytest.approx((whole.params[0], whole.bse[0]), rel=1e-6)
    line = sm.GLM(happened.astype(float), sm.add_constant(logit(p)), family=family).fit(tol=1e-12)
    assert calibration_slope(happened, p) == pytest.approx((line.params[1], line.bse[1]), rel=1e-6)


def test_extreme_predictions_converge():
    rng = np.random.default_rng(3)
    happened, p = rng.random(200) < 0.5, np.where(rng.random(200) < 0.5, 1e-15, 1 - 1e-15)
    line = sm.GLM(happened.astype(float), sm.add_constant(logit(p)), family=sm.families.Binomial()).fit(tol=1e-12)
    assert calibration_slope(happened, p) == pytest.approx((line.params[1], line.bse[1]), rel=1e-6)


def test_what_rows_do_not_tell_is_unknown():
    p = np.linspace(0.1, 0.9, 20)
    assert calibration_slope(p > 0.5, p) == (None, None)
    assert calibration_slope(p > 0.5, np.full(20, 0.3)) == (None, None)
    assert calibration_intercept(np.ones(20, dtype=bool), p) == (None, None)
    assert auc(np.arange(20) == 3, p) == (None, None)


def test_auc_and_its_error_by_all_pairs(predictions):
    happened, p = predictions
    wins = (p[happened][:, None] > p[~happened]) + 0.5 * (p[happened][:, None] == p[~happened])
    variance = wins.mean(axis=1).var(ddof=1) / happened.sum() + wins.mean(axis=0).var(ddof=1) / (~happened).sum()
    assert auc(happened, p) == pytest.approx((roc_auc_score(happened, p), np.sqrt(variance)), rel=1e-12)


def test_error_of_auc_is_its_spread_over_samples():
    rng, found = np.random.default_rng(5), []
    for _ in range(400):
        f = rng.normal(0, 1.5, 150)
        found.append(auc(rng.random(150) < expit(f), expit(f)))
    values, errors = np.array(found).T
    assert errors.mean() == pytest.approx(values.std(), rel=0.1)


def test_figures_of_three_classes():
    rng = np.random.default_rng(0)
    proba = rng.dirichlet([1, 1, 1], 200)
    code = np.array([rng.choice(3, p=p) for p in proba])
    found = {(one.measure, one.label): one.value for one in figures_of(code, proba, ["a", "b", "c"])}
    assert len(found) == 1 + 3 * 3
    assert found[LOG_LOSS, ""] == pytest.approx(log_loss(code, proba))
    assert found[AUC, "c"] == pytest.approx(roc_auc_score(code == 2, proba[:, 2]))
