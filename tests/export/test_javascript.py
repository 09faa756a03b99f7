"""The generated JavaScript against `decision_function`, run by Node.js."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from rfsc._model import Predictor
from rfsc.export import to_javascript

from .random_models import (
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

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="needs Node.js (Debian: apt install nodejs)")


def check(run_javascript, pairs):
    for (predictor, _, rows), found in zip(pairs, run_javascript(pairs), strict=True):
        decision, probability, predicted = answers(predictor, rows)
        decision[np.isnan(decision).any(axis=1)] = np.nan  # the function needs all that any formula needs
        labels = [str(label) for label in predictor.classes_]
        outputs = labels[1:] if len(predictor.models_) == 1 else labels
        assert_agree([by_label(x and x[1], outputs) for x in found], decision)
        assert_agree([by_label(x and x[2], labels) for x in found], probability)
        assert_same_classes([x and x[0] for x in found], predicted, decision)


def by_label(pairs, labels):
    """The numbers in the order of the labels."""
    return [np.nan] * len(labels) if pairs is None else [dict(pairs)[label] for label in labels]


@needs_node
@pytest.mark.parametrize("classes", [("no", "yes"), (2, 10, 1)], ids=["two", "three"])
def test_random_models_on_awkward_rows(run_javascript, classes):
    pairs = []
    for seed in range(20):
        predictor, rng = random_predictor(seed, classes), np.random.default_rng(seed)
        model = predictor.models_[0]
        X = np.vstack([ordinary_rows(model, rng), awkward_rows(model, rng)])
        pairs.append((predictor, model.feature_names, np.vstack([X, with_gaps(X[::4], rng)]).tolist()))
    check(run_javascript, pairs)


@needs_node
@pytest.mark.parametrize("classes", [("no", "yes"), ("a", "b", "c")], ids=["two", "three"])
def test_recipes(run_javascript, classes):
    pairs = []
    for seed in range(8):
        predictor = recipe_predictor(seed, classes, n_terms=8)
        names = [column.name for column in predictor.recipe_.columns]
        pairs.append((predictor, names, raw_rows(np.random.default_rng(seed))))
    check(run_javascript, pairs)


HOSTILE = [
    "</script><img src=x onerror=alert(1)>",
    "__proto__",
    "${1}`\\",
    '"\n\u2028*/ //',
    "constructor",
    "<!--",
    "é\0",
]


@needs_node
def test_any_name_is_safe(run_javascript):
    pairs = []
    for i, text in enumerate(HOSTILE):
        names, labels = [text, HOSTILE[i - 1]], [text, "b", "c"][: 2 + i % 2]
        models = random_models(3, labels[1:] if len(labels) == 2 else labels, ranges=[(0.0, 3.0)] * 2, names=names)
        pairs.append((Predictor(models, np.array(labels, dtype=object)), names, [[1.0, 2.0], [2.5, np.nan]]))
        assert not set(to_javascript(pairs[-1][0])) & set("<\0\u2028")
    check(run_javascript, pairs)


@needs_node
def test_cells_that_are_no_numbers(run_javascript):
    model = random_model(5, families=["monomial"], ranges=[(0.0, 7.0)], n_terms=2)
    pairs = [(model, ["x0"], [[3.0], ["3"], [True], ["three"], [" "]]), (model, ["x1"], [[3.0]])]
    numbers, lacking = run_javascript(pairs)
    assert_agree([x[1][0][1] for x in numbers[:3]], model.decision(np.array([[3.0], [3.0], [1.0]])))
    assert numbers[3:] == [{"error": "column x0 must hold numbers, or null if one is missing"}] * 2
    assert lacking == [{"error": "the row lacks the column x0"}]


@needs_node
def test_labels_keep_their_type(run_javascript):
    for classes, expected in (([0, 1], 1), ([True, False], False), ([0.5, 1.5], 1.5), ([0, 2**60], str(2**60))):
        model = random_model(5, families=["hinge"], ranges=[(0.0, 7.0)])
        label = run_javascript([(Predictor([model], np.array(classes)), ["x0"], [[1.0], [6.0], [90.0], [-90.0]])])
        assert {type(x[0]) for x in label[0]} <= {type(expected), type(classes[0])}
        assert {x[0] for x in label[0]} <= {classes[0], expected}


def test_it_imports_nothing():
    for seed in range(10):
        text = to_javascript(recipe_predictor(seed))
        assert "import" not in text
        assert "require" not in text


@pytest.mark.parametrize("name", ["a b", "1a", "class", "Math", "_scaled", "f(x) {}\nfunction g", "é", ""])
def test_names_that_cannot_be_are_refused(name):
    with pytest.raises(ValueError, match="name"):
        to_javascript(random_model(1), name)
