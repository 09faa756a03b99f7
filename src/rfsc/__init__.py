"""Small, readable, accurate classifiers found by a randomised search (RFSC).

To read the code, begin with `classifier.py`, `_search/loop.py` and `_search/rips.py`; the map is docs/architecture.md.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._version import __version__

if TYPE_CHECKING:
    from ._model.sparse_model import SparseModel
    from ._search.checkpoint import Checkpoint
    from ._search.context import StopAfter, Verdict
    from ._search.history import IterationRecord, SearchResult
    from ._search.loop import SearchSettings
    from .classifier import RFSCClassifier
    from .restrictions import Restrictions
    from .selectors import DistanceCorrelationFilter, RFSCSelector

__all__ = [
    "Checkpoint",
    "DistanceCorrelationFilter",
    "IterationRecord",
    "RFSCClassifier",
    "RFSCSelector",
    "Restrictions",
    "SearchResult",
    "SearchSettings",
    "SparseModel",
    "StopAfter",
    "Verdict",
    "__version__",
]

# imported when asked for: `rfsc --help` must not wait for scikit-learn
_HOMES = {
    "Checkpoint": "_search.checkpoint",
    "DistanceCorrelationFilter": "selectors",
    "IterationRecord": "_search.history",
    "RFSCClassifier": "classifier",
    "RFSCSelector": "selectors",
    "Restrictions": "restrictions",
    "SearchResult": "_search.history",
    "SearchSettings": "_search.loop",
    "SparseModel": "_model.sparse_model",
    "StopAfter": "_search.context",
    "Verdict": "_search.context",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        msg = f"module 'rfsc' has no attribute {name!r}"
        raise AttributeError(msg)
    found = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
