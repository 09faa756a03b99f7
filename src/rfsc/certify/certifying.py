"""`certify`: fits to both halves of many random splits, and one verdict on every unit out of their tests."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import astuple, dataclass
from functools import partial
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from .._fit.encoding import encode as encode_targets
from .._fit.encoding import read_features, row_weights
from .._fit.executor import Executor
from .._fit.fitting import settings_digests
from .._fit.rows import group_codes
from .._search.context import Context, fit_context
from .._utils.arrays import FloatArray, IntArray
from .._utils.compat import Interval, safe_indexing, validate_parameter_constraints
from .._utils.determinism import stream
from .._utils.files import decode, encode
from .._utils.manifest import fingerprint
from .._utils.validation import check_count, is_large, labels_of, odd_labels
from .._utils.words import plural
from .._version import __version__
from ..explain.stability import stability_of
from .certificate import (
    BY_CLUSTER,
    CHANCE,
    NOT_SETTLED,
    PASSENGER,
    SUPPORTED,
    TOO_FEW,
    Certificate,
    CertificateSettings,
    HalfScore,
    UnitTable,
    aggregated,
    majority,
    with_shares,
)
from .halves import (
    Dates,
    HalfResult,
    Halves,
    Table,
    UnitResult,
    feature_names_of,
    has_steps,
    last_step,
    split_in_halves,
)
from .unit_tests import unit_ranks

CUT = 0.7  # absolute rank correlation from which features share a cluster
MOST_CLUSTERED = 5_000  # features; the distances of more take too much memory
FEW_EVENTS = 20  # rows of the smallest class in a half, below which the tests are no longer trusted
FEW_HALVES = 20  # below which chance decides on what the halves have chosen
UNEVEN = 0.3  # share of the rows, below which a half is so small that groups must differ in size
REFUSED = 0.1  # share of the tests that could not be made, from which that is a caution
OFTEN = 0.5  # share of halves that decides between the verdicts that claim nothing
JOINED = " | "  # between the members of a cluster

CONSTRAINTS: dict[str, Any] = {
    "level": [Interval(Real, 0, 1, closed="neither")],
    "random_state": [Interval(Integral, 0, None, closed="left"), None],
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
    """Say which features and terms can be believed: the whole fit runs on random halves of the rows.

    What its models hold is tested on the other halves, so the p-values hold after the selection.

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
    given = {"level": level, "random_state": random_state}
    validate_parameter_constraints(CONSTRAINTS, given, caller_name="certify")
    check_count("n_pairs", n_pairs)
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
    X = X if hasattr(X, "shape") else np.asarray(X)
    n_rows = X.shape[0] if len(X.shape) else 0
    if (problem := odd_labels(y)) is not None:
        raise ValueError(problem)
    labels = labels_of(y, n_rows)
    weight = row_weights(sample_weight, None, np.empty((n_rows, 1)), labels)
    codes, used = group_codes(groups, n_rows), np.flatnonzero(weight > 0)
    codes = None if codes is None else np.unique(codes[used], return_inverse=True)[1]
    if used.size < n_rows:
        X, labels, weight = safe_indexing(X, used), labels[used], weight[used]
    return Table(X, labels, encode_targets(labels), weight, codes)


def _features(estimator: Any, table: Table) -> tuple[list[str], FloatArray, bool, Dates]:
    """Names and values of the features of all rows, for which earlier steps are fitted; whether a recipe makes them.

    And how every encoder among the steps reads dates.
    """
    before = clone(estimator[:-1]).fit(table.X, table.y) if has_steps(estimator) else None
    seen, clf = table.X if before is None else before.transform(table.X), clone(last_step(estimator))
    values, *_ = read_features(clf, seen, table.y, table.weight)
    encoders = {} if before is None else {name: step for name, step in before.steps if hasattr(step, "_dates")}
    dates = {name: encoder.recipe_.dates for name, encoder in encoders.items()}
    return feature_names_of(before, clf), values, clf.recipe_ is not None, dates


