"""Cross-validation against scikit-learn's own, and what it must not do."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, StratifiedKFold, StratifiedShuffleSplit, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rfsc import RFSCClassifier, SearchSettings
from rfsc.report import Report, cross_validated, default_baselines
from rfsc.report.honest_score import HonestScore, MethodScore, aligned, on_given_rows

from .conftest import QUICK

TINY = QUICK | {"n_restarts": 1, "search": SearchSettings(max_iter=2)}


def test_scores_are_those_of_scikit_learn_on_the_same_folds(two_classes):
    clf, X, y = two_classes
    folds = StratifiedKFold(3, shuffle=True, random_state=5)
    plain = {"logistic": LogisticRegression()}
    score = cross_validated(clf, X, y.to_numpy(), clf.classes_, cv=folds, baselines=plain)
    for method, estimator in zip(score.methods, (clf, LogisticRegression()), strict=True):
        wanted = cross_validate(estimator, X, y, cv=folds, scoring=["accuracy", "roc_auc", "neg_log_loss"])
        np.testing.assert_allclose(method.values[:, 0], wanted["test_accuracy"])
        np.testing.assert_allclose(method.values[:, 2], wanted["test_roc_auc"])
        np.testing.assert_allclose(method.values[:, 3], -wanted["test_neg_log_loss"], rtol=1e-6)
    assert [method.name for method in score.methods] == ["RFSC", "logistic"]
    assert score.code.shape == (300,)
    assert score.figures()["accuracy"] == pytest.approx((score.proba.argmax(axis=1) == score.code).mean())


def test_few_rows_are_divided_several_times_and_every_prediction_counts():
    X, y = load_iris(return_X_y=True)
    clf = RFSCClassifier(**TINY)
    score = cross_validated(clf, X, y, np.unique(y))
    assert (score.n_folds, score.n_repeats, score.n_rows) == (15, 3, 150)
    assert len(score.code) == 450
    np.testing.assert_array_equal(score.code[:150], y)
    assert score.weight.sum() == pytest.approx(150)
    assert len(score.sizes) == 15


def test_the_smallest_class_limits_the_number_of_folds():
    y = np.array([0] * 30 + [1] * 3)
    X = np.random.default_rng(0).normal(size=(33, 2))
    clf = RFSCClassifier(**TINY)
    score = cross_validated(clf, X, y, np.unique(y))
    assert score.n_folds == 3 * 3
    with pytest.raises(ValueError, match=r"smallest class, which is 3, got 4"):
        cross_validated(clf, X, y, np.unique(y), cv=4)
    with pytest.raises(ValueError, match="cv must be 'auto'"):
        cross_validated(clf, X, y, np.unique(y), cv="five")


def test_baselines_come_after_the_same_preprocessing():
    X, y = load_iris(return_X_y=True)
    X = X.copy()
    X[::7, 0] = np.nan
    seen = []

    class Spy(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            seen.append(np.isnan(X).sum())
            self.classes_ = np.unique(y)
            return self

        def predict_proba(self, X):
            return np.full((len(X), 3), 1 / 3)

    from sklearn.impute import SimpleImputer

    pipeline = make_pipeline(SimpleImputer(), RFSCClassifier(**TINY))
    cross_validated(pipeline, X, y, np.unique(y), cv=StratifiedKFold(2), baselines={"spy": Spy()})
    assert seen == [0, 0]


def test_clones_are_silent_and_warnings_are_counted(two_classes, capsys):
    _, X, y = two_classes
    seen_records = []
    noisy = RFSCClassifier(**TINY, verbose=1, callbacks=seen_records.append)

    class Warns(LogisticRegression):
        def fit(self, X, y):
            import warnings

            warnings.warn("not yet", ConvergenceWarning, stacklevel=1)
            return super().fit(X, y)

    said = []
    score = cross_validated(
        noisy, X, y.to_numpy(), np.unique(y), cv=StratifiedKFold(2), baselines={"w": Warns()}, progress=said.append
    )
    assert seen_records == []
    assert capsys.readouterr().err == ""
    assert score.methods[1].n_warned == 2
    assert said[-1] == "cross-validation: w, fold 2 of 2"


def test_classes_missing_in_a_fold_get_probability_zero():
    X = np.arange(12.0)[:, None]
    y = np.repeat(["a", "b", "c"], 4)
    folds = list(GroupKFold(3).split(X, y, groups=y))
    score = cross_validated(LogisticRegressionLike(), X, y, np.unique(y), cv=folds)
    assert score.proba.shape == (12, 3)
    np.testing.assert_allclose(score.proba.sum(axis=1), 1.0)
    assert score.figures()["accuracy"] == 0.0


class LogisticRegressionLike(LogisticRegression):
    """Has the models that sizes are read from."""

    models_ = ()


def test_columns_are_put_in_the_order_of_all_classes():
    proba = np.array([[0.2, 0.8]])
    np.testing.assert_array_equal(aligned(proba, np.array(["a", "c"]), np.array(["a", "b", "c"])), [[0.2, 0.0, 0.8]])


def test_difference_has_the_interval_of_nadeau_and_bengio(rng):
    ours, other = rng.random((6, 5)), rng.random((6, 5))
    methods = (MethodScore("RFSC", ours, 1.0), MethodScore("b", other, 1.0))
    score = HonestScore("cross-validation", 6, 1, 1, methods, np.zeros(1, int), np.ones((1, 2)), test_share=0.25)
    gain, half_width = score.difference(methods[1])
    by_hand = [other[k, 0] - ours[k, 0] for k in range(6)]
    variance = sum((d - np.mean(by_hand)) ** 2 for d in by_hand) / 5
    assert gain[0] == pytest.approx(np.mean(by_hand))
    assert half_width[0] == pytest.approx(stats.t.ppf(0.975, 5) * np.sqrt((1 / 6 + 0.25) * variance))
    assert gain[3] == pytest.approx(np.mean(ours[:, 3] - other[:, 3]))  # a smaller loss is better


def test_given_rows_are_scored_beside_the_class_shares(rng):
    code = (rng.random(200) < 0.3).astype(int)
    p = np.clip(0.3 + 0.4 * (code - 0.3) + 0.2 * rng.normal(size=200), 0.01, 0.99)
    score = on_given_rows(np.column_stack([1 - p, p]), code)
    assert not score.is_honest
    assert score.figures()["accuracy"] == ((p > 0.5) == code).mean()
    majority = score.methods[1]
    assert majority.mean[0] == max((code == 0).mean(), (code == 1).mean())
    # the spread of a share is known
    accuracy = score.figures()["accuracy"]
    assert score.methods[0].spread[0] == pytest.approx(np.sqrt(accuracy * (1 - accuracy) / 200), rel=0.3)
    assert np.isinf(score.difference(majority)[1]).all()


def test_default_baselines_are_known_methods_that_can_be_cloned():
    found = default_baselines(3)
    assert list(found) == ["majority class", "logistic regression", "random forest", "gradient boosting"]
    assert isinstance(found["logistic regression"][0], StandardScaler)
    assert found["random forest"].random_state == 3


def test_a_single_fold_has_the_spread_of_its_rows(two_classes):
    clf, X, y = two_classes
    folds = StratifiedShuffleSplit(1, test_size=0.4, random_state=0)
    score = cross_validated(clf, X, y.to_numpy(), clf.classes_, cv=folds)
    assert (score.n_folds, len(score.code)) == (1, 120)
    accuracy = score.figures()["accuracy"]
    assert score.methods[0].spread[0] == pytest.approx(np.sqrt(accuracy * (1 - accuracy) / 120), rel=0.3)
    report = Report.from_estimator(clf, X, y, cv=score)
    assert "without 120 rows" in report.html()


@pytest.mark.parametrize("folds", [StratifiedShuffleSplit(1, test_size=0.4, random_state=0), 2, 5])
def test_better_than_the_class_shares_by_any_number_of_folds(rng, folds):
    X = rng.normal(size=(400, 2))
    for y, is_better in ((X[:, 0] > 0, True), (rng.random(400) > 0.5, False)):
        score = cross_validated(LogisticRegression(), X, y, np.array([False, True]), cv=folds)
        assert score.beats_majority == is_better


def test_methods_of_a_single_fold_are_compared_by_resamples(rng):
    X = rng.normal(size=(400, 2))
    folds = StratifiedShuffleSplit(1, test_size=0.4, random_state=0)
    others = {"same": LogisticRegression(), "majority class": default_baselines()["majority class"]}
    score = cross_validated(LogisticRegression(), X, X[:, 0] > 0, np.array([False, True]), cv=folds, baselines=others)
    (same, width), (gain, half_width) = map(score.difference, score.methods[1:])
    assert not same.any()
    assert not width.any()
    assert (gain + half_width < 0).all()


def test_unknown_labels_are_refused(two_classes):
    clf, X, y = two_classes
    with pytest.raises(ValueError, match="not among the 2 classes"):
        cross_validated(clf, X, y.to_numpy(), np.array(["ill", "other"]))


class Taught(LogisticRegression):
    """Logistic regression that remembers the groups and weights of its fits."""

    lessons: ClassVar = []

    def fit(self, X, y, sample_weight=None, groups=None):
        self.lessons.append((groups, sample_weight))
        return super().fit(X, y, sample_weight)


def test_groups_and_weights_reach_every_fit_and_the_scores(rng):
    X, groups = rng.normal(size=(120, 2)), np.repeat(np.arange(40), 3)
    y, weight = X[:, 0] + rng.normal(size=120) > 0, rng.integers(0, 3, 120).astype(float)
    Taught.lessons = []
    pipeline = make_pipeline(StandardScaler(), Taught())
    score = cross_validated(pipeline, X, y, np.unique(y), sample_weight=weight, groups=groups, baselines={})
    assert score.folds_of == "groups"
    assert len(Taught.lessons) == 5
    left_out = [set(groups) - set(own) for own, _ in Taught.lessons]
    assert sorted(g for own in left_out for g in own) == list(range(40))
    assert sum(own.sum() for _, own in Taught.lessons) == 4 * weight.sum()
    assert score.weight.sum() == weight.sum()


def test_groups_that_cannot_be_split(rng):
    X, y = rng.normal(size=(40, 2)), np.arange(40) < 10
    groups = np.where(y, 0, np.arange(40))
    with pytest.raises(ValueError, match=r"groups cannot be split into 2 folds .* in 1 groups"):
        cross_validated(LogisticRegression(), X, y, np.unique(y), groups=groups)
