"""How well a model predicts rows it has not seen, beside well-known methods on the same folds."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
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
from .._utils.arrays import BoolArray, FloatArray, IntArray
from .._utils.compat import safe_indexing
from .._utils.validation import codes_of

N_FOLDS = 5
FEW_ROWS, REPEATS = 200, 3  # below FEW_ROWS, one partition into folds varies much, so several are averaged
N_RESAMPLES = 100
IMBALANCED = 0.75  # share of the largest class beyond which accuracy is misleading
SMALLEST_PROBABILITY = 1e-15  # a probability of exactly zero would make the log-loss infinite
OURS, MAJORITY = "RFSC", "majority class"

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Metric:
    key: str  # in the JSON
    name: str  # on the page
    meaning: str  # one sentence for a reader who does not know it
    higher_is_better: bool


METRICS = (
    Metric("accuracy", "accuracy", "share of the rows that get the right class", True),
    Metric("balanced_accuracy", "balanced accuracy", "accuracy within each class, averaged over the classes", True),
    Metric("auc", "AUC", "probability that a row of a class is ranked above a row of another; 0.5 is chance", True),
    Metric("log_loss", "log-loss", "penalises probabilities that were confident and wrong", False),
    Metric("brier", "Brier", "mean squared error of the probabilities", False),
)


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
    n_folds, n_repeats : int
        Of the cross-validation; n_repeats is how often each row was predicted. Both are 1 for given rows.
    methods : tuple of MethodScore
        The model first.
    code : ndarray of shape (n_predicted,), dtype=int
        Positions of the true classes of the predicted rows, each row once.
    proba : ndarray of shape (n_predicted, n_classes)
        Probabilities predicted by the model.
    sizes : ndarray of shape (n_folds,), dtype=int, or None
        Number of terms of the model in each fold.
    test_share : float
        Number of test rows divided by the number of training rows of a fold; 0 for given rows.
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
        """Whether the rows were held out of the fits that were scored."""
        return self.how == "cross-validation"

    @property
    def beats_majority(self) -> bool:
        """Whether a metric of the predicted rows is clearly better than that of the class shares alone."""
        rows = on_given_rows(self.proba, self.code, how="cross-validation")
        gain, half_width = rows.difference(rows.methods[1])
        return bool((gain + half_width < 0).any())

    def mean(self, metric: str) -> float:
        """A metric of the model."""
        return float(self.methods[0].mean[[m.key for m in METRICS].index(metric)])

    def difference(self, other: MethodScore) -> tuple[FloatArray, FloatArray]:
        """How much better another method is than the model, and the half-width of a 95 % interval, per metric.

        Folds share most of their training rows, so the variance is corrected as by Nadeau and Bengio (2003). With a
        single fold it is that of resamples of its rows.
        """
        ours = self.methods[0]
        sign = np.array([1.0 if metric.higher_is_better else -1.0 for metric in METRICS])
        gap = sign * (other.values - ours.values)
        n_folds = len(gap)
        if not self.is_honest:
            half_width = np.full(len(METRICS), np.inf)
        elif ours.resampled is not None and other.resampled is not None:
            half_width = stats.norm.ppf(0.975) * (other.resampled - ours.resampled).std(axis=0, ddof=1)
        else:
            widened = np.sqrt((1.0 / n_folds + self.test_share) * gap.var(axis=0, ddof=1))
            half_width = stats.t.ppf(0.975, n_folds - 1) * widened
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
        Folds. "auto" takes 5 stratified folds, repeated three times below 200 rows.
    baselines : mapping of str to estimator or None, default=None
        Other methods.
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
    splits = _splits(cv, X, y, code, random_state)
    folds = _Folds(X, y, code, classes, splits, random_state, progress or (lambda _: None))
    ours, probas, sizes = folds.score(OURS, _silent(estimator))
    others = [folds.score(name, _after_same_steps(estimator, one))[0] for name, one in (baselines or {}).items()]
    tested = np.concatenate([test for _, test in splits])
    _, once = np.unique(tested, return_index=True)
    return HonestScore(
        how="cross-validation",
        n_folds=len(splits),
        n_repeats=max(1, round(tested.size / once.size)),
        methods=(ours, *others),
        code=code[tested[once]],
        proba=np.concatenate(probas)[once],
        sizes=np.array(sizes, dtype=np.int64),
        test_share=float(np.mean([len(test) / len(train) for train, test in splits])),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Folds:
    """The rows of a cross-validation, on which methods are scored one after the other."""

    X: Any
    y: np.ndarray[Any, Any]
    code: IntArray
    classes: Any
    splits: list[tuple[IntArray, IntArray]]
    random_state: int | None  # of the resamples
    progress: Progress

    def score(self, name: str, method: Any) -> tuple[MethodScore, list[FloatArray], list[int]]:
        """Scores, predicted probabilities and numbers of terms of a method, fold by fold."""
        probas, sizes, seconds, n_warned = [], [], [], 0
        for k, (train, test) in enumerate(self.splits):
            self.progress(f"cross-validation: {name}, fold {k + 1} of {len(self.splits)}")
            started = time.perf_counter()
            fitted, warned = _fit(clone(method), safe_indexing(self.X, train), self.y[train])
            seconds.append(time.perf_counter() - started)
            probas.append(aligned(fitted.predict_proba(safe_indexing(self.X, test)), fitted.classes_, self.classes))
            sizes.append(_size(fitted))
            n_warned += warned
        values = [_values(self.code[test], proba) for (_, test), proba in zip(self.splits, probas, strict=True)]
        resampled = None
        if len(self.splits) == 1:
            resampled = _resampled(self.code[self.splits[0][1]], probas[0], self.random_state)
        return MethodScore(name, np.array(values), float(np.mean(seconds)), n_warned, resampled), probas, sizes


def on_given_rows(
    proba: FloatArray, code: IntArray, *, how: str = "given rows", random_state: int | None = 0
) -> HonestScore:
    """Score predictions as they are, beside the class shares; the spread is that of random resamples."""
    n_samples, n_classes = proba.shape
    shares = np.tile(np.bincount(code, minlength=n_classes) / n_samples, (n_samples, 1))
    methods = []
    for name, predicted in ((OURS, proba), (MAJORITY, shares)):
        resampled = _resampled(code, predicted, random_state)
        methods.append(MethodScore(name, np.array([_values(code, predicted)]), float("nan"), resampled=resampled))
    return HonestScore(how, 1, 1, tuple(methods), code, proba)


def _resampled(code: IntArray, proba: FloatArray, random_state: int | None) -> FloatArray:
    """Scores of random resamples of the rows, the same resamples for every method."""
    rng = np.random.default_rng(random_state)
    draws = (rng.integers(len(code), size=len(code)) for _ in range(N_RESAMPLES))
    return np.array([_values(code[some], proba[some]) for some in draws])


def _values(code: IntArray, proba: FloatArray) -> list[float]:
    return list(measure(code, proba).values())


def aligned(proba: FloatArray, known: Any, classes: Any) -> FloatArray:
    """Columns in the order of all classes; classes that were not in the training rows get probability zero."""
    out = np.zeros((len(proba), len(classes)))
    out[:, np.searchsorted(classes, known)] = proba
    return out


def _splits(cv: Any, X: Any, y: Any, code: IntArray, random_state: int | None) -> list[tuple[IntArray, IntArray]]:
    if isinstance(cv, str) and cv != "auto":
        msg = f"cv must be 'auto', a number of folds, a splitter, an iterable of folds or None, got {cv!r}."
        raise ValueError(msg)
    if isinstance(cv, int | str):
        cv = stratified_folds(code, cv if isinstance(cv, int) else None, random_state)
    return list(check_cv(cv, y, classifier=True).split(X, y))


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
    steps = estimator.steps[:-1] if isinstance(estimator, Pipeline) else []
    return make_pipeline(*(step for _, step in steps), method)


def _fit(method: Any, X: Any, y: Any) -> tuple[Any, bool]:
    """Fit, and whether it warned that it had not converged; other warnings belong to the user's own fit."""
    with warnings.catch_warnings(record=True) as caught, uninterruptible_fits():
        warnings.simplefilter("always")
        fitted = method.fit(X, y)
    return fitted, any(issubclass(w.category, ConvergenceWarning) for w in caught)


