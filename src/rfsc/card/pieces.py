"""A formula as a sum of pieces that can be read off by hand: one for each feature, and one for each rule.

No postponed annotations: files are read by the types of these classes.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from .._model import Predictor, SparseModel
from .._model.access import as_predictor, one_model, yes_or_no_features
from .._terms import Term
from .._terms.expression import Scaled, conditions_of
from .._terms.naming import written
from .._terms.steps import readable
from .._utils.arrays import BoolArray, FloatArray
from ..explain.effects import Curve, curves_of

TAIL = 0.01  # of the distinct values of a feature at either end, beyond which its points no longer change
MOST_VALUES = 10  # of a feature whose points are found at these values alone
REACH = 0.1  # of the narrower of two ranges, by which the cut between them may move to a number with fewer digits
HALF = 0.5  # between no and yes


@dataclass(frozen=True, slots=True)
class Bound:
    """low < x <= high for one feature, in the user's units; None: no limit."""

    feature: int
    low: float | None
    high: float | None

    def holds(self, x: FloatArray) -> BoolArray:
        """For which values it is true."""
        above, below = -math.inf if self.low is None else self.low, math.inf if self.high is None else self.high
        return np.asarray((x > above) & (x <= below))

    def words(self) -> str:
        """``up to 4``, ``4 to 6`` or ``above 6``; ``3`` for a single value, and ``below 3`` next to it."""
        if self.high is None:
            return "any" if self.low is None else f"above {written(self.low)}"
        if self.low == np.nextafter(self.high, -math.inf):
            return written(self.high)
        short = float(f"{self.high:.15g}")  # the number below a single value has more digits
        end = written(self.high) if short == self.high else f"below {written(short)}"
        if self.low is None:
            return f"up to {end}" if short == self.high else end
        return f"{written(self.low)} to {end}"


class Row(NamedTuple):
    """One row of a card: points for the rows of a table of which all bounds hold."""

    feature: str
    condition: str
    points: int
    bounds: tuple[Bound, ...]


@dataclass(frozen=True, slots=True, eq=False)
class YesNo:
    """A condition, which adds a number to f if it holds."""

    name: str
    weight: float
    bounds: tuple[Bound, ...]
    lowest: ClassVar[float] = 0.0  # what it adds for zero points

    @property
    def span(self) -> float:
        """By how much it changes f."""
        return abs(self.weight)

    def rows(self, scale: float) -> list[Row]:
        """Its row, unless that rounds to nothing."""
        points = round(scale * self.weight)
        return [Row(self.name, "yes", points, self.bounds)] if points else []


@dataclass(frozen=True, slots=True, eq=False)
class Ranges:
    """A function of one feature; it begins at zero points."""

    curve: Curve
    u: FloatArray  # places on the [0, 1] scale, ascending, with every bend and both ends of every jump
    f: FloatArray  # what the curve adds there
    has_few_values: bool = False  # whether the places are all values that the feature has

    @property
    def name(self) -> str:
        """Name of the feature."""
        return self.curve.name

    @property
    def lowest(self) -> float:
        """What it adds for zero points."""
        return float(self.f.min())

    @property
    def span(self) -> float:
        """By how much it changes f."""
        return float(np.ptp(self.f))

    def rows(self, scale: float) -> list[Row]:
        """Ranges with the same points after rounding; of two ranges, the one that has points."""
        points = np.rint(scale * (self.f - self.lowest)).astype(int)
        last = np.flatnonzero(np.diff(points))  # of every range but the highest
        cuts = self._cuts(last)
        bounds = [Bound(self.curve.feature, *pair) for pair in zip([None, *cuts], [*cuts, None], strict=True)]
        found = [
            Row(self.name, bound.words(), int(points[k]), (bound,))
            for bound, k in zip(bounds, [*last, len(points) - 1], strict=True)
        ]
        return [row for row in found if row.points] if len(found) == 2 else found * (len(found) > 1)

    def _cuts(self, last: Sequence[int] | np.ndarray) -> list[float]:
        """Ends of ranges: jumps where they are, others moved to numbers with few digits."""
        curve, at = self.curve, self.u[last]
        user = np.asarray(curve.to_user(at), dtype=np.float64)
        edges = np.asarray(curve.to_user(np.concatenate([self.u[:1], at, self.u[-1:]])), dtype=np.float64)
        width = np.diff(edges)
        width[[0, -1]] = np.inf if len(last) > 1 else width.min()  # the outer ranges have no end
        room = REACH * np.minimum(width[:-1], width[1:])
        # no row with one of few values may change its range
        short = readable(user, user if self.has_few_values else user - room, user + room)
        single, knots = curve.levels(), curve.knots()
        for k, u in enumerate(at.tolist()):
            above = float(np.nextafter(u, 2.0))
            if u in single or above in single:
                value = float(single[u] if u in single else single[above])
                short[k] = value if u in single else np.nextafter(value, -math.inf)
            elif u in knots and self.u[last[k] + 1] == above:
                short[k] = knots[u]
        return [float(cut) for cut in short]


