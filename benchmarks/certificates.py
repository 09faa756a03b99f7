"""What a certificate and an atlas cost on WDBC, and whether atlases of small spaces hold all good models.

Every measurement runs in a process of its own; `--results FILE` keeps what was measured, so that an interrupted run
continues. `--write docs` replaces the sections `cost` of docs/certificate.md and `measured` of docs/atlas.md. The bars
are for two cores.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import time
import warnings
from itertools import combinations
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from joblib.externals.loky import get_reusable_executor
from paper.tables import markdown_table, replace_section
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

from rfsc import RFSCClassifier
from rfsc.atlas import atlas, exploring
from rfsc.certify import certify

from .measuring import Outcomes, memory, verdict
from .report import machine_and_date

N_CORES = 2
N_PAIRS, MOST_FITS = 50, 20  # half fits are twice the pairs; they may take the time of so many default fits
MOST_MEMORY = 1.2  # of a worker, as a multiple of that of a fit
MOST_SECONDS = 10.0  # of an atlas
LEAST_HELD = 0.99  # of all good models
N_TABLES = 20  # small spaces
N_ROWS, N_FEATURES, MOST_TERMS = 150, 6, 4  # 28 terms of degree 2
MEGABYTE = 2**20


def timed(task: Any) -> tuple[float, Any]:
    """Seconds that a call takes, and its result."""
    started = time.perf_counter()
    found = task()
    return time.perf_counter() - started, found


def certificate_cost(n_pairs: int) -> dict[str, float]:
    """Time of a certificate between four default fits, and the memory of its largest worker."""
    if joblib.cpu_count() < N_CORES:
        msg = f"the bars are for {N_CORES} cores; unset LOKY_MAX_CPU_COUNT if the machine has them"
        raise SystemExit(msg)
    X, y = load_breast_cancer(return_X_y=True)
    fits = [timed(lambda: RFSCClassifier(random_state=0, n_jobs=N_CORES).fit(X, y))[0] for _ in range(2)]
    seconds, _ = timed(lambda: certify(RFSCClassifier(), X, y, n_pairs=n_pairs, random_state=0, n_jobs=N_CORES))
    fits += [timed(lambda: RFSCClassifier(random_state=0, n_jobs=N_CORES).fit(X, y))[0] for _ in range(2)]
    get_reusable_executor().shutdown(wait=True)  # the memory of processes is known when they have ended
    worker = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    return {"seconds": seconds, "fit": float(np.mean(fits)), "worker": worker}


def fit_memory() -> dict[str, float]:
    """Peak memory of a process with one default fit on one core."""
    X, y = load_breast_cancer(return_X_y=True)
    RFSCClassifier(random_state=0, n_jobs=1).fit(X, y)
    return {"peak": memory("VmHWM")}


def atlas_cost() -> dict[str, float]:
    """Time of the atlas of a default fit."""
    X, y = load_breast_cancer(return_X_y=True)
    clf = RFSCClassifier(random_state=0, n_jobs=N_CORES).fit(X, y)
    seconds, found = timed(lambda: atlas(clf, X, y))
    return {"seconds": seconds, "models": len(found), "fitted": found.settings.n_fitted[0]}


def small_table(number: int) -> tuple[np.ndarray, np.ndarray]:
    """Six random columns and at most 150 random rows of two classes of WDBC or Wine; every third table is noise."""
    rng = np.random.default_rng(number)
    X, y = (load_breast_cancer if number % 2 else load_wine)(return_X_y=True)
    X, y = X[y < 2], y[y < 2]
    rows, columns = rng.permutation(len(X))[:N_ROWS], rng.permutation(X.shape[1])[:N_FEATURES]
    return X[np.ix_(rows, columns)], y[rng.permutation(rows) if number % 3 == 0 else rows]


def every_support(found: exploring.Exploration, size: int) -> list[exploring.Support]:
    """All models of a size of the candidate terms, with the intercept."""
    return [(0, *rest) for rest in combinations(range(1, found.search.space.n_terms), size)]


def all_good(found: exploring.Exploration, size: int) -> set[exploring.Support]:
    """All models within the tolerance of the best of a size, by fitting every one."""
    supports = every_support(found, size)
    loss = found.fit(supports).log_loss
    best = supports[int(np.argmin(loss))]
    if found.tolerance is not None:
        return {one for one, value in zip(supports, loss, strict=True) if value - loss.min() <= found.tolerance}
    above = np.concatenate([found.row_losses(supports[k : k + 500]) for k in range(0, len(supports), 500)])
    above -= found.row_losses([best])
    return {one for one, keep in zip(supports, found.mean(above) <= found.error(above), strict=True) if keep}


def held(number: int, *, enumerates: bool) -> dict[str, float]:
    """How many of all good models of a small space its atlas holds; by exchanges alone if it does not enumerate."""
    X, y = small_table(number)
    clf = RFSCClassifier("polynomial", size=MOST_TERMS, n_jobs=1, random_state=0).fit(X, y)
    exploring.MOST_ENUMERATED *= enumerates
    made = atlas(clf, X, y, max_models=1_000_000)
    (own,) = made._maps
    wanted = {one for size in own.sizes for one in all_good(own.exploration, size)}
    return {"good": len(wanted), "held": len(wanted & set(own.supports))}


def measure(what: str, **how: Any) -> dict[str, float]:
    """One task of `Outcomes`."""
    RFSCClassifier().fit(*load_iris(return_X_y=True))  # kernels are compiled or read
    tasks = {"certificate": certificate_cost, "fit": fit_memory, "atlas": atlas_cost, "space": held}
    return tasks[what](**how)


def sections(outcomes: Outcomes, n_pairs: int, n_tables: int) -> dict[str, str]:
    """The tables of both pages."""
    cost, fit, good = (
        outcomes.get(one) for one in ({"what": "certificate", "n_pairs": n_pairs}, {"what": "fit"}, {"what": "atlas"})
    )
    n_fits, n_times = cost["seconds"] / cost["fit"], cost["worker"] / fit["peak"]
    of_certificate = [
        [
            f"{2 * n_pairs} half fits, in default fits",
            f"{n_fits:.1f}",
            f"at most {MOST_FITS}",
            verdict(n_fits <= MOST_FITS),
        ],
        ["memory of a worker, in that of a default fit on one core", f"{n_times:.2f}", f"at most {MOST_MEMORY}"],
    ]
    of_certificate[1].append(verdict(n_times <= MOST_MEMORY))
    about = (
        f"WDBC: {cost['seconds']:.1f} s beside {cost['fit']:.2f} s, the mean of two default fits before and two after; "
        f"{cost['worker'] / MEGABYTE:.0f} beside {fit['peak'] / MEGABYTE:.0f} MB."
    )
    is_fast = verdict(good["seconds"] <= MOST_SECONDS)
    of_atlas = [["atlas of a default fit of WDBC", f"{good['seconds']:.1f} s", f"at most {MOST_SECONDS:g} s", is_fast]]
    counts = f"WDBC: {good['models']:,.0f} models kept of {good['fitted']:,.0f} fitted."
    for enumerates, how in ((True, ""), (False, ", by exchanges alone")):
        tasks = [{"what": "space", "number": number, "enumerates": enumerates} for number in range(n_tables)]
        found = [outcomes.get(one) for one in tasks]
        least = min(one["held"] / one["good"] for one in found)
        bar = [f"at least {LEAST_HELD:.0%}", verdict(least >= LEAST_HELD)] if enumerates else ["", ""]
        of_atlas.append([f"good models held, least of {n_tables} small spaces{how}", f"{least:.1%}", *bar])
        n_good, n_held = (sum(one[name] for one in found) for name in ("good", "held"))
        counts += f" Small spaces{how}: {n_held:,.0f} of {n_good:,.0f} good models held."
    head = ["", "measured", "bar", ""]
    machine = f"{machine_and_date()}, {os.cpu_count()} cores, Python {platform.python_version()}."
    texts = {"cost": (of_certificate, about), "measured": (of_atlas, counts)}
    return {name: f"{markdown_table(head, rows)}\n\n{text} {machine}" for name, (rows, text) in texts.items()}


def main() -> None:
    """Measure, print, and write the pages."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path, metavar="FOLDER", help="folder of certificate.md and atlas.md")
    parser.add_argument("--results", type=Path, help="file that keeps what was measured")
    parser.add_argument("--pairs", type=int, default=N_PAIRS, help="of the certificate: for a quicker look")
    parser.add_argument("--tables", type=int, default=N_TABLES, help="small spaces: for a quicker look")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.one:
        print(json.dumps(measure(**json.loads(options.one))))
        return
    found = sections(Outcomes("certificates", options.results), options.pairs, options.tables)
    print("\n\n".join(found.values()))
    if options.write:
        replace_section(options.write / "certificate.md", "cost", found["cost"])
        replace_section(options.write / "atlas.md", "measured", found["measured"])


if __name__ == "__main__":
    main()
