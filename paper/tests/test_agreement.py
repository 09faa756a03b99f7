"""Laws of the stability measure, the other folds, and the section."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paper import agreement as module
from paper.agreement import METHODS, OTHER_FOLDS, agreement_section, other_choice, stability
from paper.methods import DEFAULT, Method
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


def test_section_and_resumption(counted, monkeypatch, tmp_path):
    def make(_):
        return RFSCClassifier("polynomial", n_restarts=1, n_jobs=1, size=2)

    quick = {name: Method(name=name, make=make, kind="rfsc") for name in METHODS}
    monkeypatch.setattr(module, "METHODS", quick)
    text = agreement_section(tmp_path, n_jobs=1, sets=("linear", "three classes"), n_seeds=2)
    assert "| linear | 2.0 |" in text
    assert "| three classes | 6.0 |" in text
    assert "- features >= 0.8, mean over the sets: " in text
    assert agreement_section(tmp_path, n_jobs=1, sets=("linear", "three classes"), n_seeds=2) == text
    assert {(task.method, task.seed) for task in counted} == {(m, s) for m in (DEFAULT, OTHER_FOLDS) for s in (0, 1)}
    assert len(counted) == 8
