"""How fast is it, beside its peers? Prints tables in Markdown; `--write PAGE` replaces the section `speed` of a page.

Every ratio is measured side by side in one run: the competitors take turns in rounds on one core, and each is judged by
its best turn. Ratios are of processor time, which is wall time on an idle machine and does not count what other
programs took; where several cores are the point, wall time is taken.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
import venv
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import dcor
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from statsmodels.discrete.discrete_model import Logit
from statsmodels.tools.sm_exceptions import PerfectSeparationError
from threadpoolctl import threadpool_limits

from experiment import experiment_section
from markdown import replace_section
from report import Row, Section, processor
from rfsc import RFSCClassifier
from rfsc._engines import Criterion, FitOptions, Problem, Supports, make_engine
from rfsc._fit.distance_correlation import independence_test
from rfsc._terms import MonomialSpace
from rfsc._terms.scaling import Scaling

HERE = Path(__file__).resolve().parent
DRFSC_FOLDER = HERE.parent / ".venv-drfsc"
# drfsc 0.0.7 pins these. scikit-learn 1.1.2 and statsmodels 0.13.2 have no wheels for Python 3.11, which rfsc needs at
# least: the next patch releases do. Later Pythons get the newest versions it still runs with.
DRFSC_NEEDS = (
    ("numpy==1.23.4", "pandas==1.5.2", "scikit-learn==1.1.3", "statsmodels==0.13.5", "matplotlib==3.6.2"),
    ("numpy<2", "pandas<3", "scikit-learn<1.5", "statsmodels<0.15", "scipy<1.14", "matplotlib"),
)

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
SIZES = (5, 10, 20)
BARS = {"scikit-learn": (120, 60, 30), "statsmodels": (30, 30, 14), "numpy engine": (2.5, 2.5, 2.5)}
N_SUPPORTS = 200
ROUNDS = 5
TURN = 0.25  # processor seconds, at least: the same for everyone, so that no one gets more chances at a lucky moment
GEMM_SIZE = 1024
DCOR_ROWS, DCOR_COLUMNS, DCOR_BAR = 10_000, 20, 3
SEEDS = (0, 1, 2, 3)
DRFSC_BAR = 100
PEAK_BARS = ((5_000, 20, 0.50), (500, 10, 0.25))  # rows, terms, least share of the matrix-product peak
SCALING_ROWS, SCALING_BAR = (500, 2_000, 10_000, 50_000), 1.8
SCALING_FROM = 2_000  # rows from which the bar holds
IMPORT_RUNS, IMPORT_BAR, FIRST_FIT_BAR = 5, 1.5, 15


def best_of_rounds(competitors: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Let the competitors take turns; processor seconds of each in its best turn, after one that does not count."""
    best = dict.fromkeys(competitors, np.inf)
    for turn in range(ROUNDS + 1):
        for name, work in competitors.items():
            seconds = one_turn(work)
            if turn:
                best[name] = min(best[name], seconds)
    return best


def one_turn(work: Callable[[], object]) -> float:
    """Mean processor seconds of `work` over a turn."""
    start, passes = time.process_time(), 0
    while time.process_time() - start < TURN:
        work()
        passes += 1
    return (time.process_time() - start) / passes


# --- 1 and 2: fits of random supports


@dataclass(frozen=True, slots=True)
class Wdbc:
    """The breast-cancer data as an engine sees it, with the settings of the estimator."""

    space: MonomialSpace
    table: np.ndarray  # (n_features, n_rows)
    label: np.ndarray  # 0 or 1
    defaults: dict[str, object]

    @classmethod
    def load(cls) -> Wdbc:
        """Scaled to [0, 1], terms up to degree 2."""
        X, y = load_breast_cancer(return_X_y=True)
        defaults = RFSCClassifier().get_params()
        return cls(MonomialSpace(np.arange(X.shape[1]), defaults["degree"]), Scaling.from_rows(X).table(X), y, defaults)

    def problem(self, options: FitOptions) -> Problem:
        """What to fit."""
        target, weight = np.where(self.label == 1, 1.0, -1.0), np.ones(self.label.size)
        return Problem(self.space, self.table, target, weight, options, self.defaults["max_terms"])

    def full(self) -> FitOptions:
        """The evaluation of a search with default settings."""
        score = Criterion[self.defaults["score"].upper()]
        return FitOptions(score, self.defaults["ridge"], self.defaults["significance"])

    def one_fit(self) -> FitOptions:
        """The same fit and its t-values, but a threshold of zero drops nothing, and nothing is left out."""
        return FitOptions(Criterion.ACCURACY, self.defaults["ridge"], significance=0.5)

    def draw(self, size: int) -> Supports:
        """Random supports. The constant is not drawn: it has no penalty, which scikit-learn could not be told."""
        rng = np.random.default_rng(size)
        draws = [rng.choice(np.arange(1, self.space.n_terms), size, replace=False) for _ in range(N_SUPPORTS)]
        return Supports.from_lists(draws)


