"""The libraries that hold arrays on a device, behind four methods; each is imported when it is asked for."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Protocol

import numpy as np

from .._utils.optional import require

FUSED_FROM = (8, 0)  # compute capability; older devices have no products of matrices in double precision
Array = Any  # of whatever library


class Kernels(Protocol):
    """Compiled kernels."""

    def launch(self, name: str, grid: tuple[int, int], threads: int, shared: int, args: Sequence[Any]) -> None:
        """Start a kernel with device arrays, numpy.int32 and numpy.int64 as arguments."""
        ...


class Device(Protocol):
    """Where arrays live."""

    fuses: bool  # whether it runs CUDA C++

    @property
    def xp(self) -> Any:
        """An array-API namespace."""
        ...

    def __hash__(self) -> int: ...

    def put(self, array: np.ndarray[Any, Any]) -> Array:
        """Copy an array to the device."""
        ...

    def get(self, array: Array) -> np.ndarray[Any, Any]:
        """Copy an array to the host."""
        ...

    def empty(self, shape: tuple[int, ...]) -> Array:
        """An array in double precision that is not initialised."""
        ...

    def compile(self, source: str, constants: Mapping[str, object]) -> Kernels:
        """Compile CUDA C++ for the device."""
        ...


class HostDevice:
    """The host under any array-API namespace.

    Parameters
    ----------
    xp : module
        The namespace.
    """

    fuses = False

    def __init__(self, xp: Any) -> None:
        self.xp = xp

    def put(self, array: np.ndarray[Any, Any]) -> Array:
        """The array in the namespace."""
        return self.xp.asarray(array)

    def get(self, array: Array) -> np.ndarray[Any, Any]:
        """The array in NumPy."""
        return np.asarray(array)

    def empty(self, shape: tuple[int, ...]) -> Array:
        """An array that is not initialised."""
        return self.xp.empty(shape, dtype=self.xp.float64)

    def compile(self, source: str, constants: Mapping[str, object]) -> Kernels:
        """Never asked for."""
        raise NotImplementedError


class TorchDevice:
    """PyTorch.

    Parameters
    ----------
    index : int or None
        Number of the CUDA device; None for the CPU.
    """

    def __init__(self, index: int | None) -> None:
        import array_api_compat.torch
        import torch

        self.xp: Any = array_api_compat.torch
        self._device = "cpu" if index is None else f"cuda:{index}"
        on_nvidia = index is not None and torch.version.cuda is not None
        self.fuses = on_nvidia and torch.cuda.get_device_capability(index) >= FUSED_FROM

    def put(self, array: np.ndarray[Any, Any]) -> Array:
        """Copy an array to the device."""
        return self.xp.asarray(np.ascontiguousarray(array), device=self._device)

    def get(self, array: Array) -> np.ndarray[Any, Any]:
        """Copy an array to the host."""
        return np.asarray(array.cpu().numpy())

    def empty(self, shape: tuple[int, ...]) -> Array:
        """An array that is not initialised."""
        return self.xp.empty(shape, dtype=self.xp.float64, device=self._device)

    def compile(self, source: str, constants: Mapping[str, object]) -> Kernels:
        """Compile CUDA C++ for the device."""
        from .nvrtc import NvrtcKernels

        return NvrtcKernels(source, constants)


class CupyDevice:
    """CuPy.

    Parameters
    ----------
    index : int
        Number of the CUDA device.
    """

    def __init__(self, index: int) -> None:
        import array_api_compat.cupy
        import cupy

        self._cupy, self.xp = cupy, array_api_compat.cupy
        capability = divmod(int(cupy.cuda.Device(index).compute_capability), 10)
        self.fuses = not cupy.cuda.runtime.is_hip and capability >= FUSED_FROM

    def put(self, array: np.ndarray[Any, Any]) -> Array:
        """Copy an array to the device."""
        return self._cupy.asarray(np.ascontiguousarray(array))

    def get(self, array: Array) -> np.ndarray[Any, Any]:
        """Copy an array to the host."""
        return np.asarray(self._cupy.asnumpy(array))

    def empty(self, shape: tuple[int, ...]) -> Array:
        """An array that is not initialised."""
        return self._cupy.empty(shape)

    def compile(self, source: str, constants: Mapping[str, object]) -> Kernels:
        """Compile CUDA C++ for the device."""
        return _CupyKernels(self._cupy, source, constants)


class _CupyKernels:
    """The kernels of one source file, compiled and launched by CuPy."""

    def __init__(self, cupy: Any, source: str, constants: Mapping[str, object]) -> None:
        options = tuple(f"-D{name}={value}" for name, value in constants.items())
        self._module = cupy.RawModule(code=source, options=options)
        self._module.compile()
        self._functions: dict[str, Any] = {}

    def launch(self, name: str, grid: tuple[int, int], threads: int, shared: int, args: Sequence[Any]) -> None:
        """Start a kernel."""
        if name not in self._functions:
            self._functions[name] = self._module.get_function(name)
        kernel = self._functions[name]
        if kernel.max_dynamic_shared_size_bytes < shared:
            kernel.max_dynamic_shared_size_bytes = shared
        kernel(grid, (threads,), tuple(args), shared_mem=shared)


def current_device(library: str) -> Device:
    """The device that a library is set to; for PyTorch without CUDA, the CPU."""
    require(f"engine={library!r}", [library, "array_api_compat"], library)
    if library == "torch":
        import torch

        return _torch_device(torch.cuda.current_device() if torch.cuda.is_available() else None)
    import cupy

    try:
        return _cupy_device(cupy.cuda.Device().id)
    except cupy.cuda.runtime.CUDARuntimeError as error:
        msg = "engine='cupy' needs a CUDA device, and CuPy finds none. Use engine='numba' on this machine."
        raise RuntimeError(msg) from error


# one object for each device: kernels are compiled once for it
_torch_device = cache(TorchDevice)
_cupy_device = cache(CupyDevice)


def warn_unfused(reason: Exception) -> None:
    """Say that the slower way is taken, and why."""
    msg = f"The fused kernels are not available, the search takes the slower array code on the device. {reason}"
    warnings.warn(msg, RuntimeWarning, stacklevel=2)
