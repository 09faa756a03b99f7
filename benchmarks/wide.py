"""Wide tables: time, memory and what is found among up to a hundred million candidate terms.

Every fit runs in a process of its own, whose peak memory is its own too. Processor times are sums over all threads and
do not count what other programs took. `--results FILE` keeps what was measured, so that an interrupted run continues.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from paper.tables import markdown_table, replace_section
from scipy.special import expit

from .measuring import Outcomes, make_classifier, memory, verdict
from .report import machine_and_date

N_ROWS, N_FEATURES, N_TEST = 500, 10_000, 2000
PLANTED = ((0,), (1,), (2,), (3, 4), (5, 6))  # three main effects, two pure interactions
STRONG, WEAK = 3.0, 1.5  # weight of each planted term, beside logistic noise of scale 1
# (strength, RIPs, settings, number of data sets); the settings of the package were chosen on other data sets
CASES = (
    (STRONG, "uniform, one restart", {"initial_rip": "uniform", "n_restarts": 1}, 3),
    (STRONG, "screened", {}, 10),
    (WEAK, "screened", {}, 5),
)
N_BARS = 1  # data sets for time and memory
FIRST_SEED = 20  # seeds below were seen while the settings were chosen
MOST_SECONDS, MOST_MEGABYTES = 300.0, 1500.0
# features that give about 10^2, 10^3, ... terms
FEATURES_BY_DEGREE = {
    1: (100, 1000, 10_000),
    2: (13, 44, 140, 446, 1413, 4471, 14_141),
    3: (7, 17, 38, 83, 180, 390, 842),
}
UNIFORM_DEGREE = 2  # of the searches that are also run from uniform RIPs
SOME_PRODUCTS = 20_000


def planted_rows(n_rows: int, n_features: int, strength: float, seed: int) -> tuple[np.ndarray, np.ndarray, float]:
    """Independent features, normal for even seeds and evenly spread for odd ones; classes; the best accuracy possible.

    The five planted terms have variance one and the same weight; an interaction is uncorrelated with its features.
    """
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, n_features)) if seed % 2 == 0 else rng.random((n_rows, n_features))
    u = X[:, :7] if seed % 2 == 0 else (X[:, :7] - 0.5) * math.sqrt(12.0)
    f = strength * sum(u[:, list(features)].prod(axis=1) for features in PLANTED if max(features) < u.shape[1])
    return X, (f + rng.logistic(size=n_rows) > 0).astype(int), float(expit(np.abs(f)).mean())


def fit_one(task: dict[str, Any]) -> dict[str, Any]:
    """Fit once: what it took and what was found."""
    from sklearn.exceptions import ConvergenceWarning

    from rfsc._search.screening import Screening
    from rfsc.bases import auto_mixes

    warnings.simplefilter("ignore", ConvergenceWarning)
    spent = [0.0]

    def timed(method: Any) -> Any:
        def run(*arguments: Any, **settings: Any) -> Any:
            start = time.process_time()
            answer = method(*arguments, **settings)
            spent[0] += time.process_time() - start
            return answer

        return run

    Screening._rated = timed(Screening._rated)  # type: ignore[method-assign]
    n_features, strength, seed = task["n_features"], task["strength"], task["seed"]
    X, y, _ = planted_rows(N_ROWS, n_features, strength, seed)
    make_classifier(basis="polynomial", n_restarts=1, max_iter=2, random_state=0).fit(X[:, :7], y)  # loads the kernels
    wall, cpu = time.perf_counter(), time.process_time()
    clf = make_classifier(random_state=seed, **task["settings"]).fit(X, y)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    peak = memory("VmHWM") / 1e6
    read = [set(term.features) for term in clf.models_[0].terms]
    X, y, best = planted_rows(N_TEST, n_features, strength, seed + 100_000)
    return {
        "wall": wall,
        "cpu": cpu,
        "screening": spent[0],
        "megabytes": peak,
        "found": [set(features) in read for features in PLANTED],
        "other": sum(features not in [set(p) for p in PLANTED] for features in read if len(features) > 0),
        "n_terms": int(clf.n_terms_[0]),
        "began": clf.initial_rip_[0],
        "accuracy": float(clf.score(X, y)),
        "best_accuracy": best,
        "basis": next((name for name, own in auto_mixes(n_features, N_ROWS).items() if own == clf.basis_), ""),
    }


def planted_fit(outcomes: Outcomes, seed: int, strength: float = STRONG, **settings: Any) -> dict[str, Any]:
    """A fit of the wide planted table."""
    settings = {"n_jobs": os.cpu_count(), **settings}
    return outcomes.get({"n_features": N_FEATURES, "strength": strength, "seed": seed, "settings": settings})


def bars(outcomes: Outcomes, most: int) -> str:
    """Time and memory of the fits that have bars."""
    cases = {
        "degree 1": {"degree": 1},
        "degree 2": {"degree": 2},
        'basis="auto"': {"basis": "auto"},
    }
    rows = []
    for name, settings in cases.items():
        fits = [planted_fit(outcomes, seed, **settings) for seed in seeds(min(most, N_BARS))]
        wall, peak = max(fit["wall"] for fit in fits), max(fit["megabytes"] for fit in fits)
        met = wall <= MOST_SECONDS and peak <= MOST_MEGABYTES
        cpu, screening = (np.mean([fit[what] for fit in fits]) for what in ("cpu", "screening"))
        terms = f"{fits[0]['n_terms']:,}"
        rows.append([name, terms, f"{wall:.0f}", f"{cpu:.0f}", f"{screening:.0f}", f"{peak:.0f}", verdict(met)])
    head = ["", "terms", "wall s (most)", "processor s", "of these screening", "peak MB (most)", "≤ 300 s, ≤ 1,500 MB"]
    return markdown_table(head, rows)


def seeds(number: int) -> range:
    """Of so many data sets."""
    return range(FIRST_SEED, FIRST_SEED + number)


def found_rates(outcomes: Outcomes, most: int) -> str:
    """How often the planted terms are found."""
    rows = []
    for strength, name, settings, n_sets in CASES:
        for basis in ("polynomial", "centred"):
            own = {"basis": basis, "n_jobs": 1, **settings}
            fits = [planted_fit(outcomes, seed, strength, **own) for seed in seeds(min(most, n_sets))]
            rows.append([f"{strength:g}", basis, name, *rates(fits)])
    fits = [planted_fit(outcomes, seed, basis="auto") for seed in seeds(min(most, N_BARS))]
    rows.append([f"{STRONG:g}", f"auto: {', '.join(fit['basis'] for fit in fits)}", "screened", *rates(fits)])
    head = ["strength", "basis", "RIPs", "data sets", "main effects", "interactions", "all terms", "fits with all five"]
    head += ["others in the model", "accuracy", "best possible", "processor s"]
    return markdown_table(head, rows)


def rates(fits: Sequence[dict[str, Any]]) -> list[str]:
    """Shares found, and means, of fits of the same kind."""
    found = np.array([fit["found"] for fit in fits])
    shares = (found[:, :3].mean(), found[:, 3:].mean(), found.mean(), found.all(axis=1).mean())
    other, accuracy, best, cpu = (
        np.mean([fit[what] for fit in fits]) for what in ("other", "accuracy", "best_accuracy", "cpu")
    )
    means = [f"{other:.1f}", f"{accuracy:.3f}", f"{best:.3f}", f"{cpu:.0f}"]
    return [str(len(fits)), *(f"{share:.0%}" for share in shares), *means]


def best_turn(work: Any, turns: int = 3) -> float:
    """Least processor time of a few turns."""
    times = []
    for _ in range(turns):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def peers() -> str:
    """What others take for a part of the work, side by side on one core."""
    from fastcan import FastCan
    from sklearn.feature_selection import f_classif
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import MinMaxScaler
    from threadpoolctl import threadpool_limits

    from rfsc._terms import MonomialSpace
    from rfsc._terms.score_tests import ScoreTest, strongest

    X, y, _ = planted_rows(N_ROWS, N_FEATURES, STRONG, 0)
    X = MinMaxScaler().fit_transform(X)
    features, target = np.ascontiguousarray(X.T), np.where(y > 0, 1.0, -1.0)
    test = ScoreTest.of_model(target, np.ones(N_ROWS))
    space = MonomialSpace(np.arange(N_FEATURES), 2)
    single, pairs = space.parts(features, np.ones(N_ROWS))
    some = X[:, :200]  # 20,100 products; a peer needs their columns
    i, j = (which[:SOME_PRODUCTS] for which in np.triu_indices(200))
    lasso = LogisticRegression(penalty="l1", C=1.0, solver="liblinear", random_state=0)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours_single = best_turn(lambda: strongest(single, test, 200))
        theirs_single = best_turn(lambda: f_classif(X, y))
        ours_pair = best_turn(lambda: strongest(pairs, test, 200), 1) / pairs.n_terms
        theirs_pair = best_turn(lambda: f_classif(some[:, i] * some[:, j], y)) / SOME_PRODUCTS
        l1 = best_turn(lambda: lasso.fit(X, y), 1)
        can = best_turn(lambda: FastCan(15, verbose=0).fit(X, y), 1)
    rows = [
        ["screen 10,000 features", f"{ours_single:.2f} s", "f_classif", f"{theirs_single:.2f} s"],
        ["screen products, each", f"{ours_pair * 1e6:.2f} µs", "f_classif on columns", f"{theirs_pair * 1e6:.1f} µs"],
        ["", "", "L1 logistic regression, 10,000 features", f"{l1:.1f} s"],
        ["", "", "fastcan, 15 of 10,000 features", f"{can:.1f} s"],
    ]
    return markdown_table(["", "ours", "peer", "theirs"], rows)


def cost_points(outcomes: Outcomes) -> list[dict[str, Any]]:
    """One restart for each number of terms, degree and beginning."""
    points = []
    for degree, sizes in FEATURES_BY_DEGREE.items():
        for n_features in sizes:
            for began in ("auto", "uniform") if degree == UNIFORM_DEGREE else ("auto",):
                settings = {"degree": degree, "size": None, "n_restarts": 1, "n_jobs": 1, "initial_rip": began}
                fit = outcomes.get({"n_features": n_features, "strength": STRONG, "seed": 0, "settings": settings})
                points.append({"degree": degree, "n_features": n_features, "asked": began, **fit})
    return points


def cost_table(points: Sequence[dict[str, Any]]) -> str:
    """The points of the plot."""
    uniform = {(p["degree"], p["n_terms"]): p for p in points if p["asked"] == "uniform"}
    rows = []
    for point in points:
        if point["asked"] == "auto":
            other = uniform.get((point["degree"], point["n_terms"]))
            ours = [f"{point['cpu']:.2f}", f"{point['screening']:.2f}", f"{point['megabytes']:.0f}"]
            theirs = [f"{other['cpu']:.2f}", f"{other['megabytes']:.0f}"] if other else ["", ""]
            size = [str(point["degree"]), f"{point['n_features']:,}", f"{point['n_terms']:,}"]
            rows.append([*size, point["began"], *ours, *theirs])
    head = ["degree", "features", "terms", "RIPs by default", "processor s", "of these screening", "peak MB"]
    return markdown_table([*head, "uniform: processor s", "uniform: peak MB"], rows)


def draw(points: Sequence[dict[str, Any]], path: Path) -> None:
    """Processor time and peak memory against the number of terms."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    from rfsc._fit.output import FEW_TERMS

    figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    colours = {1: "#0072B2", 2: "#D55E00", 3: "#009E73"}
    for axis, what, label in zip(axes, ("cpu", "megabytes"), ("processor time (s)", "peak memory (MB)"), strict=True):
        for degree, colour in colours.items():
            for asked, style, marker in (("auto", "-", "o"), ("uniform", "--", "")):
                own = [p for p in points if p["degree"] == degree and p["asked"] == asked]
                if not own:
                    continue
                axis.plot(
                    [p["n_terms"] for p in own],
                    [p[what] for p in own],
                    linestyle=style,
                    marker=marker,
                    markersize=4,
                    color=colour,
                    label=f"degree {degree}, {'default' if asked == 'auto' else 'uniform RIPs'}",
                )
        axis.axvline(FEW_TERMS, color="0.6", linewidth=0.8, linestyle=":")
        axis.set(xscale="log", yscale="log" if what == "cpu" else "linear", xlabel="candidate terms", ylabel=label)
        axis.spines[["top", "right"]].set_visible(False)
        axis.grid(alpha=0.25)
    axes[1].set_ylim(bottom=0)
    axes[1].annotate("screened from here on", (FEW_TERMS, 0), xytext=(4, 4), textcoords="offset points", color="0.4")
    axes[0].legend(frameon=False, fontsize=8)
    figure.suptitle(f"One search over {N_ROWS} rows")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)


