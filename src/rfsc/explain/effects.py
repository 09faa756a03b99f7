"""What each feature does: all terms that read one feature alone, as one function of it, in words."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._model import SparseModel
from .._model.access import model_of, predictor_if_readable, yes_or_no_features
from .._terms.expression import (
    Condition,
    Divided,
    Expression,
    Number,
    Positive,
    Product,
    Scaled,
    Sum,
    as_difference,
    nodes_of,
)
from .._terms.naming import rounded as rounded_number
from .._terms.naming import written
from .._utils.arrays import FloatArray
from .rounding import six_digits, three_digits, training_ranges
from .term_table import ReadableTable, per_row

N_GRID = 2000  # parts of the training range
NEXT_TO_NOTHING = 1e-12  # of the coefficients: what rounding leaves of a slope or a jump of zero
Knots = dict[float, float]  # places on the [0, 1] scale, ascending, and the same in the user's units


@dataclass(frozen=True, slots=True, eq=False)
class FeatureEffects(ReadableTable):
    """One row for each feature that some term reads alone, the largest effect first.

    Parameters
    ----------
    feature : tuple of str
        Names.
    low, high : ndarray of shape (n_features,)
        Ends of the training range.
    change : ndarray of shape (n_features,)
        By how much the effect differs between its highest and its lowest value within the training range.
    effect : tuple of str
        How f changes with the feature, in words and in the user's own units.
    terms : tuple of str
        Names of the terms that read this feature alone, separated by semicolons.
    not_shown : tuple of str
        Names of the terms that read several features.
    """

    feature: tuple[str, ...] = field(metadata=per_row())
    low: FloatArray = field(metadata=per_row(".6g", "from"))
    high: FloatArray = field(metadata=per_row(".6g", "to"))
    change: FloatArray = field(metadata=per_row(".3g", "f changes by"))
    effect: tuple[str, ...] = field(metadata=per_row("", "effect on f", text=True, sentence=True))
    terms: tuple[str, ...] = field(metadata=per_row(text=True, long=True))
    not_shown: tuple[str, ...]

    @property
    def notes(self) -> tuple[str, ...]:
        lines = ["all terms that read this feature alone, together, within its training range."]
        if self.not_shown:
            lines.append(f"not shown, because they read several features: {'; '.join(self.not_shown)}.")
        return tuple(lines)


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """The terms of a model that read one feature alone, as one function of this feature on the [0, 1] scale."""

    model: SparseModel
    feature: int
    places: tuple[int, ...]  # of the terms

    @property
    def name(self) -> str:
        """Name of the feature."""
        return self.model.feature_names[self.feature]

    def values(self, u: FloatArray) -> FloatArray:
        """What the terms add to f."""
        terms = [(self.model.coef[j], self.model.terms[j]) for j in self.places]
        return np.asarray(sum(coef * term.column({self.feature: u}, len(u)) for coef, term in terms))

    def knots(self) -> Knots:
        """Where the curve bends or jumps, within the range."""
        return self._places_of(levels=False)

    def levels(self) -> Knots:
        """Single values at which the curve differs from its surroundings."""
        return self._places_of(levels=True)

    def grid(self) -> FloatArray:
        """Places over the range that show every bend and both ends of every jump, without the single values."""
        knots, levels = np.array(list(self.knots())), np.array(list(self.levels()))
        beside = [np.nextafter(levels, -1.0), np.nextafter(levels, 2.0)]
        every = np.concatenate([np.linspace(0.0, 1.0, N_GRID + 1), knots, np.nextafter(knots, 2.0), *beside])
        return np.setdiff1d(every, levels)

    def change(self) -> float:
        """Highest less lowest value within the range."""
        return float(np.ptp(self.values(np.append(self.grid(), list(self.levels())))))

    def to_user(self, u: FloatArray | float) -> Any:
        """Places on the [0, 1] scale in the user's units."""
        return self.model.scaling.to_user(self.feature, u)

    def words(self, *, yes_or_no: bool = False) -> str:
        """How f changes with the feature."""
        if yes_or_no:
            return f"{_signed(float(np.diff(self.values(np.array([0.0, 1.0])))[0]))} from no to yes"
        degree = max(_degree(self.model.terms[j].expression) for j in self.places)
        words = self._bent() if degree <= 1 else ""
        return words or self._extremes()

    def _places_of(self, *, levels: bool) -> Knots:
        nodes = [node for j in self.places for node in nodes_of(self.model.terms[j].expression)]
        found = [pair for node in nodes if _is_level(node) is levels and (pair := _place(node))]
        inside = sorted(pair for pair in found if levels or 0.0 < pair[0] < 1.0)
        return {u: self.to_user(u) if shown is None else shown for u, shown in inside}

    def _bent(self) -> str:
        """A function that is straight between its knots; empty if its slopes cannot be written."""
        knots, size = self.knots(), float(np.abs(self.model.coef[list(self.places)]).sum())
        u = np.array([0.0, *knots, 1.0])
        width = np.diff(u)
        one, other = (self.values(u[:-1] + part * width) for part in (0.25, 0.75))
        rise = np.where(np.abs(other - one) <= NEXT_TO_NOTHING * size, 0.0, other - one)
        jump = (one - rise / 2)[1:] - (other + rise / 2)[:-1]
        jump = np.where(np.abs(jump) <= NEXT_TO_NOTHING * size, 0.0, jump)
        with np.errstate(over="ignore", under="ignore"):
            slope = rise / (width / 2) * self.model.scaling.slope(self.feature)
        if not np.isfinite(slope).all() or ((slope == 0) != (rise == 0)).any():
            return ""
        bends = (jump != 0) | (np.abs(np.diff(slope)) > 1e-9 * np.abs(slope).max())
        ends = [self._number(shown) for shown, here in zip(knots.values(), bends, strict=True) if here]
        words = _pieces(ends, slope[np.append(True, bends)].tolist(), jump[bends].tolist())
        return ", ".join(part for part in (words, self._single_values()) if part) or "flat"

    def _single_values(self) -> str:
        """``+0.8 at 3``: by how much the curve differs there from its surroundings."""
        levels = self.levels()
        u = np.array(list(levels))
        gap = self.values(u) - self.values(np.where(u > 0.0, np.nextafter(u, -1.0), np.nextafter(u, 2.0)))
        pairs = zip(gap.tolist(), levels.values(), strict=True)
        return ", ".join(f"{_signed(by)} at {self._number(shown)}" for by, shown in pairs)

    def _extremes(self) -> str:
        grid = np.append(self.grid(), list(self.levels()))
        values, error = self.values(grid), float(self.model.scaling.half_span[self.feature]) / 100
        lowest, highest = (
            written(rounded_number(float(self.to_user(grid[k])), error)) for k in (values.argmin(), values.argmax())
        )
        return f"lowest at {lowest}, highest at {highest}"

    def _number(self, shown: float) -> str:
        """A knot with six digits, or with all if they are needed to place it within the range."""
        short = six_digits(shown)
        is_near = abs(float(short) - shown) <= float(self.model.scaling.half_span[self.feature]) / 500
        return short if is_near else written(shown)


