"""The display of an atlas: its models, its features in clusters, and that it can be read."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure

from rfsc.atlas import atlas
from rfsc.plots import AtlasDisplay, to_svg

from . import legible


@pytest.fixture(scope="module")
def made(two_classes):
    clf, X, y = two_classes
    return atlas(clf, X, y)


def test_rows_are_models_and_columns_are_features(made):
    display = AtlasDisplay.from_atlas(made, max_models=1000)
    assert len(display.n_terms) == len(made)
    share = dict(zip(made.features.feature, made.features.share, strict=True))
    assert dict(zip(display.names, display.share, strict=True)) == pytest.approx(share)
    for k, name in enumerate(display.names):
        own = made.importance[:, made.feature_names.index(name)]
        assert np.array_equal(display.importance[:, k], own, equal_nan=True)
    assert (np.diff(display.n_terms) <= 0).all()
    assert display.is_answer.sum() == 1
    runs = 1 + np.count_nonzero(np.diff(display.cluster))
    assert runs == np.unique(display.cluster).size  # those of a cluster stand together
    assert pickle.loads(pickle.dumps(replace(display))).title == display.title


def test_what_is_left_out_is_said(made):
    display = AtlasDisplay.from_atlas(made, max_models=3, max_features=2)
    assert len(display.names) == 2
    assert len(display.n_terms) <= 3
    assert " shown" in display.ax_.get_title(loc="left")
    assert "more)" in display.ax_.get_xlabel()


def test_is_legible_with_long_names(made):
    names = tuple(f"$the {k}th of many measurements in the laboratory, mg/l$" for k in range(len(made.feature_names)))
    display = AtlasDisplay.from_atlas(replace(made, feature_names=names), ax=Figure(layout="constrained"))
    display.figure_.canvas.draw()
    labels = [text.get_text() for text in display.ax_.get_xticklabels()]
    assert len(set(labels)) == len(labels)
    legible.check(display.figure_)
    assert to_svg(display.figure_, "atlas").startswith("<svg")


def test_one_class_of_several(three_classes):
    clf, X, y = three_classes
    made = atlas(clf, X, y, max_models=30)
    display = AtlasDisplay.from_atlas(made, label="virginica")
    assert "for class virginica" in display.title
    assert len(display.n_terms) == made.models.label.count("virginica")
    with pytest.raises(ValueError, match="label must be one of 'setosa'"):
        AtlasDisplay.from_atlas(made, label="rose")


def test_the_constant_alone(two_classes):
    clf, X, y = two_classes
    made = atlas(clf.at_size(0), X, y)
    display = AtlasDisplay.from_atlas(made)
    assert display.names == ()
    assert display.n_terms.tolist() == [0]
