"""What the search has seen of the terms of a model: plain numbers that are saved with it, and no training data."""

from __future__ import annotations

from dataclasses import dataclass

from .._terms import Term
from .._utils.arrays import BoolArray, FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """The course of one restart; every array has one entry, or row, for each iteration.

    Parameters
    ----------
    mean_score, best_score : ndarray of shape (n_iter,)
        Over the population of the iteration.
    size_drawn, size_kept : ndarray of shape (n_iter,)
        Mean number of terms before and after the test.
    rips : ndarray of shape (n_iter, n_traced)
        Inclusion probabilities of the traced terms after the iteration.
    """

    mean_score: FloatArray
    best_score: FloatArray
    size_drawn: FloatArray
    size_kept: FloatArray
    rips: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class FilterEvidence:
    """What the distance-correlation test has said of every feature.

    Parameters
    ----------
    statistic : ndarray of shape (n_features,)
        The test's statistic.
    threshold : float
        Features at or below were left out.
    significance : float
        The level that the threshold belongs to.
    spared : tuple of int, default=()
        Features that were kept whatever the test said, because restrictions name them.
    """

    statistic: FloatArray
    threshold: float
    significance: float
    spared: tuple[int, ...] = ()

    @property
    def kept(self) -> BoolArray:
        """Which features were not left out."""
        kept: BoolArray = self.statistic > self.threshold
        kept[list(self.spared)] = True
        return kept


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """What the restarts have found for one output.

    Parameters
    ----------
    n_candidates : int
        Terms that could have been selected.
    score : str
        What the search maximised.
    terms : tuple of Term
        The terms of the model, in its order, then others that some restart selected or came near to.
    feature_names : tuple of str
        Names of all features of the table.
    selected : ndarray of shape (n_restarts, n_terms), dtype=bool
        Which restart's model holds which term.
    rip : ndarray of shape (n_restarts, n_terms)
        Inclusion probabilities when the search ended.
    stop_reasons : tuple of str
        Why each search ended: "converged", "max_iter" or "observer".
    traced : tuple of int
        Places in `terms` of those whose inclusion probabilities the traces hold.
    traces : tuple of Trace
        One for each restart; empty where a file was written without them.
    filter : FilterEvidence or None
        The test of the features, where there was one.
    """

    n_candidates: int
    score: str
    terms: tuple[Term, ...]
    feature_names: tuple[str, ...]
    selected: BoolArray
    rip: FloatArray
    stop_reasons: tuple[str, ...]
    traced: tuple[int, ...] = ()
    traces: tuple[Trace, ...] = ()
    filter: FilterEvidence | None = None

    @property
    def term_names(self) -> tuple[str, ...]:
        """Names of the terms."""
        return tuple(term.name(self.feature_names) for term in self.terms)

    @property
    def n_restarts(self) -> int:
        """How many searches there were."""
        return len(self.selected)
