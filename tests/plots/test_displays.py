"""The numbers behind every display, against a computation by hand; and the errors if there is nothing to draw."""

from __future__ import annotations

import pickle
from dataclasses import fields, replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure
from scipy import stats
from sklearn.calibration import calibration_curve
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from statsmodels.stats.proportion import proportion_confint

from rfsc import RFSCClassifier
from rfsc.export import load, save
from rfsc.plots import (
    CalibrationDisplay,
    CoefficientsDisplay,
    FeatureEffectsDisplay,
    RIPEvolutionDisplay,
    RowContributionsDisplay,
)

OF_A_MODEL = (
    RIPEvolutionDisplay,
    CoefficientsDisplay,
    FeatureEffectsDisplay,
)
OF_SAMPLES = (CalibrationDisplay,)


# ---- the search


def test_rip_evolution_shows_what_the_search_recorded(two_classes):
    clf, _, _ = two_classes
    display = RIPEvolutionDisplay.from_estimator(clf, restart=1)
    search = clf.searches_[0][1]
    for j, name in enumerate(display.names):
        course = []
        for record in search.history:
            known = dict(zip(clf.term_names(record.rips.ids), record.rips.values, strict=True))
            course.append(known.get(name, 0.0))
        np.testing.assert_allclose(display.rips[:, j], course, atol=1e-5)
    assert set(np.array(display.names)[display.in_model]) == set(clf.models_[0].names)
    chosen = {name for name, here in zip(display.names, display.chosen, strict=True) if here}
    assert chosen <= set(clf.term_names(search.model.ids))


def test_the_restart_most_similar_to_the_model_is_highlighted(two_classes):
    _, X, y = two_classes
    clf = RFSCClassifier(basis="polynomial", size=None, n_restarts=2, random_state=0).fit(X, y)
    for restart in range(2):
        model, evidence = clf.restart_model(restart), clf.models_[0].evidence
        order = [evidence.terms.index(term) for term in model.terms]
        order += [j for j in range(len(evidence.terms)) if j not in order]
        terms, selected = tuple(evidence.terms[j] for j in order), evidence.selected[:, order]
        model = replace(model, evidence=replace(evidence, terms=terms, selected=selected))
        shown = RIPEvolutionDisplay.from_estimator(model)
        np.testing.assert_array_equal(shown.rips, model.evidence.traces[restart].rips)


def test_of_equal_restarts_the_one_with_the_best_score_is_shown(large):
    model, _, _ = large
    evidence = replace(model.evidence, selected=np.ones_like(model.evidence.selected))
    best = int(np.argmax([trace.best_score.max() for trace in evidence.traces]))
    display = RIPEvolutionDisplay.from_estimator(replace(model, evidence=evidence))
    np.testing.assert_array_equal(display.rips, evidence.traces[best].rips)


# ---- the model


@pytest.mark.parametrize("level", [0.5, 0.95])
def test_intervals_exclude_zero_where_the_p_value_is_small(large, level):
    model, _, _ = large
    display = CoefficientsDisplay.from_estimator(model, level=level)
    order = [model.names.index(name) for name in display.names]
    np.testing.assert_array_equal(display.coef, model.coef[order])
    assert (np.diff(np.abs(display.coef)) <= 0).all()
    np.testing.assert_array_equal(np.abs(display.coef) > display.reach, model.p_value[order] < 1 - level)
    freedom = model.n_observations - len(model.terms)
    np.testing.assert_allclose(stats.t.cdf(display.reach / model.standard_error[order], freedom), 0.5 + level / 2)


