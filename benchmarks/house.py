"""What the house may weigh: `make house` measures the package and prints each figure beside its limit.

With `--tests` the test suites are run and timed as well.
"""

from __future__ import annotations

import argparse
import ast
import configparser
import importlib
import inspect
import subprocess
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "rfsc"
NOT_COUNTED = {".cu", ".json"}  # the CUDA source and the JSON schema
KERNELS = {"kernels.py"}  # compiled code, which is long by nature
PUBLIC = (
    "rfsc",
    "rfsc.atlas",
    "rfsc.bases",
    "rfsc.card",
    "rfsc.certify",
    "rfsc.explain",
    "rfsc.export",
    "rfsc.monitor",
    "rfsc.plots",
    "rfsc.report",
    "rfsc.tables",
)
NOT_AT_IMPORT = ("rfsc.export", "rfsc.plots", "rfsc.report", "rfsc.cli", "dask")
LIMITS = {
    "lines in src/rfsc, without the CUDA source and the JSON schema": 31_800,
    "files in src/rfsc": 171,
    "files that a polynomial fit runs through": 20,
    "files that a default fit runs through": 25,
    "rfsc modules loaded by `from rfsc import RFSCClassifier`": 45,
    "exporters, plots, reports and dask among them": 0,
    "constructor arguments of RFSCClassifier": 15,
    "most parameters of a function that is no public API": 7,
    "longest function": 60,
    "longest file": 450,
    "names of two classes or two modules": 0,
    "layers": 8,
    "modules outside of the layers, and broken contracts": 0,
    "files that a new family of terms touches": 1,
}
TEST_LIMITS = {"make test, minutes": 3.0, "make test-all, minutes": 12.0}
Function = ast.FunctionDef | ast.AsyncFunctionDef


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tests", action="store_true", help="run and time make test and make test-all too")
    wanted = parser.parse_args()
    rows = [(name, LIMITS[name], *found) for name, found in measured().items()]
    if wanted.tests:
        rows += [(name, limit, *minutes(name.split(",")[0])) for name, limit in TEST_LIMITS.items()]
    width = max(len(row[0]) for row in rows)
    for name, limit, value, where in rows:
        verdict = "met" if value <= limit else "MISSED"
        print(f"{name:<{width}}  {value:>8,.6g}  at most {limit:>6,}  {verdict:<6}  {where}".rstrip())
    sys.exit(any(value > limit for _, limit, value, _ in rows))


