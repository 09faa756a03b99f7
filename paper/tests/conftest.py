"""The data folder and what several experiment tests are built from."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import pytest

from paper.cells import Cell, Task
from paper.illustration import illustrate
from paper.readers import read_keel_folds

DATA = Path(os.environ.get("RFSC_DATA") or Path(__file__).parents[3] / "shared" / "data")


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
    return cache(lambda name: read_keel_folds(data_root / "keel", name))


@pytest.fixture(scope="session")
def illustration():
    """The two runs of the figures, searched for once."""
    return illustrate()


@pytest.fixture
def make_cell():
    """A finished fold with figures of our choice."""

    def build(
        data="Iris",
        method="KNN",
        protocol="honest",
        *,
        accuracy=0.9,
        kappa=0.8,
        n_features=4.0,
        n_terms=None,
        seconds=0.5,
        confusion=((9, 1), (1, 9)),
        seed=0,
        fold=0,
        fingerprint="f",
        log_loss=None,
        terms_per_output=None,
    ):
        folds = "keel" if protocol == "keel" else "stratified"
        task = Task(data, method, folds, seed, fold, fingerprint)
        rows = [list(row) for row in confusion]
        return Cell(task, protocol, accuracy, kappa, rows, n_features, n_terms, seconds, log_loss, terms_per_output)

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
