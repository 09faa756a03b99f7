"""Spreads over bins, the population stability index, and what chance makes of it."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

from rfsc._model.reference import Spread
from rfsc.monitor.shift import LEAST_ROWS, largest_by_chance, spread_like, spread_of, stability_index


def by_definition(p, q):
    return math.fsum((a - b) * math.log(a / b) for a, b in zip(p, q, strict=True))


@pytest.mark.parametrize("n", [11, 60, 1000])
@pytest.mark.parametrize("decimals", [0, 1, 8])
def test_bins_hold_at_least_five_rows_and_all_of_them(n, decimals):
    values = np.random.default_rng(n).exponential(size=n).round(decimals)
    found = spread_of("x", values)
    assert min(found.counts) >= LEAST_ROWS
    assert sum(found.counts) == found.n_rows == n
    bins = Counter(sum(value > cut for cut in found.cuts) for value in values)
    assert found.counts == tuple(bins[j] for j in range(len(found.cuts) + 1))
    assert len(found.counts) == 10 or n < 1000 or decimals < 8


def test_few_rows_and_no_value_are_one_bin():
    assert spread_of("x", np.arange(9.0)).cuts == ()
    nothing = spread_of("x", np.full(7, np.nan), np.ones(7, dtype=bool))
    assert (nothing.counts, nothing.n_blank) == ((0,), 7)


def test_truth_values_are_two_bins():
    found = spread_of("x", np.repeat([0.0, 1.0], [95, 5]))
    assert found.counts == (95, 5)


def test_rare_levels_are_not_listed():
    cells = np.array([*"a" * 20, *"b" * 5, *"c" * 4, None, None], dtype=object)
    found = spread_of("x", cells, np.array([cell is None for cell in cells]), kind="text")
    assert (found.levels, found.counts, found.n_other, found.n_blank) == (("a", "b"), (20, 5), 4, 2)


def test_index_by_its_definition():
    old = spread_of("x", np.random.default_rng(0).normal(size=500))
    new = spread_like(old, np.random.default_rng(1).normal(0.5, size=300))
    psi, n_bins = stability_index(old, new)
    expected = by_definition([n / 500 for n in old.counts], [n / 300 for n in new.counts])
    assert psi == pytest.approx(expected, rel=1e-12)
    assert n_bins == 10
    assert stability_index(new, old)[0] == pytest.approx(psi)


def test_blanks_and_other_levels_are_bins_and_an_empty_bin_is_half_a_row():
    old = Spread("x", "text", (), ("a", "b"), (60, 40), 0, 0)
    new = Spread("x", "text", (), ("a", "b"), (30, 0), 10, 10)
    psi, n_bins = stability_index(old, new)
    assert psi == pytest.approx(by_definition([0.6, 0.4, 0.005, 0.005], [0.6, 0.01, 0.2, 0.2]))
    assert n_bins == 4
    assert stability_index(old, old) == (0.0, 2)


def test_chance_is_exceeded_as_often_as_it_says():
    rng, n_above, n_times, level = np.random.default_rng(0), 0, 1000, 0.05
    for _ in range(n_times):
        old = spread_of("x", rng.normal(size=400))
        psi, n_bins = stability_index(old, spread_like(old, rng.normal(size=250)))
        n_above += psi > largest_by_chance(n_bins, 400, 250, level)
    assert n_above / n_times == pytest.approx(level, abs=0.025)
