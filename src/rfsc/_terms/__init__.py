"""The space of candidate terms: an id stands for a term, its column is computed when needed."""

from .base import Basis, Term, TermSpace, Training
from .columns import ColumnStore
from .monomials import Monomial, MonomialSpace
from .serial import term_from_dict
from .union import UnionSpace

__all__ = [
    "Basis",
    "ColumnStore",
    "Monomial",
    "MonomialSpace",
    "Term",
    "TermSpace",
    "Training",
    "UnionSpace",
    "term_from_dict",
]
