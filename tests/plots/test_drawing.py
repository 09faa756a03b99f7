"""What the displays share: names that fit and stay different, labels that keep their distance, figures as SVG."""

from __future__ import annotations

import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from matplotlib import cbook
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from rfsc.plots import CoefficientsDisplay, to_svg
from rfsc.plots.drawing import make_axes, named_rows, shorten, shorten_all
from rfsc.plots.search_course import spread_apart

names = st.text(max_size=120)


def plain(text):
    """What matplotlib shows of a text."""
    assert not cbook.is_math_text(text)
    return text.replace(r"\$", "$")


@given(names, st.integers(12, 40))
def test_short_names_fit_and_keep_both_ends(name, longest):
    short = plain(shorten(name, longest))
    assert len(short) <= longest
    assert short.isprintable()
    if len(name) <= longest:
        assert len(short) == len(name)
    elif "*" not in name:
        assert short[0] == (name[0] if name[0].isprintable() else " ")
        assert short[-1] == (name[-1] if name[-1].isprintable() else " ")
        assert "…" in short


def test_products_are_shortened_factor_by_factor():
    assert shorten("mean concave points*worst fractal dimension", 30) == "mean co…points*worst f…mension"
    assert shorten("a*" + "b" * 40, 20) == "a*" + "b" * 9 + "…" + "b" * 8


def test_rules_are_shortened_condition_by_condition():
    assert shorten("53.5<age<=84.5 and not city=St. John's", 30) == "53.5<…84.5 and not city=…ohn's"
    assert shorten("not " + "level=" * 10, 20) == "not level=le…=level="


@given(st.lists(st.text(st.sampled_from("ab*"), max_size=60), max_size=12))
def test_different_names_stay_different(some):
    short = shorten_all(some, 14)
    pairs = {(name, text) for name, text in zip(some, short, strict=True)}
    assert len(pairs) == len(set(some)) == len(set(short))
    assert all(len(text) <= 14 for text in short)


@given(st.lists(st.floats(0, 1), max_size=20), st.floats(0, 0.3))
def test_spread_labels_keep_their_order_and_distance(wanted, gap):
    places = spread_apart(np.array(wanted, dtype=float), gap, 0.0, 1.0)
    assert ((places >= -1e-12) & (places <= 1 + 1e-12)).all()
    if len(wanted) > 1:
        order = sorted(range(len(wanted)), key=lambda j: (wanted[j], -j))
        room = min(gap, 1 / (len(wanted) - 1))
        assert (np.diff(places[order]) >= room - 1e-12).all()


@given(st.lists(st.floats(0, 1), min_size=2, max_size=20))
def test_labels_that_are_far_apart_stay_where_they_are(wanted):
    wanted = np.array(wanted)
    assume(np.diff(np.sort(wanted)).min() > 1e-9)
    np.testing.assert_allclose(spread_apart(wanted, 0.5 * np.diff(np.sort(wanted)).min(), 0.0, 1.0), wanted, atol=1e-12)


@pytest.mark.slow
def test_matplotlib_is_imported_by_drawing_and_pyplot_only_used_if_already_imported():
    assert plt.get_fignums() == []
    make_axes(None, (3, 2))
    assert len(plt.get_fignums()) == 1
    code = (
        "import sys, rfsc.plots\n"
        "print('matplotlib' in sys.modules)\n"
        "figure = rfsc.plots.drawing.make_axes(None, (3, 2))[0].figure\n"
        "print('matplotlib.pyplot' in sys.modules, figure.canvas.manager)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.split() == ["False", "False", "None"]


def test_without_matplotlib_the_error_names_the_extra(monkeypatch):
    monkeypatch.setattr("rfsc._utils.optional.find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"rfsc\[plot\]"):
        make_axes(None, (3, 2))


def test_axes_of_the_wrong_kind_or_number():
    ax = Figure().subplots()
    with pytest.raises(ValueError, match="sequence of 2 Axes"):
        make_axes(ax, (3, 2), (1, 1))
    with pytest.raises(ValueError, match=r"one Axes, a Figure or None, got 1 of type str"):
        make_axes("here", (3, 2))


def test_a_given_figure_is_filled_and_resized_but_not_a_subfigure():
    figure = Figure()
    axes = make_axes(figure, (3, 2), (1, 1))
    assert figure.axes == axes.tolist()
    assert figure.get_size_inches().tolist() == [3, 2]
    left, right = Figure(figsize=(5, 1)).subfigures(1, 2)
    display = CoefficientsDisplay(coef=np.ones(1), reach=None, names=("a",), level=0.9, label=1).plot(right)
    assert display.ax_.figure is right
    assert display.figure_.get_size_inches().tolist() == [5, 1]
    assert not left.axes


# ---- SVG


def drawn(label="class <b>&\"'", name="<script>alert(1)</script> & 😀 $x$"):
    display = CoefficientsDisplay(
        coef=np.array([1.0, -2.0]), reach=np.array([0.5, 0.5]), names=(name, "other"), level=0.9, label=label
    )
    return display.plot(Figure(layout="constrained").subplots())


def test_the_same_figure_gives_the_same_text():
    assert to_svg(drawn().figure_, "a") == to_svg(drawn().figure_, "a")


def test_svg_holds_no_address_no_date_and_names_only_as_text():
    text = to_svg(drawn().figure_, 'terms of "a" & <b>')
    assert text.startswith("<svg")
    assert text.endswith("</svg>")
    assert "http" not in text
    assert "date" not in text.lower()
    root = ElementTree.fromstring(text)  # well-formed without any declaration
    assert root.get("aria-label") == 'terms of "a" & <b>'
    assert "<script>alert(1)</script> & 😀 $x$" in {element.text for element in root.iter("text")}
    assert not list(root.iter("script"))


def test_identifiers_in_svg_are_defined_and_not_shared_between_figures():
    first, second = (to_svg(drawn().figure_, label) for label in ("first", "second"))
    ids = [{element.get("id") for element in ElementTree.fromstring(text).iter()} - {None} for text in (first, second)]
    assert ids[0]
    assert not ids[0] & ids[1]
    for own, text in zip(ids, (first, second), strict=True):
        for element in ElementTree.fromstring(text).iter():
            for value in (element.get("href", ""), element.get("clip-path", "").removeprefix("url(").rstrip(")")):
                assert not value.startswith("#") or value[1:] in own


def test_notebooks_show_a_display_once():
    assert drawn()._repr_svg_().startswith("<svg")
    shown_by_pyplot = CoefficientsDisplay(coef=np.ones(1), reach=None, names=("a",), level=0.9, label=1)
    assert shown_by_pyplot._repr_svg_() is None  # not drawn yet
    assert shown_by_pyplot.plot()._repr_svg_() is None


def test_rows_are_named_from_top_to_bottom():
    ax = named_rows(Figure(), ["first", "second"], "+3 more")
    assert [label.get_text() for label in ax.get_yticklabels()] == ["first", "second", "+3 more"]
    assert ax.yaxis.get_inverted()
