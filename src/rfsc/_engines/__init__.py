"""Where a population of supports is fitted, pruned and scored."""

from .array_engine import ArrayEngine
from .base import Criterion, Engine, Evaluation, FitOptions, Status, Supports, Ties
from .memo import Memo
from .problem import Problem
from .registry import ENGINES, PRECISIONS, choose_engine, make_engine
from .restricted import Restricted

__all__ = [
    "ENGINES",
    "PRECISIONS",
    "ArrayEngine",
    "Criterion",
    "Engine",
    "Evaluation",
    "FitOptions",
    "Memo",
    "Problem",
    "Restricted",
    "Status",
    "Supports",
    "Ties",
    "choose_engine",
    "make_engine",
]
