"""How fast is a search on a GPU? Prints a Markdown section; `--write PAGE` keeps it, `--raw PATH` the figures.

Run it on a machine with an NVIDIA GPU and PyTorch; ten restarts at a million rows take most of its five minutes.
`--reuse PATH` starts from figures that were kept and measures only what is missing there.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import platform
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from paper.tables import markdown_table as table
from paper.tables import replace_section

from .long_data import make_long

ROWS = 1_000_000
N_MODELS, N_STEPS = 100, 8
BARS = {16: 84.0, 32: 150.0}  # milliseconds at a million rows
LARGEST_DRAFT = 32  # terms at a million rows; with more the draft needs more memory than such a device has
SEARCH_BAR = 15.0  # seconds
CPU_ROWS = 20_000  # length of the table that a search on the CPU is compared on
CROSSOVER = (5_000, 20_000)
REPEATS = 3


def median_ms(work: Callable[[], object]) -> float:
    """Milliseconds between two events around the work; median of several runs after a first one."""
    import torch

    times = []
    for _ in range(REPEATS + 1):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        work()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end))
    return statistics.median(times[1:])


def peaks() -> dict[str, float]:
    """What the device can do: bytes read and written by a copy, operations of a large product of matrices."""
    import torch

    x = torch.randn(2**29, device="cuda", dtype=torch.float64)
    y = torch.empty_like(x)
    copy = median_ms(lambda: y.copy_(x))
    a = torch.randn(8192, 8192, device="cuda", dtype=torch.float64)
    product = median_ms(lambda: a @ a)
    return {"copy_tb_s": 2 * 8 * 2**29 / copy / 1e9, "matmul_tflop_s": 2 * 8192**3 / product / 1e9}


def draft(features: np.ndarray, target: np.ndarray, factors: np.ndarray) -> Callable[[], object]:
    """The plain way: gather all terms, then Newton steps of batched products of matrices."""
    import torch

    x, y = (torch.as_tensor(part, device="cuda") for part in (features, target))
    left, right = (torch.as_tensor(factors[..., d], dtype=torch.int64, device="cuda") for d in range(2))
    eye = torch.eye(factors.shape[1], device="cuda", dtype=torch.float64)

    def steps() -> object:
        terms = x[left] * x[right]
        coef = torch.zeros(factors.shape[:2], device="cuda", dtype=torch.float64)
        for _ in range(N_STEPS):
            predictor = torch.bmm(coef[:, None, :], terms)[:, 0]
            wrong = torch.sigmoid(-y * predictor)
            gradient = torch.bmm(terms, (y * wrong)[:, :, None])[:, :, 0] - coef
            weighted = terms * (wrong * (1 - wrong))[:, None, :]
            coef = coef + torch.linalg.solve(torch.bmm(weighted, terms.transpose(1, 2)) + eye, gradient)
        return coef

    return steps


def newton_steps(X: np.ndarray, y: np.ndarray) -> list[dict[str, Any]]:
    """Eight Newton steps of a hundred models, the plain way and by the fused kernels, side by side."""
    import torch

    from rfsc._engines import FitOptions, Problem, Supports
    from rfsc._engines.cuda_device import current_device
    from rfsc._engines.cuda_engine import ALL_ROWS, CudaEngine, CudaStack
    from rfsc._terms import MonomialSpace
    from rfsc._terms.scaling import Scaling

    found = []
    space, device, rng = MonomialSpace(np.arange(X.shape[1]), 2), current_device(), np.random.default_rng(0)
    for n_rows in (ROWS, 1000):
        scaled = Scaling.from_rows(X[:n_rows]).table(X[:n_rows])
        target = np.where(y[:n_rows] > 0, 1.0, -1.0)
        problem = Problem(space, scaled, target, np.ones(n_rows), FitOptions(), 64)
        for n_terms in (16, 32, 64):
            ids = np.stack([np.sort(rng.choice(space.n_terms, n_terms, replace=False)) for _ in range(N_MODELS)])
            engine = CudaEngine(problem, device)
            supports = Supports.from_lists(ids.tolist())
            engine.parts(supports)
            penalty, factors = engine.rows.variances(ids), engine.rows.factors(ids)
            stack = CudaStack(engine, factors, penalty, np.zeros(ids.shape))
            states = device.put(np.zeros((N_MODELS, 4), dtype=np.int32))

            def steps(stack: Any = stack, states: Any = states) -> None:
                for part in (stack._coef, stack._step, states):
                    part.zero_()
                for _ in range(N_STEPS):
                    stack._pass(np.arange(N_MODELS), states, ALL_ROWS)

            # terms of degree one have the row of ones as second factor: the draft gathers the same
            ones = np.concatenate([scaled, np.ones((1, n_rows))])
            fits = n_terms <= LARGEST_DRAFT or n_rows < ROWS
            row: dict[str, Any] = {"rows": n_rows, "terms": n_terms, "fused_ms": median_ms(steps)}
            row["draft_ms"] = median_ms(draft(ones, target, factors)) if fits else None
            row["population_ms"] = median_ms(partial(CudaEngine(problem, device).evaluate, supports))
            found.append(row)
            torch.cuda.empty_cache()
    return found


def search(X: np.ndarray, y: np.ndarray, engine: str, **settings: Any) -> dict[str, Any]:
    """One whole fit: its time, and the support that every restart found."""
    from rfsc import RFSCClassifier, SearchSettings

    start = time.perf_counter()
    uniform = SearchSettings(initial_rip="uniform")  # the processor does all screening
    fixed = {"basis": "polynomial", "search": uniform, "max_samples": None, "random_state": 0}
    clf = RFSCClassifier(engine=engine, **fixed, **settings).fit(X, y)
    return {
        "rows": len(X),
        "engine": clf.engine_,
        "settings": settings,
        "seconds": time.perf_counter() - start,
        "iterations": [search.n_iter for search in clf.searches_[0]],
        "supports": [search.model.ids.tolist() for search in clf.searches_[0]],
        "terms": list(clf.models_[0].names),
    }


def searches(X: np.ndarray, y: np.ndarray) -> list[dict[str, Any]]:
    """Whole fits on devices, and one on the CPU to compare supports with."""
    few, cores = slice(CPU_ROWS), len(os.sched_getaffinity(0))
    on_device = [search(X, y, "torch", n_restarts=n) for n in (1, 1, 10)]
    on_device.append(search(X[few], y[few], "torch", n_restarts=1))
    search(X[:500], y[:500], "numba", n_restarts=1)  # compiles the kernels, if they are not on the disk
    return [*on_device, search(X[few], y[few], "numba", n_restarts=1, n_jobs=cores)]


def one_fit(engine: str, n_rows: int) -> None:
    """Seconds from the import of rfsc to a fitted model, as in a script that does nothing else."""
    X, y = make_long(n_rows)
    start = time.perf_counter()
    search(X, y, engine, n_restarts=1, n_jobs=len(os.sched_getaffinity(0)))
    print(time.perf_counter() - start)


def crossover() -> list[dict[str, float]]:
    """Fresh processes on tables of growing length."""
    found = []
    for n_rows in CROSSOVER:
        row: dict[str, float] = {"rows": n_rows}
        for engine in ("numba", "torch"):
            command = [sys.executable, "-W", "ignore", "-m", "benchmarks.gpu", "--one-fit", engine, str(n_rows)]
            out = subprocess.run(command, capture_output=True, text=True, check=True)
            row[engine] = float(out.stdout)
        found.append(row)
    return found


def machine() -> dict[str, str]:
    """Where this runs."""
    import torch

    versions = {name: importlib.metadata.version(name) for name in ("torch", "numpy", "numba", "scikit-learn")}
    name, cores = torch.cuda.get_device_name(), len(os.sched_getaffinity(0))
    date = f"{datetime.now(UTC):%Y-%m-%d}"
    return {"device": name, "date": date, "cores": str(cores), "python": platform.python_version(), **versions}


def measure(raw: dict[str, Any], keep: Callable[[], None]) -> None:
    """Add the figures that are missing; they are kept as they come."""
    warnings.simplefilter("ignore")
    rows = cache(lambda: make_long(ROWS))
    # the searches first, before anything else has loaded PyTorch or compiled kernels
    parts = {
        "searches": lambda: searches(*rows()),
        "machine": machine,
        "peaks": peaks,
        "newton": lambda: newton_steps(*rows()),
        "crossover": crossover,
    }
    for name, part in parts.items():
        if name not in raw:
            raw[name] = part()
            keep()


def verdict(value: float, bar: float | None) -> str:
    """Whether a time stays below its bar."""
    return "" if bar is None else f"{'met' if value <= bar else 'MISSED'} (≤ {bar:g})"


def section(raw: dict[str, Any]) -> str:
    """The figures as text."""
    parts = [_introduction, _steps, _limit, _populations, _searches]
    parts += [_crossover] if "crossover" in raw else []
    return "\n\n".join(part(raw) for part in parts)


def _introduction(raw: dict[str, Any]) -> str:
    own = dict(raw["machine"])
    device, date, cores = (own.pop(name) for name in ("device", "date", "cores"))
    where = f"{device}, {date}, {cores} cores; " + ", ".join(f"{k} {v}" for k, v in own.items())
    note = f" {raw['note']}" if "note" in raw else ""
    return f"""{where}. Measured with `make bench-gpu`.{note}

