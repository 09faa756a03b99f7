"""Fits that are ended early: by a deadline, by Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import cross_val_score

from rfsc import Checkpoint, RFSCClassifier, StopAfter, classifier
from rfsc._engines import FitOptions, Problem, Supports, make_engine
from rfsc._search import Brake, SearchSpec, parts, pool, run_search
from rfsc._search.parts import evaluate_in_parts
from rfsc._search.stopping import StoppedEarly, brake_on_ctrl_c, plain_ctrl_c
from rfsc._terms import MonomialSpace
from rfsc.export.compare import compared_text

ENDLESS = {"n_restarts": 2000, "max_iter": 300, "basis": "polynomial"}
SLACK = 1.0  # seconds for the other tests that run beside this one; the bar itself is measured by `make torture`


def table(n, p, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, X[:, 0] - X[:, 1] * X[:, 2] + 0.5 * rng.normal(size=n) > 0


def compile_kernels():
    """No limit can shorten that."""
    RFSCClassifier(n_restarts=1, max_iter=30, basis="polynomial", random_state=0).fit(*table(200, 4))


class Pulled:
    """A brake that is pulled at the n-th look."""

    def __init__(self, n):
        self.left = n

    def __call__(self):
        self.left -= 1
        return self.left < 0


@pytest.mark.parametrize(
    ("n", "p", "seconds", "settings"),
    [
        (400, 6, 1.0, ENDLESS),
        (400, 6, 2.0, {**ENDLESS, "basis": "auto"}),
        (60_000, 15, 4.0, {"basis": "polynomial", "initial_rip": "uniform", "n_restarts": 1000}),
        (200, 1500, 4.0, {"n_restarts": 2000}),
    ],
    ids=["small", "choice of the basis", "long", "wide"],
)
def test_a_time_limit_is_kept(n, p, seconds, settings):
    X, y = table(n, p)
    compile_kernels()
    began = time.perf_counter()
    clf = RFSCClassifier(random_state=0, callbacks=StopAfter(seconds), **settings).fit(X, y)
    took = time.perf_counter() - began
    assert took <= seconds + 1.0 + 0.05 * seconds + SLACK
    assert took >= 0.5 * seconds  # and the time is used
    assert clf.stop_reason_ == "time_limit"
    assert clf.score(X, y) > 0.6
    assert clf.manifest_["stop_reasons"][0][-1] == "time_limit"


def test_every_output_gets_its_share():
    compile_kernels()
    X, y = load_iris(return_X_y=True)
    clf = RFSCClassifier(random_state=0, callbacks=StopAfter(1.5), **ENDLESS).fit(X, y)
    n_searches = [len(own) for own in clf.searches_]
    assert min(n_searches) > 0.1 * max(n_searches)


def test_a_limit_that_is_not_reached_changes_nothing():
    X, y = table(150, 4)
    plain = RFSCClassifier(n_restarts=2, max_iter=20, random_state=0).fit(X, y)
    watched = clone(plain).set_params(callbacks=StopAfter(600)).fit(X, y)
    assert compared_text(watched) == compared_text(plain)
    assert watched.stop_reason_ == plain.stop_reason_ == "finished"


def test_a_comparison_of_bases_that_was_cut_short_is_told_and_keeps_no_searches(tmp_path):
    """With more time another basis might be chosen, so its searches must not be taken for those of that one."""
    X, y = table(300, 8)
    settings = {"n_restarts": 2, "max_iter": 60, "random_state": 1}
    whole = RFSCClassifier(**settings).fit(X, y)
    path = tmp_path / "fit.checkpoint"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(classifier, "COMPARING", 1e-6)
        part = RFSCClassifier(**settings, callbacks=[Checkpoint(path), StopAfter(60)]).fit(X, y)
    assert part.basis_losses_ == {}
    assert part.stop_reason_ == part.manifest_["stop_reasons"][0][0] == "time_limit"
    done = RFSCClassifier(**settings, callbacks=Checkpoint(path)).fit(X, y)
    assert compared_text(done) == compared_text(whole)


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), "3", None, True])
def test_seconds_are_positive(seconds):
    with pytest.raises(ValueError, match="positive"):
        StopAfter(seconds)


def test_what_a_limit_ended_goes_on_to_the_same_bits(tmp_path):
    X, y = table(300, 8)
    settings = {"n_restarts": 3, "max_iter": 100, "random_state": 1}
    _, whole = (RFSCClassifier(**settings).fit(X, y) for _ in range(2))
    path = tmp_path / "fit.checkpoint"
    seconds = whole.manifest_["timings"]["seconds"] / 5
    part = RFSCClassifier(**settings, callbacks=[Checkpoint(path), StopAfter(seconds)]).fit(X, y)
    assert part.stop_reason_ == "time_limit"
    done = RFSCClassifier(**settings, callbacks=Checkpoint(path)).fit(X, y)
    assert compared_text(done) == compared_text(whole)


def test_seconds_of_any_type_are_told_apart_from_now():
    assert type(StopAfter(np.float32(60)).seconds) is float


# ---- parts


@given(seed=st.integers(0, 2**32 - 1), pace=st.floats(0.1, 1e4), first=st.integers(1, 20))
def test_where_a_batch_is_cut_changes_no_bit(seed, pace, first):
    rng = np.random.default_rng(seed)
    target = np.where(rng.random(40) < 0.5, 1.0, -1.0)
    space = MonomialSpace(np.arange(5), 2)
    engine = make_engine("numba", Problem(space, rng.random((5, 40)), target, np.ones(40), FitOptions(), 5))
    supports = Supports.from_lists(rng.choice(21, rng.integers(0, 5), replace=False) for _ in range(25))
    brake = Brake()
    brake.pace.per_second = pace
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parts, "FIRST", first)
        patch.setattr(parts, "SECONDS", 1e-3)
        cut, whole = evaluate_in_parts(engine, supports, brake), engine.evaluate(supports)
    assert cut.supports.ids.tobytes() == whole.supports.ids.tobytes()
    assert cut.supports.indptr.tobytes() == whole.supports.indptr.tobytes()
    for name in ("coef", "score", "log_loss", "status", "n_newton"):
        assert getattr(cut, name).tobytes() == getattr(whole, name).tobytes()


@pytest.mark.parametrize("n", [0, 1, 5, 40])
def test_a_search_that_is_stopped_has_the_best_of_what_it_saw(rng, make_problem, monkeypatch, n):
    monkeypatch.setattr(parts, "FIRST", 4)
    monkeypatch.setattr(parts, "SECONDS", 0.0)
    engine = make_engine("numba", make_problem(rng, ridge=0.1))
    seen, kept = [], []

    class Watch:
        def evaluate(self, supports):
            result = engine.evaluate(supports)
            seen.extend(zip(result.score.tolist(), (-result.log_loss).tolist(), strict=True))
            return result

    spec = SearchSpec(n_models=20, max_iter=300)
    brake = Brake(is_pulled=Pulled(n))
    result, _ = run_search(Watch(), 21, spec, np.random.SeedSequence(1), brake=brake, keep=kept.append)
    assert result.stop_reason == "interrupted"
    assert (result.model.score, -result.model.log_loss) == max(seen)
    assert result.limit is None
    assert result.n_iter >= 1
    assert len(kept) in (result.n_iter, result.n_iter - 1)  # an iteration that was cut short is not kept
    small = pool([result], engine, most=10, largest=10, brake=Brake(is_pulled=lambda: True))
    assert small is None or small.ids.size <= 10


def test_nothing_is_lost_between_the_parts(rng, make_problem, monkeypatch):
    monkeypatch.setattr(parts, "FIRST", 3)
    engine = make_engine("numba", make_problem(rng, ridge=0.1))
    supports = Supports.from_lists([[k] for k in range(10)])
    with pytest.raises(StoppedEarly) as stopped:
        evaluate_in_parts(engine, supports, Brake(is_pulled=lambda: True))
    assert stopped.value.found.coef.tobytes() == engine.evaluate(supports.take(np.arange(3))).coef.tobytes()


# ---- Ctrl-C

SCRIPT = """
import sys, time
from sklearn.datasets import load_breast_cancer
from rfsc import RFSCClassifier
X, y = load_breast_cancer(return_X_y=True)
def tell(record):
    if record.iteration == 20 and record.restart == 0:
        print("searching", flush=True)
