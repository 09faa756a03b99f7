"""The compiled kernels of the Numba engine: one support in, one pruned and scored model out.

Read from the bottom up: `evaluate_supports` loops over supports; `_evaluate_support` fits, tests, drops and refits
one; `_newton` fits; `_derivatives` makes the one pass over the rows that a Newton step needs.

Everything works on blocks of `BLOCK` rows, so that a block of every term stays near the processor while its predictor,
weights, gradient and Hessian are formed. Columns are read where they are stored; rows of weight zero fill them up to
whole blocks of `ROW_MULTIPLE`, so that no loop over rows has a remainder, and terms are worked on in tiles of `TILE`:
places past the last term of a support repeat its first one, and what comes of them is never read.
No function allocates: all scratch memory is a `Workspace` that the caller owns, one for each thread.
"""

from __future__ import annotations

import math
import sys
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import float64, int64, intp, njit, none
from numba.extending import intrinsic

from .._utils.arrays import BoolArray, FloatArray, IntArray
from .base import (
    MAX_HALVINGS,
    MAX_NEWTON,
    MAX_OVERSHOOT,
    MIN_LEFT_OUT,
    NEWTON_TOL,
    PIVOT_TOL,
    Criterion,
    Status,
    empty_model_score,
)
from .problem import CACHE_LINE, aligned

BLOCK = 288  # rows worked on at a time
TILE = 3  # terms worked on at a time: nine sums fit into registers

# Sums may be reordered (so that they vectorise) in functions marked SUMS. The exponential must not be: its rounding
# trick is exactly what an algebraic simplifier would remove.
SUMS = {"reassoc", "contract", "nsz"}
EXACT = {"contract"}
# Only the outermost function is called from Python and cached; it carries the code of the others. Small ones that are
# called from one place only (ONCE) become part of their caller before compilation, which takes a third off its time.
# The others are inlined by the compiler: a call left over would reach another copy of them in the process that compiles
# than in those that load its cache, and the copies round differently.
SHARED: Any = {
    "fastmath": SUMS,
    "error_model": "numpy",
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
    "forceinline": True,
}
ONCE: Any = {"inline": "always"}

LOG2_E = 1.4426950408889634
LN2_HIGH = 0.6931471803691238
LN2_LOW = 1.9082149292705877e-10
LN2 = 0.6931471805599453
ROUND = 6755399441055744.0  # 1.5 * 2**52: adding it leaves round(x) in the low bits of the sum
SQRT2_MINUS_1 = 0.41421356237309503
LOWEST = -708.0  # exp of anything below is not a normal number

FAR = 0.02  # decrement per observation from which a Newton step is stretched
NEAR = 0.01  # decrement from which the outcome of the test may be known: a tenth of a standard error
COARSE = 16  # a first fit begins on one block of rows in so many ...
COARSE_ROWS = 2**14  # ... from so many rows on, ...
COARSE_TOL = 0.1  # ... and need not come closer: the minimum over all rows lies elsewhere

CRITERION_BALANCED = int(Criterion.BALANCED_ACCURACY)
CRITERION_KAPPA = int(Criterion.KAPPA)
CRITERION_LOG_LOSS = int(Criterion.LOG_LOSS)
CRITERION_LOO_ACCURACY = int(Criterion.LOO_ACCURACY)
CRITERION_LOO_LOG_LOSS = int(Criterion.LOO_LOG_LOSS)
CONVERGED = int(Status.CONVERGED)
STOPPED = int(Status.STOPPED)
EMPTY = int(Status.EMPTY)
EMPTY_SCORES = tuple(empty_model_score(criterion) for criterion in Criterion)


class Workspace(NamedTuple):
    """Scratch memory of one thread."""

    slots: IntArray  # (max_terms,): which columns the support at hand is made of
    predictor: FloatArray  # (n_rows,)
    leverage: FloatArray  # (BLOCK,)
    residual: FloatArray  # (BLOCK,)
    curvature: FloatArray  # (BLOCK,)
    # parts of one vector: the compiler sees that they do not overlap
    weighted: FloatArray  # (TILE * BLOCK,): terms times the rows' curvatures
    whitened: FloatArray  # (TILE * BLOCK,): terms times the inverse factor
    penalty: FloatArray  # (max_terms,)
    sign: FloatArray  # (max_terms,): that each coefficient must have; zero for any
    coef: FloatArray  # (max_terms,)
    trial: FloatArray  # (max_terms,)
    step: FloatArray  # (max_terms,)
    rest: FloatArray  # (max_terms,)
    gradient: FloatArray  # (max_terms,)
    hessian: FloatArray  # (max_terms, max_terms + 1): upper half, and the gradient as column m
    factor: FloatArray  # like hessian: its Cholesky factor
    inverse: FloatArray  # (max_terms, max_terms): inverse of the factor
    stays: BoolArray  # (max_terms,): which terms stay after the test
    held: BoolArray  # (max_terms,): the same, by place in the support as it was handed in
    position: IntArray  # (max_terms,): where in the batch each kept term stands

    @classmethod
    def allocate(cls, max_terms: int, n_rows: int) -> Workspace:
        """Scratch memory for supports of at most `max_terms` terms."""
        m = max_terms + 2 * TILE  # tiles may reach past the last term, and past the gradient beside it
        return cls(
            slots=np.zeros(m, dtype=np.int64),
            predictor=aligned(n_rows),
            leverage=aligned(BLOCK),
            whitened=aligned(TILE * BLOCK),
            weighted=aligned(TILE * BLOCK),
            residual=aligned(BLOCK),
            curvature=aligned(BLOCK),
            penalty=aligned(m),
            sign=aligned(m),
            coef=aligned(m),
            trial=aligned(m),
            step=aligned(m),
            rest=aligned(m),
            gradient=aligned(m),
            hessian=aligned(m, m),
            factor=aligned(m, m),
            inverse=aligned(m, m),
            stays=np.zeros(m, dtype=np.bool_),
            held=np.zeros(m, dtype=np.bool_),
            position=np.zeros(m, dtype=np.int64),
        )


