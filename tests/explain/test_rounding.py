"""What rounding can change is never exceeded, and reached where it can be."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rfsc._terms import monomial
from rfsc.explain import rounded

from .models import FAMILIES, model_of, table

MIXES = [[family] for family in FAMILIES] + [["centred", "hinge", "fourier"]]


def inside(model, n=2000):
    """Random points within the training ranges, and the corners."""
    rng = np.random.default_rng(0)
    corners = np.array(np.meshgrid(*[[0.0, 1.0]] * 4)).reshape(4, -1).T
    low, span = 2 * model.scaling.half_minimum, 2 * model.scaling.half_span
    return low + span * np.concatenate([rng.random((n, 4)), corners])


def raw_output(terms, coef, X):
    return sum(c * term.column(dict(enumerate(X.T)), len(X)) for term, c in zip(terms, coef, strict=True))


@pytest.mark.parametrize("families", MIXES, ids=str)
@pytest.mark.parametrize("digits", [1, 2, 4])
@pytest.mark.parametrize("units", ["scaled", "original"])
def test_no_point_within_the_ranges_changes_more(families, digits, units):
    model = model_of(*families, seed=digits)
    short = rounded(model, digits, units)
    assert (short.digits, short.units) == (digits, units)
    assert all(float(f"{c:.{digits}g}") == c for c in short.coef)
    X = inside(model)
    if units == "scaled":
        change, slack = short.model.decision(X) - model.decision(X), 1e-12
    else:
        exact = np.array(list(model.unscaled(expand=False).values()))
        assert short.model is None
        change, slack = raw_output(short.terms, short.coef - exact, X), 1e-9
    assert np.abs(change).max() <= short.largest_change * (1 + 1e-9) + slack
    assert short.largest_change > 0


@given(st.lists(st.floats(0.5, 9.49), min_size=1, max_size=5), st.integers(1, 3))
def test_reached_where_all_terms_are_largest_at_one_point(extra, digits):
    """Every coefficient is rounded down, and every product of scaled features is 1 in the upper corner."""
    model = model_of("polynomial")
    terms = tuple(monomial((0,) * k) for k in range(len(extra)))
    step = 10.0**-digits
    coef = np.array([float(f"{value:.{digits}g}") + 0.4 * step * 0.1 for value in extra])
    model = replace(model, terms=terms, coef=coef, standard_error=None)
    short = rounded(model, digits)
    corner = (2 * (model.scaling.half_minimum + model.scaling.half_span))[None]
    gap = float(np.abs(short.model.decision(corner) - model.decision(corner))[0])
    assert gap == pytest.approx(short.largest_change, rel=1e-6, abs=1e-12)


def test_all_digits_change_nothing():
    for units in ("scaled", "original"):
        assert rounded(model_of("hinge", "polynomial"), 17, units).largest_change == 0.0


def test_rounded_models_keep_everything_but_the_score():
    model = replace(model_of("step"), score=0.9)
    short = rounded(model, 2).model
    assert short.score is None
    assert short.terms == model.terms
    np.testing.assert_allclose(short.decision(table()), model.decision(table()), atol=rounded(model, 2).largest_change)


@pytest.mark.parametrize("digits", [0, 18, 1.5, True, "4"])
def test_bad_digits(digits):
    with pytest.raises(ValueError, match="digits must be an integer from 1 to 17"):
        rounded(model_of("step"), digits)
