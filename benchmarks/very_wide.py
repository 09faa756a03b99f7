"""Very wide tables: what the search finds among up to 100,000 features, beside its public relatives.

Every fit runs in a process of its own and is kept, so that an interrupted run continues. The relatives get environments
of their own, made from PyPI if they are missing, and a time limit. `--write PAGE` replaces the section `very wide`.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import tempfile
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from paper.tables import markdown_table, replace_section
from scipy.special import expit

from .measuring import ROOT, Outcomes, make_classifier, processor_seconds, run_python
from .relatives import SCRIPT, VERSIONS, relative_python
from .report import machine_and_date

KEPT = ROOT / "docs" / "scale" / "very_wide.json"
BLOCK, CORRELATION = 20, 0.5  # features that move together, and how much
N_TEST = 500
FEATURES_PER_BIN = 500  # for the relatives, which search in bins
# rows, features, planted terms, their weight beside logistic noise of scale 1, data sets; the settings of the search
# were chosen on other data sets
SIZES = {
    "62 x 2,000": (62, 2_000, 2, 6.0, 8),
    "72 x 7,129": (72, 7_129, 2, 6.0, 5),
    "200 x 20,000": (200, 20_000, 5, 3.0, 3),
    "500 x 100,000": (500, 100_000, 5, 2.0, 1),
}
Fits = dict[str, dict[str, list[dict[str, Any]]]]  # by size and method, one for each data set


def planted_rows(size: str, seed: int) -> tuple[list[int], tuple[Any, Any], tuple[Any, Any], float]:
    """Planted features, each in a block of its own; training rows; test rows; the best accuracy possible on these."""
    n_rows, n_features, n_planted, weight, _ = SIZES[size]
    rng = np.random.default_rng([n_features, seed])
    n_blocks = -(-n_features // BLOCK)
    blocks = rng.choice(n_features // BLOCK, n_planted, replace=False)
    where = blocks * BLOCK + rng.integers(BLOCK, size=n_planted)
    sign = rng.choice([-1.0, 1.0], n_planted)

    def rows(n: int) -> tuple[Any, Any, Any]:
        X = np.sqrt(1 - CORRELATION) * rng.standard_normal((n, n_features))
        X += np.sqrt(CORRELATION) * np.repeat(rng.standard_normal((n, n_blocks)), BLOCK, axis=1)[:, :n_features]
        f = weight * (X[:, where] @ sign)
        return X, (f + rng.logistic(size=n) > 0).astype(int), f

    train, test = rows(n_rows), rows(N_TEST)
    return where.tolist(), train[:2], test[:2], float(expit(np.abs(test[2])).mean())


def fit_ours(task: dict[str, Any]) -> dict[str, Any]:
    """One fit of products of degree 1 with default settings otherwise."""
    from sklearn.exceptions import ConvergenceWarning

    warnings.simplefilter("ignore", ConvergenceWarning)
    where, train, test, best = planted_rows(task["size"], task["seed"])
    make_classifier(basis="polynomial", n_restarts=1, max_iter=2, random_state=0).fit(train[0][:, :7], train[1])
    wall, cpu = time.perf_counter(), processor_seconds()
    clf = make_classifier(degree=1, n_jobs=os.cpu_count(), random_state=task["seed"]).fit(*train)
    wall, cpu = time.perf_counter() - wall, processor_seconds() - cpu
    chosen = [j for term in clf.models_[0].terms for j in term.features]
    outcome = {"wall": wall, "cpu": cpu, "accuracy": float(clf.score(*test)), "best_accuracy": best}
    return outcome | recovered(chosen, where)


def recovered(chosen: Sequence[int], where: Sequence[int]) -> dict[str, Any]:
    """How the chosen features compare with the planted ones."""
    right, own = set(where), set(chosen)
    hits = len(right & own)
    f1 = 2 * hits / (len(right) + len(own))
    return {"planted": len(right), "found": hits, "others": len(own - right), "f1": f1}


def fit_relative(package: str, size: str, seed: int, limit: float) -> dict[str, Any]:
    """One fit of a relative, or what happened instead."""
    python = relative_python(package)
    if python is None:
        return {"failed": f"{package} {VERSIONS[package]} could not be installed from PyPI"}
    where, (X, y), (X_test, y_test), _ = planted_rows(size, seed)
    low, span = X.min(axis=0), np.ptp(X, axis=0)
    n_bins = max(X.shape[1] // FEATURES_PER_BIN, 1)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "rows.npz"))
        np.savez(path, X=(X - low) / span, y=y, X_test=(X_test - low) / span, y_test=y_test)
        del X, X_test
        try:
            printed = run_python(python, SCRIPT, package, path, str(seed), str(n_bins), limit=limit)
        except subprocess.TimeoutExpired:
            return {"failed": f"not finished after {limit:.0f} s"}
        except subprocess.CalledProcessError as error:
            return {"failed": f"ended with {error.stderr.strip().splitlines()[-1][:120]}"}
    out = json.loads(printed.splitlines()[-1])
    return {"wall": out["wall"], "cpu": out["cpu"], "accuracy": out["accuracy"], **recovered(out["features"], where)}


def measure(outcomes: Outcomes, most: int, limit: float) -> Fits:
    """All data sets of every size; the relatives see the first of each size only, until one takes too long."""
    found: Fits = {}
    too_slow: set[str] = set()
    for size, (*_, n_sets) in SIZES.items():
        tasks = [{"method": "RFSC", "size": size, "seed": seed} for seed in range(min(n_sets, most))]
        found[size] = {"RFSC": [outcomes.get(task) for task in tasks]}
        for package in VERSIONS:
            task = {"method": package, "size": size, "seed": 0}
            if package in too_slow:
                found[size][package] = [{"failed": "not tried, see above"}]
                continue
            if task not in outcomes:
                outcomes.add(task, fit_relative(package, size, 0, limit))
            found[size][package] = [outcomes.get(task)]
            too_slow |= {package} if "failed" in outcomes.get(task) else set()
    return found


def recovery_table(found: Fits) -> str:
    """What the search finds, mean over the data sets."""
    rows = []
    for size, own in found.items():
        fits = own["RFSC"]
        share = sum(fit["found"] for fit in fits) / sum(fit["planted"] for fit in fits)
        names = ("others", "f1", "accuracy", "best_accuracy", "cpu", "wall")
        others, f1, accuracy, best, cpu, wall = (float(np.mean([fit[name] for fit in fits])) for name in names)
        cells = [f"{share:.0%}", f"{others:.1f}", f"{f1:.2f}", f"{accuracy:.3f}", f"{best:.3f}"]
        rows.append([size, str(len(fits)), *cells, f"{cpu:.1f}", f"{wall:.1f}"])
    head = ["rows x features", "data sets", "planted terms found", "other terms", "F1", "accuracy", "best possible"]
    return markdown_table([*head, "processor s", "wall s"], rows)


def relatives_table(found: Fits) -> str:
    """The search beside its relatives, on the first data set of every size."""
    names = {"RFSC": "RFSCClassifier", **{package: f"{package} {version}" for package, version in VERSIONS.items()}}
    rows = []
    for size, own in found.items():
        for method, name in names.items():
            fit = own[method][0]
            cells = [fit.get("failed", ""), "", "", "", ""]
            if "failed" not in fit:
                recovered_text, n_features = f"{fit['found']} of {fit['planted']}", str(fit["found"] + fit["others"])
                seconds = [f"{fit['cpu']:.0f}", f"{fit['wall']:.0f}"]
                cells = [recovered_text, n_features, f"{fit['accuracy']:.3f}", *seconds]
            rows.append([size if method == "RFSC" else "", name, *cells])
    head = ["rows x features", "", "planted terms found", "features in the model", "accuracy", "processor s", "wall s"]
    return markdown_table(head, rows)


def section(found: Fits, limit: float) -> str:
    """Everything that is measured, as Markdown."""
    loads = [fit["load"] for own in found.values() for fits in own.values() for fit in fits if "load" in fit]
    parts = [
        f"Normal features in blocks of {BLOCK} with correlation {CORRELATION} within a block; planted terms are in "
        "blocks of their own and have the same weight. F1 is the balance of what is found and what else is in the "
        f"model. Accuracy is that on {N_TEST} new rows; the best possible one is that of the planted formula. Made by "
        f"`benchmarks/very_wide.py` on {machine_and_date()}, {os.cpu_count()} cores, Python "
        f"{platform.python_version()}, NumPy {np.__version__}, load {min(loads):.1f} to {max(loads):.1f}: "
        "other programs lengthen wall times.",
        recovery_table(found),
        "The relatives on the first data set of each size, in bins of about "
        f"{FEATURES_PER_BIN:,} features, with five rounds and at most {limit:.0f} s of wall time; larger tables are "
        "not tried after that. Processor seconds count all processes:",
        relatives_table(found),
    ]
    return "\n\n".join(parts)


def main() -> None:
    """Measure what is missing, print it, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path, metavar="PAGE")
    parser.add_argument("--results", type=Path, default=KEPT, help="file that keeps the outcomes")
    parser.add_argument("--most", type=int, default=1000, help="data sets of each size, at most: for a quicker run")
    parser.add_argument("--limit", type=float, default=900.0, help="seconds that a relative may take")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(fit_ours(json.loads(options.one))))
        return
    text = section(measure(Outcomes("very_wide", options.results), options.most, options.limit), options.limit)
    print(text)
    if options.write:
        replace_section(options.write, "very wide", text)


if __name__ == "__main__":
    main()
