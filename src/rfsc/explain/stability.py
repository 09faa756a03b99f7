"""How far the restarts of a search agree: the stability index of Nogueira, Sechidis and Brown (JMLR 18, 2018).

No postponed annotations: certificates are read by the types of these classes.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import norm

from .._model import Evidence, SparseModel
from .._model.access import one_model
from .._utils.arrays import BoolArray
from .._utils.validation import check_choice

ENOUGH, MANY = 5, 10  # restarts from which there is an interval, and from which it is not called rough
POOR, EXCELLENT = 0.4, 0.75  # how the authors read the index, after Fleiss


@dataclass(frozen=True, slots=True)
class Stability:
    """Agreement of several selections.

    Parameters
    ----------
    index : float or None
        1 if all restarts chose the same, about 0 if they agree no more than by chance; None if it is not defined.
    low, high : float or None
        Ends of the confidence interval, not beyond 1. It assumes many restarts: with fewer than ten it is rough, with
        fewer than five it is None.
    level : float
        Confidence level of the interval.
    n_restarts : int
        Selections that were compared.
    n_candidates : int
        What could have been selected.
    mean_size : float
        Mean number of things selected.
    of : {"terms", "features"}
        What was selected.
    reason : str
        Why there is no index; empty if there is one.
    """

    index: float | None
    low: float | None
    high: float | None
    level: float
    n_restarts: int
    n_candidates: int
    mean_size: float
    of: str
    reason: str = ""

    @property
    def word(self) -> str:
        """Poor below 0.4, excellent above 0.75, fair to good between them; unknown without an index."""
        if self.index is None:
            return "unknown"
        return "poor" if self.index < POOR else "excellent" if self.index > EXCELLENT else "fair to good"

    def __str__(self) -> str:
        """One sentence."""
        if self.index is None:
            return f"stability of the {self.of} unknown: {self.reason}"
        interval = "too few restarts for an interval"
        if self.low is not None and self.high is not None:
            interval = f"{100 * self.level:g}% interval {self.low:.2f} to {self.high:.2f}"
            interval += ", rough with so few restarts" if self.n_restarts < MANY else ""
        return f"stability of the {self.of} over {self.n_restarts} restarts: {self.index:.2f} ({self.word}; {interval})"


def stability_of(selected: BoolArray, n_candidates: int, *, of: str = "terms", level: float = 0.95) -> Stability:
    """The index of given selections, with its interval by the normal approximation of the paper."""
    z = np.asarray(selected, dtype=np.float64)
    m, d = len(z), int(n_candidates)
    size = z.sum(axis=1)
    mean_size = float(size.mean()) if m else 0.0

    def unknown(reason: str) -> Stability:
        return Stability(None, None, None, level, m, d, mean_size, of, reason)

    if m < 2:
        return unknown(f"it takes two restarts or more, got {m}.")
    if mean_size == 0.0:
        return unknown(f"no restart selected any of the {of}.")
    if mean_size == d:
        return unknown(f"every restart selected all of the {of}.")
    share = z.mean(axis=0)
    chance = mean_size / d * (1.0 - mean_size / d)
    variance = m / (m - 1) * share * (1.0 - share)
    index = 1.0 - float(variance.sum()) / d / chance
    if m < ENOUGH:
        return Stability(index, None, None, level, m, d, mean_size, of)
    # Theorem 7 and Corollary 9: how much each restart adds to the index, and the spread of that
    ratio, mean_ratio = size / d, mean_size / d
    own = (z @ share) / d - ratio * mean_ratio
    own = (own + index / 2.0 * (2.0 * mean_ratio * ratio - ratio - mean_ratio + 1.0)) / chance
    error = math.sqrt(4.0 / m**2 * float(((own - own.mean()) ** 2).sum()))
    reach = float(norm.ppf(0.5 + level / 2.0)) * error
    return Stability(index, index - reach, min(index + reach, 1.0), level, m, d, mean_size, of)


def stability(source: Any, *, of: str = "terms", level: float = 0.95, label: object = None) -> Stability:
    """How far the restarts behind a model agree about its terms or its features.

    It measures how much the result depends on the random draws of the search, given the training rows; not how much it
    would change with other rows. The constant does not count: nearly every model holds it.

    Parameters
    ----------
    source : SparseModel, fitted RFSCClassifier, Predictor or fitted Pipeline
        The model, or what holds it.
    of : {"terms", "features"}, default="terms"
        Whether restarts agree when they choose the same terms, or terms that read the same features. Candidates are
        all terms of the search, or all features that vary and pass the filter.
    level : float, default=0.95
        Confidence level of the interval.
    label : object, optional
        Which class, by default the second of two.

    Returns
    -------
    Stability
        The index with its interval, or the reason why it is not defined.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from rfsc import RFSCClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> y = np.where(y == 1, "versicolor", "other")
    >>> clf = RFSCClassifier(basis="step", n_restarts=2, random_state=1).fit(X[:, 2:], y)
    >>> print(stability(clf))
    stability of the terms over 2 restarts: 1.00 (excellent; too few restarts for an interval)
    """
    check_choice("of", of, ("terms", "features"))
    if not 0.0 < level < 1.0:
        msg = f"level must be between 0 and 1, got {level!r}."
        raise ValueError(msg)
    model = one_model(source, label)
    if model.evidence is None:
        reason = "the model carries no record of its search."
        return Stability(None, None, None, float(level), 0, 0, 0.0, of, reason)
    if of == "features":
        return stability_of(*_features(model, model.evidence), of=of, level=float(level))
    varies = np.array([bool(term.features) for term in model.evidence.terms], dtype=np.bool_)  # not the constant
    return stability_of(model.evidence.selected[:, varies], model.evidence.n_candidates - 1, level=float(level))


def _features(model: SparseModel, evidence: Evidence) -> tuple[BoolArray, int]:
    """Which restart's terms read which feature, and how many could have been read."""
    n_features = len(model.feature_names)
    selected = np.zeros((evidence.n_restarts, n_features), dtype=np.bool_)
    for j, term in enumerate(evidence.terms):
        selected[:, list(term.features)] |= evidence.selected[:, [j]]
    allowed = ~model.scaling.constant
    if evidence.filter is not None:
        allowed &= evidence.filter.kept
    # restrictions may have let in features that the filter would have dropped
    allowed |= selected.any(axis=0)
    return selected[:, allowed], int(allowed.sum())
