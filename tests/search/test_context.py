"""Fits that end early: by a deadline, by Ctrl-C, or because an observer asks for it. No test here looks at a clock."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import cross_val_score

from rfsc import Checkpoint, RFSCClassifier, SearchSettings, StopAfter
from rfsc._engines import FitOptions, Problem, Supports, make_engine
from rfsc._fit import fitting
from rfsc._search import context as module
from rfsc._search.context import Context, Signals, interruptible, uninterruptible_fits
from rfsc._search.elimination import eliminated
from rfsc._terms import MonomialSpace
from rfsc.export.compare import compared_text
from tests.search.runs import search


class InterruptedAtLook(Signals):
    """Signals that are interrupted when they are looked at for the n-th time."""

    def __init__(self, n):
        self.left = n
        self.stop_all = False

    @property
    def interrupted(self):
        self.left -= 1
        return self.left < 0

    @interrupted.setter
    def interrupted(self, value):
        pass


class Clock:
    """A clock that the deadline is compared with; it advances by a second with every look."""

    def __init__(self, now=0.0):
        self.now = now

    def __call__(self):
        self.now += 1.0
        return self.now


def table(n, p, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, X[:, 0] - X[:, 1] * X[:, 2] + 0.5 * rng.normal(size=n) > 0


@pytest.mark.parametrize("basis", ["polynomial", "auto"])
def test_a_time_limit_ends_the_fit_with_the_best_model_so_far(basis, monkeypatch):
    X, y = table(400, 6)
    monkeypatch.setattr(module.time, "time", Clock())
    settings = {"basis": basis, "n_restarts": 2000, "random_state": 0}
    clf = RFSCClassifier(callbacks=StopAfter(500), **settings).fit(X, y)
    assert clf.stop_reason_ == "time_limit"
    assert clf.manifest_["stop_reasons"][0][-1] == "time_limit"
    assert clf.score(X, y) > 0.6


def test_every_output_gets_its_share_of_the_time(monkeypatch):
    X, y = load_iris(return_X_y=True)
    monkeypatch.setattr(module.time, "time", Clock())
    clf = RFSCClassifier("polynomial", n_restarts=2000, random_state=0, callbacks=StopAfter(600)).fit(X, y)
    n_iterations = [sum(search.n_iter for search in own) for own in clf.searches_]
    assert clf.stop_reason_ == "time_limit"
    assert min(n_iterations) > 0.3 * max(n_iterations)


def test_a_limit_that_is_not_reached_changes_nothing():
    X, y = table(150, 4)
    plain = RFSCClassifier(n_restarts=2, search=SearchSettings(max_iter=20), random_state=0).fit(X, y)
    watched = clone(plain).set_params(callbacks=StopAfter(6000)).fit(X, y)
    assert compared_text(watched) == compared_text(plain)
    assert watched.stop_reason_ == plain.stop_reason_ == "finished"


@pytest.mark.slow
def test_a_comparison_of_bases_that_was_cut_short_is_reported_and_keeps_no_searches(tmp_path):
    """With more time another basis might be chosen, so its searches must not be taken for those of that one."""
    X, y = table(300, 8)
    settings = {"n_restarts": 2, "search": SearchSettings(max_iter=60), "random_state": 1}
    whole = RFSCClassifier(**settings).fit(X, y)
    path = tmp_path / "fit.checkpoint"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fitting, "CHOICE_TIME_SHARE", 1e-6)
        part = RFSCClassifier(**settings, callbacks=[Checkpoint(path), StopAfter(6000)]).fit(X, y)
    assert part.basis_losses_ == {}
    assert part.stop_reason_ == part.manifest_["stop_reasons"][0][0] == "time_limit"
    done = RFSCClassifier(**settings, callbacks=Checkpoint(path)).fit(X, y)
    assert compared_text(done) == compared_text(whole)


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), "3", None, True])
def test_seconds_are_positive(seconds):
    with pytest.raises(ValueError, match="positive"):
        StopAfter(seconds)


@pytest.mark.slow
def test_a_fit_that_a_limit_ended_continues_to_the_same_bits(tmp_path, monkeypatch):
    X, y = table(300, 8)
    settings = {"n_restarts": 3, "search": SearchSettings(max_iter=60), "random_state": 1}
    whole = RFSCClassifier(**settings).fit(X, y)
    path = tmp_path / "fit.checkpoint"
    with monkeypatch.context() as patch:
        patch.setattr(module.time, "time", Clock())
        part = RFSCClassifier(**settings, callbacks=[Checkpoint(path), StopAfter(600)]).fit(X, y)
    assert part.stop_reason_ == "time_limit"
    done = RFSCClassifier(**settings, callbacks=Checkpoint(path)).fit(X, y)
    assert compared_text(done) == compared_text(whole)


def test_seconds_are_kept_in_double_precision():
    assert type(StopAfter(np.float32(60)).seconds) is float


# ---- batches


@given(seed=st.integers(0, 2**32 - 1), pace=st.floats(0.1, 1e4), first=st.integers(1, 20))
def test_the_sizes_of_batches_change_no_bit(seed, pace, first):
    rng = np.random.default_rng(seed)
    target = np.where(rng.random(40) < 0.5, 1.0, -1.0)
    space = MonomialSpace(np.arange(5), 2)
    engine = make_engine("numba", Problem(space, rng.random((5, 40)), target, np.ones(40), FitOptions(), 5))
    supports = Supports.from_lists(rng.choice(21, rng.integers(0, 5), replace=False) for _ in range(25))
    context = Context()
    context.pace.per_second = pace
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "FIRST_BATCH", first)
        patch.setattr(module, "BATCH_SECONDS", 1e-3)
        cut, whole = context.evaluate(engine, supports), engine.evaluate(supports)
    assert cut.supports.ids.tobytes() == whole.supports.ids.tobytes()
    assert cut.supports.indptr.tobytes() == whole.supports.indptr.tobytes()
    for name in ("coef", "score", "log_loss", "status", "n_newton"):
        assert getattr(cut, name).tobytes() == getattr(whole, name).tobytes()


@pytest.mark.parametrize("n", [0, 1, 5, 40])
def test_a_search_that_is_stopped_returns_the_best_of_what_it_saw(rng, make_problem, monkeypatch, n):
    monkeypatch.setattr(module, "FIRST_BATCH", 4)
    monkeypatch.setattr(module, "BATCH_SECONDS", 0.0)
    engine = make_engine("numba", make_problem(rng, ridge=0.1))
    seen = []

    class Watch:
        def evaluate(self, supports):
            result = engine.evaluate(supports)
            seen.extend(zip(result.score.tolist(), (-result.log_loss).tolist(), strict=True))
            return result

    context = Context(signals=InterruptedAtLook(n))
    result = search(Watch(), 21, 1, context=context, n_models=20, max_iter=300)
    assert result.stop_reason == "interrupted"
    assert (result.model.score, -result.model.log_loss) == max(seen)
    assert result.limit is None
    assert result.n_iter >= 1
    path = eliminated(result.model.ids, engine, None, Context(signals=Signals(interrupted=True)), 99)
    assert [model.ids.size for model in path][-1] == result.model.ids.size


def test_after_a_stop_the_first_batches_are_the_result(rng, make_problem, monkeypatch):
    monkeypatch.setattr(module, "FIRST_BATCH", 3)
    engine = make_engine("numba", make_problem(rng, ridge=0.1))
    supports = Supports.from_lists([[k] for k in range(10)])
    found = Context(signals=Signals(interrupted=True)).evaluate(engine, supports)
    assert found.coef.tobytes() == engine.evaluate(supports.take(np.arange(3))).coef.tobytes()


# ---- Ctrl-C

SCRIPT = """
import sys, time
from sklearn.datasets import load_breast_cancer
from rfsc import RFSCClassifier
X, y = load_breast_cancer(return_X_y=True)
def tell(record):
    if record.iteration == 5 and record.restart == 0:
        print("searching", flush=True)
