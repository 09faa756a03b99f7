"""The model file: nothing is lost, nothing is run, and damage is told in one sentence."""

import json
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris, load_wine

import rfsc.export
from rfsc import Restrictions, RFSCClassifier, SearchSettings
from rfsc._model import Predictor
from rfsc._model.recipe import LevelOf, MissingIn, NumberOf, RawColumn, Recipe
from rfsc.export import ModelFileError, from_json, load, save, to_json

QUICK = {"n_restarts": 2, "random_state": 0}
SCHEMA = json.loads((Path(rfsc.export.__file__).parent / "model.schema.json").read_text())


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True, as_frame=True)


@pytest.fixture(scope="module")
def all_families(iris):
    X, y = iris
    families = ["centred", "hinge", "step", "radial", "fourier", "sigmoid"]
    return RFSCClassifier(basis=families, search=SearchSettings(filter_significance=0.5), **QUICK).fit(X, y)


class Long(str):
    """A text that reports of hypothesis do not print."""

    def __repr__(self):
        return "the model file"


@pytest.fixture(scope="module")
def text(all_families):
    return Long(to_json(all_families))


@pytest.mark.parametrize("basis", ["polynomial", "centred", "hinge", "step", "radial", "fourier", "sigmoid"])
def test_every_family_comes_back_with_the_same_bits(iris, basis, tmp_path):
    X, y = iris
    clf = RFSCClassifier(basis=basis, **QUICK).fit(X, y)
    save(clf, tmp_path / "m.json")
    loaded = load(tmp_path / "m.json")
    np.testing.assert_array_equal(loaded.decision_function(X), clf.decision_function(X))
    np.testing.assert_array_equal(loaded.predict_proba(X), clf.predict_proba(X))
    np.testing.assert_array_equal(loaded.predict(X), clf.predict(X))
    assert to_json(loaded) == to_json(clf)
    jsonschema.validate(json.loads(to_json(clf)), SCHEMA)


@pytest.mark.filterwarnings("ignore:No term of output 0 reached")
def test_a_model_without_terms_comes_back():
    X, y = np.arange(40.0)[:, None] % 7, np.arange(40) % 2
    clf = RFSCClassifier(basis="polynomial", restrictions=Restrictions(forbid=["1"]), **QUICK).fit(X, y)
    assert not clf.at_size(0).models_[0].terms
    clf = clf.at_size(0)
    loaded = from_json(to_json(clf))
    np.testing.assert_array_equal(loaded.predict_proba(X), clf.predict_proba(X))
    assert to_json(loaded) == to_json(clf)


def test_rows_of_another_length_are_found(text):
    document = json.loads(text)
    document["outputs"][0]["evidence"]["rip"][0].append(0.5)
    with pytest.raises(ModelFileError, match="damaged"):
        from_json(json.dumps(document))


def test_what_the_search_saw_comes_back(all_families, text):
    for model, back in zip(all_families.models_, from_json(text).models_, strict=True):
        assert back.names == model.names
        assert back.label == model.label
        assert back.evidence.term_names == model.evidence.term_names
        for array in ("selected", "rip"):
            np.testing.assert_array_equal(getattr(back.evidence, array), getattr(model.evidence, array))
        for trace, other in zip(back.evidence.traces, model.evidence.traces, strict=True):
            np.testing.assert_array_equal(trace.rips, other.rips)
            np.testing.assert_array_equal(trace.size_kept, other.size_kept)
        np.testing.assert_array_equal(back.evidence.filter.statistic, model.evidence.filter.statistic)


def test_without_history_the_file_is_shorter(all_families, text):
    short = to_json(all_families, history=False)
    assert len(short) < len(text) / 2
    assert from_json(short).models_[0].evidence.traces == ()


@pytest.mark.parametrize("labels", [["a", "b", "ü"], [3, 1, 2], [1.0, 2.0, 4.0]])
def test_labels_keep_their_kind(iris, labels):
    X, y = iris
    clf = RFSCClassifier(basis="polynomial", **QUICK).fit(X, np.array(labels)[y])
    loaded = from_json(to_json(clf))
    assert loaded.classes_.dtype.kind == clf.classes_.dtype.kind
    np.testing.assert_array_equal(loaded.predict(X), clf.predict(X))


@pytest.mark.parametrize(
    "labels",
    [
        np.array([0, 2**64 - 2, 2**64 - 1], dtype=np.uint64),
        np.array(["a", "a\0", "b"], dtype=object),
        np.array([5, 2**63 + 1, 6], dtype=np.uint64),
    ],
)
def test_labels_that_numpy_would_merge_stay_apart(iris, labels):
    X, y = iris
    clf = RFSCClassifier(basis="polynomial", **QUICK).fit(X, labels[y])
    loaded = from_json(to_json(clf))
    assert loaded.classes_.tolist() == clf.classes_.tolist()
    assert loaded.predict(X).tolist() == clf.predict(X).tolist()
    assert loaded.score(X, labels[y]) == clf.score(X, labels[y])


