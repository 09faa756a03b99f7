"""Synthetic families: the same rows every time, the shares they promise, and something to learn."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import skew
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.metrics import log_loss, roc_auc_score

from paper import synthetic
from paper.synthetic import FAMILIES, N_TEST, N_TRAIN, best_possible, draw, sample

N_FEATURES = {
    "linear": 8,
    "correlated": 20,
    "pairs": 10,
    "curved": 6,
    "ball": 6,
    "islands": 6,
    "rules": 8,
    "checkerboard": 5,
    "thresholds": 8,
    "irrelevant": 60,
    "imbalance": 8,
    "label noise": 8,
    "periodic": 6,
    "three classes": 8,
}


def many(name, n_rows=20_000):
    """Rows with their probabilities."""
    return FAMILIES[name](np.random.default_rng(3), n_rows)


def test_at_least_a_dozen_and_each_documented():
    assert list(FAMILIES) == list(N_FEATURES)
    assert all(family.__doc__ for family in FAMILIES.values())


@pytest.mark.parametrize("name", FAMILIES)
def test_shapes_and_probabilities(name):
    X, probability = many(name, 500)
    assert X.shape == (500, N_FEATURES[name])
    assert np.isfinite(X).all()
    assert np.ptp(X, axis=0).min() > 0
    assert probability.shape == (500, 3 if name == "three classes" else 2)
    np.testing.assert_allclose(probability.sum(axis=1), 1)
    assert probability.min() >= 0


@pytest.mark.parametrize("name", FAMILIES)
def test_draws_are_fixed_and_differ(name):
    first, again, other = draw(name, 1), draw(name, 1), draw(name, 2)
    for one, two in zip(first, again, strict=True):
        np.testing.assert_array_equal(one, two)
    X_train, y_train, X_test, y_test = first
    assert (len(X_train), len(y_train), len(X_test), len(y_test)) == (N_TRAIN, N_TRAIN, N_TEST, N_TEST)
    assert not np.array_equal(X_train, other[0])
    assert not np.isin(X_train[:, 0], X_test[:, 0]).any()  # the first feature is never a whole number
    n_classes = 3 if name == "three classes" else 2
    assert np.bincount(y_train).min() >= 10
    assert len(np.unique(y_train)) == len(np.unique(y_test)) == n_classes


def test_first_rows_as_they_always_were():
    """Another value here means another study: old and new cells must not be mixed."""
    X, y, *_ = draw("linear", 0)
    assert y[:12].tolist() == [1, 1, 1, 0, 0, 0, 1, 0, 1, 0, 0, 1]
    np.testing.assert_allclose(X[0, :4], [60.92151200527, 1.58967768427, 7.0, 0.00010898193], rtol=1e-8)


def test_classes_are_drawn_from_the_probabilities(monkeypatch):
    share = np.array([0.2, 0.5, 0.3])
    monkeypatch.setitem(FAMILIES, "flat", lambda rng, n: (rng.random((n, 1)), np.tile(share, (n, 1))))
    _, y = sample("flat", np.random.default_rng(0), 40_000)
    np.testing.assert_allclose(np.bincount(y) / len(y), share, atol=0.01)


def test_scales_are_mixed():
    X, _ = many("linear")
    spread = X.std(axis=0)
    assert spread.max() / spread.min() > 1e4
    assert skew(X[:, 1]) > 1.5
    assert (X[:, 2] == np.rint(X[:, 2])).all()
    assert X[:, 2].min() >= 0


@pytest.mark.parametrize("j", range(4))
def test_standardised_features(j):
    _, u = synthetic.independent(np.random.default_rng(0), 100_000, 4)
    assert abs(u[:, j].mean()) < 0.02
    assert u[:, j].std() == pytest.approx(1, abs=0.03)


# ---- what each family promises


def test_imbalance_has_seven_per_cent():
    _, probability = many("imbalance")
    assert probability[:, 1].mean() == pytest.approx(0.07, abs=0.01)
    shares = [np.mean(draw("imbalance", k)[3]) for k in range(5)]
    assert np.mean(shares) == pytest.approx(0.07, abs=0.01)


@pytest.mark.parametrize("name", [name for name in FAMILIES if name != "imbalance"])
def test_other_families_are_balanced_enough(name):
    share = many(name)[1].mean(axis=0)
    assert share.min() > (0.15 if name == "three classes" else 0.35)


@pytest.mark.parametrize(("name", "sure"), [("label noise", 0.8), ("rules", 0.95), ("islands", 0.95)])
def test_share_of_flipped_labels(name, sure):
    rng = np.random.default_rng(3)
    X, y = sample(name, rng, 20_000)
    rows, probability = many(name)
    np.testing.assert_array_equal(X, rows)
    assert np.mean(probability.argmax(axis=1) != y) == pytest.approx(1 - sure, abs=0.01)
    assert best_possible(name)[0] == pytest.approx(sure)


def test_neighbours_are_correlated():
    X, _ = many("correlated")
    assert np.corrcoef(X[:, 0], X[:, 4])[0, 1] == pytest.approx(0.8**4, abs=0.03)
    assert np.corrcoef(X[:, 0], X[:, 3])[0, 1] > 0.4


def test_checkerboard_has_no_noise_and_no_single_feature_to_see_it_by():
    _, probability = many("checkerboard")
    assert set(np.unique(probability)) == {0.0, 1.0}
    assert best_possible("checkerboard") == (1.0, 0.0)


def test_irrelevant_features_do_not_matter():
    rng = np.random.default_rng(0)
    X, probability = FAMILIES["irrelevant"](rng, 20_000)
    log_odds = np.log(probability[:, 1] / probability[:, 0])
    u = (X - X.mean(axis=0)) / X.std(axis=0)
    effect = np.abs(np.column_stack([u, u**2]).T @ (log_odds - log_odds.mean())) / len(u)
    assert set(np.flatnonzero(effect[:60] > 0.15)) <= {0, 1, 3}
    assert effect[[0, 1, 63]].min() > 0.8


# ---- something to learn


@pytest.mark.parametrize("name", FAMILIES)
def test_trees_find_the_structure_and_do_not_beat_the_truth(name):
    X_train, y_train, X_test, y_test = draw(name, 0)
    trees = ExtraTreesClassifier(60, min_samples_leaf=3, random_state=0).fit(X_train, y_train)
    probability = trees.predict_proba(X_test)
    area = roc_auc_score(y_test, probability[:, 1] if probability.shape[1] == 2 else probability, multi_class="ovr")
    assert area > 0.7
    accuracy, loss = best_possible(name)
    assert trees.score(X_test, y_test) < accuracy + 0.02
    assert log_loss(y_test, probability) > loss


@pytest.mark.parametrize("name", FAMILIES)
def test_best_possible_is_what_the_truth_reaches(name):
    _, y = sample(name, np.random.default_rng(3), 20_000)
    probability = many(name)[1]
    accuracy, loss = best_possible(name)
    assert np.mean(probability.argmax(axis=1) == y) == pytest.approx(accuracy, abs=0.012)
    of_truth = probability[np.arange(len(y)), y]
    assert -np.mean(np.log(of_truth)) == pytest.approx(loss, abs=0.02)
