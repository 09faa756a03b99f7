"""The engines of the CPU against statsmodels, brute force, a naive implementation, and each other."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st

import rfsc
from rfsc._engines import Criterion, FitOptions, Memo, Problem, Status, Supports, kernels, make_engine
from rfsc._engines.base import MAX_NEWTON
from rfsc._engines.kernels import COARSE_ROWS, evaluate_supports
from rfsc._engines.problem import CACHE_LINE
from rfsc._model.inference import refit
from rfsc._terms import MonomialSpace
from tests.engines.degenerate import degenerate
from tests.reference import naive

NAMES = ["numpy", "numba"]
KEEP_ALL = 0.5 - 1e-12  # threshold zero: every term counts as significant


def random_supports(rng, n_terms, n, largest=8):
    return Supports.from_lists([rng.choice(n_terms, rng.integers(0, largest), replace=False) for _ in range(n)])


@pytest.mark.parametrize("name", NAMES)
def test_coefficients_and_t_values_equal_statsmodels(name, rng, make_problem):
    problem = make_problem(rng, n_rows=300, ridge=0.0, significance=KEEP_ALL)
    supports = Supports.from_lists([rng.choice(21, size, replace=False) for size in (1, 2, 3, 4, 5) for _ in range(4)])
    result = make_engine(name, problem).evaluate(supports)
    assert np.array_equal(result.supports.ids, supports.ids)
    for m in range(len(supports)):
        X = problem.space.columns(problem.table, supports[m])
        reference = sm.Logit(problem.target > 0, X.T).fit(disp=0, tol=1e-14, maxiter=100)
        coef = result.coef[supports.indptr[m] : supports.indptr[m + 1]]
        np.testing.assert_allclose(coef, reference.params, rtol=1e-8)
        final = refit(X, problem.target, problem.weight, np.zeros(len(X)), coef)
        np.testing.assert_allclose(final.coef, reference.params, rtol=1e-8)
        np.testing.assert_allclose(final.standard_error, reference.bse, rtol=1e-8)
        np.testing.assert_allclose(final.coef / final.standard_error, reference.tvalues, rtol=1e-8)


@pytest.mark.parametrize("name", NAMES)
def test_weights_equal_statsmodels_frequency_weights(name, rng, make_problem):
    weight = rng.uniform(0.2, 3.0, size=200)
    problem = make_problem(rng, n_rows=200, ridge=0.0, significance=KEEP_ALL, weight=weight)
    supports = Supports.from_lists([[0, 1, 2, 8], [3, 5]])
    result = make_engine(name, problem).evaluate(supports)
    for m in range(2):
        X = problem.space.columns(problem.table, supports[m])
        model = sm.GLM(problem.target > 0, X.T, family=sm.families.Binomial(), freq_weights=weight)
        reference = model.fit(tol=1e-14)
        coef = result.coef[supports.indptr[m] : supports.indptr[m + 1]]
        np.testing.assert_allclose(coef, reference.params, rtol=1e-7)
        final = refit(X, problem.target, weight, np.zeros(len(X)), coef)
        np.testing.assert_allclose(final.standard_error, reference.bse, rtol=1e-7)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("criterion", list(Criterion))
@pytest.mark.parametrize("weighted", [False, True])
def test_evaluation_equals_the_naive_one(name, criterion, weighted, make_problem):
    rng = np.random.default_rng(0)
    weight = rng.integers(1, 4, size=60).astype(float) if weighted else None
    problem = make_problem(
        rng, n_rows=60, n_features=3, criterion=criterion, ridge=0.1, weight=weight, significance=0.1
    )
    supports = random_supports(rng, 10, 12, largest=5)
    result = make_engine(name, problem).evaluate(supports)
    for m in range(len(supports)):
        ids, coef, value = naive.evaluate(problem, supports[m], naive.one_step_left_out_predictor)
        a, b = result.supports.indptr[m : m + 2]
        assert np.array_equal(result.supports.ids[a:b], ids)
        np.testing.assert_allclose(result.coef[a:b], coef, rtol=1e-6, atol=1e-8)
        assert abs(result.score[m] - value) < 1e-6


@pytest.mark.parametrize("name", NAMES)
def test_leave_one_out_predictor_is_close_to_refitting(name, rng, make_problem):
    """At 150 rows and 4 terms the mean left-out loss is within 0.5 % of 150 refits, a tenth of what it corrects."""
    problem = make_problem(rng, n_rows=150, criterion=Criterion.LOO_LOG_LOSS, significance=KEEP_ALL, ridge=0.1)
    supports = Supports.from_lists([[0, 1, 2, 8]])
    left_out = make_engine(name, problem).evaluate(supports).log_loss[0]
    X = problem.space.columns(problem.table, supports[0]).T
    f = naive.left_out_predictor(X, problem.target, problem.weight, 0.1 * X.var(axis=0))
    exact = naive.log_loss(problem.target, f).mean()
    coef, _ = naive.fit(X, problem.target, problem.weight, 0.1 * X.var(axis=0))
    training = naive.log_loss(problem.target, X @ coef).mean()
    assert abs(left_out - exact) < 5e-3 * exact
    assert abs(left_out - exact) < 0.1 * (exact - training)


def assert_engines_agree(problem, supports):
    slow, fast = (make_engine(name, problem).evaluate(supports) for name in NAMES)
    assert np.array_equal(slow.supports.indptr, fast.supports.indptr)
    assert np.array_equal(slow.supports.ids, fast.supports.ids)
    assert np.array_equal(slow.status, fast.status)
    np.testing.assert_allclose(slow.coef, fast.coef, rtol=1e-6, atol=1e-9)
    # engines take different steps; predictor and Hessian are those before the last one, 1e-4 standard errors away
    np.testing.assert_allclose(slow.score, fast.score, rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(slow.log_loss, fast.log_loss, rtol=1e-6)


@pytest.mark.parametrize("criterion", list(Criterion))
@pytest.mark.parametrize("ridge", [0.0, 1.0])
def test_engines_agree(criterion, ridge, make_problem):
    rng = np.random.default_rng(0)
    weight = rng.uniform(0.3, 2.0, size=230)
    problem = make_problem(rng, n_rows=230, criterion=criterion, ridge=ridge, weight=weight)
    assert_engines_agree(problem, random_supports(rng, 21, 60, largest=15))


@pytest.mark.parametrize("significance", [0.05, KEEP_ALL])
@pytest.mark.parametrize("order", ["drawn", "by class", "by feature"])
def test_engines_agree_on_long_tables_in_any_order(order, significance, make_problem, monkeypatch):
    """The compiled engine begins on part of the rows, which in a sorted table are unlike the others."""
    monkeypatch.setattr("rfsc._engines.numba_engine.GRAM_TERMS", 0)
    rng = np.random.default_rng(0)
    problem = make_problem(rng, n_rows=COARSE_ROWS + 100, significance=significance)
    at = {
        "drawn": np.arange(COARSE_ROWS + 100),
        "by class": np.argsort(problem.target, kind="stable"),
        "by feature": np.argsort(problem.table[0]),
    }[order]
    sorted_problem = replace(problem, table=np.ascontiguousarray(problem.table[:, at]), target=problem.target[at])
    assert_engines_agree(sorted_problem, random_supports(rng, 21, 20, largest=12))


@pytest.mark.parametrize("name", NAMES)
def test_bits_do_not_depend_on_neighbours_order_threads_or_chunks(name, rng, make_problem):
    problem = make_problem(rng, n_rows=400, ridge=0.01)
    supports = random_supports(rng, 21, 40, largest=12)
    whole = make_engine(name, problem).evaluate(supports)
    order = rng.permutation(40)
    shuffled = make_engine(name, problem, 3).evaluate(supports.take(order))
    engine = make_engine(name, problem)
    for position, m in enumerate(order):
        alone = engine.evaluate(supports.take(np.array([m])))
        a, b = whole.supports.indptr[m : m + 2]
        c, d = shuffled.supports.indptr[position : position + 2]
        for other in (alone.coef, shuffled.coef[c:d]):
            assert np.array_equal(whole.coef[a:b], other)
        assert whole.score[m] == alone.score[0] == shuffled.score[position]


def test_the_compiled_engine_refuses_supports_larger_than_its_workspace(rng, make_problem):
    engine = make_engine("numba", make_problem(rng, max_terms=5))
    with pytest.raises(ValueError, match="at most 5 terms were announced, got 6"):
        engine.evaluate(Supports.from_lists([range(6)]))


@pytest.mark.parametrize("name", NAMES)
def test_a_small_store_changes_nothing(name, rng, make_problem, monkeypatch):
    problem = make_problem(rng, ridge=0.01)
    supports = random_supports(rng, 21, 40, largest=10)
    looked_up = make_engine(name, problem).evaluate(supports)
    monkeypatch.setattr("rfsc._engines.numba_engine.GRAM_TERMS", 0)
    whole = make_engine(name, problem).evaluate(supports)
    np.testing.assert_allclose(looked_up.coef, whole.coef, rtol=1e-9)
    monkeypatch.setattr("rfsc._engines.problem.ColumnStore.__init__.__kwdefaults__", {"budget": 8 * 120 * 11})
    tight = make_engine(name, problem)
    assert tight._store.capacity == 20  # max_terms: fewer than the 21 terms of the space
    parts = tight.evaluate(supports)
    assert np.array_equal(whole.coef, parts.coef)
    assert np.array_equal(whole.score, parts.score)


@pytest.mark.parametrize("name", NAMES)
def test_separable_classes_give_a_model_not_an_empty_one(name):
    x = np.linspace(0, 1, 40)
    problem = Problem(
        MonomialSpace(np.arange(1), 1), x[None, :], np.where(x > 0.5, 1.0, -1.0), np.ones(40), FitOptions(ridge=0.1), 5
    )
    result = make_engine(name, problem).evaluate(Supports.from_lists([[0, 1]]))
    assert result.supports.sizes[0] == 2
    assert result.status[0] == Status.CONVERGED
    assert result.score[0] > 0.9


@pytest.mark.parametrize("name", NAMES)
def test_separable_classes_without_ridge_stop_at_the_cap(name):
    x = np.linspace(0, 1, 40)
    options = FitOptions(ridge=0.0, significance=KEEP_ALL)
    problem = Problem(MonomialSpace(np.arange(1), 1), x[None, :], np.where(x > 0.5, 1.0, -1.0), np.ones(40), options, 5)
    result = make_engine(name, problem).evaluate(Supports.from_lists([[0, 1]]))
    assert np.isfinite(result.coef).all()
    assert np.isfinite(result.score).all()
    assert result.n_newton[0] <= 2 * MAX_NEWTON


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("ridge", [0.0, 0.1])
@given(data=st.data())
def test_degenerate_columns_never_break_a_fit(name, ridge, data):
    """Duplicated, constant, zero, tiny and collinear columns, in any mixture."""
    problem, supports = degenerate(data, ridge)
    result = make_engine(name, problem).evaluate(supports)
    assert np.isfinite(result.coef).all()
    assert ((result.score >= 0) & (result.score <= 1)).all()
    assert np.isfinite(result.log_loss).all()


@pytest.mark.parametrize("name", NAMES)
def test_a_duplicated_term_is_dropped_without_ridge(name, rng):
    x = rng.random(100)
    target = np.where(x + rng.normal(size=100) * 0.3 > 0.5, 1.0, -1.0)
    space = MonomialSpace(np.arange(2), 1)
    problem = Problem(space, np.stack([x, x]), target, np.ones(100), FitOptions(ridge=0.0), 5)
    both = make_engine(name, problem).evaluate(Supports.from_lists([[0, 1, 2], [0, 1]]))
    assert both.supports[0].tolist() == both.supports[1].tolist() == [0, 1]
    assert np.allclose(both.coef[:2], both.coef[2:], rtol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_score_of_empty_supports(name, rng, make_problem):
    for criterion, expected in [(Criterion.ACCURACY, 0.0), (Criterion.KAPPA, 0.0), (Criterion.LOO_LOG_LOSS, 0.5)]:
        result = make_engine(name, make_problem(rng, criterion=criterion)).evaluate(Supports.from_lists([[], []]))
        assert result.score.tolist() == [expected] * 2
        assert (result.status == Status.EMPTY).all()


def test_kernel_functions_are_accurate():
    from rfsc._engines.kernels import _exp_minus_abs, _log1p_unit

    x = np.concatenate([np.linspace(0, 40, 2001), np.linspace(40, 700, 500)])
    ours = np.array([_exp_minus_abs(v) for v in x])
    np.testing.assert_allclose(ours, np.exp(-x), rtol=4.5e-16)
    e = np.concatenate([np.linspace(0, 1, 2001), 10.0 ** np.arange(-300, 0)])
    np.testing.assert_allclose(np.array([_log1p_unit(v) for v in e]), np.log1p(e), rtol=5e-16)


class CountingEngine:
    """Records what it is asked to fit."""

    def __init__(self, engine):
        self.engine, self.seen = engine, []

    def evaluate(self, supports):
        self.seen += [supports[m].tobytes() for m in range(len(supports))]
        return self.engine.evaluate(supports)


def test_memo_never_fits_a_support_twice(rng, make_problem):
    problem = make_problem(rng, ridge=0.1)
    counting = CountingEngine(make_engine("numba", problem))
    memo, plain = Memo(counting), make_engine("numba", problem)
    for _ in range(5):
        supports = random_supports(rng, 21, 50, largest=4)
        remembered, fresh = memo.evaluate(supports), plain.evaluate(supports)
        assert np.array_equal(remembered.supports.ids, fresh.supports.ids)
        again = memo.evaluate(supports)
        assert again.coef.tobytes() == remembered.coef.tobytes() == fresh.coef.tobytes()
        assert not again.n_newton.any()
        memo.evaluate(remembered.supports)  # no bit of what follows may depend on having asked this
    assert len(counting.seen) == len(set(counting.seen)) == memo.n_fitted < memo.n_asked


def test_supports_take_and_pack():
    supports = Supports.from_lists([[3, 1, 1], [], [7]])
    assert supports[0].tolist() == [1, 3]
    taken = supports.take(np.array([2, 0, 0, 1]))
    assert [taken[m].tolist() for m in range(4)] == [[7], [1, 3], [1, 3], []]


QUICK_KERNEL = """
import resource, sys
from numba import njit
from rfsc._engines.kernels import _keep_on_disk

