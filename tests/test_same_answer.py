"""One fit in many ways gives the same bits; the whole grid is in `make torture`."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.torture.same_answer import (
    dask_cluster,
    engine_torture,
    fit,
    hashes,
    in_parallel,
    interrupted,
    random_state_torture,
)
from threadpoolctl import threadpool_limits

from rfsc._fit.basis_choice import _best_shares
from rfsc._fit.rows import Rows
from rfsc._fit.targets import encode
from rfsc._terms.scaling import Scaling
from rfsc.export.compare import compared_text

pytestmark = pytest.mark.slow

SHORT = ("three classes, polynomial", "two classes, subsamples", "several families, screened")


@pytest.mark.parametrize("case", [SHORT[0], SHORT[2]])
def test_jobs_threads_chunks_and_interruptions(case):
    found = hashes((case,), ("threading",), (1, 3))[case]
    assert len(found) > 10
    assert not [value for value in found.values() if value.startswith("failed")]
    assert len(set(found.values())) == 1, found


def test_processes():
    for case in SHORT:
        assert compared_text(in_parallel("loky", 2)(case)) == compared_text(fit(case))


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # distributed asks for a port by opening one
def test_a_cluster():
    pytest.importorskip("distributed")
    with dask_cluster():
        for case in SHORT:
            assert compared_text(in_parallel("dask", 2)(case)) == compared_text(fit(case))


def test_all_of_it_together_for_the_average_of_chosen_bases():
    case = "three classes, auto, average"
    with threadpool_limits(1, user_api="blas"):
        alone = compared_text(fit(case))
    with threadpool_limits(3, user_api="blas"):
        assert compared_text(interrupted(case, (5,), n_jobs=3)) == alone


@pytest.mark.parametrize("n_classes", [2, 3])
def test_shares_do_not_depend_on_the_threads_of_blas(rng, n_classes):
    n_rows = 20_000
    values = rng.normal(size=(4, n_rows) if n_classes == 2 else (4, n_rows, n_classes))
    X = rng.random((n_rows, 1))
    scaling = Scaling.from_rows(X)
    rows = Rows(encode(rng.integers(0, n_classes, n_rows)), scaling, scaling.table(X), rng.random(n_rows))
    found = []
    for n_threads in (1, 2, 4):
        with threadpool_limits(n_threads, user_api="blas"):
            found.append(_best_shares(list(values), rows).tobytes())
    assert len(set(found)) == 1


def test_engines_agree_to_eight_digits():
    for _, tried, lost, wrong in engine_torture(range(1), SHORT[:2]):
        assert tried == 2
        assert lost == wrong == 0


def test_nothing_random_is_moved():
    ((_, tried, lost, wrong),) = random_state_torture(range(1))
    assert tried == 6
    assert lost == wrong == 0


def test_another_answer_is_seen():
    """The tests above can fail."""
    assert compared_text(fit(SHORT[0])) != compared_text(fit(SHORT[0], random_state=4))
    assert not np.array_equal(fit(SHORT[0]).models_[0].coef, fit(SHORT[0], ridge=1e-3).models_[0].coef)
