"""How a pass over the blocks is run: by threads of this process, or by the workers of a cluster that hold them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import uuid4


def has_cluster() -> bool:
    """Whether dask sends work to a cluster."""
    import dask

    return dask.config.get("scheduler", None) in ("dask.distributed", "distributed")


@dataclass(frozen=True, slots=True, eq=False)
class Literal:
    """Gives a thing that dask is not to look into."""

    thing: Any

    def __call__(self) -> Any:
        return self.thing


class Here:
    """Tasks for dask's own threads, in its plain form: its wrappers take longer to make a task than to run it.

    Parameters
    ----------
    n_threads : int
        How many.
    """

    def __init__(self, n_threads: int) -> None:
        self._tasks: dict[str, Any] = {}
        self._name, self._n_threads, self.n_tasks = uuid4().hex, n_threads, 0

    def add(self, function: Callable[..., Any], *arguments: Any, block: Any = None) -> str:
        """A task, for a block first of all; what `add` has given stands for its result."""
        self.n_tasks += 1
        given = []
        for one in (*([] if block is None else [block]), *arguments):
            if hasattr(one, "dask"):  # held already
                self._tasks.update(one.dask)
            given.append(one.key if hasattr(one, "dask") else one)
        key = f"rfsc-{self._name}-{self.n_tasks}"
        self._tasks[key] = (function, *given)
        return key

    def results(self, keys: Sequence[str]) -> tuple[Any, ...]:
        """Run all tasks."""
        import dask
        from dask.delayed import Delayed

        wanted = (Delayed(key, self._tasks) for key in keys)
        return tuple(dask.compute(*wanted, optimize_graph=False, num_workers=self._n_threads))


class OnCluster:
    """Tasks for a cluster, each sent to the worker that holds its block.

    Left to itself, dask would now and then give a task to an idle worker and copy the block there, where it stays; in
    the end every worker would hold the table. Where a worker is lost, any other may take its place.

    Parameters
    ----------
    places : dict of str to str
        Where the blocks are; filled when it is empty.
    blocks : sequence of Delayed
        All blocks.
    """

    def __init__(self, places: dict[str, str], blocks: Sequence[Any]) -> None:
        from distributed import futures_of, get_client, wait

        self._client, self._places, self.n_tasks = get_client(), places, 0
        if not places:
            futures = futures_of(list(blocks))
            wait(futures)
            places.update({key: min(found) for key, found in self._client.who_has(futures).items() if found})

    def add(self, function: Callable[..., Any], *arguments: Any, block: Any = None) -> Any:
        """A task, for a block first of all; what `add` has given stands for its result."""
        from distributed import futures_of

        self.n_tasks += 1
        given = [futures_of(one)[0] if hasattr(one, "dask") else one for one in arguments]
        if block is None:
            return self._client.submit(function, *given, pure=False)
        place = self._places.get(block.key)
        near = {} if place is None else {"workers": [place], "allow_other_workers": True}
        return self._client.submit(function, futures_of(block)[0], *given, pure=False, **near)

    def results(self, futures: Sequence[Any]) -> tuple[Any, ...]:
        """What has become of some tasks."""
        return tuple(self._client.gather(list(futures)))