def fit_with_sklearn(columns: list[np.ndarray], label: np.ndarray, C: float) -> None:
    """A loop over LogisticRegression; it gives no t-values."""
    for X in columns:
        LogisticRegression(solver="newton-cholesky", fit_intercept=False, C=C).fit(X, label)


def fit_with_statsmodels(columns: list[np.ndarray], label: np.ndarray) -> int:
    """A loop over Logit and its t-values, without a penalty; how many fits ended in an error."""
    failures = 0
    for X in columns:
        try:
            _ = Logit(label, X).fit(method="newton", disp=0).tvalues
        except (PerfectSeparationError, np.linalg.LinAlgError):
            failures += 1
    return failures


@dataclass(frozen=True, slots=True)
class FitTimes:
    """Seconds per support for one size of supports."""

    size: int
    seconds: dict[str, float]
    failures: int


def time_fits(data: Wdbc, size: int) -> FitTimes:
    """Time every way to fit the same random supports."""
    supports = data.draw(size)
    engines = {
        f"{name}, {what}": make_engine(name, data.problem(options), n_threads=1)
        for what, options in (("one fit", data.one_fit()), ("full", data.full()))
        for name in ("numba", "numpy")
    }
    fits = engines["numba, one fit"].evaluate(supports)
    if not np.array_equal(fits.supports.ids, supports.ids):
        msg = "expected that a threshold of zero drops no term, but some were dropped; the rows would not compare."
        raise RuntimeError(msg)
    raw = [np.ascontiguousarray(data.space.columns(data.table, ids).T) for ids in supports_of(supports)]
    # our penalty is ridge * variance * coef**2 / 2: on columns of variance one that is C = 1 / ridge
    scaled = [X / X.std(axis=0) for X in raw]
    competitors: dict[str, Callable[[], object]] = {
        name: (lambda engine=engine: engine.evaluate(supports)) for name, engine in engines.items()
    }
    competitors["scikit-learn"] = lambda: fit_with_sklearn(scaled, data.label, 1.0 / data.defaults["ridge"])
    competitors["statsmodels"] = lambda: fit_with_statsmodels(raw, data.label)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        best = best_of_rounds(competitors)
        failures = fit_with_statsmodels(raw, data.label)
    return FitTimes(size, {name: total / N_SUPPORTS for name, total in best.items()}, failures)


def supports_of(supports: Supports) -> list[np.ndarray]:
    """The supports one by one."""
    return [supports[m] for m in range(len(supports))]


def fits_section(times: list[FitTimes]) -> Section:
    """Per-fit ratios against loops over the peers."""
    rows = []
    for what, label in (
        ("one fit", "one fit with t-values"),
        ("full", "fit, test, prune, refit, leave-one-out score"),
    ):
        for peer, bars in BARS.items():
            for t, bar in zip(times, bars, strict=True):
                theirs = t.seconds[f"numpy, {what}" if peer == "numpy engine" else peer]
                name = f"{label}: {t.size} terms, {peer}"
                rows.append(Row.versus(name, t.seconds[f"numba, {what}"], theirs, bar, judged=what == "one fit"))
    failures = ", ".join(f"{t.failures} of {N_SUPPORTS} at {t.size} terms" for t in times)
    return Section(
        "Fits of random supports (WDBC, degree 2)",
        rows,
        [
            f"Time per support, mean over the same {N_SUPPORTS} random supports for everyone, best of {ROUNDS} turns.",
            'Bars are judged on "one fit with t-values", which is what the peers do; our full evaluation stands '
            "beside the same peers' single fit, its verdict in brackets.",
            'scikit-learn: `LogisticRegression(solver="newton-cholesky", fit_intercept=False)`, the same penalty, '
            "no t-values. statsmodels: `Logit(...).fit()` by Newton's method and `.tvalues`, no penalty. "
            "Both get their columns gathered before the clock starts; ours gathers its own.",
            f"statsmodels ended in an error (singular or separated classes): {failures}. Its time counts all the same.",
        ],
    )


