"""Families of terms to search among. `RFSCClassifier(basis=...)` takes a name, one of these, or a list of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ._terms import Basis, MonomialSpace, TermSpace, Training, UnionSpace
from ._terms.centred import Centred
from ._terms.fourier import Fourier
from ._terms.hinges import Hinge
from ._terms.polynomial import Polynomial, monomials_of
from ._terms.radial import Radial
from ._terms.sigmoid import Sigmoid
from ._terms.steps import Step
from ._terms.transformed import Transformed

__all__ = [
    "CONSTANT",
    "Centred",
    "Fourier",
    "Hinge",
    "Polynomial",
    "Radial",
    "Sigmoid",
    "Step",
    "Transformed",
    "auto_mixes",
    "build_space",
    "resolve",
]

CONSTANT = 0  # id of the constant in every space that `build_space` lays out
BY_DEGREE: dict[str, Callable[[int], Basis]] = {
    "polynomial": lambda degree: Polynomial(degree=degree),
    "centred": lambda degree: Centred(degree=degree),
}
BY_NAME: dict[str, Callable[[], Basis]] = {
    "hinge": Hinge,
    "radial": Radial,
    "fourier": Fourier,
    "sigmoid": Sigmoid,
    "step": Step,
}
# with two settings they would offer the same terms, or the same names, twice
ONCE = (Centred, Hinge, Radial, Fourier, Step)
MOST_FEATURES_OF_BUMPS = 200  # beyond, nobody can say what a bump is near to, and distances all look alike


def auto_mixes(n_features: int, degree: int = 2) -> dict[str, tuple[Basis, ...]]:
    """What `basis="auto"` chooses from, by name.

    Parameters
    ----------
    degree : int
        Of the polynomials.
    n_features : int
        Of the table; where there are very many, radial functions, each of which reads them all, are left out.
    """
    # few and unlike: more mixes, or mixes of all, chose no better on the folds that this was tuned with
    mixes: dict[str, tuple[Basis, ...]] = {"polynomial": (Polynomial(degree=degree),), "hinge": (Hinge(),)}
    if degree > 1:
        mixes["centred"] = (Centred(degree=degree),)
    if n_features <= MOST_FEATURES_OF_BUMPS:
        mixes["linear + radial"] = (Polynomial(degree=1), Radial())
    return mixes


def resolve(basis: Any, degree: int = 2) -> tuple[Basis, ...]:
    """Families behind what a user wrote: a name, a family, or a list of these.

    Parameters
    ----------
    basis : str, Basis or sequence of these
        "polynomial" and "centred" take their degree from `degree`.
    degree : int
        Of the classifier.

    Returns
    -------
    tuple of Basis
        In the order in which they were given; one that was given twice comes once.
    """
    found: list[Basis] = []
    for one in _flat(basis, degree):
        if any(_same(one, other) for other in found):
            continue
        if isinstance(one, ONCE) and any(type(one) is type(other) for other in found):
            name = type(one).__name__
            msg = f"basis holds {name} with two different settings, whose terms overlap. Put them into one {name}(...)."
            raise ValueError(msg)
        found.append(one)
    if any(isinstance(one, Centred) for one in found) and any(
        isinstance(one, Polynomial) and one.degree for one in found
    ):
        msg = "basis holds both polynomials and centred products, which both hold the features themselves. Take one."
        raise ValueError(msg)
    return tuple(found)


def build_space(bases: Sequence[Basis], training: Training, seed: int) -> TermSpace:
    """Lay out all families for the training rows of one output; the constant is among the terms, once.

    Parameters
    ----------
    bases : sequence of Basis
        The families.
    training : Training
        What they may look at.
    seed : int
        Of the families that need randomness.
    """
    generators = np.random.default_rng(seed).spawn(len(bases))
    polynomials = [basis for basis in bases if isinstance(basis, Polynomial)]
    # one space for all polynomials, because they share terms: at least the constant
    first = monomials_of(polynomials, training.features) if polynomials else MonomialSpace(training.features, 0)
    pairs = zip(bases, generators, strict=True)
    others = [basis.space(training, rng) for basis, rng in pairs if not isinstance(basis, Polynomial)]
    return UnionSpace([first, *others]) if others else first


def _flat(basis: Any, degree: int) -> list[Basis]:
    """The families in the order in which they were written, those in lists within lists too."""
    if isinstance(basis, list | tuple):
        if not basis:
            msg = (
                "basis must name at least one family of terms, got an empty list. Leave it out to let the data choose."
            )
            raise ValueError(msg)
        return [one for part in basis for one in _flat(part, degree)]
    if isinstance(basis, str):
        if basis in BY_DEGREE:
            return [BY_DEGREE[basis](degree)]
        if basis in BY_NAME:
            return [BY_NAME[basis]()]
    elif isinstance(basis, type):
        msg = f"basis must be an object, got the class {basis.__name__}. Write {basis.__name__}(), with brackets."
        raise ValueError(msg)
    elif callable(getattr(basis, "space", None)):
        return [basis]
    elif hasattr(basis, "transform"):
        return [Transformed(basis)]
    if isinstance(basis, str) and basis == "auto":
        msg = 'basis="auto" chooses families by itself and cannot stand in a list. Pass it alone, or name the families.'
        raise ValueError(msg)
    known = ", ".join(repr(name) for name in (*BY_DEGREE, *BY_NAME, "auto"))
    got = repr(basis) if isinstance(basis, str) else f"a {type(basis).__name__}"
    msg = (
        f"basis must be one of {known}, a family from rfsc.bases, a fitted transformer, or a list of these; got {got}."
    )
    raise ValueError(msg)


def _same(one: Basis, other: Basis) -> bool:
    """Whether two families offer the same terms."""
    if isinstance(one, Transformed) and isinstance(other, Transformed):
        return one.transformer is other.transformer
    return type(one) is type(other) and one == other
