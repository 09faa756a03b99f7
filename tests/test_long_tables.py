"""`max_samples`: the same search on part of the rows; the answer comes from all of them."""

from __future__ import annotations

import json
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from rfsc import Restrictions, RFSCClassifier, SearchSettings
from rfsc._engines.problem import BUDGET, ColumnStore
from rfsc._model import sparse_model
from rfsc.atlas.source import Source

FEW_ITERATIONS = SearchSettings(n_models=40, max_iter=40)
QUICK = {"basis": "polynomial", "search": FEW_ITERATIONS, "n_restarts": 3, "random_state": 0}


def long_table(n_rows, seed=0, n_features=6):
    """Two main effects and a product, noisy."""
    rng = np.random.default_rng(seed)
    X = rng.random((n_rows, n_features))
    f = 4 * X[:, 0] - 3 * X[:, 1] + 6 * X[:, 2] * X[:, 3] - 2
    return X, (rng.random(n_rows) < expit(2 * f)).astype(int)


def trace(clf, X):
    """All that a fit has found, to the last bit."""
    history = [(r.mean_score, r.best_score, r.max_change) for own in clf.searches_ for s in own for r in s.history]
    return history, clf.decision_function(X).tolist(), clf.basis_losses_


@settings(max_examples=12)
@given(
    max_samples=st.one_of(st.integers(90, 10**9), st.sampled_from([1.0, "auto"])),
    size=st.sampled_from(["best", None]),
    n_classes=st.integers(2, 3),
    restrictions=st.sampled_from([None, Restrictions(hierarchy=True)]),
)
def test_as_many_as_there_are_rows_is_the_same_as_none(max_samples, size, n_classes, restrictions):
    rng = np.random.default_rng(n_classes)
    X, y = rng.random((90, 3)), np.arange(90) % n_classes
    X[:, 0] += 0.3 * y
    shared = QUICK | {"n_restarts": 1, "search": SearchSettings(n_models=40, max_iter=8)}
    shared |= {"size": size, "restrictions": restrictions}
    with_it = RFSCClassifier(max_samples=max_samples, **shared)
    without = RFSCClassifier(max_samples=None, **shared)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("warnings.warn", lambda *_, **__: None)  # eight iterations may settle nothing
        assert trace(with_it.fit(X, y), X) == trace(without.fit(X, y), X)


def test_auto_takes_all_rows_up_to_10000_and_5000_beyond():
    X, y = long_table(10_001)
    quick = QUICK | {"n_restarts": 1}
    for n_rows, meaning in ((10_000, None), (10_001, 5000)):
        auto, explicit = (RFSCClassifier(max_samples=size, **quick) for size in ("auto", meaning))
        assert trace(auto.fit(X[:n_rows], y[:n_rows]), X) == trace(explicit.fit(X[:n_rows], y[:n_rows]), X)


@pytest.mark.parametrize("size", ["best", None])
def test_hardly_worse_than_the_search_on_all_rows(size):
    X, y = long_table(3000)
    unseen, truth = long_table(20_000, seed=1)
    losses = [
        log_loss(truth, RFSCClassifier(size=size, max_samples=rows, **QUICK).fit(X, y).predict_proba(unseen))
        for rows in (None, 1000)
    ]
    assert losses[1] < 1.01 * losses[0]


def test_coefficients_and_scores_come_from_all_rows():
    X, y = long_table(4000)
    search = SearchSettings(n_models=40, max_iter=40, ridge=1e-6)
    clf = RFSCClassifier(max_samples=800, size=None, **QUICK | {"search": search}).fit(X, y)
    (model,) = clf.models_
    assert model.n_observations == 4000
    columns = model.columns(X)
    varying = columns.std(axis=1) > 0
    peer = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000, fit_intercept=not varying.all())
    peer.fit(columns[varying].T, y)
    np.testing.assert_allclose(model.coef[varying], peer.coef_[0], rtol=1e-3)
    assert model.score == pytest.approx(np.exp(-log_loss(y, clf.predict_proba(X))), abs=1e-3)
    assert model.score == max(search.model.score for search in clf.searches_[0])


