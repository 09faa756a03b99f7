"""The randomised search over supports."""

from .history import Candidate, IterationRecord, SearchResult
from .loop import SearchSpec, run_search
from .observers import Observer, Verdict
from .pool import pool
from .restarts import RestartsResult, run_restarts
from .rips import RIPs
from .screening import Screening

__all__ = [
    "Candidate",
    "IterationRecord",
    "Observer",
    "RIPs",
    "RestartsResult",
    "Screening",
    "SearchResult",
    "SearchSpec",
    "Verdict",
    "pool",
    "run_restarts",
    "run_search",
]
