"""Terms: what they compute, and the spaces of candidates, in which an id stands for a term until it is needed."""

from .column_store import ColumnStore
from .polynomial import MonomialSpace, monomial
from .space import Basis, TermSpace, Training, UnionSpace
from .term import DamagedTermError, Label, Mention, Term

__all__ = [
    "Basis",
    "ColumnStore",
    "DamagedTermError",
    "Label",
    "Mention",
    "MonomialSpace",
    "Term",
    "TermSpace",
    "Training",
    "UnionSpace",
    "monomial",
]
