"""Sines and cosines of low frequency over the training range of each feature.

The terms of a feature are cos 1, sin 1, cos 2, sin 2, ...: a feature seen at more than twice as many values as there
are frequencies offers all of them. At fewer values some waves are constant or repeat others (0 and 1 leave but one
column), so such a feature offers those that tell its values apart in different ways.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from .._utils.arrays import FloatArray, IntArray
from .base import DamagedTermError, Term, Training, Unrelated, check_count, checked_ids, first_named, mentioned
from .expression import Divided, Expression, Number, Product, Scaled, Wave, minus
from .knots import label, shifted, sorted_blocks, written
from .scaling import Scaling

WAVES = ("cos", "sin")
SAME = 1e-9  # 1 minus the correlation below which two columns count as one


@dataclass(frozen=True, slots=True)
class FourierTerm:
    """sin or cos of pi * frequency * (x - minimum) / range.

    Parameters
    ----------
    feature : int
        Index of the feature x.
    wave : {"sin", "cos"}
        Which of the two.
    frequency : int
        Half periods over the training range.
    half_minimum, half_span : float
        Half the minimum and half the range of the feature in the user's own units, as `Scaling` keeps them.
    scaled : bool, default=True
        Whether the rows that it is evaluated on are scaled already; otherwise it scales them.
    """

    feature: int
    wave: str
    frequency: int
    half_minimum: float
    half_span: float
    scaled: bool = True

    @property
    def features(self) -> tuple[int, ...]:
        """The one feature."""
        return (self.feature,)

    def name(self, feature_names: Sequence[str]) -> str:
        """The wave in the user's own units, such as ``sin(pi*2*(age-20)/60)``."""
        minimum, span = 2 * self.half_minimum, 2 * self.half_span
        # four digits, or as many as place the wave within a thousandth of the range
        rounded = (float(f"{minimum:.{digits}g}") for digits in range(4, 17))
        origin = next((number for number in rounded if abs(number - minimum) <= span / 1000), minimum)
        inside = shifted(label(feature_names[self.feature]), origin)
        inside = f"({inside})" if origin else inside
        times = "pi*" if self.frequency == 1 else f"pi*{self.frequency}*"
        width = written(float(f"{span:.4g}"))
        return f"{self.wave}({times}{inside})" if width == "1" else f"{self.wave}({times}{inside}/{width})"

    def column(self, rows: Mapping[int, FloatArray], n_samples: int) -> FloatArray:
        """Values of the wave."""
        out = np.empty(n_samples)
        x = rows[self.feature]
        _fill(out, x if self.scaled else (x / 2 - self.half_minimum) / self.half_span, self.wave, self.frequency)
        return out

    def expression(self) -> Expression:
        """The wave over the feature, scaled here where the rows are not."""
        x: Expression = Scaled(self.feature)
        if not self.scaled:
            x = Divided(minus(Divided(x, 2.0), self.half_minimum), self.half_span)
        return Wave(self.wave, Product((Number(math.pi * self.frequency), x)))

    def unscaled(self, scaling: Scaling) -> dict[Term, float]:  # noqa: ARG002  the term knows its own range
        """The wave that scales its rows itself, by the same operations, hence exactly the same numbers."""
        return {replace(self, scaled=False): 1.0}

    def bound(self, ranges: Mapping[int, tuple[float, float]]) -> float:  # noqa: ARG002  the same everywhere
        """A wave stays within 1."""
        return 1.0

    def as_dict(self) -> dict[str, Any]:
        """All fields by name."""
        fields = ("feature", "wave", "frequency", "half_minimum", "half_span", "scaled")
        return {"kind": "fourier", **{field: getattr(self, field) for field in fields}}

    @classmethod
    def from_dict(cls, d: Mapping[str, Any]) -> Self:
        """The term that `as_dict` described."""
        if d["wave"] not in WAVES or not d["frequency"] >= 1 or not d["half_span"] > 0:
            msg = "wave must be 'sin' or 'cos', frequency at least 1 and half_span positive"
            raise DamagedTermError(msg)
        half_minimum, half_span = float(d["half_minimum"]), float(d["half_span"])
        return cls(int(d["feature"]), str(d["wave"]), int(d["frequency"]), half_minimum, half_span, bool(d["scaled"]))


