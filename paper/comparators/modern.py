"""What a user would reach for today, ready to fit; whatever is tuned is tuned inside the training rows."""

from __future__ import annotations

import inspect
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Self

import numpy as np
from scipy.stats import rankdata
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_selection import SelectorMixin
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import LabelBinarizer, MinMaxScaler, PolynomialFeatures, StandardScaler
from sklearn.svm import SVC, l1_min_c
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.validation import check_is_fitted, validate_data

from ..arrays import BoolArray
from . import faster_risk
from .base import Comparator

INNER_FOLDS = 5
TERMS_OF_FASTCAN = range(5, 16)
LASSO_DECADES, LASSO_STEPS = 3.0, 60  # of the penalties that `LassoTerms` tries, from the one that keeps no term


class FastCanTerms(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """The terms that fastcan ranks first; all of them if there are fewer than `n_terms`."""

    def __init__(self, n_terms: int = 10) -> None:
        self.n_terms = n_terms

    def fit(self, X: Any, y: Any) -> Self:
        """Rank the terms by canonical correlation with the classes."""
        X, y = validate_data(self, X, y, dtype=np.float64)
        # one indicator per class but one: numbers in place of labels would give the classes an order
        target = LabelBinarizer().fit_transform(y)[:, : 1 if len(np.unique(y)) < 3 else -1]
        ranking = import_module("fastcan").FastCan(min(self.n_terms, X.shape[1]), verbose=0)
        self.support_: BoolArray = ranking.fit(X, target.astype(np.float64)).get_support()
        return self

    def _get_support_mask(self) -> BoolArray:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


class LassoTerms(FastCanTerms):
    """The terms that an L1 penalty keeps longest: the `n_terms` largest weights once so many terms have one."""

    def fit(self, X: Any, y: Any) -> Self:
        """Weaken the penalty until enough terms have a weight."""
        X, y = validate_data(self, X, y, dtype=np.float64)
        weakest = l1_min_c(X, y, loss="log")
        for strength in weakest * np.logspace(0.0, LASSO_DECADES, LASSO_STEPS):
            lasso = LogisticRegression(C=strength, solver="liblinear", max_iter=1000, random_state=0, **l1_penalty())
            weight = np.abs(lasso.fit(X, y).coef_[0])
            if np.count_nonzero(weight) >= self.n_terms:
                break
        self.support_ = (weight > 0) & (rankdata(-weight, method="ordinal") <= self.n_terms)
        return self


class Figs(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """FIGS of imodels with a seed: its own does not reach the splits, whose ties NumPy's generator breaks."""

    def __init__(self, max_rules: int = 8, random_state: int | None = None) -> None:
        self.max_rules = max_rules
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Fit under a state of NumPy's generator, and put the former one back."""
        state = np.random.get_state()  # noqa: NPY002  imodels and scikit-learn draw from it
        np.random.seed(self.random_state)  # noqa: NPY002
        try:
            self.model_ = import_module("imodels").FIGSClassifier(max_rules=self.max_rules).fit(X, y)
        finally:
            np.random.set_state(state)  # noqa: NPY002
        self.classes_, self.n_features_in_ = self.model_.classes_, X.shape[1]
        return self

    def predict(self, X: Any) -> np.ndarray[Any, Any]:
        """Label of every row."""
        check_is_fitted(self)
        return np.asarray(self.model_.predict(X))

    def predict_proba(self, X: Any) -> np.ndarray[Any, Any]:
        """Probability of every class."""
        check_is_fitted(self)
        return np.asarray(self.model_.predict_proba(X))


class CalibratedSearch(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A grid search for the predictions, beside a calibrated copy of its best estimator for the probabilities.

    The two may disagree about a row near the border; accuracy is that of the search.
    """

    def __init__(self, search: Any, n_folds: int = 5) -> None:
        self.search = search
        self.n_folds = n_folds

    def fit(self, X: Any, y: Any) -> Self:
        """Search, then calibrate the best settings in folds of the training rows."""
        self.search_ = clone(self.search).fit(X, y)
        self.best_estimator_ = self.search_.best_estimator_
        copies = CalibratedClassifierCV(clone(self.best_estimator_), method="sigmoid", cv=self.n_folds)
        self.calibrated_ = copies.fit(X, y)
        self.classes_ = self.search_.classes_
        self.n_features_in_ = self.search_.n_features_in_
        return self

    def predict(self, X: Any) -> np.ndarray[Any, Any]:
        """Label of every row, from the search."""
        check_is_fitted(self)
        return np.asarray(self.search_.predict(X))

    def predict_proba(self, X: Any) -> np.ndarray[Any, Any]:
        """Probability of every class, from the calibrated copies."""
        check_is_fitted(self)
        return np.asarray(self.calibrated_.predict_proba(X))


def l1_penalty() -> dict[str, Any]:
    """How this version of scikit-learn is asked for an L1 penalty."""
    is_new = "use_legacy_attributes" in inspect.signature(LogisticRegressionCV).parameters
    return {"l1_ratio": 1.0} if is_new else {"penalty": "l1"}


def _l1_logistic() -> Any:
    """L1 logistic regression, its strength chosen by accuracy in five folds."""
    options = l1_penalty()
    if "l1_ratio" in options:
        options = {"l1_ratios": (1.0,), "use_legacy_attributes": False}
    return LogisticRegressionCV(
        Cs=np.logspace(-2, 1.5, 15),
        cv=INNER_FOLDS,
        solver="liblinear",
        scoring="accuracy",
        max_iter=1000,
        **options,
    )


def expansion(degree: int = 2) -> list[Any]:
    """Steps from features to standardised polynomial terms."""
    return [MinMaxScaler(), PolynomialFeatures(degree, include_bias=False), StandardScaler()]


def _support_vectors() -> Any:
    grid = {"svc__C": np.logspace(-1, 3, 5), "svc__gamma": ["scale", *np.logspace(-4, 0, 5)]}
    return GridSearchCV(make_pipeline(StandardScaler(), SVC()), grid, scoring="accuracy", cv=INNER_FOLDS)


def _fastcan() -> Any:
    search = make_pipeline(*expansion(), FastCanTerms(), LogisticRegression(max_iter=5000))
    grid = {"fastcanterms__n_terms": list(TERMS_OF_FASTCAN)}
    return GridSearchCV(search, grid, scoring="accuracy", cv=INNER_FOLDS)


def modern_classifiers() -> dict[str, Any]:
    """Unfitted classifiers by their names in the tables; EBM and fastcan only if their packages are installed."""
    found = {
        "L1 logistic, degree 2": make_pipeline(*expansion(), OneVsRestClassifier(_l1_logistic())),
        "RBF SVM": _support_vectors(),
        "random forest": RandomForestClassifier(n_estimators=500),
        # exact splits: the histogram variant gains speed on many thousand rows, and its leaves of at least 20 rows are
        # coarse for a few hundred
        "gradient boosting": GradientBoostingClassifier(),
    }
    if find_spec("interpret"):
        found["EBM"] = import_module("interpret.glassbox").ExplainableBoostingClassifier(n_jobs=1)
    if find_spec("fastcan"):
        found["fastcan, degree 2"] = _fastcan()
    return found


def rule_classifiers() -> dict[str, Any]:
    """Unfitted classifiers made of thresholds; FIGS and RuleFit only if imodels is installed."""
    found: dict[str, Any] = {"tree, 8 leaves": DecisionTreeClassifier(max_leaf_nodes=8)}
    if find_spec("imodels"):
        found["FIGS, 8 splits"] = Figs()
        rules = import_module("imodels").RuleFitClassifier()
        found["RuleFit"] = OneVsRestClassifier(rules)  # which knows two classes only
    return found | {"FasterRisk, 8 terms": OneVsRestClassifier(faster_risk.FasterRisk())}


def with_seed(estimator: Any, seed: int) -> Any:
    """An unfitted copy with every `random_state` set, also those of nested estimators."""
    names = [name for name in estimator.get_params(deep=True) if name.split("__")[-1] == "random_state"]
    return clone(estimator).set_params(**dict.fromkeys(names, seed))


def model_size(fitted: Any) -> tuple[float, float]:
    """(features, terms) that a fitted classifier reads; terms are counted once, and NaN without a formula."""
    model = getattr(fitted, "best_estimator_", fitted)
    last = model[-1] if isinstance(model, Pipeline) else model
    if isinstance(last, Comparator) and hasattr(last, "support_"):
        return float(np.sum(last.support_)), float("nan")
    powers = [step.powers_ for step in model if isinstance(step, PolynomialFeatures)] if model is not last else []
    if not powers:
        return float(getattr(fitted, "n_features_in_", np.nan)), float("nan")
    used = _terms_in_use(model)
    return float(np.sum(powers[0][used].any(axis=0))), float(np.sum(used))


def terms_per_output(fitted: Any) -> float:
    """Terms with a weight, mean over the outputs, the constant not counted; NaN without a formula."""
    model = getattr(fitted, "best_estimator_", fitted)
    if not isinstance(model, Pipeline) or not any(isinstance(step, PolynomialFeatures) for _, step in model.steps):
        return float("nan")
    return float(np.mean([np.count_nonzero(row) for output in _outputs(model) for row in output.coef_]))


def _outputs(model: Pipeline) -> list[Any]:
    """The linear models at the end of a pipeline."""
    last = model[-1]
    return list(last.estimators_) if isinstance(last, OneVsRestClassifier) else [last]


def _terms_in_use(model: Pipeline) -> BoolArray:
    """Mask over all terms of those with a weight in some output."""
    weighted = np.any([np.any(output.coef_ != 0.0, axis=0) for output in _outputs(model)], axis=0)
    if not isinstance(model[-2], FastCanTerms):
        return np.asarray(weighted)
    used = np.zeros_like(model[-2].support_)
    used[model[-2].support_] = weighted
    return used
