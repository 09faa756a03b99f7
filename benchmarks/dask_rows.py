"""Rows on several workers: the bars of 20,000,000 rows, the scaling from one worker to two, and a model of the cost.

`--write PAGE` replaces the section `rows` of the page and draws the plot beside it. Every fit runs in a process of its
own, with a cluster of local worker processes of one thread each. Finished ones are kept in a file, and an interrupted
run goes on where it stopped.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
import warnings
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from markdown import replace_section, table

from long_data import make_long
from report import processor

HERE = Path(__file__).resolve().parent
KEPT = HERE.parent / "docs" / "scale" / "dask_rows.json"
PLOT = KEPT.with_name("workers.png")
N_FEATURES = 20
MAX_SAMPLES = 5000
LARGE, MIDDLE = 20_000_000, 2_000_000
TIME_BAR, MEMORY_BAR, SCALING_BAR = 600.0, 3e9, 1.7
BLOCKS = {LARGE: 32, MIDDLE: 16}
NETWORK = 1.25e9  # bytes a second: 10 Gbit/s, assumed
BLOCKS_PER_WORKER = 4  # of the clusters that are computed, not measured


@dataclass(frozen=True, slots=True)
class Task:
    """One fit on a cluster."""

    n_rows: int
    n_workers: int
    basis: str = "polynomial"
    max_samples: int | None = None
    n_restarts: int = 1
    max_iter: int = 300
    attempt: int = 0

    @property
    def key(self) -> str:
        """Under which its outcome is kept."""
        return json.dumps(asdict(self))


BAR = Task(LARGE, 2, max_samples=MAX_SAMPLES, n_restarts=10)
PAIRS = [[Task(MIDDLE, n, max_iter=5, attempt=k) for n in (1, 2)] for k in range(3)]


def rows_of_block(block_info: Any = None) -> np.ndarray:
    """Features and class of one block; what it holds depends on its place alone."""
    first, last = block_info[None]["array-location"][0]
    X, y = make_long(last - first, N_FEATURES, seed=10_000 + first)
    return np.column_stack([X, y])


def dask_table(n_rows: int) -> tuple[Any, Any]:
    """Features and classes, made by the workers."""
    import dask.array as da

    chunks = ((n_rows // BLOCKS[n_rows],) * BLOCKS[n_rows], (N_FEATURES + 1,))
    both = da.map_blocks(rows_of_block, chunks=chunks, dtype=float, meta=np.empty((0, 0)))
    return both[:, :N_FEATURES], both[:, N_FEATURES].astype(int)


def peak_memory() -> int:
    """Most bytes that this process has had."""
    return int(re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text()).group(1)) * 1024


def nothing(_: Any) -> int:
    """What a task costs that does nothing."""
    return 0


def latency(client: Any, n_tasks: int) -> float:
    """Seconds of a pass that does nothing, the best of ten."""
    import dask

    def one() -> float:
        began = time.perf_counter()
        parts = [dask.delayed(nothing, pure=False)(i) for i in range(n_tasks)]
        client.compute(dask.delayed(sum)(parts)).result()
        return time.perf_counter() - began

    return min(one() for _ in range(10))


def spin() -> float:
    """Seconds of a fixed piece of work on some rows, by one thread."""
    from threadpoolctl import threadpool_limits

    X = np.random.default_rng(0).random((100_000, 2 * N_FEATURES))
    with threadpool_limits(1):
        began = time.perf_counter()
        for k in range(100):
            (X * X[:, [k % N_FEATURES]]).T @ X
        return time.perf_counter() - began


def own_ratio() -> float:
    """How much faster two processes do what one would, when they share nothing but the machine."""
    command = [sys.executable, __file__, "--spin"]

    def seconds(n_processes: int) -> float:
        running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(n_processes)]
        return max(float(process.communicate()[0]) for process in running)

    return 2.0 * seconds(1) / seconds(2)


def measure(task: Task) -> dict[str, Any]:
    """Fit once."""
    from distributed import Client, LocalCluster
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.metrics import log_loss

    from rfsc import RFSCClassifier
    from rfsc.blocks import Blocks

    warnings.simplefilter("ignore", ConvergenceWarning)
    ends: list[float] = []
    traffic: list[Any] = []
    close = Blocks.close
    Blocks.close = lambda self: (traffic.append(self.traffic), close(self))[1]
    with (
        LocalCluster(n_workers=task.n_workers, threads_per_worker=1, dashboard_address=":0", memory_limit=0) as cluster,
        Client(cluster) as client,
    ):
        spec = {"basis": task.basis, "max_samples": task.max_samples, "random_state": 0, "n_jobs": 1}
        X, y = dask_table(task.n_rows)
        small = dask_table(MIDDLE)
        RFSCClassifier(**spec, max_iter=1, n_restarts=1, engine="dask").fit(small[0][:2000], small[1][:2000])
        traffic.clear()
        passes = {n: latency(client, n) for n in (1, 64)}
        load, own = os.getloadavg()[0], time.process_time()
        theirs = sum(client.run(time.process_time).values())
        began = time.time()
        clf = RFSCClassifier(
            **spec, n_restarts=task.n_restarts, max_iter=task.max_iter, callbacks=lambda _: ends.append(time.time())
        ).fit(X, y)
        outcome = {
            "seconds": time.time() - began,
            "processor_here": time.process_time() - own,
            "processor_workers": sum(client.run(time.process_time).values()) - theirs,
            "peak_worker": max(client.run(peak_memory).values()),
            "peak_here": peak_memory(),
            "load": [load, os.getloadavg()[0]],
            "iterations": np.diff(ends).tolist(),
            "traffic": asdict(traffic[0]),
            "latency": passes,
        }
    unseen, truth = make_long(200_000, N_FEATURES, seed=1)
    model = clf.models_[0]
    outcome |= {"log_loss": log_loss(truth, clf.predict_proba(unseen)[:, 1]), "terms": list(model.names)}
    return outcome | ({"own_ratio": own_ratio()} if task.n_rows == MIDDLE and task.n_workers == 2 else {})


def measured(wanted: list[Task], kept: Path) -> dict[str, Any]:
    """Outcomes by key; what is not in the file yet is measured and put there."""
    outcomes = json.loads(kept.read_text()) if kept.exists() else {}
    for task in wanted:
        if task.key not in outcomes:
            command = [sys.executable, __file__, "--one", task.key]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
            outcomes[task.key] = json.loads(done.stdout.splitlines()[-1])
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_text(json.dumps(outcomes, indent=1, sort_keys=True) + "\n")
            print(task, outcomes[task.key], file=sys.stderr)
    return outcomes


def verdict(met: bool) -> str:
    """In the words of the other tables."""
    return "met" if met else "MISSED"


def ratio_of(pair: list[dict[str, Any]]) -> float:
    """Time of an iteration with one worker over that with two."""
    one, two = (sum(found["iterations"]) for found in pair)
    return one / two


def middle_pair(outcomes: dict[str, Any]) -> list[dict[str, Any]]:
    """The pair of runs whose ratio is the median of all."""
    pairs = sorted(([outcomes[task.key] for task in pair] for pair in PAIRS), key=ratio_of)
    return pairs[len(pairs) // 2]


def bars(outcomes: dict[str, Any]) -> str:
    """Time, memory and scaling beside their bars."""
    found, pair = outcomes[BAR.key], middle_pair(outcomes)
    ratio = ratio_of(pair)
    ratios = ", ".join(f"{ratio_of([outcomes[task.key] for task in own]):.2f}" for own in PAIRS)
    owns = ", ".join(f"{outcomes[two.key]['own_ratio']:.2f}" for _, two in PAIRS)
    load = "{:.1f} at the start, {:.1f} at the end".format(*found["load"])
    rows = [
        [
            f"{LARGE:,} rows, {BAR.n_restarts} restarts, `max_samples={MAX_SAMPLES}`, 2 workers (load {load})",
            f"{found['seconds']:.0f} s",
            f"≤ {TIME_BAR:.0f} s",
            verdict(found["seconds"] <= TIME_BAR),
        ],
        [
            "the same, most memory of a worker",
            f"{found['peak_worker'] / 1e9:.2f} GB",
            f"≤ {MEMORY_BAR / 1e9:.0f} GB",
            verdict(found["peak_worker"] <= MEMORY_BAR),
        ],
        ["the same, most memory of the process that searches", f"{found['peak_here'] / 1e9:.2f} GB", "", ""],
        [
            f"{MIDDLE:,} rows, all of them in every iteration: one worker's time over that of two, the median of "
            f"{ratios}",
            f"{ratio:.2f}",
            f"≥ {SCALING_BAR}",
            verdict(ratio >= SCALING_BAR),
        ],
        [
            f"the machine itself: two processes that share nothing, beside one; after each of these runs {owns}",
            f"{pair[1]['own_ratio']:.2f}",
            "",
            "",
        ],
    ]
    return table(["", "", "bar", ""], rows)


def by_workers(outcomes: dict[str, Any]) -> str:
    """Seconds of an iteration, and what went over the wire."""
    rows = []
    for n_workers, found in enumerate(middle_pair(outcomes), start=1):
        sent = found["traffic"]
        cpu = found["processor_workers"] / n_workers
        rows.append(
            [
                str(n_workers),
                f"{np.mean(found['iterations']):.2f}",
                f"{found['seconds']:.0f}",
                f"{cpu:.0f}",
                f"{found['processor_here']:.0f}",
                str(sent["passes"]),
                f"{sent['tasks'] / sent['passes']:.1f}",
                f"{sent['bytes_out'] / sent['passes'] / 1e3:.1f}",
                f"{sent['bytes_back'] / sent['passes'] / 1e3:.1f}",
                "{:.1f}, {:.1f}".format(*found["load"]),
            ]
        )
    head = [
        "workers",
        "s per iteration",
        "s in all",
        "processor s of each worker",
        "of the searching process",
        "passes",
        "messages per pass",
        "kB asked per pass",
        "kB answered per pass",
        "load before, after",
    ]
    return table(head, rows)


@dataclass(frozen=True, slots=True)
class Costs:
    """What an iteration over `MIDDLE` rows is made of, from the run with one worker."""

    rows: float  # seconds of a worker for all rows
    here: float  # seconds of the process that searches
    passes: float
    back: float  # bytes of the answer of one block
    out: float  # bytes of one request
    task: float  # seconds of the scheduler for each message
    fixed: float  # seconds of a pass whatever its size

    @classmethod
    def of(cls, outcomes: dict[str, Any]) -> Costs:
        """From what was measured."""
        found = middle_pair(outcomes)[0]
        sent, share = found["traffic"], np.sum(found["iterations"]) / found["seconds"]
        n = len(found["iterations"])
        few, many = (found["latency"][k] for k in ("1", "64"))
        return cls(
            rows=found["processor_workers"] * share / n,
            here=found["processor_here"] * share / n,
            passes=sent["passes"] * share / n,
            back=sent["bytes_back"] / sent["passes"] / BLOCKS[MIDDLE],
            out=sent["bytes_out"] / sent["passes"],
            task=(many - few) / 63,
            fixed=few,
        )

    def seconds(self, n_rows: float, n_workers: int) -> dict[str, float]:
        """Of one iteration, by what takes them."""
        answers = BLOCKS_PER_WORKER * n_workers * self.back
        return {
            "the rows": self.rows * n_rows / MIDDLE / n_workers,
            "the scheduler": self.passes * (self.fixed + n_workers * self.task),
            "the network": self.passes * (n_workers * self.out + answers) / NETWORK,
            "the searching process": self.here,
        }


def model_of_cost(outcomes: dict[str, Any]) -> str:
    """Ten, a hundred and a thousand workers."""
    costs, rows = Costs.of(outcomes), []
    for per_worker in (None, 1_000_000):
        for n_workers in (1, 2, 10, 100, 1000):
            n_rows = MIDDLE if per_worker is None else per_worker * n_workers
            parts = costs.seconds(n_rows, n_workers)
            worst = max(parts, key=lambda name: parts[name])
            cells = [f"{value:.3g}" for value in parts.values()]
            rows.append([f"{n_rows:,}", str(n_workers), *cells, f"{sum(parts.values()):.3g}", worst])
    head = ["rows", "workers", *(f"s for {name}" for name in parts), "s per iteration", "bottleneck"]
    return table(head, rows)


def draw(outcomes: dict[str, Any], path: Path) -> None:
    """Seconds of an iteration by workers: measured, and computed."""
    import matplotlib.pyplot as plt
    from matplotlib.ticker import LogLocator

    costs = Costs.of(outcomes)
    workers = np.unique(np.logspace(0, 3, 40).astype(int))
    figure, ax = plt.subplots(figsize=(6.5, 4), layout="constrained")
    for label, rows in ((f"{MIDDLE:,} rows", MIDDLE), (f"{LARGE:,} rows", LARGE), ("1,000,000 rows per worker", None)):
        total = [sum(costs.seconds(1e6 * n if rows is None else rows, n).values()) for n in workers]
        ax.loglog(workers, total, label=f"{label}, computed")
    means = [np.mean(found["iterations"]) for found in middle_pair(outcomes)]
    ax.loglog([1, 2], means, "ko", label=f"{MIDDLE:,} rows, measured")
    ax.set(xlabel="workers", ylabel="seconds per iteration of 100 models")
    ax.xaxis.set_major_formatter("{x:g}")
    ax.yaxis.set_major_formatter("{x:g}")
    ax.yaxis.set_minor_locator(LogLocator(subs=(2, 5)))
    ax.yaxis.set_minor_formatter("{x:g}")
    ax.grid(True, which="major", alpha=0.3)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, fontsize=8)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)


def notes(outcomes: dict[str, Any]) -> str:
    """What one must know to read the tables."""
    costs, found = Costs.of(outcomes), outcomes[BAR.key]
    sent = found["traffic"]
    return f"""\
