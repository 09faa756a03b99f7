"""Wide tables as a user meets them: screened by size, the same whatever the threads, never looking ahead."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris

from rfsc import Restrictions
from rfsc._fit import output
from rfsc._search.screening import Screening
from rfsc.bases import Hinge, Polynomial
from tests.making import make

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
QUICK = {"n_models": 50, "max_iter": 60, "n_restarts": 2, "random_state": 0}


def planted(seed, n_features=200, n_rows=400):
    """A main effect and a pure interaction among 20,301 monomials."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features))
    return X, (2 * X[:, 0] + 2 * X[:, 1] * X[:, 2] + rng.logistic(size=n_rows) > 0).astype(int)


def features_of(clf):
    return [set(term.features) for term in clf.models_[0].terms]


@pytest.mark.slow
@pytest.mark.parametrize("basis", ["polynomial", "centred", [Polynomial(), Hinge()], "auto"])
def test_planted_terms_are_found_by_default_in_a_space_too_large_for_random_draws(basis):
    X, y = planted(0)
    clf = make(basis=basis, **QUICK).fit(X, y)
    assert clf.initial_rip_ == ["screened"]
    assert {0} in features_of(clf) or basis == "auto"
    assert {1, 2} in features_of(clf)
    uniform = make(basis=basis, initial_rip="uniform", **QUICK).fit(X, y)
    assert uniform.initial_rip_ == ["uniform"]
    missed = {1, 2} not in features_of(uniform)
    assert missed or len(clf.models_[0].terms) <= len(uniform.models_[0].terms)  # which are mostly noise


@pytest.mark.slow
def test_small_spaces_begin_uniform():
    X, y = load_iris(return_X_y=True)
    by_size, uniform = (make(initial_rip=how, **QUICK).fit(X, y) for how in ("auto", "uniform"))
    assert by_size.initial_rip_ == ["uniform"] * 3
    assert np.array_equal(by_size.decision_function(X), uniform.decision_function(X))
    screened = make(basis="polynomial", initial_rip="screened", **QUICK).fit(X, y)
    assert screened.initial_rip_ == ["screened"] * 3
    assert screened.score(X, y) > 0.9


@pytest.mark.slow
def test_long_tables_begin_screened_and_find_interactions_that_draws_give_up():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6_000, 12))
    y = X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * rng.logistic(size=6_000) > 0
    settings = {"basis": Polynomial(degree=3), "max_samples": 2_000, "n_restarts": 2, "random_state": 0}
    by_size, uniform = (make(initial_rip=how, **settings).fit(X, y) for how in ("auto", "uniform"))
    assert by_size.initial_rip_ == ["screened"]
    assert uniform.initial_rip_ == ["uniform"]
    assert {"x0", "x1*x2"} <= set(by_size.models_[0].names)
    assert by_size.score(X, y) > uniform.score(X, y) - 0.01
    quick = {"basis": Polynomial(degree=3), "n_models": 20, "max_iter": 3, "n_restarts": 1, "random_state": 0}
    weighted = make(**quick).fit(X[:600], y[:600], np.full(600, 9.0))
    assert weighted.initial_rip_ == ["screened"]  # nine observations a row


def test_the_size_that_decides(monkeypatch):
    X, y = planted(0, n_features=10)  # 66 terms
    monkeypatch.setattr(output, "FEW_TERMS", 66)
    assert make(basis="polynomial", **QUICK).fit(X, y).initial_rip_ == ["uniform"]
    monkeypatch.setattr(output, "FEW_TERMS", 65)
    assert make(basis="polynomial", **QUICK).fit(X, y).initial_rip_ == ["screened"]


def test_threads_do_not_change_the_result():
    X, y = planted(1)
    fits = [make(basis="centred", n_jobs=n, **QUICK).fit(X, y) for n in (1, 3)]
    assert np.array_equal(*(clf.decision_function(X) for clf in fits))
    assert fits[0].models_[0].names == fits[1].models_[0].names


def test_weights_count_as_rows_when_screening():
    X, y = planted(2, n_rows=200)
    times = np.random.default_rng(0).integers(0, 3, 200)
    weighted = make(basis="polynomial", **QUICK).fit(X, y, times)
    repeated = make(basis="polynomial", **QUICK).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-6)


@pytest.mark.parametrize("seed", [0, 2])
def test_what_shows_only_beside_the_rest_is_found_too(seed):
    """A weak interaction is hidden by a strong main effect until a model holds that."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(400, 150))
    y = (6 * X[:, 0] + 1.6 * X[:, 1] * X[:, 2] + 0.3 * rng.logistic(size=400) > 0).astype(int)
    assert {1, 2} in features_of(make(basis="centred", **QUICK).fit(X, y))
    assert {1, 2} not in features_of(make(basis="centred", initial_rip="uniform", **QUICK).fit(X, y))


def test_restrictions_are_obeyed():
    X, y = planted(3)
    wanted = Restrictions(force=["x7"], forbid=[("x1", "x2"), "x0"], hierarchy=True)
    clf = make(basis="polynomial", restrictions=wanted, **QUICK).fit(X, y)
    names = clf.models_[0].names
    assert clf.initial_rip_ == ["screened"]
    assert "x7" in names
    assert {1, 2} not in features_of(clf)
    assert not {"x0", "x0^2"} & set(names)
    assert all(set(name.replace("^2", "").split("*")) <= set(names) for name in names if name != "1")


def test_inner_folds_screen_only_the_rows_that_they_train_on(monkeypatch):
    X, y = planted(4, n_features=150, n_rows=100)
    seen = []
    first_rips = Screening.first_rips
    monkeypatch.setattr(Screening, "first_rips", lambda self, *a: seen.append(self._problem) or first_rips(self, *a))
    make(n_models=10, max_iter=2, n_restarts=2, random_state=0).fit(X, y)
    assert len(seen) == 3 * 5  # three mixes in five folds; the answer is searched among the terms of these
    assert {problem.target.size for problem in seen} == {80}


def test_terms_that_cannot_be_tested_are_an_error_or_left_out(monkeypatch):
    X, y = planted(5, n_features=60, n_rows=300)
    monkeypatch.setattr("rfsc._search.screening.MOST_WORK", 2e6)
    settings = {"basis": Polynomial(degree=3), **QUICK}
    with pytest.raises(ValueError, match=r"of 39,711 only 1,890 can be tested in reasonable time."):
        make(initial_rip="screened", **settings).fit(X, y)
    clf = make(**settings).fit(X, y)
    assert clf.initial_rip_ == ["partly screened"]
    assert {1, 2} in features_of(clf)
    monkeypatch.setattr("rfsc._search.screening.MOST_WORK", 1.0)
    assert make(**settings).fit(X, y).initial_rip_ == ["uniform"]


@pytest.mark.parametrize("engine", ["numba", "numpy"])
@pytest.mark.parametrize("max_terms", [1, 2, 5])
def test_more_terms_may_stand_out_than_a_model_holds(engine, max_terms):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 20))
    y = X[:, :15].sum(axis=1) + rng.logistic(size=300) > 0
    settings = {**QUICK, "max_drawn": max_terms, "engine": engine}
    clf = make(basis="polynomial", initial_rip="screened", **settings).fit(X, y)
    assert clf.initial_rip_ == ["screened"]
    assert all(search.model.ids.size <= max_terms for search in clf.searches_[0])
