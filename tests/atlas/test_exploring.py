"""Explorations against brute force: all supports of few terms, refits that leave one row out, and other engines."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.certificates import MOST_TERMS, N_FEATURES, all_good, every_support
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.datasets import load_breast_cancer, load_wine

from rfsc import Restrictions, RFSCClassifier
from rfsc.atlas import atlas
from rfsc.atlas.exploring import packed


def made_table(rng):
    """Classes that overlap, and correlated features."""
    X = rng.normal(size=(150, N_FEATURES))
    X[:, 3] = X[:, 0] + 0.4 * rng.normal(size=150)
    X[:, 4] = X[:, 1] + 0.8 * rng.normal(size=150)
    f = 1.5 * X[:, 0] - X[:, 1] * X[:, 2] + 0.5 * X[:, 5]
    return X, (f + rng.logistic(size=150) > 0).astype(int)


def table_of(name):
    """A table by its name."""
    rng = np.random.default_rng(1)
    if name == "made":
        return made_table(rng)
    if name == "noise":
        return rng.normal(size=(120, N_FEATURES)), rng.integers(2, size=120)
    X, y = (load_breast_cancer if name == "cancer" else load_wine)(return_X_y=True)
    return X[y < 2][::2, :N_FEATURES], y[y < 2][::2]


@pytest.mark.slow
@pytest.mark.parametrize("tolerance", ["1se", 0.01])
@pytest.mark.parametrize("name", ["made", "cancer", "wine", "noise"])
def test_holds_all_good_models_of_a_small_space(name, tolerance):
    X, y = table_of(name)
    clf = RFSCClassifier("polynomial", size=MOST_TERMS, n_jobs=1, random_state=0).fit(X, y)
    assert clf.n_terms_[0] == 28
    made = atlas(clf, X, y, tolerance, max_models=100_000)
    (own,) = made._maps
    assert made.settings.is_closed == (True,)
    assert made.settings.is_cut == (False,)
    wanted = {one for size in made.settings.sizes[0] for one in all_good(own.exploration, size)}
    assert len(wanted & set(own.supports)) >= 0.99 * len(wanted), (len(wanted), len(own.supports))
    assert set(own.supports) <= wanted | {made._source.answers[0]}


def test_exchanges_alone_find_nearly_all_good_models(monkeypatch):
    X, y = table_of("made")
    clf = RFSCClassifier("polynomial", size=3, n_jobs=1, random_state=0).fit(X, y)
    wanted = set(atlas(clf, X, y, max_models=100_000)._maps[0].supports)
    monkeypatch.setattr("rfsc.atlas.exploring.MOST_ENUMERATED", 0)
    made = atlas(clf, X, y, max_models=100_000)
    assert made.settings.is_closed == (True,)
    assert len(wanted) > 20
    assert len(wanted & set(made._maps[0].supports)) >= 0.95 * len(wanted)


@pytest.fixture(scope="module")
def small():
    """A table, a classifier, and its exploration."""
    X, y = made_table(np.random.default_rng(3))
    X, y, weight = X[:60], y[:60], np.random.default_rng(0).integers(1, 3, size=60).astype(float)
    clf = RFSCClassifier("polynomial", size=2, n_jobs=1, random_state=0).fit(X, y, sample_weight=weight)
    return atlas(clf, X, y, sample_weight=weight)._maps[0].exploration


def test_losses_of_rows_have_the_mean_of_the_engine(small):
    supports = [(0,), (0, 3), (0, 3, 5), (0, 4, 7), (0, 1, 2)]
    assert small.mean(small.row_losses(supports)) == pytest.approx(small.fit(supports).log_loss, abs=1e-6)


def test_losses_of_rows_are_those_of_refits_without_one_observation(small):
    problem = small.search.unpruned
    ids = np.array([0, 3, 5])
    columns = problem.space.columns(problem.table, ids)
    share = problem.weight / problem.weight.sum()
    variance = share @ np.square(columns - (columns @ share)[:, None]).T
    penalty = problem.options.ridge * variance

    def fitted(weight):
        def loss(coef):
            f = coef @ columns
            value = weight @ np.logaddexp(0.0, -problem.target * f) + 0.5 * penalty @ coef**2
            return value, -columns @ (weight * problem.target * expit(-problem.target * f)) + penalty * coef

        return minimize(loss, np.zeros(3), jac=True, options={"gtol": 1e-9}).x

    exact = []
    for row in range(problem.target.size):
        weight = problem.weight.copy()
        weight[row] -= 1.0
        exact.append(np.logaddexp(0.0, -problem.target[row] * (fitted(weight) @ columns[:, row])))
    approximate = small.row_losses([tuple(ids)])[0]
    assert approximate == pytest.approx(np.array(exact), rel=0.02, abs=1e-3)
    assert small.mean(approximate) == pytest.approx(small.mean(np.array(exact)), rel=2e-3)


def test_paired_differences_and_errors(small):
    losses = small.row_losses([(0, 3), (0, 5)])
    weight = small.search.problem.weight
    above = np.repeat(losses[1] - losses[0], weight.astype(int))  # a row of weight 2 is the same as two rows
    difference, error = small.differences((0, 3), [(0, 5)])[0, 5]
    assert difference == pytest.approx(above.mean())
    assert error == pytest.approx(above.std() / np.sqrt(above.size))


@pytest.mark.parametrize(
    "wish", [{"without": ["x0"]}, {"require": ["x4"]}, {"without": ["x0"], "require": ["x4", "x5"]}]
)
@pytest.mark.parametrize("max_terms", [None, 2])
def test_finds_the_best_of_all_models_under_a_wish(wish, max_terms):
    X, y = table_of("made")
    clf = RFSCClassifier("polynomial", size=3, n_jobs=1, random_state=0).fit(X, y)
    made = atlas(clf, X, y)
    found = made._maps[0].exploration
    best = np.inf
    for size in range((max_terms or 3) + 1):
        supports = every_support(found, size)
        for support, loss in zip(supports, found.fit(supports).log_loss, strict=True):
            names = {f"x{p}" for p in found.features(support)}
            if not names & set(wish.get("without", ())) and names >= set(wish.get("require", ())):
                best = min(best, loss)
    result = made.find(**wish, max_terms=max_terms)
    assert result.log_loss == pytest.approx(best, abs=1e-6)
    answer = found.fit([made._source.answers[0]]).log_loss[0]
    assert result.price == pytest.approx(best - answer, abs=1e-6)
    used = {f"x{p}" for p in result.model.models_[0].features}
    assert not used & set(wish.get("without", ()))
    assert used >= set(wish.get("require", ()))


def test_signs_under_a_wish():
    X, y = table_of("made")
    clf = RFSCClassifier("polynomial", size=3, n_jobs=1, random_state=0).fit(X, y)
    result = atlas(clf, X, y).find(increasing=["x0"], decreasing=["x1"])
    up, down = X.copy(), X.copy()
    up[:, 0], down[:, 1] = X[:, 0].max(), X[:, 1].max()
    f = result.model.decision_function
    assert (f(up) >= f(X) - 1e-9).all()
    assert (f(down) <= f(X) + 1e-9).all()
    assert "Never falling with x0, never rising with x1, with at most 3 terms: " in str(result)


def test_restrictions_of_the_fit_hold_for_all_models():
    X, y = table_of("made")
    rules = Restrictions(force=["x5"], forbid=[("x3",)], hierarchy=True)
    clf = RFSCClassifier("polynomial", size=4, restrictions=rules, n_jobs=1, random_state=0).fit(X, y)
    made = atlas(clf, X, y, tolerance=0.3)
    assert len(made) >= 3
    for number in range(len(made)):
        names = set(made.model(number).models_[0].names) - {"1"}
        assert "x5" in names
        assert not any("x3" in name for name in names)
        for name in names:
            assert set(name.replace("^2", "").split("*")) <= names
    with pytest.raises(ValueError, match="forbid"):
        made.find(without=["x5"])
    assert "x3" not in {name for one in made.find(without=["x0"]).terms for name in one.split("*")}


def test_packed_batches_are_those_of_lists(small):
    batch = packed([(0,), (0, 2, 5), (1, 3)])
    assert [batch[m].tolist() for m in range(len(batch))] == [[0], [0, 2, 5], [1, 3]]
    assert small.sizes