try:
    clf = RFSCClassifier(n_restarts=2000, basis="polynomial", random_state=0, callbacks=tell).fit(X, y)
except KeyboardInterrupt:
    print("stopped", flush=True)
else:
    try:
        print(clf.stop_reason_, clf.score(X, y) > 0.9, flush=True)
        time.sleep(60)
    except KeyboardInterrupt:
        print("and Ctrl-C is as ever", flush=True)
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows sends Ctrl-C to whole consoles")
@pytest.mark.parametrize("presses", [1, 2])
def test_ctrl_c_once_gives_the_best_model_and_twice_stops(presses):
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", SCRIPT], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "searching\n"
    process.send_signal(signal.SIGINT)
    assert process.stderr.readline() == "\n"
    assert process.stderr.readline().startswith("Interrupted: ending with the best model so far")
    if presses == 1:
        assert process.stdout.readline() == "interrupted True\n"
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=30)
    assert out.splitlines()[-1] in ({"and Ctrl-C is as ever"} if presses == 1 else {"stopped", "and Ctrl-C is as ever"})


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
    with pytest.raises(KeyboardInterrupt), plain_ctrl_c():
        RFSCClassifier(basis="polynomial", callbacks=lambda _: signal.raise_signal(signal.SIGINT)).fit(X, y)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_handlers_of_others_are_left_alone():
    mine = lambda *_: None  # noqa: E731
    before = signal.signal(signal.SIGINT, mine)
    try:
        with brake_on_ctrl_c():
            assert signal.getsignal(signal.SIGINT) is mine
    finally:
        signal.signal(signal.SIGINT, before)
    found = []
    thread = threading.Thread(target=lambda: found.append(RFSCClassifier(n_restarts=1).fit(*table(100, 3))))
    thread.start()
    thread.join()
    assert found
