"""KEEL's .dat files and its published folds."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .arrays import FloatArray

N_FOLDS = 10
ATTRIBUTE = re.compile(
    r"@attribute\s+(?P<name>[^\s{\[]+)\s*(?:\{(?P<labels>.*)\}|(?:real|integer)\s*\[(?P<low>.*),(?P<high>.*)\])\s*$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, eq=False)
class KeelTable:
    """Numeric features and one nominal class, which is the last attribute."""

    data: FloatArray  # (n_samples, n_features)
    target: np.ndarray[Any, np.dtype[np.str_]]
    feature_names: tuple[str, ...]
    labels: tuple[str, ...]  # in the order of the header, by which KEEL resolves ties
    ranges: FloatArray  # (n_features, 2): the header's, which KEEL takes from the whole data set

    def scaled(self) -> FloatArray:
        """Features mapped to [0, 1] by the header's ranges; 0 if a range is empty."""
        low, high = self.ranges.T
        return np.asarray(np.divide(self.data - low, high - low, out=np.zeros_like(self.data), where=high > low))


def read_keel(path: Path) -> KeelTable:
    """Read a .dat file; whatever is wrong with it, the error names the file and shows no cell."""
    text = path.read_text(encoding="utf-8")
    head, mark, body = text.partition("@data")
    attributes = [ATTRIBUTE.match(line.strip()) for line in head.splitlines() if line.lower().startswith("@attribute")]
    try:
        if not mark or None in attributes:
            raise ValueError
        *features, output = (match for match in attributes if match is not None)
        labels = tuple(label.strip() for label in output["labels"].split(","))
        cells = np.array([[cell.strip() for cell in line.split(",")] for line in body.splitlines() if line.strip()])
        data, target = cells[:, :-1].astype(np.float64), cells[:, -1]
        ranges = np.array([[float(match["low"]), float(match["high"])] for match in features])
        if len(ranges) != data.shape[1] or not np.isfinite(data).all() or not np.isin(target, labels).all():
            raise ValueError
    except (ValueError, TypeError, AttributeError, IndexError):
        msg = (
            f"{path.name}: expected @attribute lines with a range or with labels, the class last, then @data and rows "
            "as long as the header, got another format. Download the file again."
        )
        raise ValueError(msg) from None
    return KeelTable(data, target, tuple(match["name"] for match in features), labels, ranges)


def read_keel_folds(folder: Path, name: str) -> list[tuple[KeelTable, KeelTable]]:
    """Training and test table of each of KEEL's ten folds, `name-10-1tra.dat`, `name-10-1tst.dat` and so on."""
    files = [[folder / f"{name}-{N_FOLDS}-{i}{part}.dat" for part in ("tra", "tst")] for i in range(1, N_FOLDS + 1)]
    missing = [path.name for pair in files for path in pair if not path.is_file()]
    if missing:
        msg = (
            f"Expected {2 * N_FOLDS} files in {folder}, but {missing[0]} is missing. Download the partitions from "
            "KEEL's data set repository and unpack them there."
        )
        raise FileNotFoundError(msg)
    folds = [(read_keel(train), read_keel(test)) for train, test in files]
    _check_partition(name, folds)
    return folds


def _check_partition(name: str, folds: list[tuple[KeelTable, KeelTable]]) -> None:
    """Every row must be tested once and be trained on in all other folds, and all headers must agree."""

    def rows(*tables: KeelTable) -> list[tuple[float | str, ...]]:
        return sorted(
            (*row, label) for t in tables for row, label in zip(t.data.tolist(), t.target.tolist(), strict=True)
        )

    tested = rows(*(test for _, test in folds))
    headers = {(table.feature_names, table.labels) for fold in folds for table in fold}
    if len(headers) > 1 or any(rows(train, test) != tested for train, test in folds):
        msg = (
            f"The test files of {name} must together hold the rows of every fold, under the same header, but they do "
            "not. Download the partitions again."
        )
        raise ValueError(msg)
