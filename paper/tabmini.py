"""TabMini: 44 small binary data sets with published results (Knauer et al., arXiv 2409.01635; data from PMLB).

They are read from the folder `tabmini` in the folder named by the environment variable RFSC_DATA (one CSV file for each
set, the last column is the class), or else fetched by name with the package pmlb. They are for reporting only: no
setting is chosen on them.
"""

from __future__ import annotations

import csv
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import sklearn.datasets
from sklearn.model_selection import StratifiedKFold

from .arrays import FloatArray, IntArray
from .datasets import data_folder

_NAMES = """
    parity5 analcatdata_fraud analcatdata_aids analcatdata_bankruptcy analcatdata_japansolvent labor
    analcatdata_asbestos lupus postoperative_patient_data analcatdata_cyyoung9302 analcatdata_cyyoung8092
    analcatdata_creditscore appendicitis molecular_biology_promoters analcatdata_boxing1 mux6 analcatdata_boxing2
    hepatitis corral glass2 backache prnn_crabs sonar biomed prnn_synth analcatdata_lawsuit spect heart_statlog
    breast_cancer heart_h hungarian cleve heart_c haberman bupa spectf ionosphere colic horse_colic house_votes_84 vote
    saheart clean1 irish
"""
SMALL_SETS = tuple(_NAMES.split())
N_SMALL_FOLDS = 3
PUBLISHED_MEANS = {"TabPFN": 0.850, "AutoPrognosis": 0.854, "AutoGluon": 0.879}  # AUC over the 44 sets, one hour each


@lru_cache(maxsize=len(SMALL_SETS))
def load_small(name: str) -> tuple[FloatArray, IntArray]:
    """Features and classes (1 is the larger label) of one set."""
    folder = _folder()
    if folder is not None:
        table = np.loadtxt(folder / f"{name}.csv", delimiter=",", skiprows=1)
    elif find_spec("pmlb"):
        table = _from_pmlb(name)
    else:
        raise FileNotFoundError(_how_to_get(name, "the package pmlb is not installed"))
    classes, y = np.unique(table[:, -1], return_inverse=True)
    if len(classes) != 2 or not np.isfinite(table).all():
        msg = f"{name} is not the set of TabMini: two classes and no missing values were expected. Download it again."
        raise ValueError(msg)
    return np.ascontiguousarray(table[:, :-1]), y.astype(np.int64)


def small_folds(X: FloatArray, y: IntArray) -> list[tuple[IntArray, IntArray]]:
    """TabMini's three stratified folds, without shuffling."""
    return list(StratifiedKFold(N_SMALL_FOLDS).split(X, y))


def published_auc() -> dict[str, dict[str, float]]:
    """AUC of each published method by set; empty if the folder does not have them."""
    folder = _folder()
    if folder is None or not (folder / "published_auc.csv").is_file():
        return {}
    with (folder / "published_auc.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    first, *methods = rows[0]
    return {method: {row[first]: float(row[method]) for row in rows} for method in methods}


def _folder() -> Path | None:
    folder = data_folder()
    return folder / "tabmini" if folder is not None and (folder / "tabmini").is_dir() else None


def _from_pmlb(name: str) -> FloatArray:
    cache = Path(sklearn.datasets.get_data_home()) / "pmlb"
    try:
        frame = import_module("pmlb").fetch_data(name, local_cache_dir=str(cache))
    except Exception as error:  # whatever the network does, the user needs the way around it
        raise OSError(_how_to_get(name, f"pmlb could not fetch it ({type(error).__name__})")) from error
    features = [column for column in frame.columns if column != "target"]
    return np.asarray(frame[[*features, "target"]], dtype=np.float64)


def _how_to_get(name: str, reason: str) -> str:
    return (
        f"{name} of TabMini is not available: there is no folder tabmini in the one that RFSC_DATA names, and "
        f"{reason}. Put one CSV file for each set there (a header line, the class in the last "
        "column), or install pmlb and run again with a connection to the internet."
    )
