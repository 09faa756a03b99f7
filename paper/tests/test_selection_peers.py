"""Other methods that select features, on the tables of the certificate's study."""

from __future__ import annotations

import numpy as np
import pytest

from paper import selection_peers
from paper.calibration import Outcome, Setting
from paper.selection_peers import CELLS, METHODS, OURS, Selection, run_peers, run_table, section

NEEDS = {"IPSS": "ipss", "Boruta": "boruta", "knockoffs": "hidimstat"}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of the other methods; `run_table` ignores them too
@pytest.mark.parametrize("method", METHODS)
def test_methods_find_a_strong_feature(method, rng):
    if method in NEEDS:
        pytest.importorskip(NEEDS[method])
    X = rng.random((300, 6))
    y = (8.0 * X[:, 2] - 8.0 * X[:, 4] + rng.logistic(size=300) > 0).astype(np.int64)
    # of few features knockoffs find none: with one false one in ten, they need at least ten
    assert METHODS[method](X, y, 0) >= (set() if method == "knockoffs" else {2, 4})


def test_one_table_for_real():
    found = run_table("naive p-values", Setting("signal", n_rows=100), 0)
    assert (found.method, found.n_rows, found.number) == ("naive p-values", 100, 0)
    assert 0 <= found.n_true <= 4


def test_peers_resume_and_only_common_tables_are_compared(monkeypatch, tmp_path):
    asked = []

    def quick(method, setting, number):
        asked.append(number)
        return Selection(method, setting.n_rows, number, 3, number % 2, 0.5)

    monkeypatch.setattr(selection_peers, "run_table", quick)
    first = run_peers(tmp_path, n_jobs=1, most=4)
    assert len(first) == len(asked) == 4 * len(METHODS) * len(CELLS)
    assert run_peers(tmp_path, n_jobs=1, most=4) == first
    values = [getattr(CELLS[0], name) for name in Setting.__slots__]
    ours = [Outcome(*values, number, 0, 0, 0, 4, 2, 1, 0.01, 0.5) for number in (1, 2, 3, 9)]
    text = section(first, ours)
    assert f"| {OURS} | 200 | 3 | 2.0 | 0.00 | 0.00 | 0.5 |" in text
    assert "| Boruta | 200 | 3 | 3.0 | 0.67 | 0.17 | 0.5 |" in text
    assert "| 500 |" not in text
