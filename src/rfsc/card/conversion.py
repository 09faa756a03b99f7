"""`card`: the points of a formula, on the scale that loses least, and what that costs on left-out rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
from scipy.special import expit, log_expit
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold
from sklearn.pipeline import Pipeline

from .._fit.encoding import row_weights
from .._fit.rows import group_codes
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
        Which class, by default the second of two; the card is about this class against all others.
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
    feature               value          points
    -------------------------------------------
    worst radius          up to 16.83         4
    worst concave points  up to 0.14245       3
    worst texture         up to 20.6          3
    (A range includes its upper end. What is not listed adds 0.)
    """
    validate_parameter_constraints(CONSTRAINTS, {"max_points": max_points, "cv": cv}, caller_name="card")
    predictor = as_predictor(estimator)
    label = one_model(predictor, label).label
    if X is None:
        pieces = pieces_of(predictor, label)
        return replace(_card(pieces, max_points / pieces.largest), why_no_cost="the card was made without a table.")
    rows = _read(predictor, X, y, label, sample_weight, groups)
    found = _fitted(pieces_of(predictor, label, rows.values), rows.values, rows.weight, int(max_points))
    if y is None or cv is None:
        return replace(found, why_no_cost="no labels were given." if y is None else "no fold was left out.")
    if not isinstance(estimator, RFSCClassifier | Pipeline):
        return replace(found, why_no_cost="a finished model cannot be fitted again without the rows of a fold.")
    return _with_cost(found, estimator, rows, int(max_points), int(cv))


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """Rows of positive weight, sorted by their content, so that their order does not matter."""

    X: Any
    values: FloatArray  # features of the formula
    y: Any
    label: object
    weight: FloatArray
    groups: IntArray | None


def _read(predictor: Any, X: Any, y: Any, label: object, sample_weight: Any, groups: Any) -> _Rows:
    if is_large(X):
        msg = "a card needs a table in memory; this one is read in chunks. Pass a sample of its rows."
        raise ValueError(msg)
    X = X if hasattr(X, "shape") else np.asarray(X)
    values = predictor.features(X)
    labels = np.full(len(values), label) if y is None else labels_of(y, len(values))
    code, weight = codes_of(labels, predictor.classes_), row_weights(sample_weight, None, values[:, :1], labels)
    order = np.lexsort((weight, code, *values.T))
    used = order[weight[order] > 0]
    found = group_codes(groups, len(values))
    own = None if found is None else found[used]
    return _Rows(safe_indexing(X, used), values[used], labels[used], label, weight[used], own)


# ---- points


def _card(pieces: Pieces, scale: float) -> ScoreCard:
    """The card on which f = 1 is worth `scale` points, with the intercept and slope of the formula and all totals."""
    rows = [own for piece in pieces.pieces if (own := piece.rows(scale))]
    feature, condition, points, bounds = zip(*(row for own in rows for row in own), strict=True)
    low, high = (sum(f(0, *(row.points for row in own)) for own in rows) for f in (min, max))
    recipe = pieces.predictor.recipe_ or Recipe.identity(pieces.predictor.column_names)
    table, label = PointTable(feature, condition, np.array(points), bounds), str(pieces.model.label)
    totals = np.arange(low, high + 1)
    risks = RiskTable(totals, expit(pieces.lowest + 1.0 / scale * totals), None)
    return ScoreCard(table, risks, label, pieces.lowest, 1.0 / scale, None, "", recipe)


def _fitted(pieces: Pieces, values: FloatArray, weight: FloatArray, max_points: int) -> ScoreCard:
    """The card on the smallest scale that is as good as the best, its probabilities fitted to those of the formula."""
    p = expit(pieces.model.decision(values))
    found, losses = [], []
    for largest in np.arange(STEPS, STEPS * max_points + STEPS // 2) / STEPS:
        made = _card(pieces, largest / pieces.largest)
        totals = made.points.totals(values)
        intercept, slope, loss = _line(totals, p, weight)
        found.append((replace(made, intercept=intercept, slope=slope), totals))
        losses.append(loss)
    made, totals = found[int(np.argmax(np.array(losses) <= min(losses) + TOLERANCE / weight.sum()))]
    every = made.risks.total
    return made.with_totals(every, np.bincount(totals - every[0], minlength=every.size))


def _line(totals: IntArray, p: FloatArray, weight: FloatArray) -> tuple[float, float, float]:
    """Intercept and slope whose probabilities are nearest to p, and their expected log-loss if p is right."""
    total, place = np.unique(totals, return_inverse=True)
    yes, no = np.bincount(place, weight * p), np.bincount(place, weight * (1.0 - p))
    fit = LogisticRegression(C=np.inf, solver="newton-cholesky", tol=1e-10)
    fit.fit(np.tile(total, 2)[:, None], np.repeat([1, 0], total.size), np.concatenate([yes, no]) / weight.mean())
    f = fit.intercept_[0] + fit.coef_[0, 0] * total
    loss = -(yes @ log_expit(f) + no @ log_expit(-f)) / weight.sum()
    return float(fit.intercept_[0]), float(fit.coef_[0, 0]), float(loss)


# ---- what rounding costs


def _with_cost(found: ScoreCard, estimator: Any, rows: _Rows, max_points: int, cv: int) -> ScoreCard:
    """The card with the left-out log-loss of cards and formulas that have not seen the rows of a fold."""
    splitter = StratifiedKFold if rows.groups is None else StratifiedGroupKFold
    sign = np.where(rows.y == rows.label, 1.0, -1.0)
    losses = np.empty((2, len(sign)))
    for seen, left in splitter(cv, shuffle=True, random_state=SEED).split(rows.values, rows.y, rows.groups):
        predictor = as_predictor(_fit(estimator, rows, seen))
        known, new = (predictor.features(safe_indexing(rows.X, some)) for some in (seen, left))
        try:
            pieces = pieces_of(predictor, rows.label, known)
        except ValueError as error:
            why = f"a formula fitted without the rows of one fold gives no card, because {error}"
            return replace(found, why_no_cost=why)
        made = _fitted(pieces, known, rows.weight[seen], max_points)
        losses[0, left] = made.intercept + made.slope * made.points.totals(new)
        losses[1, left] = pieces.model.decision(new)
    return replace(found, cost=_cost(-log_expit(sign * losses), rows, cv))


def _fit(estimator: Any, rows: _Rows, some: IntArray) -> Any:
    """A clone fitted to some rows, with the basis that the estimator has chosen."""
    copy = clone(estimator)
    last, own = (one[-1] if isinstance(one, Pipeline) else one for one in (copy, estimator))
    basis = list(own.basis_) if last.basis == "auto" else last.basis
    last.set_params(verbose=0, callbacks=None, basis=basis)
    weight = rows.weight[some] if np.any(rows.weight != 1.0) else None
    given = fit_params(copy, sample_weight=weight, groups=None if rows.groups is None else rows.groups[some])
    with uninterruptible_fits():
        return copy.fit(safe_indexing(rows.X, some), rows.y[some], **given)


def _cost(losses: FloatArray, rows: _Rows, cv: int) -> RoundingCost:
    """Means over all rows, and the standard error of their difference."""
    share = rows.weight / rows.weight.sum()
    with_points, formula = (losses @ share).tolist()
    own = np.arange(len(share)) if rows.groups is None else rows.groups
    sums = np.bincount(own, share * (losses[0] - losses[1] - (with_points - formula)))
    n = np.unique(own).size
    error = float(np.sqrt((sums**2).sum() * n / max(n - 1, 1)))
    return RoundingCost(with_points, formula, with_points - formula, error, cv)