def test_boolean_labels_and_arrays_without_names():
    X, y = load_wine(return_X_y=True)
    clf = RFSCClassifier(basis="polynomial", **QUICK).fit(X, y == 1)
    loaded = from_json(to_json(clf))
    assert loaded.predict(X).dtype == bool
    assert not hasattr(loaded, "feature_names_in_")
    np.testing.assert_array_equal(loaded.predict(X), clf.predict(X))


def test_labels_of_mixed_kinds_are_refused(all_families):
    mixed = Predictor(all_families.models_, np.array(["a", 1, 2.5], dtype=object))
    with pytest.raises(TypeError, match="all texts"):
        to_json(mixed)


def test_a_single_model_can_be_saved(all_families, iris):
    X, _ = iris
    model = all_families.models_[1]
    loaded = from_json(to_json(model))
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision(X.to_numpy()))
    assert loaded.classes_.tolist() == ["not 1", "1"]


def test_a_recipe_travels_with_the_model(all_families, iris):
    X, _ = iris
    columns = (RawColumn("a", "number"), RawColumn("b", "text"))
    features = (NumberOf(0, 3.5), MissingIn(0), LevelOf(1, ("x", None)), LevelOf(1, ("x",), other=True))
    recipe = Recipe(columns, features, tuple(X.columns))
    source = Predictor(all_families.models_, all_families.classes_, recipe)
    loaded = from_json(to_json(source))
    rows = [[1.0, "x"], [None, "y"], [2.0, None], [float("nan"), "x"]]
    assert loaded.recipe_ == recipe
    np.testing.assert_array_equal(loaded.decision_function(rows), source.decision_function(rows))
    jsonschema.validate(json.loads(to_json(source)), SCHEMA)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "not JSON"),
        ("PK\x03\x04", "not JSON"),
        ("[1, 2]", "not a model file"),
        ('{"a": NaN}', "not JSON"),
        ("[" * 100_000, "it is not JSON that can be read. Pass a file that rfsc.export.save wrote"),
        ('{"format": "rfsc-model", "version": 2}', "version 2"),
        ('{"format": "rfsc-model", "version": true}', "another version"),
        ('{"format": "rfsc-model", "version": 1}', "damaged"),
    ],
)
def test_other_files_give_one_clear_error(content, words, tmp_path):
    path = tmp_path / "broken.json"
    path.write_text(content)
    with pytest.raises(ModelFileError, match=words) as error:
        load(path)
    assert "broken.json" in str(error.value)
    assert "\n" not in str(error.value)


def test_a_binary_file_gives_one_clear_error(tmp_path):
    for content in (bytes(range(256)), b'{"format": "rfsc-model", "version": 1, "settings": "\xff"}'):
        (tmp_path / "m.json").write_bytes(content)
        with pytest.raises(ModelFileError, match="not JSON"):
            load(tmp_path / "m.json")


def _paths(node, path=()):
    yield path
    children = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, child in children:
        yield from _paths(child, (*path, key))


STRANGE = [None, True, -1, 10**400, 1e308, 0.5, "x", [], {}, [[]], [1, "a"], {"kind": "hinge"}]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(where=st.integers(0, 10**6), instead=st.integers(0, len(STRANGE)))
def test_damage_anywhere_is_found_or_harmless(text, where, instead):
    """One value is taken out or replaced: the file is refused, or still predicts something finite."""
    document = json.loads(text)
    for output in document["outputs"]:
        output["evidence"]["traces"] = []  # most of the file, and all alike
    paths = [path for path in _paths(document) if path]
    *above, last = paths[where % len(paths)]
    node = document
    for key in above:
        node = node[key]
    if instead == len(STRANGE):
        del node[last]
    else:
        node[last] = STRANGE[instead]
    try:
        loaded = from_json(json.dumps(document))
    except ModelFileError:
        return
    features = np.full((2, 4), 3.0)
    assert np.isfinite([model.decision(features) for model in loaded.models_]).all()


def test_saving_over_a_file_is_all_or_nothing(all_families, tmp_path, monkeypatch):
    path = tmp_path / "m.json"
    save(all_families, path)
    before = path.read_text()
    monkeypatch.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        save(all_families.models_[0], path)
    assert path.read_text() == before
    assert [p.name for p in tmp_path.iterdir()] == ["m.json"]
