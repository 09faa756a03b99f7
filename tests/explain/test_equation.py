"""What is printed is the model: typed into a calculator, read by sympy, typeset by LaTeX, shown by a browser."""

from __future__ import annotations

import pickle
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
import sympy
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

from rfsc import RFSCClassifier
from rfsc._model import Predictor
from rfsc._terms import Term, monomial
from rfsc._terms.expression import Condition, Number, Product, Ramp, Scaled, Sum
from rfsc.explain import definitions, equation, equations, rounded, summary, term_table
from rfsc.explain.notation import Text

from .models import FAMILIES, NAMES, computed, model_of, table

MIXES = [[family] for family in FAMILIES] + [["centred", "hinge", "step"], ["polynomial", "radial", "sigmoid"]]
HOSTILE = ("<script>alert(1)</script>", "a\"b'c&d", "100% of _x^2_ #1 \\ ~ {y} $z$ [0]", "naïve" * 40)


@pytest.mark.parametrize("families", MIXES, ids=str)
@pytest.mark.parametrize("units", ["scaled", "original"])
@pytest.mark.parametrize("seed", [0, 1])
def test_text_can_be_typed_into_a_calculator(families, units, seed):
    model, X = model_of(*families, seed=seed), table(seed + 10)
    text = equation(model, units=units, digits=17)
    if units == "scaled" and families in (["polynomial"], ["centred"]):
        text = _marked(model, text)
    f = computed(text, X, model, definitions(model, error=0.0))
    np.testing.assert_allclose(f, model.decision(X), rtol=1e-7, atol=1e-7)


def _marked(model, text):
    """In a model of products alone features are scaled without saying so."""
    if "scaled(" in text:
        return text
    for name in NAMES:
        text = text.replace(f"*{name}", f"*scaled({name})")
    return text


@pytest.mark.parametrize("families", MIXES, ids=str)
@pytest.mark.parametrize("units", ["scaled", "original"])
def test_sympy_is_the_same_function(families, units):
    model, X = model_of(*families, seed=3), table(13, n=8)
    f = equation(model, units=units, form="sympy")
    rows = X if units == "original" else model.scaling.table(X).T
    used = sorted(str(symbol) for symbol in f.free_symbols)
    assert set(used) == {NAMES[p] for p in model.features}
    by_subs = [float(f.subs(dict(zip(map(_symbol, NAMES), row.tolist(), strict=True)))) for row in rows]
    np.testing.assert_allclose(by_subs, model.decision(X), rtol=1e-8, atol=1e-8)
    compiled = sympy.lambdify([_symbol(name) for name in NAMES], f, "numpy")
    np.testing.assert_allclose(compiled(*rows.T), model.decision(X), rtol=1e-8, atol=1e-8)


def _symbol(name):
    return sympy.Symbol(name, real=True)


def test_sympy_keeps_names_and_rounds_when_asked():
    model = model_of("polynomial", names=HOSTILE)
    assert {str(s) for s in equation(model, form="sympy").free_symbols} <= set(HOSTILE)
    rough = equation(model, form="sympy", units="scaled", digits=2)
    difference = sympy.lambdify([_symbol(n) for n in HOSTILE], equation(model, form="sympy", units="scaled") - rough)
    inside = np.random.default_rng(0).random((4, 200))
    worst = rounded(model, 2).largest_change
    assert 0 < np.abs(difference(*inside)).max() <= worst


def test_sympy_does_not_overflow_in_steep_ramps():
    ramp = Term(Ramp(Sum((Number(2000.0), Product((Number(-2000.0), Scaled(0)))))))
    model = replace(model_of("sigmoid"), terms=(ramp,), coef=np.array([1.0]))
    f = sympy.lambdify([_symbol("a")], equation(model, form="sympy", units="scaled"))
    with np.errstate(over="ignore"):  # far above, exp is infinite and the ramp zero, as it should be
        np.testing.assert_allclose([f(0.0), f(1.0), f(2.0)], [1.0, 0.5, 0.0], atol=1e-12)


def test_sympy_refuses_names_that_collide():
    with pytest.raises(ValueError, match="same name"):
        equation(model_of("polynomial", names=("a", "a", "a", "a")), form="sympy")