def measured() -> dict[str, tuple[float, str]]:
    """Every figure, and where it was found."""
    files = [path for path in PACKAGE.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    sources = [path for path in files if path.suffix == ".py"]
    lines = {path: len(path.read_text().splitlines()) for path in files if path.suffix not in NOT_COUNTED}
    long_file = max((path for path in sources if path.name not in KERNELS), key=lambda path: lines[path])
    functions = [(path, node, owner) for path in sources for node, owner in functions_of(path)]
    own = [one for one in functions if one[0].name not in KERNELS and not is_compiled(one[1])]
    long_function = max(own, key=lambda one: length(one[1]))
    public = public_names()
    inner = [one for one in own if not is_public(one, public)]
    many = max(inner, key=lambda one: n_parameters(one[1]))
    loaded, unwanted = modules_at_import()
    repeated = repeated_names(sources)
    n_layers, outside = layers()
    passed = run_quietly("-m", "pytest", "-q", "tests/test_toy_family.py") == 0
    found: list[tuple[float, str]] = [
        (sum(lines.values()), ""),
        (len(files), ""),
        (len(files_of_fit(basis="polynomial")), ""),
        (len(files_of_fit()), ""),
        (len(loaded), ""),
        (len(unwanted), ", ".join(unwanted)),
        (n_constructor_arguments(), ""),
        (n_parameters(many[1]), place(many)),
        (length(long_function[1]), place(long_function)),
        (lines[long_file], str(long_file.relative_to(PACKAGE))),
        (len(repeated), ", ".join(repeated)),
        (n_layers, ".importlinter"),
        (outside, ""),
        (1 if passed else float("inf"), "tests/test_toy_family.py"),
    ]
    return dict(zip(LIMITS, found, strict=True))


def functions_of(path: Path) -> Iterator[tuple[Function, str]]:
    """All functions of a file, each with the class that it is defined in."""

    def walk(node: ast.AST, owner: str) -> Iterator[tuple[Function, str]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, Function):
                yield child, owner
            yield from walk(child, child.name if isinstance(child, ast.ClassDef) else owner)

    yield from walk(ast.parse(path.read_text()), "")


def length(node: Function) -> int:
    """Lines of a function, docstring included."""
    return int(node.end_lineno or 0) - node.lineno + 1


def n_parameters(node: Function) -> int:
    """Parameters of a function; `*args` and `**kwargs` count one each, `self` and `cls` none."""
    arguments = node.args
    names = [one.arg for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    names += [one.arg for one in (arguments.vararg, arguments.kwarg) if one]
    return len(names) - (names[:1] in (["self"], ["cls"]))


def is_compiled(node: Function) -> bool:
    """Whether numba compiles the function."""
    return any("njit" in ast.unparse(one) or "intrinsic" in ast.unparse(one) for one in node.decorator_list)


def place(one: tuple[Path, Function, str]) -> str:
    """Where a function stands."""
    path, node, owner = one
    return f"{path.relative_to(PACKAGE)}: {owner + '.' if owner else ''}{node.name}"


def public_names() -> dict[str, set[str]]:
    """Public functions and classes, by the file that defines them."""
    found: dict[str, set[str]] = {}
    for name in PUBLIC:
        module = importlib.import_module(name)
        for exported in module.__all__:
            thing = getattr(module, exported)
            if inspect.isclass(thing) or inspect.isfunction(thing):
                for base in inspect.getmro(thing) if inspect.isclass(thing) else [thing]:
                    if base.__module__.startswith("rfsc"):
                        file = inspect.getsourcefile(base) or ""
                        found.setdefault(file, set()).add(base.__name__)
    return found


def is_public(one: tuple[Path, Function, str], public: dict[str, set[str]]) -> bool:
    """Whether users call the function: exported, a public method of an exported class, or a command of `rfsc`."""
    path, node, owner = one
    names = public.get(str(path), set())
    if owner:
        return owner in names and (not node.name.startswith("_") or node.name == "__init__")
    return node.name in names or (
        path.parent.name == "cli" and any("Annotated" in ast.unparse(a) for a in node.args.args)
    )


def modules_at_import() -> tuple[list[str], list[str]]:
    """Modules of rfsc that an import of the classifier loads, and those that it must not load."""
    code = "import sys; from rfsc import RFSCClassifier; print(*sorted(sys.modules))"
    names = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    loaded = [name for name in names if name == "rfsc" or name.startswith("rfsc.")]
    return loaded, [name for name in names if any(name == no or name.startswith(no + ".") for no in NOT_AT_IMPORT)]


def files_of_fit(**params: Any) -> set[str]:
    """Files of rfsc in which some function runs during a fit."""
    from sklearn.datasets import load_breast_cancer

    from rfsc import RFSCClassifier

    X, y = load_breast_cancer(return_X_y=True)
    clf = RFSCClassifier(**params, n_restarts=2, random_state=0)
    found: set[str] = set()

    def look(frame: Any, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_name != "<module>":
            found.add(frame.f_code.co_filename)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        clf.fit(X, y)  # modules that are imported when they are needed
        sys.setprofile(look)
        try:
            clf.fit(X, y)
        finally:
            sys.setprofile(None)
    return {name for name in found if name.startswith(str(PACKAGE))}


def n_constructor_arguments() -> int:
    """Arguments of the estimator."""
    from rfsc import RFSCClassifier

    return len(inspect.signature(RFSCClassifier).parameters)


def repeated_names(sources: list[Path]) -> list[str]:
    """Names that two classes, or two modules, share."""
    trees = [ast.parse(path.read_text()) for path in sources]
    classes = Counter(node.name for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    modules = Counter(path.stem.strip("_") for path in sources if not path.stem.startswith("__"))
    modules.update(path.parent.name.strip("_") for path in sources if path.stem == "__init__")
    return sorted(name for counted in (classes, modules) for name, n in counted.items() if n > 1)


def layers() -> tuple[int, int]:
    """Number of layers, and 1 if a contract is broken or does not cover every module."""
    settings = configparser.ConfigParser()
    settings.read(ROOT / ".importlinter")
    contract = settings["importlinter:contract:layers"]
    is_exhaustive = contract.getboolean("exhaustive", fallback=False)
    script = Path(sys.executable).with_name("lint-imports")
    kept = subprocess.run([script], cwd=ROOT, capture_output=True, check=False).returncode == 0
    return len(contract["layers"].split("\n")) - 1, int(not (is_exhaustive and kept))


def run_quietly(*arguments: str) -> int:
    """Exit status of a Python command."""
    return subprocess.run([sys.executable, *arguments], cwd=ROOT, capture_output=True, check=False).returncode


def minutes(command: str) -> tuple[float, str]:
    """How long a make target takes; infinitely long if it fails."""
    began = time.perf_counter()
    status = subprocess.run(command.split(), cwd=ROOT, capture_output=True, check=False).returncode
    return ((time.perf_counter() - began) / 60 if status == 0 else float("inf")), "" if status == 0 else "failed"


if __name__ == "__main__":
    main()
