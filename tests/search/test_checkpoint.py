"""A fit that is killed and continued ends in the same bits as one that was never interrupted."""

from __future__ import annotations

import hashlib
import json
import os

import numpy as np
import pytest
from sklearn.datasets import load_iris

from rfsc import Checkpoint, RFSCClassifier, SearchSettings
from rfsc._search.checkpoint import CheckpointError
from rfsc.bases import Polynomial
from rfsc.export import to_json

QUICK = {"n_restarts": 3, "search": SearchSettings(max_iter=25), "random_state": 5}


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


def text(classifier):
    """The model file without what differs from run to run."""
    document = json.loads(to_json(classifier))
    document["manifest"].pop("timings")
    return json.dumps(document)


class Stop(Exception):
    """An error in the middle of a fit."""


def stop_after(n):
    """A callback that fails at its n-th call."""
    calls = []

    def look(record):
        calls.append(record)
        if len(calls) == n:
            raise Stop

    return look


@pytest.mark.parametrize(
    "settings",
    [
        {"basis": "polynomial"},
        {"basis": "auto", "search": SearchSettings(max_iter=12)},
        {"basis": "hinge", "max_samples": 0.6},
        {"basis": "polynomial", "search": SearchSettings(max_iter=25, initial_rip="screened")},
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # short searches settle on nothing
def test_a_fit_continues_to_the_same_bits(iris, settings, tmp_path):
    settings = QUICK | settings
    whole = text(RFSCClassifier(**settings).fit(*iris))
    path = tmp_path / "fit.checkpoint"
    for n in (1, 8, 20):
        half = RFSCClassifier(**settings, callbacks=[Checkpoint(path), stop_after(n)])
        with pytest.raises(Stop):
            half.fit(*iris)
    done = RFSCClassifier(**settings, callbacks=Checkpoint(path)).fit(*iris)
    assert text(done) == whole
    again = RFSCClassifier(**settings, callbacks=[Checkpoint(path), stop_after(1)]).fit(*iris)
    assert text(again) == whole  # nothing is searched any more


def test_a_fit_that_an_observer_stopped_can_be_continued(iris, tmp_path):
    whole = text(RFSCClassifier(basis="polynomial", **QUICK).fit(*iris))
    path = tmp_path / "fit.checkpoint"
    seen = []

    def enough(record):
        seen.append(record)
        return "stop_all" if len(seen) >= 12 else None

    part = RFSCClassifier(basis="polynomial", **QUICK, callbacks=[Checkpoint(path), enough]).fit(*iris)
    assert len(part.searches_[0]) < 3 or part.searches_[0][0].stop_reason == "observer"
    done = RFSCClassifier(basis="polynomial", **QUICK, callbacks=Checkpoint(path)).fit(*iris)
    assert text(done) == whole


def test_other_data_and_settings_are_refused(iris, tmp_path):
    X, y = iris
    path = tmp_path / "fit.checkpoint"
    RFSCClassifier(basis="step", **QUICK, callbacks=Checkpoint(path)).fit(X, y)
    with pytest.raises(CheckpointError, match="data differ"):
        RFSCClassifier(basis="step", **QUICK, callbacks=Checkpoint(path)).fit(X + 1.0, y)
    with pytest.raises(CheckpointError, match="significance differ"):
        RFSCClassifier(basis="step", significance=0.1, **QUICK, callbacks=Checkpoint(path)).fit(X, y)
    other = QUICK | {"search": SearchSettings(n_models=50)}
    with pytest.raises(CheckpointError, match="search differ"):
        RFSCClassifier(basis="step", **other, callbacks=Checkpoint(path)).fit(X, y)
    RFSCClassifier(basis="step", **QUICK, n_jobs=2, verbose=0, callbacks=Checkpoint(path)).fit(X, y)


@pytest.mark.parametrize("content", ["", "{}", "[1]", '{"format": "rfsc-checkpoint", "version": 9}', "\x00"])
def test_other_files_are_refused(iris, tmp_path, content):
    path = tmp_path / "fit.checkpoint"
    path.write_text(content)
    with pytest.raises(CheckpointError, match="is not a checkpoint"):
        RFSCClassifier(**QUICK, callbacks=Checkpoint(path)).fit(*iris)
    assert path.read_text() == content


def test_an_integer_seed_is_required(iris, tmp_path):
    with pytest.raises(ValueError, match="integer random_state"):
        RFSCClassifier(callbacks=Checkpoint(tmp_path / "c")).fit(*iris)


def test_a_full_disk_gives_one_warning(iris, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    path = tmp_path / "fit.checkpoint"
    with pytest.warns(RuntimeWarning, match=r"cannot be written \(No space left on device\)") as warned:
        clf = RFSCClassifier(basis="step", **QUICK, callbacks=Checkpoint(path)).fit(*iris)
    assert len([w for w in warned if "cannot be written" in str(w.message)]) == 1
    assert len(clf.models_) == 3
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "kind", "words"),
    [
        ((None,), TypeError, "name of a file, got NoneType"),
        ((3,), TypeError, "name of a file, got int"),
        (("",), TypeError, "name of a file, got an empty text"),
    ],
)
def test_the_path_is_checked(arguments, kind, words):
    with pytest.raises(kind, match=words):
        Checkpoint(*arguments)


# ---- files that are not what they seem


class Shy(Polynomial):
    """A family whose settings do not show."""

    def __repr__(self):
        return "Shy()"


def test_settings_that_look_the_same(iris, tmp_path):
    """Two families with one repr have other terms, so neither continues the fit of the other."""
    path = tmp_path / "fit.checkpoint"
    RFSCClassifier(**QUICK, basis=Shy(degree=1), callbacks=Checkpoint(path)).fit(*iris)
    kept = path.read_bytes()
    with pytest.raises(CheckpointError, match="belongs to other work: basis differs"):
        RFSCClassifier(**QUICK, basis=Shy(degree=2), callbacks=Checkpoint(path)).fit(*iris)
    assert path.read_bytes() == kept


def test_other_groups_are_refused(iris, tmp_path):
    X, y = iris
    fit = RFSCClassifier(**QUICK, callbacks=Checkpoint(tmp_path / "fit.checkpoint")).fit
    fit(X, y, groups=np.arange(len(y)) // 2)
    with pytest.raises(CheckpointError, match="belongs to other work: data differs"):
        fit(X, y, groups=np.arange(len(y)) // 3)


def test_settings_that_cannot_be_pickled(iris, tmp_path):
    class Local(Polynomial):
        pass

    with pytest.raises(ValueError, match=r"basis cannot be pickled\. Fit without a checkpoint"):
        RFSCClassifier(**QUICK, basis=Local(), callbacks=Checkpoint(tmp_path / "c")).fit(*iris)


def test_overwrite_replaces_the_file_when_there_is_something_new(iris, tmp_path):
    path = tmp_path / "fit.checkpoint"
    RFSCClassifier(**QUICK, basis="polynomial", callbacks=Checkpoint(path)).fit(*iris)
    kept = path.read_bytes()
    again = RFSCClassifier(**QUICK, basis="hinge", callbacks=[Checkpoint(path, overwrite=True), stop_after(1)])
    again.set_params(search=SearchSettings(max_iter=25), size=None)
    with pytest.raises(Stop):
        again.fit(*iris)
    assert path.read_bytes() == kept
    again.set_params(callbacks=Checkpoint(path, overwrite=True)).fit(*iris)
    assert path.read_bytes() != kept


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.clear(),
        lambda d: "[" * 100_000,
        lambda d: "not JSON",
        lambda d: d.update(finished=[]),
        lambda d: d["finished"].update({key: [1, {"a": None}] for key in d["finished"]}),
        lambda d: [one["model"]["ids"].append(10**9) for key, one in d["finished"].items() if "search" in key],
        lambda d: [one["known"].append([-7]) for key, one in d["finished"].items() if "compared" in key],
        lambda d: [one["values"].pop() for key, one in d["finished"].items() if "compared" in key],
        lambda d: [one.pop("values") for key, one in d["finished"].items() if "compared" in key],
        lambda d: [one["history"].clear() for key, one in d["finished"].items() if "search" in key],
    ],
)
def test_forged_files_with_a_valid_digest(iris, tmp_path, change):
    path = tmp_path / "fit.checkpoint"
    settings = QUICK | {"basis": "polynomial"}
    RFSCClassifier(**settings, callbacks=Checkpoint(path)).fit(*iris)
    head, content = path.read_text().split("\n")
    document = json.loads(content)
    content = change(document)
    content = content if isinstance(content, str) else json.dumps(document)
    digest = hashlib.sha256(content.encode()).hexdigest()
    path.write_text(json.dumps(json.loads(head) | {"digest": digest}) + "\n" + content)
    with pytest.raises(CheckpointError, match=r"holds results that no fit has written\. Delete it"):
        RFSCClassifier(**settings, callbacks=Checkpoint(path)).fit(*iris)


@pytest.mark.parametrize("is_kept", [False, True])
def test_a_million_restarts_are_not_prepared(iris, tmp_path, is_kept):
    """Seeds and tasks are made when they are needed, and a checkpoint is not asked for each."""
    calls = []

    def enough(record):
        calls.append(record.restart)
        return "stop_all"

    clf = RFSCClassifier(basis="polynomial", size=None, n_restarts=10**15, random_state=0)
    clf.set_params(callbacks=[enough, Checkpoint(tmp_path / "c")] if is_kept else enough)
    assert len(clf.fit(*iris).searches_[0]) == 1
    assert set(calls) == {0}
