"""Sines and cosines of low frequency over the training range of each feature.

The terms of a feature are cos 1, sin 1, cos 2, sin 2, ...: a feature seen at more than twice as many values as there
are frequencies offers all of them. At fewer values some waves are constant or repeat others (0 and 1 leave but one
column), so such a feature offers only those that are different from each other on its values.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from .._utils.arrays import FloatArray, IntArray
from .._utils.validation import check_count
from .expression import Number, Product, Scaled, Wave, evaluate
from .scaling import Scaling
from .space import TermSpace, Training
from .steps import sorted_blocks
from .term import Term

WAVES = ("cos", "sin")
SAME = 1e-9  # 1 minus the correlation below which two columns count as one


def wave(kind: str, frequency: int, x: Scaled) -> Wave:
    """sin or cos of pi * frequency * x, that is `frequency` half periods over the training range."""
    return Wave(kind, Product((Number(math.pi * frequency), x)))


class FourierSpace(TermSpace):
    """Waves of some features; wave number 2 * frequency - 2 is a cosine, the next one the sine.

    `some` holds the wave numbers of the features, by position in `features`, that do not offer all of them.
    """

    def __init__(
        self, features: IntArray, n_frequencies: int, some: Mapping[int, tuple[int, ...]], scaling: Scaling
    ) -> None:
        self.features, self.n_frequencies, self.some, self.scaling = features, n_frequencies, some, scaling
        counts = np.full(features.size, 2 * n_frequencies, dtype=np.int64)
        counts[list(some)] = [len(waves) for waves in some.values()]
        self._end, self._counts = np.cumsum(counts), counts
        self.n_terms = int(counts.sum())

    def term(self, j: int) -> Term:
        group = int(np.searchsorted(self._end, j, side="right"))
        p, before_end = int(self.features[group]), j - int(self._end[group])  # negative: how far from its last wave
        number = self.some.get(group, range(2 * self.n_frequencies))[before_end]
        x = Scaled(p, (float(self.scaling.half_minimum[p]), float(self.scaling.half_span[p])))
        return Term(wave(WAVES[number % 2], number // 2 + 1, x))

    @property
    def singles(self) -> tuple[IntArray, IntArray]:
        return np.arange(self.n_terms), np.repeat(self.features, self._counts)


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


def _different_waves(x: FloatArray, n_waves: int) -> tuple[int, ...]:
    """Numbers of the waves that are not constant at these values nor, but for slope and offset, an earlier one."""
    kept: list[int] = []
    shapes: list[FloatArray] = []
    for number in range(n_waves):
        shape = evaluate(wave(WAVES[number % 2], number // 2 + 1, Scaled(0)), {0: x})
        shape -= shape.mean()
        size = float(np.linalg.norm(shape))
        if size > SAME and all(abs(float(shape @ other)) < (1 - SAME) * size for other in shapes):
            kept.append(number)
            shapes.append(shape / size)
    return tuple(kept)
