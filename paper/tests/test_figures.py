"""The figures' tables say what the models say, and every figure is a picture."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib import rcParams
from matplotlib.image import imread

from paper import figures
from paper.figures import N_SHOWN
from paper.protocols import read_fold
from paper.results import compare


def test_two_best_of_ten(illustration):
    first, second = illustration.runs
    fold = read_fold("WDBC", "stratified", 0, 0)
    assert illustration.n_validation == len(fold.y_test) == 57
    assert first.n_errors <= second.n_errors
    for run in illustration.runs:
        assert run.n_errors == np.sum((run.model.decision(fold.X_test) > 0) != (fold.y_test == 1))
    assert illustration.truth.shape == (N_SHOWN,)
    assert illustration.label == "benign"


def test_sides_are_those_of_the_samples_shown(illustration):
    fold = read_fold("WDBC", "stratified", 0, 0)
    shown = np.sort(np.random.default_rng(0).choice(len(fold.y_test), N_SHOWN, replace=False))
    np.testing.assert_array_equal(illustration.truth, fold.y_test[shown] == 1)
    for run in illustration.runs:
        f = run.model.decision(fold.X_test[shown])
        np.testing.assert_allclose(run.for_class - run.against_class, f, rtol=1e-9, atol=1e-9)
        assert min(run.for_class.min(), run.against_class.min()) >= 0
        np.testing.assert_array_equal(np.sign(run.delta), np.sign(f))
        assert (np.abs(run.delta) <= 1).all()


def test_runs_are_watched_from_the_inside(illustration):
    for run in illustration.runs:
        n_iterations, n_terms = run.rips.shape
        assert len(run.mean_loss) == len(run.size_drawn) == len(run.size_kept) == n_iterations > 1
        assert len(run.final) == n_terms
        assert ((run.rips >= 0) & (run.rips <= 1)).all()
        assert (run.size_kept <= run.size_drawn + 1e-9).all()
        # the final terms are those that the probabilities settled on
        assert run.final.sum() == len(run.names) == len(run.model.terms)
        assert set(run.names) == set(run.model.names)
        assert (run.rips[-1, run.final] >= 0.5).all()


# ---- pictures


@pytest.fixture
def picture(tmp_path):
    """Where to draw; afterwards the file must hold a picture with something on it, and matplotlib be as before."""
    backend = dict.__getitem__(rcParams, "backend")  # asking in the usual way would choose one
    path = tmp_path / "picture.png"
    yield path
    assert dict.__getitem__(rcParams, "backend") is backend
    assert path.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    pixels = imread(path)
    assert min(pixels.shape[:2]) > 150
    ink = (pixels[..., :3] < 0.9).any(axis=2)
    assert 0.002 < ink.mean() < 0.5


@pytest.mark.parametrize("number", [1, 2])
def test_draw_run(illustration, picture, number):
    figures.draw_run(illustration.runs[number - 1], number, picture)


def test_draw_contributions(illustration, picture):
    figures.draw_contributions(illustration, picture)


@pytest.mark.parametrize("n_methods", [2, 3, 20])
@pytest.mark.parametrize("tied", [False, True])
def test_draw_ranks(rng, picture, n_methods, tied):
    table = np.full((n_methods, 4), 0.5) if tied else rng.random((n_methods, 4))
    ranks = compare({f"m{i}": row.tolist() for i, row in enumerate(table)})
    figures.draw_ranks(ranks, {name: f"RFSC {name}" for name in ranks.names}, picture)
