"""Which folds of which methods the reproduction runs."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

from . import printed
from .cells import Task
from .datasets import load, table_hash
from .keel import N_FOLDS
from .methods import Method, all_methods, by_cost
from .protocols import PROTOCOLS, has_keel_folds

QUICK_COST = 0.5  # seconds of a fit above which a quick run leaves out a comparator


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to run."""

    sets: tuple[str, ...] = printed.SETS
    methods: tuple[str, ...] = ()
    protocols: tuple[str, ...] = PROTOCOLS
    seeds: tuple[int, ...] = (0, 1, 2)  # of the stratified folds and of the methods
    n_folds: int = N_FOLDS  # fewer only for a quick look

    def tasks(self) -> list[Task]:
        """Every fold to run, in the order of work."""
        known = all_methods()
        tasks = []
        for data in self.sets:
            content = table_hash(*load(data)[:2])
            for method in (known[name] for name in self.methods):
                for folds, seeds in self._folds(data, method):
                    tasks += method.tasks(data, folds, content, product(seeds, range(self.n_folds)))
        return by_cost(tasks, known)

    def _folds(self, data: str, method: Method) -> list[tuple[str, tuple[int, ...]]]:
        """Which folds the protocols need, and with which seeds; a method without randomness runs once on KEEL's."""
        found: list[tuple[str, tuple[int, ...]]] = []
        if "honest" in self.protocols or ("paper" in self.protocols and method.kind == "rfsc"):
            found.append(("stratified", self.seeds))
        if "keel" in self.protocols and has_keel_folds(data):
            found.append(("keel", self.seeds if method.is_random(data) else self.seeds[:1]))
        return found

    def quick(self) -> Plan:
        """The same plan reduced to a first look: one seed, two folds, no slow method."""
        known = all_methods()
        names = tuple(name for name in self.methods if known[name].cost <= QUICK_COST or known[name].kind == "rfsc")
        if not names:
            msg = (
                f"A quick run leaves out {', '.join(self.methods)}: too slow. Choose other methods, or run without "
                "--quick."
            )
            raise ValueError(msg)
        return Plan(sets=self.sets, methods=names, protocols=self.protocols, seeds=self.seeds[:1], n_folds=2)


def cost(task: Task) -> float:
    """Roughly the seconds that a task takes."""
    return all_methods()[task.method].cost_on(task.data)