Piece = YesNo | Ranges


@dataclass(frozen=True, slots=True, eq=False)
class Pieces:
    """f = intercept + the sum of the pieces."""

    predictor: Predictor
    model: SparseModel
    intercept: float
    pieces: tuple[Piece, ...]  # the largest change of f first

    @property
    def largest(self) -> float:
        """The largest change of f by one piece."""
        return self.pieces[0].span

    @property
    def lowest(self) -> float:
        """f for zero points."""
        return self.intercept + sum(piece.lowest for piece in self.pieces)


def pieces_of(source: object, label: object = None, values: FloatArray | None = None) -> Pieces:
    """The pieces of a formula; `values` are the features of the training rows, whose tails no longer add points."""
    predictor = as_predictor(source)
    model = one_model(predictor, label)
    yes_or_no = yes_or_no_features(predictor.recipe_)
    intercept = float(sum(c for c, term in zip(model.coef, model.terms, strict=True) if not term.features))
    found: list[Piece] = []
    for coef, term in zip(model.coef.tolist(), model.terms, strict=True):
        if len(term.features) > 1:
            found.append(YesNo(term.name(model.feature_names), coef, _bounds(term, model, yes_or_no)))
    for curve in curves_of(model):
        if curve.feature in yes_or_no:
            no, yes = curve.values(np.array([0.0, 1.0])).tolist()
            intercept += no
            found.append(YesNo(curve.name, yes - no, (Bound(curve.feature, HALF, None),)))
        else:
            found.append(_ranges(curve, None if values is None else values[:, curve.feature]))
    found = sorted((piece for piece in found if piece.span > 0.0), key=lambda piece: -piece.span)
    if not found:
        msg = "the formula has no term besides its intercept, so there is nothing to give points for."
        raise ValueError(msg)
    return Pieces(predictor, model, intercept, tuple(found))


def _bounds(term: Term, model: SparseModel, yes_or_no: frozenset[int]) -> tuple[Bound, ...]:
    """What must hold for a rule; an error for products of numbers."""
    if term.factors is not None and yes_or_no.issuperset(term.factors):
        return tuple(Bound(p, HALF, None) for p in term.features)
    found = []
    for condition in conditions_of(term.expression):
        if not isinstance(condition.part, Scaled):
            break
        p = condition.part.feature
        at = condition.shown if condition.shown is not None else float(model.scaling.to_user(p, condition.at))
        ends = {">": (at, None), "<=": (None, at), "=": (float(np.nextafter(at, -math.inf)), at)}
        found.append(Bound(p, *ends[condition.relation]))
    else:
        if found:
            return tuple(found)
    msg = (
        f"the formula holds the product {term.name(model.feature_names)}, which cannot be read off one feature at a "
        'time. Fit with hinges, steps or rules, for instance with basis="hinge" (on the command line --basis hinge).'
    )
    raise ValueError(msg)


def _ranges(curve: Curve, values: FloatArray | None) -> Ranges:
    """A curve over the range of its feature, without the tails of the training rows."""
    u = np.union1d(curve.grid(), list(curve.levels()))
    if values is not None:
        distinct = np.unique(values)
        if distinct.size <= MOST_VALUES:
            u = curve.model.scaling.to_scaled(np.full(distinct.size, curve.feature), distinct)
            return Ranges(curve, u, curve.values(u), has_few_values=True)
        ends = [np.quantile(distinct, TAIL, method="lower"), np.quantile(distinct, 1.0 - TAIL, method="higher")]
        low, high = curve.model.scaling.to_scaled(np.array([curve.feature] * 2), np.array(ends))
        u = u[(u >= low) & (u <= high)] if high > low else u
    return Ranges(curve, u, curve.values(u))
