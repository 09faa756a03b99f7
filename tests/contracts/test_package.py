"""Promises about the package as a whole: public names, light import, true documents."""

from __future__ import annotations

import enum
import importlib
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import numpydoc.docscrape
import pytest
from benchmarks.house import PUBLIC

import rfsc

ROOT = Path(__file__).parents[2]


def test_public_names():
    assert sorted(rfsc.__all__) == rfsc.__all__
    assert {"RFSCClassifier", "RFSCSelector", "DistanceCorrelationFilter", "Restrictions", "SparseModel"} <= set(
        rfsc.__all__
    )
    for name in rfsc.__all__:
        assert hasattr(rfsc, name)


def test_constructor_is_as_documented():
    parameters = inspect.signature(rfsc.RFSCClassifier).parameters
    names = """basis size max_terms restrictions criterion significance n_restarts max_samples search class_weight
    engine n_jobs random_state callbacks verbose"""
    assert list(parameters) == names.split()
    assert all(p.kind is p.KEYWORD_ONLY for name, p in parameters.items() if name != "basis")


def test_import_is_light_and_compiles_nothing():
    heavy = ["numba", "matplotlib", "dask", "jinja2", "statsmodels", "polars", "cma", "tqdm", "torch"]
    heavy += ["paper", "rfsc.cli"]
    code = f"import rfsc, sys; print([m for m in {heavy} if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
    assert out.stderr == ""


WITHOUT_NUMBA = """
import sys
sys.modules["numba"] = sys.modules["llvmlite"] = None  # neither can be imported
import numpy as np
from rfsc import RFSCClassifier
from rfsc.export import from_json, to_json, to_sql
rng = np.random.default_rng(0)
X = rng.normal(size=(200, 80))
y = X[:, 0] + X[:, 1] * X[:, 2] > 0
settings = {"basis": "polynomial", "size": 2, "n_restarts": 1, "random_state": 0}
for n_columns in (5, 80):  # few terms, and 3320 that are screened
    clf = RFSCClassifier(**settings).fit(X[:, :n_columns], y)
    again = from_json(to_json(clf))
    assert (again.predict_proba(X[:, :n_columns]) == clf.predict_proba(X[:, :n_columns])).all()
    print(clf.engine_, clf.initial_rip_, clf.score(X[:, :n_columns], y) > 0.8, "SELECT" in to_sql(clf, table="rows"))
try:
    RFSCClassifier(engine="numba").fit(X, y)
except ImportError as error:
    print(error)
"""


@pytest.mark.slow
def test_numba_may_be_turned_off():
    code = "from rfsc._engines import choose_engine\nprint(choose_engine('auto', 10))"
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert out.stdout == "numpy\n"
    assert "turned off" in out.stderr


@pytest.mark.slow
def test_works_without_numba_and_says_so_once():
    command = [sys.executable, "-W", "error", "-c", WITHOUT_NUMBA]
    out = subprocess.run(command, capture_output=True, text=True, check=True)
    few, many, error = out.stdout.splitlines()
    assert few == "numpy ['uniform'] True True"
    assert many == "numpy ['screened'] True True"
    assert "engine='numpy'" in error
    assert out.stderr.count("numba cannot be imported") == 1


COMMANDS_WITHOUT_NUMBA = """
import sys
sys.modules["numba"] = sys.modules["llvmlite"] = None  # neither can be imported
from rfsc.cli import main
quick = "--basis step --size 2 --restarts 1 --set max_iter=5 --set n_models=10 --drop patient".split()
for line in (
    ["demo", "--data", "t.csv"],
    ["fit", "t.csv", "-t", "diagnosis", *quick, "--cv", "2", "-o", "m.json", "--report", "r.html"],
    ["predict", "m.json", "t.csv", "-o", "p.csv"],
    ["certify", "m.json", "t.csv", "--pairs", "2", "-o", "c.json"],
    ["report", "m.json", "t.csv", "-t", "diagnosis", "--certificate", "c.json", "-o", "again.html"],
    ["card", "m.json", "t.csv", "--cv", "2", "-o", "card.html"],
    ["atlas", "m.json", "t.csv", "--max-models", "5", "--without", "CRP", "-o", "without.json"],
    ["verify", "m.json", "t.csv"],
):
    assert main([*line, "--quiet"]) == 0, line
"""