def test_pooled_model_is_scored_on_all_rows():
    X, y = long_table(4000)
    clf = RFSCClassifier(max_samples=800, **QUICK).fit(X, y)
    assert clf.models_[0].score == pytest.approx(np.exp(-log_loss(y, clf.predict_proba(X))), abs=1e-3)


def test_the_result_does_not_depend_on_threads_and_engines():
    X, y = long_table(1500)
    clf = RFSCClassifier(max_samples=300, **QUICK | {"n_restarts": 2}).fit(X, y)
    assert trace(clone(clf).set_params(n_jobs=2).fit(X, y), X) == trace(clf, X)
    other = clone(clf).set_params(engine="numpy").fit(X, y)
    np.testing.assert_allclose(other.decision_function(X), clf.decision_function(X), atol=1e-6)
    again = clone(clf).set_params(random_state=1).fit(X, y)
    assert trace(again, X)[0] != trace(clf, X)[0]


def test_a_share_is_a_number_of_rows():
    X, y = long_table(1000)
    share, count = (RFSCClassifier(max_samples=size, **QUICK).fit(X, y) for size in (0.3, 300))
    assert trace(share, X) == trace(count, X)


def test_rare_classes_are_seen_in_every_iteration():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 4))
    y = np.where(X[:, 0] > 0, "common", "other").astype(object)
    rare = rng.choice(4000, 30, replace=False)
    y[rare] = "rare"
    X[rare, 1] += 4
    part, whole = (RFSCClassifier(max_samples=size, **QUICK).fit(X, y) for size in (200, None))  # 1.5 rare rows in 200
    assert part.classes_[2] == "rare"
    assert part.models_[2].names == whole.models_[2].names
    assert "x1^2" in part.models_[2].names


def test_restrictions_hold():
    X, y = long_table(3000)
    wanted = Restrictions(force=["x5"], forbid=["x0"], hierarchy=True)
    clf = RFSCClassifier(max_samples=500, restrictions=wanted, **QUICK).fit(X, y)
    for names in [clf.models_[0].names, *(clf.restart_model(r).names for r in range(3))]:
        assert "x5" in names
        for name in names:
            assert "x0" not in name
            assert all(factor in names for factor in name.split("*")) or "^" in name


def test_weights_stay_what_they_are():
    """A weight of zero leaves a row out of every subsample, and weights count as observations in the test."""
    X, y = long_table(2000)
    used = np.arange(2000) % 2
    weighted = RFSCClassifier(max_samples=300, **QUICK).fit(X, y, sample_weight=used)
    left_out = RFSCClassifier(max_samples=300, **QUICK).fit(X[used == 1], y[used == 1])
    assert trace(weighted, X) == trace(left_out, X)
    heavy = RFSCClassifier(max_samples=300, size=None, **QUICK).fit(X, y, sample_weight=np.full(2000, 4.0))
    light = RFSCClassifier(max_samples=300, size=None, **QUICK).fit(X, y)
    sizes = [clf.searches_[0][0].history[0].mean_size_kept for clf in (heavy, light)]
    assert sizes[0] > sizes[1]  # four times the observations: more terms of the same first models pass


@pytest.mark.slow
def test_bases_are_compared_with_it():
    X, y = long_table(600, n_features=4)
    shared = QUICK | {"basis": "auto", "n_restarts": 1}
    part, most, whole = (RFSCClassifier(max_samples=size, **shared).fit(X, y) for size in (100, 599, None))
    assert part.basis_losses_.keys() == whole.basis_losses_.keys()
    assert part.basis_losses_ != whole.basis_losses_
    assert most.basis_losses_ == whole.basis_losses_  # the folds hold fewer rows than that


@pytest.mark.parametrize("wrong", [0, -3, 0.0, 1.5, "all", np.nan])
def test_other_values_are_refused(wrong):
    with pytest.raises(ValueError, match="'max_samples' parameter of RFSCClassifier must be"):
        RFSCClassifier(max_samples=wrong).fit(*long_table(50))


