"""`card`: the points of a formula, on the scale that loses least, and what that costs on left-out rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
from scipy.special import expit, log_expit
from sklearn.base import clone
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold
from sklearn.pipeline import Pipeline

from .._fit.rows import group_codes
from .._fit.targets import row_weights
from .._model.access import as_predictor, one_model
from .._model.recipe import Recipe
from .._search.context import uninterruptible_fits
from .._utils.arrays import FloatArray, IntArray
from .._utils.compat import Interval, safe_indexing, validate_parameter_constraints
from .._utils.validation import codes_of, fit_params, is_large, labels_of
from ..classifier import RFSCClassifier
from .pieces import Pieces, pieces_of
from .score_card import PointTable, RiskTable, RoundingCost, ScoreCard

STEPS = 4  # scales that are tried for each further point
TOLERANCE = 0.1  # nats over all training rows, by which a card with smaller points may be worse
MOST_STEPS = 50  # of Newton's method
SEED = 0  # of the folds, which depend on the rows alone
CONSTRAINTS: dict[str, Any] = {
    "max_points": [Interval(Integral, 1, 100, closed="both")],
    "cv": [Interval(Integral, 2, None, closed="left"), None],
}


def card(
    estimator: Any,
    X: Any = None,
    y: Any = None,
    *,
    label: object = None,
    max_points: int = 10,
    cv: int | None = 5,
    sample_weight: Any = None,
    groups: Any = None,
) -> ScoreCard:
    """Turn a formula into a score card: whole points that are added by hand, and the risk of every total.

    Ranges of a feature and conditions get points in proportion to what they add to the formula, rounded. Intercept and
    slope, which turn totals into probabilities, are fitted to the probabilities of the formula on the training rows. Of
    the common scales up to `max_points`, the smallest is taken whose expected log-loss, were the formula right, is at
    most 0.1 / n above the lowest on n rows, a fifth of what estimating one coefficient costs.

    Parameters
    ----------
    estimator : RFSCClassifier, Pipeline, Predictor or SparseModel
        A fitted classifier, a pipeline that ends in one, or a model read from a file. Every term must read one
        feature, or be a rule: `basis="hinge"`, `basis="rule"` and `basis="step"` give such formulas.
    X : array-like or data frame of shape (n_samples, n_features), default=None
        The training rows. Without them the largest piece gets `max_points`, and nothing is known of the cost.
    y : array-like of shape (n_samples,), default=None
        Class labels, for the cost.
    label : object, default=None
        Which class, if there are more than two; the card is about this class against all others.
    max_points : int, default=10
        Most points of one range or condition.
    cv : int or None, default=5
        Folds by which the cost of rounding is measured: in each of them the estimator is fitted to the other rows, with
        the basis that was chosen for all rows, its formula becomes a card, and both predict the rows of the fold.
        None: not measured, and no further fit.
    sample_weight : array-like of shape (n_samples,), default=None
        Observations that each row stands for.
    groups : array-like of shape (n_samples,), default=None
        Rows of one group stay in one fold.

    Returns
    -------
    ScoreCard
        Points, risks and the cost of rounding.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from rfsc import RFSCClassifier
    >>> from rfsc.card import card
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> clf = RFSCClassifier(basis="step", size=3, n_restarts=1, random_state=0).fit(X, y)
    >>> print(card(clf, X, y, max_points=5, cv=None).points)
    """
    validate_parameter_constraints(CONSTRAINTS, {"max_points": max_points, "cv": cv}, caller_name="card")
    predictor = as_predictor(estimator)
    label = one_model(predictor, label).label
    if X is None:
        return _without_rows(pieces_of(predictor, label), int(max_points))
    rows = _read(predictor, X, y, label, sample_weight, groups)
    found = _fitted(pieces_of(predictor, label, rows.values), rows, int(max_points))
    if y is None or cv is None:
        return replace(found, why_no_cost="no labels were given." if y is None else "cv=None, so no fold was left out.")
    if not isinstance(estimator, RFSCClassifier | Pipeline):
        return replace(found, why_no_cost="a finished model cannot be fitted again without the rows of a fold.")
    return _with_cost(found, estimator, rows, int(max_points), int(cv))


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """Rows of positive weight, sorted by their content, so that their order does not matter."""

    X: Any
    values: FloatArray  # features of the formula
    y: np.ndarray[Any, Any] | None
    is_label: FloatArray  # 1 for rows of the class, else 0
    weight: FloatArray
    groups: IntArray | None
    label: object

    def part(self, some: IntArray) -> _Rows:
        """Some of the rows."""
        y, groups = (None if one is None else one[some] for one in (self.y, self.groups))
        own = self.values[some], y, self.is_label[some], self.weight[some], groups
        return _Rows(safe_indexing(self.X, some), *own, self.label)


def _read(predictor: Any, X: Any, y: Any, label: object, sample_weight: Any, groups: Any) -> _Rows:
    if is_large(X):
        msg = "a card needs a table in memory; this one is read in chunks. Pass a sample of its rows."
        raise ValueError(msg)
    X = X if hasattr(X, "shape") else np.asarray(X)
    values = predictor.features(X)
    labels = None if y is None else labels_of(y, len(values))
    code = np.zeros(len(values)) if labels is None else codes_of(labels, predictor.classes_)
    place = predictor.classes_.tolist().index(label)
    weight = row_weights(sample_weight, None, np.empty((len(values), 1)), np.asarray(code))
    order = np.lexsort((weight, code, *values.T))
    rows = _Rows(X, values, labels, np.asarray(code == place, float), weight, group_codes(groups, len(values)), label)
    return rows.part(order[weight[order] > 0])


# ---- points


def _table(pieces: Pieces, scale: float) -> PointTable:
    feature, condition, points, bounds = zip(*pieces.rows(scale), strict=True)
    return PointTable(feature, condition, np.array(points, dtype=np.int64), bounds)


def _card(pieces: Pieces, points: PointTable, risks: RiskTable, line: tuple[float, float], why: str) -> ScoreCard:
    predictor = pieces.predictor
    recipe = predictor.recipe_ or Recipe.identity(predictor.column_names)
    return ScoreCard(points, risks, str(pieces.model.label), *line, None, why, recipe, bool(predictor.named))


def _without_rows(pieces: Pieces, max_points: int) -> ScoreCard:
    """Intercept and slope as the formula has them, and all totals that its pieces can have."""
    scale = max_points / pieces.largest
    points, line = _table(pieces, scale), (pieces.lowest, 1.0 / scale)
    ends = np.array([[f(row.points for row in own) for f in (min, max)] for own in _alternatives(pieces, scale)])
    low, high = np.minimum(ends[:, 0], 0).sum(), np.maximum(ends[:, 1], 0).sum()
    total = np.arange(low, high + 1)
    risks = RiskTable(total, expit(line[0] + line[1] * total), None)
    return _card(pieces, points, risks, line, "the card was made without a table.")


def _alternatives(pieces: Pieces, scale: float) -> list[list[Any]]:
    """Rows of each piece, one of which holds at a time."""
    return [rows for piece in pieces.pieces if (rows := piece.rows(scale))]


def _fitted(pieces: Pieces, rows: _Rows, max_points: int) -> ScoreCard:
    """The card on the smallest scale that is as good as the best."""
    f, weight = pieces.model.decision(rows.values), rows.weight
    tried = np.arange(STEPS, STEPS * max_points + STEPS // 2) / STEPS
    found = []
    for largest in tried:
        points = _table(pieces, largest / pieces.largest)
        totals = points.totals(rows.values)
        found.append((points, totals, *_line(totals, expit(f), weight)))
    losses = np.array([loss for *_, loss in found])
    best = int(np.argmax(losses <= losses.min() + TOLERANCE / weight.sum()))
    points, totals, line, _ = found[best]
    total, count = np.unique(totals, return_counts=True)
    return _card(pieces, points, RiskTable(total, expit(line[0] + line[1] * total), count), line, "")


def _line(totals: IntArray, p: FloatArray, weight: FloatArray) -> tuple[tuple[float, float], float]:
    """Intercept and slope whose probabilities are nearest to p, by Newton's method, and their expected log-loss."""
    total, place = np.unique(totals, return_inverse=True)
    n, share = np.bincount(place, weight), np.bincount(place, weight * p)
    centre = float(np.average(total, weights=n))
    design = np.stack([np.ones(total.size), total - centre])
    beta = np.array([0.0, 0.0])

    def loss_at(at: FloatArray) -> float:
        value = at @ design
        return float(-(share @ log_expit(value) + (n - share) @ log_expit(-value)) / n.sum())

    loss = loss_at(beta)
    for _ in range(MOST_STEPS):
        q = expit(beta @ design)
        gradient, curvature = design @ (share - n * q), (design * (n * q * (1 - q))) @ design.T
        step = np.linalg.lstsq(curvature, gradient, rcond=None)[0]
        while (found := loss_at(beta + step)) > loss and np.abs(step).max() > 1e-12:
            step = step / 2
        beta, loss, before = beta + step, min(found, loss), loss
        if before - loss <= 1e-14:
            break
    return (float(beta[0] - beta[1] * centre), float(beta[1])), loss


