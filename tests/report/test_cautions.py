"""Every caution: found in data that call for it, and not in others."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from rfsc import RFSCClassifier, SearchSettings
from rfsc._model import Evidence, SparseModel
from rfsc._model.predictor import Predictor
from rfsc._terms import monomial
from rfsc._terms.scaling import Scaling
from rfsc.report.cautions import LEVELS, find_cautions
from rfsc.report.honest_score import cross_validated, default_baselines, on_given_rows
from rfsc.report.subject import Subject, summarize_columns

from .conftest import QUICK


def rows(n=400, seed=0):
    """Three features; the class depends on the first two and chance."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 3)), columns=["a", "b", "c"])
    y = np.where(X["a"] + X["b"] + rng.logistic(size=n) > 0, "yes", "no")
    return X, y


def model_of(X, factors=((0,), (1,)), **changes):
    """A model by hand, whose search was stable and settled."""
    terms = tuple(monomial(f) for f in factors)
    evidence = Evidence(
        n_candidates=10,
        score="loo_log_loss",
        terms=terms,
        feature_names=tuple(X.columns),
        selected=np.ones((4, len(terms)), dtype=bool),
        rip=np.ones((4, len(terms))),
        stop_reasons=("converged",) * 4,
    )
    fields = {
        "terms": terms,
        "coef": np.full(len(terms), 6.0),
        "standard_error": np.full(len(terms), 1.0),
        "scaling": Scaling.from_rows(X.to_numpy()),
        "feature_names": tuple(X.columns),
        "label": "yes",
        "n_observations": float(len(X)),
        "score": 0.6,
        "evidence": evidence,
    }
    return SparseModel(**fields | changes)


def cautions_of(model, X, y, score=None):
    models = model if isinstance(model, list) else [model]
    classes = np.unique(y) if len(models) > 1 else np.array(["no", "yes"])
    subject = Subject.read(Predictor(models, classes), X, y)
    score = replace(on_given_rows(subject.proba, subject.code), how="cross-validation") if score is None else score
    found = find_cautions(subject, summarize_columns(X), score)
    return {caution.key: caution for caution in found}


def test_a_sound_model_has_no_cautions():
    X, y = rows()
    low, span = X.min(), X.max() - X.min()
    coef = np.array([low["a"] + low["b"], span["a"], span["b"]])
    assert cautions_of(model_of(X, ((), (0,), (1,)), coef=coef), X, y) == {}


def test_scores_of_given_rows_may_be_too_optimistic():
    X, y = rows()
    subject = Subject.read(Predictor([model_of(X)], ["no", "yes"]), X, y)
    found = cautions_of(model_of(X), X, y, on_given_rows(subject.proba, subject.code))
    assert list(found) == ["not_held_out"]
    assert found["not_held_out"].level == "serious"


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_noise_is_no_better_than_the_majority_and_overfitted():
    X, _ = rows(60)
    y = np.where(np.random.default_rng(5).random(60) < 0.5, "yes", "no")
    greedy = {"significance": 0.4, "criterion": "accuracy", "size": None, "n_restarts": 1}
    greedy["search"] = SearchSettings(n_models=20, max_iter=10, ridge=0.01)
    clf = RFSCClassifier(**QUICK | greedy).fit(X, y)
    baselines = {"majority class": default_baselines()["majority class"]}
    score = cross_validated(clf, X, y, clf.classes_, cv=5, baselines=baselines)
    subject = Subject.read(clf, X, y)
    found = {c.key for c in find_cautions(subject, summarize_columns(X), score)}
    assert {"no_better_than_majority", "overfitting"} <= found


def test_the_log_loss_of_the_class_shares_is_better():
    X, y = rows()
    for extreme in (True, False):  # the same ranks
        p = expit((X["a"] + X["b"]) * (9 if extreme else 1)).to_numpy()
        score = on_given_rows(np.stack([1 - p, p], axis=1), (y == "yes").astype(int), how="cross-validation")
        found = cautions_of(model_of(X), X, y, score)
        assert ("log_loss_above_class_shares" in found) == extreme
        assert "no_better_than_majority" not in found


def test_a_class_that_is_never_predicted():
    X, y = rows()
    X["p"] = 0.3
    code = (y == "yes").astype(int)
    for p in (np.full(len(X), 0.3), np.where(np.arange(len(X)) % 2, 0.6, 0.3)):
        score = on_given_rows(np.stack([1 - p, p], axis=1), code, how="cross-validation")
        found = cautions_of(model_of(X), X, y, score)
        assert ("never_predicted" in found) == (p.max() < 0.5)
        if p.max() < 0.5:
            assert "“yes”" in found["never_predicted"].text


