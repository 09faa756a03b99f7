"""Separation against classes that are separable by construction, and against a search over directions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rfsc.report.cautions import MAX_SEPARATION_ROWS, separation


@given(seed=st.integers(0, 2**32 - 1), gap=st.floats(0.1, 2.0))
def test_a_hyperplane_with_a_gap_separates_completely(seed, gap):
    rng = np.random.default_rng(seed)
    normal, columns = rng.normal(size=3), rng.normal(size=(3, 60))
    side = normal @ columns
    target = np.where(side > 0, 1.0, -1.0)
    columns = columns + gap * target * normal[:, None] / (normal @ normal)
    assert separation(columns, target) == 1.0


@given(seed=st.integers(0, 2**32 - 1))
def test_agrees_with_all_directions_of_the_plane(seed):
    rng = np.random.default_rng(seed)
    columns = np.vstack([np.ones(7), rng.integers(-2, 3, size=(1, 7))]).astype(float)
    target = np.where(rng.random(7) < 0.5, -1.0, 1.0)
    # with integers up to 2, every division of the rows occurs at one of these angles
    angles = np.linspace(0, 2 * np.pi, 20_001)
    sides = np.round(target[:, None] * (columns.T @ np.vstack([np.cos(angles), np.sin(angles)])), 9)
    exact = [(2.0 * a, b) for a in range(-4, 5) for b in range(-4, 5)]
    sides = np.hstack([sides, target[:, None] * (columns.T @ np.array(exact).T)])
    strict = (sides > 0).all(axis=0).any()
    weak = ((sides >= 0).all(axis=0) & (sides > 0).any(axis=0)).any()
    found = separation(columns, target)
    assert (found == 1.0) == strict
    assert (found > 0.0) == (strict or weak)


def test_scale_does_not_matter():
    rng = np.random.default_rng(1)
    columns = np.vstack([np.ones(40), rng.random(40)])
    target = np.where(columns[1] > 0.5, 1.0, -1.0)
    for scale in (1e-9, 1.0, 1e9):
        assert separation(columns * [[1.0], [scale]], target) == 1.0
    noisy = target * np.where(np.arange(40) % 5 == 0, -1.0, 1.0)
    for scale in (1e-9, 1.0, 1e9):
        assert separation(columns * [[1.0], [scale]], noisy) == 0.0


def test_a_hinge_that_is_zero_for_one_class_separates_its_rows():
    rng = np.random.default_rng(2)
    x = rng.random(200)
    target = np.where(rng.random(200) < 0.5, 1.0, -1.0)
    target[x > 0.9] = 1.0
    columns = np.vstack([np.ones(200), x, np.maximum(0.0, x - 0.9)])
    assert separation(columns, target) == pytest.approx((x > 0.9).mean())


@pytest.mark.parametrize("columns", [np.empty((0, 5)), np.zeros((1, 5)), np.ones((1, MAX_SEPARATION_ROWS + 1))])
def test_no_separation_without_terms_or_with_too_many_rows(columns):
    target = np.where(np.arange(columns.shape[1]) % 2 == 0, 1.0, -1.0)
    assert separation(columns, target) == 0.0
