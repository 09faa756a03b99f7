"""The paper's Tables 1 to 5, printed figures beside ours, and the ranks over the data sets."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from rfsc import DistanceCorrelationFilter

from . import printed
from .arrays import FloatArray
from .datasets import load
from .methods import FILTER_LEVEL, FILTERED, Method
from .results import Figures, Ranks, Results, compare
from .tables import Table, best_cells

DEGREE = 2
SMALL = 20  # terms, or features without a formula, up to which a classifier counts as small
OPTIMISTIC = "paper protocol (optimistic)"
SOURCES = {"paper": OPTIMISTIC, "keel": "KEEL folds", "honest": "honest"}
GUESS_NOTE = "(our reading): the method's own paper leaves this row so open that it rests on guesses."
OPTIMISTIC_NOTE = (
    f"{OPTIMISTIC}: the best of ten restarts is picked on the test fold, as the paper's figures need; no one can "
    "expect this accuracy on new data."
)
HONEST_NOTE = "honest: stratified 10-fold, everything chosen inside the training folds."
KEEL_NOTE = "KEEL folds: published for Bupa, Iris, WDBC and Wine only; features scaled by KEEL's header ranges."


def table_1(sets: Sequence[str]) -> Table:
    """Characteristics of the data sets."""
    rows = []
    for data in sets:
        X, _, _, labels, _ = load(data)
        varies = np.ptp(X, axis=0) > 0
        whole = varies & np.all(np.rint(X) == X, axis=0)
        ours = (*X.shape, int(varies.sum() - whole.sum()), int(whole.sum()), len(labels))
        rows += [[data, "printed", *map(str, printed.CHARACTERISTICS[data])], [data, "ours", *map(str, ours)]]
    notes = [
        "ours counts what is in the data: a feature is integer when all its values are; constant ones are neither."
    ]
    head = ["data set", "", "samples", "features", "real", "integer", "classes"]
    return Table("table1", "Table 1: main characteristics of the data sets", head, rows, notes=notes)


def table_2(results: Results, ours: Sequence[Method], sets: Sequence[str]) -> Table:
    """Sizes: attributes and terms in the data, after the filter, and in the models."""
    rows: list[list[str]] = []
    for data in sets:
        p = printed.SIZES[data]
        rows.append([data, "printed", *map(_count, p)])
        X, y = load(data)[:2]
        kept = int(DistanceCorrelationFilter(FILTER_LEVEL).fit(X, y).get_support().sum()) if data in FILTERED else None
        for method in ours:
            filtered = kept if method.filters else None
            for protocol in ("paper", "honest"):
                f = results.get(data, method.name, protocol)
                if f is not None:
                    rows.append([data, f"{method.name}, {SOURCES[protocol]}", *_sizes(X, filtered, f)])
    notes = [
        "N_a, N_r: attributes and terms of the data; a star: after the distance-correlation filter on all rows at "
        f"level {FILTER_LEVEL} (a dash: not filtered); n_a, n_r: used by the classifier, union over its outputs, mean "
        "of the folds.",
        "N_r leaves out the terms of constant attributes, as the paper's 595 for Ionosphere does.",
        OPTIMISTIC_NOTE,
    ]
    head = ["data set", "", "N_a", "N_a*", "n_a", "N_r", "N_r*", "n_r"]
    return Table("table2", "Table 2: average size of the classifiers over the folds", head, rows, notes=notes)


def _sizes(X: FloatArray, filtered: int | None, figures: Figures) -> list[str]:
    def n_terms(n_features: int) -> int:
        return math.comb(n_features + DEGREE, DEGREE)

    varying = int(np.count_nonzero(np.ptp(X, axis=0)))
    terms_kept = None if filtered is None else n_terms(filtered)
    sizes = (X.shape[1], filtered, figures.n_features, n_terms(varying), terms_kept, figures.n_terms)
    return [_count(value) for value in sizes]


class _Body:
    """Rows as they are gathered: texts to show, and the figures among which the best of a column is sought."""

    def __init__(self) -> None:
        self.rows: list[list[str]] = []
        self._figures: list[list[float | None]] = []
        self._groups: list[str | None] = []

    def add(self, method: Method, source: str, figures: Sequence[float | None], texts: Iterable[str]) -> None:
        self.rows.append([method.label, source, *texts])
        self._figures.append(list(figures))
        self._groups.append(None if source == OPTIMISTIC else source)

    def best(self, *, smallest: bool = False, digits: int = 4) -> frozenset[tuple[int, int]]:
        """The best cells among rows of one source; what is optimistic takes no part."""
        sign = -1.0 if smallest else 1.0
        signed = [[None if v is None else sign * v for v in row] for row in self._figures]
        return best_cells(signed, self._groups, first_column=2, digits=digits) if signed else frozenset()


def table_3(results: Results, methods: Iterable[Method], sets: Sequence[str]) -> Table:
    """Accuracy and kappa of every method."""
    body = _Body()
    for method in methods:
        if method.printed in printed.PERFORMANCE:
            pairs = [printed.PERFORMANCE[method.printed][printed.SETS.index(data)] or (None, None) for data in sets]
            figures = [v for pair in pairs for v in pair]
            body.add(method, "printed", figures, map(_number, figures))
        for protocol, source in SOURCES.items():
            if results.has(method.name, protocol):
                found = [results.get(data, method.name, protocol) for data in sets]
                figures = [v for f in found for v in ((f.accuracy, f.kappa) if f else (None, None))]
                body.add(method, source, figures, map(_number, figures))
    head = ["method", "figures", *[f"{data} {what}" for data in sets for what in ("J", "K")]]
    notes = [
        "J: accuracy, K: Cohen's kappa, means of the folds. Bold: best of the column among the printed, the KEEL and "
        "the honest figures, each by themselves; optimistic figures are not ranked.",
        OPTIMISTIC_NOTE,
        KEEL_NOTE,
        HONEST_NOTE,
        GUESS_NOTE,
    ]
    title = "Table 3: accuracy and kappa against all comparators"
    return Table("table3", title, head, body.rows, body.best(), notes)


def table_3_spread(results: Results, methods: Iterable[Method], sets: Sequence[str]) -> Table:
    """Honest accuracy with its spread between seeds, and pooled kappa."""
    rows, values = [], []
    for method in methods:
        found = [results.get(data, method.name, "honest") for data in sets]
        if any(found):
            cells = [f"{f.accuracy:.3f} ± {f.accuracy_spread:.3f} ({f.pooled_kappa:.3f})" if f else "" for f in found]
            accuracy = [f.accuracy for f in found if f]
            mean = float(np.mean(accuracy)) if len(accuracy) == len(sets) else None
            seeds = max(f.n_seeds for f in found if f)
            rows.append([method.label, *cells, _number(mean), str(seeds)])
            values.append([f.accuracy if f else None for f in found] + [mean])
    notes = [HONEST_NOTE, "± standard deviation between seeds; in brackets kappa of all folds pooled.", GUESS_NOTE]
    best = best_cells(values, ["honest"] * len(values), first_column=1) if values else frozenset()
    head = ["method", *sets, "mean", "seeds"]
    return Table("table3_honest", "Table 3, honest: accuracy with its spread", head, rows, best, notes)


def main_table(results: Results, methods: Sequence[Method], sets: Sequence[str]) -> Table:
    """Honest accuracy of every method in one view, best mean rank first."""
    ranks = ranks_of(results, methods, sets, small=False)
    rank_of = dict(zip(ranks.names, ranks.mean_rank.tolist(), strict=True)) if ranks else {}
    label = {m.name: m.label for m in methods}
    scores = results.complete(label, sets, "honest")
    rows, values = [], []
    for name in sorted(scores, key=lambda m: (rank_of.get(m, 0.0), -float(np.mean(scores[m])))):
        accuracy, mean, rank = scores[name], float(np.mean(scores[name])), rank_of.get(name)
        found = [f for data in sets if (f := results.get(data, name, "honest"))]
        smallest, largest = (round(end(f.size for f in found)) for end in (min, max))
        size = f"{smallest}–{largest} {'features' if found[0].n_terms is None else 'terms'}"
        shown = "" if rank is None else f"{rank:.1f}"
        rows.append([label[name], *[f"{a:.3f}" for a in accuracy], f"{mean:.3f}", shown, size])
        values.append([*accuracy, mean, None if rank is None else -rank])
    best = best_cells(values, [0] * len(rows), first_column=1, digits=3) if rows else frozenset()
    notes = [
        HONEST_NOTE,
        "Size: mean number of terms, or of features without a formula, from set to set. RFSC stops at 15 terms.",
        "RFSC here is the paper's kind of model, polynomials, with this project's search settings; by default it also "
        "tries other terms.",
        GUESS_NOTE,
    ]
    head = ["method", *sets, "mean", "mean rank", "size"]
    return Table("main", "Honest accuracy of every method, best mean rank first", head, rows, best, notes)


def table_4(results: Results, methods: Iterable[Method], sets: Sequence[str]) -> Table:
    """Model sizes of the methods that select."""
    body = _Body()
    for method in methods:
        if method.printed in printed.MODEL_SIZE:
            sizes = [printed.MODEL_SIZE[method.printed][printed.SETS.index(data)] for data in sets]
            body.add(method, "printed", sizes, ["" if s is None else f"{s:g}" for s in sizes])
        for protocol, source in SOURCES.items():
            found = [results.get(data, method.name, protocol) for data in sets]
            if any(found) and _selects(results, method, protocol, sets):
                body.add(method, source, [f.n_features if f else None for f in found], map(_size, found))
    notes = [
        "Features that the classifier reads, fewest in bold; in brackets terms of its formula, if it has one.",
        OPTIMISTIC_NOTE,
        GUESS_NOTE,
    ]
    head = ["method", "figures", *sets]
    return Table("table4", "Table 4: model sizes", head, body.rows, body.best(smallest=True), notes)


def _selects(results: Results, method: Method, protocol: str, sets: Sequence[str]) -> bool:
    """Whether a method reads fewer features than there are on some set, or has a formula."""
    for data in sets:
        f = results.get(data, method.name, protocol)
        if f is not None and (f.n_terms is not None or f.n_features < printed.SIZES[data].attributes):
            return True
    return False


def table_5(results: Results, methods: Iterable[Method], sets: Sequence[str]) -> Table:
    """Times."""
    body = _Body()
    for method in methods:
        if method.printed in printed.MINUTES:
            minutes = [printed.MINUTES[method.printed].get(data) for data in sets]
            body.add(method, "printed", minutes, ["" if m is None else f"{60 * m:.0f}" for m in minutes])
        found = [results.get(data, method.name, "honest") for data in sets]
        if any(found):
            seconds = [f.seconds if f else None for f in found]
            body.add(method, "ours", seconds, ["" if s is None else f"{s:.3g}" for s in seconds])
    notes = [
        "Seconds of one fit, median over the folds; RFSC's fit holds all ten restarts. The printed minutes (Matlab, "
        "2012) are turned into seconds; the paper does not say whether they cover one restart or ten. Bold: fastest.",
        GUESS_NOTE,
    ]
    head = ["method", "figures", *sets]
    return Table(
        "table5", "Table 5: time of a fit in seconds", head, body.rows, body.best(smallest=True, digits=9), notes
    )


def ranks_of(results: Results, methods: Iterable[Method], sets: Sequence[str], *, small: bool) -> Ranks | None:
    """Ranks by honest accuracy; with `small` only of classifiers that are small on every set. None: too few."""
    chosen = [m.name for m in methods if not small or is_small(results, m.name, sets)]
    scores = results.complete(chosen, sets, "honest")
    return compare(scores) if len(scores) > 1 and len(sets) > 1 else None


def is_small(results: Results, method: str, sets: Sequence[str]) -> bool:
    """At most 20 terms, or features without a formula, on the mean of every set."""
    found = [results.get(data, method, "honest") for data in sets]
    return all(f is not None and f.size <= SMALL for f in found)


def table_ranks(results: Results, methods: Sequence[Method], sets: Sequence[str]) -> Table:
    """Mean ranks among all methods and among the small ones."""
    label = {m.name: m.label for m in methods}
    everyone = ranks_of(results, methods, sets, small=False)
    small = ranks_of(results, methods, sets, small=True)
    if everyone is None:
        return Table("ranks", "Mean ranks", ["method"], [], notes=["Ranks need two methods on two data sets."])
    among_small = dict(zip(small.names, small.mean_rank, strict=True)) if small else {}
    rows = []
    for name, rank in zip(everyone.names, everyone.mean_rank, strict=True):
        sizes = [f.size for data in sets if (f := results.get(data, name, "honest"))]
        own = f"{among_small[name]:.2f}" if name in among_small else ""
        rows.append([label[name], f"{rank:.2f}", own, f"{max(sizes):.1f}"])
    values = [[-float(row[1]), -float(row[2]) if row[2] else None] for row in rows]
    p_value = "not defined for two methods" if np.isnan(everyone.p_value) else f"p = {everyone.p_value:.2g}"
    notes = [
        f"Rank 1 is best; honest accuracy on {len(sets)} data sets. Friedman's test: {p_value}; "
        f"Nemenyi's critical difference at {everyone.level}: {everyone.critical_difference:.2f}.",
        f"Small: at most {SMALL} terms, or features without a formula, on every set.",
        GUESS_NOTE,
    ]
    head = ["method", "mean rank", "mean rank among small", "largest size"]
    return Table("ranks", "Mean ranks", head, rows, best_cells(values, [0] * len(rows), first_column=1), notes)


def _count(value: float | None) -> str:
    return "–" if value is None else f"{value:g}" if isinstance(value, int) else f"{value:.1f}"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"


def _size(figures: Figures | None) -> str:
    if figures is None:
        return ""
    terms = "" if figures.n_terms is None else f" ({figures.n_terms:.1f})"
    return f"{figures.n_features:.1f}{terms}"
