"""Terms of yes-or-no features are written plainly, and compute what they computed before."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from rfsc import RFSCClassifier
from rfsc._model import Evidence, SparseModel, Trace
from rfsc._model.access import as_predictor, simplified
from rfsc._terms import Term, monomial
from rfsc._terms.expression import Condition, Scaled
from rfsc._terms.hinges import hinge
from rfsc._terms.scaling import Scaling
from rfsc.explain import stability
from rfsc.export import from_json, to_json

SCALING = Scaling.from_rows(np.array([[0.0, 0.0, -3.0], [1.0, 1.0, 5.0]]))
NAMES = ("a", "b", "age")
HINGE, STEP = Term(hinge(0, 1, 0.0, 0.0)), Term(Condition(Scaled(1), ">", 0.5, 0.5))
factor = st.integers(0, 2)
terms = st.one_of(
    st.lists(factor, max_size=4).map(lambda some: monomial(sorted(some))),
    st.tuples(factor, st.sampled_from([1, -1]), st.sampled_from([0.0, 0.4])).map(
        lambda part: Term(hinge(*part, part[-1]))
    ),
    st.builds(lambda p, k: Term(Condition(Scaled(p), ">", k, k)), factor, st.sampled_from([0.0, 0.3, 1.0])),
)


def model_of(terms, evidence=None):
    n = len(terms)
    return SparseModel(tuple(terms), np.arange(1.0, n + 1), np.ones(n), SCALING, NAMES, "yes", 9.0, 0.5, evidence)


@given(st.lists(terms, min_size=1, max_size=5, unique=True), st.integers(0, 2**32 - 1))
def test_same_function(some, seed):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.integers(0, 2, (30, 2)), rng.normal(0, 5, 30)])
    model = model_of(some)
    np.testing.assert_array_equal(simplified(model, {0, 1}).decision(X), model.decision(X))


def test_names():
    falling = Term(hinge(0, -1, 1.0, 1.0))
    found = simplified(model_of([HINGE, STEP, monomial((0, 0, 2, 2)), falling, monomial((2, 2))]), {0, 1})
    assert found.names == ("a", "b", "a*age^2", "max(0, 1-a)", "age^2")


def test_two_terms_never_become_one():
    model = model_of([HINGE, monomial((0,))])
    assert simplified(model, {0, 1}) is model


def test_evidence_of_all_forms_is_put_together():
    rips = np.array([[0.1, 0.2, 0.3, 0.4], [0.5, 0.1, 0.7, 0.2]])
    trace = Trace(*(np.zeros(2) for _ in range(4)), rips)
    evidence = Evidence(
        n_candidates=9,
        score="accuracy",
        terms=(HINGE, monomial((2,)), monomial((0,)), monomial((0, 0))),
        feature_names=NAMES,
        selected=np.array([[1, 0, 0, 0], [0, 1, 1, 0], [0, 0, 0, 1]], dtype=bool),
        rip=np.array([[0.9, 0.1, 0.0, 0.2], [0.0, 0.8, 0.7, 0.1], [0.1, 0.2, 0.3, 1.0]]),
        stop_reasons=("converged",) * 3,
        traced=(0, 1, 2, 3),
        traces=(trace,) * 3,
    )
    found = simplified(model_of([HINGE, monomial((2,))], evidence), {0}).evidence
    assert found.term_names == ("a", "age")
    np.testing.assert_array_equal(found.selected, [[1, 0], [1, 1], [1, 0]])
    np.testing.assert_array_equal(found.rip, [[0.9, 0.1], [0.7, 0.8], [1.0, 0.2]])
    assert found.traced == (0, 1)
    np.testing.assert_array_equal(found.traces[0].rips, [[0.4, 0.2], [0.7, 0.1]])


@pytest.mark.parametrize("basis", ["polynomial", "hinge", "step"])
def test_pipelines(basis):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.choice(["m", "f"], 200), rng.normal(size=200)]).astype(object)
    X[:, 1] = np.where(rng.random(200) < 0.2, np.nan, X[:, 1].astype(float))
    y = (X[:, 0] == "m") * 2.0 + np.nan_to_num(X[:, 1].astype(float), nan=2.0) + rng.logistic(size=200) > 1.5
    steps = ColumnTransformer(
        [("text", OneHotEncoder(drop="if_binary"), [0]), ("number", SimpleImputer(add_indicator=True), [1])]
    )
    search = RFSCClassifier(basis=basis, size=4, random_state=0)
    pipeline = make_pipeline(steps, search).fit(X, y)
    predictor = as_predictor(pipeline)
    np.testing.assert_allclose(predictor.decision_function(X), pipeline.decision_function(X), rtol=1e-12)
    plain = [name for name in predictor.models_[0].names if "x0_m" in name or "missing" in name]
    assert plain
    assert not any(mark in name for name in plain for mark in ("^", "max", ">"))
    loaded = from_json(to_json(pipeline))
    assert loaded.models_[0].names == predictor.models_[0].names
    assert stability(predictor).n_restarts == 3