@pytest.mark.parametrize("family", ["hinge", "step"])
def test_formulas_in_plain_text_are_the_names_of_the_terms(family):
    model = model_of(family, n_terms=200, constant=False)
    for term in (term for term in model.terms if term.factors is None):  # a line has a constant beside it
        (raw,) = term.unscaled(model.scaling)
        name = term.name(NAMES)
        expected = f"({name})" if isinstance(raw.expression, Condition) else name
        assert Text(NAMES).visit(raw.expression) == expected


class _Page(HTMLParser):
    """Tags and text of a piece of HTML."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.text = set(), ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.add((tag, *attrs))

    def handle_data(self, data):
        self.text += data


@pytest.mark.parametrize("families", MIXES, ids=str)
@pytest.mark.parametrize("units", ["scaled", "original"])
def test_hostile_names_stay_text_in_html(families, units):
    model = model_of(*families, names=HOSTILE)
    page = _Page(equation(model, form="html", units=units))
    assert page.tags <= {("var",), ("sup",)}
    read = {name for name in HOSTILE if name in page.text}
    if families != ["radial"]:  # names only the features in which a cluster is unusual
        assert read == {HOSTILE[p] for p in model.features}
    for short, full in definitions(model, form="html").items():
        assert _Page(short + full).tags <= {("var",), ("sup",)}


def test_html_by_eye():
    model = replace(model_of("polynomial"), terms=model_of("polynomial").terms[:1], coef=np.array([-2.5]))
    model = replace(model, terms=(monomial((0, 0, 1)),))
    assert equation(model, units="scaled", form="html") == "<var>f</var> = − 2.5·<var>a</var><sup>2</sup>·<var>b</var>"
    assert equation(model, units="scaled", form="latex") == r"f = - 2.5\,\text{a}^{2} \cdot \text{b}"


def test_powers_of_ten():
    model = model_of("polynomial")
    model = replace(model, terms=model.terms[-1:], coef=np.array([1.5e-7]))
    assert equation(model) == "f = 1.5e-07"
    assert equation(model, form="latex") == r"f = 1.5 \cdot 10^{-7}"
    assert equation(model, form="html") == "<var>f</var> = 1.5·10<sup>−7</sup>"


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_latex_compiles(tmp_path):
    pieces = []
    for families in MIXES:
        for units in ("scaled", "original"):
            model = model_of(*families, names=HOSTILE)
            pieces.append(equation(model, form="latex", units=units))
            pieces += [f"{short} = {full}" for short, full in definitions(model, form="latex").items()]
    body = "\n".join(f"\\[ {piece} \\]" for piece in pieces)
    page = "\\documentclass{article}\\usepackage{amsmath}\\begin{document}\n" + body + "\n\\end{document}\n"
    (tmp_path / "page.tex").write_text(page, encoding="utf-8")
    command = ["pdflatex", "-halt-on-error", "-interaction=nonstopmode", "-no-shell-escape", "page.tex"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stdout[-2000:]
    assert (tmp_path / "page.pdf").stat().st_size > 10_000


def test_latex_takes_no_sign_of_a_name_for_its_own():
    text = equation(model_of("polynomial", names=("\\^~<>", "|{}_", "%&#$", "a\n\tb")), form="latex")
    for sign in ("backslash", "asciicircum", "asciitilde", "less", "greater", "bar"):
        assert rf"\text{sign}{{}}" in text
    for sign in "{}_%&#$":
        assert f"\\{sign}" in text
    assert "\n" not in text


def test_long_latex_has_a_line_for_each_summand():
    model = model_of("hinge", n_terms=5)
    text = equation(model, form="latex")
    assert text.count(r"\\") == len(model.terms) - 1
    assert text.startswith(r"f = \begin{aligned}[t] & ")
    assert text.endswith(r"\end{aligned}")


def test_scaled_equation_of_mixed_terms_says_what_is_scaled():
    """A knot in the user's units beside a coefficient on [0, 1] would mislead whoever computes by hand."""
    text = equation(model_of("hinge", "polynomial"), units="scaled")
    assert "scaled(" in text
    assert ")/" in text
    assert "scaled(" not in equation(model_of("polynomial"), units="scaled")
    assert "scaled(" not in equation(model_of("hinge", "polynomial"), units="original")


