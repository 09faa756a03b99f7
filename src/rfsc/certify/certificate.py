"""What a certificate says: a verdict on every cluster of features, feature and term, and how good half fits are.

No postponed annotations: files are read by the types of these classes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import ClassVar

import numpy as np
from scipy.optimize import brentq, minimize_scalar

from .._utils.arrays import FloatArray
from .._utils.files import SavedRecord, require
from .._utils.words import paragraphs
from ..explain.stability import Stability
from ..explain.term_table import ReadableTable, per_row

MOST_SHOWN = 15  # units of a table of text, all that are supported among them
MOST_MEMBERS = 3  # of a cluster that are named with their shares
QUANTILE = 0.1  # of the p-values of the halves; of 0.1 to 0.5 the one with the most power in simulations
LEAST_HALVES = 2  # a single half decides on nothing
LOW, HIGH = -30.0, 15.0  # between which log(a) of the extreme distributions lies
SUPPORTED = "supported"
BY_CLUSTER = "its cluster is supported"
PASSENGER = "passenger"
TOO_FEW = "too few rows"
NOT_SETTLED = "not settled"
CHANCE = "no more than chance"
NOTES = (
    "P: p-value after the selection, valid for all units of a table together (family-wise error). Every unit was "
    "tested on rows that its model had not seen, beside what can be had without it.",
    "halves: share of the half fits whose model holds the unit.",
    "Terms that differ only in their numbers, such as cut points, are one unit, shown with its most frequent numbers; "
    "that it is supported says nothing about these.",
)
LIMITS = (
    "Limits: rows, or their groups, are independent; the power is that of half the rows, and a half should have about "
    "ten rows of the smallest class for each term; an interaction without main effects is found only with terms that "
    'can show it alone, such as basis="centred".'
)
TOO_FEW_ROWS = "too few rows: share of those in which the other half has too few rows to test it."
SIGN = "same sign: share of those in which its effect points the same way."
MEANING = {
    SUPPORTED: "the classes depend on it, beyond what the other features tell",
    BY_CLUSTER: "some member of its cluster matters; these rows do not tell which",
    PASSENGER: "at least half of the fits choose it, but only in products that are as good without it",
    TOO_FEW: "it could not be tested in at least half of those, which says nothing against it",
    NOT_SETTLED: "these rows do not tell whether it matters",
    CHANCE: "the models predict unseen rows no better than chance, so nothing is supported, whatever its P",
}


@dataclass(frozen=True, slots=True, eq=False)
class UnitTable(ReadableTable):
    """Verdicts on units of one kind, the smallest P first.

    Parameters
    ----------
    unit : tuple of str
        The cluster, feature or term.
    verdict : tuple of str
        "supported", "its cluster is supported", "passenger", "too few rows", "not settled" or "no more than chance".
    p_value : ndarray of shape (n_units,)
        Family-wise p-value.
    share : ndarray of shape (n_units,)
        Share of the half fits whose model holds the unit.
    too_few : ndarray of shape (n_units,) or None
        Share of those in which the other half has too few rows for its test; None if it is 0 for all units.
    sign : ndarray of shape (n_units,) or None
        Share of those in which the effect has the sign that most of them have; None for clusters and several classes.
    stand_ins : tuple of str or None
        Members of a cluster with their shares, or other members of the cluster of a feature; None for terms.
    cluster : tuple of str or None
        Clusters of features; None for clusters and terms.
    """

    unit: tuple[str, ...] = field(metadata=per_row())
    verdict: tuple[str, ...] = field(metadata=per_row(text=True))
    p_value: FloatArray = field(metadata=per_row(".2g", "P"))
    share: FloatArray = field(metadata=per_row(".0%", "halves"))
    too_few: FloatArray | None = field(metadata=per_row(".0%", "too few rows"))
    sign: FloatArray | None = field(metadata=per_row(".0%", "same sign"))
    stand_ins: tuple[str, ...] | None = field(metadata=per_row("", "stand-ins", text=True))
    cluster: tuple[str, ...] | None = field(default=None, metadata=per_row(hidden=True))

    @property
    def notes(self) -> tuple[str, ...]:
        return notes_of(self)

    def named(self, verdict: str = SUPPORTED) -> tuple[str, ...]:
        """The units with a verdict."""
        return tuple(unit for unit, own in zip(self.unit, self.verdict, strict=True) if own == verdict)


@dataclass(frozen=True, slots=True)
class HalfScore:
    """How good the half fits are on the rows that they have not seen: means over the halves."""

    log_loss: float
    constant_log_loss: float  # of the class shares
    auc: float  # several classes: mean of each against the rest


@dataclass(frozen=True, slots=True, kw_only=True)
class CertificateSettings:
    """How a certificate was made."""

    n_pairs: int  # of halves that were asked for
    n_halves: int  # half fits that were made
    level: float
    n_rows: int
    half_rows: int  # of the smallest half
    half_events: int  # fewest rows of a class in a half, or groups with such rows
    n_features: int
    classes: tuple[str, ...]
    basis: str
    is_weighted: bool  # whether rows had weights
    n_groups: int | None  # of rows that stayed together; None if every row stood for itself
    cut: float | None  # absolute rank correlation from which features share a cluster; None: given by the user
    random_state: int | None
    content: str  # digest of features and classes, as in the record of a fit
    version: str


@dataclass(frozen=True, slots=True, eq=False)
class Certificate(SavedRecord):
    """Which features and terms can be believed, by fits to halves of the rows and tests on the other halves.

    Parameters
    ----------
    clusters, features, terms : UnitTable
        Verdicts. Only units that some half fit has chosen are listed; no other has any support.
    p_signal : float
        P-value that the models predict unseen rows no better than chance.
    stability : Stability
        Agreement of the half fits on the features.
    score : HalfScore
        Log-loss and AUC on unseen rows; honest, but of models with half the rows.
    settings : CertificateSettings
        Numbers of pairs, rows and features, the level, and the version.
    cautions : tuple of str
        Why the error rate may not hold here.
    """

    _format: ClassVar = "rfsc-certificate"
    _what: ClassVar = "certificate"

    clusters: UnitTable
    features: UnitTable
    terms: UnitTable
    p_signal: float
    stability: Stability
    score: HalfScore
    settings: CertificateSettings
    cautions: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        made = self.settings
        counts = self.stability.mean_size, made.n_features - 1, 1000 * made.n_halves
        require(all(0 <= count < 1e9 for count in counts), "it counts features or halves that cannot be")
        clusters = set(self.features.cluster or self.features.unit)
        require(clusters <= set(self.clusters.unit), "a feature is in a cluster that it does not hold")

    def bound(self, threshold: float) -> float:
        """Bound on the expected number of features that chance puts into a share of the halves.

        Parameters
        ----------
        threshold : float
            Share of the halves, above 0.5 and at most 1.

        Returns
        -------
        float
            By chance: no more often than a feature drawn at random (Shah and Samworth 2013).
        """
        if not 0.5 < threshold <= 1.0:
            msg = f"threshold must be a share above 0.5 and at most 1, got {threshold!r}."
            raise ValueError(msg)
        n_pairs = max(self.settings.n_halves // 2, 1)
        return most_by_chance(self.stability.mean_size, self.settings.n_features, threshold, n_pairs)

    def lines(self) -> list[str]:
        """What was found, in sentences."""
        made, level = self.settings, self.settings.level
        groups = "" if made.n_groups is None else f" of {made.n_groups:,} groups, which stayed together"
        found = [
            f"{made.n_halves} fits to halves of {made.n_rows:,} rows{groups}, tested on the other halves.",
            f"Unseen rows: AUC {self.score.auc:.3f}, log-loss {self.score.log_loss:.3f} "
            f"(class shares alone: {self.score.constant_log_loss:.3f}).",
        ]
        if self.p_signal > level:
            found.append(f"No more than chance: the models do not predict unseen rows (P = {self.p_signal:.2g}).")
        for title, table in self._tables.items():
            found.append(f"Supported {title.lower()}: {', '.join(table.named()) or 'none'}.")
        found.append(f"For each of these lists, the probability that it holds any false entry is at most {level:g}.")
        if self.stability.index is not None:
            found.append(f"The halves agree on the features: {self.stability.index:.2f} ({self.stability.word}).")
        return [*found, *(f"Caution: {caution}" for caution in self.cautions)]

    @property
    def _tables(self) -> dict[str, UnitTable]:
        """By title; the clusters only if some cluster is more than a feature."""
        several = {"Clusters": self.clusters} if self.features.cluster != self.features.unit else {}
        return several | {"Features": self.features, "Terms": self.terms}

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know of the tables."""
        return (*notes_of(self.clusters, self.features, self.terms), LIMITS)

    def of_features(self, names: Sequence[str]) -> str:
        """The verdicts on the features of a model, in a sentence."""
        known = dict(zip(self.features.unit, self.features.verdict, strict=True))
        verdicts: dict[str, list[str]] = {}
        for name in names:
            verdicts.setdefault(known.get(name, NOT_SETTLED), []).append(name)
        parts = [f"{word}: {', '.join(verdicts[word])}" for word in MEANING if word in verdicts]
        return f"Features of this model: {'; '.join(parts)}." if parts else "This model reads no feature."

    def text(self) -> str:
        """Sentences and tables as plain text."""
        shown = []
        for title, table in self._tables.items():
            if not table.unit:
                continue
            n_shown = max(MOST_SHOWN, len(table.named()))
            more, rows = len(table.unit) - n_shown, table.first(n_shown).aligned(table.columns)
            shown.append([title, rows, *([f"... and {more} more, not supported"] if more > 0 else [])])
        return paragraphs([self.lines(), *shown, self.notes])

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        head = "".join(f"<p>{escape(line)}</p>" for line in self.lines())
        tables = "".join(f"<h4>{title}</h4>{table._repr_html_()}" for title, table in self._tables.items())
        return f"{head}{tables}<p>{escape(LIMITS)}</p>"