{N_STEPS} Newton steps of {N_MODELS} random models on 30 features. *Draft*: plain batched PyTorch that gathers all terms
and multiplies them with `bmm`, measured in the same run. *Fused*: the kernels behind `engine="torch"`. *Limit*: steps x
models x rows x (t² + 4t) operations at the {raw["peaks"]["matmul_tflop_s"]:.1f} TFLOP/s that a large product of float64
matrices reaches here."""


def _steps(raw: dict[str, Any]) -> str:
    lines = []
    for row in raw["newton"]:
        n, t, ours, plain = row["rows"], row["terms"], row["fused_ms"], row["draft_ms"]
        limit = N_STEPS * N_MODELS * n * (t * t + 4 * t) / raw["peaks"]["matmul_tflop_s"] / 1e9
        bar = verdict(ours, BARS.get(t) if n == ROWS else None)
        ratio = [f"{plain:.1f}", f"{ours:.1f}", f"{plain / ours:.1f}"] if plain else ["", f"{ours:.1f}", ""]
        times = [*ratio, bar, f"{limit:.2g}"]
        lines.append([f"{n:,}", str(t), *times, f"{limit / ours:.0%}"])
    head = ["rows", "terms", "draft, ms", "fused, ms", "ratio", "bar, ms", "limit, ms", "of limit"]
    return table(head, lines)


def _limit(raw: dict[str, Any]) -> str:
    read, copy = N_STEPS * ROWS * 8 * 32 / 1e9, raw["peaks"]["copy_tb_s"]
    return f"""Device memory is no limit: a step reads features, target and weights of a million rows once,
{read:.1f} GB in {N_STEPS} steps or {read / copy:.1f} ms at the {copy:.1f} TB/s of a copy, and they stay in the cache
for all models."""


def _populations(raw: dict[str, Any]) -> str:
    lines = [[f"{row['rows']:,}", str(row["terms"]), f"{row['population_ms']:.1f}"] for row in raw["newton"]]
    return f"""A whole population of {N_MODELS} supports: fit, test, refit, left-out score. On long tables the first
