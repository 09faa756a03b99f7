"""Rows on several workers: 20,000,000 of them, searched on a sample in memory and refitted once over all chunks.

The fit runs in a process of its own, with local worker processes of one thread each that make the rows themselves.
`--write PAGE` replaces the section `rows` of the page; the outcome is kept, so remove the file to measure again.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from paper.tables import markdown_table, replace_section

from .long_data import make_long
from .measuring import ROOT, Outcomes, memory, verdict
from .report import machine_and_date

KEPT = ROOT / "docs" / "scale" / "dask_rows.json"
N_FEATURES = 20
TASK = {"n_rows": 20_000_000, "n_chunks": 32, "n_workers": 2, "n_restarts": 10}
SECONDS_BAR, WORKER_MEMORY_BAR = 600.0, 3e9


def rows_of_chunk(block_info: Any = None) -> np.ndarray:
    """Features and class of one chunk; they depend on its place alone."""
    first, last = block_info[None]["array-location"][0]
    X, y = make_long(last - first, N_FEATURES, seed=10_000 + first)
    return np.column_stack([X, y])


def dask_table(n_rows: int, n_chunks: int) -> tuple[Any, Any]:
    """Features and classes, made by the workers."""
    import dask.array as da

    chunks = ((n_rows // n_chunks,) * n_chunks, (N_FEATURES + 1,))
    both = da.map_blocks(rows_of_chunk, chunks=chunks, dtype=float, meta=np.empty((0, 0)))
    return both[:, :N_FEATURES], both[:, N_FEATURES].astype(int)


def peak_memory() -> int:
    """Most bytes that this process has had."""
    return memory("VmHWM")


def measure(task: dict[str, int]) -> dict[str, Any]:
    """Fit once on a local cluster."""
    from distributed import Client, LocalCluster
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.metrics import log_loss

    from rfsc import RFSCClassifier

    warnings.simplefilter("ignore", ConvergenceWarning)
    clf = RFSCClassifier(basis="polynomial", n_restarts=task["n_restarts"], random_state=0, n_jobs=1)
    clf.fit(*make_long(500, N_FEATURES))  # loads the kernels
    with (
        LocalCluster(task["n_workers"], threads_per_worker=1, dashboard_address=":0", memory_limit=0) as cluster,
        Client(cluster) as client,
    ):
        X, y = dask_table(task["n_rows"], task["n_chunks"])
        used, own, began = sum(client.run(time.process_time).values()), time.process_time(), time.perf_counter()
        clf.fit(X, y)
        outcome = {
            "seconds": time.perf_counter() - began,
            "processor_here": time.process_time() - own,
            "processor_workers": sum(client.run(time.process_time).values()) - used,
            "peak_worker": max(client.run(peak_memory).values()),
            "peak_here": peak_memory(),
        }
    unseen, truth = make_long(200_000, N_FEATURES, seed=1)
    loss = log_loss(truth, clf.predict_proba(unseen)[:, 1])
    return outcome | {"log_loss": loss, "n_terms": clf.models_[0].size}


def section(found: dict[str, Any]) -> str:
    """Time and memory beside their bars, and what one must know to read them."""
    n_rows, n_workers = TASK["n_rows"], TASK["n_workers"]
    rows = [
        [
            f"{n_rows:,} rows x {N_FEATURES} features, {TASK['n_restarts']} restarts, {n_workers} workers",
            f"{found['seconds']:.0f} s",
            f"≤ {SECONDS_BAR:.0f} s",
            verdict(found["seconds"] <= SECONDS_BAR),
        ],
        [
            "largest memory of a worker",
            f"{found['peak_worker'] / 1e9:.2f} GB",
            f"≤ {WORKER_MEMORY_BAR / 1e9:.0f} GB",
            verdict(found["peak_worker"] <= WORKER_MEMORY_BAR),
        ],
        ["largest memory of the process that searches", f"{found['peak_here'] / 1e9:.2f} GB", "", ""],
    ]
    notes = [
        f"{machine_and_date()}, load {found['load']:.1f} at the end: other programs lengthen the time. Every "
        "worker is a process with one thread and makes its rows itself (`benchmarks/dask_rows.py`), degree 2.",
        f"The model has {found['n_terms']} terms and a log-loss of {found['log_loss']:.4f} on 200,000 rows that "
        "nothing else saw.",
        f"Processor time: {found['processor_workers']:.0f} s of the workers together, {found['processor_here']:.0f} s "
        f"of the process that searches. All rows are {8 * n_rows * N_FEATURES / 1e9:.1f} GB.",
    ]
    return f"{markdown_table(['', '', 'bar', ''], rows)}\n\n" + "\n".join(f"- {note}" for note in notes)


def main() -> None:
    """Measure what is missing, print it, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path, metavar="PAGE")
    parser.add_argument("--results", type=Path, default=KEPT, help="file that keeps the outcome")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(json.loads(options.one))))
        return
    text = section(Outcomes("dask_rows", options.results).get(TASK))
    print(text)
    if options.write:
        replace_section(options.write, "rows", text)


if __name__ == "__main__":
    main()
