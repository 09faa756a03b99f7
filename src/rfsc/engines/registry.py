"""From an engine's name to an engine."""

from __future__ import annotations

from importlib.util import find_spec

from .array_engine import ArrayEngine
from .base import TyingEngine
from .problem import Problem

ENGINES = ("auto", "numba", "numpy")


def make_engine(name: str, problem: Problem, n_threads: int = 1) -> TyingEngine:
    """The engine called `name`; "auto" takes numba where it can be imported, else numpy.

    Parameters
    ----------
    name : {"auto", "numba", "numpy"}
        Which engine.
    problem : Problem
        What it will fit.
    n_threads : int
        Threads, where the engine can use them.
    """
    if name == "auto":
        name = "numba" if find_spec("numba") else "numpy"
    if name == "numpy":
        return ArrayEngine(problem)
    if not find_spec("numba"):
        msg = "engine='numba' was asked for but numba is not installed. Install numba, or use engine='numpy'."
        raise ImportError(msg)
    from .numba_engine import NumbaEngine

    return NumbaEngine(problem, n_threads)
