"""What the search knows of terms: integer ids, and a space that turns an id into a column, a name, a formula.

Nothing outside this package may assume what a term is made of. A new basis (hinges, radial functions, ...) is a new
`TermSpace` with its own `Term`, and nothing else changes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from .._typing import FloatArray, IntArray
from ..prepare.scaling import Scaling


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

    def unscaled(self, scaling: Scaling) -> dict[Term, float]:
        """The same function of the features in the user's own units, as weights of terms."""
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
