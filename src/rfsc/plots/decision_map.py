"""The decision over two features, with the data on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from .._model import Predictor, SparseModel, class_probabilities, decision_table
from .._model.access import as_predictor
from .._model.recipe import NumberOf
from .._utils.arrays import FloatArray, IntArray
from .._utils.words import plural
from .drawing import GREY, MARKERS, Display, class_colour, codes_for, shorten, shorten_all, title_and_legend

MAX_POINTS = 1_000  # more only hide each other
STRONGEST_SHADE = 0.55  # of the colour, where a class is certain


@dataclass(eq=False, repr=False, kw_only=True)
class DecisionMapDisplay(Display):
    """The most probable class by colour and its probability by shade over two features; other features are fixed.

    Parameters
    ----------
    across, up : ndarray of shape (n_across,), ndarray of shape (n_up,)
        Values of the two features.
    probability : ndarray of shape (n_up, n_across, n_classes)
        Of every class at every point.
    points : ndarray of shape (n_samples, 2)
        The data.
    code : ndarray of shape (n_samples,) or None
        Class of each sample, as a position in `classes`; None if that is not known.
    classes : tuple of str
        Names of the classes.
    names : (str, str)
        Names of the two features.
    held : str
        Note about the other features that the model reads; empty if there are none.
    """

    across: FloatArray
    up: FloatArray
    probability: FloatArray
    points: FloatArray
    code: IntArray | None
    classes: tuple[str, ...]
    names: tuple[str, str]
    held: str
    _size: ClassVar[tuple[float, float]] = (7, 5.6)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        features: tuple[int | str, int | str] | None = None,
        held: Mapping[int | str, float] | None = None,
        n_grid: int = 200,
        ax: Any = None,
    ) -> Self:
        """Draw the decision of a classifier over two features.

        Parameters
        ----------
        estimator : RFSCClassifier, Pipeline, Predictor or SparseModel
            A fitted classifier, a fitted pipeline that ends in one, or a model read from a file.
        X : array-like or data frame of shape (n_samples, n_features)
            The data to show; the other features are fixed at their medians.
        y : array-like of shape (n_samples,) or None, default=None
            Their classes.
        features : pair of int or str, or None, default=None
            The two features, by name or index; None takes the two that change the outputs most.
        held : dict or None, default=None
            Values, in the units of the table, of features to fix elsewhere than at their medians, by name or index.
        n_grid : int, default=200
            Number of points along each axis.
        ax : Axes, Figure or None, default=None
            Where to draw; a figure is resized to fit, None makes a new one.

        Returns
        -------
        DecisionMapDisplay
            The display, drawn.
        """
        predictor = as_predictor(estimator)
        table, names = predictor.features(X), _column_names(predictor)
        a, b = _strongest(predictor.models_, table) if features is None else (_position(p, names) for p in features)
        if a == b:
            msg = f"features must be two different features, got {features}."
            raise ValueError(msg)
        row = np.median(table, axis=0)
        for feature, value in (held or {}).items():
            row[_position(feature, names)] = value
        across, up = _axis(table[:, a], n_grid), _axis(table[:, b], n_grid)
        grid = np.tile(row, (n_grid, n_grid, 1))
        grid[..., a], grid[..., b] = across, up[:, None]
        n_others = len({p for model in predictor.models_ for p in model.features} - {a, b})
        return cls(
            across=across,
            up=up,
            probability=_probabilities(predictor.models_, grid),
            points=table[:, [a, b]],
            code=None if y is None else codes_for(estimator, y, len(table)),
            classes=tuple(str(label) for label in predictor.classes_),
            names=(names[a], names[b]),
            held=f"{plural(n_others, 'other')} {'fixed' if held else 'at the median'}" if n_others else "",
        ).plot(ax)

    def _draw(self, *axes: Any) -> None:
        (ax,) = axes
        extent = (*self.across[[0, -1]], *self.up[[0, -1]])
        ax.imshow(_shades(self.probability), extent=extent, origin="lower", aspect="auto", interpolation="bilinear")
        for k in range(len(self.classes) if len(self.classes) > 2 else 1):
            lead = self.probability[..., k] - np.delete(self.probability, k, axis=2).max(axis=2)
            if lead.min() < 0 < lead.max():  # a line wherever the most probable class changes
                ax.contour(self.across, self.up, lead, [0.0], colors="k", linewidths=1.3)
        across, up = shorten_all(self.names, 48)
        ax.set(xlabel=across, ylabel=up, xlim=extent[:2], ylim=extent[2:])
        self._draw_points(ax)
        title_and_legend(ax, "Decision over two features" + (f"; {self.held}" if self.held else ""))

    def _draw_points(self, ax: Any) -> None:
        every = -(-len(self.points) // MAX_POINTS)
        points = self.points[::every]
        look = {"s": 26, "edgecolors": "w", "linewidths": 0.6}
        if self.code is None:
            ax.scatter(*points.T, color=GREY, label="data", **look)
            return
        for k, name in enumerate(self.classes):
            some = points[self.code[::every] == k]
            label = shorten(name, 26)
            look |= {"color": class_colour(k), "marker": MARKERS[k % len(MARKERS)]}
            # matplotlib omits names that start with an underscore
            ax.scatter(*some.T, label=f" {label}" if label.startswith("_") else label, **look)


def _position(feature: int | str, names: Sequence[str]) -> int:
    """Index of a feature given by name or index."""
    if isinstance(feature, str):
        if feature not in names:
            msg = f"there is no feature named {feature!r} among the {len(names)} features of this model."
            raise ValueError(msg)
        return list(names).index(feature)
    if not 0 <= feature < len(names):
        msg = f"features must be names or between 0 and {len(names) - 1}, got {feature}."
        raise ValueError(msg)
    return int(feature)


def _column_names(predictor: Predictor) -> list[str]:
    """Names of the features: those of the raw table for features that are its columns of numbers."""
    names, recipe = predictor.models_[0].feature_names, predictor.recipe_
    made = [None] * len(names) if recipe is None else recipe.features
    return [
        recipe.columns[one.column].name if recipe and isinstance(one, NumberOf) else name
        for name, one in zip(names, made, strict=True)
    ]


def _probabilities(models: Sequence[SparseModel], grid: FloatArray) -> FloatArray:
    """Class probabilities at the points of a grid of shape (n_up, n_across, n_features)."""
    points = grid.reshape(-1, grid.shape[2])
    proba = class_probabilities(decision_table([model.decision(points) for model in models]))
    return np.asarray(proba.reshape(*grid.shape[:2], -1))


def _shades(probability: FloatArray) -> FloatArray:
    """The colour of the most probable class, the whiter the less certain it is."""
    from matplotlib.colors import to_rgb

    n_classes = probability.shape[2]
    palette = np.array([to_rgb(class_colour(k)) for k in range(n_classes)])
    sure = (probability.max(axis=2, keepdims=True) - 1 / n_classes) / (1 - 1 / n_classes)
    return np.asarray(1 - STRONGEST_SHADE * sure * (1 - palette[probability.argmax(axis=2)]))


def _strongest(models: Sequence[SparseModel], table: FloatArray) -> tuple[int, int]:
    """The two features whose terms change the outputs most over the rows of a table."""
    n_features = table.shape[1]
    if n_features < 2:
        msg = "a map needs two features, this table has one."
        raise ValueError(msg)
    power = np.zeros(n_features)
    for model in models:
        effect = np.abs(model.coef) * np.std(model.columns(table), axis=1)
        for term, change in zip(model.terms, effect, strict=True):
            power[list(term.features)] += change
    two_values = np.array([len(np.unique(column)) <= 2 for column in table.T])  # such an axis shows little
    first, second = np.lexsort((-power, two_values, power == 0))[:2]
    return int(first), int(second)


def _axis(values: FloatArray, n: int) -> FloatArray:
    """Points along the range of a feature and a little beyond."""
    low, high = values.min(), values.max()
    margin = 0.05 * (high - low) or 1.0
    return np.linspace(low - margin, high + margin, n)
