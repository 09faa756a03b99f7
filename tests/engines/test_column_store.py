"""The column store against plain recomputation, also while columns make room for others."""

from __future__ import annotations

import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rfsc._engines.problem import ColumnStore
from rfsc._terms import MonomialSpace

N_TERMS = 35  # 4 features at degree 3
MAX_TERMS = 6


def make_store(seed=0, *, n_rows=7, max_terms=MAX_TERMS, budget=1):
    rng = np.random.default_rng(seed)
    space = MonomialSpace(np.arange(4), 3)
    table, weight = rng.random((4, n_rows)), rng.integers(1, 5, n_rows).astype(float)
    return ColumnStore(space, table, weight, max_terms=max_terms, budget=budget), space, table, weight


def count_computed(monkeypatch, space):
    """A list that grows by the ids of the columns that the space computes."""
    computed, compute = [], space.columns
    monkeypatch.setattr(space, "columns", lambda table, ids: (computed.extend(ids.tolist()), compute(table, ids))[1])
    return computed


@given(
    requests=st.lists(st.lists(st.integers(0, N_TERMS - 1), max_size=MAX_TERMS, unique=True), max_size=25),
    seed=st.integers(0, 1000),
    budget=st.sampled_from([1, 10 * 7 * 8, 10**6]),
)
def test_slots_hold_the_columns_and_their_weighted_variances(requests, seed, budget):
    store, _, table, weight = make_store(seed, budget=budget)
    recompute = MonomialSpace(np.arange(4), 3).columns
    for ids in requests:
        ids = np.array(ids, dtype=np.int64)
        slots = store.slots_of(ids)
        expected = recompute(table, ids)
        assert np.unique(slots).size == ids.size
        np.testing.assert_array_equal(store.columns[slots], expected)
        mean = np.array([np.average(column, weights=weight) for column in expected])
        variance = [np.average((c - m) ** 2, weights=weight) for c, m in zip(expected, mean, strict=True)]
        np.testing.assert_allclose(store.variance[slots], variance, rtol=1e-12, atol=1e-15)


def test_resident_columns_are_not_computed_again(monkeypatch):
    store, space, _, _ = make_store(budget=10**6)
    computed = count_computed(monkeypatch, space)
    first = store.slots_of(np.array([3, 8, 20]))
    second = store.slots_of(np.array([20, 3]))
    np.testing.assert_array_equal(second, first[[2, 0]])
    assert computed == [3, 8, 20]


def test_the_column_not_used_for_longest_makes_room(monkeypatch):
    store, space, _, _ = make_store(max_terms=2)
    computed = count_computed(monkeypatch, space)
    for j in (5, 6, 5, 7):  # 7 takes the place of 6
        store.slots_of(np.array([j]))
    computed.clear()
    store.slots_of(np.array([5, 7]))
    assert computed == []
    store.slots_of(np.array([6]))
    assert computed == [6]


def test_a_request_never_evicts_its_own_columns():
    store, space, table, _ = make_store(max_terms=3)
    store.slots_of(np.array([1, 2, 3]))
    slots = store.slots_of(np.array([9, 1, 8]))  # 1 is the oldest, yet it stays
    np.testing.assert_array_equal(store.columns[slots], space.columns(table, np.array([9, 1, 8])))


@pytest.mark.parametrize(
    ("max_terms", "budget", "capacity"),
    [(6, 0, 6), (6, 9 * 7 * 8, 9), (6, 10**9, N_TERMS), (60, 0, N_TERMS)],
)
def test_capacity_is_at_least_the_largest_support_and_at_most_the_space(max_terms, budget, capacity):
    store, *_ = make_store(max_terms=max_terms, budget=budget)
    assert store.capacity == len(store.columns) == capacity


def test_what_the_machine_cannot_hold_is_refused_with_advice(monkeypatch):
    pages = {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 25}  # 100 KiB
    monkeypatch.setattr(os, "sysconf", pages.__getitem__)
    make_store(n_rows=1000, max_terms=10)  # 78 KiB fit into 80 %
    with pytest.raises(MemoryError, match=r"max_terms=11 terms over 1,000 rows.*Lower max_terms or fit on fewer"):
        make_store(n_rows=1000, max_terms=11)
