"""`certify`: fits to both halves of many random splits, and one verdict on every unit out of their tests."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from .._fit.encoding import read_features
from .._fit.executor import Executor
from .._fit.fitting import settings_digests
from .._fit.rows import group_codes
from .._fit.targets import encode as encode_targets
from .._fit.targets import row_weights
from .._search.context import Context, fit_context
from .._utils.arrays import BoolArray, FloatArray, IntArray
from .._utils.compat import Interval, safe_indexing, validate_parameter_constraints
from .._utils.determinism import stream
from .._utils.json_records import decode, encode
from .._utils.manifest import fingerprint
from .._utils.validation import is_large
from .._utils.words import plural
from .._version import __version__
from ..explain.stability import stability_of
from .aggregation import aggregated
from .certificate import (
    BY_CLUSTER,
    CHANCE,
    NOT_SETTLED,
    PASSENGER,
    SUPPORTED,
    Certificate,
    CertificateSettings,
    HalfScore,
    UnitTable,
    majority,
    with_shares,
)
from .halves import HalfResult, Halves, Table, UnitResult, feature_names_of, has_steps, last_step, split_in_halves
from .unit_tests import unit_ranks

CUT = 0.7  # absolute rank correlation from which features share a cluster
MOST_CLUSTERED = 5_000  # features; the distances of more take too much memory
FEW_EVENTS = 20  # rows of the smallest class in a half, below which the tests are no longer trusted
FEW_HALVES = 20  # below which chance decides on what the halves have chosen
OFTEN = 0.5  # share of the halves from which a feature that is not supported is called a passenger
JOINED = " | "  # between the members of a cluster

CONSTRAINTS: dict[str, Any] = {
    "n_pairs": [Interval(Integral, 1, None, closed="left")],
    "level": [Interval(Real, 0, 1, closed="neither")],
}


def certify(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    n_pairs: int = 50,
    level: float = 0.05,
    clusters: Any = "auto",
    groups: Any = None,
    sample_weight: Any = None,
    random_state: int | None = None,
    n_jobs: int | None = None,
    callbacks: Any = None,
) -> Certificate:
    """Say which features and terms can be believed, with p-values that hold after the selection.

    The rows are split in two halves at random, many times. The whole fit runs on one half, and every cluster of
    features, feature and term of its model is tested on the other half.

    Parameters
    ----------
    estimator : RFSCClassifier or Pipeline
        Fitted or not; it is cloned. A pipeline must end in an RFSCClassifier. Half fits have a single restart and
        choose basis and size by two folds.
    X : array-like or data frame of shape (n_samples, n_features)
        The training rows.
    y : array-like of shape (n_samples,)
        Class labels.
    n_pairs : int, default=50
        Random splits; each takes two fits.
    level : float, default=0.05
        Probability of any false cluster, and likewise of any false feature or term.
    clusters : "auto", dict or list of lists of str, default="auto"
        Features that may stand in for each other: "auto" joins those with an absolute rank correlation of about 0.7 or
        more; a dict gives the cluster of each feature, a list the members of each. Others are clusters of their own.
    groups : array-like of shape (n_samples,), default=None
        Rows of one group stay in one half.
    sample_weight : array-like of shape (n_samples,), default=None
        Observations that each row stands for.
    random_state : int or None, default=None
        Seed of the splits.
    n_jobs : int or None, default=None
        Half fits at a time, in processes or by the backend of `joblib.parallel_config`; None: one for each core.
    callbacks : object, list of objects or None, default=None
        `Checkpoint(path)` keeps finished half fits, from which the same call continues; `StopAfter(seconds)` ends it.

    Returns
    -------
    Certificate
        Verdicts on clusters, features and terms.
    """
    validate_parameter_constraints(CONSTRAINTS, {"n_pairs": n_pairs, "level": level}, caller_name="certify")
    with fit_context(callbacks, last_step(estimator).verbose) as context:
        study = _Study(estimator, _read(X, y, sample_weight, groups), clusters, n_pairs, random_state)
        found = study.run(n_jobs, context)
    if len(found) < 2 * n_pairs:
        warnings.warn(f"Only {len(found)} of {2 * n_pairs} half fits were made.", ConvergenceWarning, stacklevel=2)
    return _certificate(found, study.settings(level, len(found)), study.cluster_of)


def _read(X: Any, y: Any, sample_weight: Any, groups: Any) -> Table:
    """The rows of positive weight."""
    if is_large(X):
        msg = "a certificate needs a table in memory; this one is read in chunks. Pass a sample of its rows."
        raise ValueError(msg)
    X, labels = X if hasattr(X, "shape") else np.asarray(X), np.asarray(y)
    n_rows = X.shape[0] if len(X.shape) else 0
    if labels.shape != (n_rows,):
        msg = f"X and y must have the same number of rows, got X of shape {X.shape} and y of shape {labels.shape}."
        raise ValueError(msg)
    weight = row_weights(sample_weight, None, np.empty((n_rows, 1)), labels)
    codes, used = group_codes(groups, n_rows), np.flatnonzero(weight > 0)
    codes = None if codes is None else np.unique(codes[used], return_inverse=True)[1]
    if used.size < n_rows:
        X, labels, weight = safe_indexing(X, used), labels[used], weight[used]
    return Table(X, labels, encode_targets(labels), weight, codes)


def _features(estimator: Any, table: Table) -> tuple[list[str], FloatArray, bool]:
    """Names and values of the features of all rows, for which earlier steps are fitted; and if a recipe makes them."""
    before = clone(estimator[:-1]).fit(table.X, table.y) if has_steps(estimator) else None
    seen, clf = table.X if before is None else before.transform(table.X), clone(last_step(estimator))
    values, *_ = read_features(clf, seen, table.y, table.weight)
    return feature_names_of(before, clf), values, clf.recipe_ is not None


def _clusters(clusters: Any, names: Sequence[str], values: FloatArray) -> dict[str, str]:
    """The name of its cluster for every feature that is not one by itself."""
    if isinstance(clusters, str):
        if clusters != "auto":
            msg = f'clusters must be "auto", a dict or a list of lists of features, got {clusters!r}.'
            raise ValueError(msg)
        label = correlation_clusters(values)
        members = [[names[j] for j in np.flatnonzero(label == k).tolist()] for k in np.unique(label)]
        return {name: JOINED.join(own) for own in members if len(own) > 1 for name in own}
    if isinstance(clusters, Mapping):
        found = {str(name): str(own) for name, own in clusters.items()}
    else:
        lists = [[str(name) for name in own] for own in clusters]
        found = {name: JOINED.join(own) for own in lists for name in own}
        if len(found) < sum(map(len, lists)):
            msg = "clusters names a feature more than once. Put every feature into one cluster."
            raise ValueError(msg)
    unknown = sorted(set(found) - set(names))
    if unknown:
        msg = f"clusters names {plural(len(unknown), 'feature')} that X does not have, such as {unknown[0]!r}."
        raise ValueError(msg)
    return found


def correlation_clusters(values: FloatArray, cut: float = CUT) -> IntArray:
    """Average linkage on one minus the absolute rank correlation; the number of its cluster for each feature."""
    n_features = values.shape[1]
    if not 2 <= n_features <= MOST_CLUSTERED:
        return np.arange(n_features)
    ranks = unit_ranks(values.T)
    distance = 1.0 - np.minimum(np.abs(ranks @ ranks.T), 1.0)
    np.fill_diagonal(distance, 0.0)
    return np.asarray(fcluster(linkage(squareform(distance, checks=False), "average"), 1.0 - cut, "distance"))


class _Study:
    """The half fits of one table."""

    def __init__(self, estimator: Any, table: Table, clusters: Any, n_pairs: int, random_state: int | None) -> None:
        rng = stream(np.random.SeedSequence(random_state), 0)
        is_upper = split_in_halves(table.targets.code, table.groups, n_pairs, rng)
        self._names, self._values, fills = _features(estimator, table)
        self.cluster_of = _clusters(clusters, self._names, self._values)
        seeds = rng.integers(2**31, size=2 * n_pairs)
        self._halves = Halves(estimator, table, is_upper, seeds, self.cluster_of, fills=fills)
        self._estimator, self._table = estimator, table
        self._n_pairs, self._random_state = n_pairs, random_state
        self._cut = CUT if isinstance(clusters, str) else None

    def run(self, n_jobs: int | None, context: Context) -> list[HalfResult]:
        """The results of all halves, or of the first ones if the time is over; pairs are whole."""
        found: dict[int, HalfResult] = {}
        n_halves, checkpoint = 2 * self._n_pairs, context.checkpoint
        if checkpoint is not None:
            checkpoint.open(self._fingerprint())
            kept = {item: checkpoint.get(f"half/{item}", partial(decode, HalfResult)) for item in range(n_halves)}
            found = {item: one for item, one in kept.items() if one is not None}
        todo = [item for item in range(n_halves) if item not in found]
        tasks = ((self._halves, item, context) for item in todo)
        executor = Executor(n_jobs, or_processes=True)
        with closing(executor.run(tasks, context, n_large=len(todo))) as results:
            for item, result in zip(todo, results, strict=False):
                found[item] = result
                if checkpoint is not None:
                    checkpoint.put(f"half/{item}", encode(result))
                if context.progress:
                    context.progress.on_half(len(found), n_halves)
                if context.stop_reason:
                    break
        pairs = [item for item in range(0, n_halves, 2) if item in found and item + 1 in found]
        if not pairs:
            why = "interrupted before" if context.stop_reason == "interrupted" else "the time ended before"
            msg = f"{why} the first pair of halves was fitted. Allow more time, or continue from a checkpoint."
            raise TimeoutError(msg)
        return [found[item + side] for item in pairs for side in (0, 1)]

    def _fingerprint(self) -> dict[str, Any]:
        """What a checkpoint of the same study has in common with this one."""
        targets = self._table.targets
        data = fingerprint(self._values, targets.classes, targets.code, self._table.weight, self._names)
        # of a pipeline its steps are known by what they make of the rows
        params = settings_digests(last_step(self._estimator))
        own = {"n_pairs": self._n_pairs, "random_state": self._random_state, "clusters": self.cluster_of}
        return {"data": data, "rfsc": __version__, **params, **own}

    def settings(self, level: float, n_halves: int) -> CertificateSettings:
        """How the certificate was made."""
        targets, basis = self._table.targets, last_step(self._estimator).basis
        return CertificateSettings(
            n_pairs=int(self._n_pairs),
            n_halves=n_halves,
            level=float(level),
            n_rows=int(self._table.weight.size),
            n_events=int(np.bincount(targets.code).min()),
            n_features=len(self._names),
            classes=tuple(str(label) for label in targets.classes),
            basis=basis if isinstance(basis, str) else repr(basis),
            cut=self._cut,
            is_weighted=bool(np.any(self._table.weight != 1.0)),
            random_state=self._random_state,
            version=__version__,
        )


class _Level:
    """The units of one kind over all halves."""

    def __init__(self, kind: str, halves: Sequence[HalfResult]) -> None:
        self.n_halves = len(halves)
        self._found: dict[str, list[UnitResult | None]] = {}
        for k, half in enumerate(halves):
            for unit in getattr(half, kind):
                self._found.setdefault(unit.key, [None] * self.n_halves)[k] = unit
        table = np.array([[1.0 if one is None else one.p_value for one in own] for own in self._found.values()])
        p_values = aggregated(table.reshape(-1, self.n_halves).T)
        self.p_value = dict(zip(self._found, p_values.tolist(), strict=True))
        self._known = {key: [one for one in own if one is not None] for key, own in self._found.items()}
        self.share = {key: len(own) / self.n_halves for key, own in self._known.items()}

    @property
    def selected(self) -> BoolArray:
        """Which half holds which unit."""
        held = [[one is not None for one in own] for own in self._found.values()]
        return np.array(held, dtype=np.bool_).reshape(-1, self.n_halves).T

    def alone(self, key: str) -> float:
        """Share of the halves with a unit in which a term reads nothing else."""
        return float(np.mean([one.alone for one in self._known[key]]))

    @property
    def order(self) -> list[str]:
        """The units, the smallest P first."""
        return sorted(self._known, key=lambda key: (self.p_value[key], -self.share[key], key))

    def table(self, verdicts: Mapping[str, str], stand_ins: Mapping[str, str] | None, *, signed: bool) -> UnitTable:
        """All units in their order."""
        order = self.order
        labels = [Counter(one.label for one in self._known[key]).most_common(1)[0][0] for key in order]
        signs = np.array([majority([one.sign for one in self._known[key]]) for key in order])
        return UnitTable(
            tuple(labels),
            tuple(verdicts[key] for key in order),
            np.array([self.p_value[key] for key in order]),
            np.array([self.share[key] for key in order]),
            signs if signed else None,
            None if stand_ins is None else tuple(stand_ins[key] for key in order),
        )


def _certificate(
    found: Sequence[HalfResult], settings: CertificateSettings, cluster_of: Mapping[str, str]
) -> Certificate:
    """One verdict on every unit out of the results of all halves."""
    clusters, features, terms = (_Level(kind, found) for kind in ("clusters", "features", "terms"))
    cluster = {name: cluster_of.get(name, name) for name in features.share}
    # members are tested inside of clusters that passed
    features.p_value = {name: max(p, clusters.p_value[cluster[name]]) for name, p in features.p_value.items()}
    members = {own: {name: features.share[name] for name in cluster if cluster[name] == own} for own in clusters.share}
    others = {name: {one: s for one, s in members[own].items() if one != name} for name, own in cluster.items()}
    stand_ins = {name: with_shares(own) for name, own in others.items()} if any(others.values()) else None
    p_signal = min(1.0, 2.0 * float(np.median([half.p_signal for half in found])))

    def verdict(p: float) -> str:
        if p_signal > settings.level:
            return CHANCE
        return SUPPORTED if p <= settings.level else NOT_SETTLED

    of_clusters = {key: verdict(p) for key, p in clusters.p_value.items()}
    of_features = {name: verdict(p) for name, p in features.p_value.items()}
    is_any = SUPPORTED in of_features.values()
    for name, word in of_features.items():
        if word == NOT_SETTLED and others[name] and of_clusters[cluster[name]] == SUPPORTED:
            of_features[name] = BY_CLUSTER
        elif word == NOT_SETTLED and is_any and features.share[name] >= OFTEN and features.alone(name) < OFTEN:
            of_features[name] = PASSENGER
    is_signed = len(settings.classes) == 2
    scores = [[half.log_loss, half.constant_log_loss, half.auc] for half in found]
    return Certificate(
        clusters.table(of_clusters, {key: with_shares(own) for key, own in members.items()}, signed=False),
        replace(
            features.table(of_features, stand_ins, signed=is_signed),
            cluster=tuple(cluster[name] for name in features.order),
        ),
        terms.table({key: verdict(p) for key, p in terms.p_value.items()}, None, signed=is_signed),
        p_signal,
        stability_of(features.selected, settings.n_features, of="features"),
        HalfScore(*np.mean(scores, axis=0).tolist()),
        settings,
        _cautions(settings),
    )


def _cautions(settings: CertificateSettings) -> tuple[str, ...]:
    """Why the error rate may not hold, or why there is little power."""
    found = []
    if settings.n_events // 2 < FEW_EVENTS:
        events = f"a half has only {settings.n_events // 2} rows of the smallest class"
        found.append(f"{events}; below {FEW_EVENTS} the tests are not reliable.")
    if settings.is_weighted:
        found.append("rows count by their weights; weights that are no numbers of observations make P too small.")
    if settings.n_halves < FEW_HALVES:
        found.append(f"there are only {settings.n_halves} half fits; other halves might give other verdicts.")
    return tuple(found)