def _size(fitted: Any) -> int:
    """Number of terms; 0 for other methods than RFSC."""
    last = fitted[-1] if isinstance(fitted, Pipeline) else fitted
    return sum(model.size for model in getattr(last, "models_", ()))


# ---- metrics


def main_metric(code: IntArray) -> str:
    """Key of the metric to report first."""
    return "accuracy" if np.bincount(code).max() <= IMBALANCED * len(code) else "balanced_accuracy"


def measure(code: IntArray, proba: FloatArray) -> dict[str, float]:
    """All metrics of predictions of shape (n_samples, n_classes); `code` holds the positions of the true classes."""
    n_samples, n_classes = proba.shape
    truth = np.zeros_like(proba)
    truth[np.arange(n_samples), code] = 1.0
    right = proba.argmax(axis=1) == code
    present = [k for k in range(n_classes) if truth[:, k].any()]
    # with two classes both columns rank the rows alike
    ranked = [k for k in present if not truth[:, k].all()][: None if n_classes > 2 else 1]
    return {
        "accuracy": float(right.mean()),
        "balanced_accuracy": float(np.mean([right[code == k].mean() for k in present])),
        "auc": float(np.mean([_auc(truth[:, k] == 1.0, proba[:, k]) for k in ranked])) if ranked else float("nan"),
        "log_loss": float(-np.log(np.clip(proba[truth == 1.0], SMALLEST_PROBABILITY, 1.0)).mean()),
        # halved, so that two classes give the usual value
        "brier": float(((proba - truth) ** 2).sum(axis=1).mean() / 2),
    }


def _auc(is_class: BoolArray, probability: FloatArray) -> float:
    """By the Mann-Whitney rank sum, fast enough for a hundred resamples."""
    n_class, n_others = is_class.sum(), (~is_class).sum()
    return float((stats.rankdata(probability)[is_class].sum() - n_class * (n_class + 1) / 2) / (n_class * n_others))