def curves_of(model: SparseModel) -> list[Curve]:
    """One curve for each feature that some term reads alone, the largest change of f first."""
    alone: dict[int, list[int]] = {}
    for j, term in enumerate(model.terms):
        if len(term.features) == 1:
            alone.setdefault(term.features[0], []).append(j)
    return sorted((Curve(model, p, tuple(places)) for p, places in alone.items()), key=lambda curve: -curve.change())


def feature_effects(source: Any, *, output: int = 0) -> FeatureEffects:
    """What each feature does to f: the sum of all terms that read it alone.

    Straight lines and hinges of a feature are one bent line, its steps one staircase. For other curves the table says
    where they are lowest and highest.

    Parameters
    ----------
    source : SparseModel, fitted RFSCClassifier, Predictor or fitted Pipeline
        The model, or what holds it.
    output : int, default=0
        Index of the model, for classifiers with several.

    Returns
    -------
    FeatureEffects
        With ``rows()``, ``text()`` and ``to_frame()``.
    """
    model = model_of(source, output)
    yes_or_no = yes_or_no_features(getattr(predictor_if_readable(source), "recipe_", None))
    curves, ranges = curves_of(model), training_ranges(model)
    low, high = np.array([ranges[curve.feature] for curve in curves]).reshape(-1, 2).T
    return FeatureEffects(
        feature=tuple(curve.name for curve in curves),
        low=low,
        high=high,
        change=np.array([curve.change() for curve in curves]),
        effect=tuple(curve.words(yes_or_no=curve.feature in yes_or_no) for curve in curves),
        terms=tuple("; ".join(model.names[j] for j in curve.places) for curve in curves),
        not_shown=tuple(name for name, term in zip(model.names, model.terms, strict=True) if len(term.features) > 1),
    )


def _place(node: Expression) -> tuple[float, float | None] | None:
    """Knot of a hinge or step, or value of a level, on the [0, 1] scale and as shown; None for others."""
    match node:
        case Condition(Scaled(), _, at, shown):
            return at, shown
        case Positive(part) if difference := as_difference(part):
            _, sign, number = difference
            return -sign * number.value, None if number.shown is None else -sign * number.shown
    return None


def _is_level(node: Expression) -> bool:
    return isinstance(node, Condition) and node.relation == "="


def _degree(node: Expression) -> float:
    """Of the polynomial that an expression is between its knots; infinite for other functions."""
    match node:
        case Number() | Condition(Scaled()):
            return 0
        case Scaled():
            return 1
        case Sum(parts):
            return max(map(_degree, parts))
        case Product(parts):
            return sum(map(_degree, parts))
        case Divided(part):
            return _degree(part)
        case Positive() if _place(node):
            return 1
    return math.inf


def _pieces(ends: list[str], slopes: list[float], jumps: list[float]) -> str:
    """``flat up to 30, then rises by 0.2 per unit``, or the heights of a staircase."""
    if not any(slopes):
        heights = [_signed(height) for height in np.cumsum(jumps).tolist()]
        if len(heights) <= 1:
            return f"{heights[0]} above {ends[0]}" if heights else ""
        steps = [f"{height} up to {end}" for height, end in zip(["0", *heights], ends, strict=False)]
        return ", ".join([*steps, f"then {heights[-1]}"])
    said = [_slope(slope) for slope in slopes]
    for i, jump in enumerate(jumps, start=1):
        said[i] = f"jumps by {_signed(jump)} and {said[i].replace('flat', 'is flat')}" if jump else said[i]
    return ", then ".join([*(f"{words} up to {end}" for words, end in zip(said, ends, strict=False)), said[-1]])


def _slope(slope: float) -> str:
    return f"{'rises' if slope > 0 else 'falls'} by {three_digits(abs(slope))} per unit" if slope else "flat"


def _signed(value: float) -> str:
    return f"{'-' if value < 0 else '+'}{three_digits(abs(value))}"