try:
    clf = RFSCClassifier(n_restarts=2000, basis="polynomial", random_state=0, callbacks=tell, verbose=0).fit(X, y)
except KeyboardInterrupt:
    print("stopped", flush=True)
else:
    try:
        print(clf.stop_reason_, clf.score(X, y) > 0.9, flush=True)
        time.sleep(60)
    except KeyboardInterrupt:
        print("and Ctrl-C works as usual", flush=True)
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows sends Ctrl-C to whole consoles")
@pytest.mark.parametrize("presses", [1, 2])
def test_ctrl_c_once_gives_the_best_model_and_twice_stops(presses):
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", SCRIPT], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "searching\n"
    process.send_signal(signal.SIGINT)
    assert process.stderr.readline() == "\n"
    assert process.stderr.readline().startswith("Interrupted: ending with what was found so far")
    if presses == 1:
        assert process.stdout.readline() == "interrupted True\n"
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=30)
    assert out.splitlines()[-1] in {"and Ctrl-C works as usual", *(["stopped"] if presses == 2 else [])}


def test_an_interrupted_fit_warns_and_says_so(monkeypatch):
    X, y = table(150, 4)
    calls = []

    def press(record):
        calls.append(record)
        if len(calls) == 7:
            signal.raise_signal(signal.SIGINT)

    with pytest.warns(match="interrupted; this is the best model so far"):
        clf = RFSCClassifier(random_state=0, basis="polynomial", callbacks=press).fit(X, y)
    assert clf.stop_reason_ == "interrupted"
    assert len(calls) == 7
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_two_presses_stop_a_cross_validation():
    """They may fall into two fits."""
    X, y = table(150, 4)
    calls = []

    def press(record):
        calls.append(record)
        if record.iteration == 3:
            signal.raise_signal(signal.SIGINT)

    clf = RFSCClassifier(random_state=0, basis="polynomial", n_restarts=1, callbacks=press)
    with pytest.warns(match="interrupted"), pytest.raises(KeyboardInterrupt):
        cross_val_score(clf, X, y, cv=5, error_score="raise")
    assert [record.iteration for record in calls] == [1, 2, 3] * 2


def test_a_score_is_not_taken_of_models_that_were_cut_short():
    X, y = table(150, 4)
    with pytest.raises(KeyboardInterrupt), uninterruptible_fits():
        RFSCClassifier(basis="polynomial", callbacks=lambda _: signal.raise_signal(signal.SIGINT)).fit(X, y)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_other_handlers_of_ctrl_c_are_left_alone():
    mine = lambda *_: None  # noqa: E731
    before = signal.signal(signal.SIGINT, mine)
    try:
        with interruptible():
            assert signal.getsignal(signal.SIGINT) is mine
    finally:
        signal.signal(signal.SIGINT, before)
    found = []
    thread = threading.Thread(
        target=lambda: found.append(RFSCClassifier(n_restarts=1, random_state=0).fit(*table(100, 3)))
    )
    thread.start()
    thread.join()
    assert found
