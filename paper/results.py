"""Means over folds and seeds: what the tables show, and which method is best where."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from .cells import Cell


@dataclass(frozen=True, slots=True)
class Figures:
    """One method on one data set under one protocol."""

    accuracy: float  # means over the folds of all seeds
    accuracy_spread: float  # standard deviation between the seeds' means; 0 for a single seed
    kappa: float  # means over the folds of all seeds
    kappa_spread: float  # standard deviation between the seeds' means; 0 for a single seed
    pooled_kappa: float  # kappa of all folds' counts taken together, mean over the seeds
    n_features: float  # mean number of features read
    n_terms: float | None  # mean number of terms; None for methods without a formula
    seconds: float  # median time of a fit
    n_seeds: int  # what the means are taken over
    n_folds: int  # what the means are taken over
    log_loss: float | None = None  # as for accuracy; None where some fold has none
    log_loss_spread: float | None = None  # as for accuracy; None where some fold has none
    terms_per_output: float | None = None  # mean number of terms of one output; None where some fold has none

    @property
    def size(self) -> float:
        """Terms where the method has a formula, else features."""
        return self.n_features if self.n_terms is None else self.n_terms


class Results:
    """Figures by data set, method and protocol."""

    def __init__(self, cells: Iterable[Cell]) -> None:
        groups: dict[tuple[str, str, str], list[Cell]] = defaultdict(list)
        for cell in cells:
            groups[cell.task.data, cell.task.method, cell.protocol].append(cell)
        self._figures = {key: _figures(group) for key, group in groups.items()}

    def get(self, data: str, method: str, protocol: str) -> Figures | None:
        """The figures, or None where nothing was run."""
        return self._figures.get((data, method, protocol))

    def has(self, method: str, protocol: str) -> bool:
        """Whether the method was run on any set."""
        return any(key[1:] == (method, protocol) for key in self._figures)

    def complete(
        self, methods: Iterable[str], sets: Iterable[str], protocol: str, by: str = "accuracy"
    ) -> dict[str, list[float]]:
        """One figure on every set, for the methods that have it on all of them."""
        sets = list(sets)
        found: dict[str, list[float]] = {}
        for method in methods:
            values = [getattr(self.get(data, method, protocol), by, None) for data in sets]
            if None not in values:
                found[method] = [value for value in values if value is not None]
        return found


def kappa_of(confusion: np.ndarray) -> float:
    """Cohen's kappa of a table of counts (the paper's equation K); 0 where chance explains everything."""
    total = confusion.sum()
    by_chance = float(confusion.sum(axis=0) @ confusion.sum(axis=1))
    return 0.0 if by_chance == total**2 else float((total * np.trace(confusion) - by_chance) / (total**2 - by_chance))


def _figures(cells: list[Cell]) -> Figures:
    by_seed: dict[int, list[Cell]] = defaultdict(list)
    for cell in cells:
        by_seed[cell.task.seed].append(cell)
    accuracy = [float(np.mean([c.accuracy for c in group])) for group in by_seed.values()]
    kappa = [float(np.mean([c.kappa for c in group])) for group in by_seed.values()]
    pooled = [kappa_of(np.sum([c.confusion for c in group], axis=0)) for group in by_seed.values()]
    terms = [c.n_terms for c in cells if c.n_terms is not None]
    losses = [_mean([c.log_loss for c in group]) for group in by_seed.values()]
    return Figures(
        accuracy=float(np.mean(accuracy)),
        accuracy_spread=float(np.std(accuracy)),
        kappa=float(np.mean(kappa)),
        kappa_spread=float(np.std(kappa)),
        pooled_kappa=float(np.mean(pooled)),
        n_features=float(np.mean([c.n_features for c in cells])),
        n_terms=float(np.mean(terms)) if terms else None,
        seconds=float(np.median([c.seconds for c in cells])),
        n_seeds=len(by_seed),
        n_folds=len(cells),
        log_loss=_mean(losses),
        log_loss_spread=None if None in losses else float(np.std([v for v in losses if v is not None])),
        terms_per_output=_mean([c.terms_per_output for c in cells]),
    )


def _mean(values: list[float | None]) -> float | None:
    """None where a value is missing: a mean over some of the folds would be that of another experiment."""
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if len(known) == len(values) else None