def notes_of(*tables: UnitTable) -> tuple[str, ...]:
    """How to read these tables."""
    more = [TOO_FEW_ROWS] if any(table.too_few is not None for table in tables) else []
    more += [SIGN] if any(table.sign is not None for table in tables) else []
    verdicts = {verdict for table in tables for verdict in table.verdict}
    return (*NOTES, *more, *(f"{word}: {MEANING[word]}." for word in MEANING if word in verdicts))


def with_shares(shares: Mapping[str, float]) -> str:
    """Members of a cluster and how often each is chosen, the most frequent first."""
    ordered = sorted(shares.items(), key=lambda pair: (-pair[1], pair[0]))
    named = [f"{name} {share:.0%}" for name, share in ordered[:MOST_MEMBERS]]
    more = len(ordered) - len(named)
    return ", ".join([*named, *([f"{more} more"] if more else [])])


def majority(signs: Sequence[float]) -> float:
    """Share of the signs that the more frequent one has; 0 where there is none."""
    up, down = np.count_nonzero(np.array(signs) > 0), np.count_nonzero(np.array(signs) < 0)
    return float(max(up, down) / max(len(signs), 1))


def aggregated(p_values: FloatArray) -> FloatArray:
    """One p-value for each unit out of those of the halves (half, unit), whatever their dependence.

    A fixed quantile over its share: the k-th smallest of n p-values times n / k (Meinshausen, Meier and Bühlmann,
    JASA 104, 2009, equation 2.2). To choose the best of all quantiles from 0.05 on would cost a factor of 4.
    """
    n = len(p_values)
    k = max(int(np.ceil(QUANTILE * n - 1e-9)), min(LEAST_HALVES, n))
    return np.asarray(np.minimum(np.sort(p_values, axis=0)[k - 1] * (n / k), 1.0))


