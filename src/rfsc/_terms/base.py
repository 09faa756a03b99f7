"""What the search knows of terms: integer ids, and a space that turns an id into a column, a name, a formula.

Nothing outside this package may assume what a term is made of. A new basis (hinges, radial functions, ...) is a new
`Basis` with its own `TermSpace` and `Term`, and nothing else changes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from .._utils.arrays import FloatArray, IntArray
from .expression import Expression
from .scaling import Scaling


class Term(Protocol):
    """One term of a fitted model; hashable, independent of the space that it came from."""

    @property
    def features(self) -> tuple[int, ...]:
        """Indices of the features that the term reads, ascending, each once."""
        ...

    def name(self, feature_names: Sequence[str]) -> str:
        """How a person writes the term."""
        ...

    def column(self, rows: Mapping[int, FloatArray], n_samples: int) -> FloatArray:
        """Values of the term; `rows` holds the scaled values of every feature that it reads."""
        ...

    def expression(self) -> Expression:
        """What `column` computes, for those who write it down in another language."""
        ...

    def unscaled(self, scaling: Scaling) -> dict[Term, float]:
        """The same function of the features in the user's own units, as weights of terms."""
        ...

    def bound(self, ranges: Mapping[int, tuple[float, float]]) -> float:
        """A number that the absolute value of the term does not exceed where every feature is within its range."""
        ...

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers, texts and lists that `term_from_dict` turns back into an equal term."""
        ...


class TermSpace(Protocol):
    """All candidate terms of one search; an id is an integer in [0, n_terms)."""

    @property
    def n_terms(self) -> int:
        """How many candidates there are."""
        ...

    def columns(self, table: FloatArray, ids: IntArray) -> FloatArray:
        """Values of the terms `ids`, one contiguous row for each; `table` holds one row per feature."""
        ...

    def terms(self, ids: IntArray) -> tuple[Term, ...]:
        """The terms behind `ids`, as objects that outlive the space."""
        ...

    def find(self, name: str, feature_names: Sequence[str]) -> int | None:
        """Id of the term that is written so, None where there is none."""
        ...

    def parents(self, ids: IntArray) -> list[tuple[int, ...]]:
        """For every id the simpler terms that a hierarchical model holds with it; the constant is never among them."""
        ...

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """Terms that the family offers only together."""
        ...


class Unrelated:
    """What a space has whose terms stand each for itself, and are few enough to go through all names."""

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """None: every term may come in alone."""
        return ()

    def parents(self, ids: IntArray) -> list[tuple[int, ...]]:
        """No term needs another one."""
        return [()] * len(ids)

    def find(self: TermSpace, name: str, feature_names: Sequence[str]) -> int | None:
        """Id of the term that is written so, None where there is none."""
        return first_named(self, name, feature_names, np.arange(self.n_terms))


@dataclass(frozen=True, slots=True, eq=False)
class Training:
    """What a basis may look at when it lays out its terms for one output; never the classes.

    Parameters
    ----------
    table : ndarray of shape (n_features, n_rows)
        The scaled features, one row each.
    weight : ndarray of shape (n_rows,)
        Observations that each row stands for.
    features : ndarray of int
        Features that may be used, ascending.
    scaling : Scaling
        How the features were brought to [0, 1].
    """

    table: FloatArray
    weight: FloatArray
    features: IntArray
    scaling: Scaling


class Basis(Protocol):
    """A family of terms and its settings; knows how to lay out a space for given training rows."""

    def space(self, training: Training, rng: np.random.Generator) -> TermSpace:
        """The candidate terms, without the constant unless the family itself holds it."""
        ...


class DamagedTermError(ValueError):
    """What a dict lacks to describe a term, in words that show none of its values."""


def check_count(name: str, value: Any, least: int = 1) -> None:
    """Refuse a setting of a family that is not an integer of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        msg = f"{name} must be an integer of at least {least}, got {value!r}."
        raise ValueError(msg)


def quoted(name: str, marks: str = "*^+-/<>=[]") -> str:
    """The name of a feature, in brackets where a formula could be misread: ``[a*b]``, ``[a-b]``, ``[52]``, ``[]``."""
    is_number = name.replace(".", "", 1).isdigit()
    return f"[{name}]" if not name.strip() or is_number or any(mark in name for mark in marks) else name


def mentioned(name: str, features: IntArray, feature_names: Sequence[str]) -> IntArray:
    """Those of the features whose names occur in the name of a term; some may occur only within longer names."""
    return np.array([p for p in features.tolist() if feature_names[p] in name], dtype=np.int64)


def first_named(space: TermSpace, name: str, feature_names: Sequence[str], ids: IntArray) -> int | None:
    """The first of the ids whose term is written so, None where there is none."""
    pairs = zip(ids.tolist(), space.terms(ids), strict=True)
    return next((j for j, term in pairs if term.name(feature_names) == name), None)


def checked_ids(ids: IntArray, n_terms: int) -> IntArray:
    """The ids as an array, or an IndexError where one names no term of the space."""
    ids = np.asarray(ids, dtype=np.int64)
    if ids.size and (ids.min() < 0 or ids.max() >= n_terms):
        msg = f"term ids must lie in [0, {n_terms:,}), got some outside."
        raise IndexError(msg)
    return ids
