"""How fast is it, beside its peers? Prints a Markdown page; `--write PATH` keeps it.

Every ratio is measured side by side in one run: the competitors take turns in rounds on one core, and each is judged by
its best turn. Ratios are of processor time, which is wall time on an idle machine and does not count what other
programs took.
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
from dataclasses import dataclass, field
from pathlib import Path

import dcor
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from statsmodels.discrete.discrete_model import Logit
from statsmodels.tools.sm_exceptions import PerfectSeparationError
from threadpoolctl import threadpool_limits

from rfsc import RFSCClassifier
from rfsc.engines import FitOptions, Problem, Score, Supports, make_engine
from rfsc.prepare.distance_correlation import independence_test
from rfsc.prepare.scaling import Scaling
from rfsc.terms import MonomialSpace

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
BARS = {"scikit-learn": (60, 35, 15), "statsmodels": (30, 30, 14), "numpy engine": (2.5, 2.5, 2.5)}
N_SUPPORTS = 200
ROUNDS = 5
TURN = 0.25  # processor seconds, at least: the same for everyone, so that no one gets more chances at a lucky moment
GEMM_SIZE = 1024
DCOR_ROWS, DCOR_COLUMNS, DCOR_BAR = 10_000, 20, 3
SEEDS = (0, 1, 2, 3)
DRFSC_BAR = 5
IMPORT_RUNS, IMPORT_BAR, FIRST_FIT_BAR = 5, 1.5, 15


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a table: a ratio that must reach its bar or, where there is no peer, a time that must not pass it."""

    name: str
    ours: float
    theirs: float | None = None
    ratio: float | None = None
    bar: float | None = None
    unit: str = "s"
    judged: bool = True

    @classmethod
    def versus(cls, name: str, ours: float, theirs: float, bar: float | None, *, judged: bool = True) -> Row:
        """How many times faster than a peer."""
        return cls(name, ours, theirs, theirs / ours, bar, judged=judged)

    @property
    def verdict(self) -> str:
        """Met or MISSED; in brackets where the bar is not judged on this row."""
        if self.bar is None:
            return ""
        met = self.ours <= self.bar if self.ratio is None else self.ratio >= self.bar
        word = "met" if met else "MISSED"
        return word if self.judged else f"({word.lower()})"

    def markdown(self) -> str:
        """The line."""
        limit = "" if self.bar is None else f"{'≤' if self.ratio is None else '≥'} {self.bar:g}"
        ratio = "" if self.ratio is None else f"{self.ratio:.3g}"
        theirs = "" if self.theirs is None else quantity(self.theirs, self.unit)
        cells = (self.name, quantity(self.ours, self.unit), theirs, ratio, limit, self.verdict)
        return f"| {' | '.join(cells)} |"


@dataclass(frozen=True, slots=True)
class Section:
    """A table and what one must know to read it."""

    title: str
    rows: list[Row]
    notes: list[str] = field(default_factory=list)

    def markdown(self) -> str:
        """Heading, table, notes."""
        head = ["| | ours | theirs | ratio | bar | |", "|---|---:|---:|---:|---:|---|"]
        table = [*head, *(row.markdown() for row in self.rows)] if self.rows else []
        notes = [f"- {note}" for note in self.notes]
        return "\n\n".join(part for part in (f"## {self.title}", "\n".join(table), "\n".join(notes)) if part)


