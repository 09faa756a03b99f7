"""Which features the models of an atlas read, and how much each of them depends on each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from .._utils.arrays import BoolArray, FloatArray, IntArray
from .._utils.words import percent, plural
from ..atlas import Atlas
from .drawing import GREY, SMALL, TITLE_SIZE, Display, make_axes, shorten_all

ROW_HEIGHT, COLUMN_WIDTH = 0.16, 0.26  # inches
LEAST_HEIGHT, MOST_HEIGHT = 1.8, 7.0  # of the rows together
MAX_LETTERS = 28  # of the name of a feature
STRONGEST = 95  # percentile of the importance that has the darkest colour


@dataclass(eq=False, repr=False, kw_only=True)
class AtlasDisplay(Display):
    """The models of an atlas down, by size, and the features across, those of a cluster together.

    The best model of each set of features comes first. The darker a cell, the more the left-out log-loss of the model
    rises without the feature; white cells are features that the model does not read.

    Parameters
    ----------
    names : tuple of str
        Names of the features, in the order in which they are drawn.
    importance : ndarray of shape (n_models, n_features)
        By how much the left-out log-loss of each model rises without each feature, in thousandths; NaN if the model
        does not read it.
    share : ndarray of shape (n_features,)
        Share of the models that read each feature.
    cluster : ndarray of shape (n_features,)
        Number of the cluster of each feature.
    n_terms : ndarray of shape (n_models,)
        Number of terms of each model.
    is_answer : ndarray of shape (n_models,), dtype=bool
        The model of the classifier itself.
    title : str
        What is drawn.
    n_more : int, default=0
        Number of features in some models that are not drawn.
    """

    names: tuple[str, ...]
    importance: FloatArray
    share: FloatArray
    cluster: IntArray
    n_terms: IntArray
    is_answer: BoolArray
    title: str
    n_more: int = 0

    @classmethod
    def from_atlas(
        cls, atlas: Atlas, *, label: str | None = None, ax: Any = None, max_models: int = 100, max_features: int = 30
    ) -> Self:
        """Draw the models of an atlas.

        Parameters
        ----------
        atlas : Atlas
            Made by `rfsc.atlas.atlas`.
        label : str or None, default=None
            With several classes, the class whose models are drawn; None takes the first.
        ax : Axes, Figure or None, default=None
            Where to draw; a figure is resized to fit, None makes a new one.
        max_models : int, default=100
            Largest number of models to draw, shared by the sizes: the best of each.
        max_features : int, default=30
            Largest number of features to draw: those in most models.

        Returns
        -------
        AtlasDisplay
            The display, drawn.
        """
        labels = atlas.models.label
        own = np.arange(len(atlas))
        if labels is not None:
            label = labels[0] if label is None else str(label)
            if label not in labels:
                known = ", ".join(map(repr, dict.fromkeys(labels)))
                msg = f"label must be one of {known}, got {label!r}."
                raise ValueError(msg)
            own = np.flatnonzero(np.array(labels) == label)
        share = (~np.isnan(atlas.importance[own])).mean(axis=0)
        used = np.argsort(-share, kind="stable")[: np.count_nonzero(share)]
        features = _by_cluster(used[:max_features], share, atlas.clusters)
        shown = _best_of_each_size(own, atlas.models.n_terms, max_models)
        of = "" if labels is None else f" for class {label}"
        n_left = own.size - shown.size
        title = f"{plural(own.size, 'model')} that are as good{of}" + (f", {shown.size} shown" if n_left else "")
        return cls(
            names=tuple(atlas.feature_names[p] for p in features),
            importance=atlas.importance[np.ix_(shown, features)],
            share=share[features],
            cluster=atlas.clusters[features],
            n_terms=atlas.models.n_terms[shown],
            is_answer=atlas.models.is_answer[shown],
            title=title,
            n_more=used.size - features.size,
        ).plot(ax)

    def _axes(self, ax: Any) -> Any:
        height = float(np.clip(ROW_HEIGHT * len(self.n_terms), LEAST_HEIGHT, MOST_HEIGHT))
        return make_axes(ax, (max(4.5, 2.2 + COLUMN_WIDTH * len(self.names)), height + 3.0))

    def _draw(self, *axes: Any) -> None:
        (ax,) = axes
        n_models, n_features = self.importance.shape
        known = self.importance[~np.isnan(self.importance)]
        top = max(float(np.percentile(known, STRONGEST)), 1.0) if known.size else 1.0
        shown = np.ma.masked_invalid(np.clip(self.importance, 0.0, top))
        look = {"cmap": _from_pale(), "vmin": 0.0, "vmax": top, "aspect": "auto", "interpolation": "nearest"}
        image = ax.imshow(shown.reshape(n_models, n_features), **look) if n_features else None
        self._draw_groups(ax)
        labels = [
            f"{name}  {percent(share)}"
            for name, share in zip(shorten_all(self.names, MAX_LETTERS), self.share, strict=True)
        ]
        ax.set_xticks(range(n_features), labels, rotation=90, fontsize=SMALL)
        ax.tick_params(length=0)
        ax.set_xlabel(f"features, and share of the models that read them{self._note}", fontsize=SMALL)
        ax.set_title(self.title, loc="left", fontsize=TITLE_SIZE)
        if image is not None:
            bar = ax.figure.colorbar(image, ax=ax, shrink=0.8, pad=0.02, aspect=18)
            bar.set_label("importance, in thousandths", fontsize=SMALL)
            bar.outline.set_visible(False)

    @property
    def _note(self) -> str:
        return f" (+{self.n_more} more)" if self.n_more else ""

    def _draw_groups(self, ax: Any) -> None:
        """Lines between sizes and between clusters of several features, and the place of the answer."""
        n_models, n_features = self.importance.shape
        sizes = list(dict.fromkeys(self.n_terms.tolist()))
        middles = []
        for size in sizes:
            rows = np.flatnonzero(self.n_terms == size)
            middles.append((rows[0] + rows[-1]) / 2)
            if rows[0]:
                ax.axhline(rows[0] - 0.5, color=GREY, lw=1.0)
        ax.set_yticks(middles, [plural(size, "term") for size in sizes], fontsize=SMALL)
        for k in range(1, n_features):
            if self.cluster[k] != self.cluster[k - 1]:
                ax.axvline(k - 0.5, color="0.85", lw=0.8)
        for row in np.flatnonzero(self.is_answer).tolist():
            ax.plot(n_features - 0.2, row, "<", color="black", ms=5, clip_on=False)
            ax.annotate(
                "answer", (n_features - 0.2, row), (6, 0), textcoords="offset points", va="center", fontsize=SMALL
            )
        ax.set_ylim(n_models - 0.5, -0.5)


def _from_pale() -> Any:
    """Blues whose lowest value can be told from white."""
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    return ListedColormap(colormaps["Blues"](np.linspace(0.2, 1.0, 256)))


def _by_cluster(features: IntArray, share: FloatArray, clusters: IntArray) -> IntArray:
    """Features with those of their cluster, the clusters by the share of their most frequent feature."""
    best: dict[int, float] = {}
    for p in features.tolist():
        best[int(clusters[p])] = max(best.get(int(clusters[p]), 0.0), float(share[p]))
    order = sorted(features.tolist(), key=lambda p: (-best[int(clusters[p])], clusters[p], -share[p], p))
    return np.array(order, dtype=np.int64)


def _best_of_each_size(models: IntArray, n_terms: IntArray, most: int) -> IntArray:
    """At most so many models, which are in order: the first of each size."""
    sizes = dict.fromkeys(n_terms[models].tolist())
    each = max(1, most // max(len(sizes), 1))
    kept = [models[n_terms[models] == size][:each] for size in sizes]
    return np.concatenate(kept) if kept else models
