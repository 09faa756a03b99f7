"""The paper's six data sets as scikit-learn Bunches.

Iris, Wine and WDBC come with scikit-learn. Bupa, Ionosphere and Sonar are read from the folder named by the environment
variable RFSC_DATA where that is set, and else fetched from OpenML into scikit-learn's usual cache. Whatever the source,
shape, class counts and content are checked, so that two people who load a set have the same numbers.
"""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from rfsc._utils.arrays import FloatArray, IntArray

from .readers import read_table

DIGITS = 5  # no file holds more decimals; rounding makes the checksum blind to how a number was written


@dataclass(frozen=True, slots=True)
class Source:
    """Where a set that scikit-learn does not ship comes from, and how to know it again."""

    name: str  # name of the set, and in lower case of its file
    openml: int  # its number at OpenML
    target: str  # name of its class column at OpenML
    shape: tuple[int, int]  # samples and features
    classes: dict[str, int]  # first character of each label, and how many samples bear it
    checksum: str  # beginning of the SHA-256 of its content; see `checksum`
    about: str  # one paragraph for the reader


BUPA = Source(
    name="Bupa",
    openml=8,
    target="selector",
    shape=(345, 6),
    classes={"1": 145, "2": 200},
    checksum="ac07c44494d73271",
    about=(
        "BUPA liver disorders: five blood tests and the number of drinks per day of 345 men. The class is the field "
        "'selector', as in the paper and in KEEL. Its donors made that field to split the data in two; it is no "
        "diagnosis (McDermott and Forsyth, Pattern Recognition Letters 73, 2016). A benchmark, not medicine."
    ),
)
IONOSPHERE = Source(
    name="Ionosphere",
    openml=59,
    target="class",
    shape=(351, 34),
    classes={"b": 126, "g": 225},
    checksum="58cdf914c28f7567",
    about=(
        "Radar returns from the ionosphere: 17 pulses with two parts each, good (g) or bad (b). The second feature is "
        "constant."
    ),
)
SONAR = Source(
    name="Sonar",
    openml=40,
    target="Class",
    shape=(208, 60),
    classes={"M": 111, "R": 97},
    checksum="2f06fba8f364b796",
    about="Sonar echoes of a metal cylinder (M) or a rock (R): energy in 60 frequency bands.",
)


def load_bupa(*, return_X_y: bool = False) -> Any:
    """BUPA liver disorders: 345 samples, 6 features, 2 classes."""
    return _answer(_load(BUPA), return_X_y)


def load_ionosphere(*, return_X_y: bool = False) -> Any:
    """Radar returns from the ionosphere: 351 samples, 34 features (one constant), 2 classes."""
    return _answer(_load(IONOSPHERE), return_X_y)


def load_sonar(*, return_X_y: bool = False) -> Any:
    """Sonar echoes, mines against rocks: 208 samples, 60 features, 2 classes."""
    return _answer(_load(SONAR), return_X_y)


def load_iris(*, return_X_y: bool = False) -> Any:
    """Fisher's iris flowers: 150 samples, 4 features, 3 classes."""
    return _answer(_shipped("load_iris"), return_X_y)


def load_wdbc(*, return_X_y: bool = False) -> Any:
    """Wisconsin diagnostic breast cancer: 569 samples, 30 features, 2 classes."""
    return _answer(_shipped("load_breast_cancer"), return_X_y)


def load_wine(*, return_X_y: bool = False) -> Any:
    """Chemical analysis of wines from three growers: 178 samples, 13 features, 3 classes."""
    return _answer(_shipped("load_wine"), return_X_y)


LOADERS: dict[str, Callable[..., Any]] = {
    "Bupa": load_bupa,
    "Ionosphere": load_ionosphere,
    "Iris": load_iris,
    "Sonar": load_sonar,
    "WDBC": load_wdbc,
    "Wine": load_wine,
}


def data_folder() -> Path | None:
    """The folder named by RFSC_DATA; None where the variable is not set."""
    name = os.environ.get("RFSC_DATA", "")
    return Path(name) if name else None


