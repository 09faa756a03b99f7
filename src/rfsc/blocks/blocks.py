"""All blocks of a table, and the two things that are done with them: sums over all rows, and a few rows fetched.

Sums are added in a tree that follows the numbers of the blocks. So no bit depends on how many workers there are, on who
held which block, or on whether one was lost and its blocks were made again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from .._utils.arrays import FloatArray, IntArray
from .errands import Here, Literal, OnCluster, has_cluster
from .row_block import Block, RowBlock, together


@dataclass(slots=True)
class Traffic:
    """What has gone between this process and the blocks.

    Parameters
    ----------
    passes : int
        How many times sums over all rows were asked for.
    tasks : int
        Messages to single blocks for that, and additions of what they sent.
    bytes_out : int
        Size of all that was asked; every worker gets it once.
    bytes_back : int
        Size of the sums that came back to this process.
    largest_answer : int or None
        Size of the largest sum of a block; None before the first.
    fetches : int
        How many times some rows were fetched.
    bytes_fetched : int
        Size of these rows.
    """

    passes: int = 0
    tasks: int = 0
    bytes_out: int = 0
    bytes_back: int = 0
    largest_answer: int | None = None
    fetches: int = 0
    bytes_fetched: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Blocks:
    """A table whose rows stay where they are.

    Parameters
    ----------
    parts : list of Delayed
        The blocks, on the workers of a cluster or here.
    counts : ndarray of int of shape (n_blocks, n_classes)
        Rows of each class in each block.
    class_weights : ndarray of shape (n_classes,)
        Observations of each class.
    n_threads : int
        Threads that work on blocks where there is no cluster.
    scratch : TemporaryDirectory or None
        Where blocks lie that memory cannot hold.
    traffic : Traffic
        Counted as it comes.
    places : dict of str to tuple
        Which worker of a cluster holds which block, and which of its threads works on it.
    """

    parts: list[Any]
    counts: IntArray
    class_weights: FloatArray
    n_threads: int = 1
    scratch: TemporaryDirectory[str] | None = None
    traffic: Traffic = field(default_factory=Traffic)
    places: dict[str, tuple[str, int]] = field(default_factory=dict)

    @property
    def n_rows(self) -> int:
        """How many rows all blocks have together."""
        return int(self.counts.sum())

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return int(self.counts.shape[1])

    @property
    def n_observations(self) -> float:
        """What the rows stand for together."""
        return float(self.class_weights.sum())

    def close(self) -> None:
        """Let go of all blocks."""
        self.parts.clear()
        if self.scratch is not None:
            self.scratch.cleanup()

    def share(self, thing: Any) -> Any:
        """Something that later requests need, sent once."""
        import dask

        return dask.persist(dask.delayed(Literal(thing))())[0]

    def total(
        self,
        function: Callable[[Block, Any, Any], Any],
        shared: Any,
        request: Any,
        add: Callable[[Sequence[Any]], Any],
    ) -> Any:
        """What a function finds in all rows."""
        errand = self._errand()
        found = errand.total(function, add, self.parts, shared, request)
        self.traffic.passes += 1
        self.traffic.tasks += errand.n_tasks
        self.traffic.bytes_out += _size(request)
        size = _size(found)
        self.traffic.bytes_back += errand.n_answers * size
        self.traffic.largest_answer = max(self.traffic.largest_answer or 0, size)
        return found

    def fetch(self, ranks: Sequence[IntArray]) -> RowBlock:
        """Some rows, in the order of the table."""
        ends = np.cumsum(self.counts, axis=0)
        begins = ends - self.counts
        wanted = [np.sort(own) for own in ranks]
        errand, tasks = self._errand(), []
        for number, part in enumerate(self.parts):
            own = [
                rows[slice(*np.searchsorted(rows, (begins[number, c], ends[number, c])))] - begins[number, c]
                for c, rows in enumerate(wanted)
            ]
            if any(rows.size for rows in own):
                tasks.append(errand.add(_Take(own), block=part))
        found = together(errand.results(tasks))
        self.traffic.fetches += 1
        self.traffic.bytes_fetched += _size(found)
        return found

    def _errand(self) -> Here | OnCluster:
        if not has_cluster():
            return Here(self.n_threads)
        return OnCluster(self.places, self.parts, self.traffic.largest_answer)


@dataclass(frozen=True, slots=True, eq=False)
class _Take:
    """Takes some rows out of a block."""

    ranks: Sequence[IntArray]

    def __call__(self, block: Block) -> RowBlock:
        return block.open().take(self.ranks)


def _size(thing: Any) -> int:
    """Bytes of the numbers in something that is sent; what a protocol adds is little beside them."""
    if isinstance(thing, np.ndarray):
        return thing.nbytes
    if is_dataclass(thing):
        return sum(_size(getattr(thing, one.name)) for one in fields(thing))
    if isinstance(thing, list | tuple):
        return sum(map(_size, thing))
    return 8
