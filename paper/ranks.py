"""Friedman's test over data sets, Nemenyi's critical difference, and the groups that it cannot tell apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import friedmanchisquare, rankdata, studentized_range

from rfsc._utils.arrays import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Ranks:
    """Mean ranks of methods over data sets, best first."""

    names: tuple[str, ...]  # methods, by rising mean rank
    mean_rank: FloatArray  # 1 is best; ties share their ranks
    p_value: float  # of Friedman's test that all methods are alike
    critical_difference: float  # nemenyi's: mean ranks that are closer are not told apart at the level
    level: float  # that level

    def groups(self) -> list[tuple[int, int]]:
        """(first, last) of every longest run of methods within one critical difference; no run inside another."""
        found: list[tuple[int, int]] = []
        for first, rank in enumerate(self.mean_rank):
            last = int(np.searchsorted(self.mean_rank, rank + self.critical_difference, side="right")) - 1
            if last > first and (not found or last > found[-1][1]):
                found.append((first, last))
        return found


def compare(scores: dict[str, list[float]], *, level: float = 0.05) -> Ranks:
    """Rank methods on every data set and test whether they differ."""
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
    # scipy's test wants three methods; for two its statistic is the same formula, but chi-square is no fit for it
    p_value = float(friedmanchisquare(*ranks).pvalue) if n_methods > 2 and not same else float("nan")
    quantile = float(studentized_range.ppf(1 - level, n_methods, np.inf)) / np.sqrt(2)
    return Ranks(
        names=tuple(list(scores)[j] for j in order),
        mean_rank=mean_rank[order],
        p_value=p_value,
        critical_difference=quantile * float(np.sqrt(n_methods * (n_methods + 1) / (6 * n_sets))),
        level=level,
    )