class FourierSpace(Unrelated):
    """Waves of some features; wave number 2 * frequency - 2 is a cosine, the next one the sine.

    Parameters
    ----------
    features : array of int
        Indices of the features, ascending.
    n_frequencies : int
        Largest frequency.
    some : mapping from position to tuple of int
        Wave numbers of the features, by position in `features`, that do not offer all of them.
    scaling : Scaling
        How the features were brought to [0, 1].
    """

    def __init__(
        self, features: IntArray, n_frequencies: int, some: Mapping[int, tuple[int, ...]], scaling: Scaling
    ) -> None:
        self.features, self.n_frequencies, self.some, self.scaling = features, n_frequencies, some, scaling
        counts = np.full(features.size, 2 * n_frequencies, dtype=np.int64)
        counts[list(some)] = [len(waves) for waves in some.values()]
        self._end = np.cumsum(counts)
        self.n_terms = int(counts.sum())

    def columns(self, table: FloatArray, ids: IntArray) -> FloatArray:
        """Values of the terms `ids`, one contiguous row for each."""
        out = np.empty((len(ids), table.shape[1]))
        for row, (feature, wave, frequency) in zip(out, self._parts(ids), strict=True):
            # row by row: over a whole matrix the sine might be computed by other instructions, and differ
            _fill(row, table[feature], wave, frequency)
        return out

    def terms(self, ids: IntArray) -> tuple[FourierTerm, ...]:
        """The waves behind `ids`."""
        low, span = self.scaling.half_minimum, self.scaling.half_span
        return tuple(FourierTerm(p, w, f, float(low[p]), float(span[p])) for p, w, f in self._parts(ids))

    def find(self, name: str, feature_names: Sequence[str]) -> int | None:
        """Id of the wave that is written so, None where there is none."""
        group = np.searchsorted(self._end, np.arange(self.n_terms), side="right")
        ids = np.flatnonzero(np.isin(self.features[group], mentioned(name, self.features, feature_names)))
        return first_named(self, name, feature_names, ids)

    def _parts(self, ids: IntArray) -> list[tuple[int, str, int]]:
        """Feature, wave and frequency of every id."""
        ids = checked_ids(ids, self.n_terms)
        group = np.searchsorted(self._end, ids, side="right").tolist()
        before_end = ids - self._end[group]  # negative: how far from the end of the feature's waves
        every = range(2 * self.n_frequencies)
        numbers = [self.some.get(g, every)[k] for g, k in zip(group, before_end.tolist(), strict=True)]
        return [(int(self.features[g]), WAVES[n % 2], n // 2 + 1) for g, n in zip(group, numbers, strict=True)]


@dataclass(frozen=True, slots=True)
class Fourier:
    """Sines and cosines over the training range.

    Parameters
    ----------
    n_frequencies : int, default=3
        Largest number of half periods over the range of a feature.
    """

    n_frequencies: int = 3

    def __post_init__(self) -> None:
        check_count("n_frequencies", self.n_frequencies)

    def space(self, training: Training, rng: np.random.Generator) -> FourierSpace:  # noqa: ARG002  no randomness
        """All waves of the features that vary, but for those that say nothing new on the training rows."""
        features, n_waves = [np.empty(0, np.int64)], 2 * int(self.n_frequencies)
        some: dict[int, tuple[int, ...]] = {}
        known: dict[bytes, tuple[int, ...]] = {}  # many features share their values: 0 and 1, or three genotypes
        n_before = 0
        for block, values, _ in sorted_blocks(training):
            starts = np.append(np.ones((block.size, 1), dtype=np.bool_), values[:, 1:] > values[:, :-1], axis=1)
            for g in np.flatnonzero(starts.sum(axis=1) <= n_waves).tolist():
                distinct = values[g, starts[g]]
                key = distinct.tobytes()
                if key not in known:
                    known[key] = _different_waves(distinct, n_waves)
                some[n_before + g] = known[key]
            features.append(block)
            n_before += block.size
        return FourierSpace(np.concatenate(features), n_waves // 2, some, training.scaling)


def _fill(out: FloatArray, x: FloatArray, wave: str, frequency: int) -> None:
    (np.sin if wave == "sin" else np.cos)(np.pi * frequency * x, out=out)


def _different_waves(x: FloatArray, n_waves: int) -> tuple[int, ...]:
    """Numbers of the waves that are not constant at these values nor, but for slope and offset, an earlier one."""
    kept: list[int] = []
    shapes: list[FloatArray] = []
    for number in range(n_waves):
        shape = np.empty(x.size)
        _fill(shape, x, WAVES[number % 2], number // 2 + 1)
        shape -= shape.mean()
        size = float(np.linalg.norm(shape))
        if size > SAME and all(abs(float(shape @ other)) < (1 - SAME) * size for other in shapes):
            kept.append(number)
            shapes.append(shape / size)
    return tuple(kept)
