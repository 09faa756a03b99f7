"""Files from strangers: too large, too deep, half characters, and damage of every kind."""

from __future__ import annotations

import io
import json
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rfsc.cli import main
from rfsc.cli.fit_command import checked_json
from rfsc.export import ModelFileError, from_json, json_limits, load, save, to_json
from rfsc.export.json_limits import MAX_DEPTH, MAX_SIZE, too_much
from torture.model_files import corpus, damaged, fault, faults

from ..data.make_models import FOLDER

MODEL = next(FOLDER.glob("*/recipe.json"))


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


def nested(depth):
    return '{"format": "rfsc-model", "version": 1, "settings": ' + "[" * (depth - 1) + "]" * (depth - 1) + "}"


def test_depth():
    with pytest.raises(ModelFileError, match=f"nested more than {MAX_DEPTH} deep"):
        from_json(nested(MAX_DEPTH + 1))
    with pytest.raises(ModelFileError, match="damaged"):
        from_json(nested(MAX_DEPTH))


json_values = st.recursive(
    st.none() | st.floats() | st.text('[]{}"\\a\n'),
    lambda part: st.lists(part, max_size=3) | st.dictionaries(st.text('[]{}"\\'), part, max_size=3),
    max_leaves=50,
)


@given(json_values, st.integers(0, 10))
def test_depth_is_what_the_parser_sees(value, indent):
    def depth(node):
        children = node.values() if isinstance(node, dict) else node if isinstance(node, list) else None
        return 0 if children is None else 1 + max(map(depth, children), default=0)

    assert json_limits._depth(json.dumps(value, indent=indent)) == depth(value)


@pytest.mark.parametrize("text", ['"' + '\\"' * 10**6, '"' * 10**6, "\\" * 10**6, '"\\' * 10**6, "[]" * 10**6])
def test_time_grows_with_the_length_alone(text):
    began = time.process_time()
    too_much(text)
    assert time.process_time() - began < 5.0  # quadratic time would be hours


def test_half_characters_are_refused_and_whole_ones_are_read():
    text = MODEL.read_text(encoding="utf-8")
    with pytest.raises(ModelFileError, match="not JSON"):
        from_json(text.replace('"haemoglobin"', r'"\ud83e"'))
    whole = from_json(text.replace('"haemoglobin"', r'"\ud83e\udda0"'))
    assert "🦠" in whole.feature_names_in_


def test_a_model_that_could_not_be_read_again_is_not_saved(tmp_path, monkeypatch):
    model = load(MODEL)
    monkeypatch.setattr(json_limits, "MAX_SIZE", 1000)
    with pytest.raises(ValueError, match="history=False"):
        save(model, tmp_path / "m.json")
    assert list(tmp_path.iterdir()) == []


def test_the_command_line_saves_a_large_model_without_its_history(hospital_pipeline, monkeypatch):
    pipeline, X = hospital_pipeline
    monkeypatch.setattr(json_limits, "MAX_SIZE", len(to_json(pipeline)) - 1)
    back = from_json(checked_json(pipeline, X))
    assert back.models_[0].evidence.traces == ()
    np.testing.assert_allclose(back.decision_function(X), pipeline.decision_function(X))


@pytest.fixture
def hospital_pipeline():
    from ..data.make_models import raw_table

    return raw_table()


def test_a_place_that_is_no_whole_number_is_refused():
    """0.0 equals 0, but no list has such a place."""
    document = json.loads(MODEL.read_text(encoding="utf-8"))
    document["recipe"]["features"][0]["column"] = 0.0
    with pytest.raises(ModelFileError, match="damaged"):
        from_json(json.dumps(document))


def test_damaged_files_are_refused_or_give_a_model():
    assert faults(400) == []


def test_damage_is_damage_and_faults_are_found(monkeypatch):
    """The trial above can fail: most files are really damaged, some are still read, and an error would be seen."""
    texts, rng = corpus(), np.random.default_rng(0)
    some = [damaged(texts, rng) for _ in range(200)]
    assert not set(some) & set(texts)

    def readable(text):
        try:
            from_json(text)
        except ModelFileError:
            return False
        return True

    assert 5 < sum(map(readable, some)) < 100
    monkeypatch.setattr("torture.model_files.from_json", lambda *_, **__: {}["missing"])
    assert fault(texts[0]).startswith("KeyError")