def checksum(data: FloatArray, code: IntArray) -> str:
    """Fingerprint of a table with its classes; the order of the rows and the way numbers were written do not matter."""
    rows = np.column_stack([np.rint(data * 10**DIGITS).astype(np.int64), code])
    ordered = np.ascontiguousarray(rows[np.lexsort(rows.T)], dtype="<i8")
    return hashlib.sha256(ordered.tobytes()).hexdigest()[:16]


def table_hash(data: FloatArray, code: IntArray) -> str:
    """Fingerprint of a table as it stands, rows in their order: folds depend on it."""
    return hashlib.sha256(data.tobytes() + code.tobytes()).hexdigest()[:8]


def _answer(bunch: Bunch, return_X_y: bool) -> Any:
    return (bunch.data, bunch.target) if return_X_y else bunch


def _shipped(loader: str) -> Bunch:
    """A set of scikit-learn's own, with our field names added."""
    import sklearn.datasets

    found = getattr(sklearn.datasets, loader)()
    names = [str(name) for name in found.feature_names]
    return _bunch(found.data, found.target, names, found.target_names, found.DESCR, f"scikit-learn, {loader}")


def _bunch(data: FloatArray, target: Any, names: list[str], target_names: Any, about: str, source: str) -> Bunch:
    """The fields of scikit-learn's loaders, and in plain words the same again: names, description, source."""
    return Bunch(
        data=np.asarray(data, dtype=np.float64),
        target=np.asarray(target, dtype=np.int64),
        feature_names=names,
        target_names=np.asarray(target_names),
        DESCR=about,
        names=names,
        description=about,
        source=source,
    )


def _load(source: Source) -> Bunch:
    """From the folder RFSC_DATA where it is set, else from OpenML; checked either way."""
    folder = data_folder()
    if folder is not None:
        path = folder / f"{source.name.lower()}.csv"
        if not path.is_file():
            raise FileNotFoundError(_how_to_get(source, f"{path.name} is not in the folder that RFSC_DATA names"))
        table = read_table(path)
        return _checked(source, table.data, table.target, list(table.feature_names), f"file {path.name}")
    return _from_openml(source)


def _from_openml(source: Source) -> Bunch:
    from sklearn.datasets import fetch_openml

    try:
        with warnings.catch_warnings():
            # OpenML marks Bupa's selector as a column to ignore; the paper and KEEL use it as the class
            warnings.filterwarnings("ignore", message="target_column='selector' has flag is_ignore")
            found = fetch_openml(
                data_id=source.openml, target_column=source.target, as_frame=False, parser="liac-arff", n_retries=1
            )
    except Exception as error:  # whatever the network does, the user needs the way around it
        reason = f"OpenML could not be read ({type(error).__name__}) and RFSC_DATA is not set"
        raise OSError(_how_to_get(source, reason)) from error
    names = [str(name) for name in found.feature_names]
    return _checked(source, found.data, found.target, names, f"OpenML, data set {source.openml}")


def _how_to_get(source: Source, reason: str) -> str:
    n_samples, n_features = source.shape
    return (
        f"{source.name} is not available: {reason}. Download the data set from the UCI Machine Learning Repository or "
        f"from https://www.openml.org/d/{source.openml}, save it as {source.name.lower()}.csv ({n_samples} rows of "
        f"{n_features} features with a header line, the class in the last column) in a folder of your choice, and set "
        "the environment variable RFSC_DATA to that folder."
    )


def _checked(source: Source, data: Any, labels: Any, names: list[str], where: str) -> Bunch:
    """A Bunch of what was read, or an error that says in which way it is not the set that the paper used."""
    data = np.asarray(data, dtype=np.float64)
    initials = np.array([str(label).strip()[:1] for label in labels])
    known, code = np.unique(initials, return_inverse=True)
    counts = dict(zip(known.tolist(), np.bincount(code).tolist(), strict=True))
    problem = ""
    if data.shape != source.shape:
        problem = f"{source.shape[0]} rows and {source.shape[1]} features were expected, got {data.shape}"
    elif counts != source.classes:
        problem = f"the classes should count {list(source.classes.values())}, got {list(counts.values())}"
    elif checksum(data, code) != source.checksum:
        problem = "shape and classes are right, but some cells differ from the published data"
    if problem:
        msg = f"{source.name} from {where} is not the set that the paper used: {problem}. Download it again."
        raise ValueError(msg)
    return _bunch(data, code, names, known, source.about, where)
