"""The display of a certificate: its table, its clusters, and that it can be read."""

from __future__ import annotations

import pickle
from itertools import groupby

import numpy as np
import pytest
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from sklearn.datasets import load_breast_cancer

from rfsc import RFSCClassifier, SearchSettings
from rfsc.certify import Certificate, certify
from rfsc.certify.certificate import CHANCE, MEANING
from rfsc.plots import CertificateDisplay, to_svg
from rfsc.plots.certified_features import LOOKS

from . import legible
from .conftest import made_up_certificate


@pytest.fixture(scope="module")
def certificate():
    """Of features with clusters."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    search = SearchSettings(max_iter=5, n_models=20)
    clf = RFSCClassifier(basis="polynomial", search=search)
    return certify(clf, X.iloc[::2, :8], y[::2], n_pairs=2, random_state=0, n_jobs=1)


def test_the_table_is_that_of_the_certificate(certificate, tmp_path):
    display = CertificateDisplay.from_certificate(certificate)
    rows = {row["unit"]: row for row in certificate.features.rows()}
    assert sorted(display.names) == sorted(rows)
    for name, verdict, p, share in zip(display.names, display.verdict, display.p_value, display.share, strict=True):
        assert (verdict, p, share) == (rows[name]["verdict"], rows[name]["p_value"], rows[name]["share"])
    p_values = dict(zip(certificate.clusters.unit, certificate.clusters.p_value, strict=True))
    assert any(" | " in own for own in display.cluster)
    for name, own, p in zip(display.names, display.cluster, display.cluster_p, strict=True):
        assert name in own.split(" | ")
        assert p == p_values[own]
    assert (np.diff(display.cluster_p) >= 0).all()
    certificate.save(tmp_path / "c.json")
    again = CertificateDisplay.from_certificate(Certificate.load(tmp_path / "c.json"))
    assert (again.names, again.cluster) == (display.names, display.cluster)


def test_members_of_a_cluster_are_adjacent_and_named_once():
    display = CertificateDisplay.from_certificate(made_up_certificate(12), ax=Figure(layout="constrained"))
    assert len([own for own, _ in groupby(display.cluster)]) == len(set(display.cluster)) == 8
    assert display.cluster.count("of the second laboratory, in the afternoon") == 3
    texts = [text.get_text() for text in display.ax_.texts]
    named = [text for text in texts if text.startswith("cluster")]
    assert [text.partition("\n")[0] for text in named] == ["cluster of 2"] * 2 + ["cluster of the sec…afternoon"]
    assert [text for text in texts if text not in named] == [*(f"{p:.2g}" for p in display.p_value), "P"]
    brackets = [line.get_ydata() for line in display.ax_.lines]
    assert [(round(a + 0.3), round(b - 0.3)) for a, b in brackets] == [(0, 1), (2, 3), (6, 8)]


def test_verdicts_differ_in_colour_and_marker():
    assert set(LOOKS) == set(MEANING)
    assert len({to_rgba(colour) for colour, _ in LOOKS.values()}) == len({mark for _, mark in LOOKS.values()}) == 6
    display = CertificateDisplay.from_certificate(made_up_certificate())
    assert {text.get_text() for text in display.ax_.get_legend().get_texts()} == set(MEANING) - {CHANCE}
    widths = {round(bar.get_y() + bar.get_height() / 2): bar.get_width() for bar in display.ax_.patches}
    assert [widths[row] for row in range(30)] == display.share[:30].tolist()


@pytest.mark.parametrize("n_features", [0, 1, 12, 40])
def test_legible(n_features):
    display = CertificateDisplay.from_certificate(made_up_certificate(n_features))
    legible.check(display.figure_)
    assert ("+10 more" in {text for text, _ in legible.texts(display.figure_)}) == (n_features == 40)
    assert ("aboratory" in to_svg(display.figure_)) == (n_features > 0)


def test_drawing_into_given_axes_and_pickles(certificate):
    ax = Figure().subplots()
    display = CertificateDisplay.from_certificate(certificate, ax=ax, max_features=2)
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    assert len(ax.patches) == 2
    assert pickle.loads(pickle.dumps(display)).names == display.names
