"""
Shipping: from a table with blanks to a database
================================================

Patients as they come out of a hospital's files: text columns, blanks, an identifier. We fit a pipeline, look at it in a
report, save it, and let a database and a bare Python function give the same answers without it.
"""

# %%
# The table
# ---------
# ``rfsc demo --data patients.csv`` writes it. It is made up, so the truth is known: age, CRP, haemoglobin, smoking and
# sex matter; body mass and ward do not. That a CRP was not measured is a bad sign in itself.

import subprocess
import sys
import tempfile
from pathlib import Path

import pandas as pd

folder = Path(tempfile.mkdtemp())
subprocess.run([sys.executable, "-m", "rfsc", "demo", "--data", folder / "patients.csv"], check=True)
table = pd.read_csv(folder / "patients.csv")
table.head()

# %%
# Fit a pipeline
# --------------
# Blanks in numbers are filled, with a note that they were blank; texts become one feature per level, rare levels
# together. On the command line ``rfsc fit patients.csv --target diagnosis --drop patient -o model.json`` does all of
# this by itself.

from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from rfsc import RFSCClassifier
from rfsc.bases import Polynomial
from rfsc.explain import equations

X, y = table.drop(columns=["patient", "country", "diagnosis"]), table["diagnosis"]
numbers = SimpleImputer(strategy="median", add_indicator=True)
texts = OneHotEncoder(min_frequency=20, handle_unknown="infrequent_if_exist", sparse_output=False)
prepare = make_column_transformer(
    (numbers, ["age", "body mass", "CRP", "haemoglobin"]),
    (texts, ["sex", "smokes", "ward"]),
    verbose_feature_names_out=False,
)
search = RFSCClassifier(basis=Polynomial(degree=1), random_state=0)
pipeline = make_pipeline(prepare, search).fit(X, y)
for label, formula in equations(pipeline, units="original").items():
    print(f"{label}: {formula}")

# %%
# Look at it
# ----------
# The report scores the pipeline on rows that it has not seen, beside well-known methods. It is one page
# without any link to a network; ``report.write_html("report.html")`` writes it for a colleague.

from rfsc.report import Report

report = Report.from_estimator(pipeline, X, y, cv=5, title="Who is sick?")
report

# %%
# Save it
# -------
# A model file is plain JSON, with the preprocessing inside. Reading it runs no code.

from rfsc.export import load, save, to_python, to_sql

path = folder / "model.json"
save(pipeline, path)
model = load(path)
print(model.predict(X.head(3)))

# %%
# What comes back can be explained and drawn like the pipeline itself, without any training data.

from rfsc.plots import CoefficientsDisplay

CoefficientsDisplay.from_estimator(model)

# %%
# Run it in a database
# --------------------
# The query reads the raw columns, blanks and all.

import sqlite3

query = to_sql(model, dialect="sqlite", table="patients", keep=["patient"])
base = sqlite3.connect(":memory:")
table.to_sql("patients", base, index=False)
in_database = pd.read_sql(query, base)
base.close()
in_database.head()

# %%
# Run it without anything
# -----------------------
# The generated function needs ``math`` and nothing else.

code = to_python(model)
print(code)

# %%
# Do they agree?
# --------------
# All patients, against the pipeline:

import numpy as np

scope = {}
exec(code, scope)
answers = [scope["predict"](row) for row in X.to_dict("records")]
decisions = {
    "model file": model.decision_function(X),
    "SQLite": in_database["decision"],
    "Python function": [answer["decision"]["sick"] for answer in answers],
}
for name, decision in decisions.items():
    print(f"{name:<16} largest difference {np.abs(decision - pipeline.decision_function(X)).max():.0e}")

# %%
# Other places take the same formula: ``to_c``, ``to_xlsx``, ``to_onnx``, and ``to_sql`` for DuckDB and
# PostgreSQL.