def quantity(value: float, unit: str) -> str:
    """A number with its unit; seconds take the prefix that suits them."""
    if unit != "s":
        return f"{value:.3g} {unit}"
    for factor, name in ((1.0, "s"), (1e3, "ms")):
        if value * factor >= 1.0:
            return f"{value * factor:.3g} {name}"
    return f"{value * 1e6:.3g} µs"


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
        score = Score[self.defaults["score"].upper()]
        return FitOptions(score, self.defaults["ridge"], self.defaults["significance"])

    def one_fit(self) -> FitOptions:
        """The same fit and its t-values, but a threshold of zero drops nothing, and nothing is left out."""
        return FitOptions(Score.ACCURACY, self.defaults["ridge"], significance=0.5)

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
    flops: float  # per support, of the Newton steps of "one fit"
    peak: float  # flops per second of a matrix product
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
    square = np.random.default_rng(0).random((GEMM_SIZE, GEMM_SIZE))
    competitors: dict[str, Callable[[], object]] = {
        name: (lambda engine=engine: engine.evaluate(supports)) for name, engine in engines.items()
    }
    competitors["scikit-learn"] = lambda: fit_with_sklearn(scaled, data.label, 1.0 / data.defaults["ridge"])
    competitors["statsmodels"] = lambda: fit_with_statsmodels(raw, data.label)
    competitors["product"] = lambda: square @ square
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        best = best_of_rounds(competitors)
        failures = fit_with_statsmodels(raw, data.label)
    peak = 2.0 * GEMM_SIZE**3 / best.pop("product")
    seconds = {name: total / N_SUPPORTS for name, total in best.items()}
    return FitTimes(size, seconds, newton_flops(size, data.label.size, fits.n_newton.mean()), peak, failures)


def supports_of(supports: Supports) -> list[np.ndarray]:
    """The supports one by one."""
    return [supports[m] for m in range(len(supports))]


def newton_flops(m: int, n_rows: int, n_newton: float) -> float:
    """Additions and multiplications of Newton steps; `fits_section` states the formula."""
    return n_newton * (n_rows * m * (m + 6) + m**3 / 3)


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


def peak_section(times: list[FitTimes]) -> Section:
    """Share of the matrix-product peak of this core."""
    rows = []
    for t in times:
        rate = t.flops / t.seconds["numba, one fit"]
        name = f"Newton steps, {t.size} terms"
        rows.append(Row(name, rate / 1e9, t.peak / 1e9, rate / t.peak, unit="GFlop/s"))
    return Section(
        "Share of this core's matrix-product peak",
        rows,
        [
            f"Theirs: the product of two {GEMM_SIZE} x {GEMM_SIZE} matrices of doubles, one thread, measured in the "
            "same rounds.",
            'Ours: flops of the Newton steps over the whole time of "one fit with t-values". Per step '
            "rows * (m (m + 1) for the upper half of the Hessian + 2 m gradient + 2 m predictor + m weights) + "
            "m^3 / 3 for the factor; exponentials, logarithms, t-values, score and the gathering of columns take "
            "time and count as no work.",
        ],
    )


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
    """Ten restarts of ours against one fit of drfsc."""
    title = "Ten restarts on WDBC against one fit of drfsc 0.0.7"
    python = drfsc_python()
    if python is None:
        reason = "drfsc 0.0.7 could not be installed from PyPI (pip's message is on stderr when this page is made)"
        return Section(title, [], [f"NOT MEASURED: {reason}. Bar: at least {DRFSC_BAR} times faster."])
    X, y = load_breast_cancer(return_X_y=True)
    X_fit, X_test, y_fit, y_test = train_test_split(X, y, test_size=0.1, stratify=y, random_state=0)
    split = train_test_split(X_fit, y_fit, test_size=0.2, stratify=y_fit, random_state=0)
    rows = dict(zip(("X_train", "X_val", "y_train", "y_val"), split, strict=True))
    runs: dict[str, list[dict[str, float]]] = {"ours": [], "defaults": [], "scaled": []}
    RFSCClassifier(basis="polynomial", n_restarts=1, random_state=0, n_jobs=1).fit(X_fit, y_fit)  # compiles
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows.npz")
        np.savez(path, **rows, X_test=X_test, y_test=y_test)
        for seed in SEEDS:
            runs["ours"].append(fit_ours(X_fit, y_fit, X_test, y_test, seed))
            theirs = json.loads(run_python(python, str(HERE / "drfsc_fit.py"), str(path), str(seed)))
            for way, result in theirs.items():
                runs[way].append(result)
    return compare_searches(title, runs, y_fit.size, y_test.size)


def fit_ours(
    X_fit: np.ndarray, y_fit: np.ndarray, X_test: np.ndarray, y_test: np.ndarray, seed: int
) -> dict[str, float]:
    """Ten restarts among polynomials, as drfsc searches: seconds of `fit` and accuracy on the test rows."""
    clock, processor = time.perf_counter(), time.process_time()
    model = RFSCClassifier(basis="polynomial", random_state=seed, n_jobs=1).fit(X_fit, y_fit)
    clock, processor = time.perf_counter() - clock, time.process_time() - processor
    return {"clock": clock, "processor": processor, "accuracy": model.score(X_test, y_test)}


