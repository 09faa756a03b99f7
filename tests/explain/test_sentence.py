"""Plain words on why: true, whatever the form of the row, and honest about what it does not know."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from rfsc import RFSCClassifier
from rfsc._model import Predictor
from rfsc._model.access import as_predictor
from rfsc._terms.scaling import Scaling
from rfsc.bases import Polynomial
from rfsc.explain import explain
from rfsc.explain.sentence import explanation
from rfsc.export import load, save

from .models import FAMILIES, NAMES, model_of, table

QUICK = {"n_restarts": 1, "random_state": 0}


@pytest.fixture(scope="module")
def binary():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"age": rng.uniform(20, 80, 200).round(), "bmi": rng.uniform(18, 40, 200).round(1)})
    y = np.where((X.age - 50) / 15 + (X.bmi - 29) / 5 + 0.5 * rng.normal(size=200) > 0, "ill", "well")
    return RFSCClassifier(basis="polynomial", **QUICK).fit(X, y), X


@pytest.fixture(scope="module")
def raw():
    """Text, blanks and standardised numbers before the classifier."""
    rng = np.random.default_rng(1)
    X = pd.DataFrame(
        {
            "age": rng.uniform(20, 80, 300).round(),
            "city": rng.choice(["Rome", "Oslo", "Lima"], 300, p=[0.4, 0.25, 0.35]),
        }
    )
    y = np.where((X.age - 50) / 12 + 2.0 * (X.city == "Oslo") + 0.5 * rng.normal(size=300) > 0.7, "yes", "no")
    X.loc[::17, "age"] = np.nan
    numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    before = ColumnTransformer([("n", numbers, ["age"]), ("c", OneHotEncoder(handle_unknown="ignore"), ["city"])])
    pipe = make_pipeline(before, RFSCClassifier(basis=Polynomial(degree=1), **QUICK))
    return pipe.fit(X, y), X


def shown(text):
    """Probabilities of a text, and how they are bounded."""
    return [(bound, float(number)) for bound, number in re.findall(r"(above |below )?(0\.\d+)", text)]


def agrees(said, probability):
    bound, number = said
    if bound:
        return probability > number if bound == "above " else probability < number
    return abs(number - probability) < 0.0051


def test_says_the_probability_first_and_no_other_number_for_certainty(binary):
    clf, X = binary
    for i in (0, 1, 2, 7):
        row = X.iloc[[i]]
        text, probability = explain(clf, row), float(clf.predict_proba(row)[0, 1])
        assert text.startswith("The probability of class well is ")
        assert agrees(shown(text)[0], probability)
        assert ("so the model predicts ill" in text) == (clf.predict(row)[0] == "ill")
        assert "confidence" not in text


def test_each_column_is_compared_with_its_median(binary):
    clf, X = binary
    for i in range(10):
        row = X.iloc[[i]]
        here = float(clf.decision_function(row)[0])
        found = explanation(as_predictor(clf), row)
        expected = {}
        for name in X.columns:
            middle = np.sort(X[name])[(len(X) - 1) // 2]
            there = row.assign(**{name: middle})
            gain = here - float(clf.decision_function(there)[0])
            if abs(gain) > 0.05:
                proba = clf.predict_proba(there)[0, 1]
                expected[name] = (gain, f"{row[name].iloc[0]:g}", f"{middle:g}", gain > 0, pytest.approx(proba))
        assert {r.column: (r.value, r.typical, r.raises, r.probability) for r in found.reasons} == {
            name: values[1:] for name, values in expected.items()
        }
        assert [r.column for r in found.reasons] == sorted(expected, key=lambda name: -abs(expected[name][0]))
        for reason in found.reasons:
            verb = "raises" if reason.raises else "lowers"
            words = f"{reason.column} {reason.value} {verb} it compared with the typical {reason.typical} ("
            assert words.lower() in explain(clf, row).lower()


def test_hinges_of_one_feature_are_one_statement(binary):
    _, X = binary
    y = np.where(np.abs(X.age - 50) > 12, "ill", "well")
    clf = RFSCClassifier(basis="hinge", size=4, **QUICK).fit(X, y)
    assert sum(0 in term.features for term in clf.models_[0].terms) > 1
    assert len(re.findall("age", explain(clf, {"age": 71.0, "bmi": 25.0}), re.IGNORECASE)) == 1


def test_the_typical_row_has_no_reasons(binary):
    clf, X = binary
    middle = {name: np.sort(X[name])[(len(X) - 1) // 2] for name in X.columns}
    found = explanation(as_predictor(clf), middle)
    assert found.reasons == ()
    assert found.probability == pytest.approx(found.typical_probability)
    assert "No value of the row changes it much." in explain(clf, middle)


def test_every_form_of_a_row_gives_the_same_sentence(binary):
    clf, X = binary
    row = X.iloc[[3]]
    values = row.iloc[0]
    expected = explain(clf, row)
    forms = [values, values.to_dict(), {"extra": "x", **values.to_dict()}, values.tolist(), values.to_numpy()]
    forms += [row.to_numpy(), pl.DataFrame(row.to_dict(orient="list")), tuple(values), pd.Series(values.tolist())]
    for form in forms:
        assert explain(clf, form) == expected
    assert "bmi " in expected


@pytest.mark.parametrize(("age", "words"), [("x", "column 'age' must hold numbers"), (None, "in 1 column .*: 'age'")])
def test_a_cell_without_a_number_is_named_by_its_column(binary, age, words):
    for row in ({"age": age, "bmi": 30.0}, [age, 30.0]):
        with pytest.raises(ValueError, match=words):
            explain(binary[0], row)


def test_outside_of_the_training_range(binary):
    clf, _ = binary
    text = explain(clf, {"age": 120.0, "bmi": 30.0})
    assert "the row is outside the training range: age = 120 (20 to 80)" in text
    assert "training range" not in explain(clf, {"age": 50.0, "bmi": 30.0})


def test_raw_rows_are_described_by_the_columns_of_the_user(raw):
    pipe, X = raw
    row = pd.DataFrame({"age": [61.0], "city": ["Oslo"]})
    text, usual = explain(pipe, row), X.city.value_counts().idxmax()
    assert usual != "Oslo"
    assert f"ity Oslo raises it compared with the typical {usual} (" in text
    filled = X.age.fillna(X.age.median())
    middle = np.sort(filled)[(len(X) - 1) // 2]
    assert f"ge 61 raises it compared with the typical {middle:g} (" in text
    for name, usual_cell in (("age", middle), ("city", usual)):
        (reason,) = [r for r in explanation(as_predictor(pipe), row).reasons if r.column == name]
        assert reason.probability == pytest.approx(pipe.predict_proba(row.assign(**{name: usual_cell}))[0, 1])
    for gap in (None, np.nan, pd.NA):
        found = explanation(as_predictor(pipe), {"age": gap, "city": "Oslo"})
        assert found.probability == pytest.approx(pipe.predict_proba(row.assign(age=X.age.median()))[0, 1])
    assert explain(pipe, X.iloc[[5]]) == explain(pipe, X.iloc[5])
    low, high = X.age.min(), X.age.max()
    assert f"the row is outside the training range: age = 300 ({low:g} to {high:g})" in explain(
        pipe, {"age": 300, "city": "Rome"}
    )


def test_a_level_without_a_feature_of_its_own_may_be_typical():
    rng = np.random.default_rng(2)
    X = pd.DataFrame({"sex": rng.choice(["f", "m"], 200, p=[0.7, 0.3])})
    y = (X.sex == "m").to_numpy() ^ (rng.random(200) < 0.2)
    for encoder, words in (
        (OneHotEncoder(drop="if_binary", sparse_output=False), "the typical f"),
        (OneHotEncoder(drop=["f"], handle_unknown="ignore", sparse_output=False), "other values of sex"),
    ):
        pipe = make_pipeline(encoder, RFSCClassifier(basis=Polynomial(degree=1), **QUICK)).fit(X, y)
        assert f"Sex m raises it compared with {words} (" in explain(pipe, {"sex": "m"})
        assert "No value of the row changes it much." in explain(pipe, {"sex": "f"})


def test_a_saved_model_says_the_same(raw, tmp_path):
    pipe, X = raw
    save(pipe, tmp_path / "model.json")
    assert explain(load(tmp_path / "model.json"), X.iloc[0]) == explain(pipe, X.iloc[0])


def test_medians_count_weights_as_rows():
    rng = np.random.default_rng(3)
    table, weight = rng.random((3, 50)).round(1), rng.integers(1, 4, 50).astype(float)
    scaling = Scaling(np.zeros(3), np.full(3, 0.5)).with_typical(table, weight)
    twice = np.repeat(table, weight.astype(int), axis=1)
    n = twice.shape[1]
    np.testing.assert_array_equal(scaling.median, np.sort(twice, axis=1)[:, (n - 1) // 2])
    np.testing.assert_allclose(scaling.upper, (twice > 0.5).mean(axis=1))


def test_runner_up_of_several_classes():
    X, y = load_iris(return_X_y=True, as_frame=True)
    clf = RFSCClassifier(basis="polynomial", **QUICK).fit(X, np.array(["setosa", "versicolor", "virginica"])[y])
    for i in (0, 60, 120):
        row = X.iloc[[i]]
        proba = clf.predict_proba(row)[0]
        second = clf.classes_[np.argsort(-proba)[1]]
        text = explain(clf, row)
        assert text.startswith(f"The probability of class {clf.predict(row)[0]} is ")
        assert f"the largest (next: {second} with " in text
        for reason in explanation(as_predictor(clf), row).reasons:
            typical = row.assign(**{reason.column: float(reason.typical)})
            k = list(clf.classes_).index(clf.predict(row)[0])
            assert reason.probability == pytest.approx(clf.predict_proba(typical)[0, k], abs=1e-6)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family(family):
    model = model_of(family, label="ill")
    X = table(5, n=20)
    for row in X:
        text = explain(model, row)
        sick = model.decision(row[None])[0] > 0
        assert text.startswith("The probability of class ill is ")
        assert ("so the model predicts not ill" in text) != sick
        assert "a row in the middle of all ranges" in text  # nothing is known of its training rows
        assert text.endswith(".")


def test_certainty_is_never_claimed():
    model = model_of("step", n_terms=8)
    sure = Predictor([model, model, model], np.array([0, 1, 2]))
    assert "is 0.33" in explain(sure, table()[0])
    steep = type(model)(model.terms, model.coef * 1e3, None, model.scaling, NAMES, "yes", 1.0, None)
    assert re.search(r"is (above 0\.999|below 0\.001)", explain(steep, table()[0]))


@pytest.mark.parametrize(
    ("row", "match"),
    [
        ({"age": 3.0}, r"lacks 1 of the 2 columns that the model was fitted to: 'bmi'"),
        ([1.0, 2.0, 3.0], r"expected one row of 2 values"),
        (pd.DataFrame({"age": [1, 2], "bmi": [3, 4]}), "expected one row, got a table of 2"),
        ({"age": np.nan, "bmi": 30.0}, "missing values in 1 column"),
    ],
)
def test_bad_rows(binary, row, match):
    with pytest.raises(ValueError, match=match):
        explain(binary[0], row)