def machine() -> str:
    """Where this ran."""
    return f"{machine_and_date()}, {os.cpu_count()} cores, Python {platform.python_version()}, NumPy {np.__version__}"


def section(outcomes: Outcomes, plot: Path, page: Path | None, most: int) -> str:
    """Everything that is measured, as Markdown."""
    points = cost_points(outcomes)
    draw(points, plot)
    link = plot.relative_to(page.parent) if page is not None and plot.is_relative_to(page.parent) else plot
    parts = [
        f"{N_ROWS} rows, {N_FEATURES:,} features, default settings but for what is named. Made by `benchmarks/wide.py` "
        f"on {machine()}, load {os.getloadavg()[1]:.1f} at the end: other programs lengthen wall times, by which "
        "bars are judged, and hardly processor times.",
        bars(outcomes, most),
        "Planted terms: three main effects and two pure interactions of independent features, equal in weight, among "
        "50 million monomials; data sets with normal and evenly spread features take turns. Strength is the weight "
        "of each term beside logistic noise of scale 1; the best possible accuracy is that of the planted "
        "formula. An interaction counts as found when the model holds a term of exactly its two features.",
        found_rates(outcomes, most),
        "Others on the same rows, one core, processor time. Nobody can hold the columns of all products: they would "
        f"take {N_FEATURES * (N_FEATURES + 1) / 2 * N_ROWS * 8 / 1e9:.0f} GB.",
        peers(),
        "The cost of one search (`size=None, n_restarts=1`, one thread) against the number of terms:",
        f"![cost by number of terms]({link})",
        cost_table(points),
    ]
    return "\n\n".join(parts)


def main() -> None:
    """Measure, print, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path, help="page whose section 'wide' is replaced")
    parser.add_argument("--plot", type=Path, default=Path("docs/performance/cost_by_terms.png"))
    parser.add_argument("--results", type=Path, help="file that keeps what was measured")
    parser.add_argument("--most", type=int, default=1000, help="data sets in each row, at most: for a quicker run")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(fit_one(json.loads(options.one))))
        return
    text = section(Outcomes("wide", options.results), options.plot, options.write, options.most)
    print(text)
    if options.write:
        replace_section(options.write, "wide", text)


if __name__ == "__main__":
    main()
