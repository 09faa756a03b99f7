"""One sentence on why: true, whatever the form of the row, and honest about what it does not know."""

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
from rfsc.bases import Polynomial
from rfsc.explain import explain, for_and_against

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
    X = pd.DataFrame({"age": rng.uniform(20, 80, 300).round(), "city": rng.choice(["Rome", "Oslo", "Lima"], 300)})
    y = np.where((X.age - 50) / 12 + 2.0 * (X.city == "Oslo") + 0.5 * rng.normal(size=300) > 0.7, "yes", "no")
    X.loc[::17, "age"] = np.nan
    numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    before = ColumnTransformer([("n", numbers, ["age"]), ("c", OneHotEncoder(handle_unknown="ignore"), ["city"])])
    pipe = make_pipeline(before, RFSCClassifier(basis=Polynomial(degree=1), **QUICK))
    return pipe.fit(X, y), X


def test_says_the_class_the_probability_and_the_confidence(binary):
    clf, X = binary
    for row in (X.iloc[0], X.iloc[1], X.iloc[2], X.iloc[7]):
        text = explain(clf, row)
        frame = row.to_frame().T
        code = int(clf.predict(frame)[0] == "well")
        assert f"predicts class {clf.classes_[code]} with probability" in text
        said = re.search(r"probability (above |below )?([\d.]+) \(confidence ([\d.]+)\)", text)
        probability = float(clf.predict_proba(frame)[0, code])
        if said[1] is None:
            assert float(said[2]) == pytest.approx(probability, abs=0.006)
        else:
            assert (probability > float(said[2])) == (said[1] == "above ")
        delta = for_and_against(clf.models_[0], frame.to_numpy()).confidence[0]
        assert float(said[3]) == pytest.approx(abs(delta), abs=0.006)


def test_names_the_strongest_terms_on_the_right_side(binary):
    clf, X = binary
    model = clf.models_[0]
    for i in range(10):
        row = X.iloc[[i]]
        text = explain(clf, row)
        sign = 1 if clf.predict(row)[0] == model.label else -1
        parts = sign * model.coef * model.columns(row.to_numpy())[:, 0]
        strongest = parts[np.argsort(-np.abs(parts))]
        pros, cons = strongest[strongest > 0][:3], strongest[strongest < 0][:2]
        before, after = re.split("favour|outweighs", text, maxsplit=1)
        said = [float(number) for number in re.findall(r"([+-]\d+\.\d\d)\)", before)]
        np.testing.assert_allclose(said, pros, atol=0.006)
        said = [float(number) for number in re.findall(r"([+-]\d+\.\d\d)\)", after)]
        np.testing.assert_allclose(said, cons, atol=0.006)


def test_every_form_of_a_row_gives_the_same_sentence(binary):
    clf, X = binary
    row = X.iloc[[3]]
    values = row.iloc[0]
    expected = explain(clf, row)
    forms = [values, values.to_dict(), {"extra": "x", **values.to_dict()}, values.tolist(), values.to_numpy()]
    forms += [row.to_numpy(), pl.DataFrame(row.to_dict(orient="list")), tuple(values), pd.Series(values.tolist())]
    for form in forms:
        assert explain(clf, form) == expected
    assert "bmi = " in expected


def test_a_constant_that_wins_alone_outweighs_the_rest(binary):
    clf, X = binary
    text = explain(clf, X.loc[X.age.idxmin()])
    assert re.search(r"because the constant \(\+\d+\.\d\d\) outweighs .*bmi", text)


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
    text = explain(pipe, {"age": 61.0, "city": "Oslo"})
    assert f"predicts class {pipe.predict(pd.DataFrame({'age': [61.0], 'city': ['Oslo']}))[0]}" in text
    assert "age = 61 (" in text
    assert "(city = Oslo; " in text
    taken = float(f"{X.age.median():.6g}")
    for gap in (None, np.nan, pd.NA):
        assert f"age missing, taken as {taken:g} (" in explain(pipe, {"age": gap, "city": "Oslo"})
    assert explain(pipe, X.iloc[[5]]) == explain(pipe, X.iloc[5])
    low, high = X.age.min(), X.age.max()
    assert f"the row is outside the training range: age = 300 ({low:g} to {high:g})" in explain(
        pipe, {"age": 300, "city": "Rome"}
    )


def test_runner_up_of_several_classes():
    X, y = load_iris(return_X_y=True, as_frame=True)
    clf = RFSCClassifier(basis="polynomial", **QUICK).fit(X, np.array(["setosa", "versicolor", "virginica"])[y])
    for i in (0, 60, 120):
        row = X.iloc[[i]]
        proba = clf.predict_proba(row)[0]
        second = clf.classes_[np.argsort(-proba)[1]]
        text = explain(clf, row)
        assert f"predicts class {clf.predict(row)[0]} with probability" in text
        assert f"rather than {second} (" in text


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family(family):
    model = model_of(family, label="ill")
    X = table(5, n=20)
    for row in X:
        text = explain(model, row)
        sick = model.decision(row[None])[0] > 0
        assert text.startswith(f"The model predicts class {'' if sick else 'not '}ill with probability")
        assert text.endswith(".")
        assert text.count(". ") == 0  # one sentence


def test_nothing_for_or_against():
    model = model_of("polynomial", n_terms=1, constant=False)
    nothing = Predictor([model], np.array(["no", "yes"]))
    at_zero = 2 * model.scaling.half_minimum
    text = explain(nothing, dict(zip(NAMES, at_zero, strict=True)))
    assert "with probability 0.50 (confidence 0.00), although nothing favours it and nothing counts against it" in text


def test_certainty_is_never_claimed():
    model = model_of("step", n_terms=8)
    sure = Predictor([model, model, model], np.array([0, 1, 2]))
    assert "probability 0.33" in explain(sure, table()[0])
    steep = type(model)(model.terms, model.coef * 1e3, None, model.scaling, NAMES, "yes", 1.0, None)
    assert "probability above 0.999" in explain(steep, table()[0])


@pytest.mark.parametrize(
    ("row", "match"),
    [
        ({"age": 3.0}, r"lacks 1 of the 2 columns that the model was fitted to: 'bmi'"),
        ([1.0, 2.0, 3.0], r"expected one row of 2 values"),
        (pd.DataFrame({"age": [1, 2], "bmi": [3, 4]}), "expected one row, got a table of 2"),
        ({"age": np.nan, "bmi": 30.0}, "missing or infinite values in 1 column"),
    ],
)
def test_bad_rows(binary, row, match):
    with pytest.raises(ValueError, match=match):
        explain(binary[0], row)
