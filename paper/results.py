"""Means over folds and seeds, and ranks of methods over data sets: Friedman's test, Nemenyi's critical difference."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.stats import friedmanchisquare, rankdata, studentized_range

from .arrays import FloatArray
from .cells import Cell


@dataclass(frozen=True, slots=True)
class Figures:
    """One method on one data set under one protocol."""

    accuracy: float  # mean over the folds of all seeds
    accuracy_spread: float  # standard deviation between the seeds' means; 0 for a single seed
    kappa: float
    pooled_kappa: float  # kappa of all folds' counts taken together, mean over the seeds
    n_features: float  # mean number of features read
    n_terms: float | None  # mean number of terms; None for methods without a formula
    seconds: float  # median time of a fit
    n_seeds: int
    n_folds: int
    log_loss: float | None = None  # this and what follows: None if some fold has none
    log_loss_spread: float | None = None
    terms_per_output: float | None = None
    auc: float | None = None

    @property
    def size(self) -> float:
        """Terms if the method has a formula, else features."""
        return self.n_features if self.n_terms is None else self.n_terms


class Results:
    """Figures by data set, method and protocol."""

    def __init__(self, cells: Iterable[Cell]) -> None:
        groups: dict[tuple[str, str, str], list[Cell]] = defaultdict(list)
        for cell in cells:
            groups[cell.task.data, cell.task.method, cell.protocol].append(cell)
        self._figures = {key: _figures(group) for key, group in groups.items()}

    def get(self, data: str, method: str, protocol: str) -> Figures | None:
        """The figures, or None if nothing was run."""
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
    """Cohen's kappa of a table of counts (the paper's equation K); 0 if chance explains everything."""
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
        pooled_kappa=float(np.mean(pooled)),
        n_features=float(np.mean([c.n_features for c in cells])),
        n_terms=float(np.mean(terms)) if terms else None,
        seconds=float(np.median([c.seconds for c in cells])),
        n_seeds=len(by_seed),
        n_folds=len(cells),
        log_loss=_mean(losses),
        log_loss_spread=None if None in losses else float(np.std([v for v in losses if v is not None])),
        terms_per_output=_mean([c.terms_per_output for c in cells]),
        auc=_mean([c.auc for c in cells]),
    )


def _mean(values: list[float | None]) -> float | None:
    """None if a value is missing: a mean over some of the folds would be that of another experiment."""
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if len(known) == len(values) else None


@dataclass(frozen=True, slots=True, eq=False)
class Ranks:
    """Mean ranks of methods over data sets, best first."""

    names: tuple[str, ...]  # methods, by rising mean rank
    mean_rank: FloatArray  # 1 is best; ties share their ranks
    p_value: float  # of Friedman's test that all methods are alike
    critical_difference: float  # Nemenyi's: mean ranks that are closer do not differ significantly
    level: float  # of the critical difference

    def groups(self) -> list[tuple[int, int]]:
        """(first, last) of every longest run of methods within one critical difference; no run inside another."""
        found: list[tuple[int, int]] = []
        for first, rank in enumerate(self.mean_rank):
            last = int(np.searchsorted(self.mean_rank, rank + self.critical_difference, side="right")) - 1
            if last > first and (not found or last > found[-1][1]):
                found.append((first, last))
        return found


def compare(scores: dict[str, list[float]], *, level: float = 0.05) -> Ranks:
    """Rank methods on every data set by their scores, higher is better, and test whether they differ."""
    table = np.array(list(scores.values()), dtype=np.float64)
    n_methods, n_sets = table.shape
    if n_methods < 2 or n_sets < 2:
        msg = f"Ranks compare at least two methods on at least two data sets, got {n_methods} on {n_sets}."
        raise ValueError(msg)
    # scores that are equal but for rounding are ties
    ranks = rankdata(-np.round(table, 10), axis=0)
    mean_rank = ranks.mean(axis=1)
    order = np.argsort(mean_rank, kind="stable")
    same = bool(np.all(ranks == ranks[:1]))
    # scipy's test needs three methods; for two, chi-square does not describe its statistic
    p_value = float(friedmanchisquare(*ranks).pvalue) if n_methods > 2 and not same else float("nan")
    quantile = float(studentized_range.ppf(1 - level, n_methods, np.inf)) / np.sqrt(2)
    return Ranks(
        names=tuple(list(scores)[j] for j in order),
        mean_rank=mean_rank[order],
        p_value=p_value,
        critical_difference=quantile * float(np.sqrt(n_methods * (n_methods + 1) / (6 * n_sets))),
        level=level,
    )
