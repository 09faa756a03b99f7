"""Bumps: the formula, their centres (never a row), names, and what a saved model keeps."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rfsc._terms import Mention, Term, radial
from rfsc._terms.naming import rounded
from rfsc._terms.radial import Radial, bump, near
from rfsc._terms.scaling import Scaling

from .layout import all_terms, training_of

NAMES = ["age", "bmi", "bp", "dose", "a*b"]


@st.composite
def tables(draw):
    """Rows of one to five features, some of few distinct values, in several units."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.normal(size=(draw(st.integers(1, 50)), draw(st.integers(1, 5))))
    if draw(st.booleans()):
        X = np.round(X)
    return draw(st.sampled_from([0.0, 40.0, -3.0])) + draw(st.sampled_from([1e-3, 1.0, 1e4])) * X


def distances_of(term):
    """Feature, centre and width of every distance."""
    squares = term.expression.part.parts[1].parts
    found = [(part.parts[0].part.parts, part.parts[0].by) for part in squares]
    return [(x.feature, -number.value, width) for (x, number), width in found]


def centre_of(term):
    return np.array([centre for _, centre, _ in distances_of(term)])


def width_of(term):
    return distances_of(term)[0][2]


@given(X=tables(), seed=st.integers(0, 9))
def test_columns_are_those_of_plain_python(X, seed):
    training = training_of(X)
    space = Radial(n_centres=6).space(training, np.random.default_rng(seed))
    for term, column in zip(all_terms(space), space.columns(training.table, np.arange(space.n_terms)), strict=True):
        squares = [((training.table[p] - centre) / width) ** 2 for p, centre, width in distances_of(term)]
        np.testing.assert_allclose(column, [math.exp(-value) for value in np.sum(squares, axis=0)], rtol=1e-9)


@given(X=tables(), seed=st.integers(0, 9), most=st.sampled_from([radial.MAX_POINTS, 9]))
def test_a_centre_is_a_mean_of_three_rows_and_never_a_row(X, seed, most):
    training = training_of(X)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(radial, "MAX_POINTS", most)
        space = Radial(n_centres=50).space(training, np.random.default_rng(seed))
    assert space.n_terms <= 3 * (most // 3)
    for term in all_terms(space):
        rows = training.table[list(term.features)].T
        assert np.abs(rows - centre_of(term)).max(axis=1).min() > 1e-7
        assert len(np.unique(rows, axis=0)) >= 3


def test_a_lonely_patient_is_no_centre(rng):
    crowd = rng.normal(size=(40, 2))
    one, two = [30.0, 30.0], [30.1, 30.1]
    for lonely in ([one], [one] * 9, [one, two], [one, two] * 4):
        training = training_of(np.vstack([crowd, lonely]))
        centres = np.array([centre_of(term) for term in all_terms(Radial(5).space(training, rng))])
        assert len(centres)
        assert centres.max() < 0.5  # all in the crowd


def test_clusters_need_three_observations_not_only_rows(rng):
    training = training_of(rng.normal(size=(30, 2)), weight=np.full(30, 0.05))
    assert Radial().space(training, rng).n_terms == 0


def test_centres_are_found_and_numbered_by_size():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal([40, 20], 0.5, size=(30, 2)), rng.normal([61, 31], 0.5, size=(10, 2))])
    space = Radial(n_centres=2, widths=(1.0,)).space(training_of(X), rng)
    big, small = all_terms(space)
    assert big.name(["age", "bmi"]).startswith("near cluster 1 (")
    ((raw, _),) = small.unscaled(Scaling.from_rows(X)).items()
    np.testing.assert_allclose(centre_of(raw), X[30:].mean(axis=0), rtol=1e-4)
    age, bmi = (float(f"{value:.3g}") for value in X[30:].mean(axis=0))
    assert small.name(["age", "bmi"]) in (
        f"near cluster 2 (age≈{age:g}, bmi≈{bmi:g})",
        f"near cluster 2 (bmi≈{bmi:g}, age≈{age:g})",
    )


@pytest.mark.parametrize(
    ("size", "shown", "name"),
    [
        ("", ((0, 61.0), (1, 31.0)), "near cluster 7 (age≈61, bmi≈31)"),
        ("wide", ((1, 31.0), (0, 61.2)), "near cluster 7, wide (bmi≈31, age≈61.2)"),
        ("width 0.5", ((1, 31.0),), "near cluster 7, width 0.5 (bmi≈31, …)"),
    ],
)
def test_names(size, shown, name):
    label = near(7, size, [Mention(*pair) for pair in shown], is_more=len(shown) < 2)
    assert Term(bump([0, 1], [0.5, 0.5], 0.1), label).name(["age", "bmi"]) == name


