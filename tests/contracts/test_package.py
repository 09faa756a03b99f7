"""Promises about the package as a whole: public names, light import, true documents."""

from __future__ import annotations

import importlib
import inspect
import os
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import numpydoc.docscrape
import pytest

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
    names = """degree basis restrictions n_models max_iter n_restarts score significance initial_rip rescreen_every
    unseen ridge filter_significance max_terms max_samples tol combine class_weight engine
    precision n_jobs random_state callbacks verbose"""
    assert list(parameters) == names.split()
    assert all(p.kind is p.KEYWORD_ONLY for name, p in parameters.items() if name != "degree")


def test_import_is_light_and_compiles_nothing():
    heavy = ["numba", "matplotlib", "dask", "jinja2", "statsmodels", "polars", "cma", "tqdm", "torch"]
    heavy += ["paper", "rfsc.cli"]
    code = f"import rfsc, sys; print([m for m in {heavy} if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
    assert out.stderr == ""


def test_works_without_numba():
    code = (
        "import sys; sys.modules['numba'] = None\n"
        "import importlib.util as u; find = u.find_spec\n"
        "u.find_spec = lambda n, *a: None if n == 'numba' else find(n, *a)\n"
        "from sklearn.datasets import load_iris; from rfsc import RFSCClassifier\n"
        "X, y = load_iris(return_X_y=True)\n"
        "clf = RFSCClassifier(basis='polynomial', n_restarts=1, max_iter=20, random_state=0)\n"
        "print(clf.fit(X, y).score(X, y) > 0.9)\n"
        "try: RFSCClassifier(engine='numba').fit(X, y)\n"
        "except ImportError as e: print(e)"
    )
    out = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.splitlines()[0] == "True"
    assert "engine='numpy'" in out.stdout


def test_cold_compilation_says_what_is_happening(tmp_path):
    code = (
        "from sklearn.datasets import load_iris; from rfsc import RFSCClassifier\n"
        "clf = RFSCClassifier(n_restarts=1, max_iter=5, random_state=0).fit(*load_iris(return_X_y=True))\n"
        "print([s.model.coef.tobytes().hex() for searches in clf.searches_ for s in searches])"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    runs = [
        subprocess.run(
            [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True, env=environment
        )
        for _ in range(2)
    ]
    assert "compiling" in runs[0].stderr
    assert "compiling" not in runs[1].stderr
    assert runs[0].stdout == runs[1].stdout  # to the last bit, whether compiled here or loaded


def public_objects():
    """Every public class and function, and the public methods of the public classes."""
    for info in pkgutil.walk_packages(rfsc.__path__, "rfsc."):
        if info.name.rpartition(".")[2].startswith("_"):
            continue
        module = importlib.import_module(info.name)
        for name, thing in vars(module).items():
            if name.startswith("_") or getattr(thing, "__module__", None) != info.name:
                continue
            if inspect.isfunction(thing) or inspect.isclass(thing):
                yield f"{info.name}.{name}", thing


@pytest.mark.parametrize(("name", "thing"), list(public_objects()), ids=lambda v: v if isinstance(v, str) else "")
def test_everything_public_has_a_docstring(name, thing):
    assert inspect.getdoc(thing)
    if inspect.isclass(thing):
        for method, function in vars(thing).items():
            if not method.startswith("_") and inspect.isfunction(function):
                assert function.__doc__, f"{name}.{method}"


@pytest.mark.parametrize("cls", [rfsc.RFSCClassifier, rfsc.RFSCSelector, rfsc.DistanceCorrelationFilter])
def test_parameters_are_documented_in_order(cls):
    documented = [p.name for p in numpydoc.docscrape.ClassDoc(cls)["Parameters"]]
    assert documented == list(inspect.signature(cls).parameters)
    text = inspect.getdoc(cls)
    for name, parameter in inspect.signature(cls).parameters.items():
        default = re.search(rf"^{name} : .*default=(.*)$", text, re.MULTILINE)
        assert default, name
        assert str(eval(default.group(1))) == str(parameter.default), name


def test_architecture_page_names_the_files_that_exist():
    page = (ROOT / "docs" / "architecture.md").read_text()
    tree = page.partition("## The files")[2].split("```")[1]
    named = set(re.findall(r"[\w/]+\.py", tree))
    real = {str(p.relative_to(ROOT / "src" / "rfsc")) for p in (ROOT / "src" / "rfsc").rglob("*.py")}
    assert named == {p for p in real if not p.endswith("/__init__.py")}


def test_readme_shows_the_main_table_of_the_last_reproduction():
    table = (ROOT / "docs" / "reproduction" / "main.md").read_text().rstrip("\n")
    assert f"<!-- main -->\n{table}\n<!-- /main -->" in (ROOT / "README.md").read_text()


def test_documents_show_no_machine_paths():
    pages = [ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").rglob("*.md")]
    for page in pages:
        assert not re.search(r"(/home/|/root/|/tmp/|/work/)", page.read_text()), page.name


def test_version_is_the_same_everywhere():
    assert f'version = "{rfsc.__version__}"' in (ROOT / "pyproject.toml").read_text()
    assert rfsc.__version__ in (ROOT / "CHANGELOG.md").read_text()