def test_digits_follow_the_tolerance():
    model = model_of("polynomial")
    for units in ("scaled", "original"):
        exact = np.array(list(model.unscaled(expand=False).values())) if units == "original" else model.coef
        for tolerance in (0.01, 1e-6):
            text = equation(model, units=units, tolerance=tolerance, digits=1)
            f = computed(_marked(model, text) if units == "scaled" else text, table(), model)
            assert np.abs(f - model.decision(table())).max() <= 1.01 * tolerance
        forced = equation(model, units=units, tolerance=None, digits=1)
        assert f"{abs(exact[0]):.1g}" in forced
        assert len(forced) < len(text)


def test_the_first_of_two_classes_has_the_opposite_formula():
    predictor = Predictor([model_of("polynomial", "hinge", label="ill")], ["fit", "ill"])
    X = table()
    for label, sign in (("ill", 1), ("fit", -1), (None, 1)):
        f = computed(equation(predictor, units="original", tolerance=1e-9, label=label), X, predictor.models_[0])
        np.testing.assert_allclose(f, sign * predictor.models_[0].decision(X), atol=1e-6)
    assert "f > 0 predicts class fit" in summary(predictor, label="fit")
    np.testing.assert_array_equal(term_table(predictor, label="fit").coef, -predictor.models_[0].coef)
    with pytest.raises(ValueError, match="label must be one of 'fit', 'ill', got 'well'"):
        equation(predictor, label="well")


def test_equations_of_all_outputs():
    X, y = load_iris(return_X_y=True)
    clf = RFSCClassifier(basis="step", n_restarts=1, random_state=0).fit(X, y)
    found = equations(clf, units="original")
    assert list(found) == [0, 1, 2]
    assert found == {model.label: equation(model, units="original") for model in clf.models_}
    assert list(equations(clf.models_[1])) == [1]
    assert equation(clf).splitlines() == [f"class {label}: {text}" for label, text in equations(clf).items()]
    with pytest.raises(ValueError, match=r"one of 0, 1, 2, or call equations\(clf\) for all of them\.$"):
        equation(clf, form="latex")
    assert summary(clf, label=1).startswith("f of class 1; the class with the largest f is predicted\n")


def test_by_default_the_units_are_those_of_the_table():
    model, X = model_of("polynomial", "hinge", "centred"), table()
    text = equation(model, tolerance=1e-9)
    np.testing.assert_allclose(computed(text, X, model), model.decision(X), atol=1e-6)
    assert len(text.split(" + ")) + len(text.split(" - ")) - 1 <= model.size + 2  # a product is one summand
    assert "in the units of the table" in text._repr_html_()
    assert "scaled to [0, 1]" in equation(model, units="scaled")._repr_html_()
    assert pickle.loads(pickle.dumps(text)) == text


def test_extreme_ranges_do_not_break_the_formula():
    X = np.random.default_rng(0).normal(size=(60, 4)) * [1e-300, 1e-200, 1e300, 1e200]
    model = model_of("hinge", "polynomial", "centred", n_terms=30, X=X)
    for form in ("text", "latex", "html"):
        text = equation(model, form=form)
        assert "inf" not in text
        assert "nan" not in text
    assert "scaled(max(" in equation(model)  # divided by no number that there is
    assert summary(model)
    with pytest.raises(ValueError, match="Use units='scaled'"):
        equation(model, units="original")


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"units": "metric"}, "units must be 'scaled' or 'original', got 'metric'"),
        ({"form": "word"}, "form must be 'text', 'latex', 'html' or 'sympy'"),
        ({"digits": 0}, "digits must be an integer from 1 to 17"),
        ({"digits": 2.5}, "digits must be an integer from 1 to 17"),
    ],
)
def test_bad_arguments(arguments, match):
    with pytest.raises(ValueError, match=match):
        equation(model_of("polynomial"), **arguments)
    with pytest.raises(TypeError, match=r"clf\.models_\[0\]"):
        equation("f = 2")
    with pytest.raises(NotFittedError):
        equation(RFSCClassifier())
