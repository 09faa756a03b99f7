"""Files from others: too large, too deep, and half characters."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from rfsc._model import Predictor
from rfsc._model.recipe import NumberOf, RawColumn, Recipe
from rfsc.cli import main
from rfsc.export import ModelFileError, from_json, json_file, load, save, to_json
from rfsc.export.json_file import MAX_SIZE

from .random_models import random_model


def predictor():
    model = random_model(3, ranges=[(0.0, 1.0)] * 2)
    recipe = Recipe(
        (RawColumn("haemoglobin", "number"), RawColumn("age", "number")), (NumberOf(0), NumberOf(1, 5.0)), ("a", "b")
    )
    return Predictor([model.renamed(("a", "b"))], ["no", "yes"], recipe)


def test_a_large_file_is_refused_before_it_is_parsed(tmp_path):
    path = tmp_path / "large.json"
    with path.open("wb") as file:
        file.truncate(MAX_SIZE + 1)
    with pytest.raises(ModelFileError, match=r"large.json is not read, because it is larger than 64 MiB"):
        load(path)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there is no file without an end")
def test_a_file_without_an_end_is_refused():
    with pytest.raises(ModelFileError, match="larger than"):
        load("/dev/zero")


def test_stdin_has_the_same_limit(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.StringIO(" " * (MAX_SIZE + 5)))
    assert main(["info", "-"]) == 1
    assert capsys.readouterr().err.startswith("rfsc: stdin is not read, because it is larger than 64 MiB")


@pytest.mark.parametrize("place", ["settings", "outputs", "manifest"])
@pytest.mark.parametrize("depth", [100, 900, 1_000_000])
def test_depth(place, depth):
    text = to_json(predictor())
    document = json.loads(text)
    document[place] = "deep"
    deep = json.dumps(document).replace('"deep"', "[" * depth + "]" * depth)
    with pytest.raises(ModelFileError, match=r"damaged|is not a model file"):
        from_json(deep)


def test_half_characters_are_refused_and_whole_ones_are_read():
    text = to_json(predictor())
    with pytest.raises(ModelFileError, match="not JSON"):
        from_json(text.replace('"haemoglobin"', r'"\ud83e"'))
    whole = from_json(text.replace('"haemoglobin"', r'"\ud83e\udda0"'))
    assert "🦠" in whole.feature_names_in_


def test_a_model_that_could_not_be_read_again_is_not_saved(tmp_path, monkeypatch):
    model = predictor()
    monkeypatch.setattr(json_file, "MAX_SIZE", 1000)
    with pytest.raises(ValueError, match="history=False"):
        save(model, tmp_path / "m.json")
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_is_no_whole_number_is_refused():
    """0.0 equals 0, but no list has such a place."""
    document = json.loads(to_json(predictor()))
    document["recipe"]["features"][0]["column"] = 0.0
    with pytest.raises(ModelFileError, match="damaged"):
        from_json(json.dumps(document))


@pytest.mark.parametrize(
    "expression",
    [["product", *([["x", 0]] * 40)], ["product", *([["x", 0], ["x", 1]] * 7)], "nested squares"],
    ids=["power", "features", "squares"],
)
def test_terms_that_would_fill_the_memory(expression):
    """A file of one kilobyte: in the user's units a product of k features has 2^k summands."""
    if expression == "nested squares":
        expression = ["x", 0]
        for _ in range(20):
            expression = ["square", expression]
    document = json.loads(to_json(predictor()))
    document["outputs"][0]["terms"][0]["expression"] = expression
    with pytest.raises(ModelFileError, match=r"in the description of a term, (a product has|its expression is too)"):
        from_json(json.dumps(document))


@pytest.mark.parametrize("worth", ["", {"a": 1}, True])
def test_texts_in_the_place_of_numbers_are_refused(worth):
    document = json.loads(to_json(predictor()))
    document["outputs"][0]["worth"] = [worth] * len(document["outputs"][0]["terms"])
    with pytest.raises(ModelFileError, match="a value is of the wrong type"):
        from_json(json.dumps(document))


def test_a_product_of_one_part_is_refused():
    """Nothing writes it, and it has no name."""
    document = json.loads(to_json(predictor()))
    document["outputs"][0]["terms"][0]["expression"] = ["product", ["x", 0]]
    with pytest.raises(ModelFileError, match="in the description of a term"):
        from_json(json.dumps(document))
