"""How many rows of each class a sample takes."""

from __future__ import annotations

from .._utils.arrays import IntArray

LEAST_OF_A_CLASS = 20  # rows, where a class has as many: a rare class must be seen in every sample


def shares(size: int, counts: IntArray) -> list[int]:
    """Rows of each class in a sample of about `size` rows: its share, but never next to none."""
    total = int(counts.sum())
    return [min(int(n), max(round(size * int(n) / total), LEAST_OF_A_CLASS)) for n in counts]