# ---- what rounding costs


def _with_cost(found: ScoreCard, estimator: Any, rows: _Rows, max_points: int, cv: int) -> ScoreCard:
    """The card with the left-out log-loss of cards and formulas that have not seen the rows of a fold."""
    given = {"shuffle": True, "random_state": SEED}
    splitter = (StratifiedKFold if rows.groups is None else StratifiedGroupKFold)(cv, **given)
    code = np.unique(np.asarray(rows.y), return_inverse=True)[1]
    losses = np.empty((2, len(code)))
    for train, test in splitter.split(rows.values, code, rows.groups):
        seen, left = rows.part(train), rows.part(test)
        predictor = as_predictor(_fit(estimator, seen))
        seen, left = (replace(one, values=predictor.features(one.X)) for one in (seen, left))
        try:
            pieces = pieces_of(predictor, rows.label, seen.values)
        except ValueError:
            why = "without the rows of a fold, the formula has products of features, or no term at all."
            return replace(found, why_no_cost=why)
        made = _fitted(pieces, seen, max_points)
        f = made.intercept + made.slope * made.points.totals(left.values)
        for k, value in enumerate((f, pieces.model.decision(left.values))):
            losses[k, test] = -log_expit(np.where(left.is_label == 1, value, -value))
    return replace(found, cost=_cost(losses, rows, cv), why_no_cost="")


