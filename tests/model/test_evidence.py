"""What the search saw, on the model: checked against the searches themselves."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, PowerTransformer, StandardScaler

from rfsc import Restrictions, RFSCClassifier, SearchSettings
from rfsc._model import Predictor
from rfsc._model.access import as_predictor, models_of

QUICK = {"n_restarts": 3, "search": SearchSettings(max_iter=20), "random_state": 1}


@pytest.fixture(scope="module")
def fitted():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    settings = QUICK | {"search": SearchSettings(filter_significance=0.01, max_iter=20)}
    return RFSCClassifier(basis="polynomial", **settings).fit(X, y)


def test_selections_and_rips_are_those_of_the_restarts(fitted):
    (model,) = fitted.models_
    evidence = model.evidence
    assert evidence.terms[: len(model.terms)] == model.terms
    assert evidence.n_restarts == 3
    assert evidence.n_candidates == fitted.n_terms_[0]
    for restart, search in enumerate(fitted.searches_[0]):
        held = {name for name, inside in zip(evidence.term_names, evidence.selected[restart], strict=True) if inside}
        assert held == set(fitted.term_names(search.model.ids))
        last = search.history[-1].rips
        known = dict(zip(fitted.term_names(last.ids), last.values, strict=True))
        expected = [round(known.get(name, 0.0), 5) for name in evidence.term_names]
        np.testing.assert_allclose(evidence.rip[restart], expected, atol=1e-9)
        assert evidence.stop_reasons[restart] == search.stop_reason


def test_traces_follow_the_history(fitted):
    evidence = fitted.models_[0].evidence
    names = [evidence.term_names[j] for j in evidence.traced]
    assert set(fitted.models_[0].names) <= set(names)
    for trace, search in zip(evidence.traces, fitted.searches_[0], strict=True):
        assert trace.rips.shape == (search.n_iter, len(names))
        np.testing.assert_allclose(trace.mean_score, [r.mean_score for r in search.history], atol=1e-5)
        np.testing.assert_allclose(trace.size_kept, [r.mean_size_kept for r in search.history], atol=1e-5)
        middle = search.history[search.n_iter // 2].rips
        known = dict(zip(fitted.term_names(middle.ids), middle.values, strict=True))
        np.testing.assert_allclose(trace.rips[search.n_iter // 2], [known.get(name, 0.0) for name in names], atol=1e-5)


def test_the_filter_records_what_it_dropped(fitted):
    test = fitted.models_[0].evidence.filter
    dropped = np.flatnonzero(test.statistic <= test.threshold)
    assert dropped.size
    assert not set(dropped) & {p for term in fitted.models_[0].evidence.terms for p in term.features}


@pytest.mark.slow
def test_restarts_of_every_output_share_one_table():
    X, y = load_iris(return_X_y=True)
    clf = RFSCClassifier(basis="auto", **QUICK).fit(X, y)
    for model, searches in zip(clf.models_, clf.searches_, strict=True):
        evidence = model.evidence
        assert evidence.n_restarts == len(searches)
        assert len(set(evidence.terms)) == len(evidence.terms)
        sizes = [search.model.ids.size for search in searches]
        assert evidence.selected.sum(axis=1).tolist() == sizes


def test_sources_of_models(fitted):
    X, _ = load_breast_cancer(return_X_y=True, as_frame=True)
    predictor = as_predictor(fitted)
    np.testing.assert_array_equal(predictor.decision_function(X), fitted.decision_function(X))
    assert as_predictor(predictor) is predictor
    assert models_of(fitted.models_[0]) == fitted.models_ == models_of(fitted)
    again = pickle.loads(pickle.dumps(predictor))
    np.testing.assert_array_equal(again.predict(X), fitted.predict(X))
    assert isinstance(again, Predictor)
    with pytest.raises(TypeError, match="expected a fitted RFSCClassifier"):
        as_predictor("model.json")


def test_a_renamed_model_renames_its_evidence(fitted):
    names = [f"f{j}" for j in range(30)]
    model = fitted.models_[0].renamed(names)
    assert {name[0] for name in model.names} <= {"f", "1"}
    assert model.evidence.term_names[: len(model.terms)] == model.names


def test_a_pipeline_becomes_a_recipe():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"age": rng.normal(50, 10, 80), "sex": rng.choice(["f", "m"], 80), "dose": rng.normal(size=80)}
    )
    frame.loc[::7, "age"] = np.nan
    y = (frame["dose"] + (frame["sex"] == "f") > 0.5).to_numpy()
    prepared = make_column_transformer(
        (SimpleImputer(add_indicator=True), ["age", "dose"]), (OneHotEncoder(drop="if_binary"), ["sex"])
    )
    pipeline = make_pipeline(prepared, RFSCClassifier(basis="polynomial", **QUICK)).fit(frame, y)
    predictor = as_predictor(pipeline)
    np.testing.assert_array_equal(predictor.decision_function(frame), pipeline.decision_function(frame))
    assert predictor.feature_names_in_.tolist() == ["age", "sex", "dose"]
    assert predictor.models_[0].feature_names == tuple(prepared.get_feature_names_out())
    alone = make_pipeline(RFSCClassifier(basis="polynomial", **QUICK)).fit(frame[["dose"]], y)
    assert as_predictor(alone).recipe_ is None
    with pytest.raises(NotFittedError):
        as_predictor(make_pipeline(prepared, RFSCClassifier()))


def test_models_behind_steps_that_no_recipe_can_express_keep_the_names_of_these():
    X, y = load_iris(return_X_y=True, as_frame=True)
    pipeline = make_pipeline(PCA(2), RFSCClassifier(basis="polynomial", **QUICK)).fit(X, y == 1)
    (model,) = models_of(pipeline)
    assert model.feature_names == ("pca0", "pca1")
    with pytest.raises(TypeError, match="PCA"):
        as_predictor(pipeline)
    # a step that keeps the names of the columns must not be mistaken for the columns
    pipeline = make_pipeline(PowerTransformer(), RFSCClassifier(basis="polynomial", **QUICK)).fit(X, y == 1)
    assert models_of(pipeline)[0].feature_names[0] == "PowerTransformer(sepal length (cm))"


@pytest.mark.parametrize("basis", ["polynomial", "centred", "hinge", "step", "radial", "fourier", "sigmoid"])
def test_scalers_before_the_classifier_are_undone(basis):
    """A model behind scalers becomes one of the raw table: the same values, ranges and names in the table's units."""
    rng = np.random.default_rng(2)
    X = pd.DataFrame({"age": rng.normal(50.0, 12.0, 90).round(1), "dose": rng.exponential(3.0, 90)})
    y = X["age"] / 12 + X["dose"] + rng.normal(size=90) > 7
    X.loc[::9, "dose"] = np.nan
    steps = MinMaxScaler(), SimpleImputer(add_indicator=True), StandardScaler()
    pipeline = make_pipeline(*steps, RFSCClassifier(basis=basis, **QUICK)).fit(X, y)
    predictor = as_predictor(pipeline)
    strange = X * 3.0 - 5.0
    for rows in (X, strange):
        np.testing.assert_allclose(
            predictor.decision_function(rows), pipeline.decision_function(rows), rtol=1e-9, atol=1e-9
        )
    (model,) = predictor.models_
    low, span = 2 * model.scaling.half_minimum, 2 * model.scaling.half_span
    np.testing.assert_allclose([low[0], low[0] + span[0]], [X["age"].min(), X["age"].max()])
    table = predictor.features(X)
    parts = model.unscaled()
    rows = dict(enumerate(table.T))
    f = sum(coef * term.column(rows, len(table)) for term, coef in parts.items())
    np.testing.assert_allclose(f, model.decision(table), rtol=1e-6, atol=1e-6)


