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
from uuid import uuid4

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
        How many times sums over all rows were asked for.
    tasks : int
        Messages to single blocks for that, and additions of what they sent.
    bytes_out : int
        Size of all that was asked; every worker gets it once.
    bytes_back : int
        Size of the sums that came back to this process.
    fetches : int
        How many times some rows were fetched.
    bytes_fetched : int
        Size of these rows.
    """

    passes: int = 0
    tasks: int = 0
    bytes_out: int = 0
    bytes_back: int = 0
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
    """

    parts: list[Any]
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

    def close(self) -> None:
        """Let go of all blocks."""
        self.parts.clear()
        if self.scratch is not None:
            self.scratch.cleanup()

    def share(self, thing: Any) -> Any:
        """Something that later requests need, sent once."""
        import dask

        return dask.persist(dask.delayed(_Literal(thing))())[0]

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
        graph = _Graph([*self.parts, shared])
        asked = graph.add(_Literal(request))
        results = [graph.add(function, part.key, shared.key, asked) for part in self.parts]
        while len(results) > 1:
            results = [graph.add(add, results[i : i + FAN_IN]) for i in range(0, len(results), FAN_IN)]
        found = self._compute(graph, results)[0]
        self.traffic.passes += 1
        self.traffic.tasks += graph.n_new
        self.traffic.bytes_out += _size(request)
        self.traffic.bytes_back += _size(found)
        return found

    def fetch(self, ranks: Sequence[IntArray]) -> RowBlock:
        """Some rows, in the order of the table.

        Parameters
        ----------
        ranks : sequence of ndarray of int
            For every class the places of the wanted rows among all rows of that class.
        """
        ends = np.cumsum(self.counts, axis=0)
        begins = ends - self.counts
        wanted = [np.sort(own) for own in ranks]
        graph, tasks = _Graph(self.parts), []
        for number, part in enumerate(self.parts):
            own = [
                rows[slice(*np.searchsorted(rows, (begins[number, c], ends[number, c])))] - begins[number, c]
                for c, rows in enumerate(wanted)
            ]
            if any(rows.size for rows in own):
                tasks.append(graph.add(_Take(own), part.key))
        found = together(self._compute(graph, tasks))
        self.traffic.fetches += 1
        self.traffic.bytes_fetched += _size(found)
        return found

    def _compute(self, graph: _Graph, keys: Sequence[str]) -> tuple[Any, ...]:
        """The results; on a cluster where there is one, else by threads of this process."""
        import dask
        from dask.delayed import Delayed

        own = {} if has_cluster() else {"num_workers": self.n_threads}
        return tuple(dask.compute(*(Delayed(key, graph.tasks) for key in keys), optimize_graph=False, **own))


def has_cluster() -> bool:
    """Whether dask sends work to a cluster."""
    import dask

    return dask.config.get("scheduler", None) in ("dask.distributed", "distributed")


class _Graph:
    """Tasks in dask's own form: a pass makes many, and its wrappers take longer to make one than to run it."""

    def __init__(self, held: Sequence[Any]) -> None:
        self.tasks: dict[str, Any] = {}
        for one in held:
            self.tasks.update(one.dask)
        self._name, self.n_new = uuid4().hex, 0

    def add(self, function: Callable[..., Any], *arguments: Any) -> str:
        """A task; names of others among its arguments stand for their results."""
        self.n_new += 1
        key = f"rfsc-{self._name}-{self.n_new}"
        self.tasks[key] = (function, *arguments)
        return key


@dataclass(frozen=True, slots=True, eq=False)
class _Literal:
    """Gives a thing that dask is not to look into."""

    thing: Any

    def __call__(self) -> Any:
        return self.thing


@dataclass(frozen=True, slots=True, eq=False)
class _Take:
    """Takes some rows out of a block."""

    ranks: Sequence[IntArray]

    def __call__(self, block: Block) -> RowBlock:
        return block.open().take(self.ranks)


def _size(thing: Any) -> int:
    """Bytes that it takes to send something."""
    return len(pickle.dumps(thing, protocol=5))
