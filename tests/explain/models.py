"""Models of every family for the tests of explanations, and a reader of what they print."""

from __future__ import annotations

import re

import numpy as np

from rfsc import SparseModel
from rfsc.bases import Centred, Fourier, Hinge, Polynomial, Radial, Rule, Sigmoid, Step
from tests.terms.layout import training_of

NAMES = ("a", "b", "c", "d")
FAMILIES = {
    "polynomial": Polynomial(degree=3),
    "centred": Centred(degree=3),
    "hinge": Hinge(products=True),
    "step": Step(levels=True),
    "rule": Rule(n_knots=3),
    "fourier": Fourier(),
    "radial": Radial(n_centres=6),
    "sigmoid": Sigmoid(n_terms=30),
}


def table(seed=0, n=60):
    """Quantities of different size and place, one around zero, and whole numbers."""
    rng = np.random.default_rng(seed)
    columns = [rng.normal(50, 12, n), rng.normal(0, 1e-3, n), 2000 + rng.normal(0, 3, n), rng.integers(-2, 5, n)]
    return np.column_stack(columns).astype(float)


def model_of(*families, seed=0, n_terms=6, names=NAMES, constant=True, label="yes", X=None):
    """Random terms of the families with random coefficients, and standard errors."""
    rng = np.random.default_rng(seed)
    training = training_of(table(seed) if X is None else X)
    terms = []
    for family in families:
        space = FAMILIES[family].space(training, rng)
        ids = rng.choice(space.n_terms, min(n_terms, space.n_terms), replace=False)
        terms += [term for term in space.terms(np.sort(ids)) if term.features]
    if constant:
        terms += [FAMILIES["polynomial"].space(training, rng).terms(np.array([0]))[0]]
    terms = tuple(dict.fromkeys(terms))
    coef = rng.normal(0, 3, len(terms))
    return SparseModel(terms, coef, np.abs(coef) / 4 + 0.1, training.scaling, tuple(names), label, 60.0, None)


def computed(text, X, model, definitions=None):
    """What a person gets who types the printed formula, and the definitions beside it, into a calculator."""
    text = text.removeprefix("f = ")
    for name in sorted(definitions or {}, key=len, reverse=True):
        text = text.replace(name, f"({definitions[name]})")
    values = dict(zip(NAMES, X.T, strict=True))
    low, high = 2 * model.scaling.half_minimum, 2 * (model.scaling.half_minimum + model.scaling.half_span)
    on_scale = {id(values[name]): (values[name] - low[p]) / (high[p] - low[p]) for p, name in enumerate(NAMES)}
    functions = {
        "max": np.maximum,
        "sin": np.sin,
        "cos": np.cos,
        "exp": np.exp,
        "pi": np.pi,
        "scaled": lambda x: on_scale[id(x)],
    }
    return eval(_as_python(text), {**functions, **values})


def _as_python(text):
    """The formula for arrays: powers, equality, intervals, and conditions that hold together."""
    text = re.sub(r"([-\d.e]+)<(\w+)<=([-\d.e]+)", r"\1<\2 and \2<=\3", text.replace("^", "**"))
    text = re.sub(r"(?<![<>])=", "==", text)
    return re.sub(r"\(([^()]* and [^()]*)\)", lambda found: f"(({found[1].replace(' and ', ')&(')}))", text)