def _clusters(clusters: Any, names: Sequence[str], values: FloatArray) -> dict[str, str]:
    """The name of its cluster for every feature that is not one by itself."""
    if isinstance(clusters, Mapping):
        found = {str(name): str(own) for name, own in clusters.items()}
    elif isinstance(clusters, str) and clusters == "auto":
        label = correlation_clusters(values)
        members = [[names[j] for j in np.flatnonzero(label == k).tolist()] for k in np.unique(label)]
        found = {name: JOINED.join(own) for own in members if len(own) > 1 for name in own}
    else:
        is_list = isinstance(clusters, Sequence) and not isinstance(clusters, str)
        if not is_list or any(isinstance(own, str) or not isinstance(own, Iterable) for own in clusters):
            what = "a list of names" if is_list else f"an object of type {type(clusters).__name__}"
            msg = f'clusters must be "auto", a dict, or a list of lists such as [["a", "b"], ["c", "d"]], got {what}.'
            raise ValueError(msg)
        members = [[str(name) for name in own] for own in clusters]
        found = {name: JOINED.join(own) for own in members for name in own}
        if len(found) < sum(map(len, members)):
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
        self._names, values, fills, dates = _features(estimator, table)
        targets = table.targets
        self._data = fingerprint(values, targets.classes, targets.code, table.weight, self._names, table.groups)
        self.cluster_of = _clusters(clusters, self._names, values)
        seeds = rng.integers(2**31, size=2 * n_pairs)
        self._halves = Halves(estimator, table, is_upper, seeds, self.cluster_of, dates, fills=fills)
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
            if context.stop_reason == "interrupted":
                raise KeyboardInterrupt
            msg = "the time ended before the first pair of halves was fitted. Allow more time."
            raise TimeoutError(msg)
        return [found[item + side] for item in pairs for side in (0, 1)]

    def _fingerprint(self) -> dict[str, Any]:
        """What a checkpoint of the same study has in common with this one."""
        # of a pipeline its steps are known by what they make of the rows
        params = settings_digests(last_step(self._halves.estimator))
        own = {"n_pairs": self._n_pairs, "random_state": self._random_state, "clusters": self.cluster_of}
        return {"data": self._data, "rfsc": __version__, **params, **own}

    def settings(self, level: float, n_halves: int) -> CertificateSettings:
        """How the certificate was made."""
        halves, table = self._halves, self._halves.table
        code, basis = table.targets.code, last_step(halves.estimator).basis
        unit = np.arange(code.size) if table.groups is None else table.groups
        sides = [half for upper in halves.is_upper for half in (upper, ~upper)]
        n_of_class = [np.bincount(np.unique([code[half], unit[half]], axis=1)[0]) for half in sides]
        return CertificateSettings(
            n_pairs=int(self._n_pairs),
            n_halves=n_halves,
            level=float(level),
            n_rows=int(table.weight.size),
            half_rows=min(int(np.count_nonzero(half)) for half in sides),
            half_events=min(int(own.min()) for own in n_of_class),
            n_features=len(self._names),
            classes=tuple(str(label) for label in table.targets.classes),
            basis=basis if isinstance(basis, str) else repr(basis),
            cut=self._cut,
            is_weighted=bool(np.any(table.weight != 1.0)),
            n_groups=None if table.groups is None else int(table.groups.max()) + 1,
            random_state=self._random_state,
            content=self._data["content"],
            version=__version__,
        )


@dataclass(slots=True)
class _Unit:
    """A cluster, feature or term over all halves."""

    halves: list[UnitResult | None]
    p_value: float = 1.0
    verdict: str = NOT_SETTLED

    @property
    def found(self) -> list[UnitResult]:
        """The results of the halves that hold it."""
        return [one for one in self.halves if one is not None]

    @property
    def share(self) -> float:
        return len(self.found) / len(self.halves)

    def often(self, what: str) -> float:
        """The share of these halves in which something is true."""
        return float(np.mean([getattr(one, what) for one in self.found]))


def _units(kind: str, halves: Sequence[HalfResult]) -> dict[str, _Unit]:
    """The units of one kind, with their P."""
    units: dict[str, _Unit] = {}
    for k, half in enumerate(halves):
        for one in getattr(half, kind):
            units.setdefault(one.key, _Unit([None] * len(halves))).halves[k] = one
    table = np.array([[1.0 if one is None else one.p_value for one in own.halves] for own in units.values()])
    for own, p in zip(units.values(), aggregated(table.reshape(-1, len(halves)).T).tolist(), strict=True):
        own.p_value = p
    return units


def _judge(units: Mapping[str, _Unit], p_signal: float, level: float) -> None:
    """Verdicts on units as if there were no others."""
    for own in units.values():
        if max(p_signal, own.p_value) <= level:
            own.verdict = SUPPORTED
        elif own.often("is_refused") >= OFTEN:
            own.verdict = TOO_FEW
        elif p_signal > level:
            own.verdict = CHANCE