def most_by_chance(mean_size: float, n_units: int, threshold: float, n_pairs: int) -> float:
    """Bound on the expected number of units that chance selects in a share of the halves of at least `threshold`.

    By chance means: no more often than a unit drawn at random (Shah and Samworth, JRSS B 75, 2013, with r-concave
    shares).
    """
    share = mean_size / n_units
    times = round(2 * n_pairs * threshold)
    both = _largest_tail(share**2, times - n_pairs, n_pairs, -0.5)  # selected in both halves of a pair
    one = _largest_tail(share, times, 2 * n_pairs, -0.25)
    return float(n_units * min(both, one, 1.0))


def _largest_tail(mean: float, times: int, n: int, r: float) -> float:
    """The largest probability of at least `times` out of n under an r-concave distribution with this mean share.

    The extreme distributions follow (a + i)^(1/r) up to some k, with a smaller atom at k + 1.
    """
    expected = mean * n
    if expected == 0.0:
        return 0.0
    if times <= 2.0 * expected + 1.0:
        return 1.0

    def mass(log_a: float, k: int) -> FloatArray:
        return np.asarray((np.exp(log_a) + np.arange(k + 1.0)) ** (1.0 / r))

    def log_a_of(k: int) -> float:  # with which the distribution up to k alone has this mean
        i = np.arange(k + 1.0)
        return float(brentq(lambda log_a: np.average(i, weights=mass(log_a, k)) - expected, LOW, HIGH))

    def below(log_a: float, k: int) -> float:
        own = mass(log_a, k)
        atom = ((expected - np.arange(k + 1.0)) * own).sum() / (k + 1.0 - expected)  # what the mean demands
        return float(own[:times].sum() / (own.sum() + atom))

    ends = [log_a_of(k) for k in range(times - 1, n + 1)]
    least = [
        minimize_scalar(below, bounds=(after, before), args=(k,), method="bounded").fun
        for k, before, after in zip(range(times - 1, n), ends, ends[1:], strict=False)
    ]
    return 1.0 - min(least, default=1.0)
