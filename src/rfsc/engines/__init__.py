"""Where a population of supports is fitted, pruned and scored."""

from .array_engine import ArrayEngine
from .base import Engine, Evaluation, FitOptions, Score, Status, Supports
from .memo import Memo
from .problem import Problem
from .registry import ENGINES, make_engine

__all__ = [
    "ENGINES",
    "ArrayEngine",
    "Engine",
    "Evaluation",
    "FitOptions",
    "Memo",
    "Problem",
    "Score",
    "Status",
    "Supports",
    "make_engine",
]