def test_what_restrictions_name_is_spared_by_the_filter():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    y = X[:, 0] + 0.3 * rng.normal(size=200) > 0
    settings = QUICK | {"search": SearchSettings(filter_significance=1e-6)}
    clf = RFSCClassifier(basis="polynomial", restrictions=Restrictions(force=["x3"]), **settings).fit(X, y)
    test = clf.models_[0].evidence.filter
    assert test.spared == (3,)
    assert test.kept.tolist() == [True, False, False, True]
    assert test.statistic[3] <= test.threshold


def test_steps_that_do_nothing_are_no_steps():
    X, y = load_iris(return_X_y=True)
    for first in ("passthrough", None):
        pipeline = Pipeline([("first", first), ("last", RFSCClassifier(basis="polynomial", **QUICK))]).fit(X, y)
        assert as_predictor(pipeline).recipe_ is None
        scaled = Pipeline([("first", first), ("scale", StandardScaler()), *pipeline.steps[1:]]).fit(X, y)
        np.testing.assert_allclose(as_predictor(scaled).decision_function(X), scaled.decision_function(X), atol=1e-9)


def test_a_grid_search_is_refused_with_advice():
    X, y = load_iris(return_X_y=True)
    grid = GridSearchCV(RFSCClassifier(basis="step", **QUICK), {"significance": [0.05]}, cv=2).fit(X, y)
    with pytest.raises(TypeError, match="Pass its best_estimator_"):
        as_predictor(grid)
