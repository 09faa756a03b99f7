"""One output of a problem whose rows are held in blocks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from .._terms import TermSpace
from .._utils.arrays import FloatArray
from ..blocks import Blocks
from .base import FitOptions
from .problem import Problem


@dataclass(frozen=True, slots=True)
class BlockProblem:
    """One output, ready for `DaskEngine`.

    Parameters
    ----------
    in_hand : Problem
        The same over the rows that this process holds: a sample, or all.
    blocks : Blocks
        All rows.
    output : int
        Which output.
    """

    in_hand: Problem
    blocks: Blocks
    output: int

    @property
    def space(self) -> TermSpace:
        """The candidate terms."""
        return self.in_hand.space

    @property
    def options(self) -> FitOptions:
        """How to fit, test and score."""
        return self.in_hand.options

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return self.blocks.n_rows

    def with_options(self, options: FitOptions) -> BlockProblem:
        """The same problem, fitted, tested or scored in another way."""
        return replace(self, in_hand=self.in_hand.with_options(options))

    def take(self, ranks: Any) -> Problem:
        """Some of the rows, for a few supports."""
        rows = self.blocks.fetch(ranks)
        target = rows.target(self.output, self.blocks.n_classes)
        return replace(self.in_hand, table=rows.table, target=target, weight=rows.weight, few_supports=True)

    def t_quantiles(self) -> FloatArray:
        """Threshold on abs(t) by size of the support."""
        return self.options.t_quantiles(self.blocks.n_observations, self.in_hand.max_terms)