class Data(NamedTuple):
    """What every support of a search shares."""

    columns: FloatArray  # (n_slots, n_rows)
    penalty: FloatArray  # (n_slots,)
    target: FloatArray  # (n_rows,): -1 or +1
    weight: FloatArray  # (n_rows,)
    upper: float  # sum of the weights where the target is +1
    lower: float  # and where it is -1
    gram: FloatArray  # (n_slots, n_slots): Hessian of all terms at coefficients of zero, without penalty; or (0, 0)
    gradient: FloatArray  # (n_slots,): negative gradient there; or (0,)


class Output(NamedTuple):
    """Results, aligned with a batch of supports."""

    kept: BoolArray  # (n_entries,)
    coef: FloatArray  # (n_entries,)
    score: FloatArray  # (n_supports,)
    log_loss: FloatArray
    status: IntArray
    n_newton: IntArray

    @classmethod
    def allocate(cls, n_supports: int, n_entries: int) -> Output:
        """Results of a batch, nothing kept yet."""
        return cls(
            kept=np.zeros(n_entries, dtype=np.bool_),
            coef=np.zeros(n_entries),
            score=np.zeros(n_supports),
            log_loss=np.zeros(n_supports),
            status=np.zeros(n_supports, dtype=np.int64),
            n_newton=np.zeros(n_supports, dtype=np.int64),
        )


@intrinsic
def _scale_by_power_of_two(typingctx, value, rounded):  # type: ignore[no-untyped-def]
    """value * 2**k, where k sits in the low bits of `rounded`; one integer addition to the exponent field."""

    def codegen(_context, builder, _signature, args):  # type: ignore[no-untyped-def]
        bits = builder.bitcast(args[0], ir.IntType(64))
        power = builder.shl(builder.bitcast(args[1], ir.IntType(64)), ir.Constant(ir.IntType(64), 52))
        return builder.bitcast(builder.add(bits, power), ir.DoubleType())

    return float64(float64, float64), codegen


# Rows of the small tables are too short for a compiled loop to come to its vector part. The next three work on the
# eight numbers of one cache line at once.
LINE = ir.VectorType(ir.DoubleType(), CACHE_LINE)


def _place(context: Any, builder: Any, kind: Any, table: Any, row: Any, column: Any) -> Any:
    """Pointer to the line of a table that begins at `column`."""
    array = context.make_array(kind)(context, builder, value=table)
    width = builder.extract_value(array.shape, 1)
    at = builder.gep(array.data, [builder.add(builder.mul(row, width), column)])
    return builder.bitcast(at, LINE.as_pointer())


