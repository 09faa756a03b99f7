"""Compares new rows with those of a fit, and records what is needed for that with a model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import stats

from .._model import Predictor
from .._model.access import as_predictor
from .._model.measures import AUC, INTERCEPT, LOG_LOSS, SLOPE, figures_of, scored_classes
from .._model.recipe import NUMERIC_KINDS, NumberOf, Recipe
from .._model.reference import Measured, Observed, Reference, Spread, score_name
from .._utils.arrays import BoolArray, FloatArray, IntArray
from .._utils.validation import codes_of, is_missing, labels_of
from .shift import LEAST_ROWS, largest_by_chance, outside_range, spread_like, spread_of, stability_index
from .shift_tables import LEVEL, DecileTable, Monitoring, PerformanceTable, ShiftTable, verdict_of

REACH = float(stats.norm.ppf(0.975))  # of a 95 % interval, in standard errors
NO_REFERENCE = (
    "the model holds no reference to compare new rows with. Fit it again with this version of `rfsc fit`, or in Python "
    "save rfsc.monitor.with_reference(clf, X, y) with the training rows."
)


def with_reference(source: Any, X: Any, y: Any = None, *, proba: Any = None) -> Predictor:
    """A model with a record of how the rows of its fit were spread, for `monitor` and `rfsc.export.save`.

    The record holds decile cut points and numbers of rows in each bin, of the score and of every column that the model
    reads, levels of at least five rows, and measures of the predictions. No bin stands for fewer than five rows, and no
    row of the table is kept. `rfsc fit` makes it of its own accord.

    Parameters
    ----------
    source : RFSCClassifier, Pipeline or Predictor
        A fitted classifier, a fitted pipeline that ends in one, or a model read from a file.
    X : array-like or data frame of shape (n_samples, n_columns)
        The rows that it was fitted to.
    y : array-like of shape (n_samples,), default=None
        Classes of these rows; None records no measures of the predictions.
    proba : array-like of shape (n_samples, n_classes), default=None
        Probabilities of left-out rows, for instance from ``cross_val_predict(clf, X, y, method="predict_proba")``, for
        the measures; `y` holds the classes of the same rows. None takes what the model predicts for X, which looks
        better than new rows.

    Returns
    -------
    Predictor
        Predicts as the source.
    """
    predictor = as_predictor(source)
    X = _unnamed(predictor, X)
    own = predictor.predict_proba(X)  # new scores are compared with those of the same model
    values = own if proba is None else np.asarray(proba)
    classes = predictor.classes_.tolist()
    labels = np.asarray(y)
    is_table = values.ndim == 2 and values.shape[1] == len(classes) and values.dtype.kind in NUMERIC_KINDS
    if (
        not is_table
        or not ((values >= 0) & (values <= 1)).all()
        or (y is not None and labels.shape != values.shape[:1])
    ):
        msg = (
            f"expected one row of {len(classes)} probabilities from 0 to 1 for every entry of y, got an array of shape "
            f"{values.shape}{'' if y is None else f' for y of shape {labels.shape}'}. Pass the predict_proba of those "
            "rows."
        )
        raise ValueError(msg)
    columns = [
        spread_of(raw.name, cells, missing, kind=raw.kind) for raw, cells, missing in _cells_read(predictor, X).values()
    ]
    scores = [spread_of(score_name(classes[k]), own[:, k]) for k in scored_classes(classes)]
    code = None if y is None else codes_of(labels, classes)
    figures = () if code is None else figures_of(code, values, classes)
    observed = () if code is None or len(classes) > 2 else _observed(code == 1, values[:, 1])
    found = Reference(len(X), proba is not None, tuple(scores), tuple(columns), figures, observed)
    return predictor.with_reference(found)


def _observed(happened: BoolArray, proba: FloatArray) -> tuple[Observed, ...]:
    """How often a class was true, by deciles of its probability with at least five rows."""
    cuts = (*spread_of("", proba).cuts, 1.0)
    bins = np.searchsorted(cuts[:-1], proba, side="left")
    return tuple(Observed(cuts[j], int((bins == j).sum()), float(happened[bins == j].mean())) for j in np.unique(bins))


def monitor(model: Any, X: Any, y: Any = None) -> Monitoring:
    """Compare new rows with those that a model was fitted to.

    Parameters
    ----------
    model : Predictor
        A model file of `rfsc fit`, read by `rfsc.export.load`, or what `with_reference` returns.
    X : array-like or data frame of shape (n_samples, n_columns)
        New rows, with the columns of the table that the model was fitted to.
    y : array-like of shape (n_samples,), default=None
        Their classes, if they are known by now; None or NaN for rows whose class is not.

    Returns
    -------
    Monitoring
        Tables, with ``lines()``, ``text()`` and ``to_json()``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rfsc import RFSCClassifier
    >>> from rfsc.monitor import monitor, with_reference
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> X, y = X[y > 0], y[y > 0]
    >>> clf = RFSCClassifier(basis="polynomial", random_state=0).fit(X, y)
    >>> model = with_reference(clf, X, y)
    >>> monitor(model, X).largest_psi
    0.0
    >>> monitor(model, X + 2.0).scores.verdict
    ('large change',)
    """
    predictor = as_predictor(model)
    reference = predictor.reference_
    if reference is None:
        raise ValueError(NO_REFERENCE)
    first, *others = predictor.classes_.tolist()
    if len(others) == 1 and reference.is_about(first):  # by rfsc fit --class
        predictor = predictor.about(first)
    X = _unnamed(predictor, X)
    if hasattr(X, "__len__") and not len(X):
        msg = "the table has no rows, so there is nothing to compare with the fit."
        raise ValueError(msg)
    proba, classes = predictor.predict_proba(X), predictor.classes_.tolist()
    level = LEVEL / (len(reference.scores) + len(reference.columns))
    _check(predictor, reference)
    pairs = [
        (old, spread_like(old, proba[:, k])) for old, k in zip(reference.scores, scored_classes(classes), strict=True)
    ]
    scores = ShiftTable(**_shifts(pairs, level)[0])
    performance = deciles = None
    labels = None if y is None else labels_of(y, len(X))
    known = np.zeros(len(X), dtype=np.bool_) if labels is None else np.array([not is_missing(one) for one in labels])
    if labels is not None and known.any():
        code = codes_of(labels[known], classes)
        performance = _performance(figures_of(code, proba[known], classes), reference.figures)
        deciles = _deciles(code, proba[known], classes)
    columns = _column_shifts(predictor, reference, X, level)
    n_known = int(known.sum())
    return Monitoring(scores, columns, performance, deciles, len(X), reference.n_rows, n_known, reference.is_left_out)


def _unnamed(predictor: Predictor, X: Any) -> Any:
    """Columns of a model without names are found by their position."""
    return X.to_numpy() if not predictor.named and hasattr(X, "columns") else X


def _columns_read(predictor: Predictor) -> tuple[Recipe, list[int]]:
    """How raw columns are read, and which the model reads."""
    recipe = predictor.recipe_ or Recipe.identity(predictor.column_names)
    return recipe, sorted({recipe.features[p].column for model in predictor.formulas for p in model.features})


def _cells_read(predictor: Predictor, X: Any) -> dict[int, Any]:
    """Raw columns that the model reads, their cells, and which are missing."""
    recipe, read = _columns_read(predictor)
    return {c: (recipe.columns[c], found.values, found.missing) for c, found in recipe.cells(X, read).items()}


def _check(predictor: Predictor, reference: Reference) -> None:
    """Raise ValueError if a reference, perhaps of a file, is one of another model."""
    recipe, read = _columns_read(predictor)
    kinds = [(recipe.columns[c].name, recipe.columns[c].kind) for c in read]
    found = [(spread.name, spread.kind) for spread in reference.columns]
    scores = [(score_name(predictor.classes_[k]), "number") for k in scored_classes(predictor.classes_.tolist())]
    if kinds != found or scores != [(spread.name, spread.kind) for spread in reference.scores]:
        msg = "the reference of the model is that of another one. Make it again with rfsc.monitor.with_reference."
        raise ValueError(msg)


# ---- shifts


def _shifts(pairs: Sequence[tuple[Spread, Spread]], level: float) -> tuple[dict[str, Any], IntArray]:
    """Name, verdict, index and limit of each pair of spreads, the largest index first, and the order."""
    indices = [stability_index(old, new) for old, new in pairs]
    psi = np.array([value for value, _ in indices])
    sizes = [(old.n_rows, new.n_rows) for old, new in pairs]
    chance = np.array([largest_by_chance(n, *own, level) for (_, n), own in zip(indices, sizes, strict=True)])
    order = np.argsort(-psi, kind="stable")
    verdicts = tuple(verdict_of(psi[j], chance[j]) for j in order)
    names = tuple(pairs[j][0].name for j in order)
    return {"name": names, "verdict": verdicts, "psi": psi[order], "chance": chance[order]}, order


def _column_shifts(predictor: Predictor, reference: Reference, X: Any, level: float) -> ShiftTable:
    cells, known = _cells_read(predictor, X), {spread.name: spread for spread in reference.columns}
    beyond = _outside(predictor, X)
    pairs, outside, new_levels = [], [], []
    for c, (raw, values, missing) in cells.items():
        old = known[raw.name]
        pairs.append((old, spread_like(old, values, missing)))
        outside.append(beyond.get(c, np.nan))
        new_levels.append(_new_levels(old, values, missing))
    found, order = _shifts(pairs, level)

    def shares(field: str, which: int, kinds: tuple[str, ...] = ("number", "text")) -> FloatArray:
        own = [pair[which] for pair in pairs]
        return np.array([getattr(one, field) / one.n_rows if one.kind in kinds else np.nan for one in own])[order]

    has_texts = any(old.kind == "text" for old, _ in pairs)
    return ShiftTable(
        **found,
        blank=shares("n_blank", 1),
        blank_at_fit=shares("n_blank", 0),
        outside=np.array(outside)[order] if np.isfinite(outside).any() else None,
        unlisted=shares("n_other", 1, ("text",)) if has_texts else None,
        unlisted_at_fit=shares("n_other", 0, ("text",)) if has_texts else None,
        new_levels=tuple(new_levels[j] for j in order) if has_texts else None,
    )


def _outside(predictor: Predictor, X: Any) -> dict[int, float]:
    """Share of the rows beyond the training range of every column of numbers that the model reads."""
    recipe = predictor.recipe_ or Recipe.identity(predictor.column_names)
    read = sorted({p for model in predictor.formulas for p in model.features})
    some = [p for p in read if isinstance(recipe.features[p], NumberOf)]
    shares = outside_range(predictor.models_[0].scaling, predictor.features(X), some).mean(axis=0)
    return {recipe.features[p].column: share for p, share in zip(some, shares.tolist(), strict=True)}


def _new_levels(reference: Spread, values: Any, missing: BoolArray) -> tuple[str, ...]:
    """Levels that a reference does not list, if they are not rare."""
    if reference.kind != "text":
        return ()
    found = Counter(map(str, values[~missing]))
    return tuple(level for level, n in found.most_common() if n >= LEAST_ROWS and level not in reference.levels)


# ---- known classes


def _performance(figures: Sequence[Measured], at_fit: Sequence[Measured]) -> PerformanceTable:
    before = {(one.measure, one.label): one for one in at_fit}
    old = [before.get((one.measure, one.label)) for one in figures]
    now, error = (np.array([getattr(one, name) for one in figures], dtype=np.float64) for name in FIGURE)
    least = np.array([0.0 if one.measure in (AUC, LOG_LOSS) else -np.inf for one in figures])
    most = np.array([1.0 if one.measure == AUC else np.inf for one in figures])
    labels = tuple(one.label for one in figures)
    return PerformanceTable(
        measure=tuple(one.measure for one in figures),
        label=labels if len(set(labels)) > 2 else None,
        at_fit=np.array([None if one is None else one.value for one in old], dtype=np.float64) if before else None,
        now=now,
        low=np.maximum(now - REACH * error, least),
        high=np.minimum(now + REACH * error, most),
        verdict=tuple(_verdict(new, own) for new, own in zip(figures, old, strict=True)),
    )


FIGURE = ("value", "standard_error")
IDEAL = {INTERCEPT: 0.0, SLOPE: 1.0}
WORDS = {  # of a measure that is below and above what it is compared with
    LOG_LOSS: ("better than at the fit", "worse than at the fit"),
    AUC: ("worse than at the fit", "better than at the fit"),
    INTERCEPT: ("predictions are too high", "predictions are too low"),
    SLOPE: ("predictions are too extreme", "predictions are too cautious"),
}


def _verdict(new: Measured, old: Measured | None) -> str:
    """What a measure says, beside its ideal or beside the fit."""
    ideal = IDEAL.get(new.measure)
    before, before_error = (
        (ideal, 0.0) if ideal is not None else (old.value, old.standard_error) if old else (None, None)
    )
    if new.value is None or new.standard_error is None or before is None or before_error is None:
        return ""
    gap = new.value - before
    if abs(gap) <= REACH * np.hypot(new.standard_error, before_error):
        return "no clear change" if ideal is None else "no clear deviation"
    return WORDS[new.measure][int(gap > 0)]


def _deciles(code: IntArray, proba: FloatArray, classes: Sequence[Any]) -> DecileTable:
    """Rows in the deciles of their own predictions, as far as at least five rows are in each."""
    rows: list[tuple[int, str, int, float, float, float, float]] = []
    for k in scored_classes(classes):
        bins = np.searchsorted(spread_of("", proba[:, k]).cuts, proba[:, k], side="left")
        for j in np.unique(bins).tolist():
            happened, n = code[bins == j] == k, int((bins == j).sum())
            low, high = stats.binomtest(int(happened.sum()), n).proportion_ci(0.95, "wilson")
            rows.append(
                (j + 1, str(classes[k]), n, float(proba[bins == j, k].mean()), float(happened.mean()), low, high)
            )
    group, label, n_rows, *shares = zip(*rows, strict=True)
    labels = label if len(classes) > 2 else None
    return DecileTable(np.array(group), labels, np.array(n_rows), *map(np.array, shares))
