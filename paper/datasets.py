"""The paper's six data sets.

Iris, Wine and WDBC come with scikit-learn. Bupa, Ionosphere and Sonar are read from the folder named by the environment
variable RFSC_DATA if it is set, and otherwise fetched from OpenML into scikit-learn's usual cache. Shape, class counts
and content are checked, so that two people who load a set have the same numbers.
"""

from __future__ import annotations

import hashlib
import os
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import sklearn.datasets

from .arrays import FloatArray, IntArray

CHECKSUM_DECIMALS = 5  # no file holds more; rounding makes the checksum independent of how a number was written


class DataSet(NamedTuple):
    """Rows, and classes numbered from 0."""

    X: FloatArray
    y: IntArray
    feature_names: tuple[str, ...]
    target_names: tuple[str, ...]
    source: str


@dataclass(frozen=True, slots=True)
class Source:
    """A set that scikit-learn does not ship: its number and class column at OpenML, and how to recognise it."""

    openml: int
    target: str
    shape: tuple[int, int]
    classes: dict[str, int]  # first character of each label, and the number of its samples
    checksum: str


SHIPPED = {"Iris": "load_iris", "WDBC": "load_breast_cancer", "Wine": "load_wine"}
DOWNLOADED = {
    # the class is the field 'selector', as in the paper and in KEEL; its donors made it to split the data, and it is
    # no diagnosis (McDermott and Forsyth, Pattern Recognition Letters 73, 2016)
    "Bupa": Source(8, "selector", (345, 6), {"1": 145, "2": 200}, "ac07c44494d73271"),
    "Ionosphere": Source(59, "class", (351, 34), {"b": 126, "g": 225}, "58cdf914c28f7567"),
    "Sonar": Source(40, "Class", (208, 60), {"M": 111, "R": 97}, "2f06fba8f364b796"),
}


def load(name: str) -> DataSet:
    """One of the six sets by its name in the paper."""
    if name in SHIPPED:
        found = getattr(sklearn.datasets, SHIPPED[name])()
        names = tuple(str(feature) for feature in found.feature_names)
        labels = tuple(str(label) for label in found.target_names)
        X, y = np.asarray(found.data, dtype=np.float64), np.asarray(found.target, dtype=np.int64)
        return DataSet(X, y, names, labels, f"scikit-learn, {SHIPPED[name]}")
    folder = data_folder()
    return _from_openml(name) if folder is None else _from_file(name, folder / f"{name.lower()}.csv")


def data_folder() -> Path | None:
    """The folder named by RFSC_DATA; None if the variable is not set."""
    name = os.environ.get("RFSC_DATA", "")
    return Path(name) if name else None


def checksum(data: FloatArray, code: IntArray) -> str:
    """Fingerprint of a table with its classes; the order of the rows and the way numbers were written do not matter."""
    rows = np.column_stack([np.rint(data * 10**CHECKSUM_DECIMALS).astype(np.int64), code])
    ordered = np.ascontiguousarray(rows[np.lexsort(rows.T)], dtype="<i8")
    return hashlib.sha256(ordered.tobytes()).hexdigest()[:16]


def table_hash(data: FloatArray, code: IntArray) -> str:
    """Fingerprint of a table with its rows in their order, on which the folds depend."""
    return hashlib.sha256(data.tobytes() + code.tobytes()).hexdigest()[:8]


def _from_file(name: str, path: Path) -> DataSet:
    if not path.is_file():
        raise FileNotFoundError(_how_to_get(name, f"{path.name} is not in the folder that RFSC_DATA names"))
    try:
        head, *rows = np.loadtxt(path, dtype=str, delimiter=",", comments=None)
        cells = np.array(rows)
        data = cells[:, :-1].astype(np.float64)
    except ValueError:  # NumPy quotes the cell
        msg = f"{path.name}: expected comma-separated numbers under a header, with the class last. Download it again."
        raise ValueError(msg) from None
    return _checked(name, data, cells[:, -1], head[:-1].tolist(), f"file {path.name}")


def _from_openml(name: str) -> DataSet:
    source = DOWNLOADED[name]
    try:
        with warnings.catch_warnings():
            # OpenML marks Bupa's selector as a column to ignore; the paper and KEEL use it as the class
            warnings.filterwarnings("ignore", message="target_column='selector' has flag is_ignore")
            found = sklearn.datasets.fetch_openml(
                data_id=source.openml, target_column=source.target, as_frame=False, parser="liac-arff", n_retries=1
            )
    except Exception as error:  # whatever the network does, the user needs the way around it
        reason = f"OpenML could not be read ({type(error).__name__}) and RFSC_DATA is not set"
        raise OSError(_how_to_get(name, reason)) from error
    return _checked(name, found.data, found.target, found.feature_names, f"OpenML, data set {source.openml}")


def _how_to_get(name: str, reason: str) -> str:
    source = DOWNLOADED[name]
    n_samples, n_features = source.shape
    return (
        f"{name} is not available: {reason}. Download the data set from the UCI Machine Learning Repository or "
        f"from https://www.openml.org/d/{source.openml}, save it as {name.lower()}.csv ({n_samples} rows of "
        f"{n_features} features with a header line, the class in the last column) in a folder of your choice, and set "
        "the environment variable RFSC_DATA to that folder."
    )


def _checked(name: str, data: Any, labels: Any, feature_names: list[str], where: str) -> DataSet:
    """The set, or an error that says in which way it is not the one that the paper used."""
    source = DOWNLOADED[name]
    data = np.asarray(data, dtype=np.float64)
    known, code = np.unique([str(label).strip()[:1] for label in labels], return_inverse=True)
    counts = dict(zip(known.tolist(), np.bincount(code).tolist(), strict=True))
    problem = ""
    if data.shape != source.shape:
        problem = f"{source.shape[0]} rows and {source.shape[1]} features were expected, got {data.shape}"
    elif counts != source.classes:
        problem = f"the classes should count {list(source.classes.values())}, got {list(counts.values())}"
    elif checksum(data, code) != source.checksum:
        problem = "shape and classes are right, but some cells differ from the published data"
    if problem:
        msg = f"{name} from {where} is not the set that the paper used: {problem}. Download it again."
        raise ValueError(msg)
    return DataSet(data, code.astype(np.int64), tuple(map(str, feature_names)), tuple(map(str, known)), where)
