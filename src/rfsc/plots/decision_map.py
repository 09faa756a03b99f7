"""The decision over two features, with the data on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from .._model import Predictor, class_probabilities, decision_table
from .._model.access import as_predictor
from .._model.recipe import NumberOf
from .._utils.arrays import FloatArray, IntArray
from .drawing import GREY, MARKERS, Display, class_colour, legend_above, legend_name, make_axes, set_title, shorten_all
from .sources import codes_of, position

MOST_POINTS = 1_000  # more only cover each other
STRENGTH = 0.55  # of the colour where a class is certain


@dataclass(eq=False, repr=False, kw_only=True)
class DecisionMapDisplay(Display):
    """Probable class by colour and its probability by shade over two features; the others are held.

    Parameters
    ----------
    across, up : ndarray of shape (n_across,), ndarray of shape (n_up,)
        Values of the two features.
    probability : ndarray of shape (n_up, n_across, n_classes)
        Of every class at every point.
    points : ndarray of shape (n_samples, 2)
        The data.
    code : ndarray of shape (n_samples,) or None
        Class of each sample, as a position in `classes`; None where that is not known.
    classes : tuple of str
        Names of the classes.
    names : (str, str)
        Names of the two features.
    held : str
        What is said of the other features that the model reads; empty where there are none.
    """

    across: FloatArray
    up: FloatArray
    probability: FloatArray
    points: FloatArray
    code: IntArray | None
    classes: tuple[str, ...]
    names: tuple[str, str]
    held: str

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
        estimator : object
            A fitted RFSCClassifier or pipeline, a loaded predictor, or a SparseModel.
        X : array-like or data frame of shape (n_samples, n_features)
            The data to show; the features that are held stand at their medians.
        y : array-like of shape (n_samples,) or None, default=None
            Their classes.
        features : pair of int or str, or None, default=None
            The two features, by name or index; None takes the two that move the outputs most.
        held : dict or None, default=None
            Values of features that are not to stand at their medians, by name or index, in the units of the table.
        n_grid : int, default=200
            Points along each axis.
        ax : Axes, Figure or None, default=None
            Where to draw; a figure is given the size that suits, None makes one.

        Returns
        -------
        DecisionMapDisplay
            Drawn.
        """
        predictor = as_predictor(estimator)
        table = predictor.features(X)
        models, names = predictor.models_, _own_names(predictor)
        a, b = _strongest(models, table) if features is None else (position(p, names) for p in features)
        if a == b:
            msg = f"features must be two different features, got {features}."
            raise ValueError(msg)
        row = np.median(table, axis=0)
        for feature, value in (held or {}).items():
            p = position(feature, names)
            row[p] = value
        across, up = (_axis(table[:, p], n_grid) for p in (a, b))
        grid = np.tile(row, (n_grid * n_grid, 1))
        grid[:, a], grid[:, b] = np.tile(across, n_grid), np.repeat(up, n_grid)
        proba = class_probabilities(decision_table([model.decision(grid) for model in models]))
        used = {p for model in models for p in model.features}
        display = cls(
            across=across,
            up=up,
            probability=proba.reshape(n_grid, n_grid, -1),
            points=table[:, [a, b]],
            code=None if y is None else codes_of(estimator, y, len(table)),
            classes=tuple(str(label) for label in predictor.classes_),
            names=(names[a], names[b]),
            held=_held(len(used - {a, b}), "held" if held else "at the median"),
        )
        return display.plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : Axes, Figure or None, default=None
            Where to draw; a figure is given the size that suits, None makes one.

        Returns
        -------
        DecisionMapDisplay
            Itself, with `ax_` and `figure_` set.
        """
        axes = make_axes(ax, (7, 5.6))
        ax = axes[0]
        extent = (*self.across[[0, -1]], *self.up[[0, -1]])
        ax.imshow(_shades(self.probability), extent=extent, origin="lower", aspect="auto", interpolation="bilinear")
        self._draw_borders(ax)
        across, up = shorten_all(self.names, 48)
        ax.set(xlabel=across, ylabel=up)
        ax.set(xlim=extent[:2], ylim=extent[2:])
        set_title(ax, "Decision over two features" + (f"; {self.held}" if self.held else ""))
        self._draw_points(ax)
        legend_above(ax)
        self._show_in(axes)
        return self

    def _draw_borders(self, ax: Any) -> None:
        """A line wherever the most probable class changes."""
        for k in range(len(self.classes) if len(self.classes) > 2 else 1):
            ahead = self.probability[..., k] - np.delete(self.probability, k, axis=2).max(axis=2)
            if ahead.min() < 0 < ahead.max():
                ax.contour(self.across, self.up, ahead, [0.0], colors="k", linewidths=1.3)

    def _draw_points(self, ax: Any) -> None:
        """The data, every class with its colour and mark."""
        every = -(-len(self.points) // MOST_POINTS)
        points = self.points[::every]
        look = {"s": 26, "edgecolors": "w", "linewidths": 0.6}
        if self.code is None:
            ax.scatter(*points.T, color=GREY, label="data", **look)
            return
        for k, name in enumerate(self.classes):
            some = points[self.code[::every] == k]
            colour, mark = class_colour(k), MARKERS[k % len(MARKERS)]
            ax.scatter(*some.T, color=colour, marker=mark, label=legend_name(name), **look)


def _own_names(predictor: Predictor) -> list[str]:
    """What features are called: as the user's table calls them where they are columns of numbers."""
    names, recipe = predictor.models_[0].feature_names, predictor.recipe_
    if recipe is None:
        return list(names)
    return [
        recipe.columns[made.column].name if isinstance(made, NumberOf) else name
        for name, made in zip(names, recipe.features, strict=True)
    ]


def _shades(probability: FloatArray) -> FloatArray:
    """Colour of the most probable class, mixed with white the more the less certain it is."""
    from matplotlib.colors import to_rgb

    n_classes = probability.shape[2]
    palette = np.array([to_rgb(class_colour(k)) for k in range(n_classes)])
    sure = (probability.max(axis=2, keepdims=True) - 1 / n_classes) / (1 - 1 / n_classes)
    return np.asarray(1 - STRENGTH * sure * (1 - palette[probability.argmax(axis=2)]))


def _strongest(models: Any, table: FloatArray) -> tuple[int, int]:
    """The two features whose terms move the outputs most over the rows of a table."""
    n_features = table.shape[1]
    if n_features < 2:
        msg = "a map needs two features, this table has one."
        raise ValueError(msg)
    power = np.zeros(n_features)
    for model in models:
        spread = np.abs(model.coef) * np.std(model.columns(table), axis=1)
        for term, moves in zip(model.terms, spread, strict=True):
            power[list(term.features)] += moves
    two_values = np.array([len(np.unique(column)) <= 2 for column in table.T])  # such an axis shows little
    first, second = np.lexsort((-power, two_values, power == 0))[:2]
    return int(first), int(second)


def _held(n_others: int, how: str) -> str:
    return "" if not n_others else f"{n_others} other{'s' * (n_others > 1)} {how}"


def _axis(values: FloatArray, n: int) -> FloatArray:
    """Points along the range of a feature and a little beyond."""
    low, high = values.min(), values.max()
    margin = 0.05 * (high - low) or 1.0
    return np.linspace(low - margin, high + margin, n)
