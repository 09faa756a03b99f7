"""A CUDA device through PyTorch: arrays on it, and CUDA C++ compiled at run time by the library that PyTorch brings."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

LEAST_CAPABILITY = (8, 0)  # older devices have no products of matrices in double precision
MORE_SHARED_MEMORY = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
Array = Any  # a tensor on the device


class CudaDevice:
    """The CUDA device of a number, as PyTorch counts them; the tests have one that needs no hardware."""

    def __init__(self, index: int) -> None:
        import torch

        self._torch, self._device = torch, f"cuda:{index}"

    def put(self, array: np.ndarray[Any, Any]) -> Array:
        """Copy an array to the device."""
        return self._torch.asarray(np.require(array, requirements=("C", "W")), device=self._device)

    def get(self, array: Array) -> np.ndarray[Any, Any]:
        """Copy an array to the host."""
        return np.asarray(array.cpu().numpy())

    def empty(self, shape: tuple[int, ...]) -> Array:
        """An array in double precision that is not initialised."""
        return self._torch.empty(shape, dtype=self._torch.float64, device=self._device)

    def compile(self, source: str, constants: Mapping[str, object]) -> CudaKernels:
        """Compile CUDA C++ for the device."""
        return CudaKernels(source, constants)


_device = cache(CudaDevice)  # one object for each device: kernels are compiled once for it


def current_device() -> CudaDevice:
    """The CUDA device that PyTorch is set to."""
    import torch

    return _device(torch.cuda.current_device())


def reason_against_cuda() -> str | None:
    """Why the kernels cannot run here, or None if they can; imports PyTorch, which takes seconds."""
    import torch

    if torch.version.cuda is None or not torch.cuda.is_available():
        return "PyTorch finds no CUDA device"
    capability = torch.cuda.get_device_capability()
    if capability < LEAST_CAPABILITY:
        needed, found = (f"{major}.{minor}" for major, minor in (LEAST_CAPABILITY, capability))
        return f"the CUDA device has compute capability {found}, and at least {needed} is needed"
    try:
        _nvrtc(torch.version.cuda)
    except ImportError as error:
        return str(error)
    return None


class CudaKernels:
    """The kernels of one source file, compiled for the current device of PyTorch; loaded when one is first launched."""

    def __init__(self, source: str, constants: Mapping[str, object]) -> None:
        import torch

        self._torch = torch
        major, minor = torch.cuda.get_device_capability()
        options = [f"--gpu-architecture=sm_{major}{minor}", *(f"-D{k}={v}" for k, v in constants.items())]
        self._cubin = _machine_code(_nvrtc(torch.version.cuda), source, options)
        self._driver = ctypes.CDLL("libcuda.so.1")
        self._module = ctypes.c_void_p()
        self._functions: dict[str, ctypes.c_void_p] = {}
        # bytes that each may use; smaller tables must not lower it for larger ones
        self._most_shared: dict[str, int] = {}

    def launch(self, name: str, grid: tuple[int, int], threads: int, shared: int, args: Sequence[Any]) -> None:
        """Start a kernel with device arrays, numpy.int32 and numpy.int64 as arguments."""
        values = [_as_c(arg) for arg in args]
        pointers = (ctypes.c_void_p * len(values))(*(ctypes.addressof(value) for value in values))
        stream = ctypes.c_void_p(self._torch.cuda.current_stream().cuda_stream)
        function = self._function(name, shared)
        self._call("cuLaunchKernel", function, *grid, 1, threads, 1, 1, shared, stream, pointers, None)

    def _function(self, name: str, shared: int) -> ctypes.c_void_p:
        if not self._module:
            self._call("cuModuleLoadData", ctypes.byref(self._module), self._cubin)
        if name not in self._functions:
            found = ctypes.c_void_p()
            self._call("cuModuleGetFunction", ctypes.byref(found), self._module, name.encode())
            self._functions[name] = found
        if shared > self._most_shared.get(name, 0):
            self._call("cuFuncSetAttribute", self._functions[name], MORE_SHARED_MEMORY, shared)
            self._most_shared[name] = shared
        return self._functions[name]

    def _call(self, function: str, *args: Any) -> None:
        code = getattr(self._driver, function)(*args)
        if code:
            msg = f"{function} of the CUDA driver failed with error {code}. Use engine='numba' on this machine."
            raise RuntimeError(msg)


def _as_c(arg: Any) -> Any:
    """An argument as the driver wants it."""
    if isinstance(arg, np.int32):
        return ctypes.c_int32(int(arg))
    if isinstance(arg, np.int64):
        return ctypes.c_int64(int(arg))
    return ctypes.c_void_p(arg.data_ptr())


@cache
def _nvrtc(version: str) -> ctypes.CDLL:
    """The compiler of CUDA `version`: on the library path, or among the packages that PyTorch depends on."""
    name = f"libnvrtc.so.{version.partition('.')[0]}"
    packages = find_spec("nvidia")
    folders = packages.submodule_search_locations if packages and packages.submodule_search_locations else []
    found = [str(path) for folder in folders for path in sorted(Path(folder).glob(f"*/lib/{name}"))]
    for place in [*found, name, f"/usr/local/cuda/lib64/{name}"]:
        try:
            return ctypes.CDLL(place)
        except OSError:
            continue
    msg = f"{name} was not found (pip install nvidia-cuda-nvrtc)"
    raise ImportError(msg)


def _machine_code(nvrtc: ctypes.CDLL, source: str, options: Sequence[str]) -> bytes:
    """Compile CUDA C++ for the architecture that the options name."""
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"fused.cu", 0, None, None)
    encoded = [option.encode() for option in options]
    failed = nvrtc.nvrtcCompileProgram(program, len(encoded), (ctypes.c_char_p * len(encoded))(*encoded))
    if failed:
        nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value)
        nvrtc.nvrtcGetProgramLog(program, log)
        msg = f"the kernels do not compile for this device: {log.value.decode()}"
        raise RuntimeError(msg)
    nvrtc.nvrtcGetCUBINSize(program, ctypes.byref(size))
    cubin = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetCUBIN(program, cubin)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return cubin.raw
