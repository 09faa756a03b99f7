"""Every method of the comparisons by name: how it is made, what it costs, and whether its description is complete."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

import rfsc
from rfsc import RFSCClassifier, SearchSettings

from .cells import Task
from .comparators.ants import ACOPMC
from .comparators.discriminant import SequentialLDA
from .comparators.gravitation import DGC, DGCPlus
from .comparators.modern import CalibratedSearch, modern_classifiers, rule_classifiers, with_seed
from .comparators.neighbours import KNN, AdaptiveKNN, CamNN, CenterNN, DistanceWeightedKNN
from .comparators.prototypes import SSMASFLSDE
from .comparators.swarm import PSOKNN, PSOLDA

PEERS = "0.1.0"  # of the peers' code here: with another one all their outcomes are made anew, FasterRisk's too
# what decides the answer of a fit; after a change in there RFSC's outcomes are made anew
DECIDING = ("_engines", "_fit", "_model", "_search", "_terms", "_utils/determinism.py", "bases.py", "classifier.py")
FILTERED = ("Ionosphere", "Sonar", "WDBC")  # sets on which the paper applies its distance-correlation filter
FILTER_LEVEL = 0.05  # the paper states none, and no single level gives its three figures
# time of a fit relative to that on Bupa; a set that is not named counts as Bupa
RELATIVE_COST = {
    "Ionosphere": 3.0,
    "Iris": 0.3,
    "Sonar": 2.0,
    "WDBC": 5.0,
    "Wine": 0.7,
    "irrelevant": 3.0,
    "correlated": 2.0,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """A row of the tables."""

    name: str
    make: Callable[[str], Any]  # from the name of a data set to the unfitted estimator
    kind: str  # "rfsc", "paper" (a comparator of the paper) or "today" (what a user would choose today)
    printed: str | None = None  # the paper's row with its figures
    our_reading: bool = False  # the method's own paper leaves so much open that the row rests on guesses
    filters: bool = False  # it applies the paper's filter on the sets in FILTERED
    cost: float = 0.02  # seconds of one fit on Bupa, roughly: for the order of work and the remaining time
    keel: dict[str, Any] | None = None  # parameters that KEEL's rules need on KEEL's folds

    @property
    def label(self) -> str:
        """The name, with a warning if it rests on guesses."""
        return f"{self.name} (our reading)" if self.our_reading else self.name

    def estimator(self, data: str, folds: str, seed: int) -> Any:
        """Ready to fit: features of the paper's comparators are scaled to [0, 1], unless KEEL's header did that."""
        made = self.make(data)
        if self.kind == "paper":
            made = made.set_params(**(self.keel or {})) if folds == "keel" else make_pipeline(MinMaxScaler(), made)
        return with_seed(made, seed)

    def is_random(self, data: str) -> bool:
        """Whether another seed may give another answer on the same folds."""
        return any(name.endswith("random_state") for name in self.make(data).get_params())

    def fingerprint(self, data: str, folds: str) -> str:
        """A hash of all settings and, for RFSC, of the code that decides its answer."""
        estimator = self.estimator(data, folds, 0)
        code = code_of_answers() if self.kind == "rfsc" else PEERS
        text = f"{code} {type(estimator).__name__} {sorted(estimator.get_params().items(), key=str)}"
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def tasks(self, data: str, folds: str, content: str, places: Iterable[tuple[int, int]]) -> list[Task]:
        """One task for each (seed, fold) on a set; `content` is the fingerprint of the set."""
        fingerprint = f"{self.fingerprint(data, folds)}-{content}"
        return [Task(data, self.name, folds, seed, fold, fingerprint) for seed, fold in places]

    def cost_on(self, data: str) -> float:
        """Roughly the seconds of one fit."""
        return self.cost * RELATIVE_COST.get(data, 1.0)


@cache
def code_of_answers() -> str:
    """A hash of the files of the package in `DECIDING`."""
    assert rfsc.__file__
    named = [Path(rfsc.__file__).parent / name for name in DECIDING]
    files = [file for path in named for file in ([path] if path.is_file() else sorted(path.glob("*.py")))]
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


def by_cost(tasks: Iterable[Task], methods: dict[str, Method]) -> list[Task]:
    """The most expensive first, so that no slow one is left alone at the end."""
    return sorted(tasks, key=lambda task: (-methods[task.method].cost_on(task.data), task))


# ---- the paper's tables


def _comparator(name: str, make: Callable[[], Any], **about: Any) -> Method:
    return Method(name=name, make=lambda _: make(), kind="paper", printed=name, **about)


def paper_search(**changes: Any) -> SearchSettings:
    """The paper's settings of the search, some of them changed."""
    search = RFSCClassifier.paper().search
    assert search is not None
    return replace(search, **changes)


