"""Tables without a signal and with a weak one: whether RFSC answers with the constant, and whether it is ever worse.

A table has 200 to 1,000 training rows and 10 to 200 independent features in mixed units (`synthetic.independent`), each
number drawn evenly. Pure noise: 5 to 50 % events, drawn without a look at the features. Weak signal: the log-odds are
linear in three features with equal weights of random sign, 5 to 15 % events, and the weights are such that the AUC of
the truth is between 0.6 and 0.7, as it would be for normal log-odds and rare events.
"""

from __future__ import annotations

import time
import warnings
import zlib
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, ndtri

from rfsc import RFSCClassifier

from .arrays import FloatArray
from .cells import Cell, Task, finished_cells
from .datasets import table_hash
from .methods import DEFAULT, Method
from .protocols import Fold, probability_cell, shares
from .synthetic import independent
from .tables import markdown_table, verdict

N_TABLES = 100
N_TEST = 5000
EVENTS = {"pure noise": (0.05, 0.5), "weak signal": (0.05, 0.15)}  # lowest and highest share, by kind of table
N_USED = 3  # features with a weight
LEAST_CONSTANT, MOST_WORSE = 0.9, 0.02  # share of the tables: of noise with the constant; of weak signal with a loss
SAME = 1e-6  # log-losses that are closer are the same
METHOD = Method(name=DEFAULT, make=lambda _: RFSCClassifier(n_jobs=1), kind="rfsc")


class NoiseTable(NamedTuple):
    """Training and test rows, and the probabilities of the test rows by the truth."""

    fold: Fold
    truth: FloatArray


def draw_table(kind: str, number: int) -> NoiseTable:
    """Table `number` of a kind; the same one every time."""
    rng = np.random.default_rng([zlib.crc32(kind.encode()), number])
    n_rows, n_features = int(rng.integers(200, 1001)), int(rng.integers(10, 201))
    rate = rng.uniform(*EVENTS[kind])
    X, u = independent(rng, n_rows + N_TEST, n_features)
    weight = np.zeros(n_features)
    if kind == "weak signal":
        used = rng.choice(n_features, N_USED, replace=False)
        spread = np.sqrt(2.0) * ndtri(rng.uniform(0.6, 0.7))  # of the log-odds: AUC = Phi(spread / sqrt(2))
        weight[used] = rng.choice([-1.0, 1.0], N_USED) * spread / np.sqrt(N_USED)
    signal = u @ weight
    constant = brentq(lambda c: np.mean(expit(c + signal)) - rate, -20.0, 20.0)
    probability = expit(constant + signal)
    y = (rng.random(len(X)) < probability).astype(np.int64)
    fold = Fold(X[:n_rows], y[:n_rows], X[n_rows:], y[n_rows:])
    truth = probability[n_rows:]
    return NoiseTable(fold, np.column_stack([1.0 - truth, truth]))


def run_task(task: Task) -> list[Cell]:
    """RFSC on one table, beside the constant and the truth."""
    fold, truth = draw_table(task.data, task.seed)
    model = METHOD.estimator(task.data, task.folds, task.seed)
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(fold.X_train, fold.y_train)
    seconds = time.perf_counter() - started
    predicted = model.predict_proba(fold.X_test)
    return [
        probability_cell(task, "honest", fold, predicted, sum(m.size for m in model.models_), seconds=seconds),
        probability_cell(task, "constant", fold, shares(fold), 0),
        probability_cell(task, "truth", fold, truth, N_USED if task.data == "weak signal" else 0),
    ]


def noise_section(folder: Path, *, n_jobs: int, n_tables: int = N_TABLES) -> str:
    """Run what is missing; both kinds of tables and the bars."""
    tasks = []
    for kind in EVENTS:
        fold = draw_table(kind, 0).fold
        tasks += METHOD.tasks(kind, "noise", table_hash(fold.X_train, fold.y_train), [(k, 0) for k in range(n_tables)])
    cells = finished_cells(tasks, folder, run_task, lambda _: 5.0, n_jobs)
    rows, constants, worse = [], {}, {}
    for kind in EVENTS:
        own = {p: [c for c in cells if (c.task.data, c.protocol) == (kind, p)] for p in ("honest", "constant", "truth")}
        loss = {p: np.array([c.log_loss for c in each], dtype=np.float64) for p, each in own.items()}
        terms = [c.n_terms for c in own["honest"] if c.n_terms is not None]
        constants[kind] = terms.count(0.0)
        worse[kind] = int(np.sum(loss["honest"] > loss["constant"] + SAME))
        auc = np.mean([c.auc for c in own["truth"]])
        rows.append([kind, *map(str, (n_tables, constants[kind], worse[kind])), f"{np.mean(terms):.1f}"])
        rows[-1] += [*(f"{each.mean():.4f}" for each in loss.values()), f"{auc:.2f}"]
    head = ["tables", "number", "answer is the constant", "log-loss above the constant's", "terms"]
    head += ["log-loss", "of the constant", "of the truth", "AUC of the truth"]
    least, most = round(LEAST_CONSTANT * n_tables), round(MOST_WORSE * n_tables)
    noise, weak = (f"{n} of {n_tables}" for n in (constants["pure noise"], worse["weak signal"]))
    lines = [
        verdict(f"pure noise: the constant on >= {least} of {n_tables}", constants["pure noise"] >= least, noise),
        verdict(f"weak signal: log-loss above the constant's on <= {most}", worse["weak signal"] <= most, weak),
    ]
    return markdown_table(head, rows) + "\n\n" + "\n".join(lines)
