"""The host's side of `fused.cu`: it keeps the models of a stack on the device and calls one pass after the other."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from importlib.resources import files

import numpy as np

from .._typing import BoolArray, FloatArray, IntArray
from .base import (
    COARSE_TOL,
    MAX_HALVINGS,
    MAX_NEWTON,
    MAX_OVERSHOOT,
    MIN_LEFT_OUT,
    NEWTON_TOL,
    PIVOT_TOL,
    Score,
    Status,
)
from .device_table import TILE, DeviceTable
from .devices import Array, Device, Kernels
from .problem import Problem
from .stacks import score_of_sums

WIDTHS = (8, 16, 32, 64)  # size classes that there are kernels for
WARPS = 4  # models of one block
CHUNKS = 256  # of rows, at most; each is summed by itself
CHUNK_TILES = 4  # at least, in each chunk
PARTIAL_BYTES = 2**30  # what all chunks may write
STAGED_BYTES = 96 * 2**10  # shared memory of a block, which every device with such kernels has
PITCH_BYTES = 320  # of one staged row of the table
SMALL_THREADS = 256  # of the blocks that work on one model
MAX_COARSE = 12  # steps in single precision
CONVERGED = 2  # phases of a model from here on are final
CONSTANTS = {
    "WARPS": WARPS,
    "MAX_NEWTON": MAX_NEWTON,
    "NEWTON_TOL": NEWTON_TOL,
    "MAX_HALVINGS": MAX_HALVINGS,
    "MAX_OVERSHOOT": MAX_OVERSHOOT,
    "PIVOT_TOL": PIVOT_TOL,
    "MIN_LEFT_OUT": MIN_LEFT_OUT,
    "COARSE_TOL": COARSE_TOL,
    "MAX_COARSE": MAX_COARSE,
}


class FusedFitter:
    """Fit stacks of supports by fused kernels.

    Parameters
    ----------
    rows : DeviceTable
        The data on the device.
    device : Device
        The device.
    problem : Problem
        What to fit.
    """

    def __init__(self, rows: DeviceTable, device: Device, problem: Problem) -> None:
        self.rows, self.device = rows, device
        self.score, self.problem = problem.options.score, problem
        n_tiles = rows.n_rows // TILE
        self.chunk_rows = TILE * max(CHUNK_TILES, -(-n_tiles // CHUNKS))
        self.n_chunks = -(-rows.n_rows // self.chunk_rows)
        for width in WIDTHS:  # all at once, in the background: most are needed soon, and the largest takes seconds
            self._compiling(width, rows.degree)
        self.kernels(WIDTHS[0], rows.degree)  # what is missing shows here

    def at_once(self, width: int) -> int:
        """Most supports of one stack."""
        return max(1, PARTIAL_BYTES // (8 * self.n_chunks * n_partial(width)))

    def kernels(self, width: int, degree: int) -> Kernels:
        """The kernels for models of so many terms, each a product of so many rows."""
        return self._compiling(width, degree).result()

    def _compiling(self, width: int, degree: int) -> Future[Kernels]:
        return _compiled(self.device, width, degree, self.staged, self.rows.single is not None)

    @property
    def staged(self) -> bool:
        """Whether a tile of the table fits into shared memory, beside everything else."""
        return 2 * PITCH_BYTES * self.rows.table.shape[0] <= STAGED_BYTES

    def tile_bytes(self) -> int:
        """Shared memory that the tiles take."""
        return 2 * PITCH_BYTES * int(self.rows.table.shape[0]) if self.staged else 0

    def fit(self, factors: IntArray, penalty: FloatArray, start: FloatArray, coarse: BoolArray) -> FusedStack:
        """Fit a stack.

        Parameters
        ----------
        factors : ndarray of shape (n_models, width, degree)
            Rows of the table whose product each term is.
        penalty, start : ndarray of shape (n_models, width)
            Penalties, and coefficients to start from.
        coarse : ndarray of bool, shape (n_models,)
            Which models begin in single precision.
        """
        stack = FusedStack(self, factors, penalty, start)
        stack.run(coarse)
        return stack


class FusedStack:
    """Models that are fitted together, on the device.

    Parameters
    ----------
    fitter : FusedFitter
        Data and kernels.
    factors, penalty, start : ndarray
        As in `FusedFitter.fit`.
    """

    def __init__(self, fitter: FusedFitter, factors: IntArray, penalty: FloatArray, start: FloatArray) -> None:
        self._fitter, self._device = fitter, fitter.device
        n_models, self._width, self._degree = factors.shape
        self._kernels = fitter.kernels(self._width, self._degree)
        put, square = self._device.put, (n_models, self._width, self._width)
        self._factors, self._penalty = put(factors), put(penalty)
        self._coef, self._step, self._variance = put(start), put(np.zeros_like(start)), put(np.zeros_like(start))
        self._decrement = put(np.zeros(n_models))
        self._hessian, self._inverse = self._device.empty(square), self._device.empty(square)
        self._small = 8 * (2 * self._width * (self._width + 1) + 3 * self._width)  # bytes

    def run(self, coarse: BoolArray) -> None:
        """Newton's method for all models."""
        state = np.zeros((self._coef.shape[0], 4), dtype=np.int32)  # phase, coarse, steps, halvings
        state[:, 1] = coarse
        states = self._device.put(state)
        running = np.arange(state.shape[0])
        while running.size:
            for single in (True, False):
                some = running[state[running, 1] == single]
                if some.size:
                    self._pass(some, states, single)
            state = self._device.get(states)
            running = np.flatnonzero(state[:, 0] < CONVERGED)
        converged = state[:, 0] == CONVERGED
        self.coef: FloatArray = self._device.get(self._coef) + self._device.get(self._step)
        self.variance: FloatArray = self._device.get(self._variance)
        self.status = np.where(converged, int(Status.CONVERGED), int(Status.STOPPED))
        self.steps: IntArray = state[:, 2].astype(np.int64)

    def _pass(self, models: IntArray, states: Array, single: bool) -> None:
        """Derivatives of some models at the ends of their steps, and what follows from them."""
        fitter, rows = self._fitter, self._fitter.rows
        active = self._device.put(models.astype(np.int32))
        partial = self._device.empty((fitter.n_chunks, models.size, n_partial(self._width)))
        own = (self._factors, self._coef, self._step, active)
        name = "derivatives_float32" if single else "derivatives_float64"
        self._over_rows(name, models.size, WARPS * 2 * TILE * 8, rows.single if single else rows.table, own, (), partial)
        updated = (self._coef, self._step, self._decrement, self._hessian, self._inverse, self._variance, states)
        args = (partial, np.int32(fitter.n_chunks), active, self._penalty, *updated)
        self._kernels.launch("advance", (models.size, 1), SMALL_THREADS, self._small, args)

    def without(self, dropped: BoolArray) -> FloatArray:
        """Coefficients to start from when some terms are dropped (as zeros)."""
        stays, coef = self._device.put((~dropped).astype(np.int32)), self._device.put(self.coef)
        self._kernels.launch(
            "without", (dropped.shape[0], 1), SMALL_THREADS, self._small, (self._hessian, stays, coef)
        )
        return np.where(dropped, 0.0, self._device.get(coef))

    def score(self, which: IntArray) -> tuple[FloatArray, FloatArray]:
        """Score and mean log-loss of the models at some positions."""
        fitter = self._fitter
        partial = self._device.empty((fitter.n_chunks, which.size, 3))
        own = (self._factors, self._coef, self._inverse, self._device.put(which.astype(np.int32)))
        leave_out = np.int32(fitter.score.leaves_one_out)
        self._over_rows("scores", which.size, WARPS * TILE * 8, fitter.rows.table, own, (leave_out,), partial)
        sums = self._device.get(partial).sum(axis=0)
        hits = None if fitter.score in (Score.LOG_LOSS, Score.LOO_LOG_LOSS) else (sums[:, 1], sums[:, 2])
        return score_of_sums(fitter.score, sums[:, 0], hits, fitter.problem.target, fitter.problem.weight)

    def _over_rows(
        self,
        name: str,
        n_models: int,
        shared: int,
        table: Array,
        own: tuple[Array, ...],
        more: tuple[np.int32, ...],
        partial: Array,
    ) -> None:
        """Launch a kernel over all chunks of rows; neighbouring blocks read the same rows, for different models."""
        fitter, rows = self._fitter, self._fitter.rows
        data = (table, np.int64(rows.n_rows), np.int32(table.shape[0]), rows.target, rows.weight)
        cut = (np.int32(n_models), np.int32(fitter.chunk_rows), np.int32(rows.n_rows))
        grid = (-(-n_models // WARPS), fitter.n_chunks)
        self._kernels.launch(name, grid, WARPS * 32, shared + fitter.tile_bytes(), (*data, *own, *cut, *more, partial))


@cache
def _compiled(device: Device, width: int, degree: int, staged: bool, single: bool) -> Future[Kernels]:
    """Kernels in the making, once for all engines."""
    source = files(__package__).joinpath("fused.cu").read_text()
    own = {"TERMS": width, "DEGREE": degree, "STAGED": int(staged), "SINGLE": int(single)}
    return _compilers().submit(device.compile, source, own | CONSTANTS)


@cache
def _compilers() -> ThreadPoolExecutor:
    """The thread that compiles; the compiler takes one source at a time."""
    return ThreadPoolExecutor(1, "rfsc-compiler")


def n_partial(width: int) -> int:
    """Numbers that a chunk of rows adds up for a model: blocks of 8 x 8 of half the Hessian, and the gradient."""
    blocks = width // 8
    return 32 * blocks * (blocks + 1) + width
