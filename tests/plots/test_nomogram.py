"""The nomogram: what is read off it is the formula, and it can be read."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from scipy.special import expit

from rfsc import RFSCClassifier, SearchSettings
from rfsc.plots import NomogramDisplay
from rfsc.plots.drawing import shorten_all
from tests.explain.models import model_of

from . import legible

QUICK = {"n_restarts": 1, "size": 4, "random_state": 0, "search": SearchSettings(max_iter=15, n_models=40)}


@pytest.fixture(scope="module", params=["hinge", "step", "rule"])
def drawn(request, two_classes):
    _, X, y = two_classes
    clf = RFSCClassifier(basis=request.param, **QUICK).fit(X, y)
    return NomogramDisplay.from_estimator(clf, ax=Figure(layout="constrained"))


def test_points_of_single_values_give_the_formula(two_classes):
    _, X, y = two_classes
    clf = RFSCClassifier(basis="hinge", **QUICK).fit(X, y)
    display = NomogramDisplay.from_estimator(clf, ax=Figure())
    row = X.mean().to_dict()
    total = 0.0
    for name, scales in zip(display.names, display.scales, strict=True):
        (ticks,) = scales
        value, points = next((float(text), at) for at, text in ticks if text and text[0].isdigit())
        row[name], total = value, total + points
    f = clf.decision_function(pd.DataFrame([row])[X.columns])[0]
    assert display.f_at_zero + display.f_per_point * total == pytest.approx(f, abs=0.02 * np.ptp(X, axis=0).size)
    assert display.highest >= total
    assert max(at for scales in display.scales for ticks in scales for at, _ in ticks) == pytest.approx(100)


def test_totals_and_probabilities_belong_together(drawn):
    display = drawn
    texts = {text.get_text(): text.get_position() for text in display.ax_.texts}
    risks = {float(text[:-2]) / 100: x for text, (x, _) in texts.items() if text.endswith(" %")}
    bottom = max(y for text, (_, y) in texts.items() if not text.endswith(" %"))
    totals = {float(text): x for text, (x, y) in texts.items() if y == bottom}
    places = np.array([[x, total] for total, x in totals.items()])
    slope, start = np.polyfit(*places.T, 1)
    for risk, x in risks.items():
        assert expit(display.f_at_zero + display.f_per_point * (start + slope * x)) == pytest.approx(risk, rel=1e-6)


def test_it_can_be_read(drawn):
    display = drawn
    legible.check(display.figure_)
    assert [text.get_text() for text in display.ax_.get_yticklabels()][1:-2] == shorten_all(display.names)


def test_an_effect_that_turns_has_a_scale_for_each_direction(two_classes):
    X = np.column_stack([np.linspace(-1, 1, 400), np.zeros(400)])
    y = np.random.default_rng(0).random(400) < expit(6 * np.abs(X[:, 0]) - 3)
    clf = RFSCClassifier(basis="hinge", **QUICK).fit(X, y)
    display = NomogramDisplay.from_estimator(clf, X, ax=Figure())
    assert len(display.names) == 1
    assert len(display.scales[0]) >= 2


def test_rules_are_yes_or_no(two_classes):
    model = model_of("rule", seed=2)
    display = NomogramDisplay.from_estimator(model, ax=Figure())
    rules = {name for name, term in zip(model.names, model.terms, strict=True) if len(term.features) > 1}
    assert rules
    for name, scales in zip(display.names, display.scales, strict=True):
        if name in rules:
            assert {text for _, text in scales[0]} == {"no", "yes"}


def test_products_are_refused(two_classes):
    with pytest.raises(ValueError, match="cannot be read off one feature at a time"):
        NomogramDisplay.from_estimator(two_classes[0])
