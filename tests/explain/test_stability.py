"""Nogueira's index against a twin written from the paper, its laws, and the cases in which there is none."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rfsc import RFSCClassifier
from rfsc._model import Evidence, FilterEvidence
from rfsc.explain import stability
from rfsc.explain.stability import stability_of
from tests.reference.naive_stability import kuncheva, naive_interval, naive_stability

from .models import NAMES, model_of

N = 8
selections = st.lists(st.sets(st.integers(0, N - 1)), min_size=2, max_size=9)


def as_table(chosen, n=N):
    return np.array([[j in one for j in range(n)] for one in chosen])


@given(selections, st.integers(0, 20), st.sampled_from([0.8, 0.95]))
def test_equals_the_twin(chosen, n_unseen, level):
    found = stability_of(as_table(chosen), N + n_unseen, level=level)
    assert found.n_restarts == len(chosen)
    assert found.mean_size == pytest.approx(np.mean([len(one) for one in chosen]))
    if found.index is None:
        assert found.mean_size in (0, N + n_unseen)
        assert found.reason
        assert found.word == "unknown"
        return
    index, variance = naive_stability(chosen, N + n_unseen)
    assert found.index == pytest.approx(index, abs=1e-9)
    if len(chosen) < 5:
        assert found.low is found.high is None
        assert "too few restarts for an interval" in str(found)
        return
    low, high = naive_interval(index, variance, level)
    np.testing.assert_allclose([found.low, found.high], [low, min(high, 1)], atol=1e-9)


@given(st.lists(st.permutations(range(N)).map(lambda order: set(order[:3])), min_size=2, max_size=6))
def test_selections_of_one_size_agree_as_kuncheva_says(chosen):
    pairs = [kuncheva(a, b, N) for a, b in combinations(chosen, 2)]
    assert stability_of(as_table(chosen), N).index == pytest.approx(np.mean(pairs))


@given(st.sets(st.integers(0, N - 1), min_size=1, max_size=N - 1), st.integers(2, 9))
def test_the_same_every_time_is_one(chosen, times):
    found = stability_of(as_table([chosen] * times), N)
    assert found.index == pytest.approx(1.0)
    assert found.high is None or found.high <= 1.0
    assert found.word == "excellent"


def test_random_selections_agree_as_much_as_chance():
    rng = np.random.default_rng(0)
    found = stability_of(rng.random((400, 30)) < 0.3, 30)
    assert abs(found.index) < 0.02
    assert found.low < 0 < found.high
    assert found.word == "poor"
    assert "rough" not in str(found)


@pytest.mark.parametrize(
    ("selected", "reason"),
    [
        (np.ones((1, 3), dtype=bool), "two restarts"),
        (np.empty((0, 3), dtype=bool), "got 0"),
        (np.zeros((4, 3), dtype=bool), "no restart selected any"),
        (np.ones((4, 3), dtype=bool), "all of the terms"),
    ],
)
def test_undefined_cases_have_a_reason(selected, reason):
    found = stability_of(selected, 3)
    assert found.index is found.low is found.high is None
    assert reason in found.reason
    assert found.reason in str(found)


def with_evidence(selected, *, n_candidates=200, **changes):
    model = model_of("polynomial", "hinge", n_terms=3)
    selected = np.asarray(selected, dtype=bool)
    evidence = Evidence(
        n_candidates=n_candidates,
        score="loo-log-loss",
        terms=model.terms,
        feature_names=NAMES,
        selected=selected,
        rip=selected * 0.9,
        stop_reasons=("converged",) * len(selected),
        **changes,
    )
    return replace(model, evidence=evidence)


def test_terms_leave_out_the_constant():
    rng = np.random.default_rng(1)
    n = len(model_of("polynomial", "hinge", n_terms=3).terms)
    selected = rng.random((5, n)) < 0.5
    model = with_evidence(selected)
    chosen = [{j for j in np.flatnonzero(row) if model.terms[j].features} for row in selected]
    assert stability(model).index == pytest.approx(naive_stability(chosen, 199)[0])
    selected[:, -1] = ~selected[:, -1]  # the constant
    assert stability(with_evidence(selected)).index == stability(model).index


def test_features_are_those_that_terms_read():
    rng = np.random.default_rng(2)
    n = len(model_of("polynomial", "hinge", n_terms=3).terms)
    model = with_evidence(rng.random((6, n)) < 0.2)
    chosen = [{p for j in np.flatnonzero(row) for p in model.terms[j].features} for row in model.evidence.selected]
    found = stability(model, of="features")
    assert found.n_candidates == 4
    assert found.index == pytest.approx(naive_stability(chosen, 4)[0])


def test_features_that_the_filter_dropped_are_no_candidates():
    n = len(model_of("polynomial", "hinge", n_terms=3).terms)
    one = np.zeros((3, n), dtype=bool)
    model = model_of("polynomial", "hinge", n_terms=3)
    j = next(j for j, term in enumerate(model.terms) if len(term.features) == 1)
    one[:2, j] = True
    (used,) = model.terms[j].features
    statistic = np.full(4, 0.1)
    statistic[(used + 1) % 4] = 9.0  # passes; the one that is used would not, but restrictions may have let it in
    found = stability(with_evidence(one, filter=FilterEvidence(statistic, 6.6, 0.01)), of="features")
    assert found.n_candidates == 2


def test_a_model_without_evidence():
    found = stability(model_of("polynomial"))
    assert found.index is None
    assert "no record" in found.reason


def test_of_a_fitted_classifier():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 4))
    y = (X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=150) > 0).astype(int)
    clf = RFSCClassifier(basis="polynomial", n_restarts=5, random_state=0).fit(X, y)
    found = stability(clf)
    assert (found.n_restarts, found.n_candidates) == (5, clf.n_terms_[0] - 1)
    assert -0.5 <= found.low <= found.index <= found.high <= 1
    assert "rough" in str(found)
    one = stability(RFSCClassifier(basis="polynomial", n_restarts=1, random_state=0).fit(X, y))
    assert one.index is None


def test_bad_arguments():
    with pytest.raises(ValueError, match="of must be 'terms' or 'features'"):
        stability(model_of("polynomial"), of="rows")
    with pytest.raises(ValueError, match="level must be between 0 and 1"):
        stability(model_of("polynomial"), level=95)