def _table(
    units: Mapping[str, _Unit],
    *,
    signed: bool,
    stand_ins: Mapping[str, str] | None = None,
    cluster: Mapping[str, str] | None = None,
) -> UnitTable:
    """All units, the smallest P first."""
    order = sorted(units, key=lambda key: (units[key].p_value, -units[key].share, key))
    own = [units[key] for key in order]
    too_few = np.array([one.often("is_refused") for one in own])
    return UnitTable(
        tuple(Counter(half.label for half in one.found).most_common(1)[0][0] for one in own),
        tuple(one.verdict for one in own),
        np.array([one.p_value for one in own]),
        np.array([one.share for one in own]),
        too_few if np.any(too_few) else None,
        np.array([majority([half.sign for half in one.found]) for one in own]) if signed else None,
        None if stand_ins is None else tuple(stand_ins[key] for key in order),
        None if cluster is None else tuple(cluster[key] for key in order),
    )


def _certificate(
    halves: Sequence[HalfResult], settings: CertificateSettings, cluster_of: Mapping[str, str]
) -> Certificate:
    """One verdict on every unit out of the results of all halves."""
    clusters, features, terms = levels = [_units(kind, halves) for kind in ("clusters", "features", "terms")]
    cluster = {name: cluster_of.get(name, name) for name in features}
    for name, own in features.items():  # members are tested inside of clusters that passed
        own.p_value = max(own.p_value, clusters[cluster[name]].p_value)
    members = {key: {name: features[name].share for name in cluster if cluster[name] == key} for key in clusters}
    others = {name: {one: s for one, s in members[key].items() if one != name} for name, key in cluster.items()}
    p_signal = min(1.0, 2.0 * float(np.median([half.p_signal for half in halves])))
    for units in levels:
        _judge(units, p_signal, settings.level)
    is_any = any(own.verdict == SUPPORTED for own in features.values())
    for name, own in features.items():
        if own.verdict in (TOO_FEW, NOT_SETTLED) and others[name] and clusters[cluster[name]].verdict == SUPPORTED:
            own.verdict = BY_CLUSTER
        elif own.verdict == NOT_SETTLED and is_any and own.share >= OFTEN > own.often("alone"):
            own.verdict = PASSENGER
    signed = len(settings.classes) == 2
    stand_ins = {name: with_shares(own) for name, own in others.items()} if any(others.values()) else None
    selected = np.array([[half is not None for half in own.halves] for own in features.values()], dtype=np.bool_)
    refused = [[half.is_refused for own in units.values() for half in own.found] for units in levels]
    return Certificate(
        _table(
            clusters,
            signed=False,
            stand_ins={key: with_shares(own) if len(own) > 1 else "" for key, own in members.items()},
        ),
        _table(features, signed=signed, stand_ins=stand_ins, cluster=cluster),
        _table(terms, signed=signed),
        p_signal,
        stability_of(selected.reshape(-1, len(halves)).T, settings.n_features, of="features"),
        HalfScore(*np.mean([astuple(half.score) for half in halves], axis=0).tolist()),
        settings,
        _cautions(settings, [float(np.mean(own or [False])) for own in refused]),
    )


def _cautions(settings: CertificateSettings, refused: Sequence[float]) -> tuple[str, ...]:
    """Why the error rate may not hold, or why there is little power."""
    found = []
    if settings.half_events < FEW_EVENTS:
        what = "groups with" if settings.n_groups is not None else "rows of"
        events = f"a half has only {settings.half_events} {what} the smallest class"
        found.append(f"{events}; below {FEW_EVENTS} the tests are not reliable.")
    if max(refused) >= REFUSED:
        clusters, features, terms = (f"{share:.0%}" for share in refused)
        found.append(
            f"halves have too few rows for {clusters} of the tests of clusters, {features} of those of features and "
            f"{terms} of those of terms; no verdict says anything against what could not be tested."
        )
    if settings.half_rows < UNEVEN * settings.n_rows:
        rows = f"a half has only {settings.half_rows:,} of {settings.n_rows:,} rows"
        found.append(f"{rows}, because the groups differ in size; there is little power.")
    if settings.is_weighted:
        found.append("rows count by their weights; weights that are no numbers of observations make P too small.")
    if settings.n_halves < FEW_HALVES:
        found.append(f"there are only {settings.n_halves} half fits; other halves might give other verdicts.")
    return tuple(found)