def test_names_that_could_be_misread_stand_in_brackets():
    term = Term(bump([0, 1], [0.5, 0.5], 0.1), near(1, "", [Mention(0, 1.0), Mention(1, 2.0)], is_more=False))
    assert term.name(["size, cm", "a-b"]) == "near cluster 1 ([size, cm]≈1, a-b≈2)"


def test_names_show_what_is_unusual_and_not_more_than_three_features():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 5))
    X[:20, 3] += 50.0
    space = Radial(n_centres=2).space(training_of(X), rng)
    for name in (term.name(NAMES) for term in all_terms(space)):
        assert "(dose≈" in name  # the first one
        assert name.count("≈") == 3
        assert name.endswith(", …)")


@pytest.mark.parametrize(
    ("widths", "words"),
    [
        ((2.0, 0.5, 1.0), ["narrow", "medium", "wide"]),
        ((0.5, 4.0), ["width 0.5", "width 4"]),
        ((1.0,), [""]),
    ],
)
def test_widths_have_words_and_grow(widths, words, rng):
    training = training_of(rng.normal(size=(40, 3)))
    terms = all_terms(Radial(n_centres=4, widths=widths).space(training, rng))[: len(widths)]
    names = [term.name(NAMES) for term in terms]
    assert [name[len("near cluster 1") : name.index(" (")].removeprefix(", ") for name in names] == words
    reach = np.array([width_of(term) for term in terms])
    np.testing.assert_allclose(reach / reach[0], np.sort(widths) / min(widths))


def test_a_width_of_one_is_the_typical_distance(rng):
    training = training_of(rng.normal(size=(80, 3)))
    terms = all_terms(Radial(n_centres=5, widths=(1.0,)).space(training, rng))
    distance = [min(math.dist(row, centre_of(term)) for term in terms) for row in training.table.T]
    assert width_of(terms[0]) == pytest.approx(math.sqrt(2) * np.median(distance), rel=0.05)


@pytest.fixture(params=[radial.MAX_POINTS, 25], ids=["all rows", "long table"])
def _points(request, monkeypatch):
    """Clusters of all distinct rows, and of some."""
    monkeypatch.setattr(radial, "MAX_POINTS", request.param)


@pytest.mark.usefixtures("_points")
def test_same_seed_same_space_whatever_the_order_of_the_rows():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(50, 3))
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    spaces = [
        Radial(8).space(training_of(rows, weight), np.random.default_rng(1))
        for rows, weight in [(X, None), (X, None), (X[::-1], None)]
    ]
    np.testing.assert_array_equal(np.random.get_state()[1], state)  # noqa: NPY002
    first, *others = [all_terms(space) for space in spaces]
    assert first
    assert others == [first, first]
    assert all_terms(Radial(8).space(training_of(X), np.random.default_rng(2))) != first


@pytest.mark.usefixtures("_points")
def test_a_weight_of_two_is_a_row_that_comes_twice(rng):
    X = rng.normal(size=(40, 2))
    spaces = [
        Radial(5).space(training_of(rows, weight), np.random.default_rng(1))
        for rows, weight in [(X, np.full(40, 2.0)), (np.vstack([X, X]), None)]
    ]
    assert all_terms(spaces[0]) == all_terms(spaces[1])


def test_far_away_is_zero_without_a_warning(rng):
    X = rng.normal(size=(30, 2))
    (term, *_) = all_terms(Radial(2).space(training_of(X), rng))
    ((raw, _),) = term.unscaled(Scaling.from_rows(X)).items()
    assert raw.column({0: np.array([1e308]), 1: np.array([-1e308])}, 1) == 0.0


@pytest.mark.parametrize("settings", [{"n_centres": 0}, {"widths": ()}, {"widths": (1.0, 1.0)}, {"widths": (-1.0,)}])
def test_settings_are_checked(settings):
    with pytest.raises(ValueError, match=next(iter(settings))):
        Radial(**settings)


@pytest.mark.parametrize(
    ("value", "error", "short"),
    [(61.234, 0.7, 61.2), (2015.3, 0.4, 2015.0), (123456.0, 1e4, 123000.0), (1e-17, 1.0, 0.0), (0.1234, 1.0, 0.123)],
)
def test_rounded_takes_digits_where_they_matter(value, error, short):
    assert rounded(value, error) == short
