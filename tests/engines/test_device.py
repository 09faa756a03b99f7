"""Engines on a device against the readable one: the same answers, and bits that no neighbour changes.

The array code runs everywhere under array-api-strict, and under PyTorch where it is installed; the fused kernels run
where PyTorch or CuPy find a CUDA device.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import array_api_strict
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rfsc import Restrictions, RFSCClassifier, RFSCSelector
from rfsc._engines import ArrayEngine, Criterion, FitOptions, Problem, Restricted, Status, Supports, choose_engine
from rfsc._engines.base import MAX_NEWTON
from rfsc._engines.device_engine import DeviceEngine
from rfsc._engines.devices import HostDevice, current_device
from rfsc._terms import MonomialSpace, Training
from rfsc._terms.rules import Rules
from rfsc._terms.scaling import Scaling
from rfsc.bases import build_space, resolve
from tests.engines.degenerate import degenerate

KEEP_ALL = 0.5 - 1e-12


def device_called(name):
    if name == "strict":
        return HostDevice(array_api_strict)
    pytest.importorskip(name)
    pytest.importorskip("array_api_compat")
    try:
        return current_device(name)
    except RuntimeError:
        pytest.skip("no CUDA device")


@pytest.fixture(params=["strict", "torch", "cupy"], scope="module")
def device(request):
    """Every device that can be had here."""
    return device_called(request.param)


@pytest.fixture(params=["float64", "float32"])
def precision(request):
    """In which precision the fits begin."""
    return request.param


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
def test_it_agrees_with_the_readable_engine(device, precision, criterion, ridge, make_problem):
    rng = np.random.default_rng(0)
    problem = make_problem(rng, n_rows=230, criterion=criterion, ridge=ridge, weight=rng.uniform(0.3, 2.0, size=230))
    supports = random_supports(rng, 21, 40, largest=15)
    found = DeviceEngine(problem, device, precision).evaluate(supports)
    assert_alike(found, ArrayEngine(problem).evaluate(supports))
    fits = supports.sizes > 0
    assert np.array_equal(found.n_newton > 0, fits)


def test_double_precision_agrees_to_rounding(device, rng, make_problem):
    problem = make_problem(rng, ridge=0.1)
    supports = random_supports(rng, 21, 30, largest=12)
    found, expected = DeviceEngine(problem, device).evaluate(supports), ArrayEngine(problem).evaluate(supports)
    assert_alike(found, expected, coef=1e-9, score=1e-12)
    assert np.array_equal(found.n_newton, expected.n_newton)


def test_supports_of_every_size_class(device, precision, make_problem):
    """From one term to more than any kernel takes; the largest ones go through the array code on every device."""
    rng = np.random.default_rng(1)
    problem = make_problem(rng, n_rows=700, n_features=13, ridge=0.1, max_terms=80, significance=0.2)
    sizes = (1, 8, 9, 16, 17, 24, 25, 32, 33, 48, 49, 64, 65, 80)
    supports = Supports.from_lists([rng.choice(105, size, replace=False) for size in sizes])
    assert_alike(DeviceEngine(problem, device, precision).evaluate(supports), ArrayEngine(problem).evaluate(supports))


@pytest.mark.parametrize("degree", [1, 3, 5])
def test_products_of_any_degree(device, degree, rng, make_problem):
    problem = make_problem(rng, n_features=3, degree=degree, ridge=0.1)
    supports = random_supports(rng, problem.space.n_terms, 20, largest=min(problem.space.n_terms, 10))
    assert_alike(DeviceEngine(problem, device).evaluate(supports), ArrayEngine(problem).evaluate(supports))


def test_more_features_than_fit_into_shared_memory(device, precision, make_problem):
    rng = np.random.default_rng(2)
    problem = make_problem(rng, n_rows=150, n_features=400, ridge=1.0)
    supports = random_supports(rng, problem.space.n_terms, 20, largest=20)
    assert_alike(DeviceEngine(problem, device, precision).evaluate(supports), ArrayEngine(problem).evaluate(supports))


def problem_of(basis, rng, n_rows=150):
    """A problem whose terms are not all products of features."""
    X = rng.normal(size=(n_rows, 4))
    target = np.where(np.abs(X[:, 0]) - X[:, 1] + 0.5 * rng.logistic(size=n_rows) > 0.5, 1.0, -1.0)
    scaling, weight = Scaling.from_rows(X), np.ones(n_rows)
    table = scaling.table(X)
    space = build_space(resolve(basis, 2), Training(table, weight, np.arange(4), scaling), 0)
    return Problem(space, table, target, weight, FitOptions(ridge=0.1), 12)


@pytest.mark.parametrize("basis", ["centred", "hinge", ["polynomial", "radial"]])
def test_columns_that_only_the_host_knows(device, precision, basis, rng, monkeypatch):
    problem = problem_of(basis, rng)
    supports = random_supports(rng, problem.space.n_terms, 40, largest=min(problem.space.n_terms, 12))
    roomy = DeviceEngine(problem, device, precision)
    whole = roomy.evaluate(supports)
    assert_alike(whole, ArrayEngine(problem).evaluate(supports))
    monkeypatch.setattr("rfsc._engines.device_table.COLUMN_BYTES", 0)
    tight = DeviceEngine(problem, device, precision)
    assert tight._rows.capacity == 12 < roomy._rows.capacity  # max_terms: whatever one support needs
    for _ in range(2):  # columns have been thrown out and come back
        parts = tight.evaluate(supports)
        assert np.array_equal(whole.coef, parts.coef)
        assert np.array_equal(whole.score, parts.score)


def test_bits_do_not_depend_on_neighbours(device, precision, rng, make_problem):
    problem = make_problem(rng, n_rows=400, n_features=8, ridge=0.01, max_terms=30)
    supports = random_supports(rng, 45, 40, largest=30)
    whole = DeviceEngine(problem, device, precision).evaluate(supports)
    order = rng.permutation(40)
    shuffled = DeviceEngine(problem, device, precision).evaluate(supports.take(order))
    engine = DeviceEngine(problem, device, precision)
    for position, m in enumerate(order):
        a, b = whole.supports.indptr[m : m + 2]
        c, d = shuffled.supports.indptr[position : position + 2]
        assert np.array_equal(whole.coef[a:b], shuffled.coef[c:d])
        assert whole.score[m] == shuffled.score[position]
        if position < 8:
            alone = engine.evaluate(supports.take(np.array([m])))
            assert np.array_equal(whole.coef[a:b], alone.coef)
            assert whole.score[m] == alone.score[0]


def test_what_is_left_of_a_support_evaluates_to_itself(device, rng, make_problem):
    problem = make_problem(rng, n_rows=300, ridge=0.1)
    once = DeviceEngine(problem, device).evaluate(random_supports(rng, 21, 30, largest=12))
    again = DeviceEngine(problem, device).evaluate(once.supports)
    assert np.array_equal(again.supports.ids, once.supports.ids)
    np.testing.assert_allclose(again.coef, once.coef, rtol=1e-6)


def test_blocks_of_rows_only_change_the_rounding(rng, make_problem, monkeypatch):
    problem = make_problem(rng, n_rows=300, ridge=0.1)
    supports = random_supports(rng, 21, 20, largest=12)
    device = HostDevice(array_api_strict)
    whole = DeviceEngine(problem, device).evaluate(supports)
    monkeypatch.setattr("rfsc._engines.device_table.BLOCK_BYTES", 0)  # 32 rows at a time
    assert_alike(DeviceEngine(problem, device).evaluate(supports), whole, coef=1e-9, score=1e-12)


def test_pruning_obeys_restrictions(device, rng, make_problem):
    problem = make_problem(rng, n_rows=90, n_features=3, ridge=0.1, significance=0.02)
    rules = Rules(problem.space, forced=frozenset({2}), hierarchy=True)
    closed = [[1, 2, 3, 5], [0, 1, 2, 5], [2], [1, 2, 3, 4, 6]]
    supports = Supports.from_lists(closed)
    found = Restricted(DeviceEngine(problem, device), rules).evaluate(supports)
    assert_alike(found, Restricted(ArrayEngine(problem), rules).evaluate(supports))
    assert all(2 in found.supports[m] for m in range(4))


def test_separable_classes(device, precision):
    x = np.linspace(0, 1, 40)
    target = np.where(x > 0.5, 1.0, -1.0)
    for ridge, significance, status in [(0.1, 0.05, Status.CONVERGED), (0.0, KEEP_ALL, None)]:
        options = FitOptions(ridge=ridge, significance=significance)
        problem = Problem(MonomialSpace(np.arange(1), 1), x[None, :], target, np.ones(40), options, 5)
        result = DeviceEngine(problem, device, precision).evaluate(Supports.from_lists([[0, 1]]))
        assert np.isfinite(result.coef).all()
        assert np.isfinite(result.score).all()
        assert result.n_newton[0] <= 2 * MAX_NEWTON
        assert status is None or (result.status[0] == status and result.score[0] > 0.9)


@pytest.mark.parametrize("name", ["strict", "torch"])
@pytest.mark.parametrize("ridge", [0.0, 0.1])
@given(data=st.data())
def test_degenerate_columns_never_break_a_fit(name, ridge, data):
    """Duplicated, constant, zero, tiny and collinear columns, in any mixture."""
    problem, supports = degenerate(data, ridge)
    precision = data.draw(st.sampled_from(["float64", "float32"]))
    result = DeviceEngine(problem, device_called(name), precision).evaluate(supports)
    assert np.isfinite(result.coef).all()
    assert ((result.score >= 0) & (result.score <= 1)).all()
    assert np.isfinite(result.log_loss).all()


def test_columns_too_small_for_single_precision(device, precision):
    table = np.full((2, 30), np.finfo(np.float32).tiny)
    table[1, 0] = 1.0
    target = np.where(np.arange(30) == 1, 1.0, -1.0)
    problem = Problem(MonomialSpace(np.arange(2), 2), table, target, np.ones(30), FitOptions(ridge=0.1), 5)
    supports = Supports.from_lists([[0, 1], [0, 1, 2], [0, 2, 3], [0, 4, 5]])
    assert_alike(DeviceEngine(problem, device, precision).evaluate(supports), ArrayEngine(problem).evaluate(supports))


@pytest.mark.parametrize("ordered", [False, True])
def test_first_steps_on_some_rows_do_not_change_the_answer(ordered, make_problem):
    """Long tables on a CUDA device; in the second one the rows that come first to be seen are all of one class."""
    device = device_called("torch")
    if not device.fuses:
        pytest.skip("no CUDA device")
    rng = np.random.default_rng(0)
    problem = make_problem(rng, n_rows=140_000, ridge=0.1)
    if ordered:
        seen = np.arange(140_000) // 32 % 16 == 0
        rank = np.argsort(~seen, kind="stable")
        order = np.empty_like(rank)
        order[rank] = np.argsort(-problem.target, kind="stable")
        table = np.ascontiguousarray(problem.table[:, order])
        problem = Problem(problem.space, table, problem.target[order], problem.weight, problem.options, 20)
        assert (problem.target[seen] == 1.0).all()
    engine = DeviceEngine(problem, device)
    assert engine._fused.coarsest == 2
    supports = random_supports(rng, 21, 10, largest=12)
    assert_alike(engine.evaluate(supports), ArrayEngine(problem).evaluate(supports))


def test_the_classifier_finds_the_same_on_a_device(precision, rng):
    device_called("torch")
    X = rng.normal(size=(300, 5))
    y = X[:, 0] - X[:, 1] * X[:, 2] + 0.3 * rng.logistic(size=300) > 0
    rules = Restrictions(force=["x3"])
    settings = {"basis": ["polynomial", "hinge"], "restrictions": rules, "n_restarts": 1, "max_iter": 8, "n_models": 40}
    expected = RFSCClassifier(engine="numpy", random_state=0, **settings).fit(X, y)
    found = RFSCClassifier(engine="torch", precision=precision, random_state=0, **settings).fit(X, y)
    assert (expected.engine_, found.engine_) == ("numpy", "torch")
    assert found.models_[0].names == expected.models_[0].names
    np.testing.assert_allclose(found.models_[0].coef, expected.models_[0].coef, rtol=1e-6)
    for ours, theirs in zip(found.searches_[0], expected.searches_[0], strict=True):
        assert np.array_equal(ours.model.ids, theirs.model.ids)
    assert RFSCSelector(found).fit(X, y).estimator_.engine_ == "torch"


def test_auto_stays_on_the_cpu_for_short_tables():
    assert choose_engine("auto", 99) == "numba"


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="needs PyTorch")
def test_auto_does_not_import_torch_for_short_tables():
    code = (
        "import sys, warnings; warnings.simplefilter('ignore')\n"
        "import numpy as np; from rfsc import RFSCClassifier\n"
        "X = np.random.default_rng(0).normal(size=(60, 3))\n"
        "RFSCClassifier(n_restarts=1, max_iter=2).fit(X, np.arange(60) % 2)\n"
        "print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_auto_takes_torch_for_long_tables_where_it_has_cuda(monkeypatch):
    for has, name in [(True, "torch"), (False, "numba")]:
        monkeypatch.setattr("rfsc._engines.registry._torch_has_cuda", lambda has=has: has)
        assert choose_engine("auto", 10**6) == name


@pytest.mark.parametrize("engine", ["numba", "numpy"])
def test_single_precision_is_refused_on_the_cpu(engine):
    clf = RFSCClassifier(engine=engine, precision="float32")
    with pytest.raises(ValueError, match=f"got engine='{engine}'. Use engine='torch'"):
        clf.fit(np.arange(8.0)[:, None], [0, 1] * 4)
    assert not hasattr(clf, "engine_")


@pytest.mark.parametrize("engine", ["torch", "cupy"])
def test_a_missing_library_is_named(engine, monkeypatch):
    monkeypatch.setattr("rfsc._utils.optional.find_spec", lambda name: None)
    with pytest.raises(ImportError, match=rf"engine='{engine}' needs {engine}.*rfsc\[{engine}\]"):
        RFSCClassifier(engine=engine).fit(np.arange(8.0)[:, None], [0, 1] * 4)
