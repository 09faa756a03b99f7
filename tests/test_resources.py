"""Fits leave nothing behind, take no more threads than they were given, and run wherever Python does."""

from __future__ import annotations

import mmap
import multiprocessing
import os
import random
import threading

import numpy as np
import pytest
from benchmarks.torture import resources
from benchmarks.torture.resources import (
    MOST_MEMORY,
    QUICK,
    busy_threads,
    cpu_by_thread,
    left_behind,
    notebook_outputs,
    numbers,
    offline,
    quick_numbers,
    small_fit,
)
from joblib import Parallel, cpu_count, delayed, parallel_config
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from threadpoolctl import threadpool_info, threadpool_limits

from rfsc._utils.determinism import one_blas_thread, thread_count
from rfsc.bases import Polynomial
from tests.making import make

pytestmark = pytest.mark.slow


def blas_threads():
    return sorted(pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas")


def in_a_new_process(function, *arguments):
    """Its result where nothing of earlier tests ends meanwhile."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply_async(function, arguments).get(timeout=300)


def left_by_leaking_fits(n_fits):
    held = []

    def leaking_fit(*_, **__):
        pages = mmap.mmap(-1, 2**20)  # not from a heap that may have room left
        pages.write(bytes(2**20))
        threading.Thread(target=threading.Event().wait, daemon=True).start()
        held.append((pages, os.dup(0)))

    resources.small_fit = leaking_fit
    return left_behind(n_fits)


def test_sixty_fits_leave_nothing_behind():
    left = in_a_new_process(left_behind, 60)
    assert max(left[:3]) <= 0
    assert left.memory < MOST_MEMORY


def test_what_is_left_behind_is_seen():
    """The test above can fail."""
    left = in_a_new_process(left_by_leaking_fits, 30)
    assert left.threads == left.files == 10
    assert left.memory > MOST_MEMORY


@pytest.mark.parametrize("engine", ["numba", "numpy"])
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_no_more_threads_than_asked_for(engine, n_jobs):
    with threadpool_limits(4, user_api="blas"):
        found = busy_threads(n_jobs=n_jobs, engine=engine, basis=["polynomial", "radial"], initial_rip="screened")
        assert blas_threads() == [4] * len(blas_threads())  # as it was
    assert 1 <= found <= (n_jobs or 1)


def test_busy_threads_are_seen():
    """The test above can fail."""
    table = np.random.default_rng(0).random((1500, 1500))
    before = cpu_by_thread()
    with threadpool_limits(4, user_api="blas"):
        table @ table
        spent = [seconds - before.get(thread, 0.0) for thread, seconds in cpu_by_thread().items()]
    assert sum(seconds > 0.05 * sum(spent) for seconds in spent) > 1


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # filters are shared by all threads
def test_fits_in_several_threads_leave_the_blas_threads_as_they_were():
    with threadpool_limits(3, user_api="blas"):
        settings = {"basis": ["polynomial", "radial"], "engine": "numpy"}
        alone = [numbers(small_fit(seed, **settings)) for seed in range(4)]
        jobs = (delayed(small_fit)(seed, **settings) for seed in range(4))
        together = [numbers(clf) for clf in Parallel(4, backend="threading")(jobs)]
        assert blas_threads() == [3] * len(blas_threads())
    assert together == alone


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_children_of_a_process_that_has_fitted(method):
    expected = quick_numbers(0)
    with multiprocessing.get_context(method).Pool(1) as pool:
        assert pool.apply_async(quick_numbers, (0,)).get(timeout=120) == expected


def test_fork_while_another_thread_is_fitting():
    """The other thread does not exist in the child, and can give back no lock there."""
    inside, done = threading.Event(), threading.Event()

    def fit_for_long():
        with one_blas_thread():
            inside.set()
            done.wait()

    other = threading.Thread(target=fit_for_long)
    other.start()
    try:
        inside.wait()
        child = multiprocessing.get_context("fork").Process(target=quick_numbers, args=(0,))
        child.start()
        child.join(60)
        ended = not child.is_alive()
        child.kill()
    finally:
        done.set()
        other.join()
    assert ended
    assert child.exitcode == 0


def test_grid_search_in_processes():
    X, y = load_iris(return_X_y=True)
    grid = {"basis": [Polynomial(degree=1), Polynomial(degree=2)]}
    searches = [
        GridSearchCV(make(**QUICK | {"max_iter": 30}), grid, cv=2, n_jobs=n_jobs).fit(X, y) for n_jobs in (None, 2)
    ]
    one, two = ([search.cv_results_[f"split{k}_test_score"].tolist() for k in range(2)] for search in searches)
    assert one == two
    assert numbers(searches[0].best_estimator_) == numbers(searches[1].best_estimator_)
    inside = Parallel(2)(delayed(busy_threads)(engine="numba", basis="polynomial") for _ in range(2))
    assert inside == [1, 1]


def test_random_states_of_others_are_left_alone():
    def states():
        legacy = np.random.get_state()  # noqa: NPY002
        return random.getstate(), (*legacy[:1], legacy[1].tolist(), *legacy[2:])

    before = states()
    for random_state in (0, None, np.random.RandomState(0), np.random.default_rng(0)):
        small_fit(0, random_state=random_state, basis=["polynomial", "radial", "sigmoid"])
    assert states() == before


@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState])
def test_a_generator_is_looked_at_and_not_moved(make):
    generator = make(1)
    settings = {"random_state": generator, "max_iter": 1, "size": None}
    first, second = (small_fit(0, **settings).searches_[0][0].history[0].mean_log_loss for _ in range(2))
    assert first == second
    assert generator.random() == make(1).random()  # and one of these was moved by this line
    third = small_fit(0, **settings).searches_[0][0].history[0].mean_log_loss
    assert third != first


def test_nothing_looks_for_a_network():
    assert offline().split() == ["True", "True"]


def test_fit_and_display_in_a_notebook():
    pytest.importorskip("ipykernel")
    pytest.importorskip("jupyter_client")
    sent = notebook_outputs()
    assert not [one for one in sent if one["kind"] == "error"]
    assert "".join(one["text"] for one in sent if one.get("name") == "stdout") == "True\n"
    assert "restart 2/2" in "".join(one["text"] for one in sent if one.get("name") == "stderr")
    (shown,) = (one["data"] for one in sent if one["kind"] == "execute_result")
    assert "RFSCClassifier" in shown["text/html"]


@pytest.mark.parametrize(("n_jobs", "expected"), [(None, cpu_count()), (1, 1), (5, 5), (-1, cpu_count()), (-10_000, 1)])
def test_jobs_are_threads(n_jobs, expected):
    assert thread_count(n_jobs) == expected


def test_jobs_inside_and_outside_of_parallel_loops():
    with parallel_config(backend="loky", n_jobs=3):
        assert thread_count(None) == 3

    def inside(depth):
        if depth:
            return Parallel(2, backend="threading")(delayed(inside)(depth - 1) for _ in range(2))[0]
        return thread_count(None), thread_count(2)

    assert inside(1) == (1, 2)
    assert inside(2) == (1, 1)  # loops within loops: enough is enough
