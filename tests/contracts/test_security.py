"""Model files and tables are data: nothing that the command line imports unpickles, evaluates or runs what it reads."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import rfsc

SOURCE = Path(rfsc.__file__).parent
FORBIDDEN_MODULES = {"pickle", "cPickle", "_pickle", "cloudpickle", "dill", "marshal", "shelve", "skops", "jsonpickle"}
FORBIDDEN_MODULES |= {"urllib", "http", "socket", "ftplib", "requests", "xmlrpc"}
BUILT_IN = {"eval", "exec", "compile", "__import__"}
METHODS = {"system", "popen", "read_pickle", "to_pickle"}
READERS = {"joblib.load", "joblib.dump", "np.load", "numpy.load"}
# the only modules that may ask the network for something, and only when a user runs the paper's experiments
EXPERIMENTS = "paper"


def modules():
    """All our modules: name and syntax tree."""
    for path in SOURCE.rglob("*.py"):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        name = ".".join(("rfsc", *parts)).removesuffix(".__init__")
        yield name, path.name == "__init__.py", ast.parse(path.read_text(encoding="utf-8"))


def imports(name, is_package, tree):
    """Full names of what a module imports, at its top or within its functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = name.split(".")[: len(name.split(".")) - node.level + is_package] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)


def reached(starts):
    """Our modules that some modules import, directly or not."""
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
    assert {"rfsc.export.json_file", "rfsc._tables.table_files", "rfsc.classifier", "rfsc.report.document"} <= set(
        found
    )
    ours = {name: parts for name, parts in found.items() if not name.startswith(EXPERIMENTS)}
    assert list(offences(ours)) == []


def test_the_search_for_offences_finds_them():
    code = "import pickle\nfrom joblib import load\ndef f(x):\n    from pickle import loads\n    return eval(x)\n"
    tree = ast.parse(code)
    listed = list(offences({"m": (False, tree, list(imports("rfsc.m", False, tree)))}))
    assert listed == ["m imports pickle", "m imports pickle", "m imports pickle.loads", "m calls eval"]


RUNS_NOTHING = """
import sys
from pathlib import Path
import numpy
from rfsc.explain import equation
from rfsc.export import load, to_json
events = []
harmless = ("open", "object.__getattr__", "import", "sys._getframe", "builtins.id")
path = Path(sys.argv[1])
def use():
    model = load(path)
    to_json(model), [equation(one) for one in model.models_]
    model.predict(numpy.zeros((3, model.n_features_in_)))
use()  # whatever Python imports late
sys.addaudithook(lambda event, args: None if event.startswith(harmless) else events.append(event))
use()
print(events)
"""


def test_reading_a_model_runs_nothing():
    """Python's own audit: nothing is compiled, run, unpickled, started or connected to."""
    (path,) = (Path(__file__).parents[1] / "data" / "models" / rfsc.__version__).glob("families.json")
    line = [sys.executable, "-W", "ignore", "-c", RUNS_NOTHING, str(path)]
    done = subprocess.run(line, capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("[]\n", "")