def _spread(builder: Any, value: Any) -> Any:
    """A line that repeats one number."""
    first = builder.insert_element(ir.Constant(LINE, ir.Undefined), value, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(first, first, ir.Constant(ir.VectorType(ir.IntType(32), CACHE_LINE), None))


@intrinsic
def _copy_line(typingctx, to, k, line, source):  # type: ignore[no-untyped-def]
    """to[k, j] = source[k, j] for the columns j of a line."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        target, source = (_place(context, builder, signature.args[n], args[n], *args[1:3]) for n in (0, 3))
        builder.store(builder.load(source, align=8), target, align=8)
        return context.get_dummy_value()

    return none(to, intp, intp, source), codegen


@intrinsic
def _scale_line(typingctx, table, k, line, scale):  # type: ignore[no-untyped-def]
    """table[k, j] *= scale for the columns j of a line."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        target = _place(context, builder, signature.args[0], *args[:3])
        builder.store(builder.fmul(builder.load(target, align=8), _spread(builder, args[3])), target, align=8)
        return context.get_dummy_value()

    return none(table, intp, intp, float64), codegen


@intrinsic
def _subtract_line(typingctx, to, k, line, scale, source, i):  # type: ignore[no-untyped-def]
    """to[k, j] -= scale * source[i, j] for the columns j of a line."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        target = _place(context, builder, signature.args[0], *args[:3])
        other = builder.load(_place(context, builder, signature.args[4], args[4], args[5], args[2]), align=8)
        product = builder.fmul(_spread(builder, args[3]), other, flags=("contract",))
        difference = builder.fsub(builder.load(target, align=8), product, flags=("contract",))
        builder.store(difference, target, align=8)
        return context.get_dummy_value()

    return none(to, intp, intp, float64, source, intp), codegen


@intrinsic
def _take_turn(typingctx, turn):  # type: ignore[no-untyped-def]
    """turn[0], which moves on by one; no two threads get the same."""

    def codegen(context, builder, signature, args):  # type: ignore[no-untyped-def]
        array = context.make_array(signature.args[0])(context, builder, value=args[0])
        return builder.atomic_rmw("add", array.data, ir.Constant(ir.IntType(64), 1), "monotonic")

    return int64(turn), codegen


@njit(fastmath=EXACT, error_model="numpy")
def _exp_minus_abs(x):  # type: ignore[no-untyped-def]
    """exp(-|x|) without a library call, so that loops over it become vector code; within 1 ulp of math.exp."""
    x = max(-abs(x), LOWEST)
    rounded = x * LOG2_E + ROUND
    k = rounded - ROUND
    r = (x - k * LN2_HIGH) - k * LN2_LOW
    p = 2.4994303273814394e-08  # the polynomial of degree 11 closest to exp for |r| <= ln(2)/2: within 3.1e-18
    p = p * r + 2.7632308174894487e-07
    p = p * r + 2.755762262047198e-06
    p = p * r + 2.48014864814364e-05
    p = p * r + 0.00019841269432470488
    p = p * r + 0.0013888888951261041
    p = p * r + 0.008333333333559434
    p = p * r + 0.04166666666649263
    p = p * r + 0.1666666666666617
    p = p * r + 0.5000000000000018
    p = p * r + 1.0
    p = p * r + 1.0
    return _scale_by_power_of_two(p, rounded)  # type: ignore[call-arg]


@njit(fastmath=EXACT, error_model="numpy")
def _log1p_unit(e):  # type: ignore[no-untyped-def]
    """log(1 + e) for 0 <= e <= 1, as 2 atanh; branch-free, so that loops over it become vector code."""
    high = e > SQRT2_MINUS_1
    s = (e - 1.0 if high else e) / (e + (3.0 if high else 2.0))
    q = s * s  # at most 0.0295
    p = 1.0 / 21.0
    p = p * q + 1.0 / 19.0
    p = p * q + 1.0 / 17.0
    p = p * q + 1.0 / 15.0
    p = p * q + 1.0 / 13.0
    p = p * q + 1.0 / 11.0
    p = p * q + 1.0 / 9.0
    p = p * q + 1.0 / 7.0
    p = p * q + 1.0 / 5.0
    p = p * q + 1.0 / 3.0
    p = p * q + 1.0
    return (LN2 if high else 0.0) + 2.0 * s * p


@njit(**SHARED)
def _derivatives(m, coef, stride, data, ws):  # type: ignore[no-untyped-def]
    """Leave the predictor at `coef`, and gradient and Hessian of the penalised loss, in the workspace.

    The (negative) gradient is column m of the Hessian table. Of the blocks of rows every stride-th is looked at.
    """
    for i in range(m + TILE):
        for j in range(i, m + TILE):
            ws.hessian[i, j] = 0.0
    for j in range(m):
        ws.hessian[j, j] = ws.penalty[j]
        ws.gradient[j] = -ws.penalty[j] * coef[j]
    for start in range(0, data.target.size, BLOCK * stride):
        stop = min(start + BLOCK, data.target.size)
        _predict_block(m, coef, start, stop, data, ws)
        _weigh_block(start, stop, data, ws)
        _accumulate_block(m, start, stop, data, ws)
    for j in range(m):
        ws.hessian[j, m] = ws.gradient[j]


@njit(**ONCE)
def _predict_block(m, coef, start, stop, data, ws):  # type: ignore[no-untyped-def]
    """Linear predictor of one block, six terms at a time; coefficients past the last are zero."""
    f = ws.predictor[start:stop]
    for k in range(f.size):
        f[k] = 0.0
    for j in range(0, m, 2 * TILE):
        c0, c1, c2, c3, c4, c5 = coef[j], coef[j + 1], coef[j + 2], coef[j + 3], coef[j + 4], coef[j + 5]
        a0 = data.columns[ws.slots[j], start:stop]
        a1 = data.columns[ws.slots[j + 1], start:stop]
        a2 = data.columns[ws.slots[j + 2], start:stop]
        a3 = data.columns[ws.slots[j + 3], start:stop]
        a4 = data.columns[ws.slots[j + 4], start:stop]
        a5 = data.columns[ws.slots[j + 5], start:stop]
        for k in range(f.size):
            f[k] += c0 * a0[k] + c1 * a1[k] + c2 * a2[k] + (c3 * a3[k] + c4 * a4[k] + c5 * a5[k])


@njit(**ONCE)
def _weigh_block(start, stop, data, ws):  # type: ignore[no-untyped-def]
    """Curvatures s p (1 - p) and residuals s (t - p) of one block."""
    f, y, s = ws.predictor[start:stop], data.target[start:stop], data.weight[start:stop]
    curvature, residual = ws.curvature, ws.residual
    for k in range(f.size):
        residual[k] = _exp_minus_abs(f[k])
    for k in range(f.size):
        e = residual[k]
        q = 1.0 / (1.0 + e)  # probability of the likelier class; e * q is that of the other
        residual[k] = s[k] * y[k] * (q if y[k] * f[k] < 0.0 else e * q)
        curvature[k] = s[k] * e * q * q


@njit(**ONCE)
def _accumulate_block(m, start, stop, data, ws):  # type: ignore[no-untyped-def]
    """Add one block of rows to gradient and Hessian, in tiles of three weighted terms by three terms."""
    hessian, gradient, weighted, curvature, residual = ws.hessian, ws.gradient, ws.weighted, ws.curvature, ws.residual
    for i in range(0, m, TILE):
        a0 = data.columns[ws.slots[i], start:stop]
        a1 = data.columns[ws.slots[i + 1], start:stop]
        a2 = data.columns[ws.slots[i + 2], start:stop]
        g0 = g1 = g2 = s00 = s01 = s02 = s11 = s12 = s22 = 0.0
        for k in range(stop - start):
            w0, w1, w2 = a0[k] * curvature[k], a1[k] * curvature[k], a2[k] * curvature[k]
            g0 += a0[k] * residual[k]
            g1 += a1[k] * residual[k]
            g2 += a2[k] * residual[k]
            s00 += w0 * a0[k]
            s01 += w0 * a1[k]
            s02 += w0 * a2[k]
            s11 += w1 * a1[k]
            s12 += w1 * a2[k]
            s22 += w2 * a2[k]
            weighted[k] = w0
            weighted[BLOCK + k] = w1
            weighted[2 * BLOCK + k] = w2
        gradient[i] += g0
        gradient[i + 1] += g1
        gradient[i + 2] += g2
        hessian[i, i] += s00
        hessian[i, i + 1] += s01
        hessian[i, i + 2] += s02
        hessian[i + 1, i + 1] += s11
        hessian[i + 1, i + 2] += s12
        hessian[i + 2, i + 2] += s22
        for j in range(i + TILE, m, TILE):
            b0 = data.columns[ws.slots[j], start:stop]
            b1 = data.columns[ws.slots[j + 1], start:stop]
            b2 = data.columns[ws.slots[j + 2], start:stop]
            s00 = s01 = s02 = s10 = s11 = s12 = s20 = s21 = s22 = 0.0
            for k in range(stop - start):
                w0, w1, w2 = weighted[k], weighted[BLOCK + k], weighted[2 * BLOCK + k]
                s00 += w0 * b0[k]
                s01 += w0 * b1[k]
                s02 += w0 * b2[k]
                s10 += w1 * b0[k]
                s11 += w1 * b1[k]
                s12 += w1 * b2[k]
                s20 += w2 * b0[k]
                s21 += w2 * b1[k]
                s22 += w2 * b2[k]
            hessian[i, j] += s00
            hessian[i, j + 1] += s01
            hessian[i, j + 2] += s02
            hessian[i + 1, j] += s10
            hessian[i + 1, j + 1] += s11
            hessian[i + 1, j + 2] += s12
            hessian[i + 2, j] += s20
            hessian[i + 2, j + 1] += s21
            hessian[i + 2, j + 2] += s22


@njit(**SHARED)
def _factorise(m, ws):  # type: ignore[no-untyped-def]
    """Upper Cholesky factor U of the Hessian, U'U = H. A term that depends on earlier ones gets a row of zeros.

    The gradient g rides along as column m and comes out as U'^-1 g. Rows are worked on in whole cache lines.
    """
    hessian, factor = ws.hessian, ws.factor
    width = (m // CACHE_LINE + 1) * CACHE_LINE
    for i in range(m):
        for line in range(i // CACHE_LINE * CACHE_LINE, width, CACHE_LINE):
            _copy_line(factor, i, line, hessian)  # type: ignore[call-arg]
    for i in range(m):
        pivot = factor[i, i]
        scale = 1.0 / math.sqrt(pivot) if pivot > PIVOT_TOL * hessian[i, i] else 0.0
        for line in range(i // CACHE_LINE * CACHE_LINE, width, CACHE_LINE):
            _scale_line(factor, i, line, scale)  # type: ignore[call-arg]
        for line in range((i + 1) // CACHE_LINE * CACHE_LINE, width, CACHE_LINE):
            for k in range(i + 1, min(line + CACHE_LINE, m)):
                _subtract_line(factor, k, line, factor[i, k], factor, i)  # type: ignore[call-arg]
    for i in range(m):
        for j in range(i):  # whole lines were worked on
            factor[i, j] = 0.0


@njit(**SHARED)
def _solve(m, ws):  # type: ignore[no-untyped-def]
    """Newton step H^-1 g (zero for dependent terms) from the factor; returns its squared decrement g' H^-1 g."""
    decrement = 0.0
    for i in range(m - 1, -1, -1):
        row = ws.factor[i]
        total = row[m]
        decrement += total * total
        for j in range(i + 1, m):
            total -= row[j] * ws.step[j]
        ws.step[i] = total / row[i] if row[i] > 0.0 else 0.0
    return decrement


@njit(**ONCE)
def _look_up_derivatives(m, data, ws):  # type: ignore[no-untyped-def]
    """What `_derivatives` leaves for coefficients of zero, from the Gram matrix of all terms."""
    for j in range(m):
        for i in range(j + 1):
            ws.hessian[i, j] = data.gram[ws.slots[i], ws.slots[j]]
        ws.hessian[j, j] += ws.penalty[j]
        ws.hessian[j, m] = data.gradient[ws.slots[j]]
    for k in range(data.target.size):
        ws.predictor[k] = 0.0


@njit(**ONCE)
def _stretch(decrement, total, from_zero):  # type: ignore[no-untyped-def]
    """How far to go along a Newton step; far from the minimum a whole step is too short.

    From coefficients of zero the step is the least-squares fit, and `decrement / total` its R squared; the linear
    discriminant of two normal classes lies 1 / (1 - R squared) steps away.
    """
    gain = decrement / total
    if gain < FAR:
        return 1.0
    return 1.0 / max(1.0 - gain, 0.5) if from_zero else 1.5


@njit(**ONCE)
def _newton(m, threshold, stride, looked_up, may_end_early, data, ws):  # type: ignore[no-untyped-def]
    """Fit the m terms of the workspace from `ws.coef`; leaves the factor at the solution and its inverse.

    `looked_up`: the coefficients are zero, and the derivatives are in the workspace already. With `may_end_early` it
    ends before the minimum if the outcome of the test is known and something is to be dropped. Returns (status, whether
    it ended early, steps).
    """
    total = (data.upper + data.lower) / stride
    from_zero = True
    for j in range(m):
        ws.step[j] = 0.0
        from_zero = from_zero and ws.coef[j] == 0.0
    decrement = 0.0
    n = 0
    while True:
        if n > 0 or not looked_up:
            _go(m, decrement, stride, data, ws)
        _factorise(m, ws)
        decrement = _solve(m, ws)
        if decrement <= NEAR or n == MAX_NEWTON:
            _invert_factor(m, ws)
        if n == MAX_NEWTON:
            return STOPPED, False, n
        n += 1
        arrived = decrement <= (NEWTON_TOL if stride == 1 else COARSE_TOL)
        early = may_end_early and not arrived and decrement <= NEAR and _test_is_decided(m, threshold, decrement, ws)
        if arrived or early:
            for j in range(m):
                ws.coef[j] += ws.step[j]
            return CONVERGED, early, n
        stretch = _stretch(decrement, total, from_zero and n == 1)
        decrement *= stretch
        for j in range(m):
            ws.step[j] *= stretch


@njit(**ONCE)
def _go(m, decrement, stride, data, ws):  # type: ignore[no-untyped-def]
    """Move the coefficients along the step and leave the derivatives where it ends; `decrement` is the first slope.

    A step is halved while the loss rises at its end more than half as steeply as it fell at the start; the loss is
    convex, so a step that ends before its minimum needs no further check.
    """
    for _ in range(MAX_HALVINGS):
        slope = 0.0
        for j in range(m):
            ws.trial[j] = ws.coef[j] + ws.step[j]
        for j in range(m, m + 2 * TILE):
            ws.trial[j] = 0.0
        _derivatives(m, ws.trial, stride, data, ws)
        for j in range(m):
            slope -= ws.hessian[j, m] * ws.step[j]
        if slope <= MAX_OVERSHOOT * decrement:
            break
        decrement *= 0.5
        for j in range(m):
            ws.step[j] *= 0.5
    for j in range(m):
        ws.coef[j] = ws.trial[j]


@njit(**SHARED)
def _invert_factor(m, ws):  # type: ignore[no-untyped-def]
    """Inverse V of the factor U, column by column; rows and columns of dependent terms, and those past m, are zero."""
    inverse, column = ws.inverse, ws.rest
    width = ((m + TILE - 1) // CACHE_LINE + 1) * CACHE_LINE
    for k in range(m + TILE):
        for j in range(width):
            inverse[k, j] = 0.0
    for j in range(m):
        inverse[j, j] = 1.0
        scale = 1.0 / ws.factor[j, j] if ws.factor[j, j] > 0.0 else 0.0
        for k in range(j + 1):
            column[k] = inverse[k, j] * scale
        for line in range(j // CACHE_LINE * CACHE_LINE, width, CACHE_LINE):
            for k in range(j + 1):
                _subtract_line(inverse, k, line, column[k], ws.factor, j)  # type: ignore[call-arg]
        for k in range(j + 1):
            inverse[k, j] = column[k]
    for k in range(m):
        for j in range(m, m + TILE):  # whole lines were worked on, of a table that goes on with the gradient
            inverse[k, j] = 0.0


@njit(**SHARED)
def _variance(j, m, ws):  # type: ignore[no-untyped-def]
    """Squared standard error of coefficient j; zero for a dependent term."""
    total = 0.0
    for k in range(j, m):
        total += ws.inverse[j, k] * ws.inverse[j, k]
    return total


@njit(**ONCE)
def _test_is_decided(m, threshold, decrement, ws):  # type: ignore[no-untyped-def]
    """Whether the test will drop a term, and which terms pass cannot change any more on the way to the minimum.

    From here to the minimum a coefficient moves by at most about sqrt(decrement) standard errors, and its standard
    error by a like part of itself. If a sign is required, it must be known too, because ties do not hold a wrong one.
    """
    margin = (1.0 + threshold) * math.sqrt(decrement)
    drops = False
    for j in range(m):
        error = math.sqrt(_variance(j, m, ws))
        value = ws.coef[j] + ws.step[j]
        beyond = abs(value) - threshold * error
        if error > 0.0 and abs(beyond) <= margin * error:
            return False
        if ws.sign[j] != 0.0 and error > 0.0 and abs(value) <= margin * error:
            return False
        drops = drops or beyond <= 0.0 or ws.sign[j] * value < 0.0
    return drops


@njit(**ONCE)
def _hold_ties(m, start, ties, ws):  # type: ignore[no-untyped-def]
    """Let stay what is exempt from the test and what the terms that stay hold, but for wrong signs.

    Entries of the support count from `start`. Returns how many stay.
    """
    for j in range(m):
        ws.held[ws.position[j] - start] = False
    for j in range(m):
        entry = ws.position[j]
        if (ws.stays[j] or ties.exempt[entry]) and not ws.sign[j] * ws.coef[j] < 0.0:
            ws.held[entry - start] = True
            for k in range(ties.indptr[entry], ties.indptr[entry + 1]):
                ws.held[ties.entries[k] - start] = True
    kept = 0
    for j in range(m):
        ws.stays[j] = ws.held[ws.position[j] - start] and not ws.sign[j] * ws.coef[j] < 0.0
        kept += ws.stays[j]
    return kept


@njit(**SHARED)
def _drop_insignificant(m, threshold, start, ties, ws):  # type: ignore[no-untyped-def]
    """Test every term (interval (8) of the paper) and drop those that fail, but for ties. Returns how many stay.

    The coefficients that stay move to the minimum of the quadratic model of the loss without the dropped terms:
    H_kk step = H_kd coef_d. The refit starts there and is nearly done.
    """
    hessian, coef = ws.hessian, ws.coef
    kept = 0
    for j in range(m):
        variance = _variance(j, m, ws)
        ws.stays[j] = variance > 0.0 and abs(coef[j]) > threshold * math.sqrt(variance)
        kept += ws.stays[j]
    if ties.exempt.size > 0:
        kept = _hold_ties(m, start, ties, ws)
    if kept == m:
        return kept
    for j in range(m):
        ws.trial[j] = 0.0
        for k in range(m):
            if not ws.stays[k]:
                ws.trial[j] += hessian[min(j, k), max(j, k)] * coef[k]
    kept = 0
    for j in range(m):
        if ws.stays[j]:
            row = 0
            for i in range(j + 1):  # reads stay ahead of writes: the table closes up towards its corner
                if ws.stays[i]:
                    hessian[row, kept] = hessian[i, j]
                    row += 1
            if kept < j:
                coef[kept] = coef[j]
                ws.trial[kept] = ws.trial[j]
                ws.penalty[kept] = ws.penalty[j]
                ws.sign[kept] = ws.sign[j]
                ws.position[kept] = ws.position[j]
                ws.slots[kept] = ws.slots[j]
            kept += 1
    for j in range(kept):
        hessian[j, kept] = ws.trial[j]
    _factorise(kept, ws)
    _solve(kept, ws)
    for j in range(kept):
        coef[j] += ws.step[j]
    return kept


@njit(**SHARED)
def _leave_one_out(m, data, ws):  # type: ignore[no-untyped-def]
    """Turn the predictor into its left-out value, f - u q r / (1 - u q p (1 - p)) with q = x' H^-1 x.

    One observation is left out: u = 1, or the whole row if its weight is below one. Rows of weight 2 are thereby
    the same as two rows.
    """
    q, v = ws.leverage, ws.whitened
    for start in range(0, data.target.size, BLOCK):
        stop = min(start + BLOCK, data.target.size)
        f, y, s = ws.predictor[start:stop], data.target[start:stop], data.weight[start:stop]
        n = stop - start
        for k in range(n):
            q[k] = 0.0
        for c in range(0, m, TILE):
            _whiten_block(c, start, stop, data, ws)
            for k in range(n):
                v0, v1, v2 = v[k], v[BLOCK + k], v[2 * BLOCK + k]
                q[k] += v0 * v0 + v1 * v1 + v2 * v2
        for k in range(n):
            ws.curvature[k] = _exp_minus_abs(f[k])
        for k in range(n):
            e = ws.curvature[k]
            likelier = 1.0 / (1.0 + e)
            out = min(s[k], 1.0) * q[k]
            r = y[k] * (likelier if y[k] * f[k] < 0.0 else e * likelier)
            f[k] -= out * r / max(1.0 - out * e * likelier * likelier, MIN_LEFT_OUT)


@njit(**ONCE)
def _whiten_block(c, start, stop, data, ws):  # type: ignore[no-untyped-def]
    """Columns c, c + 1 and c + 2 of the terms of one block times the inverse factor V, which is upper triangular."""
    v = ws.whitened
    for k in range(v.size):
        v[k] = 0.0
    for j in range(0, c + 1, TILE):
        a0 = data.columns[ws.slots[j], start:stop]
        a1 = data.columns[ws.slots[j + 1], start:stop]
        a2 = data.columns[ws.slots[j + 2], start:stop]
        u00, u01, u02 = ws.inverse[j, c], ws.inverse[j, c + 1], ws.inverse[j, c + 2]
        u10, u11, u12 = ws.inverse[j + 1, c], ws.inverse[j + 1, c + 1], ws.inverse[j + 1, c + 2]
        u20, u21, u22 = ws.inverse[j + 2, c], ws.inverse[j + 2, c + 1], ws.inverse[j + 2, c + 2]
        for k in range(stop - start):
            v[k] += u00 * a0[k] + u10 * a1[k] + u20 * a2[k]
            v[BLOCK + k] += u01 * a0[k] + u11 * a1[k] + u21 * a2[k]
            v[2 * BLOCK + k] += u02 * a0[k] + u12 * a1[k] + u22 * a2[k]


@njit(**SHARED)
def _score(criterion, predictor, data):  # type: ignore[no-untyped-def]
    """(score, mean log-loss) of a predictor; an output of exactly zero is an error on either class."""
    loss = hit_upper = hit_lower = 0.0
    upper, lower = data.upper, data.lower
    total = upper + lower
    for k in range(predictor.size):
        s, z = data.weight[k], data.target[k] * predictor[k]
        loss += s * (_log1p_unit(_exp_minus_abs(z)) + max(-z, 0.0))
    loss /= total
    if criterion in (CRITERION_LOG_LOSS, CRITERION_LOO_LOG_LOSS):
        return math.exp(-loss), loss
    for k in range(predictor.size):
        hit = data.weight[k] if data.target[k] * predictor[k] > 0.0 else 0.0
        hit_upper += hit if data.target[k] > 0.0 else 0.0
        hit_lower += hit if data.target[k] < 0.0 else 0.0
    if criterion == CRITERION_BALANCED:
        return 0.5 * (hit_upper / upper + hit_lower / lower), loss
    accuracy = (hit_upper + hit_lower) / total
    if criterion == CRITERION_KAPPA:
        called_upper = hit_upper + (lower - hit_lower)
        chance = (called_upper * upper + (total - called_upper) * lower) / (total * total)
        return max((accuracy - chance) / (1.0 - chance), 0.0), loss
    return accuracy, loss


@njit(**ONCE)
def _evaluate_support(m, start, data, t_quantile, criterion, ties, ws):  # type: ignore[no-untyped-def]
    """Fit, test, drop and refit until every term is significant or held by a tie, then score.

    Returns (terms kept, score, log-loss, status, Newton steps on all rows); `ws.position` and `ws.coef` hold the kept
    terms first.
    """
    status, steps = EMPTY, 0
    # without a Gram matrix to begin with, the first fit of a long table begins on part of the rows
    stride = COARSE if data.gram.size == 0 and data.target.size >= COARSE_ROWS else 1
    may_end_early = True
    while m > 0:
        looked_up = status == EMPTY and data.gram.size > 0
        if looked_up:
            _look_up_derivatives(m, data, ws)
        status, early, spent = _newton(m, t_quantile[m], stride, looked_up, may_end_early and stride == 1, data, ws)
        if stride > 1:
            stride = 1
            continue
        steps += spent
        kept = _drop_insignificant(m, t_quantile[m], start, ties, ws)
        if kept == m and not early:
            break
        may_end_early = kept < m  # if ties hold all that was to be dropped, go on to the minimum
        m = kept
        _fill_tile(m, ws)
    if m == 0:
        return 0, EMPTY_SCORES[criterion], LN2, EMPTY, steps
    if criterion in (CRITERION_LOO_ACCURACY, CRITERION_LOO_LOG_LOSS):
        _leave_one_out(m, data, ws)
    value, loss = _score(criterion, ws.predictor[: data.target.size], data)
    return m, value, loss, status, steps


@njit(**SHARED)
def _fill_tile(m, ws):  # type: ignore[no-untyped-def]
    """Let the places past the last term repeat the first one: any column will do, as long as it is there."""
    for j in range(m, m + 2 * TILE):
        ws.slots[j] = ws.slots[0]


@njit(fastmath=SUMS, error_model="numpy", nogil=True)
def evaluate_supports(turn, last, indptr, slots, data, t_quantile, criterion, ties, ws, out):  # type: ignore[no-untyped-def]
    """Evaluate supports turn[0], ..., last - 1 of a batch; results go into `out`, aligned with the batch.

    Several threads may do so at once: each takes the support whose turn it is.
    """
    while True:
        s = _take_turn(turn)  # type: ignore
        if s >= last:
            return
        start = indptr[s]
        m = indptr[s + 1] - start
        for j in range(m):
            ws.slots[j] = slots[start + j]
            ws.penalty[j] = data.penalty[slots[start + j]]
            ws.sign[j] = ties.sign[start + j] if ties.sign.size > 0 else 0.0
            ws.coef[j] = 0.0
            ws.position[j] = start + j
        _fill_tile(m, ws)
        kept, value, loss, status, steps = _evaluate_support(m, start, data, t_quantile, criterion, ties, ws)
        for j in range(kept):
            out.kept[ws.position[j]] = True
            out.coef[ws.position[j]] = ws.coef[j]
        out.score[s] = value
        out.log_loss[s] = loss
        out.status[s] = status
        out.n_newton[s] = steps


@njit(fastmath=SUMS, error_model="numpy", nogil=True)
def gram_matrix(columns, weight):  # type: ignore[no-untyped-def]
    """Weighted inner products of all pairs of columns. A BLAS product would round by its number of threads."""
    n_terms, n_rows = columns.shape
    last = n_terms - 1  # tiles that reach past it repeat it
    gram = np.empty((n_terms, n_terms))
    weighted = np.empty((TILE, n_rows))
    for i in range(0, n_terms, TILE):
        for a in range(TILE):
            row, column = weighted[a], columns[min(i + a, last)]
            for k in range(n_rows):
                row[k] = column[k] * weight[k]
        w0, w1, w2 = weighted[0], weighted[1], weighted[2]
        for j in range(i, n_terms, TILE):
            j1, j2 = min(j + 1, last), min(j + 2, last)
            b0, b1, b2 = columns[j], columns[j1], columns[j2]
            s00 = s01 = s02 = s10 = s11 = s12 = s20 = s21 = s22 = 0.0
            for k in range(n_rows):
                s00 += w0[k] * b0[k]
                s01 += w0[k] * b1[k]
                s02 += w0[k] * b2[k]
                s10 += w1[k] * b0[k]
                s11 += w1[k] * b1[k]
                s12 += w1[k] * b2[k]
                s20 += w2[k] * b0[k]
                s21 += w2[k] * b1[k]
                s22 += w2[k] * b2[k]
            gram[i, j], gram[i, j1], gram[i, j2] = s00, s01, s02
            i1, i2 = min(i + 1, last), min(i + 2, last)
            gram[i1, j], gram[i1, j1], gram[i1, j2] = s10, s11, s12
            gram[i2, j], gram[i2, j1], gram[i2, j2] = s20, s21, s22
    for i in range(n_terms):
        for j in range(i):
            gram[i, j] = gram[j, i]
    return gram


def _keep_on_disk(function: Any) -> None:
    """Cache a function as numba does, but compile again rather than fail, or run what belongs to other numbers.

    Numba raises whatever reading a damaged file or writing to a full disk raises, and looks for changes in this file
    alone, while some of the numbers come from `base.py` and `problem.py`.
    """
    function.enable_caching()
    cache = function._cache
    load, save, key = cache.load_overload, cache.save_overload, cache._index_key
    numbers = tuple((k, v) for k, v in globals().items() if k.isupper() and isinstance(v, int | float | tuple))

    def load_or_forget(*arguments: Any) -> Any:
        try:
            return load(*arguments)
        except Exception:  # of pickle, zlib or the file system
            sys.stderr.write("rfsc: its compiled kernels on the disk are damaged and are compiled again\n")
            with suppress(OSError):
                cache.flush()
            return None

    def save_if_possible(*arguments: Any) -> None:
        with suppress(Exception):
            save(*arguments)

    cache.load_overload, cache.save_overload = load_or_forget, save_if_possible
    cache._index_key = lambda *arguments: (*key(*arguments), numbers)


try:
    for kernel in (evaluate_supports, gram_matrix):
        _keep_on_disk(kernel)
except RuntimeError:  # numba finds no folder that it may write to
    sys.stderr.write("rfsc: its compiled kernels cannot be kept in any folder; set NUMBA_CACHE_DIR to one\n")
