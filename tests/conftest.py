"""Shared fixtures: seeds, small problems, and one compilation of the kernels for all workers."""

from __future__ import annotations

import signal

import numpy as np
import pytest
from hypothesis import settings

from rfsc._engines import FitOptions, Problem
from rfsc._fit import choice
from rfsc._search import context, progress
from rfsc._terms import MonomialSpace
from rfsc._terms.scaling import Scaling

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell lets what it starts in the background ignore it
settings.register_profile("rfsc", deadline=None, max_examples=20, derandomize=True)
settings.load_profile("rfsc")
WHOLE_CHOICE = (
    "test_choice",
    "golden/",
    "contracts/",
    "test_documentation_page",
    "test_wide",
    "test_restrictions",
    "hostile/",
    "test_resume",  # these fit in other processes, too
    "test_resources",
    "test_checkpoint_faults",
    "test_same_answer",
    "paper/",
)
ALL_FOLDS = choice.folds_of
choice.folds_of = lambda rows, n_folds, rng: ALL_FOLDS(
    rows, min(n_folds, 2), rng
)  # other fits of this process are quick


@pytest.fixture(autouse=True)
def no_press_before():
    """Forget Ctrl-C of the test before."""
    context._LastPress.time = -float("inf")


@pytest.fixture(autouse=True)
def no_word_of_slow_fits(monkeypatch):
    """However slow the machine is, no fit is so long that it says so, unless it is asked to."""
    monkeypatch.setattr(progress, "LONG_FIT", float("inf"))


@pytest.fixture(autouse=True, scope="module")
def all_folds(request):
    """Where the choice itself is the point, it is made as for users."""
    with pytest.MonkeyPatch.context() as patch:
        if any(part in request.node.nodeid for part in WHOLE_CHOICE):
            patch.setattr(choice, "folds_of", ALL_FOLDS)
        yield


@pytest.fixture
def rng():
    """A generator."""
    return np.random.default_rng(0)


@pytest.fixture
def make_problem():
    """Build a random problem whose classes overlap."""

    def build(rng, *, n_rows=120, n_features=5, degree=2, weight=None, max_terms=20, noise=0.3, **options):
        X = rng.normal(size=(n_rows, n_features))
        signal = X[:, 0] - X[:, 1] * X[:, 2] + noise * rng.logistic(size=n_rows)
        target = np.where(signal > 0, 1.0, -1.0)
        space = MonomialSpace(np.arange(n_features), degree)
        weight = np.ones(n_rows) if weight is None else weight
        table = Scaling.from_rows(X).table(X)
        return Problem(space, table, target, weight, FitOptions(**options), max_terms)

    return build