def _fit(estimator: Any, rows: _Rows) -> Any:
    """A clone fitted to rows, with the basis that the estimator has chosen."""
    copy = clone(estimator)
    last, own = (one[-1] if isinstance(one, Pipeline) else one for one in (copy, estimator))
    last.set_params(verbose=0, callbacks=None)
    if last.basis == "auto":
        last.set_params(basis=list(own.basis_))
    is_weighted = bool(np.any(rows.weight != 1.0))
    with uninterruptible_fits():
        given = fit_params(copy, sample_weight=rows.weight if is_weighted else None, groups=rows.groups)
        return copy.fit(rows.X, rows.y, **given)


def _cost(losses: FloatArray, rows: _Rows, cv: int) -> RoundingCost:
    share = rows.weight / rows.weight.sum()
    card_loss, formula_loss = (losses @ share).tolist()
    difference = card_loss - formula_loss
    own = np.arange(len(share)) if rows.groups is None else np.unique(rows.groups, return_inverse=True)[1]
    sums = np.bincount(own, share * (losses[0] - losses[1] - difference))
    error = float(np.sqrt((sums**2).sum() * sums.size / max(sums.size - 1, 1)))
    return RoundingCost(
        log_loss=card_loss, formula_log_loss=formula_loss, difference=difference, standard_error=error, n_folds=cv
    )
