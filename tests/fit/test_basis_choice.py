"""`basis="auto"`: an honest choice, the same every time."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit
from sklearn.base import clone
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold

from rfsc._fit import basis_choice
from rfsc._fit.basis_choice import _best_shares, _log_loss
from rfsc._fit.fitting import _spec
from rfsc._fit.output import Job, OutputSearch
from rfsc._fit.rows import read_rows
from rfsc._search.context import Context
from rfsc._utils.determinism import child, seeds_of_searches
from rfsc.bases import auto_mixes
from tests.making import make

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
QUICK = {"n_models": 40, "max_iter": 30, "n_restarts": 2, "random_state": 0}


def blobs(n_rows, rng):
    """Six clusters of alternating class in the plane: no polynomial of low degree follows them."""
    centre = np.array([[0, 0], [2, 0], [4, 0], [0, 2], [2, 2], [4, 2]], dtype=float)
    which = rng.integers(6, size=n_rows)
    return centre[which] + rng.normal(scale=0.25, size=(n_rows, 2)), np.array([0, 1, 0, 1, 0, 1])[which]


def kinked(n_rows, rng):
    """Two features that begin to count at a knot, among six."""
    X = rng.random((n_rows, 6))
    f = np.maximum(0, X[:, 0] - 0.6) + np.maximum(0, 0.4 - X[:, 1])
    return X, (f + rng.normal(scale=0.01, size=n_rows) > 0.1).astype(int)


def hazy(n_rows, rng):
    """Noisy classes that no family fits much better than another."""
    X = rng.random((n_rows, 6))
    f = 3 * X[:, 0] - 4 * X[:, 1] * X[:, 2] + 3 * np.maximum(0, X[:, 3] - 0.5) - 1
    return X, (f + 0.5 * rng.logistic(size=n_rows) > 0).astype(int)


def test_chooses_what_fits():
    X, y = blobs(240, np.random.default_rng(0))
    round_one = make(basis="auto", **QUICK).fit(X, y)
    assert min(round_one.basis_losses_, key=round_one.basis_losses_.get) == "linear + radial"
    assert round_one.score(*blobs(400, np.random.default_rng(1))) > 0.95
    X, y = kinked(240, np.random.default_rng(0))
    bent = make(basis="auto", **QUICK).fit(X, y)
    assert min(bent.basis_losses_, key=bent.basis_losses_.get) == "hinge"


def test_answer_is_that_of_the_chosen_mix():
    X, y = blobs(150, np.random.default_rng(0))
    auto = make(basis="auto", **QUICK).fit(X, y)
    chosen = min(auto.basis_losses_, key=auto.basis_losses_.get)
    assert auto.basis_ == auto_mixes(6)[chosen]
    alone = make(basis=list(auto.basis_), **QUICK).fit(X, y)
    np.testing.assert_array_equal(auto.decision_function(X), alone.decision_function(X))
    assert alone.basis_losses_ == alone.basis_shares_ == {}
    assert auto.basis_shares_ == {chosen: 1.0}
    again = clone(auto).set_params(n_jobs=2).fit(X, y)
    assert again.basis_losses_ == auto.basis_losses_


def test_loss_is_that_of_a_cross_validation():
    """The slow twin: whole classifiers on the inner folds, scaled by the range of all rows."""
    rng = np.random.default_rng(3)
    X, y = rng.random((90, 2)), np.arange(90) % 3
    X[:, 0] += 0.4 * y
    X[0], X[1] = X.min(axis=0), X.max(axis=0)
    auto = make(basis="auto", **QUICK).fit(X, y)
    assert set(auto.basis_losses_) == set(auto_mixes(6))
    folds = list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y))
    proba = np.empty((90, 3))
    for train, test in folds:
        both = np.concatenate([train, [0, 1]])  # the extreme rows, at next to no weight, fix the scaling
        weight = np.concatenate([np.ones(len(train)), [1e-12, 1e-12]])
        model = make(basis="polynomial", **(QUICK | {"n_restarts": 1, "combine": "best"})).fit(X[both], y[both], weight)
        proba[test] = model.predict_proba(X[test])
    # other folds and seeds, so only about the same
    assert auto.basis_losses_["polynomial"] == pytest.approx(log_loss(y, proba), rel=0.25)


@pytest.mark.slow
def test_average_of_mixes_is_the_mean_of_their_models():
    """The slow twin: every mix fitted alone, from the same generators, and the outputs averaged by hand."""
    X, y = hazy(200, np.random.default_rng(0))
    clf = make(basis="auto", combine="average", **QUICK).fit(X, y)
    shares = clf.basis_shares_
    assert len(shares) > 1
    assert sum(shares.values()) == pytest.approx(1.0)
    assert len(clf.searches_[0]) == QUICK["n_restarts"] * len(shares)
    assert clf.n_terms_[0] == sum(len(columns) for columns in _all_terms(clf))
    seeds, layout = seeds_of_searches(QUICK["random_state"], 1, QUICK["n_restarts"])
    expected = np.zeros(len(X))
    for k, (name, share) in enumerate(shares.items()):
        alone = make(basis=list(auto_mixes(6)[name]), **QUICK)
        rows, _ = read_rows(alone, X, y, None)
        own = tuple(child(seed, k) for seed in seeds[0])
        work = OutputSearch(rows, Job(0, np.arange(6), _spec(alone, rows, layout), own))
        fit = work.combined([work.run(restart, Context()) for restart in range(len(seeds[0]))], Context())
        expected += share * fit.model(rows, tuple("abcdef"), 1).decision(X)
    np.testing.assert_allclose(clf.decision_function(X), expected, rtol=1e-12, atol=1e-12)
    assert len(set(clf.models_[0].terms)) == len(clf.models_[0].terms)
    again = clone(clf).set_params(n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(again.decision_function(X), clf.decision_function(X))


def _all_terms(clf):
    """Terms of every space that was searched."""
    spaces = {id(space): space for space in clf._spaces[0]}
    return [space.terms(np.arange(space.n_terms)) for space in spaces.values()]


def test_restarts_of_averaged_mixes_know_their_terms():
    X, y = hazy(200, np.random.default_rng(0))
    seen = []
    clf = make(basis="auto", combine="average", callbacks=seen.append, **QUICK).fit(X, y)
    assert [record.restart for record in seen] == sorted(record.restart for record in seen)
    assert {record.restart for record in seen} == set(range(len(clf.searches_[0])))
    for restart, search in enumerate(clf.searches_[0]):
        model = clf.restart_model(restart)
        assert list(model.names) == clf.term_names(search.model.ids, restart=restart)


def test_shares_minimise_the_left_out_loss():
    """No other point of a fine grid of shares does better; a useless mix gets nothing."""
    rng = np.random.default_rng(0)
    truth = rng.normal(scale=2.0, size=400)
    y = (rng.random(400) < expit(truth)).astype(int)
    rows, _ = read_rows(make(), truth[:, None], y, None)
    values = [
        truth + rng.normal(scale=1.5, size=400),
        truth + rng.normal(scale=1.5, size=400),
        3 * rng.normal(size=400),
    ]
    shares = _best_shares(values, rows)
    assert shares.sum() == pytest.approx(1.0)
    assert shares[2] < 0.1 < min(shares[:2])
    loss = _log_loss(np.tensordot(shares, values, axes=1), rows)
    steps = np.linspace(0, 1, 21)
    grid = [(a, b, 1 - a - b) for a in steps for b in steps if a + b <= 1]
    assert loss <= min(_log_loss(np.tensordot(point, values, axes=1), rows) for point in grid) + 1e-6


def test_average_stops_early():
    X, y = hazy(200, np.random.default_rng(0))
    clf = make(basis="auto", combine="average", callbacks=lambda _: "stop_all", **QUICK).fit(X, y)
    assert all(search.n_iter == 1 for search in clf.searches_[0])
    assert len(clf.searches_[0]) == len(clf.basis_shares_)


def test_progress_of_the_comparison(capsys):
    X, y = blobs(120, np.random.default_rng(0))
    make(basis="auto", verbose=1, **QUICK).fit(X, y)
    said = [line for line in capsys.readouterr().err.splitlines() if line.startswith("comparing")]
    assert [line.split(": ")[1].rsplit(" ", 1)[0] for line in said] == list(auto_mixes(6))


@pytest.mark.slow
def test_long_tables_are_compared_on_some_of_their_rows(monkeypatch):
    X, y = blobs(300, np.random.default_rng(0))
    whole = make(basis="auto", **QUICK).fit(X, y)
    monkeypatch.setattr(basis_choice, "MOST_ROWS", 120)
    clf = make(basis="auto", **QUICK).fit(X, y)
    assert clf.basis_losses_ != whole.basis_losses_
    assert clf.basis_ == whole.basis_
    np.testing.assert_array_equal(clf.decision_function(X), whole.decision_function(X))  # searched on all rows
    weight = np.random.default_rng(1).integers(1, 3, len(X))
    weighted = make(basis="auto", **QUICK).fit(X, y, sample_weight=weight)
    repeated = make(basis="auto", **QUICK).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert weighted.basis_losses_ == pytest.approx(repeated.basis_losses_, rel=1e-6)
    fold = basis_choice._fold_of_rows(read_rows(whole, X, y, None)[0], np.random.default_rng(0))
    assert (fold >= 0).sum() == 120
    counts = np.array([np.bincount(fold[(fold >= 0) & (y == c)], minlength=5) for c in (0, 1)])
    assert np.ptp(counts, axis=1).max() <= 1


def test_the_filter_does_not_see_the_rows_left_out():
    """On pure noise no mix can be better than a coin; a filter that had seen all rows made them look so."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 400)), np.arange(80) % 2
    clf = make(filter_significance=0.05, n_restarts=1, n_models=40, random_state=0).fit(X, y)
    assert min(clf.basis_losses_.values()) > np.log(2)


def test_too_few_rows_take_the_first():
    X, y = np.random.default_rng(0).random((7, 2)), np.array([0, 0, 0, 0, 0, 0, 1])
    clf = make(basis="auto", **QUICK).fit(X, y)
    assert clf.basis_losses_ == {}
    assert clf.basis_ == auto_mixes(6)["polynomial"]


def test_auto_stands_alone():
    with pytest.raises(ValueError, match="cannot stand in a list"):
        make(basis=["auto", "hinge"]).fit([[0.0], [1.0]], [0, 1])
