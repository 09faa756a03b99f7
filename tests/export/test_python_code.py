"""The generated Python against `decision_function`."""

from __future__ import annotations

import ast

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rfsc._model import Predictor
from rfsc.export import to_python

from .random_models import (
    LEVELS,
    answers,
    assert_agree,
    assert_same_classes,
    awkward_rows,
    ordinary_rows,
    random_model,
    random_models,
    random_predictor,
    raw_rows,
    recipe_predictor,
    with_gaps,
)


def made(predictor, name="predict"):
    """The generated function."""
    space = {}
    exec(to_python(predictor, name), space)
    return space[name]


def check(predictor, names, rows):
    decision, probability, predicted = answers(predictor, rows)
    gaps = np.isnan(decision).any(axis=1)
    decision[gaps] = np.nan  # the function needs all that any formula needs
    predict = made(predictor)
    found = [predict(dict(zip(names, row, strict=True))) for row in rows]
    n, n_classes = decision.shape[1], probability.shape[1]
    assert_agree([list(x["decision"].values()) if x else [np.nan] * n for x in found], decision)
    assert_agree([list(x["probability"].values()) if x else [np.nan] * n_classes for x in found], probability)
    assert_same_classes([x and x["label"] for x in found], predicted, decision)


@pytest.mark.parametrize("classes", [("no", "yes"), (0, 1, 2)], ids=["two", "three"])
@pytest.mark.parametrize("seed", range(20))
def test_random_models_on_awkward_rows(seed, classes):
    predictor, rng = random_predictor(seed, classes), np.random.default_rng(seed)
    model = predictor.models_[0]
    X = np.vstack([ordinary_rows(model, rng), awkward_rows(model, rng)])
    check(predictor, model.feature_names, np.vstack([X, with_gaps(X[::4], rng)]).tolist())


@pytest.mark.parametrize("classes", [("no", "yes"), ("a", "b", "c")], ids=["two", "three"])
@pytest.mark.parametrize("seed", range(5))
def test_recipes(seed, classes):
    predictor = recipe_predictor(seed, classes, n_terms=8)
    names = [column.name for column in predictor.recipe_.columns]
    check(predictor, names, raw_rows(np.random.default_rng(seed)))


@given(
    st.lists(st.text(), min_size=2, max_size=2, unique=True), st.lists(st.text(), min_size=2, max_size=3, unique=True)
)
def test_any_name_is_safe(names, labels):
    models = random_models(3, labels[1:] if len(labels) == 2 else labels, ranges=[(0.0, 3.0)] * 2, names=names)
    check(Predictor(models, np.array(labels, dtype=object)), names, [[1.0, 2.0], [2.5, np.nan]])


def test_it_imports_math_and_nothing_else():
    for seed in range(10):
        tree = ast.parse(to_python(recipe_predictor(seed)))
        imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
        assert [alias.name for node in imports for alias in node.names] == ["math"]


def test_gaps_of_every_kind_and_numbers_of_every_type():
    model = random_model(5, families=["monomial"], ranges=[(0.0, 7.0)], n_terms=2)
    predict = made(model)
    for gap in (None, float("nan"), np.float32("nan"), pd.NA, pd.NaT):
        assert predict({"x0": gap}) is None
    expected = model.decision(np.array([[3.0]]))[0]
    for three in (3, 3.0, np.int8(3), np.float32(3), "3"):
        assert_agree(predict({"x0": three})["decision"]["yes"], expected)
    with pytest.raises(KeyError):
        predict({"x1": 3.0})


def test_labels_keep_their_type():
    for classes in ([0, 1], [True, False], [0.5, 1.5], ["a", "b"]):
        predictor = Predictor([random_model(5, ranges=[(0.0, 7.0)])], np.array(classes))
        answer = made(predictor)({"x0": 1.0})
        assert type(answer["label"]) is type(classes[0])
        assert list(answer["probability"]) == classes


def test_levels_are_shown_as_literals_only():
    text = to_python(recipe_predictor(0, n_terms=8))
    texts = {node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant)}
    assert texts & set(LEVELS)


@pytest.mark.parametrize("name", ["a b", "1a", "class", "math", "_scaled", "f(x):\n  pass\ndef g"])
def test_names_that_cannot_be_are_refused(name):
    with pytest.raises(ValueError, match="name"):
        to_python(random_model(1), name)
