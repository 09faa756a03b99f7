"""Laws of the stability measure, the other folds, and the section."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paper import agreement as module
from paper.agreement import LEFT_OUT, N_ORDERS, agreement_section, is_same, other_choice, stability
from paper.methods import DEFAULT, Method, study_methods
from rfsc import RFSCClassifier
from rfsc._fit import choice

names = st.sets(st.sampled_from("abcdefgh"))


@given(names, st.integers(2, 12))
def test_equal_sets_agree_fully(own, n_seeds):
    assert stability([own] * n_seeds, 8) == 1.0


@given(st.lists(names, min_size=2, max_size=8))
def test_range_and_order(chosen):
    found = stability(chosen, 9)
    assert -1.0 - 1e-12 <= found <= 1.0
    assert (found == 1.0) == all(own == chosen[0] for own in chosen)
    assert stability(chosen[::-1], 9) == pytest.approx(found)
    assert stability(chosen, 90) >= found - 1e-12  # the same sets are a greater surprise among more candidates


@given(st.integers(0, 2**32 - 1), st.integers(5, 15))
def test_random_sets_agree_about_not_at_all(seed, size):
    rng = np.random.default_rng(seed)
    chosen = [set(map(str, rng.choice(20, size, replace=False))) for _ in range(200)]
    assert abs(stability(chosen, 20)) < 0.05


def test_disjoint_pair():
    assert stability([{"a"}, {"b"}], 4) == pytest.approx(1 - 1 / 0.75)


def test_other_folds_only_inside():
    usual, inside = choice.CHOICE_SEED, []

    def interrupted():
        with other_choice(0):
            inside.append(choice.CHOICE_SEED)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert inside != [usual]
    assert usual == choice.CHOICE_SEED


def test_other_folds_change_the_choice(rng):
    X = rng.standard_normal((80, 4))
    y = (X[:, 0] + rng.standard_normal(80) > 0).astype(int)

    def losses(seed):
        with other_choice(seed):
            return RFSCClassifier("polynomial", n_restarts=1, n_jobs=1, random_state=0).fit(X, y).basis_losses_

    assert losses(0) == losses(0) != losses(1)


@pytest.fixture
def quick(monkeypatch):
    """Cheap fits, and Iris among the sets whose left-out rows count."""

    def make(_):
        return RFSCClassifier("polynomial", n_restarts=1, size=2)

    for table in ("METHODS", "LEFT_OUT"):
        cheap = {name: Method(name=name, make=make, kind="rfsc") for name in getattr(module, table)}
        monkeypatch.setattr(module, table, cheap)
    monkeypatch.setattr(module, "REAL_SETS", ("Iris",))


def test_section_and_resumption(counted, quick, tmp_path):
    few = {"sets": ("linear", "Iris"), "n_seeds": 2, "n_folds": 2}
    text = agreement_section(tmp_path, n_jobs=1, **few)
    assert "| linear | 2.0 |" in text
    assert "| Iris | 6.0 |" in text
    assert text.count(" | 3 of 3 |") == 2
    assert "- the same model in any order of rows and columns: met (other on: none)" in text
    assert "- features >= 0.8 on every set: met (least 1.00; below: none)" in text
    assert "\n| log-loss of left-out rows | RFSC | RFSC, other folds and searches | hinges |" in text
    assert (
        "- log-loss of hinges not above that of hinges, best restart by more than a paired standard error: met" in text
    )
    assert agreement_section(tmp_path, n_jobs=1, **few) == text
    assert len(counted) == len(set(counted)) == 2 * (2 + 2 + N_ORDERS) + 4 * 2


def test_sets_that_miss_a_bar_are_named(counted, quick, monkeypatch, tmp_path):
    monkeypatch.setattr(module, "BARS", {"features": 1.1, "terms": 0.6})
    text = agreement_section(tmp_path, n_jobs=1, sets=("linear", "curved"), n_seeds=2)
    assert "- features >= 1.1 on every set: **MISSED** (least 1.00; below: linear, curved)" in text


def test_another_model_is_not_the_same(make_cell):
    one = make_cell(log_loss=0.3, n_terms=2, notes={"features": ["1", "3"]})
    assert is_same(one, replace(one, log_loss=0.3 + 1e-12))
    assert not is_same(one, replace(one, log_loss=0.3001))
    assert not is_same(one, replace(one, notes={"features": ["1", "2"]}))
    assert not is_same(one, replace(one, n_terms=3))


def test_folds_of_the_default_are_those_of_the_study():
    row, own = study_methods()[DEFAULT], LEFT_OUT[DEFAULT]
    assert row.tasks("Iris", "stratified", "c", [(0, 1)]) == own.tasks("Iris", "stratified", "c", [(0, 1)])
