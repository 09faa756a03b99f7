"""A fitted sparse sum of terms, small and frozen, with what the search has seen of the terms; no training data."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from html import escape
from typing import Self

import numpy as np
from scipy import stats

from .._terms import Term
from .._terms.scaling import Scaling
from .._utils.arrays import BoolArray, FloatArray, IntArray

AT_A_TIME = 2**14  # samples: all terms of a long table at once would outgrow the table itself


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """The course of one restart; every array has one entry, or row, for each iteration."""

    mean_score: FloatArray  # over the population of the iteration
    best_score: FloatArray
    size_drawn: FloatArray  # mean number of terms before the test ...
    size_kept: FloatArray  # ... and after it
    rips: FloatArray  # (n_iter, n_traced), inclusion probabilities of the traced terms after the iteration


@dataclass(frozen=True, slots=True, eq=False)
class FilterEvidence:
    """The distance-correlation test of every feature."""

    statistic: FloatArray  # (n_features,)
    threshold: float  # features at or below were dropped
    significance: float  # the level that the threshold belongs to
    spared: tuple[int, ...] = ()  # features that were kept whatever the test said, because restrictions name them

    @property
    def kept(self) -> BoolArray:
        """Which features were not dropped."""
        kept: BoolArray = self.statistic > self.threshold
        kept[list(self.spared)] = True
        return kept


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """What the restarts have found for one output."""

    n_candidates: int  # terms that could have been selected
    score: str  # what the search maximised
    terms: tuple[Term, ...]  # of the model, in its order, then others that some restart selected or came near to
    feature_names: tuple[str, ...] = field(metadata={"stored": False})  # a file holds them once, for all outputs
    selected: BoolArray  # (n_restarts, n_terms), which restart's model holds which term
    rip: FloatArray  # (n_restarts, n_terms), inclusion probabilities when the search ended
    stop_reasons: tuple[str, ...]  # why each search ended: "converged", "patience", "max_iter" or "observer"
    traced: tuple[int, ...] = ()  # places in `terms` of those whose inclusion probabilities the traces hold
    traces: tuple[Trace, ...] = ()  # one for each restart; empty if a file was written without them
    filter: FilterEvidence | None = None

    @property
    def term_names(self) -> tuple[str, ...]:
        """Names of the terms."""
        return tuple(term.name(self.feature_names) for term in self.terms)

    @property
    def n_restarts(self) -> int:
        """How many searches there were."""
        return len(self.selected)

    @property
    def n_converged(self) -> int:
        """How many searches came to an end by themselves."""
        return sum(reason in ("converged", "patience") for reason in self.stop_reasons)


@dataclass(frozen=True, slots=True, eq=False)
class SizeCurve:
    """Log-loss of left-out rows by the number of terms; every array has one entry for each size, ascending."""

    n_terms: IntArray  # the intercept not counted
    n_features: IntArray  # that the model of this size reads
    log_loss: FloatArray
    above_best: FloatArray  # by how much the log-loss is above that of the best size
    standard_error: FloatArray  # of this difference, paired by row


@dataclass(frozen=True, slots=True, eq=False)
class SparseModel:
    """The model of one output: f(x) = sum_j coef_j term_j(scaled x).

    Parameters
    ----------
    terms : tuple of Term
        The terms, by falling influence.
    coef : ndarray of shape (n_terms,)
        Coefficients on the [0, 1] scale of the features.
    standard_error : ndarray of shape (n_terms,) or None
        Standard errors of the coefficients, given the terms; None if they are not known.
    scaling : Scaling
        How the features are scaled to [0, 1].
    feature_names : tuple of str
        Names of all features of the table.
    label : object
        The class that f > 0 predicts; of several outputs, the largest f decides.
    n_observations : float
        Sum of the weights of the training rows.
    score : float or None
        Score of the model in the search; None if it is not known.
    evidence : Evidence or None, default=None
        What the search has seen of the terms; None if it is not known.
    worth : ndarray of shape (n_terms,) or None, default=None
        By how much the mean log-loss of left-out rows (approximate leave-one-out) rises without each term; NaN for
        the intercept and other terms that must stay. None if it is not known.
    sizes : SizeCurve or None, default=None
        How good models of other sizes are on left-out rows. None if it is not known.
    """

    terms: tuple[Term, ...]
    coef: FloatArray
    standard_error: FloatArray | None
    scaling: Scaling
    feature_names: tuple[str, ...]
    label: object
    n_observations: float
    score: float | None
    evidence: Evidence | None = field(default=None, repr=False)
    worth: FloatArray | None = None
    sizes: SizeCurve | None = field(default=None, repr=False)

    def opposite(self, label: object) -> Self:
        """The model of the other of two classes."""
        return replace(self, coef=-self.coef, label=label)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the terms."""
        return tuple(term.name(self.feature_names) for term in self.terms)

    @property
    def features(self) -> tuple[int, ...]:
        """Indices of the features that the model reads, ascending."""
        return tuple(sorted({p for term in self.terms for p in term.features}))

    @property
    def size(self) -> int:
        """Number of terms, the intercept not counted."""
        return sum(bool(term.features) for term in self.terms)

    @property
    def t_value(self) -> FloatArray | None:
        """Coefficients over their standard errors."""
        return None if self.standard_error is None else self.coef / self.standard_error

    @property
    def _freedom(self) -> float:
        """Degrees of freedom of the t-test."""
        return max(self.n_observations - self.coef.size, 1.0)

    @property
    def p_value(self) -> FloatArray | None:
        """Two-sided p-values given the terms; too small as evidence, because the terms were searched for."""
        error = self.standard_error
        if error is None:
            return None
        t = np.divide(self.coef, error, out=np.zeros_like(self.coef), where=error > 0)
        return np.asarray(2.0 * stats.t.sf(np.abs(t), self._freedom))

    def reach(self, level: float) -> FloatArray | None:
        """Half the widths of confidence intervals of the coefficients, given the terms."""
        quantile = stats.t.ppf(0.5 + level / 2.0, self._freedom)
        return None if self.standard_error is None else quantile * self.standard_error

    def renamed(self, feature_names: Sequence[str]) -> Self:
        """The same model with other names for its features."""
        names = tuple(feature_names)
        evidence = None if self.evidence is None else replace(self.evidence, feature_names=names)
        return replace(self, feature_names=names, evidence=evidence)

    def columns(self, X: FloatArray) -> FloatArray:
        """Values of the terms, shape (n_terms, n_samples)."""
        X = np.asarray(X, dtype=np.float64)
        rows = self.scaling.rows(X, self.features)
        return np.stack([term.column(rows, len(X)) for term in self.terms]) if self.terms else np.empty((0, len(X)))

    def decision(self, X: FloatArray) -> FloatArray:
        """f for every sample."""
        X = np.asarray(X, dtype=np.float64)
        # parts of about equal size: a last part of one sample would be summed, and rounded, differently
        parts = np.array_split(X, 1 + len(X) // AT_A_TIME)
        # not a matrix product: its rounding would depend on the threads of the BLAS library
        return np.concatenate([np.einsum("j,jk->k", self.coef, self.columns(part)) for part in parts])

    def unscaled(self, *, expand: bool = True) -> dict[Term, float]:
        """Coefficients in the user's own units, by term, the constant first.

        Products of features are multiplied out, or are products of the differences from their training minima.
        """
        total: dict[Term, float] = {}
        for term, coef in zip(self.terms, self.coef, strict=True):
            for part, weight in term.unscaled(self.scaling, expand=expand).items():
                total[part] = total.get(part, 0.0) + coef * weight
        order = sorted(total, key=lambda term: (len(term.features), term.name(self.feature_names)))
        if not expand:  # by falling influence, as the terms are
            order = sorted(total, key=lambda term: bool(term.features))
        return {term: float(total[term]) for term in order}

    def _repr_html_(self) -> str:
        """For notebooks: the summands of f."""
        parts = zip(self.names, self.coef.tolist(), strict=True)
        rows = "".join(f"<tr><td>{escape(name)}</td><td>{coef:.6g}</td></tr>" for name, coef in parts)
        head = f"<caption>f of class {escape(str(self.label))}, features scaled to [0, 1]</caption>"
        return f"<table>{head}<tr><th>term</th><th>coefficient</th></tr>{rows}</table>"