# --- 2: the limit of the machine, and its cores


def noisy_problem(n_rows: int) -> Problem:
    """Thirty uniform features, classes that overlap; one fit with t-values drops nothing and leaves nothing out."""
    rng = np.random.default_rng(n_rows)
    table = rng.random((30, n_rows))
    signal = 8 * (table[0] - 0.5) - 6 * (table[1] - 0.5) + 12 * (table[2] - 0.5) * (table[3] - 0.5)
    target = np.where(signal + rng.logistic(size=n_rows) > 0, 1.0, -1.0)
    options = FitOptions(Criterion.ACCURACY, ridge=1.0, significance=0.5)
    return Problem(MonomialSpace(np.arange(30), 2), table, target, np.ones(n_rows), options, 60)


def random_supports(n_terms: int, sizes: np.ndarray) -> Supports:
    """Random supports without the constant."""
    rng = np.random.default_rng(0)
    return Supports.from_lists(rng.choice(np.arange(1, n_terms), size, replace=False) for size in sizes)


def peak_section() -> Section:
    """Share of the matrix-product peak of this core."""
    square = np.random.default_rng(0).random((GEMM_SIZE, GEMM_SIZE))
    rows = []
    for n_rows, m, bar in PEAK_BARS:
        problem = noisy_problem(n_rows)
        supports = random_supports(problem.space.n_terms, np.full(100, m))
        engine = make_engine("numba", problem, 1)
        # the first step of a fit is looked up; each of the others passes once over the rows
        passes = float((engine.evaluate(supports).n_newton - 1).sum())
        best = best_of_rounds({"ours": lambda: engine.evaluate(supports), "product": lambda: square @ square})  # noqa: B023
        rate = passes * n_rows * (m * m + 4 * m) / best["ours"]
        peak = 2.0 * GEMM_SIZE**3 / best["product"]
        name = f"one fit with t-values, {n_rows:,} rows, {m} terms"
        rows.append(Row(name, rate / 1e9, peak / 1e9, rate / peak, bar, unit="GFlop/s"))
    return Section(
        "Share of this core's matrix-product peak",
        rows,
        [
            f"Theirs: the product of two {GEMM_SIZE} x {GEMM_SIZE} matrices of doubles, one thread, measured in the "
            "same rounds.",
            "Ours: passes over the rows x rows x (m^2 + 4 m) operations (upper half of the Hessian, gradient, "
            "predictor), over the whole time of the fits. Exponentials, weights, factors, t-values and score take time "
            "and count as no work.",
        ],
    )


def scaling_section() -> Section:
    """One population on one thread and on two."""
    rows = []
    if (os.cpu_count() or 1) < 2:
        return Section("Two threads", rows, ["NOT MEASURED: this machine has a single core."])
    sizes = np.random.default_rng(0).integers(1, 25, 100)
    for n_rows in SCALING_ROWS:
        problem = replace(noisy_problem(n_rows), options=FitOptions())
        supports = random_supports(problem.space.n_terms, sizes)
        engines = {n: make_engine("numba", problem, n) for n in (1, 2)}
        best = dict.fromkeys(engines, np.inf)
        for _ in range(4 * ROUNDS):
            for n, engine in engines.items():
                start = time.perf_counter()
                engine.evaluate(supports)
                best[n] = min(best[n], time.perf_counter() - start)
        judged = n_rows >= SCALING_FROM
        rows.append(Row.versus(f"100 supports, {n_rows:,} rows", best[2], best[1], SCALING_BAR, judged=judged))
    note = "Ours: two threads, theirs: one. Wall time, best of twenty turns; whole evaluations of 1 to 24 terms."
    return Section("Two threads", rows, [note])


