"""Model files and tables are data: nothing that the command line imports unpickles, evaluates or runs what it reads."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from sklearn.datasets import load_iris

import rfsc
from rfsc import RFSCClassifier, SearchSettings
from rfsc.export import save

SOURCE = Path(rfsc.__file__).parent
FORBIDDEN_MODULES = {"pickle", "cPickle", "_pickle", "cloudpickle", "dill", "marshal", "shelve", "skops", "jsonpickle"}
FORBIDDEN_MODULES |= {"urllib", "http", "socket", "ftplib", "requests", "xmlrpc"}
BUILT_IN = {"eval", "exec", "compile", "__import__"}
METHODS = {"system", "popen", "read_pickle", "to_pickle"}
READERS = {"joblib.load", "joblib.dump", "np.load", "numpy.load"}

pytestmark = pytest.mark.slow


def modules():
    """Name, whether it is a package, and syntax tree of all modules of rfsc."""
    for path in SOURCE.rglob("*.py"):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        name = ".".join(("rfsc", *parts)).removesuffix(".__init__")
        yield name, path.name == "__init__.py", ast.parse(path.read_text(encoding="utf-8"))


def imports(name, is_package, tree):
    """Full names of what a module imports, at the top or inside functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = name.split(".")[: len(name.split(".")) - node.level + is_package] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)


def reached(starts):
    """Modules of rfsc that some modules import, directly or indirectly."""
    trees = {name: (is_package, tree) for name, is_package, tree in modules()}
    found, todo = {}, list(starts)
    while todo:
        name = todo.pop()
        if name in found or name not in trees:
            continue
        found[name] = (*trees[name], list(imports(name, *trees[name])))
        todo += found[name][2]
        todo.append(name.rpartition(".")[0])
    return found


def offences(found):
    for name, (_, tree, imported) in found.items():
        yield from (f"{name} imports {one}" for one in imported if one.partition(".")[0] in FORBIDDEN_MODULES)
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call):
                continue
            called = ast.unparse(node.func)
            if called in BUILT_IN | READERS or called.rpartition(".")[2] in METHODS:
                yield f"{name} calls {called}"
            if any(keyword.arg == "allow_pickle" for keyword in node.keywords):
                yield f"{name} passes allow_pickle"


def test_the_command_line_reaches_no_pickle_no_eval_and_no_network():
    found = reached(name for name, _, _ in modules() if name.startswith("rfsc.cli"))
    assert {"rfsc.export.json_file", "rfsc._input.table_files", "rfsc.classifier", "rfsc.report.document"} <= set(found)
    assert list(offences(found)) == []


def test_offences_are_found():
    code = "import pickle\nfrom joblib import load\ndef f(x):\n    from pickle import loads\n    return eval(x)\n"
    tree = ast.parse(code)
    listed = list(offences({"m": (False, tree, list(imports("rfsc.m", False, tree)))}))
    assert listed == ["m imports pickle", "m imports pickle", "m imports pickle.loads", "m calls eval"]


AUDIT = """
import sys
import numpy
from rfsc.explain import equation
from rfsc.export import load, to_json
events = []
harmless = ("open", "object.__getattr__", "import", "sys._getframe", "builtins.id")
def use():
    model = load(sys.argv[1])
    to_json(model), [equation(one) for one in model.models_]
    model.predict(numpy.zeros((3, model.n_features_in_)))
use()  # modules that Python imports late
sys.addaudithook(lambda event, args: None if event.startswith(harmless) else events.append(event))
use()
print(events)
"""


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_reading_a_model_runs_no_code(tmp_path):
    """Audit events of Python show that nothing is compiled, executed, unpickled, started or connected to."""
    X, y = load_iris(return_X_y=True, as_frame=True)
    families = ["polynomial", "hinge", "step", "fourier", "radial", "sigmoid"]
    clf = RFSCClassifier(basis=families, n_restarts=1, search=SearchSettings(max_iter=5), random_state=0)
    save(clf.fit(X, y == 1), tmp_path / "model.json")
    command = [sys.executable, "-W", "ignore", "-c", AUDIT, str(tmp_path / "model.json")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("[]\n", "")
