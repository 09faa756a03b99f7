"""The space of candidate terms: an id stands for a term, its column is computed when needed."""

from .base import Term, TermSpace
from .columns import ColumnStore
from .monomials import Monomial, MonomialSpace

__all__ = ["ColumnStore", "Monomial", "MonomialSpace", "Term", "TermSpace"]
