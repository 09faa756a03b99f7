"""Engines fit, prune and score a population of supports; `make_engine` goes from a name to an engine."""

from __future__ import annotations

import sys
import warnings
from functools import cache
from importlib.util import find_spec

from .base import Criterion, Engine, Evaluation, FitOptions, Memo, Restricted, Status, Supports, Ties, TyingEngine
from .problem import Problem

__all__ = [
    "ENGINES",
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

ENGINES = ("auto", "numba", "numpy", "torch")
WITHOUT_NUMBA = "rfsc: numba cannot be imported, or is turned off, so NumPy fits the models, about ten times slower\n"
LONG_TABLE = 50_000  # rows from which a search takes longer than to import PyTorch and to compile its kernels


def choose_engine(name: str, n_rows: int) -> str:
    """The engine that a name stands for on this machine: "numba", "numpy" or "torch"."""
    if name == "auto":
        return "torch" if n_rows >= LONG_TABLE and _torch_has_cuda() else _engine_of_cpu()
    if name == "torch":
        from .._utils.optional import require
        from .cuda_device import reason_against_cuda

        require("engine='torch'", ["torch"], "torch")
        reason = reason_against_cuda()
        if reason is not None:
            cpu = _engine_of_cpu()
            msg = f"engine='torch' needs a CUDA device: {reason}. The CPU is used instead (engine={cpu!r})."
            warnings.warn(msg, RuntimeWarning, stacklevel=2)
            return cpu
    if name == "numba" and not _numba_works():
        msg = "engine='numba' was asked for but numba cannot be imported, or is turned off. Use engine='numpy'."
        raise ImportError(msg)
    return name


def make_engine(name: str, problem: Problem, n_threads: int = 1) -> TyingEngine:
    """The engine that a name stands for, ready to fit supports of a problem."""
    name = choose_engine(name, problem.target.size)
    if name == "numpy":
        from .array_engine import ArrayEngine

        return ArrayEngine(problem)
    if name == "torch":
        from .cuda_device import current_device
        from .cuda_engine import CudaEngine

        return CudaEngine(problem, current_device())
    from .numba_engine import NumbaEngine

    return NumbaEngine(problem, n_threads)


@cache
def _numba_works() -> bool:
    """Whether numba compiles: it may be missing, too old for the NumPy that is installed, or turned off."""
    try:
        import numba
    except (ImportError, OSError):
        return False
    return not getattr(numba.config, "DISABLE_JIT", False)


@cache
def _engine_of_cpu() -> str:
    """The engine of "auto" without a GPU; says once in a process if it is the slow one."""
    if _numba_works():
        return "numba"
    sys.stderr.write(WITHOUT_NUMBA)
    return "numpy"


def _torch_has_cuda() -> bool:
    """Whether PyTorch is installed and finds a CUDA device that the kernels run on; importing it takes seconds."""
    if not find_spec("torch"):
        return False
    from .cuda_device import reason_against_cuda

    return reason_against_cuda() is None
