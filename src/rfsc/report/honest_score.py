"""How well a model predicts rows it has not seen, beside well-known methods on the same folds."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import stats
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import RepeatedStratifiedKFold, StratifiedGroupKFold, check_cv
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from .._fit.encoding import RowEncoder, fill_later
from .._search.context import StopAfter, uninterruptible_fits
from .._utils.arrays import FloatArray, IntArray
from .._utils.compat import safe_indexing
from .._utils.validation import codes_of, fit_params
from .metrics import METRICS, SIGNS, measure

N_FOLDS = 5
FEW_ROWS, REPEATS = 200, 3  # below FEW_ROWS, one partition into folds varies much, so several are averaged
N_RESAMPLES = 100
OURS, MAJORITY = "RFSC", "majority class"

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True, eq=False)
class MethodScore:
    name: str
    values: FloatArray  # shape (n_folds, n_metrics), in the order of METRICS
    seconds: float  # mean time of a fit
    n_warned: int = 0  # folds on which the method warned that it had not converged
    resampled: FloatArray | None = None  # with a single fold, the scores of resamples of its rows

    @property
    def mean(self) -> FloatArray:
        """The score to report, per metric."""
        return np.asarray(self.values.mean(axis=0))

    @property
    def spread(self) -> FloatArray:
        """Standard deviation over the folds, per metric; over resamples of the rows if there is one fold only."""
        return np.asarray((self.values if self.resampled is None else self.resampled).std(axis=0, ddof=1))


@dataclass(frozen=True, slots=True, eq=False)
class HonestScore:
    """Scores of a model and of other methods.

    Parameters
    ----------
    how : {"cross-validation", "given rows"}
        Whether the rows were held out of the fits that were scored, or are those that were given.
    n_folds, n_repeats, n_rows : int
        Fits of the cross-validation, predictions of each row, and rows. Given rows have one fold and one repeat.
    methods : tuple of MethodScore
        The model first.
    code : ndarray of shape (n_predicted,), dtype=int
        Positions of the true classes: of each row once, in the first `n_rows` places, then of the further repeats.
    proba : ndarray of shape (n_predicted, n_classes)
        Probabilities predicted by the model.
    sizes : ndarray of shape (n_folds,), dtype=int, or None
        Number of terms of the model in each fold.
    test_share : float
        Number of test rows divided by the number of training rows of a fold; 0 for given rows.
    weight : ndarray of shape (n_predicted,) or None
        Weights of the predictions; those of one row share its weight.
    folds_of : {"rows", "groups", "sites", "time"}
        What was divided into folds: rows at random, whole groups, one site each, or blocks of later rows, of which each
        was predicted by earlier ones.
    groups : ndarray of shape (n_predicted,) or None
        Groups of the predictions; intervals resample these as a whole.
    folds : tuple of (str, int)
        Name and number of rows of each fold, if it is a site.
    """

    how: str
    n_folds: int
    n_repeats: int
    n_rows: int
    methods: tuple[MethodScore, ...]
    code: IntArray
    proba: FloatArray
    sizes: IntArray | None = None
    test_share: float = 0.0
    weight: FloatArray | None = None
    folds_of: str = "rows"
    groups: np.ndarray[Any, Any] | None = None
    folds: tuple[tuple[str, int], ...] = ()

    def turned(self) -> HonestScore:
        """The same with the two classes in the opposite order."""
        return replace(self, code=1 - self.code, proba=self.proba[:, ::-1])

    @property
    def is_honest(self) -> bool:
        """Whether the rows were held out of the fits that were scored."""
        return self.how == "cross-validation"

    @property
    def beats_majority(self) -> bool:
        """Whether a metric of the predicted rows is clearly better than that of the class shares alone."""
        rows = on_given_rows(self.proba, self.code, how="cross-validation", weight=self.weight, groups=self.groups)
        _, half_width = rows.difference(rows.methods[1])
        ours, shares = (np.array(list(self.figures(name).values())) for name in (OURS, MAJORITY))
        half_width *= np.sqrt(self.n_repeats)  # repeated predictions of a row say little more than one
        return bool((SIGNS * (ours - shares) > half_width).any())

    @property
    def never_predicted(self) -> list[int]:
        """Positions of the classes that are the most likely one of no row."""
        return [k for k in range(self.proba.shape[1]) if not (self.proba.argmax(axis=1) == k).any()]

    def figures(self, name: str = OURS) -> dict[str, float]:
        """Metrics of the model or of the class shares: means over the folds, of all rows where a fold has none."""
        proba = self.proba if name == OURS else _shares(self.code, self.proba, self.weight)
        of_all = measure(self.code, proba, self.weight)
        means = next((m.mean.tolist() for m in self.methods if m.name == name), of_all.values())
        return {key: of_all[key] if np.isnan(mean) else mean for key, mean in zip(of_all, means, strict=True)}

    def difference(self, other: MethodScore) -> tuple[FloatArray, FloatArray]:
        """How much better another method is than the model, and the half-width of a 95 % interval, per metric.

        Folds share most of their training rows, so the variance is corrected as by Nadeau and Bengio (2003). With a
        single fold it is that of resamples of its rows.
        """
        ours = self.methods[0]
        gap = SIGNS * (other.values - ours.values)
        if not self.is_honest:
            half_width = np.full(len(METRICS), np.inf)
        elif ours.resampled is not None and other.resampled is not None:
            half_width = stats.norm.ppf(0.975) * (other.resampled - ours.resampled).std(axis=0, ddof=1)
        else:
            widened = np.sqrt((1.0 / len(gap) + self.test_share) * gap.var(axis=0, ddof=1))
            half_width = stats.t.ppf(0.975, len(gap) - 1) * widened
        return gap.mean(axis=0), np.asarray(half_width)


def default_baselines(random_state: int | None = 0) -> dict[str, Any]:
    """Methods to compare with: the majority class, logistic regression, random forest and gradient boosting.

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
    sample_weight: Any = None,
    groups: Any = None,
    random_state: int | None = 0,
    progress: Progress | None = None,
) -> HonestScore:
    """Fit clones of an estimator, and baselines after the same preprocessing, and score the held-out rows.

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
        Folds. "auto" takes 5 stratified folds, repeated three times below 200 rows unless there are groups.
    baselines : mapping of str to estimator or None, default=None
        Other methods.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows in the fits and in the scores; methods that cannot use weights are fitted without.
    groups : array-like of shape (n_samples,), default=None
        Rows of one group are never in the training rows and the test rows of a fold; a splitter given as `cv` must see
        to that itself.
    random_state : int or None, default=0
        Seed of the folds.
    progress : callable or None, default=None
        Called with a line of text before each fit.

    Returns
    -------
    HonestScore
        Scores, and the predictions for the held-out rows.
    """
    code = codes_of(y, classes)
    weight = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    groups = None if groups is None else np.asarray(groups)
    splits = _splits(cv, X, y, code, groups, random_state)
    fills, quiet = _encodes(estimator), lambda _: None
    folds = _Folds(X, y, code, classes, weight, groups, splits, random_state, progress or quiet, fills)
    ours, probas, sizes = folds.score(OURS, _silent(estimator))
    others = [folds.score(name, _after_same_steps(estimator, one))[0] for name, one in (baselines or {}).items()]
    return _of_folds(folds, (ours, *others), np.concatenate(probas), sizes)


