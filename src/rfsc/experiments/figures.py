"""The paper's Figures 1 to 3 and the critical-difference diagram, drawn from tables that others have made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from .illustration import Illustration, Run
from .ranks import Ranks

# Okabe and Ito's colours, which colour-blind readers can tell apart, and grey for what was given up
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
STYLES = ("-", "--", ":")
GIVEN_UP = "0.8"
DPI = 110


def draw_run(run: Run, number: int, path: Path) -> None:
    """Figure 1 or 2: inclusion probabilities (final terms thick), average loss, average model size.

    Parameters
    ----------
    run : Run
        The run.
    number : int
        Of the model, for the title.
    path : Path
        Picture to write.
    """
    figure = _figure(9, 8.5)
    top, middle, bottom = figure.subplots(3, 1, height_ratios=(2.2, 1, 1), sharex=True)
    iterations = np.arange(1, len(run.rips) + 1)
    top.plot(iterations, run.rips[:, ~run.final], lw=0.6, color=GIVEN_UP, zorder=1)
    for place, (j, name) in enumerate(zip(np.flatnonzero(run.final), run.names, strict=True)):
        colour, style = COLOURS[place % len(COLOURS)], STYLES[place // len(COLOURS) % len(STYLES)]
        top.plot(iterations, run.rips[:, j], lw=2.4, color=colour, ls=style, label=name, zorder=2)
    top.set(ylabel="inclusion probability (RIP)", ylim=(-0.03, 1.03))
    errors = f"{run.n_errors} error{'' if run.n_errors == 1 else 's'}"
    top.set_title(f"Model {number}: {len(run.model.terms)} terms, {errors} on the validation rows")
    figure.legend(
        *top.get_legend_handles_labels(), loc="outside right upper", frameon=False, fontsize=8, title="final terms"
    )
    middle.plot(iterations, run.mean_loss, color="k", lw=1.4)
    middle.set(ylabel="average loss", ylim=(0, None))
    bottom.plot(iterations, run.size_drawn, "--", color=COLOURS[1], lw=1.6, label="before the test")
    bottom.plot(iterations, run.size_kept, "-", color=COLOURS[0], lw=1.6, label="after the test")
    bottom.set(xlabel="iteration", ylabel="average model size", ylim=(0, None))
    bottom.legend(frameon=False, fontsize=8)
    figure.savefig(path, dpi=DPI)


def draw_contributions(shown: Illustration, path: Path) -> None:
    """Figure 3: y+ and y- of the validation samples under both models, and the confidence delta.

    Parameters
    ----------
    shown : Illustration
        The two runs.
    path : Path
        Picture to write.
    """
    figure = _figure(9, 9.5)
    axes = figure.subplots(4, 1, height_ratios=(2, 1, 2, 1), sharex=True)
    samples = np.arange(1, len(shown.truth) + 1)
    for number, (run, bars, deltas) in enumerate(zip(shown.runs, axes[::2], axes[1::2], strict=True), start=1):
        bars.bar(samples - 0.2, run.sides.for_class, 0.4, color=COLOURS[0], label=f"$y^+$: for {shown.label}")
        bars.bar(samples + 0.2, run.sides.against_class, 0.4, color=COLOURS[1], hatch="//", label="$y^-$: against")
        bars.set(ylabel="contribution")
        bars.set_title(f"Model {number}", loc="left")
        bars.legend(frameon=False, fontsize=8, ncols=2, loc="lower right", bbox_to_anchor=(1, 1), borderaxespad=0.1)
        delta = run.sides.confidence
        right = (delta > 0) == shown.truth
        deltas.axhline(0, color="0.6", lw=0.8)
        deltas.vlines(samples, 0, delta, color="0.6", lw=1)
        deltas.plot(samples[right], delta[right], "o", color="k", ms=5, label="right class")
        deltas.plot(samples[~right], delta[~right], "X", color=COLOURS[1], ms=9, label="wrong class")
        deltas.set(ylabel=r"confidence $\delta$", ylim=(-1.15, 1.15))
        if not right.all():
            deltas.legend(frameon=False, fontsize=8)
    axes[-1].set(xlabel="validation sample", xticks=samples)
    figure.savefig(path, dpi=DPI)


def draw_ranks(ranks: Ranks, labels: dict[str, str], path: Path) -> None:
    """Critical-difference diagram: mean ranks on a line, bars join what Nemenyi's test cannot tell apart.

    Parameters
    ----------
    ranks : Ranks
        Mean ranks.
    labels : dict
        Names as shown.
    path : Path
        Picture to write.
    """
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
        axis.plot(ranks.mean_rank[[first, last]] + [-0.04, 0.04], [level, level], color=COLOURS[0], lw=4, alpha=0.8)
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
