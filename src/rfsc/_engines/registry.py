"""From an engine's name to an engine."""

from __future__ import annotations

from importlib.util import find_spec

from .array_engine import ArrayEngine
from .base import TyingEngine
from .problem import Problem

ENGINES = ("auto", "numba", "numpy", "torch", "cupy", "dask")
ON_DEVICE = ("torch", "cupy")
PRECISIONS = ("float64", "float32")
LONG_TABLE = 50_000  # rows from which a search is longer than it takes to import PyTorch and to compile its kernels


def choose_engine(name: str, n_rows: int, precision: str = "float64") -> str:
    """The engine that a name stands for."""
    if name == "dask" and precision == "float64":
        name = "auto"
    if name == "auto":
        if n_rows >= LONG_TABLE and _torch_has_cuda():
            return "torch"
        name = "numba" if find_spec("numba") else "numpy"
    elif precision != "float64" and name not in ON_DEVICE:
        msg = (
            f"precision={precision!r} needs an engine on a device, got engine={name!r}. Use engine='torch' or "
            "engine='cupy', or precision='float64'."
        )
        raise ValueError(msg)
    return name


def make_engine(name: str, problem: Problem, n_threads: int = 1, precision: str = "float64") -> TyingEngine:
    """The engine called `name`."""
    name = choose_engine(name, problem.target.size, precision)
    if name == "numpy":
        return ArrayEngine(problem)
    if name in ON_DEVICE:
        from .device_engine import DeviceEngine
        from .devices import current_device

        return DeviceEngine(problem, current_device(name), precision)
    if not find_spec("numba"):
        msg = "engine='numba' was asked for but numba is not installed. Install numba, or use engine='numpy'."
        raise ImportError(msg)
    from .numba_engine import NumbaEngine

    return NumbaEngine(problem, n_threads)


def _torch_has_cuda() -> bool:
    """Whether PyTorch is installed and finds a CUDA device; importing it takes seconds."""
    if not (find_spec("torch") and find_spec("array_api_compat")):
        return False
    import torch

    return bool(torch.cuda.is_available())
