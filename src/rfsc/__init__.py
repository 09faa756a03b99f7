"""Small, readable, accurate classifiers: sparse polynomials found by a randomised search (RFSC).

To read the code, take five files from top to bottom: `classifier.py`, `search/loop.py`, `search/rips.py`,
`engines/base.py`, and the kernels (`engines/array_engine.py` in plain array code, `engines/kernels.py` compiled).
"""

from ._version import __version__
from .classifier import RFSCClassifier
from .model import SparseModel
from .restrictions import Restrictions
from .search import IterationRecord, SearchResult, Verdict
from .selectors import DistanceCorrelationFilter, RFSCSelector

__all__ = [
    "DistanceCorrelationFilter",
    "IterationRecord",
    "RFSCClassifier",
    "RFSCSelector",
    "Restrictions",
    "SearchResult",
    "SparseModel",
    "Verdict",
    "__version__",
]
