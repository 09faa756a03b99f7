"""Models for rows in which a measurement is missing."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.impute import SimpleImputer
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline

from rfsc import RFSCClassifier, SearchSettings
from rfsc.atlas import with_fallbacks
from rfsc.bases import Polynomial
from rfsc.explain import explain
from rfsc.export import to_onnx

SEARCH = SearchSettings(max_iter=30, n_models=40)
N_ROWS = 1500


def rows(seed, n=N_ROWS, blank=("strong", "second"), classes=2):
    """Two strong features, each with a substitute that is of little use beside it; blanks at random."""
    rng = np.random.default_rng(seed)
    strong, second = rng.normal(size=(2, n))
    X = pd.DataFrame({"strong": strong, "second": second})
    X["substitute"], X["another"] = strong + 0.5 * rng.normal(size=n), second + 0.5 * rng.normal(size=n)
    f = 4.0 * strong + 3.0 * second + rng.logistic(size=n)
    y = np.array(["a", "b", "c"])[np.digitize(f, [0.0] if classes == 2 else [-1.0, 1.0])]
    for name, share in zip(blank, (0.3, 0.2), strict=False):
        X.loc[rng.random(n) < share, name] = np.nan
    return X, y


def fitted(X, y):
    filled = SimpleImputer(strategy="median", add_indicator=True).set_output(transform="pandas")
    options = {"basis": Polynomial(degree=1), "n_restarts": 1, "size": None, "random_state": 0, "search": SEARCH}
    return make_pipeline(filled, RFSCClassifier(**options)).fit(X, y)


@pytest.fixture(scope="module")
def model():
    X, y = rows(0)
    return with_fallbacks(fitted(X, y), X, y)


def test_every_set_of_blank_columns_has_a_model_that_does_not_read_them(model):
    assert [one.when_missing for one in model.fallbacks_] == [("strong",), ("second",), ("strong", "second")]
    for one in model.fallbacks_:
        read = {model.recipe_.names[p] for part in one.models for p in part.features}
        assert not read & set(one.when_missing)
        assert read >= {"substitute", "another"} or len(one.when_missing) == 1
        assert one.blank_log_loss < one.median_log_loss
        assert one.price > 2 * one.standard_error > 0
    alone, other, both = model.fallbacks_
    assert both.price > max(alone.price, other.price)


@pytest.mark.parametrize("seed", [1, 2])
def test_better_than_the_median_on_rows_with_blanks_and_equal_on_others(model, seed):
    X, y = rows(seed, 6000)
    with_median, with_models = model.replaced(fallbacks=()).predict_proba(X), model.predict_proba(X)
    strong, second = X["strong"].isna().to_numpy(), X["second"].isna().to_numpy()
    for blank in (strong & ~second, ~strong & second, strong & second):
        assert log_loss(y[blank], with_models[blank]) < log_loss(y[blank], with_median[blank])
    whole = ~strong & ~second
    assert with_models[whole].tolist() == with_median[whole].tolist()


def test_price_is_what_the_missing_measurement_costs(model):
    """Left-out losses of the fit agree with those of new rows whose measurement was taken away."""
    X, y = rows(3, 4000, blank=())
    whole = log_loss(y, model.predict_proba(X))
    taken = X.assign(strong=np.nan)
    cost = log_loss(y, model.predict_proba(taken)) - whole
    first = model.fallbacks_[0]
    assert 0.5 * first.price < cost < 2.0 * first.price


def test_explanations_are_of_the_model_that_predicts(model):
    X, _ = rows(4, 50, blank=())
    assert explain(model, X.iloc[[0]]).startswith("The probability of class ")
    without = explain(model, X.iloc[[0]].assign(strong=np.nan))
    assert without.startswith("Without strong, which is missing, the probability of class ")
    assert "substitute" in without.lower()
    assert "Strong" not in without
    assert "strong" not in without.removeprefix("Without strong")


def test_onnx_predicts_the_same(model):
    runtime = pytest.importorskip("onnxruntime")
    X, _ = rows(5, 200)
    session = runtime.InferenceSession(to_onnx(model).SerializeToString(), providers=["CPUExecutionProvider"])
    feeds = {given.name: X[[given.name]].to_numpy() for given in session.get_inputs()}
    np.testing.assert_allclose(session.run(None, feeds)[1], model.predict_proba(X), atol=1e-9)


def test_one_column_and_three_classes():
    X, y = rows(6, blank=("strong",), classes=3)
    found = with_fallbacks(fitted(X, y), X, y)
    assert [one.when_missing for one in found.fallbacks_] == [("strong",)]
    assert len(found.fallbacks_[0].models) == 3
    new, truth = rows(7, blank=("strong",), classes=3)
    blank = new["strong"].isna().to_numpy()
    losses = [log_loss(truth[blank], one.predict_proba(new[blank])) for one in (found, found.replaced(fallbacks=()))]
    assert losses[0] < losses[1]


def test_the_answer_stays_in_charge_of_rows_that_it_predicts_better():
    """A substitute for the sum of both is what the answer reads anyway."""
    rng = np.random.default_rng(0)
    strong, second = rng.normal(size=(2, N_ROWS))
    X = pd.DataFrame({"strong": strong, "second": second, "sum": strong + second + 0.5 * rng.normal(size=N_ROWS)})
    y = np.where(2.5 * strong + 2.0 * second + rng.logistic(size=N_ROWS) > 0, "a", "b")
    X.loc[rng.random(N_ROWS) < 0.3, "strong"] = np.nan
    X.loc[rng.random(N_ROWS) < 0.2, "second"] = np.nan
    found = with_fallbacks(fitted(X, y), X, y)
    kept = {one.when_missing for one in found.fallbacks_}
    assert 0 < len(kept) < 3
    bare = found.replaced(fallbacks=())
    names = {name for case in kept for name in case}
    for case in ({"strong"}, {"second"}, {"strong", "second"}):
        mask = [set(X.columns[row]) == case for row in X.isna().to_numpy()]
        some = X[mask]
        is_same = found.predict_proba(some).tolist() == bare.predict_proba(some).tolist()
        assert is_same == (tuple(name for name in X.columns if name in case & names) not in kept)


def test_no_fallback_without_blanks():
    X, y = rows(8, 200, blank=())
    assert with_fallbacks(fitted(X, y), X, y).fallbacks_ == []
    X.loc[:3, "strong"] = np.nan
    assert with_fallbacks(fitted(X, y), X, y).fallbacks_ == []


def test_other_rows_than_those_of_the_fit_are_refused():
    X, y = rows(9, 300)
    with pytest.raises(ValueError, match="not the rows that clf was fitted to"):
        with_fallbacks(fitted(X, y), X[:200], y[:200])
