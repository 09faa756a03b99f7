"""What a certificate says of the paper's six sets."""

from __future__ import annotations

import warnings
from pathlib import Path

import pandas as pd

from rfsc import RFSCClassifier
from rfsc.certify import Certificate, certify

from .datasets import load
from .printed import SETS
from .tables import markdown_table

N_PAIRS = 15
MOST_NAMED = 4  # units of a cell; the others are counted
OFTEN = 0.5  # share of the halves that had too few rows for a test, from which a feature counts as not tested


def certificate_of(data: str, folder: Path, n_jobs: int = -1) -> Certificate:
    """The certificate of the default on a set; kept in the folder."""
    path = folder / f"{data.lower()}.json"
    if path.exists():
        return Certificate.load(path)
    X, y, names = load(data)[:3]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = certify(
            RFSCClassifier(), pd.DataFrame(X, columns=names), y, n_pairs=N_PAIRS, random_state=0, n_jobs=n_jobs
        )
    found.save(path)
    return found


def section(folder: Path, *, n_jobs: int) -> str:
    """A row for each set."""
    rows = []
    for data in SETS:
        found = certificate_of(data, folder, n_jobs)
        stability = "" if found.stability.index is None else f"{found.stability.index:.2f}"
        too_few = found.features.too_few
        n_untested = 0 if too_few is None else int((too_few >= OFTEN).sum())
        units = [_named(table.named()) for table in (found.clusters, found.features, found.terms)]
        rows.append([data, str(found.settings.n_rows), f"{found.score.auc:.3f}", stability, *units])
        rows[-1].append(f"{n_untested} of {len(found.features.unit)}")
    head = ["set", "rows", "AUC of half fits", "agreement", "supported clusters", "supported features"]
    return markdown_table([*head, "supported terms", "features hardly tested"], rows)


def _named(units: tuple[str, ...]) -> str:
    """The first units, and how many more there are."""
    shown = [unit.replace(" | ", " / ") for unit in units[:MOST_NAMED]]
    more = [f"and {len(units) - MOST_NAMED} more"] if len(units) > MOST_NAMED else []
    return ", ".join([*shown, *more]) or "none"
