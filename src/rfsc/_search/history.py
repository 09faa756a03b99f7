"""What a search leaves behind: a record of every iteration, and its outcome.

No postponed annotations: checkpoints read these classes by their types.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from .._engines.base import Evaluation
from .._utils.arrays import FloatArray, IntArray
from .rips import RIPs


@dataclass(frozen=True, slots=True, eq=False)
class IterationRecord:
    """One iteration, as observers see it.

    With `max_samples` all scores are those on the rows of this iteration; other iterations saw other rows.

    Parameters
    ----------
    output, restart, iteration : int
        Where the search stands; iterations count from 1.
    mean_score, best_score : float
        Over the population of this iteration.
    best_so_far : float
        Best score that this restart has seen.
    mean_log_loss : float
        Over the population.
    mean_size_drawn, mean_size_kept : float
        Mean number of terms before and after the test.
    max_change : float
        Largest change of a RIP.
    n_fitted : int
        Supports that had to be fitted; the others were known.
    rips : RIPs
        After the update. To save room only terms that were drawn or screened and have not fallen to zero are listed;
        the others, dead or still at the common first value, read as zero here.
    """

    output: int
    restart: int
    iteration: int
    mean_score: float
    best_score: float
    best_so_far: float
    mean_log_loss: float
    mean_size_drawn: float
    mean_size_kept: float
    max_change: float
    n_fitted: int
    rips: RIPs

    @property
    def n_open(self) -> int:
        """Terms that the search has not decided about."""
        return self.rips.n_open


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A fitted model by the ids of its terms."""

    ids: IntArray
    coef: FloatArray
    score: float
    log_loss: float

    @property
    def rank(self) -> tuple[float, float, int]:
        """Sorts better models first: by score, then log-loss, then size."""
        return -self.score, self.log_loss, self.ids.size

    @classmethod
    def best_of(cls, result: Evaluation) -> Self:
        """The best model of a batch."""
        return cls.at(result, int(np.lexsort((result.supports.sizes, result.log_loss, -result.score))[0]))

    @classmethod
    def at(cls, result: Evaluation, m: int) -> Self:
        """The model at a place of a batch."""
        a, b = result.supports.indptr[m : m + 2]
        return cls(result.supports.ids[a:b], result.coef[a:b], float(result.score[m]), float(result.log_loss[m]))


@dataclass(frozen=True, slots=True, eq=False)
class SearchResult:
    """Outcome of one restart.

    Parameters
    ----------
    model : Candidate
        The better of the limit model and the best model visited; fitted and scored on all rows.
    limit : Candidate or None
        The model of the terms whose RIP ended at or above the cutoff; None where there are none.
    history : tuple of IterationRecord
        Every iteration.
    stop_reason : {"converged", "patience", "max_iter", "observer", "time_limit", "interrupted"}
        Why the search ended.
    leaders : tuple of ndarray of int
        Terms of the best models visited, each the best of an iteration, best first.
    """

    model: Candidate
    limit: Candidate | None
    history: tuple[IterationRecord, ...]
    stop_reason: str
    leaders: tuple[IntArray, ...] = ()

    @property
    def n_iter(self) -> int:
        """Number of iterations."""
        return len(self.history)