# --- 3: the filter


def filter_section() -> Section:
    """Distance correlation of columns with a class label."""
    rng = np.random.default_rng(0)
    code = rng.integers(0, 2, DCOR_ROWS)
    X = rng.normal(size=(DCOR_ROWS, DCOR_COLUMNS)) + np.outer(code, np.linspace(0.0, 1.0, DCOR_COLUMNS))
    columns, label, weight = np.ascontiguousarray(X.T), code.astype(np.float64), np.ones(DCOR_ROWS)

    def peer(method: str) -> list[float]:
        return [dcor.distance_correlation(x, label, method=method) for x in columns]

    ours = independence_test(X, code, weight).correlation
    np.testing.assert_allclose(ours, peer("mergesort"), rtol=1e-6)
    best = best_of_rounds(
        {
            "ours": lambda: independence_test(X, code, weight),
            "mergesort": lambda: peer("mergesort"),
            "auto": lambda: peer("auto"),
        },
    )
    best = {name: total / DCOR_COLUMNS for name, total in best.items()}
    return Section(
        f"Distance-correlation filter, one column of {DCOR_ROWS:,} rows",
        [
            Row.versus('dcor, its fastest method ("mergesort")', best["ours"], best["mergesort"], DCOR_BAR),
            Row.versus("dcor, its default method", best["ours"], best["auto"], DCOR_BAR, judged=False),
        ],
        [
            f"{DCOR_COLUMNS} columns. Ours gives statistic, p-value and distance correlation, theirs the correlation; "
            "dcor's covariance alone takes as long. The values agree to 1e-6."
        ],
    )


# --- 4: drfsc


def run_python(python: str | Path, *arguments: str, **environment: str) -> str:
    """Standard output of a fresh Python process on one thread."""
    command = [str(python), *arguments]
    env = {**os.environ, **ONE_THREAD, **environment}
    return subprocess.run(command, env=env, check=True, capture_output=True, text=True).stdout


def drfsc_python() -> Path | None:
    """The Python of an environment that can import drfsc, made from PyPI where it is missing; None if that fails."""
    python = DRFSC_FOLDER / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    works = ("-c", "import drfsc.drfsc")
    for needs in ((), *DRFSC_NEEDS):
        try:
            if needs:
                venv.create(DRFSC_FOLDER, with_pip=True, clear=True)
                run_python(python, "-m", "pip", "install", "--retries", "2", "--only-binary", ":all:", *needs)
                run_python(python, "-m", "pip", "install", "--no-deps", "drfsc==0.0.7")
            run_python(python, *works)
            return python
        except (OSError, subprocess.CalledProcessError) as error:
            sys.stderr.write(f"{getattr(error, 'stderr', '') or error}\n" if needs else "making .venv-drfsc ...\n")
    return None


def search_section() -> Section:
    """One search of ours against one fit of drfsc."""
    title = "One search on WDBC against one fit of drfsc 0.0.7"
    python = drfsc_python()
    if python is None:
        reason = "drfsc 0.0.7 could not be installed from PyPI (pip's message is on stderr when this page is made)"
        return Section(title, [], [f"NOT MEASURED: {reason}. Bar: at least {DRFSC_BAR} times faster."])
    X, y = load_breast_cancer(return_X_y=True)
    X_fit, X_test, y_fit, y_test = train_test_split(X, y, test_size=0.1, stratify=y, random_state=0)
    split = train_test_split(X_fit, y_fit, test_size=0.2, stratify=y_fit, random_state=0)
    rows = dict(zip(("X_train", "X_val", "y_train", "y_val"), split, strict=True))
    ways = {
        "one": {"n_restarts": 1, "n_jobs": 1},
        "one, two threads": {"n_restarts": 1, "n_jobs": 2},
        "ten": {"n_jobs": 1},
    }
    runs: dict[str, list[dict[str, float]]] = {way: [] for way in (*ways, "defaults", "scaled")}
    RFSCClassifier(basis="polynomial", n_restarts=1, random_state=0, n_jobs=1).fit(X_fit, y_fit)  # compiles
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows.npz")
        np.savez(path, **rows, X_test=X_test, y_test=y_test)
        for seed in SEEDS:
            for way, settings in ways.items():
                runs[way].append(fit_ours(X_fit, y_fit, X_test, y_test, random_state=seed, **settings))
            theirs = json.loads(run_python(python, str(HERE / "drfsc_fit.py"), str(path), str(seed)))
            for way, result in theirs.items():
                runs[way].append(result)
    return compare_searches(title, runs, y_fit.size, y_test.size)


