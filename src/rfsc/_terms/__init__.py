"""Terms: what they compute, and the spaces of candidates, in which an id stands for a term until it is needed."""

from .polynomial import MonomialSpace, monomial
from .space import Basis, TermSpace, Training, UnionSpace
from .term import DamagedTermError, Mention, Term

__all__ = [
    "Basis",
    "DamagedTermError",
    "Mention",
    "MonomialSpace",
    "Term",
    "TermSpace",
    "Training",
    "UnionSpace",
    "monomial",
]
