"""How often does a certificate name anything false? Simulated tables of which the truth is known, by cell.

A table has twelve features in four blocks of three, equally correlated within a block. Noise: classes that have nothing
to do with the features. Signal: the log-odds are 4 x0 + 6 x3*x6 - 4 x9 on features between 0 and 1, one of each block;
the other members of the blocks are proxies, and products of the features have passengers. A false cluster has no
feature of the truth, a false feature is not in it, and a false term reads features that are not together in a term of
the truth (three classes: a feature that is not in it). Straight: the log-odds are 4 x0 - 4 x9, and every term but these
two is false, such as a bend or a cut point of x0.

Rows of groups: the features of a subject are alike from row to row. Noise: all rows of a subject are of one class.
Signal: the log-odds of its rows share a random part with a standard deviation of two.

Finished tables are kept in `tables.csv` of the output folder, those with as many pairs as a user takes in
`tables_50_pairs.csv`, so an interrupted run continues.
"""

from __future__ import annotations

import csv
import re
import time
import warnings
import zlib
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from joblib import Parallel, delayed
from scipy.optimize import brentq
from scipy.special import expit, ndtr

from rfsc import RFSCClassifier
from rfsc.certify import Certificate, certify

from .arrays import FloatArray, IntArray
from .figures import draw_error_rates
from .tables import markdown_table

N_BLOCKS, BLOCK_SIZE = 4, 3
TRUTH = (frozenset({0}), frozenset({3, 6}), frozenset({9}))
TRUE_FEATURES = frozenset().union(*TRUTH)
STRAIGHT = ("x0", "x9")
LEVEL = 0.05
ALIKE = 0.8  # correlation of a feature between rows of a subject
SUBJECT_SPREAD = 2.0  # standard deviation of what their log-odds share
N_PAIRS = 10  # fewer than a user takes: twenty fits for each of thousands of tables
USUAL_PAIRS = 50  # of a user; of one cell only
CENTRAL, AROUND = 500, 100  # tables of a cell
LEVELS = ("cluster", "feature", "term")
PICTURE = "error_rates.png"
Record = TypeVar("Record", bound=Any)


