"""The paper's Figures 1 to 3, two runs on WDBC, and the critical-difference diagram."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from rfsc import RFSCClassifier, SparseModel
from rfsc.plots import RIPEvolutionDisplay

from .arrays import BoolArray, FloatArray, IntArray
from .datasets import load
from .methods import OURS
from .protocols import Fold, read_fold
from .results import Ranks

N_SHOWN = 20  # validation samples of Figure 3
DPI = 110
FOR, AGAINST = "#0072B2", "#D55E00"
GROUP_COLOUR = FOR
LINE_COLOURS = ("#000000", "#0072B2", "#009E73", "#D55E00", "#CC79A7", "#E69F00")  # told apart by everyone
NOTE_STYLE = {"ha": "right", "va": "top", "fontsize": 8, "color": "0.4"}


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """One run of the search, as Figures 1 and 2 show it."""

    rips: FloatArray  # (n_iterations, n_terms): inclusion probabilities of the terms that ever left zero
    final: BoolArray  # which of these terms the probabilities settled on, as in the paper
    mean_loss: FloatArray  # (n_iterations,): 1 - J, mean over the population
    size_drawn: FloatArray  # (n_iterations,): mean model size before the test
    size_kept: FloatArray  # (n_iterations,): mean model size after it
    names: list[str]  # of the final terms, in the order of the columns of `rips`
    model: SparseModel
    n_errors: int  # on the validation rows
    for_class: FloatArray  # y+ of the validation samples of Figure 3: the sum of what favours the class ...
    against_class: FloatArray  # ... and y-, of what is against it; f = y+ - y- (Eq. nl_reg2)

    @property
    def delta(self) -> FloatArray:
        """What the paper calls confidence: 1 if nothing is against the class, -1 if nothing favours it."""
        return (self.for_class - self.against_class) / np.maximum(self.for_class, self.against_class)


@dataclass(frozen=True, slots=True, eq=False)
class Illustration:
    """Two runs on the same nine tenths of WDBC."""

    runs: tuple[Run, Run]  # the two of ten with the fewest validation errors; the paper shows two without any
    n_validation: int
    truth: BoolArray  # whether the samples of Figure 3 belong to the model's class
    label: str  # of that class


def illustrate(seed: int = 0) -> Illustration:
    """Fit the paper's settings on nine tenths of WDBC and look at two restarts."""
    fold = read_fold("WDBC", "stratified", seed, 0)
    clf = OURS[1].estimator("WDBC", "stratified", seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        clf.fit(fold.X_train, fold.y_train)
    shown = np.sort(np.random.default_rng(seed).choice(len(fold.y_test), N_SHOWN, replace=False))
    runs = [_run(clf, restart, fold, shown) for restart in range(len(clf.searches_[0]))]
    first, second = sorted(runs, key=lambda run: run.n_errors)[:2]
    return Illustration((first, second), len(fold.y_test), fold.y_test[shown] == 1, "benign")


def _run(clf: RFSCClassifier, restart: int, fold: Fold, shown: IntArray) -> Run:
    search = clf.searches_[0][restart]
    model = replace(clf.restart_model(restart, limit=True), feature_names=load("WDBC").feature_names)
    found = search.model if search.limit is None else search.limit
    ids = np.unique(np.concatenate([record.rips.ids for record in search.history] + [found.ids]))
    parts = model.coef[:, None] * model.columns(fold.X_test[shown])
    n_errors = int(np.count_nonzero((model.decision(fold.X_test) > 0) != (fold.y_test == 1)))
    return Run(
        rips=np.stack([record.rips[ids] for record in search.history]),
        final=np.isin(ids, found.ids),
        mean_loss=np.array([1.0 - record.mean_score for record in search.history]),
        size_drawn=np.array([record.mean_size_drawn for record in search.history]),
        size_kept=np.array([record.mean_size_kept for record in search.history]),
        names=[model.names[j] for j in np.argsort(found.ids)],
        model=model,
        n_errors=n_errors,
        for_class=np.maximum(parts, 0.0).sum(axis=0),
        against_class=np.maximum(-parts, 0.0).sum(axis=0),
    )


def draw_run(run: Run, number: int, path: Path) -> None:
    """Figure 1 or 2: inclusion probabilities (final terms thick), average loss, average model size."""
    figure = _figure(10, 8.5)
    top, middle, bottom = figure.subplots(3, 1, height_ratios=(2.2, 1, 1), sharex=True)
    names = np.full(len(run.final), "", dtype=object)
    names[run.final] = run.names
    errors = f"{run.n_errors} error{'' if run.n_errors == 1 else 's'}"
    RIPEvolutionDisplay(
        rips=run.rips,
        names=tuple(names),
        in_model=run.final,
        chosen=run.final,
        title=f"Model {number}: {len(run.model.terms)} terms, {errors} on the validation rows",
        max_names=len(run.names),
        longest=48,
    ).plot(top)
    top.set_xlabel("")
    iterations = np.arange(1, len(run.mean_loss) + 1)
    middle.plot(iterations, run.mean_loss, color="k", lw=1.8)
    middle.set(ylabel="mean loss", ylim=(0, None))
    bottom.plot(iterations, run.size_drawn, "--", color=AGAINST, lw=1.8, label="before the test")
    bottom.plot(iterations, run.size_kept, color=FOR, lw=1.8, label="after the test")
    bottom.set(xlabel="iteration", ylabel="mean model size", ylim=(0, None))
    for axis in (middle, bottom):
        _finish(axis)
    figure.savefig(path, dpi=DPI)


def draw_contributions(shown: Illustration, path: Path) -> None:
    """Figure 3: y+ and y- of the validation samples under both models, and the confidence delta."""
    figure = _figure(9, 9.5)
    axes = figure.subplots(4, 1, height_ratios=(2, 1, 2, 1))
    samples = np.arange(1, len(shown.truth) + 1)
    for number, (run, (bars, below)) in enumerate(zip(shown.runs, (axes[:2], axes[2:]), strict=True), start=1):
        bars.bar(samples - 0.2, run.for_class, 0.4, color=FOR, label="y⁺, for the class")
        look = {"color": AGAINST, "hatch": "///", "edgecolor": "w", "lw": 0, "label": "y⁻, against the class"}
        bars.bar(samples + 0.2, run.against_class, 0.4, **look)
        bars.set(ylabel="contribution", xticks=samples, xlim=(0.3, len(samples) + 0.7))
        bars.tick_params(labelbottom=False)
        _finish(bars, f"Model {number}: contributions for and against class {shown.label}")
        below.axhline(0.0, color="0.6", lw=0.8)
        below.vlines(samples, 0.0, run.delta, color="0.6", lw=1)
        right = (run.delta > 0) == shown.truth
        below.plot(samples[right], run.delta[right], "o", color="k", ms=5, label="correct")
        if not right.all():
            below.plot(samples[~right], run.delta[~right], "X", color=AGAINST, ms=9, label="wrong")
        below.set(ylabel="confidence δ", ylim=(-1.15, 1.15), xlabel="validation sample")
        below.set(xticks=samples, xlim=(0.3, len(samples) + 0.7))
        _finish(below)
    figure.savefig(path, dpi=DPI)


def _finish(axis: Any, title: str = "") -> None:
    """Title and legend above the axes, which have no lines at the top and on the right."""
    axis.spines[["top", "right"]].set_visible(False)
    handles, _ = axis.get_legend_handles_labels()
    if handles:
        place = {"loc": "lower left", "bbox_to_anchor": (0, 1), "ncols": len(handles), "borderaxespad": 0.2}
        axis.legend(frameon=False, fontsize=9, borderpad=0.0, columnspacing=1.4, **place)
    axis.set_title(title, loc="left", fontsize=11, pad=22 if handles else None)


def draw_ranks(ranks: Ranks, labels: dict[str, str], path: Path) -> None:
    """Critical-difference diagram: mean ranks on a line, bars join those that Nemenyi's test does not separate."""
    half, groups = (len(ranks.names) + 1) // 2, ranks.groups()
    first_row = 0.9 + 0.28 * len(groups)  # names hang below the bars of the groups
    height = first_row + 0.38 * half
    figure = _figure(10, 1.3 + 0.62 * height)
    axis = figure.subplots()
    low = np.floor(ranks.mean_rank[0])
    high = max(np.ceil(ranks.mean_rank[-1]), low + 1)  # if all are tied the line still has a length
    margin = 0.45 * (high - low)
    right = max(high + margin, low + 1.05 * ranks.critical_difference)  # few sets: the difference may exceed all ranks
    axis.set(xlim=(low - margin, right), ylim=(-height, 1.1))
    axis.axis("off")
    axis.hlines(0, low, high, color="k", lw=1)
    for tick in np.arange(low, high + 1):
        axis.vlines(tick, 0, 0.12, color="k", lw=1)
        axis.text(tick, 0.2, f"{tick:g}", ha="center", va="bottom", fontsize=9)
    for place, (name, rank) in enumerate(zip(ranks.names, ranks.mean_rank, strict=True)):
        left = place < half
        level = -(first_row + 0.38 * (place if left else len(ranks.names) - 1 - place))
        end = low - 0.03 * margin if left else high + 0.03 * margin
        _name_rank(axis, labels[name], rank, end, level)
    for row, (first, last) in enumerate(groups):
        level = -(0.35 + 0.28 * row)
        axis.plot(ranks.mean_rank[[first, last]] + [-0.04, 0.04], [level, level], color=GROUP_COLOUR, lw=4, alpha=0.8)
    difference = ranks.critical_difference
    axis.plot([low, low + difference], [0.8, 0.8], "|-", color="k", lw=1)
    text = f"critical difference {difference:.2f}"
    axis.text(low + difference / 2, 0.86, text, ha="center", va="bottom", fontsize=8)
    figure.savefig(path, dpi=DPI)


def _name_rank(axis: Any, label: str, rank: float, end: float, level: float) -> None:
    """A method's dot on the line of ranks, and its name at the end of a line from there; RFSC's is bold."""
    left = end < rank
    axis.plot([rank, rank, end], [0, level, level], color="0.45", lw=0.9)
    axis.plot(rank, 0, "o", color="k", ms=4)
    text = f"{label}  {rank:.2f} " if left else f" {rank:.2f}  {label}"
    weight = "bold" if label.startswith("RFSC") else "normal"
    axis.text(end, level, text, ha="right" if left else "left", va="center", fontsize=9, weight=weight)


def draw_by_size(panels: dict[str, dict[str, list[float]]], sizes: Sequence[int], path: Path) -> None:
    """One panel for each measure: a line for each method over the number of terms; RFSC's is thick."""
    figure = _figure(10, 4.2)
    for axis, (measure, curves) in zip(figure.subplots(1, len(panels)), panels.items(), strict=True):
        for (method, curve), colour in zip(curves.items(), LINE_COLOURS, strict=False):
            axis.plot(sizes, curve, "o-", color=colour, lw=3 if method == "RFSC" else 1.5, ms=4, label=method)
        axis.set(xlabel="number of terms", title=f"{measure} of left-out rows", xticks=sizes)
        values = np.array(list(curves.values()))
        if values.max() > 2 * values.min():  # trees that are sure and wrong would flatten all other lines
            axis.set_ylim(0.95 * values.min(), 2 * values.min())
            axis.text(0.99, 0.98, "lines that leave the panel go on above", **NOTE_STYLE, transform=axis.transAxes)
        axis.grid(alpha=0.25)
        axis.spines[["top", "right"]].set_visible(False)
    figure.legend(*axis.get_legend_handles_labels(), loc="outside lower center", ncols=len(curves), frameon=False)
    figure.savefig(path, dpi=DPI)


def draw_error_rates(rates: dict[str, list[float]], allowed: list[float], levels: Sequence[str], path: Path) -> None:
    """Share of tables with any false unit, by cell (rows) and level (markers), beside the largest allowed share."""
    names = list(rates)
    figure = _figure(8.0, 1.2 + 0.24 * len(names))
    axis = figure.subplots()
    places = np.arange(len(names))
    axis.hlines(places, 0.0, allowed, color="0.9", lw=7)
    looks = zip("osD", LINE_COLOURS[1:], (-0.2, 0.0, 0.2), strict=False)
    for k, (level, (marker, colour, shift)) in enumerate(zip(levels, looks, strict=False)):
        values = [own[k] for own in rates.values()]
        axis.plot(values, places + shift, marker, color=colour, ms=4, label=f"any false {level}", clip_on=False)
    axis.axvline(0.05, color="0.4", lw=0.8, ls=":")
    axis.set_yticks(places, names, fontsize=8)
    axis.set_ylim(len(names) - 0.5, -0.7)
    axis.set_xlim(left=0.0)
    axis.set_xlabel("share of tables (grey: allowed, 0.05 plus two standard errors)")
    axis.legend(frameon=False, fontsize=8, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=3, borderaxespad=0.0)
    for side in ("top", "right", "left"):
        axis.spines[side].set_visible(False)
    figure.savefig(path, dpi=DPI, bbox_inches="tight")


def _figure(width: float, height: float) -> Any:
    """A figure without pyplot: it needs no screen and leaves the user's backend as it is."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")