def test_separable_classes():
    X, _ = rows()
    y = np.where(X["a"] + X["b"] > 0, "yes", "no")
    found = cautions_of(model_of(X, ((), (0,), (1,))), X, y)
    assert "perfectly" in found["separation"].text
    assert "p-values mean little" in found["separation"].text


def test_partly_separable_classes():
    X, y = rows()
    X["c"] = np.maximum(0.0, X["c"] - 1.0)
    y[X["c"].to_numpy() > 0] = "yes"
    found = cautions_of(model_of(X, ((), (0,), (2,))), X, y)
    assert found["partial_separation"].level == "note"
    assert "separation" not in found


def test_few_events_per_term():
    X, y = rows(50)
    found = cautions_of(model_of(X, ((0,), (1,), (2,), (0, 1), (1, 2), (0, 0))), X, y)
    events = min((y == "yes").sum(), (y == "no").sum())
    assert f"6 terms for {events} rows" in found["few_events"].text
    assert "few_events" not in cautions_of(model_of(X), X, y)


def test_small_classes_are_named():
    X, y = rows()
    y = y.copy()
    y[np.flatnonzero(y == "yes")[12:]] = "no"
    assert "yes (12 rows)" in cautions_of(model_of(X), X, y)["small_class"].text


def test_values_beyond_the_training_range_are_counted_for_features_that_are_read():
    X, y = rows()
    model = model_of(X)
    X = X.copy()
    X.loc[:3, "a"] = 100.0
    X.loc[:200, "c"] = 100.0  # not read
    text = cautions_of(model, X, y)["outside_range"].text
    assert "“a” (1 % of the rows)" in text
    assert "“c”" not in text


def test_searches_that_did_not_converge():
    X, y = rows()
    model = model_of(X)
    cut = replace(model.evidence, stop_reasons=("max_iter",) * 3 + ("converged",))
    assert "3 of 4 searches" in cautions_of(replace(model, evidence=cut), X, y)["not_converged"].text
    half = replace(model.evidence, stop_reasons=("max_iter",) * 2 + ("converged",) * 2)
    assert "not_converged" not in cautions_of(replace(model, evidence=half), X, y)


def test_correlated_terms_and_models_without_a_feature():
    X, y = rows()
    X["b"] = X["a"] * 2 + 1e-3 * X["c"]
    assert "“a” with “b”" in cautions_of(model_of(X), X, y)["collinear"].text
    assert "“a” with “b”" in cautions_of(model_of(X), X, y)["alike"].text
    assert cautions_of(model_of(X, ((),)), X, y)["empty"].level == "serious"


def test_missing_values_constants_duplicates_and_other_rows():
    X, y = rows()
    model = model_of(X)
    twice = pd.concat([X, X], ignore_index=True)
    found = cautions_of(model, twice, np.concatenate([y, y]))
    assert found["duplicates"].text.startswith("100 % of the rows")
    assert "fitted to 400 observations; this report is about 800 rows" in found["other_rows"].text
    still = X.assign(c=1.0)
    assert "“c”" in cautions_of(model_of(still), still, y)["constant"].text
    columns = summarize_columns(X.assign(c=X["c"].where(X["c"] > 0)))
    subject = Subject.read(Predictor([model], ["no", "yes"]), X, y)
    found = find_cautions(subject, columns, on_given_rows(subject.proba, subject.code))
    assert any(c.key == "missing" and "“c”" in c.text for c in found)


def test_a_fit_without_a_seed():
    X, y = rows()
    subject = Subject.read(Predictor([model_of(X)], ["no", "yes"], settings={"random_state": None}), X, y)
    found = find_cautions(subject, summarize_columns(X), on_given_rows(subject.proba, subject.code))
    assert found[-1].key == "no_seed"


def test_outputs_share_a_caution_and_the_most_serious_comes_first():
    X, _ = rows(60)
    y = np.array(["u", "v", "w"] * 20)
    models = [model_of(X, ((0,), (1,), (2,)), label=label) for label in "uvw"]
    subject = Subject.read(Predictor(models, ["u", "v", "w"]), X, y)
    found = find_cautions(subject, summarize_columns(X), on_given_rows(subject.proba, subject.code))
    few = [c for c in found if c.key == "few_events"]
    assert len(few) == 1
    assert all(f"lass “{label}”: 3 terms for 20 rows" in few[0].text for label in "uvw")
    ranks = [LEVELS.index(c.level) for c in found]
    assert ranks == sorted(ranks)