@njit
def twice(x):
    return 2.0 * x

_keep_on_disk(twice)
if "full" in sys.argv:
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
print(twice(4.0))
"""


@pytest.fixture
def quick_kernel(tmp_path):
    """Runs a function that takes less time to compile than ours; what it says on stderr."""
    (tmp_path / "quick.py").write_text(QUICK_KERNEL)

    def run(*arguments):
        env = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
        command = [sys.executable, str(tmp_path / "quick.py"), *arguments]
        done = subprocess.run(command, env=env, capture_output=True, text=True)
        assert done.stdout == "8.0\n", done.stderr
        return done.stderr

    return run


@pytest.mark.slow
def test_damaged_kernels_on_the_disk_are_compiled_again(quick_kernel, tmp_path):
    notice = "its compiled kernels on the disk are damaged and are compiled again"
    assert notice not in quick_kernel() + quick_kernel()
    for ending in ("nbi", "nbc"):
        (path,) = tmp_path.rglob(f"quick*.{ending}")
        path.write_bytes(path.read_bytes()[:100])
        assert notice in quick_kernel()
        assert notice not in quick_kernel()
        path.write_bytes(path.read_bytes()[:100])
        assert notice in quick_kernel("full")  # nor can they be kept
        assert notice in quick_kernel()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="limits of files are those of Unix")
def test_kernels_run_where_none_can_be_kept(quick_kernel, tmp_path):
    assert quick_kernel("full") == ""
    assert not list(tmp_path.rglob("quick*.nbi"))
    package = tmp_path / "rfsc"
    shutil.copytree(Path(rfsc.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    (package / "_engines" / "__pycache__").touch()  # no folder
    nowhere = dict.fromkeys(("HOME", "XDG_CACHE_HOME", "NUMBA_CACHE_DIR"), str(package / "__init__.py" / "none"))
    command = [sys.executable, "-c", "from rfsc._engines.kernels import evaluate_supports, gram_matrix"]
    env = os.environ | nowhere | {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    said = "rfsc: its compiled kernels cannot be kept in any folder; set NUMBA_CACHE_DIR to one\n"
    assert (done.returncode, done.stderr) == (0, said)


def test_kernels_are_compiled_again_for_other_numbers():
    """Numba looks for changes in the file of the kernels only, but some of their numbers are those of other files."""

    class Codegen:
        def magic_tuple(self):
            return ()

    own = {(k, v) for k, v in vars(kernels).items() if k.isupper() and isinstance(v, int | float | tuple)}
    assert {("MAX_NEWTON", MAX_NEWTON), ("CACHE_LINE", CACHE_LINE), ("STOPPED", int(Status.STOPPED))} < own
    for kernel in (evaluate_supports, kernels.gram_matrix):
        assert set(kernel._cache._index_key((), Codegen())[-1]) == own
