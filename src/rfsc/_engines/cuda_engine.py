"""Supports fitted on a CUDA device: the host's side of `fused.cu`.

Rows stay on the device; the coefficients, and what the t-test needs, come back. Supports are padded to size classes
with terms that are zero on every row: their coefficients stay exactly zero, and they change no sum.
"""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext
from functools import cache, cached_property
from importlib.resources import files

import numpy as np
import numpy.typing as npt

from .._utils.arrays import BoolArray, FloatArray, IntArray
from .._utils.determinism import one_blas_thread
from .array_engine import ArrayEngine
from .base import (
    MAX_HALVINGS,
    MAX_NEWTON,
    MAX_OVERSHOOT,
    MIN_LEFT_OUT,
    NEWTON_TOL,
    PIVOT_TOL,
    Evaluation,
    Status,
    Supports,
    Ties,
)
from .cuda_device import Array, CudaDevice, CudaKernels
from .cuda_table import TILE, DeviceTable
from .problem import Problem
from .stacks import FittedStack, evaluate_in_stacks, score_of_sums

WIDTHS = (8, 16, 24, 32, 48, 64)  # size classes that there are kernels for
WIDEST = WIDTHS[-1]
AT_ONCE = 256  # models of one stack
WARPS = 4  # models of one block
CHUNKS = 256  # of rows, at most; each is summed by itself
CHUNK_TILES = 4  # at least, in each chunk
SHARE = 16  # the first steps see one tile out of so many, if chunks are long enough
PARTIAL_BYTES = 2**30  # what all chunks may write
STAGED_BYTES = 96 * 2**10  # shared memory of a block, which every device with such kernels has
PITCH_BYTES = 320  # of one staged row of the table
SMALL_THREADS = 256  # of the blocks that work on one model
ALL_ROWS, SOME_ROWS = range(2)  # which rows the derivatives are computed from
CONVERGED = 2  # phases of a model from here on are final
CONSTANTS: dict[str, float] = {
    "WARPS": WARPS,
    "MAX_NEWTON": MAX_NEWTON,
    "NEWTON_TOL": NEWTON_TOL,
    "MAX_HALVINGS": MAX_HALVINGS,
    "MAX_OVERSHOOT": MAX_OVERSHOOT,
    "PIVOT_TOL": PIVOT_TOL,
    "MIN_LEFT_OUT": MIN_LEFT_OUT,
    "COARSE_TOL": 1e-3,  # squared Newton decrement at which steps on some rows end
    "COARSE_RANGE": 1e9,  # coefficients beyond are those of tiny columns, and not fit for such steps
    "MAX_COARSE": 12,  # steps on some rows
    # squared decrement per term at the end of these: about SHARE, unless the rows that were seen are unlike the others
    "MAX_RESUME": 64.0 * SHARE,
}


