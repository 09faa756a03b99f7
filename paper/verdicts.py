"""Printed figures against ours: which are reached, and which are missed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from . import printed
from .methods import Method
from .paper_tables import OPTIMISTIC, SMALL, ranks_of
from .results import Results
from .tables import Table

SLACK = 0.01  # how far below the printed accuracy still counts as reproduced
EXACT = ("KNN", "KNN-A", "Cam-NN", "CNN")  # comparators without randomness or open points
KEEL_SETS = ("Bupa", "Iris", "Wine")  # sets with published folds and printed figures
TARGET_ABOVE = 4  # of the six sets on which ours should be above the printed accuracy


@dataclass(frozen=True, slots=True)
class Verdict:
    """One set of settings of RFSC against the printed figures, under the optimistic protocol."""

    method: Method
    reached: tuple[str, ...]  # data sets with at least the printed accuracy less 0.01
    above: tuple[str, ...]  # data sets with more than the printed accuracy
    small: tuple[str, ...]  # data sets with no more terms than printed
    n_sets: int  # how many sets were compared

    @property
    def line(self) -> str:
        """In words."""
        reached, small = self._of(self.reached), self._of(self.small)
        return (
            f"{self.method.name}, {OPTIMISTIC}: printed accuracy less {SLACK} reached on {reached}, exceeded on "
            f"{len(self.above)} (target: {TARGET_ABOVE}), no more terms than printed on {small}."
        )

    def _of(self, sets: tuple[str, ...]) -> str:
        if len(sets) == self.n_sets:
            return "all sets"
        return f"{len(sets)} of {self.n_sets} sets" + (f" ({', '.join(sets)})" if sets else "")


def judge(results: Results, method: Method, sets: Sequence[str]) -> Verdict:
    """Compare one set of settings with the printed figures."""
    reached, above, small = [], [], []
    for data in sets:
        f = results.get(data, method.name, "paper")
        pair = printed.PERFORMANCE["RFSC"][printed.SETS.index(data)]
        if f is None or f.n_terms is None or pair is None:
            continue
        # four decimals are printed: compare as printed
        reached += [data] if round(f.accuracy, 4) >= round(pair[0] - SLACK, 4) else []
        above += [data] if round(f.accuracy, 4) > pair[0] else []
        small += [data] if round(f.n_terms, 1) <= printed.SIZES[data].terms_used else []
    return Verdict(method, tuple(reached), tuple(above), tuple(small), len(sets))


def table_of_verdicts(results: Results, ours: Sequence[Method], sets: Sequence[str]) -> Table:
    """Printed accuracy and size beside ours, and which of them are reached."""
    rows = []
    for data in sets:
        pair = printed.PERFORMANCE["RFSC"][printed.SETS.index(data)]
        assert pair is not None  # the paper ran RFSC on every set
        row = [data, f"{pair[0]:.4f}", f"{printed.SIZES[data].terms_used:.1f}"]
        for method in ours:
            row += _judged(results, method, data)
        rows.append(row)
    head = ["data set", "printed accuracy", "printed n_r"]
    for method in ours:
        head += [f"{method.name}: {OPTIMISTIC}", f"n_r, {OPTIMISTIC}", "honest"]
    notes = [
        f"Above: above the printed accuracy; reached: at least the printed less {SLACK}; "
        "**missed**: neither. Sizes: reached when not larger than printed.",
    ]
    return Table("verdicts", "Printed and ours", head, rows, notes=notes)


def _judged(results: Results, method: Method, data: str) -> list[str]:
    """Accuracy and size under the paper protocol with their marks, and honest accuracy."""
    f, honest = (results.get(data, method.name, protocol) for protocol in ("paper", "honest"))
    verdict = judge(results, method, [data])
    accuracy = "above" if verdict.above else "reached" if verdict.reached else "**missed**"
    size = "reached" if verdict.small else "**larger**"
    ours = ["", ""] if f is None else [f"{f.accuracy:.4f} ({accuracy})", f"{f.n_terms:.1f} ({size})"]
    return [*ours, "" if honest is None else f"{honest.accuracy:.4f}"]


def rank_line(results: Results, methods: Sequence[Method], sets: Sequence[str]) -> str:
    """Who has the best mean rank among the small classifiers."""
    ranks = ranks_of(results, methods, sets, small=True)
    if ranks is None:
        return "Ranks among small classifiers need two of them on two data sets."
    label = {method.name: method.label for method in methods}
    first = ranks.mean_rank[0]
    best = [name for name, rank in zip(ranks.names, ranks.mean_rank, strict=True) if np.isclose(rank, first)]
    of_rfsc = {method.name for method in methods if method.kind == "rfsc"}
    ours = [name for name in ranks.names if name in of_rfsc]
    if not ours:
        place = " Ours are not among them."
    else:
        place = "" if ours[0] in best else f" Ours: {ours[0]}, {ranks.mean_rank[ranks.names.index(ours[0])]:.2f}."
    return (
        f"Best mean rank by honest accuracy among {len(ranks.names)} classifiers with at most {SMALL} terms or "
        f"features: {' and '.join(label[name] for name in best)}, {first:.2f}.{place}"
    )


def keel_lines(results: Results, sets: Sequence[str]) -> list[str]:
    """Which comparators give their printed figures on KEEL's folds, if those are available."""
    exact, pairs, near = [], 0, []
    for data in (d for d in KEEL_SETS if d in sets):
        for name in (*EXACT, "DGC+"):
            f = results.get(data, name, "keel")
            pair = printed.PERFORMANCE[name][printed.SETS.index(data)]
            if f is None or pair is None or pair[1] is None:
                continue
            if name == "DGC+":
                near.append(f"{data} {f.accuracy:.4f} (printed {pair[0]:.4f})")
            else:
                pairs += 1
                exact += [name] if (round(f.accuracy, 4), round(f.kappa, 4)) == pair else []
    lines = []
    if pairs:
        lines.append(
            f"{', '.join(EXACT)} on KEEL's folds: printed accuracy and kappa to four decimals in {len(exact)} of "
            f"{pairs} pairs."
        )
    if near:
        lines.append(f"DGC+ on KEEL's folds, mean over the seeds: {', '.join(near)}.")
    return lines
