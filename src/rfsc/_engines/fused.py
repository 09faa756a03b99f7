"""The host's side of `fused.cu`: it keeps the models of a stack on the device and calls one pass after the other."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from importlib.resources import files

import numpy as np
import numpy.typing as npt

from .._utils.arrays import BoolArray, FloatArray, IntArray
from .base import (
    COARSE_RANGE,
    COARSE_TOL,
    MAX_HALVINGS,
    MAX_NEWTON,
    MAX_OVERSHOOT,
    MIN_LEFT_OUT,
    NEWTON_TOL,
    PIVOT_TOL,
    Criterion,
    Status,
)
from .device_table import TILE, DeviceTable
from .devices import Array, Device, Kernels
from .problem import Problem
from .stacks import score_of_sums

WIDTHS = (8, 16, 24, 32, 48, 64)  # size classes that there are kernels for
WARPS = 4  # models of one block
CHUNKS = 256  # of rows, at most; each is summed by itself
CHUNK_TILES = 4  # at least, in each chunk
SHARE = 16  # the first steps see one tile out of so many, where chunks are long enough
PARTIAL_BYTES = 2**30  # what all chunks may write
STAGED_BYTES = 96 * 2**10  # shared memory of a block, which every device with such kernels has
PITCH_BYTES = 320  # of one staged row of the table
SMALL_THREADS = 256  # of the blocks that work on one model
MAX_COARSE = 12  # steps that see some rows only, or single precision
# squared decrement for each term that is left when these are over: about SHARE, unless some rows are unlike the others
MAX_RESUME = 64.0 * SHARE
ALL_ROWS, SINGLE_PRECISION, SOME_ROWS = range(3)  # how derivatives are computed
CONVERGED = 2  # phases of a model from here on are final
CONSTANTS: dict[str, float] = {
    "WARPS": WARPS,
    "MAX_NEWTON": MAX_NEWTON,
    "NEWTON_TOL": NEWTON_TOL,
    "MAX_HALVINGS": MAX_HALVINGS,
    "MAX_OVERSHOOT": MAX_OVERSHOOT,
    "PIVOT_TOL": PIVOT_TOL,
    "MIN_LEFT_OUT": MIN_LEFT_OUT,
    "COARSE_TOL": COARSE_TOL,
    "COARSE_RANGE": COARSE_RANGE,
    "MAX_COARSE": MAX_COARSE,
    "MAX_RESUME": MAX_RESUME,
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
        self.criterion = problem.options.criterion
        n_tiles = rows.n_rows // TILE
        self.chunk_rows = TILE * max(CHUNK_TILES, -(-n_tiles // CHUNKS))
        self.n_chunks = -(-rows.n_rows // self.chunk_rows)
        self.kernels(WIDTHS[0], rows.degree)  # what is missing shows here

    def at_once(self, width: int) -> int:
        """Most supports of one stack."""
        return int(max(1, PARTIAL_BYTES // (8 * self.n_chunks * n_partial(width))))

    def kernels(self, width: int, degree: int) -> Kernels:
        """The kernels for models of so many terms, each a product of so many rows."""
        found = self._compiling(width, degree)
        for larger in WIDTHS[WIDTHS.index(width) + 1 :][:1]:  # models grow during a search: ready when they get there
            self._compiling(larger, degree)
        return found.result()

    def _compiling(self, width: int, degree: int) -> Future[Kernels]:
        return _compiled(self.device, width, degree, self.staged, self.rows.single is not None)

    @property
    def staged(self) -> bool:
        """Whether a tile of the table fits into shared memory, beside everything else."""
        return bool(2 * PITCH_BYTES * self.rows.table.shape[0] <= STAGED_BYTES)

    def tile_bytes(self) -> int:
        """Shared memory that the tiles take."""
        return 2 * PITCH_BYTES * int(self.rows.table.shape[0]) if self.staged else 0

    @property
    def coarsest(self) -> int:
        """How the first derivatives are computed."""
        if self.chunk_rows >= SHARE * TILE:
            return SOME_ROWS
        return ALL_ROWS if self.rows.single is None else SINGLE_PRECISION

    def fit(self, factors: npt.NDArray[np.int32], penalty: FloatArray, start: FloatArray) -> FusedStack:
        """Fit a stack."""
        # what is left of a pruned support starts close to its minimum: nothing to gain from coarse steps
        return FusedStack(self, factors, penalty, start).run(np.where(start.any(axis=1), ALL_ROWS, self.coarsest))


class FusedStack:
    """Models that are fitted together, on the device.

    Parameters
    ----------
    fitter : FusedFitter
        Data and kernels.
    factors, penalty, start : ndarray
        As in `FusedFitter.fit`.
    """

    def __init__(
        self, fitter: FusedFitter, factors: npt.NDArray[np.int32], penalty: FloatArray, start: FloatArray
    ) -> None:
        self._fitter, self._device = fitter, fitter.device
        n_models, self._width, self._degree = factors.shape
        self._kernels = fitter.kernels(self._width, self._degree)
        put, square = self._device.put, (n_models, self._width, self._width)
        self._factors, self._penalty = put(factors), put(penalty)
        self._coef, self._step, self._variance = put(start), put(np.zeros_like(start)), put(np.zeros_like(start))
        self._decrement = put(np.zeros(n_models))
        self._hessian, self._inverse = self._device.empty(square), self._device.empty(square)
        self._small = 8 * (2 * self._width * (self._width + 1) + 3 * self._width)  # bytes
        self._threads = SMALL_THREADS // self._width * self._width

    def run(self, level: IntArray) -> FusedStack:
        """Newton's method for all models, from the given levels on."""
        state = np.zeros((self._coef.shape[0], 4), dtype=np.int32)  # phase, level, steps, halvings
        state[:, 1] = level
        states = self._device.put(state)
        running = np.arange(state.shape[0])
        while running.size:
            for now in (SOME_ROWS, SINGLE_PRECISION, ALL_ROWS):
                some = running[state[running, 1] == now]
                if some.size:
                    self._pass(some, states, now)
            state = self._device.get(states)
            running = np.flatnonzero(state[:, 0] < CONVERGED)
        converged = state[:, 0] == CONVERGED
        self.coef: FloatArray = self._device.get(self._coef) + self._device.get(self._step)
        self.variance: FloatArray = self._device.get(self._variance)
        self.status = np.where(converged, int(Status.CONVERGED), int(Status.STOPPED))
        self.steps: IntArray = state[:, 2].astype(np.int64)
        return self

    def _pass(self, models: IntArray, states: Array, level: int) -> None:
        """Derivatives of some models at the ends of their steps, and what follows from them."""
        rows = self._fitter.rows
        share = SHARE if level == SOME_ROWS else 1
        single = level == SINGLE_PRECISION or (level == SOME_ROWS and rows.single is not None)
        name, table = ("derivatives_float32", rows.single) if single else ("derivatives_float64", rows.table)
        active, chunk_rows = self._device.put(models.astype(np.int32)), share * self._fitter.chunk_rows
        own = (self._factors, self._coef, self._step, active)
        partial = self._over_rows(name, models.size, n_partial(self._width), 2, table, own, chunk_rows, np.int32(share))
        updated = (self._coef, self._step, self._decrement, self._hessian, self._inverse, self._variance, states)
        args = (partial, np.int32(partial.shape[0]), np.int32(share), active, self._penalty, *updated)
        self._kernels.launch("advance", (models.size, 1), self._threads, self._small, args)

    def without(self, dropped: BoolArray) -> FloatArray:
        """Coefficients to start from when some terms are dropped (as zeros)."""
        stays, coef = self._device.put((~dropped).astype(np.int32)), self._device.put(self.coef)
        args = (self._hessian, stays, coef)
        self._kernels.launch("without", (dropped.shape[0], 1), self._threads, self._small, args)
        return np.where(dropped, 0.0, self._device.get(coef))

    def score(self, which: IntArray) -> tuple[FloatArray, FloatArray]:
        """Score and mean log-loss of the models at some positions."""
        criterion, rows = self._fitter.criterion, self._fitter.rows
        own = (self._factors, self._coef, self._inverse, self._device.put(which.astype(np.int32)))
        leave_out = np.int32(criterion.leaves_one_out)
        partial = self._over_rows("scores", which.size, 3, 1, rows.table, own, self._fitter.chunk_rows, leave_out)
        sums = self._device.get(partial).sum(axis=0)
        hits = None if criterion in (Criterion.LOG_LOSS, Criterion.LOO_LOG_LOSS) else (sums[:, 1], sums[:, 2])
        return score_of_sums(criterion, sums[:, 0], hits, rows.class_weights)

    def _over_rows(
        self,
        kernel: str,
        n_models: int,
        n_sums: int,
        n_exchanged: int,
        table: Array,
        own: tuple[Array, ...],
        chunk_rows: int,
        last: np.int32,
    ) -> Array:
        """What a kernel finds in each chunk of rows, shape (n_chunks, n_models, n_sums).

        Neighbouring blocks read the same rows, for different models; lanes exchange some numbers for each row.
        """
        rows = self._fitter.rows
        n_chunks = -(-rows.n_rows // chunk_rows)
        partial = self._device.empty((n_chunks, n_models, n_sums))
        data = (table, np.int64(rows.n_rows), np.int32(table.shape[0]), rows.target, rows.weight)
        cut = (np.int32(n_models), np.int32(chunk_rows), np.int32(rows.n_rows))
        shared = WARPS * n_exchanged * TILE * 8 + self._fitter.tile_bytes()
        grid = (-(-n_models // WARPS), n_chunks)
        self._kernels.launch(kernel, grid, WARPS * 32, shared, (*data, *own, *cut, last, partial))
        return partial


@cache
def _compiled(device: Device, width: int, degree: int, staged: bool, single: bool) -> Future[Kernels]:
    """Kernels in the making, once for all engines."""
    source = files(__package__).joinpath("fused.cu").read_text()
    own = {"TERMS": width, "DEGREE": degree, "STAGED": int(staged), "SINGLE": int(single)}
    return _compilers().submit(device.compile, source, {**own, **CONSTANTS})


@cache
def _compilers() -> ThreadPoolExecutor:
    """The thread that compiles; the compiler takes one source at a time."""
    return ThreadPoolExecutor(1, "rfsc-compiler")


def n_partial(width: int) -> int:
    """Numbers that a chunk of rows adds up for a model: blocks of 8 x 8 of half the Hessian, and the gradient."""
    blocks = width // 8
    return 32 * blocks * (blocks + 1) + width