- {processor()}, 2 cores, shared with other programs: the load stands beside each time. Every worker is a process
  with one thread. Rows are made by the workers (`benchmarks/dask_rows.py`), {N_FEATURES} features, degree 2.
- The model of {LARGE:,} rows has {len(found["terms"])} terms and a log-loss of {found["log_loss"]:.4f} on 200,000 rows
  that nothing else saw. It took {found["processor_workers"]:.0f} s of processor time of the two workers together and
  {found["processor_here"]:.0f} s of the process that searches. {sent["passes"]} passes over all rows asked
  {sent["bytes_out"] / 1e6:.1f} MB and were answered {sent["bytes_back"] / 1e6:.1f} MB, {sent["fetches"]} subsamples
  took {sent["bytes_fetched"] / 1e6:.0f} MB; all rows are {8 * LARGE * N_FEATURES / 1e9:.1f} GB.
- The computed times take from the run with one worker: {costs.rows:.1f} s of a worker for {MIDDLE:,} rows and an
  iteration, {costs.passes:.0f} passes per iteration, {costs.out / 1e3:.0f} kB asked of every worker and
  {costs.back / 1e3:.0f} kB answered for every block, {1e3 * costs.task:.1f} ms of the scheduler for a message and
  {1e3 * costs.fixed:.0f} ms for a pass; from the process that searches, {costs.here:.2f} s per iteration. Assumed:
  {BLOCKS_PER_WORKER} blocks per worker, a network of 10 Gbit/s into the searching process."""


def section(outcomes: dict[str, Any]) -> str:
    """All of it."""
    plot = f"![Seconds per iteration by workers]({PLOT.parent.name}/{PLOT.name})"
    return "\n\n".join([bars(outcomes), by_workers(outcomes), plot, model_of_cost(outcomes), notes(outcomes)])


def main() -> None:
    """Measure what is missing, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path, metavar="PAGE")
    parser.add_argument("--results", type=Path, default=KEPT)
    parser.add_argument("--only", choices=["large", "middle"])
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--spin", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.spin:
        print(spin())
        return
    if arguments.one:
        print(json.dumps(measure(Task(**json.loads(arguments.one)))))
        return
    middle = [task for pair in PAIRS for task in pair]
    wanted = {"large": [BAR], "middle": middle, None: [*middle, BAR]}[arguments.only]
    outcomes = measured(wanted, arguments.results)
    if arguments.write:
        draw(outcomes, arguments.write.parent / PLOT.parent.name / PLOT.name)
        replace_section(arguments.write, "rows", section(outcomes))


if __name__ == "__main__":
    main()