def _paper_settings(data: str) -> RFSCClassifier:
    level = FILTER_LEVEL if data in FILTERED else None
    return RFSCClassifier.paper(search=paper_search(filter_significance=level))


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
    Method(name="RFSC, paper settings", make=_paper_settings, kind="rfsc", filters=True, cost=0.5),
)

_COST_TODAY = {"gradient boosting": 0.2, "EBM": 20.0}


def _today(name: str) -> Method:
    return Method(name=name, make=lambda _: modern_classifiers()[name], kind="today", cost=_COST_TODAY.get(name, 0.4))


def all_methods() -> dict[str, Method]:
    """Every method of the paper's tables that can run here, by name; without cma there is no DGC+."""
    missing = set() if find_spec("cma") else {"DGC+"}
    methods = (*OURS, *PAPER_ROWS, *map(_today, modern_classifiers()))
    return {method.name: method for method in methods if method.name not in missing}


# ---- the accuracy study

# settings of RFSC by row; rows with equal settings are run and shown once, under the first name
VARIANTS: dict[str, dict[str, Any]] = {
    "RFSC": {},
    "RFSC, 15 terms": {"max_terms": 15},
    "RFSC polynomial": {"basis": "polynomial"},
    "RFSC hinge": {"basis": "hinge"},
}
DEFAULT = "RFSC"
LARGER = "RFSC, 15 terms"
TIME_REFERENCE = "RFSC polynomial"  # whose time is 1
ONLY_ON_REQUEST = ("EBM",)
_COST_BY_BASIS = {"polynomial": 1.0, "hinge": 1.2, "auto": 3.5}


def _variant(name: str, settings: dict[str, Any]) -> Method:
    cost = _COST_BY_BASIS[settings.get("basis", "auto")]
    return Method(name=name, make=lambda _: RFSCClassifier(**settings), kind="rfsc", cost=cost)


def _calibrated(method: Method) -> Method:
    """The same predictions with probabilities: scikit-learn's support vectors have none of their own."""
    return replace(method, make=lambda _: CalibratedSearch(modern_classifiers()[method.name]))


def study_methods() -> dict[str, Method]:
    """Every row of the accuracy study that can run here, by name.

    abess would be comparable too; its licence (GPL) keeps it out of what this project installs and runs.
    """
    known = all_methods()
    today = [_calibrated(m) if m.name == "RBF SVM" else m for m in known.values() if m.kind == "today"]
    rules = [Method(name=name, make=_rule_maker(name), kind="today", cost=0.5) for name in rule_classifiers()]
    rows = [*(_variant(*item) for item in VARIANTS.items()), known["RFSC, paper settings"], *today, *rules]
    return {method.name: method for method in rows}


def _rule_maker(name: str) -> Callable[[str], Any]:
    return lambda _: rule_classifiers()[name]


def same_settings(methods: Sequence[Method]) -> dict[str, str]:
    """For each method the name of the first one that has its settings."""
    first: dict[str, str] = {}
    return {m.name: first.setdefault(m.fingerprint("", "stratified"), m.name) for m in methods}
