"""A pipeline that shifts and scales its numbers is explained in the units of the table that it reads."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from rfsc import RFSCClassifier
from rfsc._model.access import models_of
from rfsc.explain import contributions, definitions, equation, explain, legend, rounded, summary, term_table

from .models import FAMILIES, NAMES, computed, table


def classes(X):
    return ((X[:, 0] - 50) / 12 + (X[:, 2] - 2000) / 3 + np.random.default_rng(0).normal(size=len(X)) > 0).astype(int)


def pipeline(family, scaler):
    X = pd.DataFrame(table(0, n=200), columns=list(NAMES))
    basis = FAMILIES.get(family, family)
    pipe = make_pipeline(scaler, RFSCClassifier(basis=basis, n_restarts=1, random_state=0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return pipe.fit(X, classes(X.to_numpy())), X


@pytest.mark.parametrize("scaler", [StandardScaler(), MinMaxScaler((-1, 1))], ids=["standard", "min-max"])
@pytest.mark.parametrize("family", FAMILIES)
def test_the_equation_reads_the_raw_table(family, scaler):
    pipe, X = pipeline(family, scaler)
    f = pipe.decision_function(X)
    (model,) = models_of(pipe)
    text = equation(pipe, units="original", digits=17)
    by_hand = computed(text, X.to_numpy(), model, definitions(pipe, error=0.0))
    np.testing.assert_allclose(by_hand, f, rtol=1e-6, atol=1e-6)
    assert equation(model, units="original", digits=17) == text


def test_explanations_use_the_raw_numbers():
    pipe, X = pipeline("hinge", StandardScaler())
    names = term_table(pipe).term
    (alone,) = pipe[-1].models_  # which knows the scaled numbers only
    assert contributions(pipe, X).names == names != alone.names
    np.testing.assert_allclose(contributions(pipe, X).values.sum(axis=1), pipe.decision_function(X), atol=1e-9)
    assert all(name in summary(pipe) for name in names)
    assert equation(pipe) != equation(alone)
    strongest = explain(pipe, X.iloc[0])
    assert any(name in strongest for name in names)
    assert not any(name in strongest for name in alone.names if name != "1")
    assert rounded(pipe, 2).model.terms == models_of(pipe)[0].terms


def test_names_of_bumps_stay_short():
    pipe, X = pipeline("radial", StandardScaler())
    mentions = [part for term in models_of(pipe)[0].terms for part in term.label or () if not isinstance(part, str)]
    shown = [(X.columns[mention.feature], mention.value) for mention in mentions]
    assert shown
    for name, value in shown:
        assert len(f"{value:.15g}".lstrip("-0.").replace(".", "")) <= 6
        assert X[name].min() <= value <= X[name].max()


def test_ranges_are_those_of_the_table():
    pipe, X = pipeline("polynomial", StandardScaler())
    (line,) = legend(pipe)
    for name in {name for name in NAMES if f"{name} from" in line}:
        assert f"{name} from {X[name].min():.6g} to {X[name].max():.6g}" in line
