"""Files appear as a whole or not at all, and are private while they are written."""

from __future__ import annotations

import os
import stat

import numpy as np
import pytest

from rfsc._model import Predictor
from rfsc._utils.files import whole_file
from rfsc.cli.console import write_result
from rfsc.export import save

from .export.random_models import random_model


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def watched(monkeypatch):
    """Permissions of every file at the moment when it takes its name, and what it was called until then."""
    seen = []
    chmod = os.chmod

    def look(path, wanted, **more):
        seen.append((str(path), stat.S_IMODE(os.stat(path).st_mode)))
        chmod(path, wanted, **more)

    monkeypatch.setattr(os, "chmod", look)
    return seen


def writers(folder):
    model = random_model(0)
    predictor = Predictor([model], ["no", "yes"])
    yield "model file", lambda: save(predictor, folder / "out")
    yield "command", lambda: write_result("result", str(folder / "out"))


@pytest.mark.parametrize("which", [0, 1])
def test_files_are_private_while_they_are_written(tmp_path, watched, which):
    old = os.umask(0o022)
    try:
        list(writers(tmp_path))[which][1]()
    finally:
        os.umask(old)
    (name, before), *others = watched
    assert others == []
    assert before == 0o600
    assert name.endswith(".part")
    assert mode(tmp_path / "out") == 0o644
    assert os.listdir(tmp_path) == ["out"]


@pytest.mark.parametrize("kept", [0o600, 0o640])
def test_a_file_that_is_replaced_keeps_its_permissions(tmp_path, kept):
    path = tmp_path / "private.json"
    path.write_text("old")
    path.chmod(kept)
    write_result("new", str(path))
    assert (path.read_text(), mode(path)) == ("new", kept)


def test_the_name_meanwhile_cannot_be_guessed_and_no_link_is_followed(tmp_path):
    names = set()
    for _ in range(3):
        with whole_file(tmp_path / "m.json") as part:
            names.add(part.name)
            assert part.parent == tmp_path
    assert len(names) == 3


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write_result("new", str(tmp_path / "link"))
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


def test_nothing_is_left_of_what_was_not_finished(tmp_path):
    (tmp_path / "m.json").write_text("old")

    def half():
        with whole_file(tmp_path / "m.json") as part:
            part.write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        half()
    assert os.listdir(tmp_path) == ["m.json"]
    assert (tmp_path / "m.json").read_text() == "old"


def test_pipes_are_written_to_as_they_are(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_result("through", str(path))
        assert os.read(reader, 100) == b"through"
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(path.stat().st_mode)


def test_a_long_name_has_room(tmp_path):
    name = "n" * 250
    write_result("x", str(tmp_path / name))
    assert np.array_equal(os.listdir(tmp_path), [name])
