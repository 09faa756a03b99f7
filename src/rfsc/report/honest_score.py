"""How good a model is on rows it has not seen, beside methods that everybody knows, on the same folds."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import RepeatedStratifiedKFold, check_cv
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from .._search.context import StopAfter, uninterruptible_fits
from .._utils.arrays import FloatArray, IntArray
from .._utils.compat import safe_indexing
from .metrics import METRICS, measure
from .subject import codes_of

N_FOLDS = 5
FEW_ROWS, REPEATS = 200, 3  # below, one partition into folds tells little; several are averaged
N_RESAMPLES = 100
OURS, MAJORITY = "RFSC", "majority class"

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True, eq=False)
class MethodScore:
    """What one method reached on every fold.

    Parameters
    ----------
    name : str
        The method.
    values : ndarray of shape (n_folds, n_metrics)
        In the order of `METRICS`.
    seconds : float
        Mean time of a fit.
    n_warned : int, default=0
        Folds on which the method warned that it had not converged.
    on_all : ndarray of shape (n_metrics,) or None, default=None
        Scores of all rows together, where `values` are those of resamples.
    over_rows : ndarray of shape (n_metrics,) or None, default=None
        Where there is a single fold, the spread of resamples of its rows.
    """

    name: str
    values: FloatArray
    seconds: float
    n_warned: int = 0
    on_all: FloatArray | None = None
    over_rows: FloatArray | None = None

    @property
    def mean(self) -> FloatArray:
        """The score to report, per metric."""
        return np.asarray(self.values.mean(axis=0)) if self.on_all is None else self.on_all

    @property
    def spread(self) -> FloatArray:
        """Standard deviation over the folds, per metric; over resamples of the rows where there is one fold only."""
        if len(self.values) > 1:
            return np.asarray(self.values.std(axis=0, ddof=1))
        return np.full(len(METRICS), np.nan) if self.over_rows is None else self.over_rows


@dataclass(frozen=True, slots=True, eq=False)
class HonestScore:
    """Scores of a model and of others beside it.

    Parameters
    ----------
    how : {"cross-validation", "given rows"}
        Whether the rows were left out of the fits that were scored, or are simply those that were given.
    n_folds, n_repeats : int
        Of the cross-validation; n_repeats counts how often each row was predicted. For given rows, resamples and 1.
    methods : tuple of MethodScore
        The model first.
    code : ndarray of shape (n_predicted,), dtype=int
        Positions of the true classes, of every row that was predicted (once each).
    proba : ndarray of shape (n_predicted, n_classes)
        What the model said of them.
    sizes : ndarray of shape (n_folds,), dtype=int, or None
        Terms that the model had in each fold.
    test_share : float
        Rows predicted by a fold, as a multiple of those it was fitted to; 0 for given rows.
    """

    how: str
    n_folds: int
    n_repeats: int
    methods: tuple[MethodScore, ...]
    code: IntArray
    proba: FloatArray
    sizes: IntArray | None = None
    test_share: float = 0.0

    @property
    def is_honest(self) -> bool:
        """Whether the model is known not to have seen the rows that it is scored on."""
        return self.how == "cross-validation"

    def mean(self, metric: str) -> float:
        """A metric of the model."""
        return float(self.methods[0].mean[[m.key for m in METRICS].index(metric)])

    def difference(self, other: MethodScore) -> tuple[FloatArray, FloatArray]:
        """How much better another method is than the model, and the half-width of a 95 % interval, per metric.

        Folds share most of their training rows, so the interval is widened as Nadeau and Bengio have shown (2003).
        """
        sign = np.array([1.0 if metric.higher_is_better else -1.0 for metric in METRICS])
        gap = sign * (other.values - self.methods[0].values)
        n_folds = len(gap)
        if n_folds < 2 or not self.is_honest:
            return gap.mean(axis=0), np.full(len(METRICS), np.inf)
        widened = np.sqrt((1.0 / n_folds + self.test_share) * gap.var(axis=0, ddof=1))
        return gap.mean(axis=0), np.asarray(stats.t.ppf(0.975, n_folds - 1) * widened)


def default_baselines(random_state: int | None = 0) -> dict[str, Any]:
    """Methods that a reader knows: the majority class, logistic regression, random forest, gradient boosting.

    Parameters
    ----------
    random_state : int or None, default=0
        Seed of the last two.

    Returns
    -------
    dict of str to estimator
        Not fitted.
    """
    return {
        MAJORITY: DummyClassifier(strategy="prior"),
        "logistic regression": make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
        "random forest": RandomForestClassifier(n_estimators=200, random_state=random_state),
        "gradient boosting": HistGradientBoostingClassifier(random_state=random_state),
    }


def cross_validated(
    estimator: Any,
    X: Any,
    y: Any,
    classes: Any,
    *,
    cv: Any = "auto",
    baselines: Mapping[str, Any] | None = None,
    random_state: int | None = 0,
    progress: Progress | None = None,
) -> HonestScore:
    """Fit clones of an estimator, and baselines behind the same preprocessing, and score rows that were left out.

    Parameters
    ----------
    estimator : RFSCClassifier or Pipeline
        What to clone.
    X : data frame or array of shape (n_samples, n_columns)
        The table.
    y : ndarray of shape (n_samples,)
        Labels.
    classes : ndarray of shape (n_classes,)
        All labels.
    cv : "auto", int, splitter or iterable, default="auto"
        Folds. "auto" takes 5 that keep the share of the classes, three times over below 200 rows.
    baselines : mapping of str to estimator or None, default=None
        Other methods.
    random_state : int or None, default=0
        Seed of the folds.
    progress : callable or None, default=None
        Told what is being fitted.

    Returns
    -------
    HonestScore
        Scores, and what was said of the rows that were left out.
    """
    code = codes_of(y, classes)
    folds = _folds(cv, X, y, code, random_state)
    contenders = {OURS: _silent(estimator)} | {
        name: _behind_same_steps(estimator, method) for name, method in (baselines or {}).items()
    }
    methods, ours, sizes = [], [], []
    for name, method in contenders.items():
        values, seconds, n_warned = [], [], 0
        for k, (train, test) in enumerate(folds):
            if progress:
                progress(f"cross-validation: {name}, fold {k + 1} of {len(folds)}")
            started = time.perf_counter()
            fitted, warned = _fit(clone(method), safe_indexing(X, train), y[train])
            seconds.append(time.perf_counter() - started)
            proba = aligned(fitted.predict_proba(safe_indexing(X, test)), fitted.classes_, classes)
            values.append(_figures(code[test], proba))
            n_warned += warned
            if name == OURS:
                ours.append(proba)
                sizes.append(_size(fitted))
        over_rows = None
        if len(folds) == 1:
            over_rows = _resampled(code[folds[0][1]], proba, random_state).std(axis=0, ddof=1)
        methods.append(MethodScore(name, np.array(values), float(np.mean(seconds)), n_warned, over_rows=over_rows))
    tested = np.concatenate([test for _, test in folds])
    _, once = np.unique(tested, return_index=True)
    return HonestScore(
        how="cross-validation",
        n_folds=len(folds),
        n_repeats=max(1, round(tested.size / once.size)),
        methods=tuple(methods),
        code=code[tested[once]],
        proba=np.concatenate(ours)[once],
        sizes=np.array(sizes, dtype=np.int64),
        test_share=float(np.mean([len(test) / len(train) for train, test in folds])),
    )


def on_given_rows(proba: FloatArray, code: IntArray, *, random_state: int | None = 0) -> HonestScore:
    """Score predictions as they are, beside the shares of the classes; the spread is that of random resamples."""
    n_samples, n_classes = proba.shape
    shares = np.tile(np.bincount(code, minlength=n_classes) / n_samples, (n_samples, 1))
    methods = []
    for name, said in ((OURS, proba), (MAJORITY, shares)):
        values = _resampled(code, said, random_state)
        methods.append(MethodScore(name, values, float("nan"), on_all=np.array(_figures(code, said))))
    return HonestScore("given rows", N_RESAMPLES, 1, tuple(methods), code, proba)


def _resampled(code: IntArray, proba: FloatArray, random_state: int | None) -> FloatArray:
    """Scores of random resamples of the rows, the same resamples for every method."""
    rng = np.random.default_rng(random_state)
    draws = (rng.integers(len(code), size=len(code)) for _ in range(N_RESAMPLES))
    return np.array([_figures(code[some], proba[some]) for some in draws])


def _figures(code: IntArray, proba: FloatArray) -> list[float]:
    return list(measure(code, proba).values())


def aligned(proba: FloatArray, known: Any, classes: Any) -> FloatArray:
    """Columns in the order of all classes; those that a fold has not met get probability zero."""
    out = np.zeros((len(proba), len(classes)))
    out[:, np.searchsorted(classes, known)] = proba
    return out


def _folds(cv: Any, X: Any, y: Any, code: IntArray, random_state: int | None) -> list[tuple[IntArray, IntArray]]:
    smallest = int(np.bincount(code).min())
    if isinstance(cv, str):
        if cv != "auto":
            msg = f"cv must be 'auto', a number of folds, a splitter, an iterable of folds or None, got {cv!r}."
            raise ValueError(msg)
        cv = N_FOLDS if smallest >= N_FOLDS else max(smallest, 2)
    if isinstance(cv, int):
        if not 2 <= cv <= smallest:
            msg = (
                f"{cv} folds need at least two folds and as many rows of every class; the smallest class has "
                f"{smallest}. Lower cv, add rows of that class, or pass cv=None to score the rows as they are."
            )
            raise ValueError(msg)
        repeats = REPEATS if len(code) < FEW_ROWS else 1
        cv = RepeatedStratifiedKFold(n_splits=cv, n_repeats=repeats, random_state=random_state)
    return list(check_cv(cv, y, classifier=True).split(X, y))


def _silent(estimator: Any) -> Any:
    """A clone without progress bars and callbacks, which are about the one fit that the user has watched.

    A time limit stays: a score is that of models found in the same time.
    """
    copy = clone(estimator)
    last = copy[-1] if isinstance(copy, Pipeline) else copy
    given = last.get_params()
    callbacks = given.get("callbacks")
    limits = [one for one in (callbacks if isinstance(callbacks, list) else [callbacks]) if isinstance(one, StopAfter)]
    quiet = {"verbose": 0, "callbacks": limits or None}
    last.set_params(**{key: value for key, value in quiet.items() if key in given})
    return copy


def _behind_same_steps(estimator: Any, method: Any) -> Any:
    """The other method in the place of the last step of a pipeline."""
    steps: Sequence[Any] = [step for _, step in estimator.steps[:-1]] if isinstance(estimator, Pipeline) else []
    return make_pipeline(*(clone(step) for step in steps), clone(method)) if steps else clone(method)


def _fit(method: Any, X: Any, y: Any) -> tuple[Any, bool]:
    """Fit, and whether it warned that it had not converged; other warnings concern the user's own fit."""
    with warnings.catch_warnings(record=True) as caught, uninterruptible_fits():
        warnings.simplefilter("always")
        fitted = method.fit(X, y)
    return fitted, any(issubclass(w.category, ConvergenceWarning) for w in caught)


def _size(fitted: Any) -> int:
    last = fitted[-1] if isinstance(fitted, Pipeline) else fitted
    return sum(len(model.terms) for model in last.models_)