# The peak is read as VmHWM: the peak of getrusage starts at that of the process that started this one.
FIT_LONG_TABLE = """
import json, re, sys, warnings
import numpy as np
from rfsc import RFSCClassifier, SearchSettings
from rfsc.bases import Polynomial

def status(field):
    return int(re.search(field + r":\\s+(\\d+) kB", open("/proc/self/status").read()).group(1)) * 1024

settings = json.loads(sys.argv[1])
warnings.simplefilter("ignore")  # few iterations do not settle anything

def data(n_rows):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 30))
    return X, (X[:, 0] + X[:, 1] * X[:, 2] + rng.logistic(size=n_rows) > 0).astype(int)

def fit(X, y):
    basis, search = Polynomial(degree=settings["degree"]), SearchSettings(max_iter=settings["max_iter"])
    sizes = {"n_restarts": settings["n_restarts"], "max_samples": settings["max_samples"]}
    return RFSCClassifier(basis=basis, search=search, random_state=0, n_jobs=2, **sizes).fit(X, y)

fit(*data(2000))
X, y = data(100_000)
before = status("VmRSS")
clf = fit(X, y)
print(json.dumps([status("VmHWM") - before, int(clf.n_terms_[0])]))
"""


def growth_of(**settings):
    """(bytes above the data at the peak of a fit on 100,000 rows, number of candidate terms)."""
    command = [sys.executable, "-c", FIT_LONG_TABLE, json.dumps(settings)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
def test_memory_with_subsamples():
    """2 GB above the data for 1,000,000 rows x 30 features: a tenth of it here."""
    growth, _ = growth_of(degree=2, n_restarts=2, max_iter=300, max_samples=5000)
    assert 0 < growth < 200e6


@pytest.mark.slow
def test_memory_without_subsamples_is_linear_in_the_rows_and_free_of_the_terms():
    growth, n_terms = growth_of(degree=3, n_restarts=1, max_iter=2, max_samples=None)
    table = 100_000 * 30 * 8
    assert n_terms * 100_000 * 8 > 4e9
    assert 0 < growth < BUDGET + 8 * table


def test_memory_of_predictions_is_that_of_their_result():
    X, y = long_table(200_000, n_features=20)
    clf = RFSCClassifier(max_samples=500, **QUICK).fit(X[:2000], y[:2000])
    tracemalloc.start()
    try:
        proba = clf.predict_proba(X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 4 * proba.nbytes + 2**23  # a copy of the table would take ten times its result


def test_predictions_in_parts_are_the_same_to_the_last_bit(monkeypatch):
    X, y = long_table(500)
    (model,) = RFSCClassifier(**QUICK).fit(X, y).models_
    lengths = (1, 2, 9, 10, 11, 20, 21, 95)
    whole = [model.decision(X[:n]) for n in lengths]
    monkeypatch.setattr(sparse_model, "AT_A_TIME", 10)
    for n, expected in zip(lengths, whole, strict=True):
        np.testing.assert_array_equal(model.decision(X[:n]), expected)


def test_an_answer_may_hold_more_terms_than_a_model_of_the_search(monkeypatch):
    """As the elimination leaves it when the time is over; on a long table no further columns are kept."""
    monkeypatch.setitem(ColumnStore.__init__.__kwdefaults__, "budget", 0)
    rng = np.random.default_rng(0)
    X = rng.random((300, 8))
    y = X[:, 0] + X[:, 1] + rng.normal(size=300) > 1.0
    search = SearchSettings(max_drawn=3)
    clf = RFSCClassifier(basis="polynomial", size=2, search=search, n_restarts=1, random_state=0).fit(X, y)
    (work,) = Source(clf, X, y, None).searches
    ids = np.arange(6)
    assert work.problem.max_terms < ids.size
    assert work._refitted(ids, np.zeros(6)).coef.size == ids.size
