"""A model in words and numbers: its equation, its table of terms, and why a row gets its class."""

from .contributions import Contributions, contributions
from .effects import FeatureEffects, feature_effects
from .equation import definitions, equation, equations, legend
from .front import Front
from .rounding import Rounded, rounded
from .sentence import explain
from .stability import Stability, stability
from .term_table import TermTable, summary, term_table

__all__ = [
    "Contributions",
    "FeatureEffects",
    "Front",
    "Rounded",
    "Stability",
    "TermTable",
    "contributions",
    "definitions",
    "equation",
    "equations",
    "explain",
    "feature_effects",
    "legend",
    "rounded",
    "stability",
    "summary",
    "term_table",
]