def _of_folds(folds: _Folds, methods: tuple[MethodScore, ...], proba: FloatArray, sizes: list[int]) -> HonestScore:
    """The scores with all predictions, those of the first repeat before the others."""
    tested = np.concatenate([test for _, test in folds.splits])
    _, once = np.unique(tested, return_index=True)
    order = np.concatenate([once, np.setdiff1d(np.arange(tested.size), once)])
    rows = tested[order]
    weight = None if folds.weight is None else folds.weight[rows]
    if once.size < tested.size:
        weight = (1.0 if weight is None else weight) / np.bincount(rows)[rows]
    return HonestScore(
        how="cross-validation",
        n_folds=len(folds.splits),
        n_repeats=max(1, round(tested.size / once.size)),
        n_rows=once.size,
        methods=methods,
        code=folds.code[rows],
        proba=proba[order],
        sizes=np.array(sizes, dtype=np.int64),
        test_share=float(np.mean([len(test) / len(train) for train, test in folds.splits])),
        weight=weight,
        folds_of="rows" if folds.groups is None else "groups",
        groups=_part(folds.groups, rows),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Folds:
    """The rows of a cross-validation, on which methods are scored one after the other."""

    X: Any
    y: np.ndarray[Any, Any]
    code: IntArray
    classes: Any
    weight: FloatArray | None
    groups: np.ndarray[Any, Any] | None
    splits: list[tuple[IntArray, IntArray]]
    random_state: int | None  # of the resamples
    progress: Progress
    fills: bool = False  # whether cells that are missing in the test rows alone are filled

    def score(self, name: str, method: Any) -> tuple[MethodScore, list[FloatArray], list[int]]:
        """Scores, predicted probabilities and numbers of terms of a method, fold by fold."""
        probas, sizes, seconds, n_warned = [], [], [], 0
        for k, (train, test) in enumerate(self.splits):
            self.progress(f"cross-validation: {name}, fold {k + 1} of {len(self.splits)}")
            started = time.perf_counter()
            given = {"sample_weight": _part(self.weight, train), "groups": _part(self.groups, train)}
            fitted, warned = _fit(clone(method), safe_indexing(self.X, train), self.y[train], **given)
            seconds.append(time.perf_counter() - started)
            if self.fills:
                fill_later(fitted, safe_indexing(self.X, train))
            probas.append(aligned(fitted.predict_proba(safe_indexing(self.X, test)), fitted.classes_, self.classes))
            sizes.append(_size(fitted))
            n_warned += warned
        tests = [test for _, test in self.splits]
        rows = [(self.code[test], p, _part(self.weight, test)) for test, p in zip(tests, probas, strict=True)]
        values = [_values(*own) for own in rows]
        groups = _part(self.groups, tests[0])
        resampled = _resampled(*rows[0], groups, self.random_state) if len(rows) == 1 else None
        return MethodScore(name, np.array(values), float(np.mean(seconds)), n_warned, resampled), probas, sizes


def on_given_rows(
    proba: FloatArray,
    code: IntArray,
    *,
    how: str = "given rows",
    weight: FloatArray | None = None,
    groups: np.ndarray[Any, Any] | None = None,
    random_state: int | None = 0,
) -> HonestScore:
    """Score predictions as they are, beside the class shares; the spread is that of random resamples."""
    methods = []
    for name, predicted in ((OURS, proba), (MAJORITY, _shares(code, proba, weight))):
        values = np.array([_values(code, predicted, weight)])
        again = _resampled(code, predicted, weight, groups, random_state)
        methods.append(MethodScore(name, values, float("nan"), resampled=again))
    return HonestScore(how, 1, 1, len(code), tuple(methods), code, proba, weight=weight, groups=groups)


def _shares(code: IntArray, proba: FloatArray, weight: FloatArray | None) -> FloatArray:
    """The class shares as predictions of every row."""
    counts = np.bincount(code, weight, minlength=proba.shape[1])
    return np.tile(counts / counts.sum(), (len(proba), 1))


def _part(values: Any, rows: IntArray) -> Any:
    return None if values is None else values[rows]


def _resampled(
    code: IntArray, proba: FloatArray, weight: FloatArray | None, groups: Any, random_state: int | None
) -> FloatArray:
    """Scores of random resamples of the rows, the same resamples for every method."""
    draws = resamples(len(code), groups, random_state)
    return np.array([_values(code[some], proba[some], _part(weight, some)) for some in draws])


def resamples(n_rows: int, groups: Any = None, random_state: int | None = 0) -> Iterator[IntArray]:
    """Rows of random resamples of the rows, or of whole groups."""
    rng = np.random.default_rng(random_state)
    if groups is None:
        yield from (rng.integers(n_rows, size=n_rows) for _ in range(N_RESAMPLES))
        return
    _, place = np.unique(groups, return_inverse=True)
    members = np.split(np.argsort(place, kind="stable"), np.cumsum(np.bincount(place))[:-1])
    for _ in range(N_RESAMPLES):
        yield np.concatenate([members[g] for g in rng.integers(len(members), size=len(members))])


def _values(code: IntArray, proba: FloatArray, weight: FloatArray | None) -> list[float]:
    return list(measure(code, proba, weight).values())


def aligned(proba: FloatArray, known: Any, classes: Any) -> FloatArray:
    """Columns in the order of all classes; classes that were not in the training rows get probability zero."""
    out = np.zeros((len(proba), len(classes)))
    out[:, np.searchsorted(classes, known)] = proba
    return out


def _splits(
    cv: Any, X: Any, y: Any, code: IntArray, groups: Any, random_state: int | None
) -> list[tuple[IntArray, IntArray]]:
    if isinstance(cv, str) and cv != "auto":
        msg = f"cv must be 'auto', a number of folds, a splitter, an iterable of folds or None, got {cv!r}."
        raise ValueError(msg)
    if isinstance(cv, int | str):
        how = cv if isinstance(cv, int) else None, random_state
        cv = stratified_folds(code, *how) if groups is None else grouped_folds(code, groups, *how)
    return list(check_cv(cv, y, classifier=True).split(X, y, groups))


def grouped_folds(
    code: IntArray, groups: Any, n_folds: int | None, random_state: int | None
) -> list[tuple[IntArray, IntArray]]:
    """Folds of whole groups with nearly the same shares of the classes, five unless a class is in fewer groups."""
    least = min(len(np.unique(groups[code == k])) for k in np.unique(code))
    n_folds = max(min(N_FOLDS, least), 2) if n_folds is None else n_folds
    folds = []
    if 2 <= n_folds <= least:
        splitter = StratifiedGroupKFold(n_folds, shuffle=True, random_state=random_state)
        folds = list(splitter.split(code, code, groups))
    n_classes = np.unique(code).size
    if not folds or any(np.unique(code[train]).size < n_classes for train, _ in folds):
        msg = (
            f"the groups cannot be split into {n_folds} folds with every class in the other folds: the rarest class is "
            f"in {least} groups. Use fewer folds, smaller groups, or no score."
        )
        raise ValueError(msg)
    return folds


def stratified_folds(code: IntArray, n_folds: int | None, random_state: int | None) -> RepeatedStratifiedKFold:
    """Stratified folds, five unless the smallest class has fewer rows; repeated if there are few rows."""
    smallest = int(np.bincount(code).min())
    n_folds = max(min(N_FOLDS, smallest), 2) if n_folds is None else n_folds
    if not 2 <= n_folds <= smallest:
        msg = (
            f"cv must be at least 2 and at most the number of rows of the smallest class, which is {smallest}, "
            f"got {n_folds}. Lower cv, add rows of that class, or pass cv=None to score the rows as they are."
        )
        raise ValueError(msg)
    repeats = REPEATS if len(code) < FEW_ROWS else 1
    return RepeatedStratifiedKFold(n_splits=n_folds, n_repeats=repeats, random_state=random_state)


def _silent(estimator: Any) -> Any:
    """A clone without progress bar and callbacks, which belong to the user's own fit.

    A time limit stays, so that the score is that of models found in the same time.
    """
    copy = clone(estimator)
    last = copy[-1] if isinstance(copy, Pipeline) else copy
    given = last.get_params()
    callbacks = given.get("callbacks")
    limits = [one for one in (callbacks if isinstance(callbacks, list) else [callbacks]) if isinstance(one, StopAfter)]
    quiet = {"verbose": 0, "callbacks": limits or None}
    last.set_params(**{key: value for key, value in quiet.items() if key in given})
    return copy


def _after_same_steps(estimator: Any, method: Any) -> Any:
    """The other method in place of the last step of a pipeline."""
    steps = [step for _, step in estimator.steps[:-1]] if isinstance(estimator, Pipeline) else []
    return make_pipeline(*steps, *([RowEncoder()] if _encodes(estimator) else []), method)


def _encodes(estimator: Any) -> bool:
    """Whether a fitted estimator reads missing cells or levels itself, without a step before it."""
    last = estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator
    return getattr(last, "recipe_", None) is not None


def _fit(method: Any, X: Any, y: Any, **given: Any) -> tuple[Any, bool]:
    """Fit, and whether it warned that it had not converged; other warnings belong to the user's own fit."""
    with warnings.catch_warnings(record=True) as caught, uninterruptible_fits():
        warnings.simplefilter("always")
        fitted = method.fit(X, y, **fit_params(method, **given))
    return fitted, any(issubclass(w.category, ConvergenceWarning) for w in caught)


def _size(fitted: Any) -> int:
    """Number of terms; 0 for other methods than RFSC."""
    last = fitted[-1] if isinstance(fitted, Pipeline) else fitted
    return sum(model.size for model in getattr(last, "models_", ()))
