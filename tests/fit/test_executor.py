"""Searches on the backend that joblib is told to use: the same fit, observed, stopped and continued alike."""

from __future__ import annotations

import signal
import sys
from concurrent.futures import BrokenExecutor
from contextlib import nullcontext

import joblib
import numpy as np
import pytest
from joblib import parallel_config
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

from rfsc import Checkpoint, StopAfter
from rfsc._fit import fitting
from rfsc._fit.executor import _chosen_backend as chosen_backend
from rfsc._search import context as context_module
from rfsc.export.compare import compared_text
from tests.making import make
from tests.search.test_context import Clock

NO_HANG = StopAfter(300.0)  # loky waits forever for a process that was killed while it wrote
QUICK = {"n_restarts": 3, "max_iter": 25, "random_state": 5, "basis": "polynomial"}


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


def away():
    """A backend with all the ways of processes but their cost."""
    return parallel_config(backend="threading", n_jobs=2)


def test_a_backend_counts_only_where_it_was_chosen():
    assert chosen_backend(None) is None
    assert chosen_backend(2) is None
    with parallel_config(n_jobs=2):
        assert chosen_backend(None) is None
    for backend in ("loky", "threading"):
        with parallel_config(backend=backend, n_jobs=2):
            assert chosen_backend(None).n_jobs == 2
            assert chosen_backend(3).n_jobs == 3
            assert chosen_backend(1) is None
        with parallel_config(backend=backend):
            assert chosen_backend(None) is None
    with parallel_config(backend="threading", n_jobs=2):
        inside = joblib.Parallel(n_jobs=2)(joblib.delayed(chosen_backend)(None) for _ in range(2))
    assert inside == [None, None]


@pytest.mark.parametrize("answer", [None, "stop_search", "stop_all"])
def test_observers_see_the_same_and_can_stop(iris, answer):
    def watched():
        seen = []

        def look(record):
            seen.append((record.output, record.restart, record.iteration, record.best_so_far, record.mean_size_drawn))
            return answer if (record.restart, record.iteration) == (1, 4) else None

        clf = make(**QUICK, callbacks=look).fit(*iris)
        return clf, seen

    here, seen_here = watched()
    with away():
        there, seen_there = watched()
    if answer == "stop_all":  # elsewhere every output begins before the second restart of the first one
        assert {row[:2] for row in seen_there} >= {(0, 0), (1, 0), (2, 0), (0, 1)}
        assert [search.n_iter for search in there.searches_[0]] == [search.n_iter for search in here.searches_[0]]
    else:
        assert sorted(seen_there) == sorted(seen_here)
        assert compared_text(there) == compared_text(here)


@pytest.mark.slow
def test_a_fit_continues_on_another_backend(iris, tmp_path):
    whole = compared_text(make(**QUICK).fit(*iris))
    path = tmp_path / "fit.checkpoint"

    def enough(record):
        return "stop_all" if (record.output, record.restart) == (1, 1) else None

    with away():
        part = make(**QUICK, callbacks=[Checkpoint(path), enough]).fit(*iris)
    assert part.stop_reason_ == "observer"
    assert compared_text(make(**QUICK, callbacks=Checkpoint(path)).fit(*iris)) == whole
    path.unlink()
    part = make(**QUICK, callbacks=[Checkpoint(path), enough]).fit(*iris)
    with away():
        assert compared_text(make(**QUICK, callbacks=Checkpoint(path)).fit(*iris)) == whole


@pytest.mark.slow
def test_a_time_limit_ends_a_fit_on_a_backend(iris, monkeypatch):
    monkeypatch.setattr(context_module.time, "time", Clock())
    with away():
        clf = make(**QUICK | {"n_restarts": 2000}, callbacks=StopAfter(3000.0)).fit(*iris)
    assert clf.stop_reason_ == "time_limit"
    assert min(len(own) for own in clf.searches_) >= 1