def fit_ours(
    X_fit: np.ndarray, y_fit: np.ndarray, X_test: np.ndarray, y_test: np.ndarray, **settings: int
) -> dict[str, float]:
    """A fit among polynomials, as drfsc searches: seconds of `fit` and accuracy on the test rows."""
    clock, processor = time.perf_counter(), time.process_time()
    model = RFSCClassifier(basis="polynomial", **settings).fit(X_fit, y_fit)
    clock, processor = time.perf_counter() - clock, time.process_time() - processor
    return {"clock": clock, "processor": processor, "accuracy": model.score(X_test, y_test)}


def compare_searches(title: str, runs: dict[str, list[dict[str, float]]], n_fit: int, n_test: int) -> Section:
    """Means over the seeds; the bar is on the time to a model at least as accurate."""
    mean = {
        way: {name: float(np.mean([r[name] for r in results])) for name in results[0]} for way, results in runs.items()
    }
    rows = []
    for theirs, label in (("defaults", "drfsc, its defaults"), ("scaled", "drfsc, given scaled terms")):
        for ours, kind, what in (
            ("one", "processor", "one search, processor time"),
            ("one, two threads", "clock", "one search on two threads, wall time"),
            ("ten", "processor", "ten restarts, processor time"),
        ):
            judged = ours == "one, two threads" and theirs == "defaults"
            less_accurate = mean[ours]["accuracy"] < mean[theirs]["accuracy"]
            name = f"{label}; ours: {what}{', LESS ACCURATE' if less_accurate else ''}"
            rows.append(Row.versus(name, mean[ours][kind], mean[theirs][kind], DRFSC_BAR, judged=judged))
    spread = {way: ", ".join(f"{r['clock']:.2f}" for r in results) for way, results in runs.items()}
    right = {way: f"{m['accuracy']:.3f}" for way, m in mean.items()}
    return Section(
        title,
        rows,
        [
            f'Means over the seeds {", ".join(map(str, SEEDS))}, taken in turns: `RFSCClassifier(basis="polynomial", '
            "random_state=seed).fit`, compiled before, against one `DRFSC(polynomial=2).fit`, which is one search too "
            f"and uses one core. Wall seconds by seed: one search {spread['one']}; on two threads "
            f"{spread['one, two threads']}; ten restarts {spread['ten']}; drfsc {spread['defaults']}; drfsc with "
            f"scaled terms {spread['scaled']}.",
            f"Both get the same {n_fit} rows; drfsc asks for a validation part and gets a fifth of them.",
            f"Accuracy on the same {n_test} held-out rows, mean over the seeds: one search {right['one']}, ten "
            f"restarts {right['ten']}; drfsc {right['defaults']}, because its defaults scale training, validation and "
            f"test rows each by their own range; {right['scaled']} when it is given terms scaled by the range of the "
            f"training rows. One row is worth {1 / n_test:.3f}.",
            "The bar is judged on its defaults and wall time on two cores; the other verdicts stand in brackets.",
        ],
    )


# --- 5: start-up

IMPORT_CODE = """
import sys, time
start = time.perf_counter()
import rfsc
print(time.perf_counter() - start, "numba" in sys.modules)
"""

