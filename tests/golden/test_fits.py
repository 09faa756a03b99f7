"""Pinned fits: a change of the code that is not meant to change results must reproduce them to 1e-9.

`python -m tests.golden.test_fits` fits all of them and stores what comes out.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from joblib import parallel_config

from rfsc import Checkpoint, RFSCClassifier, SearchSettings

from .fits import CASES, FOLDER, FROM_FOLDER, Case, load, outcome, weights

STORED = Path(__file__).with_name("fits.json")
TOLERANCE = 1e-9


def fit(case: Case, folder: Path) -> dict:
    """Fit one case and return what is compared."""
    X, y = load(case.data)
    params = {"random_state": 7, "n_restarts": 3, **case.params}
    if case.search:
        params["search"] = SearchSettings(**case.search)
    estimator = RFSCClassifier.paper(**params) if case.how == "paper" else RFSCClassifier(basis=case.basis, **params)
    weight = weights(y) if case.weighted else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if case.how in ("loky", "threading"):
            with parallel_config(case.how, n_jobs=2):
                estimator.set_params(n_jobs=2).fit(X, y, weight)
        elif case.how == "resumed":
            checkpoint = Checkpoint(folder / "checkpoint")
            estimator.set_params(callbacks=[checkpoint, _stop_in_second_restart]).fit(X, y, weight)
            estimator.set_params(callbacks=checkpoint).fit(X, y, weight)
        else:
            estimator.fit(X, y, weight)
    return outcome(estimator, X)


def _stop_in_second_restart(record) -> str | None:
    return "stop_all" if (record.restart, record.iteration) == (1, 5) else None


SLOW = {
    name
    for name, case in CASES.items()
    if case.basis == "auto"
    or case.data in ("sonar", "ionosphere", "wdbc")
    or case.how == "loky"
    or "engine" in case.params
}


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] if n in SLOW else []) for n in CASES])
def test_pinned_fit(name, tmp_path):
    case = CASES[name]
    if case.data in FROM_FOLDER and not Path(FOLDER, f"{case.data}.csv").exists():
        pytest.skip(f"{case.data}.csv is not in RFSC_DATA")
    stored = json.loads(STORED.read_text())[name]
    found = fit(case, tmp_path)
    assert found["sizes"] == stored["sizes"]
    assert found["candidates"] == stored["candidates"]
    np.testing.assert_allclose(found["values"], stored["values"], rtol=TOLERANCE, atol=TOLERANCE)


if __name__ == "__main__":
    import tempfile

    found = {}
    for name, case in CASES.items():
        with tempfile.TemporaryDirectory() as folder:
            found[name] = fit(case, Path(folder))
    STORED.write_text(json.dumps(found, indent=1) + "\n")