class CudaEngine:
    """Fit supports by the kernels of `fused.cu`; those too wide for any kernel by the array engine, one at a time."""

    def __init__(self, problem: Problem, device: CudaDevice) -> None:
        self._problem, self.device, self.criterion = problem, device, problem.options.criterion
        self.rows = DeviceTable(problem, device)
        self._t_quantiles = problem.t_quantiles()
        n_tiles = self.rows.n_rows // TILE
        self.chunk_rows = TILE * max(CHUNK_TILES, -(-n_tiles // CHUNKS))
        self.kernels(WIDTHS[0], self.rows.degree)  # a compiler that fails does so here

    @cached_property
    def _array_engine(self) -> ArrayEngine:
        return ArrayEngine(self._problem)

    def evaluate(self, supports: Supports, ties: Ties | None = None) -> Evaluation:
        # only the array engine uses BLAS; a vanishing column may have an infinite variance
        blas = one_blas_thread() if supports.sizes.max(initial=0) > WIDEST else nullcontext()
        with blas, np.errstate(over="ignore", invalid="ignore"):
            return evaluate_in_stacks(self, self.criterion, self._t_quantiles, supports, ties)

    def parts(self, supports: Supports) -> list[tuple[int, int]]:
        return self.rows.parts(supports)

    def width(self, size: int) -> int:
        return next((width for width in WIDTHS if size <= width), size)  # wider than any kernel: a class of its own

    def at_once(self, width: int) -> int:
        if width > WIDEST:
            return 1
        n_chunks = -(-self.rows.n_rows // self.chunk_rows)
        return int(np.clip(PARTIAL_BYTES // (8 * n_chunks * n_partial(width)), 1, AT_ONCE))

    def fit(self, ids: IntArray, start: FloatArray) -> FittedStack:
        if ids.shape[1] > WIDEST:
            return self._array_engine.fit(ids, start)
        penalty = self._problem.options.ridge * self.rows.variances(ids)
        stack = CudaStack(self, self.rows.factors(ids), penalty, start)
        # what is left of a pruned support starts close to its minimum: nothing to gain from coarse steps
        first_level = SOME_ROWS if self.chunk_rows >= SHARE * TILE else ALL_ROWS
        return stack.run(np.where(start.any(axis=1), ALL_ROWS, first_level))

    def kernels(self, width: int, degree: int) -> CudaKernels:
        """The kernels for models of so many terms, each a product of so many rows."""
        staged = self.tile_bytes > 0
        found = _compiled(self.device, width, degree, staged)
        for larger in WIDTHS[WIDTHS.index(width) + 1 :][:1]:  # models grow during a search: ready when they get there
            _compiled(self.device, larger, degree, staged)
        return found.result()

    @property
    def tile_bytes(self) -> int:
        """Shared memory for two tiles of the table; zero if they do not fit into it beside everything else."""
        needed = 2 * PITCH_BYTES * int(self.rows.table.shape[0])
        return needed if needed <= STAGED_BYTES else 0


class CudaStack:
    """Models that are fitted together, on the device."""

    def __init__(
        self, engine: CudaEngine, factors: npt.NDArray[np.int32], penalty: FloatArray, start: FloatArray
    ) -> None:
        self._engine, self._device = engine, engine.device
        n_models, self._width, degree = factors.shape
        self._kernels = engine.kernels(self._width, degree)
        put, square = self._device.put, (n_models, self._width, self._width)
        self._factors, self._penalty = put(factors), put(penalty)
        self._coef, self._step, self._variance = put(start), put(np.zeros_like(start)), put(np.zeros_like(start))
        self._decrement = put(np.zeros(n_models))
        self._hessian, self._inverse = self._device.empty(square), self._device.empty(square)
        self._small_bytes = 8 * (2 * self._width * (self._width + 1) + 3 * self._width)
        self._threads = SMALL_THREADS // self._width * self._width

    def run(self, level: IntArray) -> CudaStack:
        """Newton's method for all models, from the given levels on."""
        state = np.zeros((self._coef.shape[0], 4), dtype=np.int32)  # phase, level, steps, halvings
        state[:, 1] = level
        states = self._device.put(state)
        running = np.arange(state.shape[0])
        while running.size:
            for now in (SOME_ROWS, ALL_ROWS):
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
        share = SHARE if level == SOME_ROWS else 1
        active = self._device.put(models.astype(np.int32))
        own = (self._factors, self._coef, self._step, active)
        chunk_rows = share * self._engine.chunk_rows
        partial = self._over_rows("derivatives", own, (n_partial(self._width), 2), chunk_rows, np.int32(share))
        updated = (self._coef, self._step, self._decrement, self._hessian, self._inverse, self._variance, states)
        args = (partial, np.int32(partial.shape[0]), np.int32(share), active, self._penalty, *updated)
        self._kernels.launch("advance", (models.size, 1), self._threads, self._small_bytes, args)

    def without(self, dropped: BoolArray) -> FloatArray:
        stays, coef = self._device.put((~dropped).astype(np.int32)), self._device.put(self.coef)
        args = (self._hessian, stays, coef)
        self._kernels.launch("without", (dropped.shape[0], 1), self._threads, self._small_bytes, args)
        return np.where(dropped, 0.0, self._device.get(coef))

    def score(self, which: IntArray) -> tuple[FloatArray, FloatArray]:
        engine = self._engine
        own = (self._factors, self._coef, self._inverse, self._device.put(which.astype(np.int32)))
        leave_out = np.int32(engine.criterion.leaves_one_out)
        partial = self._over_rows("scores", own, (3, 1), engine.chunk_rows, leave_out)
        return score_of_sums(engine.criterion, self._device.get(partial).sum(axis=0), engine.rows.class_weights)

    def _over_rows(
        self, kernel: str, own: tuple[Array, ...], counts: tuple[int, int], chunk_rows: int, last: np.int32
    ) -> Array:
        """What a kernel finds in each chunk of rows, shape (n_chunks, n_models, n_sums).

        `own` ends with the models to look at; `counts` are the sums for each of them, and the numbers for each row that
        lanes exchange. Neighbouring blocks read the same rows, for different models.
        """
        rows, n_models, (n_sums, n_exchanged) = self._engine.rows, own[-1].shape[0], counts
        n_chunks = -(-rows.n_rows // chunk_rows)
        partial = self._device.empty((n_chunks, n_models, n_sums))
        data = (rows.table, np.int64(rows.n_rows), np.int32(rows.table.shape[0]), rows.target, rows.weight)
        cut = (np.int32(n_models), np.int32(chunk_rows), np.int32(rows.n_rows))
        shared = WARPS * n_exchanged * TILE * 8 + self._engine.tile_bytes
        grid = (-(-n_models // WARPS), n_chunks)
        self._kernels.launch(kernel, grid, WARPS * 32, shared, (*data, *own, *cut, last, partial))
        return partial


_compiler = ThreadPoolExecutor(1, "rfsc-compiler")  # one thread: the compiler takes one source at a time


@cache
def _compiled(device: CudaDevice, width: int, degree: int, staged: bool) -> Future[CudaKernels]:
    """Kernels in the making, once for all engines."""
    source = files(__package__).joinpath("fused.cu").read_text()
    own = {"TERMS": width, "DEGREE": degree, "STAGED": int(staged)}
    return _compiler.submit(device.compile, source, {**own, **CONSTANTS})


def n_partial(width: int) -> int:
    """Numbers that a chunk of rows adds up for a model: blocks of 8 x 8 of half the Hessian, and the gradient."""
    blocks = width // 8
    return 32 * blocks * (blocks + 1) + width
