"""Very wide tables: `PartitionedRFSC` beside the plain search at equal fits, and beside its public relatives.

Every fit runs in a process of its own. `--results FILE` keeps what was measured, so that an interrupted run goes on.
The relatives get environments of their own, made from PyPI where they are missing, and a time limit.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import signal
import subprocess
import sys
import tempfile
import time
import venv
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from markdown import replace_section, table
from scipy.special import expit

from report import processor

HERE = Path(__file__).resolve().parent
BLOCK, CORRELATION = 20, 0.5  # features that move together, and how much
N_TEST = 500
# rows, features, planted terms, their weight beside logistic noise of scale 1, data sets; all that was chosen by trial
# (size of a bin, price of a term, what is shared) was chosen on other data sets
SIZES = {
    "62 x 2,000": (62, 2_000, 2, 6.0, 8),
    "72 x 7,129": (72, 7_129, 2, 6.0, 5),
    "200 x 20,000": (200, 20_000, 5, 3.0, 3),
    "500 x 100,000": (500, 100_000, 5, 2.0, 1),
}
NAMES = {
    "partitioned": "PartitionedRFSC",
    "uniform": "plain search, same number of fits",
    "priced": "the same, its terms chosen by the same price",
    "screened": "plain search, screened start (default)",
    "drfsc": "drfsc 0.0.7",
    "distfeatselect": "distfeatselect 0.1.4",
}
OLD = ("numpy<2", "pandas<3", "scikit-learn<1.5", "statsmodels<0.15", "scipy<1.14", "matplotlib", "dcor")
PEERS = {
    # later versions of scikit-learn have renamed arguments that both packages use
    "drfsc": (
        ("numpy==1.23.4", "pandas==1.5.2", "scikit-learn==1.1.3", "statsmodels==0.13.5", "matplotlib==3.6.2"),
        OLD,
    ),
    "distfeatselect": (OLD,),
}
VERSIONS = {"drfsc": "0.0.7", "distfeatselect": "0.1.4"}


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


def fit_one(task: dict[str, Any]) -> dict[str, Any]:
    """Fit once and tell what came out."""
    from joblib.externals.loky import get_reusable_executor
    from sklearn.exceptions import ConvergenceWarning

    from rfsc import PartitionedRFSC, RFSCClassifier

    warnings.simplefilter("ignore", ConvergenceWarning)
    where, train, test, best = planted_rows(task["size"], task["seed"])
    common = {"degree": 1, "basis": "polynomial", "n_jobs": os.cpu_count(), "random_state": task["seed"]}
    RFSCClassifier(basis="polynomial", n_restarts=1, max_iter=2, random_state=0).fit(train[0][:, :7], train[1])
    clock, spent = time.perf_counter(), processor_seconds()
    if task["method"] == "partitioned":
        clf = PartitionedRFSC(**common).fit(*train)
    elif task["method"] == "uniform":
        clf = RFSCClassifier(
            **common, initial_rip="uniform", n_restarts=10_000, callbacks=stop_after_fits(task["n_fits"])
        ).fit(*train)
    else:
        clf = RFSCClassifier(**common).fit(*train)
    clock = time.perf_counter() - clock
    get_reusable_executor().shutdown(wait=True)  # the time of processes counts when they have ended
    spent = processor_seconds() - spent
    chosen = [j for term in clf.models_[0].terms for j in term.features]
    out = {
        "wall": clock,
        "cpu": spent,
        "best_accuracy": best,
        **compared(chosen, where),
        "accuracy": float(clf.score(*test)),
    }
    if isinstance(clf, PartitionedRFSC):
        return {
            **out,
            "n_fits": int(clf.n_fits_[0]),
            "n_bins": int(clf.n_bins_[0]),
            "rounds": len(clf.rounds_[0]),
            "reason": clf.round_stop_reasons_[0],
        }
    out["n_fits"] = sum(record.n_fitted for search in clf.searches_[0] for record in search.history)
    out["restarts"] = len(clf.searches_[0])
    if task["method"] == "uniform":
        out["priced"] = priced(clf, train, test, where)
    return out


def processor_seconds() -> float:
    """Of this process and of those that it has started and that have ended."""
    spent = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in spent)


def stop_after_fits(n_fits: int) -> Any:
    """A callback that ends everything after so many fits."""
    left = [n_fits]

    def look(record: Any) -> str | None:
        left[0] -= record.n_fitted
        return "stop_all" if left[0] <= 0 else None

    return look


def compared(chosen: Sequence[int], where: Sequence[int]) -> dict[str, Any]:
    """How the chosen features compare with the planted ones."""
    right, own = set(where), set(chosen)
    hits = len(right & own)
    mates = {j // BLOCK for j in right} & {j // BLOCK for j in own}
    return {
        "planted": len(right),
        "found": hits,
        "blocks": len(mates),
        "others": len(own - right),
        "f1": 2 * hits / (len(right) + len(own)),
    }


def priced(clf: Any, train: Any, test: Any, where: Sequence[int]) -> dict[str, Any]:
    """The model that the terms of a plain fit give when each has the price that it has in `PartitionedRFSC`."""
    from rfsc.partitioned import price_of_a_term

    from rfsc._engines import Criterion, FitOptions, Problem, make_engine
    from rfsc._search import pool

    X, y = train
    model, space = clf.models_[0], clf._spaces[0][0]
    options = FitOptions(Criterion.LOO_LOG_LOSS, clf.ridge, 0.5)
    most = min(clf.max_terms, len(y) - 1)
    problem = Problem(space, model.scaling.table(X), np.where(y > 0, 1.0, -1.0), np.ones(len(y)), options, most)
    price = price_of_a_term(space.n_terms, len(y))
    found = pool(clf.searches_[0], make_engine("auto", problem), most=most, largest=15, price=price)
    if found is None:
        return {**compared([], where), "accuracy": float(max(np.mean(test[1]), 1 - np.mean(test[1])))}
    f = found.coef @ space.columns(model.scaling.table(test[0]), found.ids)
    chosen = [j for term in space.terms(found.ids) for j in term.features]
    return {**compared(chosen, where), "accuracy": float(np.mean((f > 0) == (test[1] > 0)))}


def peer_python(package: str) -> Path | None:
    """The Python of an environment that can import a relative, made from PyPI where it is missing; None if that fails."""
    folder = HERE.parent / f".venv-{package}"
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    for needs in ((), *PEERS[package]):
        try:
            if needs:
                venv.create(folder, with_pip=True, clear=True)
                run(python, "-m", "pip", "install", "-q", "--retries", "2", "--only-binary", ":all:", *needs)
                run(python, "-m", "pip", "install", "-q", "--no-deps", f"{package}=={VERSIONS[package]}")
            run(python, "-c", f"import {package}")
            return python
        except (OSError, subprocess.CalledProcessError) as error:
            sys.stderr.write(f"{getattr(error, 'stderr', '') or error}\n" if needs else f"making {folder.name} ...\n")
    return None


def run(python: Path | str, *arguments: str, limit: float | None = None) -> str:
    """What a Python process prints; after `limit` seconds it is ended with all processes that it has started."""
    command = [str(python), *arguments]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        out, error = process.communicate(timeout=limit)
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command, out, error)
    return out


def fit_peer(package: str, size: str, seed: int, n_bins: int, limit: float) -> dict[str, Any]:
    """One fit of a relative, or what happened instead."""
    python = peer_python(package)
    if python is None:
        return {"failed": f"{package} {VERSIONS[package]} could not be installed from PyPI"}
    where, (X, y), (X_test, y_test), _ = planted_rows(size, seed)
    low, span = X.min(axis=0), np.ptp(X, axis=0)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "rows.npz"))
        np.savez(path, X=(X - low) / span, y=y, X_test=(X_test - low) / span, y_test=y_test)
        del X, X_test
        try:
            script = str(HERE / "partitioned_peer.py")
            printed = run(python, script, package, path, str(n_bins), str(seed), limit=limit)
        except subprocess.TimeoutExpired:
            return {"failed": f"not finished after {limit:.0f} s"}
        except subprocess.CalledProcessError as error:
            return {"failed": f"ended with {error.stderr.strip().splitlines()[-1][:120]}"}
    out = json.loads(printed.splitlines()[-1])
    return {"wall": out["wall"], "cpu": out["cpu"], "accuracy": out["accuracy"], **compared(out["features"], where)}


class Results:
    """Fits by what was asked for, kept in a file where one is named."""

    def __init__(self, path: Path | None, limit: float, *, measures: bool = True) -> None:
        self._path, self._limit, self._measures = path, limit, measures
        self._known: dict[str, Any] = json.loads(path.read_text()) if path is not None and path.exists() else {}

    def __call__(self, **task: Any) -> dict[str, Any]:
        """The outcome of one fit, from the file or measured now; nothing where it is not to be measured."""
        key = json.dumps(task, sort_keys=True)
        if key not in self._known and not self._measures:
            return {}
        if key not in self._known:
            if task["method"] in PEERS:
                found = fit_peer(task["method"], task["size"], task["seed"], task["n_bins"], self._limit)
            else:
                found = json.loads(run(sys.executable, __file__, "--one", key))
            found["load"] = round(os.getloadavg()[0], 1)
            self._known[key] = found
            print(key, json.dumps(found), file=sys.stderr, flush=True)
            if self._path is not None:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                self._path.write_text(json.dumps(self._known, indent=1) + "\n")
        answer: dict[str, Any] = self._known[key]
        return answer


def measure(results: Results, most: int) -> dict[str, dict[str, list[dict[str, Any]]]]:
    """By size and method, one result for each data set; relatives see the first one only."""
    found: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for size, (*_, n_sets) in SIZES.items():
        own: dict[str, list[dict[str, Any]]] = {method: [] for method in NAMES}
        for seed in range(min(n_sets, most)):
            task = {"size": size, "seed": seed}
            ours = results(method="partitioned", **task)
            plain = results(method="uniform", n_fits=ours["n_fits"], **task) if ours else {}
            own["partitioned"].append(ours)
            own["uniform"].append(plain)
            own["priced"].append({**plain, **plain["priced"]} if plain else {})
            own["screened"].append(results(method="screened", **task))
            if seed == 0:
                for package in PEERS:
                    too_slow = any("failed" in fit for before in found.values() for fit in before[package])
                    skipped = {"failed": "not tried, see above"}
                    own[package].append(
                        skipped if too_slow else results(method=package, n_bins=ours.get("n_bins"), **task)
                    )
        own = {method: [fit for fit in fits if fit] for method, fits in own.items()}
        found[size] = own
    return found


def recovery_table(found: dict[str, dict[str, list[dict[str, Any]]]]) -> str:
    """Ours beside the plain search."""
    rows = []
    for size, own in found.items():
        for method in ("partitioned", "uniform", "priced", "screened"):
            fits = own[method]
            if not fits:
                rows.append([size if method == "partitioned" else "", "0", NAMES[method], "not measured", *[""] * 8])
                continue
            mean = lambda what, fits=fits: float(np.mean([fit[what] for fit in fits]))  # noqa: E731
            share = sum(fit["found"] for fit in fits) / sum(fit["planted"] for fit in fits)
            cells = [f"{share:.0%}", f"{mean('others'):.1f}", f"{mean('f1'):.2f}", f"{mean('accuracy'):.3f}"]
            cells += [f"{mean('best_accuracy'):.3f}", f"{mean('n_fits'):,.0f}"]
            cells += ["", ""] if method == "priced" else [f"{mean('cpu'):.1f}", f"{mean('wall'):.0f}"]
            cells += [verdict(method, own)]
            rows.append([size if method == "partitioned" else "", str(len(fits)), NAMES[method], *cells])
    head = ["rows x features", "data sets", "", "planted terms found", "other terms", "F1", "accuracy"]
    return table([*head, "best possible", "fits", "processor s", "wall s", "ours better by F1"], rows)


def verdict(method: str, own: dict[str, list[dict[str, Any]]]) -> str:
    """Whether ours recovers more than another way, by the mean F1."""
    if method == "partitioned" or len(own[method]) != len(own["partitioned"]):
        return ""
    ours, theirs = (np.mean([fit["f1"] for fit in own[name]]) for name in ("partitioned", method))
    return "yes" if ours > theirs else "NO"


def peer_table(found: dict[str, dict[str, list[dict[str, Any]]]]) -> str:
    """Ours beside the relatives, on the first data set of every size."""
    rows = []
    for size, own in found.items():
        for method in ("partitioned", *PEERS):
            fit = own[method][0] if own[method] else {"failed": "not measured"}
            if "failed" in fit:
                cells = [fit["failed"], "", "", "", ""]
            else:
                terms = fit["found"] + fit["others"]
                recovered = f"{fit['found']} of {fit['planted']}"
                cells = [recovered, str(terms), f"{fit['accuracy']:.3f}", f"{fit['cpu']:.0f}", f"{fit['wall']:.0f}"]
            rows.append([size if method == "partitioned" else "", NAMES[method], *cells])
    return table(
        ["rows x features", "", "planted terms found", "features in the model", "accuracy", "processor s", "wall s"],
        rows,
    )


def draw(found: dict[str, dict[str, list[dict[str, Any]]]], path: Path) -> None:
    """Recovery and accuracy by size."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    colours = {"partitioned": "#D55E00", "uniform": "#0072B2", "priced": "#56B4E9", "screened": "#009E73"}
    figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for axis, what, label in zip(axes, ("f1", "accuracy"), ("F1 of the planted terms", "test accuracy"), strict=True):
        for k, (method, colour) in enumerate(colours.items()):
            at = np.arange(len(found)) + 0.16 * (k - 1.5)
            values = [[fit[what] for fit in own[method]] for own in found.values()]
            axis.bar(at, [np.mean(v) if v else 0.0 for v in values], 0.15, color=colour, label=NAMES[method])
            for x, own in zip(at, values, strict=True):
                axis.plot([x] * len(own), own, ".", color="0.2", markersize=3)
        axis.set_xticks(np.arange(len(found)), list(found))
        axis.set(ylabel=label, ylim=(0, 1.02) if what == "f1" else (0.5, 1.0), xlabel="rows x features")
        axis.spines[["top", "right"]].set_visible(False)
        axis.grid(alpha=0.25, axis="y")
    figure.legend(*axes[0].get_legend_handles_labels(), frameon=False, fontsize=8, loc="outside upper center", ncols=2)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def section(results: Results, limit: float, plot: Path, page: Path | None, most: int) -> str:
    """Everything that is measured, as Markdown."""
    found = measure(results, most)
    draw(found, plot)
    link = plot.relative_to(page.parent) if page is not None and plot.is_relative_to(page.parent) else plot
    every = [fit for own in found.values() for fits in own.values() for fit in fits]
    loads = [fit["load"] for fit in every if "load" in fit]
    ours = [fit for own in found.values() for fit in own["partitioned"]]
    rounds = ", ".join(
        f"{size}: {own['partitioned'][0]['n_bins']} bins, "
        f"{min(f['rounds'] for f in own['partitioned'])} to {max(f['rounds'] for f in own['partitioned'])} rounds"
        for size, own in found.items()
        if own["partitioned"]
    )
    parts = [
        f"Normal features in blocks of {BLOCK} with correlation {CORRELATION} within a block; planted terms stand in "
        "blocks of their own and have the same weight. The size of a bin, the price of a term and what is shared were "
        "chosen on other data sets. F1 is the balance of what is found and what else is taken in. "
        f"Accuracy is that on {N_TEST} fresh rows; the best possible one that of somebody who knows the formula. Made "
        f"by `benchmarks/partitioned.py` on {processor()}, {os.cpu_count()} cores, Python {platform.python_version()}, "
        f"NumPy {np.__version__}, load {min(loads):.1f} to {max(loads):.1f}: other programs lengthen wall times.",
        recovery_table(found),
        f"![recovery and accuracy by size]({link})",
        f"The rounds ({rounds}) ended by themselves in {sum(f['reason'] == 'stable' for f in ours)} of {len(ours)} "
        "fits. The plain search at the same number of fits gets as many restarts as that takes; all its terms are "
        "pooled. The last row of each size is what `RFSCClassifier` does by default, with far fewer fits.",
        f"The relatives on the first data set of each size, with as many bins as ours, five rounds, and {limit:.0f} s "
        "of wall time at most, at the load named above; larger tables are not tried after that. Processor seconds "
        "count all processes:",
        peer_table(found),
    ]
    return "\n\n".join(parts)


def main() -> None:
    """Measure, print, and write where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path, help="page whose section 'partitioned' is replaced")
    parser.add_argument("--plot", type=Path, default=Path("docs/scale/partitioned.png"))
    parser.add_argument("--results", type=Path, default=Path("docs/scale/partitioned.json"))
    parser.add_argument("--most", type=int, default=1000, help="data sets of each size, at most: for a quicker run")
    parser.add_argument("--limit", type=float, default=900.0, help="seconds that a relative may take")
    parser.add_argument("--known", action="store_true", help="measure nothing, write what the results file holds")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(fit_one(json.loads(options.one))))
        return
    results = Results(options.results, options.limit, measures=not options.known)
    text = section(results, options.limit, options.plot, options.write, options.most)
    print(text)
    if options.write:
        replace_section(options.write, "partitioned", text)


if __name__ == "__main__":
    main()
