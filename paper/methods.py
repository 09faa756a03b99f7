"""Every method of the comparison by name: how it is made, what it costs, and how sure we are of it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from rfsc import __version__
from rfsc.classifier import RFSCClassifier

from .comparators.ants import ACOPMC
from .comparators.discriminant import SequentialLDA
from .comparators.gravitation import DGC, DGCPlus
from .comparators.modern import modern_peers, with_seed
from .comparators.neighbours import KNN, AdaptiveKNN, CamNN, CenterNN, DistanceWeightedKNN
from .comparators.prototypes import SSMASFLSDE
from .comparators.swarm import PSOKNN, PSOLDA

FILTERED = ("Ionosphere", "Sonar", "WDBC")  # where the paper applies its distance-correlation filter
FILTER_LEVEL = 0.05  # the paper states none, and no single level gives its three figures


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """A row of the tables."""

    name: str  # as the tables show it
    make: Callable[[str], Any]  # gives the estimator, not fitted; called with the name of the data set
    kind: str  # ours, a comparator of the paper, or what a user would reach for today
    printed: str | None = None  # the paper's row that shows its figures; None where the paper has none
    our_reading: bool = False  # whether the method's own paper leaves so much open that the row rests on guesses
    cost: float = 0.02  # seconds of one fit on Bupa, roughly: for the order of work and the remaining time
    keel: dict[str, Any] | None = None  # parameters that KEEL's rules need on KEEL's folds

    @property
    def label(self) -> str:
        """The name, with a warning where it rests on guesses."""
        return f"{self.name} (our reading)" if self.our_reading else self.name

    def estimator(self, data: str, folds: str, seed: int) -> Any:
        """Ready to fit: features of the paper's comparators scaled to [0, 1], except where KEEL's header did that."""
        made = self.make(data)
        if self.kind == "paper":
            made = made.set_params(**(self.keel or {})) if folds == "keel" else make_pipeline(MinMaxScaler(), made)
        return with_seed(made, seed)

    def is_random(self, data: str) -> bool:
        """Whether another seed may give another answer on the same folds."""
        return any(name.endswith("random_state") for name in self.make(data).get_params())

    def fingerprint(self, data: str, folds: str) -> str:
        """A hash of all settings and of this package's version."""
        estimator = self.estimator(data, folds, 0)
        text = f"{__version__} {type(estimator).__name__} {sorted(estimator.get_params().items(), key=str)}"
        return hashlib.sha256(text.encode()).hexdigest()[:12]


def _comparator(name: str, make: Callable[[], Any], **about: Any) -> Method:
    return Method(name=name, make=lambda _: make(), kind="paper", printed=name, **about)


def _paper_settings(data: str) -> RFSCClassifier:
    return RFSCClassifier.paper(filter_significance=FILTER_LEVEL if data in FILTERED else None)


_SKIP = {"skip_zero": True}

PAPER_ROWS = (
    _comparator("ACO + PMC", ACOPMC, our_reading=True, cost=1),
    _comparator("DGC+", DGCPlus, cost=7),
    _comparator("DGC", DGC, our_reading=True, cost=0.2),
    _comparator("KNN", KNN, keel=_SKIP),
    _comparator("KNN-A", AdaptiveKNN, keel=_SKIP),
    _comparator("DW-KNN", DistanceWeightedKNN, our_reading=True, keel=_SKIP),
    _comparator("Cam-NN", CamNN, keel=_SKIP),
    _comparator("CNN", CenterNN, keel=_SKIP),
    _comparator("SSMA+SFLSDE", SSMASFLSDE, cost=0.8),
    _comparator("forward FS + LDA", lambda: SequentialLDA("forward"), our_reading=True),
    _comparator("backward FS + LDA", lambda: SequentialLDA("backward"), our_reading=True),
    _comparator("PSO + LDA", PSOLDA, our_reading=True, cost=0.1),
    _comparator("PSO(4-2) + 5NN", PSOKNN, our_reading=True, cost=0.7),
)

OURS = (
    Method(name="RFSC", make=lambda _: RFSCClassifier(basis="polynomial"), kind="rfsc", printed="RFSC", cost=1),
    Method(name="RFSC, paper settings", make=_paper_settings, kind="rfsc", cost=0.5),
)

_COST_TODAY = {"gradient boosting": 0.2, "EBM": 20.0}


def _today(name: str) -> Method:
    return Method(name=name, make=lambda _: modern_peers()[name], kind="today", cost=_COST_TODAY.get(name, 0.4))


def all_methods() -> dict[str, Method]:
    """Every method that can run here, by name; those whose packages are missing are left out."""
    missing = set() if find_spec("cma") else {"DGC+"}
    methods = (*OURS, *PAPER_ROWS, *map(_today, modern_peers()))
    return {method.name: method for method in methods if method.name not in missing}