def test_feature_effects_are_what_the_feature_alone_changes():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(300, 2)) * [1, 10] + [0, 50], columns=["dose", "age"])
    y = np.abs(X["dose"]) + (X["age"] > 55) + 0.5 * rng.normal(size=300) > 1
    settings = {"size": 4, "n_restarts": 1, "random_state": 0}
    pipe = make_pipeline(StandardScaler(), RFSCClassifier(["hinge", "step"], **settings)).fit(X, y)
    display = FeatureEffectsDisplay.from_estimator(pipe, X)
    assert sorted(display.names) == ["age", "dose"]
    for name, (x, f), ax in zip(display.names, display.curves, display.ax_, strict=True):
        inside = np.arange(1, len(x), 7)  # beside a jump the pipeline may round to its other side
        inside = inside[np.abs(x[inside, None] - display.knots[display.names.index(name)][0]).min(axis=1) > 1e-9]
        rows = pd.DataFrame([X.median()] * (len(inside) + 1)).assign(**{name: [x[0], *x[inside]]})
        decision = pipe.decision_function(rows)
        np.testing.assert_allclose(f[inside], (decision - decision[0])[1:], atol=1e-6)
        assert ax.get_xlabel() == name
        assert len(ax.patches) == 30
    assert len({ax.get_ylim() for ax in display.ax_}) == 1
    one = FeatureEffectsDisplay.from_estimator(pipe, max_features=1)
    assert "the 1 of 2" in one.figure_.get_suptitle()


def test_an_average_has_no_intervals(large):
    model, _, _ = large
    display = CoefficientsDisplay.from_estimator(replace(model, standard_error=None))
    assert display.reach is None
    assert "interval" not in display.ax_.get_xlabel()


# ---- samples


def test_contributions_of_one_row_add_up(two_classes):
    clf, X, _ = two_classes
    display = RowContributionsDisplay.from_estimator(clf, X.iloc[[7]])
    assert display.total == pytest.approx(clf.decision_function(X.iloc[[7]])[0], abs=1e-9)
    model = clf.models_[0]
    by_hand = dict(zip(model.names, model.coef * model.columns(X.iloc[[7]].to_numpy())[:, 0], strict=True))
    assert dict(zip(display.names, display.contribution, strict=True)) == by_hand
    assert (np.diff(np.abs(display.contribution)) <= 0).all()


def test_terms_beyond_max_terms_share_one_bar(large):
    model, X, _ = large
    display = RowContributionsDisplay.from_estimator(model, X[:1], max_terms=5)
    widths = [bar.get_width() for bar in display.ax_.patches]
    assert len(widths) == 6
    assert sum(widths) == pytest.approx(model.decision(X[:1])[0])
    assert display.ax_.get_yticklabels()[-1].get_text() == "+35 more, together"


# ---- calibration


@given(
    st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=60),
    st.sampled_from([1, 3, 10]),
)
def test_calibration_against_scikit_learn_and_statsmodels(pairs, n_bins):
    probability, happened = np.array([p for p, _ in pairs]), np.array([h for _, h in pairs])
    axes = Figure().subplots(2, 1)
    display = CalibrationDisplay.from_predictions(happened, probability, n_bins=n_bins, ax=axes)
    full = display.count > 0
    assert display.count.sum() == len(pairs)
    low, high = proportion_confint(
        np.round(display.observed[full] * display.count[full]), display.count[full], method="wilson"
    )
    np.testing.assert_allclose(display.low[full], low, atol=1e-12)
    np.testing.assert_allclose(display.high[full], high, atol=1e-12)
    assert np.isnan(display.observed[~full]).all()
    on_a_border = np.isin(probability, display.edges[1:-1]).any()  # either bin is right
    if 0 < happened.sum() < len(happened) and not on_a_border:
        observed, predicted = calibration_curve(happened, probability, n_bins=n_bins)
        np.testing.assert_allclose(display.observed[full], observed)
        np.testing.assert_allclose(display.predicted[full], predicted)


def test_calibration_by_groups_has_the_intervals_of_independent_rows():
    rng = np.random.default_rng(0)
    probability = rng.random(300)
    happened = rng.random(300) < probability
    rows = CalibrationDisplay.from_predictions(happened, probability, n_bins=4)
    many = [np.repeat(values, 5) for values in (happened, probability)]
    blind = CalibrationDisplay.from_predictions(*many, n_bins=4)
    grouped = CalibrationDisplay.from_predictions(*many, groups=np.repeat(np.arange(300), 5), n_bins=4)
    np.testing.assert_allclose(grouped.high - grouped.low, rows.high - rows.low, rtol=0.02)
    assert ((blind.high - blind.low) < 0.6 * (rows.high - rows.low)).all()
    single = CalibrationDisplay.from_predictions(happened, probability, groups=np.arange(300), n_bins=4)
    np.testing.assert_allclose(single.low, rows.low, atol=0.01)


