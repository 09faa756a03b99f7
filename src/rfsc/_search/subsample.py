"""Part of the rows, drawn anew for every iteration, so that a search costs the same however long the table is.

All models of an iteration see the same rows, so a lucky draw lifts them all and leaves the importances alone. Scores
of different iterations do not compare; what a search returns is therefore decided on all rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from .._engines.base import Engine, Supports
from .._fit.shares import LEAST_OF_A_CLASS, shares
from .._utils.arrays import IntArray
from .history import Candidate

FINALISTS = 3  # models of a search that are worth a fit on all rows


@dataclass(frozen=True, slots=True, eq=False)
class Subsamples:
    """Random subsets of the rows in which every class has its share, each as an engine.

    Parameters
    ----------
    strata : tuple of ndarray of int
        The rows of each class.
    sizes : tuple of int
        How many of them to draw.
    engine_over : callable
        Makes an engine out of rows.
    """

    strata: tuple[Any, ...]
    sizes: tuple[int, ...]
    engine_over: Callable[[IntArray], Engine]

    @classmethod
    def of_size(cls, size: int | None, code: IntArray, engine_over: Callable[[IntArray], Engine]) -> Subsamples | None:
        """Subsamples of about `size` rows; None where that leaves none out."""
        if size is None or size >= code.size:
            return None
        strata = tuple(np.flatnonzero(code == c) for c in range(int(code.max()) + 1))
        sizes = tuple(shares(size, np.array([own.size for own in strata])))
        return cls(strata, sizes, engine_over) if sum(sizes) < code.size else None

    def rows(self, rng: np.random.Generator) -> IntArray:
        """Rows of one subsample, ascending."""
        drawn = [
            rng.choice(own, n, replace=False, shuffle=False) for own, n in zip(self.strata, self.sizes, strict=True)
        ]
        return np.sort(np.concatenate(drawn))

    def draw(self, rng: np.random.Generator) -> Engine:
        """An engine over a fresh subsample."""
        return self.engine_over(self.rows(rng))


@dataclass(frozen=True, slots=True, eq=False)
class RankSubsamples(Subsamples):
    """The same for rows that are elsewhere: a row is its place among all rows of its class.

    The random numbers, and so the rows, are the same.
    """

    @classmethod
    def of_counts(
        cls, size: int | None, counts: IntArray, engine_over: Callable[[Any], Engine]
    ) -> RankSubsamples | None:
        """Subsamples of about `size` rows; None where that leaves none out."""
        total = int(counts.sum())
        if size is None or size >= total:
            return None
        sizes = tuple(shares(size, counts))
        return cls(tuple(counts.tolist()), sizes, engine_over) if sum(sizes) < total else None

    def rows(self, rng: np.random.Generator) -> Any:
        """Places of the rows of one subsample, for each class."""
        pairs = zip(self.strata, self.sizes, strict=True)
        return tuple(rng.choice(own, n, replace=False, shuffle=False) for own, n in pairs)


def sample_size(max_samples: float | None, n_rows: int, n_classes: int) -> int | None:
    """Rows that `max_samples` stands for: an integer counts them, a float is their share, None means all.

    Never fewer than every class has to give.
    """
    if max_samples is None:
        return None
    size = int(max_samples) if isinstance(max_samples, Integral) else round(max_samples * n_rows)
    return max(size, LEAST_OF_A_CLASS * n_classes)


def best_on_all_rows(models: Sequence[Candidate], few_rows: Engine, all_rows: Engine) -> Candidate:
    """The best of models that were scored on different rows: those that lead on the same few rows, on all of them."""
    distinct = list({tuple(model.ids.tolist()): model.ids for model in models}.values())
    supports = Supports.from_lists(distinct)
    if len(distinct) > FINALISTS:
        result = few_rows.evaluate(supports)
        order = np.lexsort((result.supports.sizes, result.log_loss, -result.score))
        supports = supports.take(order[:FINALISTS])
    return Candidate.best_of(all_rows.evaluate(supports))
