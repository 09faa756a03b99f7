"""The randomised search over supports."""

from .checkpoint import Checkpoint, CheckpointError
from .history import Candidate, IterationRecord, SearchResult
from .loop import SearchSpec, run_search
from .observers import Observer, Verdict
from .pool import pool
from .restarts import RestartsResult, run_restarts
from .rips import RIPs
from .rounds import Round
from .screening import Screening
from .stopping import Brake, StopAfter
from .subsample import RankSubsamples, Subsamples, sample_size

__all__ = [
    "Brake",
    "Candidate",
    "Checkpoint",
    "CheckpointError",
    "IterationRecord",
    "Observer",
    "RIPs",
    "RankSubsamples",
    "RestartsResult",
    "Round",
    "Screening",
    "SearchResult",
    "SearchSpec",
    "StopAfter",
    "Subsamples",
    "Verdict",
    "pool",
    "run_restarts",
    "run_search",
    "sample_size",
]
