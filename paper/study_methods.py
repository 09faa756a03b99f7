"""The rows of the accuracy study: settings of RFSC worth comparing, and what a user would reach for today."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from rfsc.classifier import RFSCClassifier

from .methods import Method, all_methods
from .comparators.calibrated import CalibratedSearch
from .comparators.modern import modern_peers

# settings of RFSC by row: the one place to edit; rows with equal settings are run and shown once, under the first name
VARIANTS: dict[str, dict[str, Any]] = {
    "RFSC": {},
    "RFSC, average": {"combine": "average"},
    "RFSC polynomial": {"basis": "polynomial"},
    "RFSC hinge": {"basis": "hinge"},
}
DEFAULT = "RFSC"
AVERAGE = "RFSC, average"
REFERENCE = "RFSC polynomial"  # whose time is 1

SLOW = ("EBM",)  # only when asked for
_COST = {"polynomial": 1.0, "hinge": 1.2, "auto": 3.5}


def _variant(name: str, settings: dict[str, Any]) -> Method:
    cost = _COST.get(str(RFSCClassifier(**settings).basis), 1.0)
    return Method(name=name, make=lambda _: RFSCClassifier(**settings), kind="rfsc", cost=cost)


def _calibrated(method: Method) -> Method:
    """The same predictions with probabilities: scikit-learn's support vectors have none of their own."""
    return replace(method, make=lambda _: CalibratedSearch(modern_peers()[method.name]))


def study_methods() -> dict[str, Method]:
    """Every row that can run here, by name.

    abess would be a peer too; its licence (GPL) keeps it out of what this project installs and runs.
    """
    known = all_methods()
    today = [_calibrated(m) if m.name == "RBF SVM" else m for m in known.values() if m.kind == "today"]
    rows = [*(_variant(*item) for item in VARIANTS.items()), known["RFSC, paper settings"], *today]
    return {method.name: method for method in rows}


def same_settings(methods: Sequence[Method]) -> dict[str, str]:
    """For each method the first one that has its settings."""
    first: dict[str, str] = {}
    return {m.name: first.setdefault(m.fingerprint("", "stratified"), m.name) for m in methods}
