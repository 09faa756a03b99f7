"""Inclusion probabilities (RIPs) of all terms, stored sparsely, and the law by which they move.

Almost all terms of a large space share one RIP: nothing was ever learnt about them. So the RIPs are one default value
and a list of exceptions, and an update costs what the drawn terms cost, not what the space holds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._engines.base import Evaluation, Supports
from .._utils.arrays import FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class RIPs:
    """Probability of each term to be drawn into a model.

    Parameters
    ----------
    n_terms : int
        Size of the term space.
    default : float
        RIP of every term that is not listed.
    ids : ndarray of int
        Terms whose RIP differs, ascending.
    values : ndarray of float
        Their RIPs.
    """

    n_terms: int
    default: float
    ids: IntArray
    values: FloatArray

    @classmethod
    def uniform(cls, n_terms: int, value: float) -> RIPs:
        """The same RIP for every term."""
        return cls(n_terms, value, np.empty(0, np.int64), np.empty(0))

    def __getitem__(self, ids: IntArray) -> FloatArray:
        """RIPs of the terms `ids`."""
        out = np.full(len(ids), self.default)
        if self.ids.size:
            at = np.minimum(np.searchsorted(self.ids, ids), self.ids.size - 1)
            known = self.ids[at] == ids
            out[known] = self.values[at[known]]
        return out

    def raised(self, ids: IntArray, values: FloatArray) -> RIPs:
        """With the RIPs of these terms lifted to `values`, where they are lower.

        Parameters
        ----------
        ids : ndarray of int
            Terms, ascending.
        values : ndarray of float
            Least RIP of each.
        """
        higher = values > self[ids]
        ids, values = ids[higher], values[higher]
        others = ~np.isin(self.ids, ids)
        every = np.concatenate([self.ids[others], ids])
        order = np.argsort(every)
        return RIPs(self.n_terms, self.default, every[order], np.concatenate([self.values[others], values])[order])

    def at_least(self, cutoff: float) -> IntArray:
        """Terms whose RIP reaches the cutoff, by falling RIP."""
        ids = np.arange(self.n_terms) if self.default >= cutoff else self.ids  # a default that high: few terms in all
        values = self[ids]
        order = np.argsort(-values, kind="stable")
        return ids[order[values[order] >= cutoff]]

    @property
    def n_open(self) -> int:
        """How many listed terms are still undecided: RIP above the default and below one."""
        return int(np.count_nonzero((self.values > self.default) & (self.values < 1.0)))

    @property
    def has_opinion(self) -> bool:
        """Whether some term has risen, or nothing is left to draw; before, that no RIP moves says nothing."""
        if np.any(self.values > self.default) or self.default >= 1.0:
            return True
        return (self.default <= 0.0 or self.ids.size == self.n_terms) and not np.any(self.values > 0.0)

    def without_zeros(self) -> RIPs:
        """As the history keeps them: only terms that were drawn or screened and have not fallen to zero."""
        alive = self.values > 0.0
        return RIPs(self.n_terms, 0.0, self.ids[alive], self.values[alive])

    def dense(self) -> FloatArray:
        """All RIPs as one vector; for small spaces and for tests."""
        out = np.full(self.n_terms, self.default)
        out[self.ids] = self.values
        return out


def step_size(score: FloatArray) -> float:
    """Eq. (17): small steps while the models of a population differ much in score."""
    return float(1.0 / (10.0 * (score.max() - score.mean()) + 0.1))


def importance(terms: IntArray, kept: Supports, score: FloatArray) -> FloatArray:
    """Eq. (15): mean score of the models that hold a term after the test, minus that of the others.

    A mean over no model counts as zero: a term that was drawn and always pruned is punished, one that every model
    holds is rewarded.
    """
    at = np.searchsorted(terms, kept.ids)
    n_with = np.bincount(at, minlength=terms.size)
    sum_with = np.bincount(at, weights=np.repeat(score, kept.sizes), minlength=terms.size)
    n_without = score.size - n_with
    sum_without = np.where(n_without > 0, score.sum() - sum_with, 0.0)
    gap: FloatArray = sum_with / np.maximum(n_with, 1) - sum_without / np.maximum(n_without, 1)
    return gap


def update(rips: RIPs, drawn: Supports, result: Evaluation, *, unseen: str) -> tuple[RIPs, float]:
    """Eq. (16): move each RIP by step * importance, kept within its bounds. Returns the largest change too."""
    score = result.score
    step = step_size(score)
    terms = np.unique(drawn.ids)
    default = rips.default
    if unseen == "zero":
        terms = np.union1d(terms, rips.ids)
        default = float(np.clip(default - step * score.mean(), 0.0, 1.0))
    before = rips[terms]
    after = np.clip(before + step * importance(terms, result.supports, score), 0.0, 1.0)
    change = float(np.abs(after - before).max(initial=0.0))
    if terms.size < rips.n_terms:
        change = max(change, abs(default - rips.default))
    ids = np.union1d(rips.ids, terms)
    values = rips[ids]
    values[np.searchsorted(ids, terms)] = after
    listed = values != default
    return RIPs(rips.n_terms, default, ids[listed], values[listed]), change
