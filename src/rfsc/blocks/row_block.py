"""A block of rows as a worker holds it: in its memory, or in a file that is mapped while it is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.lib.format import open_memmap

from .._utils.arrays import FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class RowBlock:
    """Some of the training rows, scaled and encoded.

    Parameters
    ----------
    table : ndarray of shape (n_features, n_rows)
        Scaled features, one row each.
    code : ndarray of int of shape (n_rows,)
        Class of every row.
    weight : ndarray of shape (n_rows,)
        Observations that each row stands for, positive.
    """

    table: FloatArray
    code: IntArray
    weight: FloatArray

    def __sizeof__(self) -> int:
        """Bytes, by which dask tells a large thing from a small one."""
        return int(self.table.nbytes + self.code.nbytes + self.weight.nbytes)

    def open(self) -> RowBlock:
        """The rows themselves."""
        return self

    def target(self, output: int, n_classes: int) -> FloatArray:
        """-1 or +1 for one output; with two classes +1 stands for the second."""
        return np.where(self.code == (1 if n_classes == 2 else output), 1.0, -1.0)

    def take(self, ranks: Sequence[IntArray]) -> RowBlock:
        """The rows with these ranks among the rows of each class, in the order in which they stand here."""
        picked = [np.flatnonzero(self.code == c)[own] for c, own in enumerate(ranks) if own.size]
        rows = np.sort(np.concatenate([np.empty(0, np.int64), *picked]))
        return RowBlock(np.take(self.table, rows, axis=1), self.code[rows], self.weight[rows])


@dataclass(frozen=True, slots=True)
class StoredBlock:
    """A block in a folder, for tables that memory cannot hold."""

    folder: str
    number: int

    @classmethod
    def write(cls, folder: str, number: int, block: RowBlock) -> StoredBlock:
        """Put a block there."""
        try:
            for name in ("table", "code", "weight"):
                np.save(Path(folder) / f"{number}_{name}.npy", getattr(block, name))
        except OSError as error:
            msg = (
                f"the scaled table does not fit into the temporary folder {Path(folder).parent} ({error}). Make room "
                "there, or name another folder with TMPDIR."
            )
            raise OSError(msg) from None
        return cls(folder, number)

    def open(self) -> RowBlock:
        """The rows, mapped: what is not looked at is not read, and nothing stays in memory when they are done with."""
        path = Path(self.folder)
        parts = (open_memmap(path / f"{self.number}_{name}.npy", mode="r") for name in ("table", "code", "weight"))
        return RowBlock(*parts)


Block = RowBlock | StoredBlock


def together(blocks: Sequence[RowBlock]) -> RowBlock:
    """Several blocks as one, in their order."""
    tables, codes, weights = zip(*((block.table, block.code, block.weight) for block in blocks), strict=True)
    return RowBlock(
        np.ascontiguousarray(np.concatenate(tables, axis=1)), np.concatenate(codes), np.concatenate(weights)
    )
