"""KEEL's .dat files of numbers, and its ready-made folds."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from rfsc._tables.headed_file import Header, read_header, read_rows
from rfsc._tables.text_files import AnyPath, StrArray, numbered_lines, text_of
from rfsc._utils.arrays import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class KeelTable:
    """A KEEL file."""

    relation: str  # name of the data set
    data: FloatArray  # features
    target: StrArray  # labels, as text
    feature_names: tuple[str, ...]  # names of the features, in the order of the columns
    target_name: str  # name of the output
    target_names: tuple[str, ...]  # labels in the order of the header, by which KEEL resolves ties
    # smallest and largest value of each feature by the header, which KEEL takes from the whole data set
    ranges: FloatArray

    def scaled(self) -> FloatArray:
        """Features mapped to [0, 1] by the header's ranges; 0 where a range is empty."""
        low, high = self.ranges.T
        return np.asarray(np.divide(self.data - low, high - low, out=np.zeros_like(self.data), where=high > low))


def read_keel(path: AnyPath) -> KeelTable:
    """Read a KEEL .dat file with numeric features and one nominal output."""
    table = _parse_keel(Path(path))
    return _with_ranges(table, table.data)


def read_keel_folds(folder: AnyPath, name: str) -> list[tuple[KeelTable, KeelTable]]:
    """Read KEEL's ready-made partitions `name-K-1tra.dat`, `name-K-1tst.dat`, ... of a data set."""
    folder = Path(folder, name) if Path(folder, name).is_dir() else Path(folder)
    n_folds = _count_keel_folds(folder, name)
    folds = []
    for i in range(1, n_folds + 1):
        train_path, test_path = (folder / f"{name}-{n_folds}-{i}{part}.dat" for part in ("tra", "tst"))
        train, test = _parse_keel(train_path), _parse_keel(test_path)
        if (train.feature_names, train.target_names) != (test.feature_names, test.target_names):
            msg = (
                f"{train_path.name} and {test_path.name} must have the same attributes and classes, but their headers "
                "differ. Download the partitions again."
            )
            raise ValueError(msg)
        both = np.vstack([train.data, test.data])
        folds.append((_with_ranges(train, both), _with_ranges(test, both)))
    _check_partition(name, folds)
    return folds


def _check_partition(name: str, folds: list[tuple[KeelTable, KeelTable]]) -> None:
    """Every row must be tested once, and be trained on in all other folds."""

    def rows(*tables: KeelTable) -> list[tuple[float | str, ...]]:
        return sorted(
            (*row, label) for t in tables for row, label in zip(t.data.tolist(), t.target.tolist(), strict=True)
        )

    tested = rows(*(test for _, test in folds))
    for i, (train, test) in enumerate(folds, start=1):
        if rows(train, test) != tested:
            msg = (
                f"The test files of {name} must together hold the rows of every fold, but fold {i} has others. "
                "Download the partitions again."
            )
            raise ValueError(msg)


def _roles(header: Header, file: str) -> tuple[list[str], str]:
    """Names of the features and of the class."""
    outputs = header.outputs or header.order[-1:]
    unknown = [name for name in [*header.inputs, *outputs] if name not in header.order]
    if unknown:
        msg = f"{file}: @inputs or @outputs name {unknown[0]!r}, which no @attribute line declares. Add it."
        raise ValueError(msg)
    if len(outputs) != 1 or outputs[0] not in header.labels:
        msg = f"{file}: expected one nominal output {{CLASS, CLASS}}, got another kind. Choose the class as output."
        raise ValueError(msg)
    features = [name for name in header.order if name in (header.inputs or header.order) and name != outputs[0]]
    nominal = [name for name in features if name in header.labels]
    if nominal:
        msg = f"{file}: attribute {nominal[0]!r} is nominal, but features must be numbers. Encode or remove it."
        raise ValueError(msg)
    if not features:
        msg = f"{file}: expected at least one numeric attribute beside the class, got none. Declare it."
        raise ValueError(msg)
    return features, outputs[0]


def _parse_keel(path: Path) -> KeelTable:
    """The file, with NaN for ranges that the header does not give."""
    lines = numbered_lines(text_of(path))
    header = read_header(path, lines)
    features, output = _roles(header, path.name)
    columns = read_rows(path, lines, header, [*features, output])
    return KeelTable(
        relation=header.relation,
        data=np.column_stack([np.array(columns[name], dtype=np.float64) for name in features]),
        target=np.array(columns[output]),
        feature_names=tuple(features),
        target_name=output,
        target_names=header.labels[output],
        ranges=np.array([header.ranges[name] for name in features]),
    )


def _with_ranges(table: KeelTable, data: FloatArray) -> KeelTable:
    """The table, its unknown ranges taken from `data`."""
    own = np.column_stack([data.min(axis=0), data.max(axis=0)])
    return replace(table, ranges=np.where(np.isnan(table.ranges), own, table.ranges))


def _count_keel_folds(folder: Path, name: str) -> int:
    """K of the files `name-K-itra.dat`."""
    pattern = re.compile(re.escape(name) + r"-(\d+)-\d+t(?:ra|st)\.dat")
    files = [path.name for path in folder.iterdir()] if folder.is_dir() else []
    counts = {int(match[1]) for match in map(pattern.fullmatch, files) if match}
    if not counts:
        msg = (
            f"Expected files like {name}-10-1tra.dat in {folder}, found none. Download the partitions from KEEL's "
            "data set repository and unpack them there."
        )
        raise FileNotFoundError(msg)
    if len(counts) > 1:
        msg = f"Expected one partition of {name} in {folder}, got {sorted(counts)} folds. Keep one of them there."
        raise ValueError(msg)
    (n_folds,) = counts
    wanted = [f"{name}-{n_folds}-{i}{part}.dat" for i in range(1, n_folds + 1) for part in ("tra", "tst")]
    lost = [file for file in wanted if file not in files]
    if lost:
        msg = f"Expected {len(wanted)} files in {folder}, but {lost[0]} is not there. Download the partitions again."
        raise FileNotFoundError(msg)
    return n_folds
