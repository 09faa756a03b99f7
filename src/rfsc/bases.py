"""Families of terms to search among. `RFSCClassifier(basis=...)` takes a name, one of these, or a list of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ._terms import Basis, MonomialSpace, Term, TermSpace, Training, UnionSpace
from ._terms.centred import Centred
from ._terms.fourier import Fourier
from ._terms.hinges import Hinge
from ._terms.polynomial import Polynomial, monomials_of
from ._terms.radial import Radial
from ._terms.repeats import repeated
from ._terms.rules import Rule
from ._terms.sigmoid import Sigmoid
from ._terms.steps import Step

__all__ = ["Centred", "Fourier", "Hinge", "Polynomial", "Radial", "Rule", "Sigmoid", "Step"]

FAMILIES: dict[str, type[Basis]] = {
    "polynomial": Polynomial,
    "centred": Centred,
    "hinge": Hinge,
    "rule": Rule,
    "radial": Radial,
    "fourier": Fourier,
    "sigmoid": Sigmoid,
    "step": Step,
}
# with two settings they would offer the same terms, or the same names, twice
ONLY_ONCE = (Centred, Hinge, Radial, Rule, Fourier, Step)
MOST_WORK = {"polynomial": 1e9, "centred": 2e8}  # pairs of features x rows; beyond, one kind of product is enough
CUTS_OF_RULES = {10: 10, 60: 5, 100: 3}  # by the most features: so many rules are tested in the time of other mixes
MAX_FEATURES_OF_RADIAL = 200  # beyond, a centre cannot be described, and distances are all alike


def auto_mixes(n_features: int, n_rows: int) -> dict[str, tuple[Basis, ...]]:
    """What `basis="auto"` chooses from, by name, the most readable first.

    Products and rules of very many features would take too long to test in every fold; radial functions read all
    features.
    """
    mixes: dict[str, tuple[Basis, ...]] = {"linear": (Polynomial(degree=1),)}
    products: dict[str, tuple[Basis, ...]] = {"polynomial": (Polynomial(),), "centred": (Centred(),)}
    mixes |= {name: bases for name, bases in products.items() if n_features**2 / 2 * n_rows <= MOST_WORK[name]}
    cuts = next((n_cuts for most, n_cuts in CUTS_OF_RULES.items() if n_features <= most), 0)
    if cuts:
        mixes["rule"] = (Rule(n_knots=cuts),)
    mixes["hinge"] = (Hinge(),)
    if n_features <= MAX_FEATURES_OF_RADIAL:
        mixes["linear + radial"] = (Polynomial(degree=1), Radial())
    return mixes


def name_of(bases: Sequence[Basis]) -> str:
    """What messages call families."""
    names = {family: name for name, family in FAMILIES.items()}
    return " + ".join(names.get(type(basis), type(basis).__name__) for basis in bases)


def resolve(basis: Any) -> tuple[Basis, ...]:
    """Families behind what a user wrote (a name, a family, or a list of these), in this order, each once."""
    found: list[Basis] = []
    for one in _flat(basis):
        if one in found:
            continue
        if isinstance(one, ONLY_ONCE) and any(type(one) is type(other) for other in found):
            name = type(one).__name__
            msg = f"basis holds {name} with two different settings, whose terms overlap. Put them into one {name}(...)."
            raise ValueError(msg)
        found.append(one)
    polynomials = [one for one in found if isinstance(one, Polynomial) and one.degree]
    if polynomials and any(isinstance(one, Centred) for one in found):
        msg = "basis holds both polynomials and centred products, which both hold the features themselves. Take one."
        raise ValueError(msg)
    if any(isinstance(one, Step) for one in found) and any(isinstance(one, Rule) for one in found):
        msg = "basis holds both steps and rules, but every step is a rule of one condition. Leave out the steps."
        raise ValueError(msg)
    return tuple(found)


def build_space(bases: Sequence[Basis], training: Training, seed: int) -> TermSpace:
    """Lay out all families for the training rows of one output; the constant is among the terms, once."""
    generators = np.random.default_rng(seed).spawn(len(bases))
    polynomials = [basis for basis in bases if isinstance(basis, Polynomial)]
    # one space for all polynomials, because they share terms: at least the constant
    features = training.features
    first = monomials_of(polynomials, features, training.binary) if polynomials else MonomialSpace(features, 0)
    pairs = zip(bases, generators, strict=True)
    others = [_space_of(basis, training, rng) for basis, rng in pairs if not isinstance(basis, Polynomial)]
    spaces = [first, *others]
    return UnionSpace(spaces, repeated(spaces, training)) if others else first


def _space_of(basis: Basis, training: Training, rng: np.random.Generator) -> TermSpace:
    """The terms of a family, checked: it may be written by a user."""
    space, name = basis.space(training, rng), type(basis).__name__
    if not isinstance(space, TermSpace) or not isinstance(getattr(space, "n_terms", None), int | np.integer):
        msg = f"{name}.space must return a TermSpace that sets n_terms, got an object of type {type(space).__name__}."
        raise TypeError(msg)
    if space.n_terms and not isinstance(space.term(0), Term):
        msg = f"the space of {name} must give Term(expression) for every id, got {type(space.term(0)).__name__}."
        raise TypeError(msg)
    return space


def _flat(basis: Any) -> list[Basis]:
    """The families in the order in which they were written, also those in lists within lists."""
    if isinstance(basis, list | tuple):
        if not basis:
            msg = (
                "basis must name at least one family of terms, got an empty list. Leave it out to let the data choose."
            )
            raise ValueError(msg)
        return [one for part in basis for one in _flat(part)]
    if isinstance(basis, str) and basis in FAMILIES:
        return [FAMILIES[basis]()]
    if isinstance(basis, type):
        msg = f"basis must be an object, got the class {basis.__name__}. Write {basis.__name__}(), with brackets."
        raise ValueError(msg)
    if callable(getattr(basis, "space", None)):
        if type(basis).__hash__ is None:
            msg = f"a family must be hashable, but {type(basis).__name__} is not. Make it a frozen dataclass."
            raise ValueError(msg)
        return [basis]
    if isinstance(basis, str) and basis == "auto":
        msg = 'basis="auto" chooses families by itself and cannot stand in a list. Pass it alone, or name the families.'
        raise ValueError(msg)
    known = ", ".join(repr(name) for name in (*FAMILIES, "auto"))
    got = repr(basis) if isinstance(basis, str) else f"an object of type {type(basis).__name__}"
    msg = f"basis must be one of {known}, a family from rfsc.bases, or a list of these; got {got}."
    raise ValueError(msg)
