"""Which features a certificate supports."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import Any, Self

import numpy as np

from .._utils.arrays import FloatArray
from .._utils.words import plural
from ..certify import Certificate
from ..certify.certificate import BY_CLUSTER, CHANCE, NOT_SETTLED, PASSENGER, SUPPORTED, TOO_FEW
from .drawing import COLOURS, GREY, SMALL, Display, named_rows, shorten, title_and_legend

LOOKS = {  # of a verdict: colour and marker
    SUPPORTED: (COLOURS[0], "o"),
    BY_CLUSTER: (COLOURS[5], "s"),
    PASSENGER: (COLOURS[4], "D"),
    TOO_FEW: (COLOURS[3], "P"),
    NOT_SETTLED: ("0.6", "v"),
    CHANCE: (COLOURS[1], "X"),
}
MOST_OF_CLUSTER = 20  # characters of its name


@dataclass(eq=False, repr=False, kw_only=True)
class CertificateDisplay(Display):
    """How often half fits chose each feature, its verdict and its P; members of a cluster stand together.

    Parameters
    ----------
    names : tuple of str
        Names of the features, in the order in which they are drawn.
    verdict : tuple of str
        What the certificate says of each feature.
    p_value : ndarray of shape (n_features,)
        P of each feature.
    share : ndarray of shape (n_features,)
        Share of the half fits whose model holds the feature.
    cluster : tuple of str
        The cluster of each feature; its own name if it is one by itself.
    cluster_p : ndarray of shape (n_features,)
        P of these clusters.
    n_halves : int
        Number of half fits.
    max_features : int, default=30
        Largest number of features to draw.
    """

    names: tuple[str, ...]
    verdict: tuple[str, ...]
    p_value: FloatArray
    share: FloatArray
    cluster: tuple[str, ...]
    cluster_p: FloatArray
    n_halves: int
    max_features: int = 30

    @classmethod
    def from_certificate(cls, certificate: Certificate, *, ax: Any = None, max_features: int = 30) -> Self:
        """Draw the features of a certificate.

        Parameters
        ----------
        certificate : Certificate
            Made by `rfsc.certify.certify`, or read from a file.
        ax : Axes, Figure or None, default=None
            Where to draw; a figure is resized to fit, None makes a new one.
        max_features : int, default=30
            Largest number of features to draw: those of the clusters with the smallest P.

        Returns
        -------
        CertificateDisplay
            The display, drawn.
        """
        features, clusters = certificate.features, certificate.clusters
        row = {name: k for k, name in enumerate(clusters.unit)}
        place = [row[name] for name in features.cluster or features.unit]
        order = sorted(range(len(place)), key=place.__getitem__)  # the members of a cluster by their own P
        return cls(
            names=tuple(features.unit[j] for j in order),
            verdict=tuple(features.verdict[j] for j in order),
            p_value=features.p_value[order],
            share=features.share[order],
            cluster=tuple(clusters.unit[place[j]] for j in order),
            cluster_p=clusters.p_value[[place[j] for j in order]],
            n_halves=certificate.settings.n_halves,
            max_features=max_features,
        ).plot(ax)

    def _axes(self, ax: Any) -> Any:
        n_more = len(self.names) - self.max_features
        note, width = f"+{n_more} more" if n_more > 0 else "", 7.5 if self.cluster == self.names else 8.5
        return [named_rows(ax, self.names[: self.max_features], note, width)]

    def _draw(self, *axes: Any) -> None:
        (ax,) = axes
        share, verdict = self.share[: self.max_features], np.array(self.verdict[: self.max_features])
        for word, (colour, marker) in LOOKS.items():
            rows = np.flatnonzero(verdict == word)
            if rows.size:
                ax.barh(rows, share[rows], 0.62, color=colour, alpha=0.4)
                ax.scatter(share[rows], rows, 42, color=colour, marker=marker, label=word, zorder=3, clip_on=False)
        self._draw_right(ax)
        ax.set_xlim(0, 1)
        ax.xaxis.set_major_formatter("{x:.0%}")
        ax.set_xlabel(f"share of {plural(self.n_halves, 'half fit')} that chose the feature")
        title_and_legend(ax, "Which features to believe")

    def _draw_right(self, ax: Any) -> None:
        """P of every feature, and beside it the clusters."""
        from matplotlib.transforms import offset_copy

        # from the right end of the axes in points, which a layout can reckon with
        text, line, name = (
            {"transform": offset_copy(ax.get_yaxis_transform(), ax.figure, points, 0, units="points")}
            for points in (52, 60, 66)
        )
        for row, p in enumerate(self.p_value[: self.max_features]):
            ax.text(1, row, f"{p:.2g}", ha="right", va="center", fontsize=SMALL, **text)
        ax.text(1, -0.7, "P", ha="right", va="bottom", fontsize=SMALL, color=GREY, **text)
        first = 0
        for cluster, members in groupby(self.cluster[: self.max_features]):
            end = first + len(list(members))
            if cluster != self.names[first]:
                between = ", " if end == first + 1 else "\n"
                label = f"{_short(cluster)}{between}P {self.cluster_p[first]:.2g}"
                ax.plot([1, 1], [first - 0.3, end - 0.7], color=GREY, lw=1.5, clip_on=False, **line)
                ax.text(1, (first + end - 1) / 2, label, va="center", fontsize=SMALL, **name)
            first = end


def _short(cluster: str) -> str:
    """How a cluster is named beside its members; a long list of these would only repeat them."""
    n_members = len(cluster.split(" | "))
    return f"cluster of {n_members}" if n_members > 1 else f"cluster {shorten(cluster, MOST_OF_CLUSTER)}"
