"""DGC and DGC+ against loops written from the papers' descriptions, and the laws that hold whatever the data."""

from __future__ import annotations

import math
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.preprocessing import minmax_scale

from paper.comparators.gravitation import DGC, DGCPlus, _evenness, _Particles


def naive_class(x, rows, code, weights, *, factor, leave_out=None):
    """The class that pulls hardest, one pair of rows at a time."""
    n_classes = len(weights)
    force = [0.0] * n_classes
    for i, (row, c) in enumerate(zip(rows, code, strict=True)):
        if i == leave_out:
            continue
        square = sum(weights[c][f] * (x[f] - row[f]) ** 2 for f in range(len(x)))
        force[c] += math.inf if square == 0 else 1.0 / square
    for c in range(n_classes):
        count = sum(1 for other in code if other == c)
        force[c] *= 1.0 - (count - 1) / len(rows) if factor else 1.0
    return max(range(n_classes), key=lambda c: force[c])  # the first of equals


def naive_error(rows, code, weights, *, factor):
    wrong = [
        naive_class(x, rows, code, weights, factor=factor, leave_out=i) != c
        for i, (x, c) in enumerate(zip(rows, code, strict=True))
    ]
    return sum(wrong) / len(wrong)


def coarse_problem(rng, n_rows=60, n_features=3, n_classes=3):
    """Rows on a grid, many of them equal to others, so that infinite forces occur."""
    code = np.concatenate([np.arange(n_classes), rng.integers(n_classes, size=n_rows - n_classes)])
    X = np.round(rng.random((n_rows, n_features)) * 0.7 + 0.15 * code[:, None], 1)
    return X, code


@pytest.mark.parametrize("factor", [True, False])
def test_leave_one_out_error_equals_that_of_the_loop(rng, factor):
    X, code = coarse_problem(rng)
    particles = _Particles.from_rows(X, code)
    candidates = rng.random((4, 3, 3))
    candidates[1, :, 0] = 0.0  # rows that differ only in this feature now coincide
    candidates[2] = 0.0
    candidates[3] *= 1e-9
    found = particles.errors(candidates, particles.class_factor if factor else np.ones(3))
    expected = [naive_error(X, code, weights, factor=factor) for weights in candidates]
    np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize("model", [DGC(n_trials=15, random_state=3), DGCPlus(1, 4, random_state=3)])
def test_decision_equals_that_of_the_loop(rng, model):
    X, code = coarse_problem(rng)
    new = np.concatenate([rng.random((40, 3)), X[:10]])
    model.fit(X, code)
    plus = isinstance(model, DGCPlus)
    weights = model.weights_ if plus else np.tile(model.weights_, (3, 1))
    expected = [naive_class(x, X, code, weights, factor=plus) for x in new]
    np.testing.assert_array_equal(model.predict(new), expected)
    assert model.error_ == pytest.approx(naive_error(X, code, weights, factor=plus))


def test_a_row_that_equals_a_training_row_gets_its_class():
    rng = np.random.default_rng(0)
    X = 1e3 + rng.random((50, 4))  # an offset that rounds small distances away in a product
    X[25:] = X[:25] + 1e-7
    code = np.repeat([0, 1], 25)
    particles = _Particles.from_rows(X, code)
    force = particles.forces(X, np.full((1, 2, 4), 0.3))[0]
    np.testing.assert_array_equal(np.isinf(force), np.eye(2, dtype=bool)[code])


def test_scale_of_the_weights_does_not_matter(rng):
    X, code = coarse_problem(rng)
    particles = _Particles.from_rows(X, code)
    weights = rng.random((1, 3, 3))
    both = particles.errors(np.concatenate([weights, 0.25 * weights]), particles.class_factor)
    assert both[0] == both[1]


def test_order_of_the_rows_does_not_matter(rng):
    X, code = coarse_problem(rng)
    order = rng.permutation(len(X))
    one, other = _Particles.from_rows(X, code), _Particles.from_rows(X[order], code[order])
    weights = rng.random((5, 3, 3))
    np.testing.assert_array_equal(one.errors(weights, one.class_factor), other.errors(weights, other.class_factor))


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_learned_weights_are_in_range_and_no_worse_than_equal_ones(seed, load):
    X, y = load(return_X_y=True)
    X = minmax_scale(X)
    particles = _Particles.from_rows(X, y)
    equal = np.full((1, 3, X.shape[1]), 0.5)
    plus = DGCPlus(n_runs=1, max_generations=40, random_state=seed).fit(X, y)
    assert plus.error_ <= particles.errors(equal, particles.class_factor)[0]
    plain = DGC(random_state=seed).fit(X, y)
    assert plain.error_ <= particles.errors(equal, np.ones(3))[0]
    for model in (plain, plus):
        assert ((model.weights_ >= 0) & (model.weights_ <= 1)).all()


def test_ties_go_to_the_most_even_weights():
    population = np.array([[[0.5, 0.5]], [[0.9, 0.1]], [[0.0, 0.7]], [[0.0, 0.0]]])
    np.testing.assert_allclose(_evenness(population), [0.0, np.log(1 / 9), -np.inf, -np.inf])


def test_dgc_without_trials_is_the_plain_inverse_square_vote(rng):
    X, code = coarse_problem(rng)
    np.testing.assert_array_equal(DGC(n_trials=0).fit(X, code).weights_, 1.0)


@pytest.mark.parametrize("model", [DGC(), DGCPlus(n_runs=2, max_generations=5)])
def test_equal_seeds_give_equal_weights_and_others_do_not(model):
    X, y = load_wine(return_X_y=True)
    X = minmax_scale(X)
    weights = [model.set_params(random_state=seed).fit(X, y).weights_ for seed in (1, 1, 2)]
    np.testing.assert_array_equal(weights[0], weights[1])
    assert (weights[0] != weights[2]).any()
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))


def test_global_random_state_screen_and_folder_are_left_alone(tmp_path):
    code = (
        "import numpy as np; from sklearn.datasets import load_iris\n"
        "from paper.comparators.gravitation import DGCPlus\n"
        "np.random.seed(5); before = np.random.get_state()[1:]\n"
        "DGCPlus(1, 3, random_state=0).fit(*load_iris(return_X_y=True))\n"
        "assert all(np.array_equal(a, b) for a, b in zip(before, np.random.get_state()[1:]))\n"
    )
    path = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")]),
    }
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, env=path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert not list(tmp_path.iterdir())


def test_printed_accuracy_on_iris(keel_folds):
    """Cano et al. print .9533."""
    accuracy = [
        DGCPlus(random_state=0).fit(train.scaled(), train.target).score(test.scaled(), test.target)
        for train, test in keel_folds("iris")
    ]
    assert np.mean(accuracy) == pytest.approx(0.9533, abs=0.01)
