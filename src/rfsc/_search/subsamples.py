"""Part of the rows, drawn again for every iteration, so that a search costs the same however long the table is.

All models of an iteration see the same rows, so a lucky draw raises all their scores and leaves the importances alone.
Scores of different iterations do not compare; what a search returns is therefore decided on all rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from .._engines.base import Engine, Supports
from .._utils.arrays import IntArray
from .history import Candidate

N_FINALISTS = 3  # models of a search that are worth a fit on all rows
LEAST_OF_A_CLASS = 20  # rows, if a class has as many: a rare class must be seen in every sample


@dataclass(frozen=True, slots=True, eq=False)
class Subsamples:
    """Random subsets of the rows in which every class has its share, each as an engine."""

    strata: tuple[IntArray, ...]  # the rows of each class
    sizes: tuple[int, ...]  # how many of them to draw
    engine_over: Callable[[IntArray], Engine]

    @classmethod
    def of_size(cls, size: int | None, code: IntArray, engine_over: Callable[[IntArray], Engine]) -> Subsamples | None:
        """Subsamples of about `size` rows of the classes `code`; None if that is all rows."""
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


def shares(size: int, counts: IntArray) -> list[int]:
    """Rows of each class in a sample of about `size` rows: its share, but at least `LEAST_OF_A_CLASS`."""
    total = int(counts.sum())
    return [min(int(n), max(round(size * int(n) / total), LEAST_OF_A_CLASS)) for n in counts]


def best_on_all_rows(models: Sequence[Candidate], few_rows: Engine, all_rows: Engine) -> Candidate:
    """The best of models that were scored on different rows: the leaders on the same few rows, compared on all."""
    distinct = list({tuple(model.ids.tolist()): model.ids for model in models}.values())
    supports = Supports.from_lists(distinct)
    if len(distinct) > N_FINALISTS:
        result = few_rows.evaluate(supports)
        order = np.lexsort((result.supports.sizes, result.log_loss, -result.score))
        supports = supports.take(order[:N_FINALISTS])
    return Candidate.best_of(all_rows.evaluate(supports))
