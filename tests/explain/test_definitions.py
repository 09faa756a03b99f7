"""What stands beside an equation: enough to compute it, and words that are true."""

from __future__ import annotations

import numpy as np
import pytest

from rfsc.explain import definitions, equation, legend

from .models import FAMILIES, computed, model_of, table


@pytest.mark.parametrize("family", ["radial", "sigmoid", "fourier"])
@pytest.mark.parametrize("error", [1e-3, 1e-6])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_rounded_definitions_are_as_close_as_they_say(family, error, seed):
    model = model_of(family, seed=seed, n_terms=20, constant=False)
    X = table(seed)  # the training rows, hence within the ranges
    found = definitions(model, error=error)
    worst = 0.0
    for term in model.terms:
        (raw,) = term.unscaled(model.scaling)
        name = raw.name(model.feature_names)
        formula = found.get(name, name if family == "fourier" else "")  # a wave may be exact already
        worst = max(worst, np.abs(computed(formula, X, model) - term.column(model.scaling.table(X), len(X))).max())
    assert worst <= error
    assert worst > error / 1e4  # and not much longer than needed


@pytest.mark.parametrize("family", ["polynomial", "centred", "hinge", "step"])
def test_what_an_equation_spells_out_is_not_defined_again(family):
    assert definitions(model_of(family)) == {}


def test_names_of_the_equation_are_those_that_are_defined():
    model = model_of("radial", "sigmoid", "fourier")
    for form in ("text", "latex", "html"):
        text = equation(model, form=form, units="original")
        assert definitions(model, form=form)
        assert all(name in text for name in definitions(model, form=form))


def test_legend_says_what_is_scaled_and_how():
    model = model_of("polynomial")
    (line,) = legend(model)
    for p in model.features:
        low = 2 * model.scaling.half_minimum[p]
        assert f"{model.feature_names[p]} from {float(f'{low:.6g}'):g}"[:8] in line
    assert legend(model, units="original") == ()
    assert "from" not in " ".join(legend(model, ranges=False))
    mixed = legend(model_of("hinge", "polynomial"))
    assert mixed[0].startswith("scaled(")
    assert "divided by the training range" in mixed[1]


@pytest.mark.parametrize(
    ("family", "words"),
    [
        ("step", "comparison"),
        ("rule", "comparison"),
        ("sigmoid", "ramp(z)"),
        ("radial", "cluster"),
        ("fourier", "radians"),
    ],
)
def test_legend_explains_the_kinds_of_terms(family, words):
    for units in ("scaled", "original"):
        assert any(words in line for line in legend(model_of(family), units=units))
    alike = ("step", "rule") if family in ("step", "rule") else (family,)
    others = [other for other in FAMILIES if other not in alike]
    assert not any(words in line for line in legend(model_of(*others), units="original"))


def test_bad_arguments():
    with pytest.raises(ValueError, match="error must be at least 0"):
        definitions(model_of("radial"), error=-1.0)
    with pytest.raises(ValueError, match="form must be 'text', 'latex' or 'html'"):
        definitions(model_of("radial"), form="sympy")
