"""A model in words and numbers: its equation, its table of terms, what speaks for and against a class, and how sure."""

from .contributions import Contributions, ForAgainst, contributions, for_and_against
from .definitions import definitions, legend
from .equation import equation, equations
from .filter_table import FilterTable, filter_table
from .rounding import Rounded, rounded
from .sentence import explain
from .stability import Stability, stability
from .summary import summary
from .term_table import TermTable, term_table

__all__ = [
    "Contributions",
    "FilterTable",
    "ForAgainst",
    "Rounded",
    "Stability",
    "TermTable",
    "contributions",
    "definitions",
    "equation",
    "equations",
    "explain",
    "filter_table",
    "for_and_against",
    "legend",
    "rounded",
    "stability",
    "summary",
    "term_table",
]
