"""Supports fitted on a device: by fused kernels where it runs CUDA C++, by array-API code everywhere else.

Rows stay on the device; the coefficients, and what the t-test needs, come back. Supports are padded to size classes
with terms that are zero on every row: their coefficients stay exactly zero, and they change no sum.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .._utils.arrays import BoolArray, FloatArray, IntArray
from .array_engine import Fit, factorise, leave_one_out, newton, penalised, row_derivatives, row_sums, solve
from .base import COARSE_RANGE, COARSE_TOL, Criterion, Evaluation, Supports, Ties
from .device_table import BATCH, DeviceTable
from .devices import Device, warn_unfused
from .fused import WIDTHS, FusedFitter
from .problem import Problem
from .stacks import FittedStack, evaluate_in_stacks, score_of_sums

AT_ONCE = 256  # models of one stack


class DeviceEngine:
    """Fit supports on a device.

    Parameters
    ----------
    problem : Problem
        What to fit.
    device : Device
        Where.
    precision : {"float64", "float32"}
        In which precision the first Newton steps read the rows; the last ones are always in double precision.
    """

    def __init__(self, problem: Problem, device: Device, precision: str = "float64") -> None:
        self._problem, self._device, self._coarse = problem, device, precision == "float32"
        self._rows = DeviceTable(problem, device, single=self._coarse)
        self._t_quantiles = problem.t_quantiles()
        self._fused = self._fuse() if device.fuses else None

    def _fuse(self) -> FusedFitter | None:
        try:
            return FusedFitter(self._rows, self._device, self._problem)
        except ImportError as reason:
            warn_unfused(reason)
            return None

    def evaluate(self, supports: Supports, ties: Ties | None = None) -> Evaluation:
        """Fit, prune and score every support; what a tie holds is not pruned."""
        # coefficients of vanishing columns may leave the range of single precision; such fits begin anew
        with np.errstate(over="ignore", invalid="ignore"):
            return evaluate_in_stacks(self, self._problem.options.criterion, self._t_quantiles, supports, ties)

    def parts(self, supports: Supports) -> list[tuple[int, int]]:
        """Ranges of supports whose columns fit into the table together."""
        return self._rows.parts(supports)

    def width(self, size: int) -> int:
        """The size class of a support: one that there are kernels for or, beyond, a multiple of the largest."""
        return next((width for width in WIDTHS if size <= width), -(-size // WIDTHS[-1]) * WIDTHS[-1])

    def at_once(self, width: int) -> int:
        """Most supports of one stack."""
        return AT_ONCE if self._fused is None else min(AT_ONCE, self._fused.at_once(width))

    def fit(self, ids: IntArray, start: FloatArray) -> FittedStack:
        """Fit supports of one size class from given coefficients."""
        penalty = self._problem.options.ridge * self._rows.variances(ids)
        factors = self._rows.factors(ids)
        if self._fused is not None and ids.shape[1] <= WIDTHS[-1]:
            return self._fused.fit(factors, penalty, start)
        # what is left of a pruned support starts close to its minimum: nothing to gain from coarse steps
        coarse = np.asarray(self._coarse & ~start.any(axis=1))
        return _Stack(self._rows, self._device, self._problem, factors, penalty, start, coarse)


class _Stack:
    """Supports of one size class fitted by array code: the rows on the device, the small algebra on the host."""

    def __init__(
        self,
        rows: DeviceTable,
        device: Device,
        problem: Problem,
        factors: npt.NDArray[np.int32],
        penalty: FloatArray,
        start: FloatArray,
        coarse: BoolArray,
    ) -> None:
        self._rows, self._device, self._problem, self._factors = rows, device, problem, factors
        self._penalty = penalty
        if coarse.any():
            rough = newton(np, lambda coef: self._derive(coef, single=True), start, COARSE_TOL)
            usable = coarse & (np.abs(rough.coef) <= COARSE_RANGE).all(axis=1)
            start = np.where(usable[:, None], rough.coef, start)
        self._fit: Fit = newton(np, self._derive, start)
        self.coef: FloatArray = self._fit.coef
        self.variance: FloatArray = np.sum(self._fit.inverse * self._fit.inverse, axis=2)
        self.status, self.steps = self._fit.status, self._fit.steps

    def _derive(self, coef: FloatArray, single: bool = False) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The coefficients themselves; negative gradient and Hessian of the penalised loss there."""
        xp, get = self._device.xp, self._device.get
        gradients, hessians = [], []
        for some in _batches(self._factors.shape[0]):
            at = self._device.put(coef[some].astype(np.float32 if single else np.float64))
            gradient: Any = 0.0
            hessian: Any = 0.0
            for terms, target, weight in self._rows.blocks(self._factors[some], single):
                _, g, h = row_derivatives(xp, terms, target, weight, at)
                gradient, hessian = gradient + xp.astype(g, xp.float64), hessian + xp.astype(h, xp.float64)
            gradients.append(get(gradient))
            hessians.append(get(hessian))
        n = coef.shape[0]
        gradient, hessian = np.concatenate(gradients)[:n], np.concatenate(hessians)[:n]
        return coef, *penalised(np, gradient, hessian, self._penalty, coef)

    def without(self, dropped: BoolArray) -> FloatArray:
        """Coefficients at the minimum of the quadratic model of the loss that lacks the dropped terms (as zeros)."""
        coef, hessian = self.coef, self._fit.hessian
        stays = ~dropped
        missed = np.matmul(hessian, np.where(dropped, coef, 0.0)[:, :, None])[:, :, 0]
        inner = np.where(stays[:, :, None] & stays[:, None, :], hessian, 0.0)
        step, _ = solve(np, factorise(np, inner), np.where(stays, missed, 0.0))
        return np.where(stays, coef + step, 0.0)

    def score(self, which: IntArray) -> tuple[FloatArray, FloatArray]:
        """Score and mean log-loss of the models at some positions."""
        criterion = self._problem.options.criterion
        sums = np.concatenate([self._sums(criterion, which[some]) for some in _batches(which.size)])[: which.size]
        hits = (sums[:, 1], sums[:, 2]) if sums.shape[1] > 1 else None
        return score_of_sums(criterion, sums[:, 0], hits, self._rows.class_weights)

    def _sums(self, criterion: Criterion, which: IntArray) -> FloatArray:
        """Sums over all rows that a score is made of, one line for each model of a batch."""
        xp = self._device.xp
        coef, inverse = (self._device.put(part[which]) for part in (self._fit.seen, self._fit.inverse))
        sums: Any = 0.0
        for terms, target, weight in self._rows.blocks(self._factors[which]):
            predictor = xp.matmul(coef[:, None, :], terms)[:, 0, :]
            if criterion.leaves_one_out:
                predictor = leave_one_out(xp, terms, inverse, predictor, target, weight)
            loss, hits = row_sums(xp, criterion, predictor, target, weight)
            sums = sums + xp.stack([loss, *(hits or ())], axis=1)
        return self._device.get(sums)


def _batches(n: int) -> list[IntArray]:
    """Positions 0, ..., n - 1 in batches of one size; the last position fills up the last batch."""
    return [np.minimum(np.arange(first, first + BATCH), n - 1) for first in range(0, n, BATCH)]