def compare_searches(title: str, runs: dict[str, list[dict[str, float]]], n_fit: int, n_test: int) -> Section:
    """Means over the seeds."""
    mean = {
        way: {name: float(np.mean([r[name] for r in results])) for name in results[0]} for way, results in runs.items()
    }
    rows = []
    for way, label in (("defaults", "drfsc, its defaults"), ("scaled", "drfsc, given scaled terms")):
        for kind, what in (("processor", "processor time"), ("clock", "wall time")):
            judged = way == "defaults" and kind == "processor"
            name = f"{label}, {what}"
            rows.append(Row.versus(name, mean["ours"][kind], mean[way][kind], DRFSC_BAR, judged=judged))
    spread = {way: ", ".join(f"{r['processor']:.1f}" for r in results) for way, results in runs.items()}
    right = {way: f"{m['accuracy']:.3f}" for way, m in mean.items()}
    return Section(
        title,
        rows,
        [
            f'Means over the seeds {", ".join(map(str, SEEDS))}, taken in turns: `RFSCClassifier(basis="polynomial", '
            "random_state=seed, n_jobs=1).fit`, compiled before, against one `DRFSC(polynomial=2).fit`. Processor "
            f"seconds by seed: ours {spread['ours']}; drfsc {spread['defaults']}; drfsc with scaled terms "
            f"{spread['scaled']}.",
            f"Both get the same {n_fit} rows; drfsc asks for a validation part and gets a fifth of them.",
            f"Accuracy on the same {n_test} held-out rows, mean over the seeds: ours {right['ours']}; drfsc "
            f"{right['defaults']}, because its defaults scale training, validation and test rows each by their own "
            f"range; {right['scaled']} when it is given terms scaled by the range of the training rows. "
            f"One row is worth {1 / n_test:.3f}.",
            "The bar is judged on its defaults and processor time; the other verdicts stand in brackets.",
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
    model = platform.processor()
    if Path("/proc/cpuinfo").exists():
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), model)
    packages = ("rfsc", "numpy", "scipy", "scikit-learn", "numba", "statsmodels", "dcor")
    versions = ", ".join(f"{p} {version_of(p)}" for p in packages)
    load = f", load {os.getloadavg()[0]:.1f} at the start" if hasattr(os, "getloadavg") else ""
    return (
        f"{model or platform.machine()}, {os.cpu_count()} cores{load}; {platform.system()}, "
        f"Python {platform.python_version()}, {versions}."
    )


def version_of(package: str) -> str:
    """Installed version; rfsc may run from its sources."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return str(__import__(package).__version__)


def page(machine_line: str, sections: list[Section], seconds: float) -> str:
    """The whole page."""
    judged = [row for s in sections for row in s.rows if row.bar is not None and row.judged]
    missed = [row.name for row in judged if row.verdict == "MISSED"]
    summary = f"{len(judged) - len(missed)} of {len(judged)} bars met."
    if missed:
        summary += " MISSED: " + "; ".join(missed) + "."
    head = (
        "# Benchmarks\n\n"
        "Made by `make bench` (`benchmarks/speed.py`): every ratio is measured side by side in one run on one core, "
        "each competitor by its best turn, in processor time. "
        f"The run took {seconds:.0f} s.\n\n{machine_line}\n\n{summary}"
    )
    return "\n\n".join([head, *(s.markdown() for s in sections)]) + "\n"


def main() -> None:
    """Measure, print, and write where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path, metavar="PATH", help="also write the page to this file")
    arguments = parser.parse_args()
    start, machine_line = time.perf_counter(), machine()
    with threadpool_limits(1):
        data = Wdbc.load()
        times = [time_fits(data, size) for size in SIZES]
        sections = [
            fits_section(times),
            peak_section(times),
            filter_section(),
            search_section(),
            startup_section(),
        ]
    text = page(machine_line, sections, time.perf_counter() - start)
    print(text)
    if arguments.write:
        arguments.write.parent.mkdir(parents=True, exist_ok=True)
        arguments.write.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
