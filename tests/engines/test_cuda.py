"""The CUDA engine against the readable one: the same answers, and bits that no neighbour changes.

The host's side of it runs everywhere on a simulated device; the kernels run if PyTorch finds a CUDA device.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rfsc import Restrictions, RFSCClassifier, RFSCSelector, SearchSettings
from rfsc._engines import Criterion, FitOptions, Problem, Restricted, Status, Supports, choose_engine
from rfsc._engines.array_engine import ArrayEngine
from rfsc._engines.base import MAX_NEWTON
from rfsc._engines.cuda_device import current_device, reason_against_cuda
from rfsc._engines.cuda_engine import SHARE, TILE, CudaEngine
from rfsc._terms import MonomialSpace, Training
from rfsc._terms.requirements import Requirements
from rfsc._terms.scaling import Scaling
from rfsc.bases import build_space, resolve
from tests.engines.degenerate import degenerate
from tests.engines.simulated_device import SimulatedDevice

KEEP_ALL = 0.5 - 1e-12
SIMULATED = SimulatedDevice()


def device_called(name):
    if name == "simulated":
        return SIMULATED
    pytest.importorskip("torch")
    reason = reason_against_cuda()
    if reason is not None:
        pytest.skip(reason)
    return current_device()


@pytest.fixture(params=["simulated", "cuda"], scope="module")
def device(request):
    """Every device that is available."""
    return device_called(request.param)


def random_supports(rng, n_terms, n, largest):
    return Supports.from_lists([rng.choice(n_terms, rng.integers(0, largest), replace=False) for _ in range(n)])


def assert_alike(found, expected, *, coef=1e-6, score=1e-7):
    assert np.array_equal(found.supports.indptr, expected.supports.indptr)
    assert np.array_equal(found.supports.ids, expected.supports.ids)
    assert np.array_equal(found.status, expected.status)
    np.testing.assert_allclose(found.coef, expected.coef, rtol=coef, atol=1e-8)
    np.testing.assert_allclose(found.score, expected.score, rtol=score)
    np.testing.assert_allclose(found.log_loss, expected.log_loss, rtol=score)


@pytest.mark.parametrize("criterion", list(Criterion))
@pytest.mark.parametrize("ridge", [0.0, 1.0])
def test_evaluation_equals_that_of_the_array_engine(device, criterion, ridge, make_problem):
    rng = np.random.default_rng(0)
    problem = make_problem(rng, n_rows=230, criterion=criterion, ridge=ridge, weight=rng.uniform(0.3, 2.0, size=230))
    supports = random_supports(rng, 21, 40, largest=15)
    found = CudaEngine(problem, device).evaluate(supports)
    assert_alike(found, ArrayEngine(problem).evaluate(supports))
    fits = supports.sizes > 0
    assert np.array_equal(found.n_newton > 0, fits)


def test_evaluation_agrees_to_rounding_in_as_many_steps(device, rng, make_problem):
    problem = make_problem(rng, ridge=0.1)
    supports = random_supports(rng, 21, 30, largest=12)
    found, expected = CudaEngine(problem, device).evaluate(supports), ArrayEngine(problem).evaluate(supports)
    assert_alike(found, expected, coef=1e-9, score=1e-12)
    assert np.array_equal(found.n_newton, expected.n_newton)


def test_supports_of_every_size_class(device, make_problem):
    """From one term to more than any kernel takes; the largest ones are fitted by the array engine."""
    rng = np.random.default_rng(1)
    problem = make_problem(rng, n_rows=700, n_features=13, ridge=0.1, max_terms=80, significance=0.2)
    sizes = (1, 8, 9, 16, 17, 24, 25, 32, 33, 48, 49, 64, 65, 80)
    supports = Supports.from_lists([rng.choice(105, size, replace=False) for size in sizes])
    assert_alike(CudaEngine(problem, device).evaluate(supports), ArrayEngine(problem).evaluate(supports))


@pytest.mark.parametrize("degree", [1, 3, 5])
def test_products_of_any_degree(device, degree, make_problem):
    rng = np.random.default_rng(0)
    problem = make_problem(rng, n_features=3, degree=degree, ridge=0.1)
    supports = random_supports(rng, problem.space.n_terms, 20, largest=min(problem.space.n_terms, 10))
    assert_alike(CudaEngine(problem, device).evaluate(supports), ArrayEngine(problem).evaluate(supports))


def test_more_features_than_fit_into_shared_memory(device, make_problem):
    rng = np.random.default_rng(2)
    problem = make_problem(rng, n_rows=150, n_features=400, ridge=1.0)
    supports = random_supports(rng, problem.space.n_terms, 20, largest=20)
    assert_alike(CudaEngine(problem, device).evaluate(supports), ArrayEngine(problem).evaluate(supports))


def problem_of(basis, rng, n_rows=150):
    """A problem whose terms are not all products of features."""
    X = rng.normal(size=(n_rows, 4))
    target = np.where(np.abs(X[:, 0]) - X[:, 1] + 0.5 * rng.logistic(size=n_rows) > 0.5, 1.0, -1.0)
    scaling, weight = Scaling.from_rows(X), np.ones(n_rows)
    table = scaling.table(X)
    space = build_space(resolve(basis), Training(table, weight, np.arange(4), scaling), 0)
    return Problem(space, table, target, weight, FitOptions(ridge=0.1), 12)


@pytest.mark.parametrize("basis", ["centred", "hinge", ["polynomial", "radial"]])
def test_columns_that_only_the_host_can_compute(device, basis, monkeypatch):
    rng = np.random.default_rng(0)
    problem = problem_of(basis, rng)
    supports = random_supports(rng, problem.space.n_terms, 16, largest=min(problem.space.n_terms, 12))
    roomy = CudaEngine(problem, device)
    whole = roomy.evaluate(supports)
    assert_alike(whole, ArrayEngine(problem).evaluate(supports))
    monkeypatch.setattr("rfsc._engines.cuda_table.COLUMN_BYTES", 0)
    tight = CudaEngine(problem, device)
    assert tight.rows.capacity == 12 < roomy.rows.capacity  # max_terms: whatever one support needs
    for _ in range(2):  # columns were evicted and are uploaded again
        parts = tight.evaluate(supports)
        assert np.array_equal(whole.coef, parts.coef)
        assert np.array_equal(whole.score, parts.score)


def test_bits_do_not_depend_on_neighbours(device, make_problem):
    rng = np.random.default_rng(0)
    problem = make_problem(rng, n_rows=400, n_features=8, ridge=0.01, max_terms=30)
    supports = random_supports(rng, 45, 16, largest=30)
    whole = CudaEngine(problem, device).evaluate(supports)
    order = rng.permutation(16)
    shuffled = CudaEngine(problem, device).evaluate(supports.take(order))
    engine = CudaEngine(problem, device)
    for position, m in enumerate(order):
        a, b = whole.supports.indptr[m : m + 2]
        c, d = shuffled.supports.indptr[position : position + 2]
        assert np.array_equal(whole.coef[a:b], shuffled.coef[c:d])
        assert whole.score[m] == shuffled.score[position]
        if position < 4:
            alone = engine.evaluate(supports.take(np.array([m])))
            assert np.array_equal(whole.coef[a:b], alone.coef)
            assert whole.score[m] == alone.score[0]


def test_what_is_left_of_a_support_evaluates_to_itself(device, rng, make_problem):
    problem = make_problem(rng, n_rows=300, ridge=0.1)
    once = CudaEngine(problem, device).evaluate(random_supports(rng, 21, 30, largest=12))
    again = CudaEngine(problem, device).evaluate(once.supports)
    assert np.array_equal(again.supports.ids, once.supports.ids)
    np.testing.assert_allclose(again.coef, once.coef, rtol=1e-6)


def test_variances_in_blocks_of_rows_differ_by_rounding_only(device, rng, make_problem, monkeypatch):
    problem = make_problem(rng, n_rows=300, ridge=0.1)
    supports = random_supports(rng, 21, 20, largest=12)
    whole = CudaEngine(problem, device).evaluate(supports)
    monkeypatch.setattr("rfsc._engines.cuda_table.BLOCK_BYTES", 0)  # 32 rows at a time
    assert_alike(CudaEngine(problem, device).evaluate(supports), whole, coef=1e-9, score=1e-12)


def test_pruning_obeys_restrictions(device, rng, make_problem):
    problem = make_problem(rng, n_rows=90, n_features=3, ridge=0.1, significance=0.02)
    requirements = Requirements(problem.space, forced=frozenset({2}), hierarchy=True)
    closed = [[1, 2, 3, 5], [0, 1, 2, 5], [2], [1, 2, 3, 4, 6]]
    supports = Supports.from_lists(closed)
    found = Restricted(CudaEngine(problem, device), requirements).evaluate(supports)
    assert_alike(found, Restricted(ArrayEngine(problem), requirements).evaluate(supports))
    assert all(2 in found.supports[m] for m in range(4))


def test_pruning_obeys_signs(device, rng, make_problem):
    problem = make_problem(rng, n_rows=150, ridge=0.1)
    requirements = Requirements(problem.space, forced=frozenset({0, 2}), signs={0: -1, 1: 1, 3: 1})
    drawn = random_supports(rng, 21, 30, largest=12)
    supports = Supports.from_lists(requirements.gather(drawn[m].tolist(), 20) for m in range(30))
    found = Restricted(CudaEngine(problem, device), requirements).evaluate(supports)
    assert_alike(found, Restricted(ArrayEngine(problem), requirements).evaluate(supports))
    assert (requirements.signs_of(found.supports.ids) * found.coef >= 0.0).all()
    assert 0 < found.supports.ids.size < supports.ids.size


def test_separable_classes(device):
    x = np.linspace(0, 1, 40)
    target = np.where(x > 0.5, 1.0, -1.0)
    for ridge, significance, status in [(0.1, 0.05, Status.CONVERGED), (0.0, KEEP_ALL, None)]:
        options = FitOptions(ridge=ridge, significance=significance)
        problem = Problem(MonomialSpace(np.arange(1), 1), x[None, :], target, np.ones(40), options, 5)
        result = CudaEngine(problem, device).evaluate(Supports.from_lists([[0, 1]]))
        assert np.isfinite(result.coef).all()
        assert np.isfinite(result.score).all()
        assert result.n_newton[0] <= 2 * MAX_NEWTON
        assert status is None or (result.status[0] == status and result.score[0] > 0.9)


@pytest.mark.parametrize("name", ["simulated", "cuda"])
@pytest.mark.parametrize("ridge", [0.0, 0.1])
@given(data=st.data())
def test_degenerate_columns_never_break_a_fit(name, ridge, data):
    """Duplicated, constant, zero, tiny and collinear columns, in any mixture."""
    problem, supports = degenerate(data, ridge)
    result = CudaEngine(problem, device_called(name)).evaluate(supports)
    assert np.isfinite(result.coef).all()
    assert ((result.score >= 0) & (result.score <= 1)).all()
    assert np.isfinite(result.log_loss).all()


def test_columns_of_tiny_values(device):
    table = np.full((2, 30), np.finfo(np.float32).tiny)
    table[1, 0] = 1.0
    target = np.where(np.arange(30) == 1, 1.0, -1.0)
    problem = Problem(MonomialSpace(np.arange(2), 2), table, target, np.ones(30), FitOptions(ridge=0.1), 5)
    supports = Supports.from_lists([[0, 1], [0, 1, 2], [0, 2, 3], [0, 4, 5]])
    assert_alike(CudaEngine(problem, device).evaluate(supports), ArrayEngine(problem).evaluate(supports))


@pytest.mark.parametrize("ordered", [False, True])
def test_first_steps_on_some_rows_do_not_change_the_answer(device, ordered, make_problem, monkeypatch):
    """As on long tables; in the second one the rows that are seen first are all of one class."""
    monkeypatch.setattr("rfsc._engines.cuda_engine.CHUNKS", 2)
    rng, n_rows = np.random.default_rng(0), 4000
    problem = make_problem(rng, n_rows=n_rows, ridge=0.1)
    if ordered:
        seen = np.arange(n_rows) // 32 % 16 == 0
        rank = np.argsort(~seen, kind="stable")
        order = np.empty_like(rank)
        order[rank] = np.argsort(-problem.target, kind="stable")
        table = np.ascontiguousarray(problem.table[:, order])
        problem = Problem(problem.space, table, problem.target[order], problem.weight, problem.options, 20)
        assert (problem.target[seen] == 1.0).all()
    engine = CudaEngine(problem, device)
    assert engine.chunk_rows >= SHARE * TILE
    supports = random_supports(rng, 21, 10, largest=12)
    assert_alike(engine.evaluate(supports), ArrayEngine(problem).evaluate(supports))


def test_the_classifier_finds_the_same_on_a_device(rng):
    device_called("cuda")
    X = rng.normal(size=(300, 5))
    y = X[:, 0] - X[:, 1] * X[:, 2] + 0.3 * rng.logistic(size=300) > 0
    shared = {"basis": ["polynomial", "hinge"], "restrictions": Restrictions(force=["x3"]), "n_restarts": 1}
    shared |= {"search": SearchSettings(n_models=40, max_iter=8), "random_state": 0}
    expected = RFSCClassifier(engine="numpy", **shared).fit(X, y)
    found = RFSCClassifier(engine="torch", **shared).fit(X, y)
    assert (expected.engine_, found.engine_) == ("numpy", "torch")
    assert found.models_[0].names == expected.models_[0].names
    np.testing.assert_allclose(found.models_[0].coef, expected.models_[0].coef, rtol=1e-6)
    for ours, theirs in zip(found.searches_[0], expected.searches_[0], strict=True):
        assert np.array_equal(ours.model.ids, theirs.model.ids)
    assert RFSCSelector(found).fit(X, y).estimator_.engine_ == "torch"


def test_auto_uses_the_cpu_for_short_tables():
    assert choose_engine("auto", 99) == "numba"


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="needs PyTorch")
def test_auto_does_not_import_torch_for_short_tables():
    code = (
        "import sys, warnings; warnings.simplefilter('ignore')\n"
        "import numpy as np; from rfsc import RFSCClassifier\n"
        "X = np.random.default_rng(0).normal(size=(60, 3))\n"
        "RFSCClassifier(n_restarts=1).fit(X, np.arange(60) % 2)\n"
        "print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize(("has_cuda", "name"), [(True, "torch"), (False, "numba")])
def test_auto_uses_torch_for_long_tables_if_it_has_cuda(has_cuda, name, monkeypatch):
    monkeypatch.setattr("rfsc._engines._torch_has_cuda", lambda: has_cuda)
    assert choose_engine("auto", 10**6) == name


def test_torch_without_cuda_uses_the_cpu_and_warns(monkeypatch):
    monkeypatch.setattr("rfsc._utils.optional.require", lambda *_: None)
    monkeypatch.setattr("rfsc._engines.cuda_device.reason_against_cuda", lambda: "PyTorch finds no CUDA device")
    with pytest.warns(RuntimeWarning, match="PyTorch finds no CUDA device. The CPU is used instead"):
        assert choose_engine("torch", 99) == "numba"


def test_a_missing_torch_is_named(monkeypatch):
    monkeypatch.setattr("rfsc._utils.optional.find_spec", lambda _: None)
    with pytest.raises(ImportError, match=r"engine='torch' needs torch: pip install 'rfsc\[torch\]'"):
        choose_engine("torch", 99)