def test_calibration_of_a_class_or_of_the_predicted_class(three_classes):
    clf, X, y = three_classes
    proba = clf.predict_proba(X)
    of_class = CalibrationDisplay.from_estimator(clf, X, y, label="virginica")
    by_hand = CalibrationDisplay.from_predictions(y == "virginica", proba[:, 2])
    np.testing.assert_array_equal(of_class.count, by_hand.count)
    np.testing.assert_array_equal(of_class.observed, by_hand.observed)
    predicted = CalibrationDisplay.from_estimator(clf, X, y)
    full = predicted.count > 0
    assert (predicted.observed[full] @ predicted.count[full]) / len(y) == pytest.approx(clf.score(X, y))


def test_calibration_of_a_single_model_is_that_of_its_class(two_classes):
    clf, X, y = two_classes
    whole, model = (CalibrationDisplay.from_estimator(s, X, y) for s in (clf, clf.models_[0]))
    np.testing.assert_array_equal(whole.observed, model.observed)
    numbered = replace(clf.models_[0], label=1)
    np.testing.assert_array_equal(
        CalibrationDisplay.from_estimator(numbered, X, (y == "malignant") * 1).observed, whole.observed
    )


def test_calibration_of_a_pipeline_agrees_with_its_predictions(two_classes):
    _, X, y = two_classes
    settings = {"basis": "polynomial", "n_restarts": 1, "random_state": 0}
    pipe = make_pipeline(StandardScaler(), RFSCClassifier(**settings)).fit(X, y)
    by_hand = CalibrationDisplay.from_predictions(y == "malignant", pipe.predict_proba(X)[:, 1])
    np.testing.assert_allclose(CalibrationDisplay.from_estimator(pipe, X, y).predicted, by_hand.predicted, atol=1e-9)


# ---- sources


@pytest.mark.parametrize("display", OF_A_MODEL)
def test_a_saved_model_is_drawn_like_its_classifier(two_classes, tmp_path, display):
    clf, _, _ = two_classes
    save(clf, tmp_path / "model.json")
    fresh, loaded = display.from_estimator(clf), display.from_estimator(load(tmp_path / "model.json"))
    for field in fields(display):
        one, other = getattr(fresh, field.name), getattr(loaded, field.name)
        np.testing.assert_equal(one, other)


@pytest.mark.parametrize("display", [*OF_A_MODEL, *OF_SAMPLES])
def test_displays_can_be_pickled(two_classes, display):
    drawn = display.from_estimator(*(two_classes[:1] if display in OF_A_MODEL else two_classes))
    again = pickle.loads(pickle.dumps(drawn))
    for field in fields(display):
        np.testing.assert_equal(getattr(again, field.name), getattr(drawn, field.name))


# ---- errors


def test_error_messages(two_classes):
    clf, X, y = two_classes
    model = clf.models_[0]
    for call, words in (
        (lambda: CoefficientsDisplay.from_estimator(clf, output=1), "between 0 and 0"),
        (lambda: CoefficientsDisplay.from_estimator(clf, level=95), "such as 0.95"),
        (lambda: RIPEvolutionDisplay.from_estimator(replace(model, evidence=None)), "no record of its search"),
        (lambda: RIPEvolutionDisplay.from_estimator(clf, restart=2), "between 0 and 1"),
        (
            lambda: RIPEvolutionDisplay.from_estimator(replace(model, evidence=replace(model.evidence, traces=()))),
            "were not saved",
        ),
        (lambda: CalibrationDisplay.from_estimator(clf, X, y[:5]), "one label for each of the 285 rows"),
        (lambda: CalibrationDisplay.from_estimator(clf, X, np.full(len(X), "private")), "not among the 2 classes"),
        (lambda: CalibrationDisplay.from_estimator(clf, X, y, label="private"), "one of the 2 classes"),
        (lambda: CalibrationDisplay.from_predictions([], []), "at least one sample"),
        (lambda: CalibrationDisplay.from_predictions([True], [3.0]), "between 0 and 1"),
        (lambda: RowContributionsDisplay.from_estimator(clf, X), "one row"),
    ):
        with pytest.raises(ValueError, match=words) as error:
            call()
        assert "private" not in str(error.value)
    with pytest.raises(TypeError, match="RFSCClassifier"):
        CoefficientsDisplay.from_estimator("model")
