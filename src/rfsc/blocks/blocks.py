"""All blocks of a table, and the two things that are done with them: sums over all rows, and a few rows fetched.

Sums are added in a tree that follows the numbers of the blocks. So no bit depends on how many workers there are, on who
held which block, or on whether one was lost and its blocks were made again.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from .._typing import FloatArray, IntArray
from .row_block import Block, RowBlock, together

FAN_IN = 8  # sums that are added in one place


@dataclass(slots=True)
class Traffic:
    """What has gone between this process and the blocks.

    Parameters
    ----------
    passes : int
        How many times something was asked of the blocks, and answered.
    tasks : int
        Messages to single blocks, and additions of what they sent.
    bytes_out : int
        Size of all that was asked; every worker gets it once.
    bytes_back : int
        Size of all that came back to this process.
    """

    passes: int = 0
    tasks: int = 0
    bytes_out: int = 0
    bytes_back: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Blocks:
    """A table whose rows stay where they are.

    Parameters
    ----------
    parts : sequence of Delayed
        The blocks, on the workers of a cluster or here.
    counts : ndarray of int of shape (n_blocks, n_classes)
        Rows of each class in each block.
    class_weights : ndarray of shape (n_classes,)
        Observations of each class.
    n_threads : int
        Threads that work on blocks where there is no cluster.
    scratch : TemporaryDirectory or None
        Where blocks lie that memory cannot hold; it goes with this object.
    traffic : Traffic
        Counted as it comes.
    """

    parts: Sequence[Any]
    counts: IntArray
    class_weights: FloatArray
    n_threads: int = 1
    scratch: TemporaryDirectory[str] | None = None
    traffic: Traffic = field(default_factory=Traffic)

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

    def share(self, thing: Any) -> Any:
        """Something that later requests need, sent once."""
        import dask

        return dask.persist(dask.delayed(thing, traverse=False))[0]

    def total(
        self,
        function: Callable[[Block, Any, Any], Any],
        shared: Any,
        request: Any,
        add: Callable[[Sequence[Any]], Any],
    ) -> Any:
        """What a function finds in all rows.

        Parameters
        ----------
        function : callable
            From a block, what was shared, and the request to something small.
        shared : object
            From `share`.
        request : object
            What to look for.
        add : callable
            Several results as one.
        """
        import dask

        asked = dask.delayed(request, traverse=False)
        work = dask.delayed(function, pure=False)
        results = [work(part, shared, asked) for part in self.parts]
        n_tasks = len(results)
        adding = dask.delayed(add, pure=False)
        while len(results) > 1:
            results = [adding(results[i : i + FAN_IN]) for i in range(0, len(results), FAN_IN)]
            n_tasks += len(results)
        found = self._compute(results)[0]
        self._count(n_tasks, request, found)
        return found

    def fetch(self, ranks: Sequence[IntArray]) -> RowBlock:
        """Some rows, in the order of the table.

        Parameters
        ----------
        ranks : sequence of ndarray of int
            For every class the places of the wanted rows among all rows of that class.
        """
        import dask

        ends = np.cumsum(self.counts, axis=0)
        begins = ends - self.counts
        wanted = [np.sort(own) for own in ranks]
        tasks = []
        work = dask.delayed(_take, pure=False)
        for number, part in enumerate(self.parts):
            own = [
                rows[slice(*np.searchsorted(rows, (begins[number, c], ends[number, c])))] - begins[number, c]
                for c, rows in enumerate(wanted)
            ]
            if any(rows.size for rows in own):
                tasks.append(work(part, dask.delayed(own, traverse=False)))
        found = together(self._compute(tasks))
        self._count(len(tasks), ranks, found)
        return found

    def _compute(self, tasks: Sequence[Any]) -> tuple[Any, ...]:
        """The results; on a cluster where there is one, else by threads of this process."""
        import dask

        own = {} if has_cluster() else {"num_workers": self.n_threads}
        return tuple(dask.compute(*tasks, **own))

    def _count(self, tasks: int, request: Any, found: Any) -> None:
        self.traffic.passes += 1
        self.traffic.tasks += tasks
        self.traffic.bytes_out += _size(request)
        self.traffic.bytes_back += _size(found)


def has_cluster() -> bool:
    """Whether dask sends work to a cluster."""
    import dask

    return dask.config.get("scheduler", None) in ("dask.distributed", "distributed")


def _take(block: Block, ranks: Sequence[IntArray]) -> RowBlock:
    return block.open().take(ranks)


def _size(thing: Any) -> int:
    """Bytes that it takes to send something."""
    return len(pickle.dumps(thing, protocol=5))
