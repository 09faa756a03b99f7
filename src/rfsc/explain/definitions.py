"""What a reader of an equation must know beside it: what its signs mean, and the formulas behind its names."""

from __future__ import annotations

from typing import Any

from .._model import SparseModel
from .._terms.expression import Above, Equals, Exp, Ramp, Wave
from .._terms.naming import quoted, written
from .checks import check_units, check_word, one_model
from .formulas import define, write
from .notation import NOTATIONS
from .rounding import training_ranges


def marked(model: SparseModel, units: str) -> frozenset[int]:
    """Features that the equation writes as ``scaled(age)``: in scaled units, beside terms that are in the user's own.

    A feature that runs from 0 to 1, as yes-or-no columns do, is on its own scale already.
    """
    if units != "scaled" or all(term.factors is not None for term in model.terms):
        return frozenset()
    return frozenset(p for p, ends in training_ranges(model).items() if ends != (0.0, 1.0))


def definitions(source: Any, *, form: str = "text", error: float = 1e-6, label: object = None) -> dict[str, str]:
    """The whole formulas, in the user's own units, of the terms that an equation only names.

    Together with ``equation(source, units="original")`` they are all that it takes to compute f by hand.

    Parameters
    ----------
    source : SparseModel, fitted RFSCClassifier, Predictor or fitted Pipeline
        The model, or what holds it. A pipeline that shifts and scales its numbers is told in the units of the raw
        table.
    form : {"text", "latex", "html"}, default="text"
        As in `equation`.
    error : float, default=1e-6
        The numbers are rounded so far that the value of a term changes by no more than this within the training
        ranges; 0 writes all digits.
    label : object, optional
        Which class, where the source has an output for each of several.

    Returns
    -------
    dict of str to str
        From the term as the equation writes it to its formula: bumps with all centres and widths, ramps, and waves.
        Empty for products, deviations, hinges and steps, which an equation shows in full.
    """
    model = one_model(source, label)
    check_word("form", form, tuple(NOTATIONS))
    if not error >= 0.0:
        msg = f"error must be at least 0, got {error!r}."
        raise ValueError(msg)
    to, names, ranges = NOTATIONS[form], model.feature_names, training_ranges(model)
    found: dict[str, str] = {}
    for term in model.terms:
        for raw in () if term.factors is not None else term.unscaled(model.scaling):
            short, formula = write(raw, names, to), define(raw, names, to, error, ranges)
            if formula not in (None, short):
                found[short] = formula
    return found


def legend(source: Any, *, units: str = "scaled", ranges: bool = True, label: object = None) -> tuple[str, ...]:
    """How to read the equation of a model, in words.

    Parameters
    ----------
    source : SparseModel, fitted RFSCClassifier, Predictor or fitted Pipeline
        The model, or what holds it. A pipeline that shifts and scales its numbers is told in the units of the raw
        table.
    units : {"scaled", "original"}, default="scaled"
        Units of the equation that the words belong to.
    ranges : bool, default=True
        Whether to list the training ranges of the features that are scaled.
    label : object, optional
        Which class, where the source has an output for each of several.

    Returns
    -------
    tuple of str
        Sentences; none where the equation needs no words.
    """
    model = one_model(source, label)
    check_units(units)
    kinds = {type(term.expression) for term in model.terms}
    lines = _scales(model, ranges) if units == "scaled" else []
    return (*lines, *(words for group, words in WORDS if kinds & group))


def _scales(model: SparseModel, ranges: bool) -> list[str]:
    """What the [0, 1] scale means for the terms of this model."""
    lines, ends = [], training_ranges(model)
    used = sorted({p for term in model.terms if term.factors is not None for p in term.features})
    mixed = not all(term.factors is not None for term in model.terms)
    used = [p for p in used if not mixed or p in marked(model, "scaled")]
    names = {p: quoted(model.feature_names[p]) for p in used}
    told = ", ".join(f"{names[p]} from {_number(ends[p][0])} to {_number(ends[p][1])}" for p in used)
    told = f": {told}." if ranges else "."
    if used and mixed:
        lines.append(f"scaled({names[used[0]]}) is {names[used[0]]} brought to [0, 1] by its training range{told}")
    elif used:
        lines.append(f"Features are brought to [0, 1] by their training ranges{told}")
    others = [term.expression for term in model.terms if term.factors is None]
    if any(not isinstance(node, Above | Equals | Exp | Ramp | Wave) for node in others):
        lines.append(
            "Hinges and deviations are in your own units, divided by the training range of the feature, "
            "or by the product of the ranges."
        )
    return lines


def _number(value: float) -> str:
    """At most six digits."""
    return written(float(f"{value:.6g}"))


WORDS: tuple[tuple[set[type], str], ...] = (
    ({Above, Equals}, "A comparison in brackets is 1 where it is true and 0 elsewhere."),
    ({Wave}, "Angles are in radians; the numbers inside waves are rounded, `definitions` has them in full."),
    ({Ramp}, "ramp(z) is 1 / (1 + exp(-z)); its numbers are rounded, `definitions` has them in full."),
    (
        {Exp},
        "A cluster is a group of training rows: near its centre the term is 1, far away 0; "
        "`definitions` has the formulas.",
    ),
)