@pytest.mark.parametrize("size", ["best", None])
@pytest.mark.parametrize("backend", [None, "threading", pytest.param("loky", marks=pytest.mark.slow)])
def test_restarts_that_are_not_run_are_not_made(iris, monkeypatch, backend, size):
    """With the most that are allowed, whatever makes them all at once would not end."""
    taken = []

    def counted(tasks):
        for task in tasks:
            taken.append(task[1])
            yield task

    class Counted(fitting.Executor):
        def run(self, tasks, *rest, **more):
            return super().run(counted(tasks), *rest, **more)

    monkeypatch.setattr(fitting, "Executor", Counted)
    monkeypatch.setattr(context_module.time, "time", Clock())
    settings = QUICK | {"n_restarts": 10**15, "size": size, "callbacks": StopAfter(400.0)}
    with nullcontext() if backend is None else parallel_config(backend=backend, n_jobs=2):
        clf = make(**settings).fit(*iris)
    assert clf.stop_reason_ == "time_limit"
    n_run = sum(len(own) for own in clf.searches_)
    assert 3 <= n_run <= len(taken) < 10**5  # some were begun, or waited for their turn, when the time was over


@pytest.mark.slow
def test_what_was_finished_before_a_limit_is_kept(iris, tmp_path):
    path = tmp_path / "fit.checkpoint"
    settings = QUICK | {"n_restarts": 2000}
    with away(), pytest.MonkeyPatch.context() as patch:
        # searches that were not begun count, though all that were begun ended in good time
        patch.setattr(fitting, "SEARCH_TIME_SHARE", 0.05)
        clf = make(**settings, callbacks=[Checkpoint(path), StopAfter(40.0)]).fit(*iris)
    assert clf.stop_reason_ == "time_limit"
    assert all(reasons[-1] == "time_limit" for reasons in clf.manifest_["stop_reasons"])
    assert path.read_text().count('"model"') >= 3
    with pytest.raises(ValueError, match="several checkpoints"):
        make(**QUICK, callbacks=[Checkpoint(path), Checkpoint(path)]).fit(*iris)


def killed_at_iteration(n, *, after_ctrl_c):
    """An observer that ends all processes of the pool, as a Ctrl-C does that reaches them while they start."""
    psutil = pytest.importorskip("psutil")
    seen = []

    def look(_):
        seen.append(None)
        if len(seen) == n:
            if after_ctrl_c:
                signal.raise_signal(signal.SIGINT)
            for process in psutil.Process().children():
                if any("popen_loky" in word for word in process.cmdline()):
                    process.kill()

    return look


@pytest.mark.slow
def test_ctrl_c_may_end_the_processes(iris):
    settings = QUICK | {"n_restarts": 500}
    with parallel_config(backend="loky", n_jobs=2):
        with pytest.warns(ConvergenceWarning, match="interrupted"):
            clf = make(**settings, callbacks=[killed_at_iteration(30, after_ctrl_c=True), NO_HANG]).fit(*iris)
        assert clf.stop_reason_ == "interrupted"
        assert clf.score(*iris) > 0.5


@pytest.mark.slow
def test_processes_that_die_by_themselves_are_an_error(iris):
    settings = QUICK | {"n_restarts": 500, "callbacks": [killed_at_iteration(30, after_ctrl_c=False), NO_HANG]}
    with parallel_config(backend="loky", n_jobs=2), pytest.raises(BrokenExecutor):
        make(**settings).fit(*iris)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ResourceWarning")  # distributed asks for a port by opening one
def test_dask_sends_the_table_once(monkeypatch):
    distributed = pytest.importorskip("distributed")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 8))
    y = X[:, 0] + rng.normal(size=3000) > 0
    plain = make(**QUICK).fit(X, y)
    sent = []
    scatter = distributed.Client.scatter

    def spy(self, data, *args, **kwargs):
        sent.append(sys.getsizeof(data))
        return scatter(self, data, *args, **kwargs)

    monkeypatch.setattr(distributed.Client, "scatter", spy)
    with (
        distributed.Client(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0"),
        parallel_config(backend="dask"),
    ):
        clf = make(**QUICK).fit(X, y)
    assert compared_text(clf) == compared_text(plain)
    assert sum(size >= X.nbytes for size in sent) == 3  # once for each of two folds, and for the answer


def test_a_million_processes_are_not_started():
    backend = chosen_backend(10**6, or_processes=True)
    assert backend is None or backend.n_jobs <= joblib.cpu_count()
