"""Identifiers, dates and leaks of the class are found; ordinary columns are accepted."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rfsc._input.column_checks import suspicion
from rfsc._input.column_types import infer_column

N = 200
RNG = np.random.default_rng(0)
CODE = RNG.integers(0, 2, N)
THREE = RNG.integers(0, 3, N)


def reason(name, cells, code=CODE):
    return suspicion(infer_column(name, pd.Series(list(map(str, cells)), dtype=object)), code)


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("anything", np.arange(N)),
        ("anything", np.arange(N)[::-1] * 17),  # in order
        ("anything", RNG.permutation(N) + 50_000),
        ("anything", RNG.choice(900_000, N, replace=False) + 100_000),  # six digits each
        ("patient_id", RNG.choice(10**5, N, replace=False)),
        ("PatientID", RNG.choice(10**5, N, replace=False)),
        ("recordid", RNG.choice(10**5, N, replace=False)),
        ("uuid", RNG.random(N)),
        ("name", [f"person {i}" for i in range(N)]),
        ("note", [f"text {i % 195}" for i in range(N)]),
        ("born", [f"19{i % 90 + 10}-01-01" for i in range(N)]),
    ],
)
def test_identifiers_and_dates(name, cells):
    assert reason(name, cells)


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        (np.where(CODE == 1, "yes", "no"), "each of its values occurs with one class only"),
        (CODE, "each of its values occurs with one class only"),
        (np.where(CODE == 1, RNG.choice(["a", "b"], N), RNG.choice(["c", "d"], N)), "one class only"),
        (CODE + 0.5 * RNG.random(N), "separates the classes perfectly"),
        (np.where(CODE == 1, RNG.integers(0, 30, N).astype(str), ""), "its blanks alone reveal the class"),
    ],
)
def test_copies_of_the_class(cells, words):
    assert words in reason("x", cells)


def test_three_classes():
    assert reason("x", THREE, THREE)
    assert reason("x", THREE + 0.9 * RNG.random(N), THREE)
    assert reason("x", (THREE == 1) * 1, THREE) is None  # separates one class of three


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("age", RNG.integers(18, 90, N)),
        ("weight", RNG.normal(70, 10, N)),
        ("body mass index", RNG.normal(27, 4, N)),
        ("income", RNG.choice(90_000, N, replace=False)),
        ("platelets", RNG.integers(150_000, 400_000, N) // 1000),
        ("sex", RNG.choice(["m", "f"], N)),
        ("town", RNG.choice([f"town {i}" for i in range(40)], N)),
        ("grade", RNG.integers(1, 5, N)),
        ("marker", np.where(RNG.random(N) < 0.97, CODE, 1 - CODE)),  # strong, but not the class
        ("blanks", np.where(RNG.random(N) < 0.3, "", "1")),
        ("rare", np.where(np.arange(N) < 3, "5", "")),
    ],
)
def test_ordinary_columns(name, cells):
    assert reason(name, cells) is None


def test_few_rows_prove_nothing():
    assert reason("x", np.arange(10), CODE[:10]) is None
