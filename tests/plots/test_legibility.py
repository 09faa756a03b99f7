"""Every display is legible: all texts within the figure, none on top of another, and a note about what is left out."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from rfsc.plots import (
    CalibrationDisplay,
    CoefficientsDisplay,
    FeatureEffectsDisplay,
    RIPEvolutionDisplay,
    RowContributionsDisplay,
    to_svg,
)

from . import legible
from .conftest import made_up

pytestmark = pytest.mark.slow

DRAW = {
    "rips": lambda source, X, y, **more: RIPEvolutionDisplay.from_estimator(source, **more),
    "coefficients": lambda source, X, y, **more: CoefficientsDisplay.from_estimator(source, **more),
    "effects": lambda source, X, y, **more: FeatureEffectsDisplay.from_estimator(source, X=X, **more),
    "row": lambda source, X, y, **more: RowContributionsDisplay.from_estimator(source, X[:1], **more),
    "calibration": CalibrationDisplay.from_estimator,
}


CASES = [(kind, case) for kind in DRAW for case in ("two_classes", "three_classes", "large")]


@pytest.mark.parametrize(("kind", "case"), CASES)
def test_legible(request, kind, case):
    display = DRAW[kind](*request.getfixturevalue(case))
    assert plt.get_fignums() == [display.figure_.number]
    axes = np.atleast_1d(display.ax_)
    assert all(ax.figure is display.figure_ for ax in axes)
    legible.check(display.figure_)
    to_svg(display.figure_)


@pytest.mark.parametrize("kind", DRAW)
def test_models_without_terms_can_be_drawn(kind):
    model = made_up(n_features=2, n_terms=0, n_restarts=1, n_iter=1)
    X = pd.DataFrame(np.random.default_rng(0).random((1, 2)), columns=model.feature_names)
    legible.check(DRAW[kind](model, X, np.array(["other"])).figure_)


@pytest.mark.parametrize(
    ("display", "left_out"),
    [(RIPEvolutionDisplay, "+24 more"), (CoefficientsDisplay, "+20 more")],
)
def test_a_note_counts_what_is_left_out(large, display, left_out):
    figure = display.from_estimator(large[0]).figure_
    assert left_out in {text for text, _ in legible.texts(figure)}


@pytest.mark.parametrize("kind", DRAW)
@pytest.mark.parametrize("whole_figure", [False, True])
def test_drawing_into_given_axes_or_figures(two_classes, kind, whole_figure):
    figure = Figure(figsize=(8, 9), layout="constrained")
    n_panels = 2 if kind == "calibration" else 1
    axes = figure if whole_figure else figure.subplots(n_panels, 1)
    display = DRAW[kind](*two_classes, ax=axes)
    assert plt.get_fignums() == []
    assert display.figure_ is figure
    assert figure.axes == np.atleast_1d(display.ax_).tolist()
    assert len(figure.axes) == n_panels
    assert all(ax.has_data() for ax in figure.axes)


def test_lines_of_the_model_are_thick_and_differ(large):
    display = RIPEvolutionDisplay.from_estimator(large[0])
    thick = [line for line in display.ax_.lines if line.get_linewidth() > 2 and len(line.get_xdata()) == 25]
    assert len(thick) == 16  # those that are named
    assert len({(line.get_color(), line.get_linestyle()) for line in thick}) == 16


def test_bins_with_few_samples_are_hollow():
    axes = Figure().subplots(2, 1)
    display = CalibrationDisplay.from_predictions([True] * 3 + [False] * 20, [0.9] * 3 + [0.1] * 20, ax=axes)
    labels = [text.get_text() for text in display.ax_[0].get_legend().get_texts()]
    assert labels == ["perfect", "observed, 95 % interval", "under 10 samples"]
    assert [text.get_text() for text in display.ax_[1].texts] == ["20", "0", "0", "0", "3"]