@dataclass(frozen=True, slots=True)
class Setting:
    """A cell of the study."""

    kind: str  # "noise", "signal" or "straight"
    n_rows: int = 200
    rho: float = 0.7
    basis: str = "polynomial"
    events: float = 0.5
    n_classes: int = 2
    columns: str = "even"  # or "skewed", "integer"
    per_group: int = 1  # rows of a subject

    @property
    def n_tables(self) -> int:
        """How many tables the study has of it."""
        is_central = self.kind != "straight" and self.n_rows in (200, 500) and self.basis in ("polynomial", "auto")
        return CENTRAL if is_central and self == Setting(self.kind, self.n_rows, basis=self.basis) else AROUND


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the certificate said of one table: false and true findings on each level."""

    kind: str
    n_rows: int
    rho: float
    basis: str
    events: float
    n_classes: int
    columns: str
    per_group: int
    number: int
    false_clusters: int
    false_features: int
    false_terms: int
    true_clusters: int
    true_features: int
    true_terms: int
    p_signal: float
    seconds: float

    @property
    def setting(self) -> Setting:
        """Its cell."""
        return Setting(**{field.name: getattr(self, field.name) for field in fields(Setting)})


def settings() -> list[Setting]:
    """All cells, the central ones first."""
    around: list[dict[str, Any]] = [
        {"n_rows": 100},
        {"n_rows": 1000},
        {"rho": 0.0},
        {"rho": 0.95},
        {"n_rows": 500, "events": 0.1},
        {"n_rows": 500, "n_classes": 3},
        {"basis": "centred"},
        {"basis": "hinge"},
        {"columns": "skewed"},
        {"columns": "integer"},
        {"n_rows": 500, "per_group": 4},
    ]
    central = [{"n_rows": n, "basis": basis} for basis in ("polynomial", "auto") for n in (200, 500)]
    straight = [Setting("straight", 500, basis=basis) for basis in ("polynomial", "auto", "hinge", "step", "rule")]
    return [Setting(kind, **own) for own in [*central, *around] for kind in ("noise", "signal")] + straight


def draw(setting: Setting, number: int) -> tuple[FloatArray, IntArray, IntArray | None]:
    """Table `number` of a cell, and the groups of its rows; the same one every time."""
    key = repr((setting.kind, setting.n_rows, setting.rho, setting.events, setting.n_classes, setting.columns))
    rng = np.random.default_rng([zlib.crc32(key.encode()), number])
    groups = None if setting.per_group == 1 else np.arange(setting.n_rows) // setting.per_group

    def normal(size: int) -> FloatArray:  # for every row; rows of a group are alike
        rows = rng.normal(size=(setting.n_rows, N_BLOCKS, size))
        if groups is None:
            return rows
        return np.sqrt(ALIKE) * rng.normal(size=(groups[-1] + 1, N_BLOCKS, size))[groups] + np.sqrt(1.0 - ALIKE) * rows

    common, own = normal(1), normal(BLOCK_SIZE)
    z = (np.sqrt(setting.rho) * common + np.sqrt(1.0 - setting.rho) * own).reshape(setting.n_rows, -1)
    X = {"even": ndtr, "skewed": lambda z: np.exp(z) / 4.0, "integer": lambda z: np.floor(5.0 * ndtr(z)) / 4.0}
    x = np.asarray(X[setting.columns](z), dtype=np.float64)
    if setting.kind == "noise":
        share = [1.0 - setting.events, setting.events] if setting.n_classes == 2 else [1.0 / 3.0] * 3
        y = rng.choice(setting.n_classes, size=setting.n_rows, p=share)
        return x, y if groups is None else y[groups], groups
    if setting.n_classes == 2:
        product = 0.0 if setting.kind == "straight" else 6.0 * x[:, 3] * x[:, 6]
        f = 4.0 * x[:, 0] + product - 4.0 * x[:, 9]
        f += 0.0 if groups is None else SUBJECT_SPREAD * rng.normal(size=groups[-1] + 1)[groups]
        constant = brentq(lambda c: np.mean(expit(f + c)) - setting.events, -50.0, 50.0)
        return x, (rng.random(setting.n_rows) < expit(f + constant)).astype(np.int64), groups
    f = np.column_stack([4.0 * x[:, 0], 6.0 * x[:, 3] * x[:, 6], 4.0 * x[:, 9]])
    f -= f.mean(axis=0)
    return x, np.argmax(f + rng.gumbel(size=f.shape), axis=1), groups


def run_table(setting: Setting, number: int, n_pairs: int = N_PAIRS) -> Outcome:
    """The certificate of one table."""
    X, y, groups = draw(setting, number)
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimator = RFSCClassifier(basis=setting.basis)
        found = certify(estimator, X, y, n_pairs=n_pairs, level=LEVEL, groups=groups, random_state=number, n_jobs=1)
    seconds = round(time.perf_counter() - started, 2)
    false = [false_units(found, setting, level) for level in LEVELS]
    named = [len(getattr(found, f"{level}s").named()) for level in LEVELS]
    true = [n - wrong for n, wrong in zip(named, false, strict=True)]
    return Outcome(*asdict(setting).values(), number, *false, *true, float(f"{found.p_signal:.4g}"), seconds)


def false_units(found: Certificate, setting: Setting, level: str) -> int:
    """Supported units that have nothing to do with the classes."""
    table = getattr(found, f"{level}s")
    read = [frozenset(int(j) for j in re.findall(r"x(\d+)", name)) for name in table.named()]
    if setting.kind == "straight" and level == "term":
        return sum(name not in STRAIGHT for name in table.named())
    true = {"noise": frozenset(), "signal": TRUE_FEATURES, "straight": frozenset({0, 9})}[setting.kind]
    if level == "term" and true and setting.n_classes == 2:
        return sum(not any(own <= together for together in TRUTH) for own in read)
    return sum(not own & true if level == "cluster" else not own <= true for own in read)


def run_study(folder: Path, *, n_jobs: int, most: int | None = None, cells: Sequence[Setting] = ()) -> list[Outcome]:
    """Run the tables that are missing, at most so many of each cell, in turns over the cells."""
    path = folder / "tables.csv"
    known = read_records(path, Outcome)
    have = {(one.setting, one.number) for one in known}
    wanted = [(s, k) for k in range(CENTRAL) for s in cells or settings() if k < min(s.n_tables, most or s.n_tables)]
    known += run_missing([one for one in wanted if one not in have], run_table, path, n_jobs)
    return [one for one in known if one.setting in set(cells or settings())]


def run_usual(folder: Path, *, n_jobs: int, most: int | None = None) -> list[Outcome]:
    """One cell with as many pairs as a user takes; the tables are the first ones of that cell in the study."""
    path, setting = folder / f"tables_{USUAL_PAIRS}_pairs.csv", Setting("signal")
    known = read_records(path, Outcome)
    missing = sorted(set(range(min(most or AROUND, AROUND))) - {one.number for one in known})
    return known + run_missing([(setting, number, USUAL_PAIRS) for number in missing], run_table, path, n_jobs)


def run_missing(tasks: Sequence[Any], run: Callable[..., Record], path: Path, n_jobs: int) -> list[Record]:
    """Run the tasks; the outcome of each is a line of the file before the next is waited for."""
    from tqdm import tqdm

    path.parent.mkdir(parents=True, exist_ok=True)
    work = Parallel(n_jobs, return_as="generator_unordered")(delayed(run)(*task) for task in tasks)
    found = []
    for outcome in tqdm(work, total=len(tasks), disable=not tasks, mininterval=10.0):
        found.append(outcome)
        is_new = not path.exists()
        with path.open("a", newline="") as file:
            writer = csv.writer(file)
            if is_new:
                writer.writerow([field.name for field in fields(outcome)])
            writer.writerow(asdict(outcome).values())
    return found


def read_records(path: Path, kind: type[Record]) -> list[Record]:
    """What is finished; a line that an interruption cut short is ignored."""
    if not path.exists():
        return []
    types = {field.name: {"str": str, "int": int, "float": float}[str(field.type)] for field in fields(kind)}
    rows = [row for row in csv.DictReader(path.read_text().splitlines()) if None not in row.values()]
    return [kind(**{name: types[name](value) for name, value in row.items()}) for row in rows]


def section(outcomes: Sequence[Outcome], folder: Path, link: str = ".", usual: Sequence[Outcome] = ()) -> str:
    """A row for each cell, whether the error rate is kept everywhere, and a picture of it in the folder.

    `usual` are the outcomes with as many pairs as a user takes.
    """
    rows, missed, n_complete = [], [], 0
    rates: dict[str, list[float]] = {}
    limits = []
    cells = [(describe(one), one.n_tables, [own for own in outcomes if own.setting == one]) for one in settings()]
    usual_name = f"{describe(Setting('signal'))}, {USUAL_PAIRS} pairs"
    for name, n_tables, own in [*cells, (usual_name, AROUND, list(usual))]:
        if not own:
            continue
        n = len(own)
        limits.append(LEVEL + 2.0 * np.sqrt(LEVEL * (1.0 - LEVEL) / n))
        rates[name] = [float(np.mean([getattr(one, f"false_{level}s") > 0 for one in own])) for level in LEVELS]
        is_kept, is_complete = max(rates[name]) <= limits[-1], n >= n_tables
        n_complete += is_complete
        missed += [] if is_kept else [name]
        true = [np.mean([getattr(one, f"true_{level}s") for one in own]) for level in LEVELS]
        found = [f"{value:.1f}" for value in true] if own[0].kind != "noise" else ["", "", ""]
        signal = np.mean([one.p_signal <= LEVEL for one in own])
        rows.append([name, str(n), *(f"{rate:.3f}" for rate in rates[name]), f"{limits[-1]:.3f}"])
        verdict = "**NO**" if not is_kept else "yes" if is_complete else "too few tables"
        rows[-1] += [verdict, *found, f"{signal:.2f}"]
    head = ["cell", "tables", "any false cluster", "any false feature", "any false term", "allowed", "kept"]
    head += ["true clusters", "true features", "true terms", "a signal at all"]
    n_cells = len(cells) + bool(usual)
    about = f"{len(outcomes) + len(usual):,} tables; {n_complete} of {n_cells} cells are complete."
    if missed:
        kept = f"**Not kept** in: {'; '.join(missed)}."
    elif n_complete == n_cells:
        kept = "The error rate is kept in every cell."
    else:
        kept = "**Not finished**: so far no cell is above what is allowed."
    draw_error_rates(rates, limits, LEVELS, folder / PICTURE)
    image = f"![Share of tables with any false unit, by cell]({link}/{PICTURE})"
    return "\n\n".join([f"{kept} {about}", markdown_table(head, rows), image])


def describe(setting: Setting) -> str:
    """A cell in words: what differs from the first one."""
    usual = Setting(setting.kind)
    words = [f"{setting.kind}, {setting.n_rows} rows, {setting.basis}"]
    if setting.rho != usual.rho:
        words.append(f"rho {setting.rho:g}")
    if setting.events != usual.events:
        words.append(f"{setting.events:.0%} events")
    if setting.n_classes != usual.n_classes:
        words.append(f"{setting.n_classes} classes")
    if setting.columns != usual.columns:
        words.append(f"{setting.columns} features")
    if setting.per_group != usual.per_group:
        words.append(f"groups of {setting.per_group} rows")
    return ", ".join(words)
