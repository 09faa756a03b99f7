"""Writes the stored models of this version, with rows and what the models say of them.

``python -m tests.data.make_models`` writes those that are not there; one that is there stays, whatever it holds, for
the tests are to show that files of the past can still be read. ``--force`` is for a format that is not released yet.
"""

from __future__ import annotations

import json
import sys
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.pipeline import make_pipeline

import rfsc
from rfsc import RFSCClassifier
from rfsc._tables.encode import encoder_of
from rfsc._tables.example_table import patients
from rfsc._tables.table_files import RawTable
from rfsc._tables.training_data import training_table
from rfsc.bases import Step
from rfsc.export import load, save

FOLDER = Path(__file__).parent / "models"
QUICK = {"n_restarts": 2, "max_iter": 30, "n_models": 50, "max_terms": 8, "random_state": 0}
FAMILIES = ["polynomial", "centred", "hinge", "step", "radial", "fourier", "sigmoid"]
LABELS = {"text": ["hale", "kränklich"], "integer": [7, 3], "number": [1.0, 2.0], "boolean": [True, False]}


def measurements(n_classes=2):
    """Four features of integers from 0 to 9, and classes that depend on three of them."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 10, size=(120, 4)).astype(float), columns=["age", "dose", "Größe", "noise"])
    signal = X["age"] * X["dose"] / 5 - 3 * (X["Größe"] > 4) + rng.normal(size=120)
    return X, np.digitize(signal, np.quantile(signal, np.arange(1, n_classes) / n_classes))


def classifiers():
    """Every stored model by name: a function that gives a fitted classifier or pipeline, and rows for it."""
    made = {family: partial(fitted, basis=Step(levels=True) if family == "step" else family) for family in FAMILIES}
    for kind, labels in LABELS.items():
        made[f"labels_{kind}"] = partial(fitted, labels=labels, basis="polynomial", degree=1)
    several = ["centred", "hinge", "fourier"]
    made["families"] = partial(fitted, n_classes=3, basis=several, filter_significance=0.5)
    made["average"] = partial(fitted, n_classes=3, combine="average", basis="polynomial")
    made["without_names"] = partial(fitted, n_classes=3, named=False, basis="polynomial")
    made["recipe"] = raw_table
    return made


def fitted(n_classes=2, labels=None, named=True, **settings):
    """A classifier of the measurements, and some of them."""
    X, y = measurements(n_classes)
    y = y if labels is None else np.array(labels)[y]
    return RFSCClassifier(**QUICK | settings).fit(X if named else X.to_numpy(), y), X[:12]


def raw_table():
    """The pipeline of `rfsc fit`, on a table with texts and blanks."""
    raw = patients(160, 5).drop(columns="patient")
    table = RawTable(raw.astype(str).replace("nan", ""), "patients", ())
    training = training_table(table, "diagnosis")
    search = RFSCClassifier(basis="polynomial", **QUICK)
    return make_pipeline(encoder_of(training.columns), search).fit(training.frame, training.labels), training.frame[:25]


def expected(model, rows):
    """What a model says of rows, as plain numbers and texts; blanks are null."""
    cells = rows.astype(object).where(rows.notna(), None)
    named = hasattr(model, "feature_names_in_")
    X = rows if named else rows.to_numpy()
    return {
        "columns": list(rows.columns) if named else None,
        "rows": cells.to_numpy().tolist(),
        "decision": np.asarray(model.decision_function(X)).tolist(),
        "probability": model.predict_proba(X).tolist(),
        "predicted": model.predict(X).tolist(),
    }


def main(force, names=None, folder=FOLDER / rfsc.__version__):
    """Write the models, or those of some names."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in classifiers().items():
        if names is not None and name not in names:
            continue
        path, answers = folder / f"{name}.json", folder / f"{name}.rows.json"
        if path.exists() and not force:
            sys.stdout.write(f"{path.name} is there already and stays\n")
            continue
        model, rows = make()
        save(model, path, history=False)
        loaded = load(path)
        said = expected(loaded, rows)
        np.testing.assert_allclose(said["decision"], model.decision_function(rows if loaded.named else rows.to_numpy()))
        answers.write_text(json.dumps(said, ensure_ascii=False) + "\n", encoding="utf-8")
        sys.stdout.write(f"{path.name}: {path.stat().st_size} bytes\n")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main("--force" in sys.argv[1:])
