"""Fits to one half of the rows, and tests of what they hold on the other half.

No postponed annotations: checkpoints read results by the types of these classes.
"""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy.stats import norm, t
from sklearn.base import clone
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.pipeline import Pipeline

from .._fit.encoding import Targets, feature_names, fill_later
from .._fit.fitting import settings_of
from .._model.cells import CellFormat
from .._model.sparse_model import SparseModel
from .._search.context import Context
from .._terms import Term
from .._utils.arrays import BoolArray, FloatArray, IntArray
from .._utils.compat import safe_indexing
from .._utils.validation import fit_params
from ..classifier import RFSCClassifier
from .certificate import HalfScore
from .unit_tests import UnseenRows, feature_p_value, shape, term_p_value

Dates = Mapping[str, Mapping[str, CellFormat]]  # formats by the names of steps and of columns
Pairs = Sequence[tuple[SparseModel, UnseenRows]]  # one for each output

LEAST_GROUPS = 4
N_FOLDS = 2  # that choose basis and size inside of a half: more take longer and find little more


@dataclass(frozen=True, slots=True)
class UnitResult:
    """A unit that the model of a half touches."""

    key: str  # what it is called in all halves
    label: str  # what it is called in this one
    p_value: float  # on the other half, times the number of units that were tested there
    is_refused: bool  # whether the other half has too few rows for the test of some output
    sign: float  # of its effect: -1, 0 or +1
    alone: bool  # whether some term reads nothing else


@dataclass(frozen=True, slots=True)
class HalfResult:
    """What the fit to one half says, and how good it is on the other."""

    clusters: tuple[UnitResult, ...]
    features: tuple[UnitResult, ...]
    terms: tuple[UnitResult, ...]
    p_signal: float  # one-sided, that its predictions rank the other half no better than chance
    score: HalfScore  # the class shares are those of the half that was fitted


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """The rows of a certificate."""

    X: Any
    y: np.ndarray[Any, Any]
    targets: Targets
    weight: FloatArray
    groups: IntArray | None


