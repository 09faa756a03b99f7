"""The compiled C against `decision_function`."""

from __future__ import annotations

import ctypes
import shutil
import subprocess

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rfsc._model import Predictor
from rfsc.export import to_c
from rfsc.export.c_code import TAKEN, field_names
from rfsc.export.program import Program

from .random_models import (
    answers,
    assert_agree,
    assert_same_classes,
    awkward_rows,
    ordinary_rows,
    random_model,
    random_models,
    random_predictor,
    raw_rows,
    recipe_predictor,
    with_gaps,
)

COMPILER = shutil.which("cc")
FLAGS = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-O2", "-ffp-contract=off", "-shared", "-fPIC"]

pytestmark = pytest.mark.skipif(COMPILER is None, reason="there is no C compiler (Debian: apt install gcc)")


def compiled(texts, folder, flags=FLAGS):
    """One library out of several exports, in one file: their names must not meet."""
    (folder / "models.c").write_text("\n".join(texts), encoding="ascii")
    command = [COMPILER, *flags, "-o", str(folder / "models.so"), str(folder / "models.c"), "-lm"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return ctypes.CDLL(str(folder / "models.so"))


def call(library, name, predictor, rows):
    """Formulas, probabilities and classes of every row."""
    program = Program.of(predictor)
    kinds = {"number": ctypes.c_double, "text": ctypes.c_char_p}
    fields = field_names(program)

    class Row(ctypes.Structure):
        _fields_ = [(field, kinds[program.columns[j].kind]) for j, field in fields.items()]

    n, n_classes = len(program.models), len(program.classes)
    labels = (ctypes.c_char_p * n_classes).in_dll(library, f"{name}_labels")
    decision, probability = (ctypes.c_double * n)(), (ctypes.c_double * n_classes)()
    out = []
    for row in rows:
        cells = {f: _cell(row[j], program.columns[j].kind) for j, f in fields.items()}
        code = getattr(library, name)(ctypes.byref(Row(**cells)), decision, probability)
        assert code == getattr(library, name)(ctypes.byref(Row(**cells)), None, None)
        out.append((list(decision), list(probability), None if code < 0 else labels[code].decode()))
    return zip(*out, strict=True)


def _cell(value, kind):
    if kind == "number":
        return np.nan if value is None else float(value)
    return None if value is None else value.encode()


def check(library, name, predictor, rows):
    decision, probability, predicted = answers(predictor, rows)
    decision[np.isnan(decision).any(axis=1)] = np.nan  # the function needs all that any formula needs
    found = call(library, name, predictor, rows)
    assert_agree(next(found), decision)
    assert_agree(next(found), probability)
    assert_same_classes(list(next(found)), [None if x is None else str(x) for x in predicted], decision)


@pytest.mark.parametrize("classes", [("no", "yes"), (0, 1, 2)], ids=["two", "three"])
def test_random_models_on_awkward_rows(classes, tmp_path):
    predictors = [random_predictor(seed, classes) for seed in range(20)]
    library = compiled([to_c(p, f"model_{i}") for i, p in enumerate(predictors)], tmp_path)
    for i, predictor in enumerate(predictors):
        model, rng = predictor.models_[0], np.random.default_rng(i)
        X = np.vstack([ordinary_rows(model, rng), awkward_rows(model, rng)])
        check(library, f"model_{i}", predictor, np.vstack([X, with_gaps(X[::4], rng)]).tolist())


@pytest.mark.parametrize("classes", [("no", "yes"), ("a", 'b"\n', "ç??/")], ids=["two", "three"])
def test_recipes(classes, tmp_path):
    predictors = [recipe_predictor(seed, classes, n_terms=8) for seed in range(5)]
    library = compiled([to_c(p, f"model_{i}") for i, p in enumerate(predictors)], tmp_path)
    for i, predictor in enumerate(predictors):
        check(library, f"model_{i}", predictor, raw_rows(np.random.default_rng(i)))


hostile = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12) | st.sampled_from(
    ["*/", "/*", "??/", "\\", "a\\\n", "//", '"', "int", "class", "NAN", "x\ny", "_", "9", "\u202e", "é" * 99]
)


@pytest.mark.slow
@settings(max_examples=8)  # each is a call of the compiler, with many names
@given(st.lists(st.tuples(hostile, hostile), min_size=20, max_size=20))
def test_any_name_is_safe(tmp_path_factory, pairs):
    predictors = []
    for seed, (a, b) in enumerate(pairs):
        names, labels = [a, b], ["no " + a, b]
        predictors.append(Predictor(random_models(seed, labels[1:], ranges=[(0.0, 3.0)] * 2, names=names), labels))
    library = compiled([to_c(p, f"m{i}") for i, p in enumerate(predictors)], tmp_path_factory.mktemp("c"))
    for i, predictor in enumerate(predictors):
        check(library, f"m{i}", predictor, [[1.0, 2.0], [2.5, np.nan]])


def test_it_is_also_cpp(tmp_path):
    compiler = shutil.which("c++")
    if compiler is None:
        pytest.skip("there is no C++ compiler")
    (tmp_path / "model.cpp").write_text(to_c(recipe_predictor(1, ("a", "b", "c"), n_terms=8)))
    command = [
        compiler,
        "-Wall",
        "-Wextra",
        "-Werror",
        "-c",
        "-o",
        str(tmp_path / "model.o"),
        str(tmp_path / "model.cpp"),
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_fields_are_readable_and_different():
    names = ["Mean Radius (mm)", "mean radius mm", "class", "3rd", "", "äöü", "mean_radius_mm_2"]
    model = random_model(0, families=["step"], ranges=[(0.0, 1.0)] * 7, n_terms=60, names=names)
    fields = list(field_names(Program.of(model)).values())
    assert fields[:4] == ["mean_radius_mm", "mean_radius_mm_2", "class_", "column_3rd"]
    assert len(set(fields)) == 7
    assert not set(fields) & TAKEN


def test_what_c_cannot_write_is_refused():
    with pytest.raises(ValueError, match="NUL"):
        to_c(Predictor([random_model(1)], ["a\0b", "c"]))
    for name in ("int", "a b", "1a", "_a", "a;b"):
        with pytest.raises(ValueError, match="name"):
            to_c(random_model(1), name)
