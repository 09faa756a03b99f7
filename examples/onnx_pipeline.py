"""Fit a pipeline on a table with texts and blanks, write it as one ONNX file, and run that without rfsc."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import onnxruntime
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_breast_cancer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from rfsc import RFSCClassifier
from rfsc.export import to_onnx

NUMBERS = ["mean radius", "mean texture", "mean concavity"]


def clinic_table() -> tuple[pd.DataFrame, np.ndarray]:
    """The breast-cancer data, with a column of text and a tenth of the numbers missing."""
    data = load_breast_cancer(as_frame=True)
    rng = np.random.default_rng(0)
    table = data.data[NUMBERS].mask(rng.random((len(data.data), len(NUMBERS))) < 0.1)
    diagnosis = data.target_names[data.target]
    guess = np.where(diagnosis == "malignant", "suspicious", "clear")
    table["first look"] = np.where(rng.random(len(table)) < 0.8, guess, "unsure")
    return table, diagnosis


def feeds(session: onnxruntime.InferenceSession, table: pd.DataFrame) -> dict[str, np.ndarray]:
    """One column for each input: "" for missing texts and NaN for missing numbers."""
    columns = {}
    for one in session.get_inputs():
        cells = table[[one.name]]
        is_text = one.type == "tensor(string)"
        columns[one.name] = cells.fillna("").to_numpy(dtype=object) if is_text else cells.to_numpy(dtype=np.float64)
    return columns


def main() -> None:
    """Fit, write, run, compare."""
    table, diagnosis = clinic_table()
    prepare = ColumnTransformer(
        [
            ("numbers", SimpleImputer(strategy="median", add_indicator=True), NUMBERS),
            ("texts", OneHotEncoder(handle_unknown="ignore"), ["first look"]),
        ]
    )
    pipeline = make_pipeline(prepare, RFSCClassifier(basis="polynomial", n_restarts=2, random_state=0))
    pipeline.fit(table, diagnosis)

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.onnx")
        path.write_bytes(to_onnx(pipeline).SerializeToString())
        print(f"{path.name}: {path.stat().st_size / 1024:.0f} kB")
        session = onnxruntime.InferenceSession(path)

    print("inputs: ", ", ".join(f"{one.name} {one.type}" for one in session.get_inputs()))
    label, probabilities, decision = session.run(None, feeds(session, table))
    print("outputs:", ", ".join(one.name for one in session.get_outputs()))
    print(
        pd.DataFrame({"label": label, "malignant": probabilities[:, 1].round(4), "decision": decision.round(4)}).head()
    )
    print(f"largest difference to the pipeline: {np.abs(decision - pipeline.decision_function(table)).max():.1e}")


if __name__ == "__main__":
    main()
