"""The training rows as every output sees them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._terms.scaling import Scaling
from .._utils.arrays import FloatArray, IntArray
from .targets import Targets


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Rows:
    """Scaled features, outputs and weights of the training rows."""

    targets: Targets
    scaling: Scaling
    table: FloatArray  # (n_features, n_rows), scaled
    weight: FloatArray  # (n_rows,), observations that each row stands for, positive

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return self.weight.size

    @property
    def n_observations(self) -> float:
        """What they stand for together."""
        return float(self.weight.sum())

    def take(self, which: IntArray) -> Rows:
        """Some of the rows; classes and scaling stay those of all."""
        targets = self.targets
        some = Targets(targets.classes, targets.code[which], tuple(output[which] for output in targets.outputs))
        return Rows(some, self.scaling, np.take(self.table, which, axis=1), self.weight[which])
