"""Score cards beside FasterRisk on the paper's sets with two classes: `python -m paper.cards --write docs/card.md`.

Left-out log-loss, AUC and number of rows with points, over stratified 10-fold cross-validation. Every finished fold is
kept in a file. FasterRisk has an environment of its own, which `make cards` makes; without it, its rows are missing.
"""

from __future__ import annotations

import argparse
import csv
import sys
import warnings
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from sklearn.metrics import log_loss, roc_auc_score

from rfsc import RFSCClassifier
from rfsc.card import ScoreCard, card

from .comparators import faster_risk
from .datasets import load
from .keel import N_FOLDS
from .printed import SETS
from .protocols import SMALLEST_PROBABILITY, Fold, read_fold
from .tables import made_by, markdown_table, replace_section

MAX_TERMS = 8
CARD_POINTS = (10, 5)
FASTER_RISK_SIZES = (8, 5)
BASES = ("hinge", "step", "rule")
NOTE = (
    "Means over {n_folds} of ten stratified folds; bold: the lowest log-loss of the cards of a set. All formulas have "
    "at most {max_terms} terms and are otherwise fitted as `RFSCClassifier` does it by default. Rows: ranges and "
    "conditions that a card lists, zero points not counted; terms of a formula. FasterRisk: conditions `feature <= "
    "cut` at the deciles of the training rows, points from -5 to 5."
)


class Outcome(NamedTuple):
    """How one method did in one fold."""

    data: str
    fold: int
    method: str
    log_loss: float
    auc: float
    n_rows: int


def two_class_sets() -> list[str]:
    """Names of the sets with two classes."""
    return [data for data in SETS if len(load(data).target_names) == 2]


def outcomes_of(data: str, fold: int, kind: str) -> list[Outcome]:
    """A formula and its cards, or FasterRisk, on one fold."""
    rows = read_fold(data, "stratified", 0, fold)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [
            Outcome(data, fold, *one) for one in (_faster_risk(rows) if kind == "FasterRisk" else _ours(rows, kind))
        ]


def _ours(rows: Fold, basis: str) -> Iterator[tuple[str, float, float, int]]:
    clf = RFSCClassifier(basis=basis, max_terms=MAX_TERMS, n_jobs=1, random_state=0).fit(rows.X_train, rows.y_train)
    yield f"formula, {basis}", *_scores(clf, rows), clf.models_[0].size
    for most in CARD_POINTS:
        found: ScoreCard = card(clf, rows.X_train, rows.y_train, max_points=most, cv=None)
        yield f"card, {basis}, {most} points", *_scores(found, rows), int(np.count_nonzero(found.points.points))


def _faster_risk(rows: Fold) -> Iterator[tuple[str, float, float, int]]:
    largest, *others = FASTER_RISK_SIZES
    fitted = faster_risk.FasterRisk(largest, tuple(others)).fit(rows.X_train, rows.y_train)
    for k in FASTER_RISK_SIZES:
        model = fitted.at_size(k)
        yield f"FasterRisk, {k} conditions", *_scores(model, rows), int(np.count_nonzero(model.coef_))


def _scores(model: Any, rows: Fold) -> tuple[float, float]:
    p = np.clip(model.predict_proba(rows.X_test)[:, 1], SMALLEST_PROBABILITY, 1 - SMALLEST_PROBABILITY)
    return float(log_loss(rows.y_test, p)), float(roc_auc_score(rows.y_test, p))


def run(path: Path, n_folds: int, n_jobs: int) -> list[Outcome]:
    """The outcomes of the first folds; those in the file are not measured again."""
    found = _read(path)
    done = {(one.data, one.fold, _kind(one.method)) for one in found}
    kinds = [*BASES, *(["FasterRisk"] if faster_risk.PYTHON.exists() else [])]
    tasks = [(data, fold, kind) for fold, data, kind in product(range(n_folds), two_class_sets(), kinds)]
    left = [task for task in tasks if task not in done]
    for some in Parallel(n_jobs=n_jobs, return_as="generator")(delayed(outcomes_of)(*task) for task in left):
        with path.open("a", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows(some)
        found += some
    return [one for one in found if one.fold < n_folds]


def _read(path: Path) -> list[Outcome]:
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return [Outcome(d, int(k), m, float(loss), float(auc), int(n)) for d, k, m, loss, auc, n in csv.reader(file)]


def _kind(method: str) -> str:
    return "FasterRisk" if method.startswith("FasterRisk") else method.split(", ")[1]


def section(outcomes: Sequence[Outcome]) -> str:
    """A table with log-loss, AUC and rows of every method by set."""
    sets = [data for data in SETS if data in {one.data for one in outcomes}]
    methods = list(dict.fromkeys(one.method for one in sorted(outcomes, key=lambda one: _place(one.method))))
    means = {
        (method, data): np.mean([o[3:] for o in outcomes if (o.method, o.data) == (method, data)], axis=0)
        for method, data in product(methods, sets)
    }
    cards = [method for method in methods if not method.startswith("formula")]
    best = {data: min(cards, key=lambda method: float(means[method, data][0])) for data in sets}
    rows = []
    for method in methods:
        cells = [(data, means[method, data]) for data in sets]
        losses = [f"**{loss:.3f}**" if best[data] == method else f"{loss:.3f}" for data, (loss, _, _) in cells]
        texts = [f"{loss} / {auc:.3f} / {n:.0f}" for loss, (_, (_, auc, n)) in zip(losses, cells, strict=True)]
        rows.append([method, *texts])
    note = NOTE.format(n_folds=len({one.fold for one in outcomes}), max_terms=MAX_TERMS)
    return f"{markdown_table(['log-loss / AUC / rows', *sets], rows)}\n\n{note}"


def _place(method: str) -> tuple[int, str]:
    """Formulas and their cards by basis, then FasterRisk."""
    kind = _kind(method)
    return (len(BASES) if kind == "FasterRisk" else BASES.index(kind)), "" if method.startswith("formula") else "card"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what is missing, and print or write the table."""
    parser = argparse.ArgumentParser(prog="python -m paper.cards", description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("docs/card/folds.csv"), help="finished folds (%(default)s)")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="page whose section 'cards' is replaced")
    parser.add_argument("--folds", type=int, default=N_FOLDS, help="how many of the folds (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=-1, help="processes (default: all cores)")
    options = parser.parse_args(arguments)
    options.output.parent.mkdir(parents=True, exist_ok=True)
    text = section(run(options.output, options.folds, options.jobs))
    sys.stdout.write(f"{text}\n")
    if options.write:
        replace_section(options.write, "cards", f"{text}\n\n{made_by('make cards')}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
