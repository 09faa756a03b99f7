"""The data folder, and what several tests are built from. All of these tests are slow: `make test-all` runs them."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

from paper.cells import Cell, Task
from paper.figures import illustrate
from paper.keel import read_keel_folds
from tests.conftest import all_folds  # noqa: F401  an autouse fixture

HERE = Path(__file__).parent
DATA = Path(os.environ.get("RFSC_DATA") or HERE.parents[2] / "shared" / "data")

settings.register_profile("paper", deadline=None, max_examples=20, derandomize=True)
settings.load_profile("paper")


def pytest_collection_modifyitems(items):
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.slow)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture(scope="session")
def data_root():
    """The folder with bupa.csv, ionosphere.csv, sonar.csv and keel/; without it the test is skipped."""
    wanted = ["bupa.csv", "ionosphere.csv", "sonar.csv", "keel"]
    if not all((DATA / name).exists() for name in wanted):
        pytest.skip(f"set RFSC_DATA to a folder with {', '.join(wanted)}")
    return DATA


@pytest.fixture
def with_data(data_root, monkeypatch):
    """RFSC_DATA set, as a user sets it."""
    monkeypatch.setenv("RFSC_DATA", str(data_root))
    return data_root


@pytest.fixture(scope="session")
def keel_folds(data_root):
    """KEEL's folds of a set, read once."""
    return cache(lambda name: read_keel_folds(data_root / "keel" / name, name))


@pytest.fixture(scope="session")
def illustration():
    """The two runs of the figures, searched for once."""
    return illustrate()


@pytest.fixture
def make_cell():
    """A finished fold with chosen figures."""

    def build(data="Iris", method="KNN", protocol="honest", *, seed=0, fold=0, fingerprint="f", **figures):
        folds = "keel" if protocol == "keel" else "stratified"
        defaults = {"accuracy": 0.9, "kappa": 0.8, "n_features": 4.0, "n_terms": None, "seconds": 0.5}
        defaults["confusion"] = [[9, 1], [1, 9]]
        return Cell(Task(data, method, folds, seed, fold, fingerprint), protocol, **(defaults | figures))

    return build


@pytest.fixture
def counted(request, monkeypatch):
    """The tasks that the tested `module` runs, in order."""
    module = request.module.module
    run_task, ran = module.run_task, []

    def run(task):
        ran.append(task)
        return run_task(task)

    monkeypatch.setattr(module, "run_task", run)
    return ran
