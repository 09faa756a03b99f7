"""CUDA C++ for PyTorch: compile at run time with the library that PyTorch brings, launch on its current stream."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

MORE_SHARED_MEMORY = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES


class NvrtcKernels:
    """The kernels of one source file, compiled for the current device of PyTorch; loaded when one is first launched.

    Parameters
    ----------
    source : str
        CUDA C++.
    constants : mapping of str to object
        Macros.
    """

    def __init__(self, source: str, constants: Mapping[str, object]) -> None:
        import torch

        self._torch = torch
        major, minor = torch.cuda.get_device_capability()
        options = [f"--gpu-architecture=sm_{major}{minor}", *(f"-D{k}={v}" for k, v in constants.items())]
        self._cubin = _compile(_nvrtc(torch.version.cuda), source, options)
        self._driver = ctypes.CDLL("libcuda.so.1")
        self._module = ctypes.c_void_p()
        self._functions: dict[tuple[str, int], ctypes.c_void_p] = {}

    def launch(self, name: str, grid: tuple[int, int], threads: int, shared: int, args: Sequence[Any]) -> None:
        """Start a kernel."""
        values = [_as_c(arg) for arg in args]
        pointers = (ctypes.c_void_p * len(values))(*(ctypes.addressof(value) for value in values))
        stream = ctypes.c_void_p(self._torch.cuda.current_stream().cuda_stream)
        self._call(
            "cuLaunchKernel", self._function(name, shared), *grid, 1, threads, 1, 1, shared, stream, pointers, None
        )

    def _function(self, name: str, shared: int) -> ctypes.c_void_p:
        if not self._module:
            self._call("cuModuleLoadData", ctypes.byref(self._module), self._cubin)
        if (name, shared) not in self._functions:
            found = ctypes.c_void_p()
            self._call("cuModuleGetFunction", ctypes.byref(found), self._module, name.encode())
            self._call("cuFuncSetAttribute", found, MORE_SHARED_MEMORY, shared)
            self._functions[name, shared] = found
        return self._functions[name, shared]

    def _call(self, function: str, *args: Any) -> None:
        code = getattr(self._driver, function)(*args)
        if code:
            msg = f"the CUDA driver answered {function} with error {code}. Use engine='numba' on this machine."
            raise RuntimeError(msg)


def _as_c(arg: Any) -> Any:
    """An argument as the driver wants it."""
    if isinstance(arg, np.int32):
        return ctypes.c_int32(int(arg))
    if isinstance(arg, np.int64):
        return ctypes.c_int64(int(arg))
    return ctypes.c_void_p(arg.data_ptr())


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
    msg = f"{name} was not found: install nvidia-cuda-nvrtc."
    raise ImportError(msg)


def _compile(nvrtc: ctypes.CDLL, source: str, options: Sequence[str]) -> bytes:
    """Machine code of a source."""
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