@pytest.mark.slow
def test_commands_work_without_numba_and_say_so_once(tmp_path):
    command = [sys.executable, "-c", COMMANDS_WITHOUT_NUMBA]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("numba cannot be imported") == 1
    assert "identical" in done.stdout
    made = {"t.csv", "m.json", "r.html", "p.csv", "c.json", "again.html", "card.html", "without.json"}
    assert {path.name for path in tmp_path.iterdir()} == made


@pytest.mark.slow
def test_cold_compilation_says_what_is_happening(tmp_path):
    code = (
        "from sklearn.datasets import load_iris; from rfsc import RFSCClassifier\n"
        "clf = RFSCClassifier('polynomial', n_restarts=1, random_state=0).fit(*load_iris(return_X_y=True))\n"
        "print([s.model.coef.tobytes().hex() for searches in clf.searches_ for s in searches])"
    )
    command, environment = (
        [sys.executable, "-W", "ignore", "-c", code],
        {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
    )

    def run():
        return subprocess.run(command, capture_output=True, text=True, check=True, env=environment)

    compiled, loaded = run(), run()
    assert "compiling its kernels" in compiled.stderr
    assert "damaged" not in loaded.stderr  # on a busy machine loading may take so long that it is announced
    for path in tmp_path.rglob("kernels.evaluate_supports*.nbc"):
        path.write_bytes(path.read_bytes()[:1000])
    again = run()
    assert "its compiled kernels on the disk are damaged and are compiled again" in again.stderr
    assert "compiling its kernels" in again.stderr
    assert "damaged" not in run().stderr
    assert compiled.stdout == loaded.stdout == again.stdout  # to the last bit, whether compiled here or loaded


def public_objects():
    """Everything that users import."""
    for module in PUBLIC:
        home = importlib.import_module(module)
        things = {name: getattr(home, name) for name in home.__all__}
        yield from ((f"{module}.{n}", x) for n, x in things.items() if inspect.isfunction(x) or inspect.isclass(x))


def test_parameters_of_everything_public_are_documented():
    missing = []
    for name, thing in public_objects():
        if inspect.isclass(thing) and issubclass(thing, Exception | enum.Enum | tuple):
            continue
        read = numpydoc.docscrape.ClassDoc if inspect.isclass(thing) else numpydoc.docscrape.FunctionDoc
        described = [*read(thing)["Parameters"], *read(thing)["Attributes"]]
        known = {one for p in described for one in p.name.replace("*", "").split(", ")}
        wanted = set(inspect.signature(thing).parameters)
        missing += [f"{name}: {sorted(wanted - known)}"] if not wanted <= known else []
    assert not missing


def test_public_methods_say_what_they_do():
    classes = [(name, thing) for name, thing in public_objects() if inspect.isclass(thing)]
    methods = [(f"{name}.{n}", f) for name, thing in classes for n, f in vars(thing).items() if inspect.isfunction(f)]
    assert not [name for name, method in methods if not name.rpartition(".")[2].startswith("_") and not method.__doc__]


@pytest.mark.parametrize("cls", [rfsc.RFSCClassifier, rfsc.RFSCSelector, rfsc.DistanceCorrelationFilter])
def test_parameters_are_documented_in_order(cls):
    documented = [p.name for p in numpydoc.docscrape.ClassDoc(cls)["Parameters"]]
    assert documented == list(inspect.signature(cls).parameters)
    text = inspect.getdoc(cls)
    for name, parameter in inspect.signature(cls).parameters.items():
        default = re.search(rf"^{name} : .*default=(.*)$", text, re.MULTILINE)
        assert default, name
        assert str(eval(default.group(1))) == str(parameter.default), name


def test_architecture_page_names_only_files_that_exist():
    page = (ROOT / "docs" / "architecture.md").read_text()
    named = {name for name in re.findall(r"`([\w/]+(?:\.py|/))`", page) if not name.startswith(("tests/", "paper/"))}
    assert named
    assert not [name for name in sorted(named) if not (ROOT / "src" / "rfsc" / name).exists()]


def test_documents_show_no_machine_paths():
    pages = [ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").rglob("*.md")]
    for page in pages:
        assert not re.search(r"(/home/|/root/|/tmp/|/work/)", page.read_text()), page.name


def test_version_is_the_same_everywhere():
    assert f'version = "{rfsc.__version__}"' in (ROOT / "pyproject.toml").read_text()
    assert rfsc.__version__ in (ROOT / "CHANGELOG.md").read_text()