FIRST_FIT_CODE = """
import sys, time
from sklearn.datasets import load_breast_cancer
from rfsc import RFSCClassifier
X, y = load_breast_cancer(return_X_y=True)
clock, processor = time.perf_counter(), time.process_time()
RFSCClassifier(basis=sys.argv[1], random_state=0, n_jobs=1).fit(X, y)
print(time.perf_counter() - clock, time.process_time() - processor)
"""


def startup_section() -> Section:
    """Import, and the first fit with and without compiled kernels."""
    imports = [run_python(sys.executable, "-c", IMPORT_CODE).split() for _ in range(IMPORT_RUNS)]
    loads_numba = any(numba == "True" for _, numba in imports)
    first, second = first_fits("auto")
    paper = first_fits("polynomial")
    return Section(
        "Start-up",
        [
            Row(
                f"`import rfsc`, best of {IMPORT_RUNS} fresh processes",
                min(float(s) for s, _ in imports),
                bar=IMPORT_BAR,
            ),
            Row("first default fit of a fresh process, empty kernel cache", first[0], bar=FIRST_FIT_BAR),
            Row("first default fit of the next process, kernels cached", second[0]),
            Row('the same with basis="polynomial", empty kernel cache', paper[0][0], bar=FIRST_FIT_BAR),
            Row('with basis="polynomial", kernels cached', paper[1][0]),
        ],
        [
            f"Importing rfsc {'LOADS numba' if loads_numba else 'does not load numba'}"
            f"{'' if loads_numba else ', so it compiles nothing'}.",
            "Wall time. The fits are on WDBC, all ten restarts. Processor time of the default: "
            f"{first[1]:.1f} s and {second[1]:.1f} s, so compiling takes {first[1] - second[1]:.1f} s of it.",
        ],
    )


def first_fits(basis: str) -> list[list[float]]:
    """(wall, processor) seconds of the first fit of two fresh processes, the first with an empty kernel cache."""
    with tempfile.TemporaryDirectory() as folder:
        runs = [run_python(sys.executable, "-c", FIRST_FIT_CODE, basis, NUMBA_CACHE_DIR=folder) for _ in range(2)]
    return [[float(seconds) for seconds in run.split()] for run in runs]


def machine() -> str:
    """Processor, versions and load; no names, no paths."""
    packages = ("rfsc", "numpy", "scipy", "scikit-learn", "numba", "statsmodels", "dcor")
    versions = ", ".join(f"{p} {version_of(p)}" for p in packages)
    load = f", load {os.getloadavg()[0]:.1f} at the start" if hasattr(os, "getloadavg") else ""
    return (
        f"{processor()}, {os.cpu_count()} cores{load}; {platform.system()}, "
        f"Python {platform.python_version()}, {versions}."
    )


def version_of(package: str) -> str:
    """Installed version; rfsc may run from its sources."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return str(__import__(package).__version__)


def page(machine_line: str, sections: list[Section], seconds: float) -> str:
    """All tables, and how many bars they meet."""
    judged = [row for s in sections for row in s.rows if row.bar is not None and row.judged]
    missed = [row.name for row in judged if row.verdict == "MISSED"]
    summary = f"**{len(judged) - len(missed)} of {len(judged)} bars met.**"
    if missed:
        summary += " MISSED: " + "; ".join(missed) + "."
    head = (
        "Every ratio is measured side by side in one run (`benchmarks/speed.py`), each competitor by its best turn, in "
        f"processor time unless wall time is named. The run took {seconds:.0f} s on {machine_line}\n\n{summary}"
    )
    return "\n\n".join([head, *(s.markdown() for s in sections)])


def main() -> None:
    """Measure, print, and write where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path, metavar="PAGE", help="page whose section 'speed' is replaced")
    arguments = parser.parse_args()
    start, machine_line = time.perf_counter(), machine()
    with threadpool_limits(1):
        data = Wdbc.load()
        sections = [
            fits_section([time_fits(data, size) for size in SIZES]),
            peak_section(),
            scaling_section(),
            experiment_section(),
            search_section(),
            filter_section(),
            startup_section(),
        ]
    text = page(machine_line, sections, time.perf_counter() - start)
    print(text)
    if arguments.write:
        replace_section(arguments.write, "speed", text)


if __name__ == "__main__":
    main()
