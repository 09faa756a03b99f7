"""ONNX: graphs run by onnxruntime, and by the slow evaluator of the onnx package, agree with the model itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import onnx
import onnxruntime
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx.reference import ReferenceEvaluator

from rfsc import RFSCClassifier
from rfsc._model import Predictor, class_codes, class_probabilities, decision_table
from rfsc._model.recipe import LevelOf, MissingIn, NumberOf, RawColumn, Recipe
from rfsc._terms import Term, monomial
from rfsc._terms.hinges import hinge
from rfsc._terms.scaling import Scaling
from rfsc.export import to_onnx

from .random_models import (
    FAMILIES,
    assert_agree,
    awkward_rows,
    ordinary_rows,
    random_model,
    random_models,
    scaling_of,
    with_gaps,
)


def run(model, feeds):
    """Label, probabilities and decision of a graph."""
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    assert [output.name for output in session.get_outputs()] == ["label", "probabilities", "decision"]
    return session.run(None, feeds)


def unnamed(models, classes):
    """A predictor for arrays."""
    return Predictor(models, classes, named=False)


def random_predictor(seed):
    """Two classes for even seeds, three for odd ones."""
    if seed % 2 == 0:
        return unnamed([random_model(seed)], ["no", "yes"])
    return unnamed(random_models(seed, "abc"), ["a", "b", "c"])


def expected_decision(predictor, X):
    """The formulas; an output that lacks a number is missing."""
    values = []
    for model in predictor.models_:
        gap = np.isnan(X[:, list(model.features)]).any(axis=1)
        values.append(np.where(gap, np.nan, model.decision(np.nan_to_num(X, nan=1.0))))
    return decision_table(values)


def check(predictor, X, answer):
    """Decision, probabilities and labels are those of the predictor."""
    label, probabilities, decision = answer
    expected = expected_decision(predictor, X)
    assert_agree(decision, expected)
    assert_agree(probabilities, class_probabilities(expected))
    gap = np.isnan(expected.reshape(len(X), -1)).any(axis=1)
    # by the decision of the graph: where that of the model is zero but for rounding, the label may be another
    np.testing.assert_array_equal(label[~gap], predictor.classes_[class_codes(decision[~gap])])
    assert np.isnan(probabilities[gap]).all()
    assert (label[gap] == "").all()


def all_rows(predictor, seed):
    """Ordinary and awkward rows, and some that lack numbers."""
    rng, model = np.random.default_rng(seed), predictor.models_[0]
    X = np.vstack([ordinary_rows(model, rng), awkward_rows(model, rng)])
    return np.vstack([X, with_gaps(X, rng)])


@pytest.mark.parametrize("seed", range(8))
def test_agrees_with_random_models_on_awkward_rows(seed):
    predictor = random_predictor(seed)
    X = all_rows(predictor, seed)
    check(predictor, X, run(to_onnx(predictor), {"X": X}))


@settings(max_examples=25, deadline=None, derandomize=True)
@given(seed=st.integers(100, 2**32 - 1))
def test_agrees_with_any_random_model(seed):
    predictor = random_predictor(seed)
    X = all_rows(predictor, seed)
    check(predictor, X, run(to_onnx(predictor), {"X": X}))


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_by_the_evaluator_of_onnx(family):
    predictor = unnamed(random_models(3, "abc", families=[family], n_terms=3), ["a", "b", "c"])
    X = all_rows(predictor, 3)
    with np.errstate(all="ignore"):
        answer = ReferenceEvaluator(to_onnx(predictor)).run(None, {"X": X})
    check(predictor, X, answer)


def test_all_is_double_and_nothing_is_a_power():
    for seed in range(4):
        graph = to_onnx(random_predictor(seed)).graph
        kinds = {constant.data_type for constant in graph.initializer}
        kinds |= {attribute.i for node in graph.node if node.op_type == "Cast" for attribute in node.attribute}
        assert onnx.TensorProto.FLOAT not in kinds
        assert "Pow" not in {node.op_type for node in graph.node}


def test_the_checker_accepts_it():
    for seed in range(4):
        onnx.checker.check_model(to_onnx(random_predictor(seed)), full_check=True)


def test_outputs_that_are_all_far_above_zero():
    blank = replace(random_model(5, ranges=[(0.0, 1.0)]), terms=(monomial((0,)),))
    predictor = unnamed([replace(blank, coef=np.array([slope])) for slope in (1.0, 3.0, 2.0)], ["a", "b", "c"])
    X = np.array([[1e3], [1e6], [1e40], [-1e9]])
    label, probabilities, _ = run(to_onnx(predictor), {"X": X})
    assert label.tolist() == ["b", "b", "b", "a"]
    assert_agree(probabilities, predictor.predict_proba(X))


@pytest.mark.parametrize("number", [1e-46, -1e-300, 1.0 + 1e-9, 1.0 - 1e-13, 1.0 + 2**-52])
@pytest.mark.parametrize("place", ["minimum", "span", "coefficient", "knot"])
def test_numbers_that_are_zero_or_one_in_single_precision(number, place):
    """onnxruntime would drop the operators that read them."""
    numbers = {"minimum": 0.0, "span": 2.0, "coefficient": 3.0, "knot": 0.0, place: number}
    scaling = Scaling(np.array([numbers["minimum"]]), np.abs([numbers["span"]]))
    terms = (Term(hinge(0, 1, numbers["knot"], 0.5)),)
    coef = np.array([numbers["coefficient"]])
    model = replace(random_model(0, ranges=[(0.0, 1.0)]), scaling=scaling, terms=terms, coef=coef)
    X = 2 * (scaling.half_minimum + scaling.half_span * np.array([[0.0], [1e-305], [1e-60], [0.75], [7.0]]))
    np.testing.assert_allclose(run(to_onnx(model), {"X": X})[2], model.decision(X), rtol=1e-15, atol=0)


@pytest.mark.parametrize("n_rows", [0, 1, 40_000])
def test_batches_of_any_size(n_rows):
    for seed in range(2):
        predictor = random_predictor(seed)
        X = ordinary_rows(predictor.models_[0], np.random.default_rng(0), n_rows)
        label, probabilities, decision = run(to_onnx(predictor), {"X": X})
        assert len(label) == len(probabilities) == len(decision) == n_rows
        if n_rows:
            check(predictor, X, (label, probabilities, decision))


@pytest.mark.parametrize("terms", [(), (monomial(()),)])
def test_models_that_read_nothing(terms):
    model = replace(random_model(0, ranges=[(0.0, 1.0)] * 2), terms=terms, coef=np.full(len(terms), 0.75))
    predictor = unnamed([model], ["no", "yes"])
    X = np.array([[1.0, np.nan], [0.0, 2.0], [1e300, 5.0]])
    check(predictor, X, run(to_onnx(predictor), {"X": X}))


@pytest.mark.parametrize(
    ("classes", "dtype", "nothing"),
    [
        (["no", "yes"], object, ""),
        (np.array(["no é", "yes 😀"], dtype=object), object, ""),
        ([0, 1], np.int64, 0),
        (np.array([3, 250], dtype=np.uint8), np.int64, 3),
        ([False, True], np.bool_, False),
        ([1.0, 2.5], np.float64, np.nan),
    ],
)
def test_labels_keep_their_type(classes, dtype, nothing):
    model = random_model(1, families=["hinge"], n_terms=3)
    predictor = unnamed([model], classes)
    X = ordinary_rows(model, np.random.default_rng(1))
    label = run(to_onnx(predictor), {"X": X})[0]
    assert label.dtype == dtype
    assert list(label) == predictor.predict(X).tolist()
    np.testing.assert_array_equal(run(to_onnx(predictor), {"X": np.full((1, X.shape[1]), np.nan)})[0], [nothing])


def test_a_model_alone_stands_for_two_classes():
    model = random_model(2, label="ill")
    X = ordinary_rows(model, np.random.default_rng(2))
    label, _, decision = run(to_onnx(model), {"X": X})
    assert_agree(decision, model.decision(X))
    assert set(label) <= {"ill", "not ill"}
    np.testing.assert_array_equal(label == "ill", decision > 0)


def recipe_predictor():
    """A predictor of two raw numbers and a raw text, with names that no language likes."""
    columns = (RawColumn('a "b"; --', "number"), RawColumn("label", "number"), RawColumn("Größe 😀", "text"))
    features = (
        NumberOf(0, 2.0),
        NumberOf(1),
        MissingIn(0),
        MissingIn(2),
        LevelOf(2, ("x", "é")),
        LevelOf(2, ("z", None)),
        LevelOf(2, ("x", "é", "z", None), other=True),
        LevelOf(0, (1.0, None)),
        LevelOf(1, (1.0, 2.0), other=True),
    )
    recipe = Recipe(columns, features, tuple(f"f{j}" for j in range(len(features))))
    ranges = [(0.0, 1.0)] * len(features)
    models = random_models(7, "abc", families=["monomial", "hinge", "sigmoid"], ranges=ranges, n_terms=8)
    assert set().union(*(model.features for model in models)) == set(range(len(features)))
    return Predictor(models, ["a", "b", "c"], recipe)


def feeds_of(frame, inputs):
    """Every column by itself; texts that are missing become empty."""
    columns = [frame[[name]].to_numpy() for name in frame.columns]
    columns = [np.where(pd.isna(c), "", c) if c.dtype == object else c.astype(np.float64) for c in columns]
    return {given.name: column for given, column in zip(inputs, columns, strict=True)}


def test_a_recipe_is_part_of_the_graph():
    predictor = recipe_predictor()
    rng = np.random.default_rng(0)
    numbers = rng.choice([0.0, 1.0, 2.0, 1e300, -7.25], (200, 2))
    numbers[rng.random(200) < 0.3, 0] = np.nan
    names = [raw.name for raw in predictor.recipe_.columns]
    frame = pd.DataFrame(numbers, columns=names[:2])
    frame[names[2]] = pd.Series(rng.choice(np.array(["x", "é", "z", "new", None], dtype=object), 200), dtype=object)
    model = to_onnx(predictor)
    assert [given.name for given in model.graph.input] == [names[0], "label_", names[2]]  # an output is called label
    label, probabilities, decision = run(model, feeds_of(frame, model.graph.input))
    assert_agree(decision, predictor.decision_function(frame))
    assert_agree(probabilities, predictor.predict_proba(frame))
    np.testing.assert_array_equal(label, predictor.predict(frame))
    frame.loc[0, "label"] = np.nan  # nothing stands in for this one
    label, probabilities, _ = run(model, feeds_of(frame, model.graph.input))
    assert label[0] == ""
    assert np.isnan(probabilities[0]).all()
    assert not np.isnan(probabilities[1:]).any()


@settings(max_examples=25, deadline=None, derandomize=True)
@given(names=st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=20), min_size=2, max_size=3))
def test_any_names_of_columns(names):
    columns = tuple(RawColumn(name, "number") for name in names)
    recipe = Recipe(columns, tuple(NumberOf(c) for c in range(len(names))), tuple(f"f{c}" for c in range(len(names))))
    model = random_model(11, ranges=[(0.0, 1.0)] * len(names), families=["monomial"], n_terms=9)
    graph = to_onnx(Predictor([model], ["no", "yes"], recipe))
    X = ordinary_rows(model, np.random.default_rng(0))
    given_names = [one.name for one in graph.graph.input]
    assert len(set(given_names)) == len(names)
    feeds = {name: X[:, [c]] for c, name in enumerate(given_names)}
    assert_agree(run(graph, feeds)[2], model.decision(X))


def test_refuses_what_it_cannot_write():
    model = random_model(0)
    with pytest.raises(TypeError, match="texts, integers, floats or bools"):
        to_onnx(Predictor([model], np.array([1, "yes"], dtype=object)))
    with pytest.raises(TypeError, match="expected a fitted RFSCClassifier"):
        to_onnx("model")


def test_features_without_a_range_are_not_read():
    scaling = scaling_of([(0.0, 1.0), (4.0, 4.0)])
    X = np.column_stack([np.linspace(0, 1, 30), np.full(30, 4.0)])
    clf = RFSCClassifier(basis="polynomial", n_restarts=1, random_state=0).fit(X, X[:, 0] > 0.4)
    assert scaling.constant.tolist() == clf.models_[0].scaling.constant.tolist()
    X[:, 1] = np.nan
    assert_agree(run(to_onnx(clf), {"X": X})[2], clf.models_[0].decision(X))
