"""The paper's Figures 1 to 3 and the critical-difference diagram, drawn from tables that others have made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from rfsc.plots import ContributionsDisplay, RIPEvolutionDisplay, SearchHistoryDisplay
from rfsc.plots.drawing import FOR

from .illustration import Illustration, Run
from .ranks import Ranks

DPI = 110


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
    ).plot(top, max_names=len(run.names), longest=48)
    SearchHistoryDisplay(
        mean_scores=(run.mean_loss,),
        best_scores=(),
        sizes_drawn=(run.size_drawn,),
        sizes_kept=(run.size_kept,),
        shown=0,
        score="mean loss",
        title="",
    ).plot((middle, bottom))
    top.set_xlabel("")
    middle.set_ylim(0, None)
    figure.savefig(path, dpi=DPI)


def draw_contributions(shown: Illustration, path: Path) -> None:
    """Figure 3: y+ and y- of the validation samples under both models, and the confidence delta."""
    figure = _figure(9, 9.5)
    axes = figure.subplots(4, 1, height_ratios=(2, 1, 2, 1))
    for number, (run, pair) in enumerate(zip(shown.runs, (axes[:2], axes[2:]), strict=True), start=1):
        title = f"Model {number}: what speaks for and against class {shown.label}"
        ContributionsDisplay(sides=run.sides, truth=shown.truth, label=shown.label, title=title).plot(pair)
        pair[1].set_xlabel("validation sample")
    figure.savefig(path, dpi=DPI)


def draw_ranks(ranks: Ranks, labels: dict[str, str], path: Path) -> None:
    """Critical-difference diagram: mean ranks on a line, bars join what Nemenyi's test cannot tell apart."""
    names = [labels[name] for name in ranks.names]
    n = len(names)
    half = (n + 1) // 2
    groups = ranks.groups()
    first_row = 0.9 + 0.28 * len(groups)  # names hang below the bars of the groups
    height = first_row + 0.38 * half
    figure = _figure(10, 1.3 + 0.62 * height)
    axis = figure.subplots()
    low = np.floor(ranks.mean_rank[0])
    high = max(np.ceil(ranks.mean_rank[-1]), low + 1)  # where all are tied the line still has a length
    margin = 0.45 * (high - low)
    right = max(high + margin, low + 1.05 * ranks.critical_difference)  # few sets: the difference may exceed all ranks
    axis.set(xlim=(low - margin, right), ylim=(-height, 1.1))
    axis.axis("off")
    axis.hlines(0, low, high, color="k", lw=1)
    for tick in np.arange(low, high + 1):
        axis.vlines(tick, 0, 0.12, color="k", lw=1)
        axis.text(tick, 0.2, f"{tick:g}", ha="center", va="bottom", fontsize=9)
    for place, (name, rank) in enumerate(zip(names, ranks.mean_rank, strict=True)):
        left = place < half
        level = -(first_row + 0.38 * (place if left else n - 1 - place))
        end, align, sign = (low - 0.03 * margin, "right", -1) if left else (high + 0.03 * margin, "left", 1)
        axis.plot([rank, rank, end], [0, level, level], color="0.45", lw=0.9)
        axis.plot(rank, 0, "o", color="k", ms=4)
        ours = name.startswith("RFSC")
        text = f"{name}  {rank:.2f}" if left else f"{rank:.2f}  {name}"
        axis.text(
            end + sign * 0.02 * margin,
            level,
            text,
            ha=align,
            va="center",
            fontsize=9,
            weight="bold" if ours else "normal",
        )
    for row, (first, last) in enumerate(groups):
        level = -(0.35 + 0.28 * row)
        axis.plot(ranks.mean_rank[[first, last]] + [-0.04, 0.04], [level, level], color=FOR, lw=4, alpha=0.8)
    axis.plot([low, low + ranks.critical_difference], [0.8, 0.8], "|-", color="k", lw=1)
    axis.text(
        low + ranks.critical_difference / 2,
        0.86,
        f"critical difference {ranks.critical_difference:.2f}",
        ha="center",
        va="bottom",
        fontsize=8,
    )
    figure.savefig(path, dpi=DPI)


def _figure(width: float, height: float) -> Any:
    """A figure without pyplot: no screen is needed and the user's backend stays as it is."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")