steps see one row out of sixteen and only the last ones all rows.

{table(["rows", "terms", "ms"], lines)}"""


def _searches(raw: dict[str, Any]) -> str:
    lines = []
    for number, run in enumerate(raw["searches"]):
        settings, seconds = run["settings"], run["seconds"]
        bar = SEARCH_BAR if run["rows"] == ROWS and settings["n_restarts"] == 1 else None
        name = run["engine"] + (" (first)" if number == 0 else "")
        own = [f"{run['rows']:,}", name, str(settings["n_restarts"])]
        lines.append([*own, f"{seconds:.1f}", verdict(seconds, bar), str(sum(run["iterations"]))])
    short = [run["supports"] for run in raw["searches"] if run["rows"] == CPU_ROWS]
    with_cpu = "the same support" if all(found == short[0] for found in short) else "DIFFERENT supports"
    head = ["rows", "engine", "restarts", "seconds", "bar, s", "iterations"]
    return f"""Whole fits of `RFSCClassifier(basis="polynomial", max_samples=None)` with `initial_rip="uniform"`: 30
features, degree 2, all rows in every iteration. The first fit of a process also imports PyTorch, starts the device and
compiles the kernels.

{table(head, lines)}

On {CPU_ROWS:,} rows torch and numba find {with_cpu} from the same seed."""


def _crossover(raw: dict[str, Any]) -> str:
    from rfsc._engines import LONG_TABLE

    lines = [[f"{row['rows']:,}", f"{row['numba']:.1f}", f"{row['torch']:.1f}"] for row in raw["crossover"]]
    return f"""A search of one restart in a fresh process, from the import to the model. `engine="auto"` takes torch
from {LONG_TABLE:,} rows on if it finds a CUDA device.

{table(["rows", "numba, s", "torch, s"], lines)}"""


def main() -> None:
    """Measure, print, keep."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path, help="page whose section 'gpu' is replaced")
    parser.add_argument("--raw", type=Path, help="where to keep the figures, as JSON")
    parser.add_argument("--reuse", type=Path, help="take these figures, measure only what is missing")
    parser.add_argument("--without", nargs="+", default=[], help="parts of them to forget", metavar="PART")
    parser.add_argument("--as-is", action="store_true", help="measure nothing; leave out what is missing")
    parser.add_argument("--one-fit", nargs=2, metavar=("ENGINE", "ROWS"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one_fit:
        one_fit(options.one_fit[0], int(options.one_fit[1]))
        return
    found = json.loads(options.reuse.read_text()) if options.reuse else {}
    raw = {name: part for name, part in found.items() if name not in options.without}

    def keep() -> None:
        if options.raw:
            options.raw.write_text(json.dumps(raw, indent=1) + "\n")

    if not options.as_is:
        measure(raw, keep)
    text = section(raw)
    print(text)
    if options.write:
        replace_section(options.write, "gpu", text)


if __name__ == "__main__":
    main()
