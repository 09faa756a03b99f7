"""The installed package fits, predicts and reads back its model file; what the extras named as arguments give works."""

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

from sklearn.datasets import load_iris

import rfsc
from rfsc.explain import equation
from rfsc.export import load, save, to_onnx, to_xlsx


def run(*command):
    subprocess.run([Path(sys.executable).with_name("rfsc"), *command], check=True)


def cli(folder):
    table, model = folder / "patients.csv", folder / "patients.json"
    run("demo", "--data", table)
    options = ["--basis", "step", "--size", "2", "--restarts", "1", "--drop", "patient", "--quiet"]
    run("fit", table, "--target", "diagnosis", *options, "-o", model)
    run("predict", model, table, "-o", folder / "answers.csv", "--quiet")


def parquet(folder):
    import pandas

    pandas.DataFrame(X).to_parquet(folder / "rows.parquet")
    assert clf.predict(pandas.read_parquet(folder / "rows.parquet").to_numpy()).tolist() == clf.predict(X).tolist()


def plot(_):
    from rfsc.plots import FrontDisplay

    FrontDisplay.from_estimator(clf)


def report(folder):
    from rfsc.report import Report

    Report.from_estimator(clf, X, y, cv=2, baselines={}).write_html(folder / "report.html")


def dask(_):
    import dask.array

    assert clf.fit(dask.array.from_array(X, chunks=50), y).score(X, y) > 0.9


def demo(_):
    from sklearn.datasets import load_breast_cancer

    table = load_breast_cancer(as_frame=True)
    found = rfsc.RFSCClassifier(basis="step", size=2, n_restarts=1, random_state=0).fit(table.data, table.target)
    assert found.feature_names_in_.tolist() == table.data.columns.tolist()


EXTRAS = {
    "cli": cli,
    "dask": dask,
    "demo": demo,
    "onnx": lambda _: to_onnx(clf),
    "parquet": parquet,
    "plot": plot,
    "report": report,
    "symbolic": lambda _: equation(clf.models_[0], form="sympy"),
    "xlsx": lambda folder: to_xlsx(clf, folder / "model.xlsx"),
}

X, y = load_iris(return_X_y=True)
clf = rfsc.RFSCClassifier(basis="step", size=2, n_restarts=1, random_state=0).fit(X, y)
assert clf.score(X, y) > 0.9
with TemporaryDirectory() as name:
    save(clf, Path(name) / "model.json")
    assert (load(Path(name) / "model.json").predict_proba(X) == clf.predict_proba(X)).all()
    for extra in sys.argv[1:]:
        EXTRAS[extra](Path(name))
packages = ("rfsc", "numpy", "scipy", "scikit-learn")
print(*(f"{package} {version(package)}" for package in packages), f"engine {clf.engine_}", *sys.argv[1:], sep=", ")
