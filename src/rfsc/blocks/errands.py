"""How a pass over the blocks is run: by threads of this process, or by the workers of a cluster that hold them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from typing import Any
from uuid import uuid4

Work = Callable[[Any, Any, Any], Any]  # on a block, what was shared, and the request
Add = Callable[[Sequence[Any]], Any]
FAN_IN = 8  # sums that are added in one place
FEW = 64  # blocks; the answers of no more can all come here to be added, ...
MOST_BYTES = 2**26  # ... and those of more, where they are not larger than this together


def has_cluster() -> bool:
    """Whether dask sends work to a cluster."""
    import dask

    return dask.config.get("scheduler", None) in ("dask.distributed", "distributed")


def on_workers(X: Any) -> bool:
    """Whether workers of a cluster hold the rows of a dask table already."""
    if not has_cluster():
        return False
    from distributed import futures_of

    return bool(futures_of(X))


def held(tasks: Sequence[Any], n_threads: int, *, placed: bool) -> list[Any]:
    """Run the tasks that make blocks, whose results stay where they are.

    On a cluster all workers get the same number for each of their threads, for in every pass the last one is waited
    for; dask itself hands tasks to whoever is free, and one of two workers may end up with two thirds.
    """
    import dask

    if not has_cluster():
        return list(dask.persist(*tasks, num_workers=n_threads))
    from distributed import get_client

    client = get_client()
    threads = sorted(address for address, n in client.nthreads().items() for _ in range(n))
    if placed or not threads:
        return list(dask.persist(*tasks))
    blocks: list[Any] = []
    for worker, numbers in groupby(range(len(tasks)), lambda i: threads[i * len(threads) // len(tasks)]):
        own = [tasks[i] for i in numbers]
        blocks += client.persist(own, workers=[worker], allow_other_workers=True)
    return blocks


@dataclass(frozen=True, slots=True, eq=False)
class Literal:
    """Gives a thing that dask is not to look into."""

    thing: Any

    def __call__(self) -> Any:
        return self.thing


@dataclass(frozen=True, slots=True, eq=False)
class _Each:
    """What a function finds in each of several blocks."""

    function: Work

    def __call__(self, blocks: Sequence[Any], shared: Any, request: Literal) -> list[Any]:
        return [self.function(block, shared, request.thing) for block in blocks]


def in_tree(found: Sequence[Any], add: Add) -> Any:
    """A sum over all blocks, always by the same tree, wherever it is added up: so it has the same bits."""
    while len(found) > 1:
        found = [add(found[i : i + FAN_IN]) for i in range(0, len(found), FAN_IN)]
    return found[0]


class Here:
    """Tasks for dask's own threads, in its plain form: its wrappers take longer to make a task than to run it.

    Parameters
    ----------
    n_threads : int
        How many.
    """

    def __init__(self, n_threads: int) -> None:
        self._tasks: dict[str, Any] = {}
        self._name, self._n_threads = uuid4().hex, n_threads
        self.n_tasks, self.n_answers = 0, 1

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

    def total(self, function: Work, add: Add, blocks: Sequence[Any], shared: Any, request: Any) -> Any:
        """What a function finds in all blocks, added up."""
        return _total_by_tasks(self, function, add, blocks, shared, request)

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
    places : dict of str to tuple
        Which worker holds a block, and which of its threads works on it; filled when it is empty.
    blocks : sequence of Delayed
        All blocks.
    answer : int or None
        How large the answer of a block may be, as far as that is known.
    """

    def __init__(self, places: dict[str, tuple[str, int]], blocks: Sequence[Any], answer: int | None = None) -> None:
        from distributed import futures_of, get_client, wait

        self._client, self._places, self._answer = get_client(), places, answer
        self.n_tasks, self.n_answers = 0, 1
        if not places:
            futures = futures_of(list(blocks))
            wait(futures)
            holders = {key: min(found) for key, found in self._client.who_has(futures).items() if found}
            threads, seen = self._client.nthreads(), Counter[str]()
            for key in (future.key for future in futures if future.key in holders):
                holder = holders[key]
                places[key] = holder, seen[holder] % threads.get(holder, 1)
                seen[holder] += 1

    def add(self, function: Callable[..., Any], *arguments: Any, block: Any = None) -> Any:
        """A task, for a block first of all; what `add` has given stands for its result."""
        from distributed import futures_of

        if block is None:
            return self._submit(function, None, *arguments)
        return self._submit(function, self._places.get(block.key), futures_of(block)[0], *arguments)

    def total(self, function: Work, add: Add, blocks: Sequence[Any], shared: Any, request: Any) -> Any:
        """What a function finds in all blocks, added up.

        A message to each thread of the workers, and all sums come here; where these are many, as far as the size of an
        answer is known, a message for each block, and workers add up.
        """
        from distributed import futures_of

        if len(blocks) > FEW and (self._answer is None or self._answer * len(blocks) > MOST_BYTES):
            return _total_by_tasks(self, function, add, blocks, shared, request)
        self.n_answers = len(blocks)
        by_place: dict[Any, list[int]] = {}
        for number, block in enumerate(blocks):
            by_place.setdefault(self._places.get(block.key), []).append(number)
        work = _Each(function)
        answers = self.results(
            [
                self._submit(work, place, [futures_of(blocks[number])[0] for number in own], shared, Literal(request))
                for place, own in by_place.items()
            ]
        )
        found = dict(zip(chain(*by_place.values()), chain(*answers), strict=True))
        return in_tree([found[number] for number in range(len(blocks))], add)

    def _submit(self, function: Callable[..., Any], place: tuple[str, int] | None, *arguments: Any) -> Any:
        from distributed import futures_of

        self.n_tasks += 1
        given = [futures_of(one)[0] if hasattr(one, "dask") else one for one in arguments]
        near = {} if place is None else {"workers": [place[0]], "allow_other_workers": True}
        return self._client.submit(function, *given, pure=False, **near)

    def results(self, futures: Sequence[Any]) -> tuple[Any, ...]:
        """What has become of some tasks."""
        return tuple(self._client.gather(list(futures)))


def _total_by_tasks(
    errand: Here | OnCluster, function: Work, add: Add, blocks: Sequence[Any], shared: Any, request: Any
) -> Any:
    """A task for every block, and others that add up what they find."""
    asked = errand.add(Literal(request))
    found = [errand.add(function, shared, asked, block=block) for block in blocks]
    return errand.results([in_tree(found, lambda some: errand.add(add, some))])[0]
