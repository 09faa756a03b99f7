"""The page of text: everything is there, and no line breaks inside a term."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from rfsc import RFSCClassifier
from rfsc._model.access import as_predictor
from rfsc._terms import Term, monomial
from rfsc._terms.hinges import hinge
from rfsc._utils.words import shortened
from rfsc.explain import equation, legend, summary, term_table

from .models import FAMILIES, model_of


@pytest.mark.parametrize("family", FAMILIES)
def test_everything_is_there(family):
    model = model_of(family, n_terms=12)
    text = summary(model)
    assert all(name in text for name, term in zip(model.names, model.terms, strict=True) if term.features)
    assert f"{model.size} terms of {len(model.features)} features" in text
    assert "RIP" not in text
    assert "stability" not in text


@pytest.mark.parametrize("family", FAMILIES)
def test_equation_is_broken_between_terms_only(family):
    model = model_of(family, n_terms=12)
    lines = summary(model).split("\n\n")[1].splitlines()
    assert " ".join(line.strip() for line in lines) == equation(model)
    assert len(lines) > 1
    assert all(line[4] in "+-" for line in lines[1:])


def test_search_figures_where_they_are_known():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    y = (X[:, 0] + 0.4 * rng.normal(size=150) > 0).astype(int)
    clf = RFSCClassifier(basis="polynomial", n_restarts=2, random_state=0).fit(X, y)
    text = summary(clf.models_[0], width=200)
    head = next(line for line in text.splitlines() if line.startswith("term"))
    assert head.split() == ["term", "worth", "odds", "×", "for"]
    assert "stability" not in text
    assert "Caution" not in summary(clf)
    html = summary(clf)._repr_html_()
    assert "in the units of the table" in html
    for shown in (html, term_table(clf)._repr_html_()):
        assert "<th>worth</th>" in shown
        assert "p (naive)" not in shown
    assert "p_value" in term_table(clf).to_frame()


def test_few_rows_for_each_term_are_a_caution():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = X[:, 0] + X[:, 1] > 2
    clf = RFSCClassifier(basis="polynomial", size=2, n_restarts=1, random_state=0).fit(X, y)
    caution = f"Caution: {min(y.sum(), (~y).sum())} rows of the rarer class for 2 terms, fewer than ten"
    for text in (summary(clf), summary(make_pipeline(clf)), clf.front_.text()):
        assert caution in " ".join(text.split())
    assert "Caution" not in summary(clf.models_[0])  # which does not know


def test_few_rows_are_those_of_the_class_of_a_formula():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(130, 2))
    y = np.where(X[:, 0] > 0, "a", np.where(X[:, 1] > 0.7, "c", "b"))
    clf = RFSCClassifier(basis="step", size=2, n_restarts=1, random_state=0).fit(X, y)
    n_c = (y == "c").sum()
    assert n_c < 20
    assert f"Caution: {n_c} rows of the rarer class" in " ".join(summary(clf, label="c").split())
    assert "Caution" not in summary(clf, label="a")


def test_weighted_classes_are_a_caution():
    model = model_of("hinge")
    X = np.random.default_rng(0).normal(size=(100, 2))
    for weight in (None, "balanced", {False: 1.0, True: 3.0}):
        clf = RFSCClassifier(basis="step", size=1, n_restarts=1, random_state=0, class_weight=weight)
        clf.fit(X, X[:, 0] + X[:, 1] > 1)
        said = [" ".join(summary(one).split()) for one in (clf, make_pipeline(clf), as_predictor(clf))]
        assert ["class_weight changed" in text for text in said] == [weight is not None] * 3
    assert "class_weight" not in summary(model)


def test_lines_are_as_long_as_they_may_be():
    model = model_of("hinge")
    for width in (60, 100):
        lines = [line for line in summary(model, width=width).splitlines() if "  " not in line.strip()]
        assert max(map(len, lines)) <= width


def test_zero_model():
    model = model_of("polynomial")
    assert "\nf = 0\n" in summary(replace(model, coef=np.zeros(len(model.terms))))


def test_long_names_are_shortened_in_their_middle():
    assert shortened("abcdefghij", 10) == "abcdefghij"
    assert shortened("abcdefghijk", 7) == "abc…ijk"
    assert len(shortened("x" * 99, 48)) == 48


def test_yes_or_no_features_are_on_their_own_scale():
    rng = np.random.default_rng(0)
    X = rng.normal(50, 9, (80, 4))
    X[:, 0] = rng.integers(0, 2, 80)
    terms = (monomial((0,)), monomial((1,)), Term(hinge(1, 1, 0.5, 50.0)))
    model = replace(model_of("hinge", X=X), terms=terms, coef=np.array([1.0, 2.0, 3.0]), standard_error=None)
    text = equation(model, units="scaled")
    assert "f = 1*a + 2*scaled(b) + 3*max(0, b-50)/" in text
    assert "scaled(a)" not in text
    assert "scaled(b) is b scaled to [0, 1]" in " ".join(legend(model))