@dataclass(frozen=True, slots=True, eq=False)
class Halves:
    """All half fits; each is a task, by its number."""

    estimator: Any
    table: Table
    is_upper: BoolArray  # (pair, row): which half
    seeds: IntArray  # (half fit,)
    cluster_of: Mapping[str, str]  # of the names of features
    dates: Dates  # days are counted from the first of all rows, or a half would have features of its own
    fills: bool = False  # whether cells that are missing in the other half alone are filled

    def __sizeof__(self) -> int:
        return int(getattr(self.table.X, "nbytes", self.table.weight.nbytes))

    def alone(self) -> Self:
        """Itself: a half fit uses one thread and shares nothing."""
        return self

    def run(self, item: int, context: Context) -> HalfResult:  # noqa: ARG002  a half is fitted to its end
        """Fit one half of a pair and test on the other."""
        with warnings.catch_warnings():
            # half fits may be undecided, and a level that only the other half has counts as a rare one
            warnings.filterwarnings("ignore", "No term of output")
            warnings.filterwarnings("ignore", "Found unknown categories")
            return self._tested(item)

    def _tested(self, item: int) -> HalfResult:
        table = self.table
        seen = self.is_upper[item // 2] == bool(item % 2)
        fitted = self._fitted(np.flatnonzero(seen), int(self.seeds[item]))
        clf, at = last_step(fitted), np.flatnonzero(~seen)
        X = safe_indexing(table.X, at)
        before = fitted[:-1] if has_steps(fitted) else None
        X = X if before is None else before.transform(X)
        values = clf._table(X)
        names = feature_names_of(before, clf)
        weight, outputs = table.weight[at], [target[at] for target in table.targets.outputs]
        groups = None if table.groups is None else np.unique(table.groups[at], return_inverse=True)[1]
        cluster_of = [self.cluster_of.get(name, name) for name in names]
        rows = [
            UnseenRows(model.scaling.table(values), target, weight, cluster_of, groups)
            for model, target in zip(clf.models_, outputs, strict=True)
        ]
        proba = clf.predict_proba(X)
        share = np.bincount(table.targets.code[seen], table.weight[seen]) / table.weight[seen].sum()
        losses = [
            log_loss(table.targets.code[at], p, sample_weight=weight, labels=np.arange(share.size))
            for p in (proba, np.broadcast_to(share, proba.shape))
        ]
        columns = proba.T[-len(outputs) :]  # of two classes, the second
        aucs = [roc_auc_score(y > 0, p, sample_weight=weight) for y, p in zip(outputs, columns, strict=True)]
        score = HalfScore(float(losses[0]), float(losses[1]), float(np.mean(aucs)))
        pairs = list(zip(clf.models_, rows, strict=True))
        touched = sorted({j for model in clf.models_ for j in model.features})
        clusters = _features({cluster_of[j]: rows[0].cluster(j) for j in touched}, pairs)
        features = _features({names[j]: frozenset({j}) for j in touched}, pairs)
        return HalfResult(clusters, features, _terms(pairs, names), _p_signal(clf.models_, values, rows), score)

    def _fitted(self, seen: IntArray, seed: int) -> Any:
        table, estimator = self.table, clone(self.estimator)
        own = last_step(estimator)
        for name, formats in self.dates.items():
            estimator.named_steps[name]._dates = formats
        # callbacks, progress and threads are those of the certificate
        own.set_params(n_restarts=1, n_jobs=1, callbacks=None, verbose=0, random_state=seed)
        if own.size is not None:
            own.set_params(search=replace(settings_of(own), n_folds=min(settings_of(own).n_folds, N_FOLDS)))
        given: dict[str, Any] = {"sample_weight": None if np.all(table.weight == 1.0) else table.weight[seen]}
        given["groups"] = None if table.groups is None else table.groups[seen]
        X = safe_indexing(table.X, seen)
        estimator.fit(X, table.y[seen], **fit_params(estimator, **given))
        if self.fills:
            fill_later(estimator, X)
        return estimator


def _features(features: Mapping[str, frozenset[int]], pairs: Pairs) -> tuple[UnitResult, ...]:
    """Features or clusters of features."""
    found = []
    for key, own in features.items():
        p_values = [feature_p_value(own, model.terms, rows) for model, rows in pairs]
        alone = any(set(term.features) <= own for model, _ in pairs for term in model.terms if term.features)
        found.append(UnitResult(key, key, *_corrected(p_values, len(features)), _sign_of(own, pairs), alone))
    return tuple(found)


def _terms(pairs: Pairs, names: Sequence[str]) -> tuple[UnitResult, ...]:
    """Terms that are the same but for their numbers are one unit."""
    units: dict[str, list[list[int]]] = {}  # places of its terms in the model of each output
    for k, (model, _) in enumerate(pairs):
        for place, term in enumerate(model.terms):
            if term.features:
                units.setdefault(_key(term, names), [[] for _ in pairs])[k].append(place)
    found = []
    for key, places in units.items():
        p_values, labels, signs = [], [], []
        for (model, rows), own in zip(pairs, places, strict=True):
            p_values.append(term_p_value([model.terms[j] for j in own], model.terms, rows) if own else 1.0)
            labels += [model.terms[j].name(names) for j in own]
            signs += np.sign(model.coef[own]).tolist()
        sign = signs[0] if len(pairs) == 1 and len(set(signs)) == 1 else 0.0
        found.append(UnitResult(key, labels[0], *_corrected(p_values, len(units)), sign, True))
    return tuple(found)


def _key(term: Term, names: Sequence[str]) -> str:
    """The shape of a term with the names of its features: other halves may number them otherwise."""
    return repr(_named(shape(term.expression), names))


def _named(one: Any, names: Sequence[str]) -> Any:
    if isinstance(one, tuple):
        return tuple(_named(part, names) for part in one)
    return names[one] if isinstance(one, int) else one


def _corrected(p_values: Sequence[float | None], n_units: int) -> tuple[float, bool]:
    """The least of the outputs, for having looked at so many of them and of units; and whether some have none."""
    least = min(1.0 if p is None else p for p in p_values)
    return min(1.0, n_units * len(p_values) * least), None in p_values


def _sign_of(features: frozenset[int], pairs: Pairs) -> float:
    """Whether the prediction rises or falls with a feature, on the whole; 0 for a cluster or for several outputs."""
    if len(features) > 1 or len(pairs) > 1:
        return 0.0
    ((model, rows),) = pairs
    (feature,) = features
    own = [j for j, term in enumerate(model.terms) if feature in term.features]
    effect = model.coef[own] @ rows.columns(model.terms[j].expression for j in own)
    x = rows.table[feature]
    return float(np.sign((rows.weight * (x - np.average(x, weights=rows.weight)) * effect).sum()))


def _p_signal(models: Sequence[SparseModel], values: FloatArray, rows: Sequence[UnseenRows]) -> float:
    """P-value that the predictions rank unseen rows no better than chance, for the output that they rank best."""
    found = [auc_p_value(model.decision(values), one) for model, one in zip(models, rows, strict=True)]
    return float(min(1.0, len(found) * min(found)))


def auc_p_value(predicted: FloatArray, rows: UnseenRows) -> float:
    """The Mann-Whitney test, without its correction for ties, which would only lower it.

    Of rows in groups the variance is that of the AUC's sums over groups (Obuchowski, Biometrics 53, 1997), if larger.
    """
    is_class, weight = rows.target > 0, rows.weight
    upper, lower = weight[is_class].sum(), weight[~is_class].sum()
    auc = roc_auc_score(is_class, predicted, sample_weight=weight)
    variance = (upper + lower + 1.0) / (12.0 * upper * lower)
    if rows.groups is None:
        return float(norm.sf((auc - 0.5) / np.sqrt(variance)))
    _, place = np.unique(predicted, return_inverse=True)
    of_class, of_rest = (np.bincount(place, weight * own) for own in (is_class, ~is_class))
    above, below = 1.0 - (np.cumsum(of_class) - of_class / 2.0) / upper, (np.cumsum(of_rest) - of_rest / 2.0) / lower
    influence = np.where(is_class, (below[place] - auc) / upper, (above[place] - auc) / lower)
    n = rows.n_groups
    sums = rows.of_groups((weight * influence)[None])[0]
    return float(t.sf((auc - 0.5) / np.sqrt(max(variance, n / (n - 1.0) * np.square(sums).sum())), n - 1))


def last_step(estimator: Any) -> Any:
    """The classifier of an estimator, which may be a pipeline."""
    last = estimator.steps[-1][1] if isinstance(estimator, Pipeline) and estimator.steps else estimator
    if not isinstance(last, RFSCClassifier):
        msg = f"estimator must be an RFSCClassifier or a pipeline that ends in one, got {type(last).__name__}."
        raise TypeError(msg)
    return last


def has_steps(estimator: Any) -> bool:
    """Whether something comes before the classifier."""
    return isinstance(estimator, Pipeline) and len(estimator) > 1


def feature_names_of(before: Pipeline | None, clf: Any) -> list[str]:
    """Names of the features of a classifier, given the fitted steps before it, if there are any."""
    try:
        names = [] if before is None else [str(name) for name in before.get_feature_names_out()]
    except AttributeError:  # a step that names nothing
        names = []
    if not names:
        return list(feature_names(clf))
    return names if clf.recipe_ is None else list(clf.recipe_.renamed(names).names)


def split_in_halves(code: IntArray, groups: IntArray | None, n_pairs: int, rng: np.random.Generator) -> BoolArray:
    """Random halves (pair, row): every class has its share in both, and groups stay together."""
    unit = np.arange(code.size) if groups is None else groups
    n_units, n_classes = int(unit.max()) + 1, int(code.max()) + 1
    if groups is not None and n_units < LEAST_GROUPS:
        msg = f"a certificate needs at least {LEAST_GROUPS} groups, two in each half, got {n_units}."
        raise ValueError(f"{msg} Give smaller groups, or none if the rows are independent.")
    count = np.zeros((n_units, n_classes), dtype=np.int64)
    np.add.at(count, (unit, code), 1)
    kind = count.argmax(axis=1)  # the class that most rows of a group have
    is_upper = np.zeros((n_pairs, n_units), dtype=np.bool_)
    for one in is_upper:
        first = 0  # of an odd number, the half that gets one more changes from class to class
        for c in range(n_classes):
            own = rng.permutation(np.flatnonzero(kind == c))
            one[own] = (np.arange(own.size) + first) % 2 == 0
            first += own.size
    halves = is_upper[:, unit]
    for side in (halves, ~halves):
        if any(np.bincount(code[half], minlength=n_classes).min() < 2 for half in side):
            msg = "a half would hold fewer than two rows of some class; more rows of the smallest class are needed"
            raise ValueError(msg + (", in more groups." if groups is not None else "."))
    return halves
