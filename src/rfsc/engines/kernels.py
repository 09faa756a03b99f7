"""The compiled heart of the Numba engine: one support in, one pruned and scored model out.

Read from the bottom up: `evaluate_supports` loops over supports; `_evaluate_support` fits, tests, drops and refits
one; `_newton` fits; `_derivatives` makes the one pass over the rows that a Newton step needs.

Everything works on blocks of `BLOCK` rows, so that a block of every term stays in the fastest cache while its
predictor, weights, gradient and Hessian are formed.
No function allocates: all scratch memory is a `Workspace` that the caller owns, one for each thread.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import float64, njit
from numba.extending import intrinsic

from .._typing import BoolArray, FloatArray, IntArray
from .base import (
    MAX_HALVINGS,
    MAX_NEWTON,
    MAX_OVERSHOOT,
    MIN_LEFT_OUT,
    NEWTON_TOL,
    PIVOT_TOL,
    Score,
    Status,
    empty_model_score,
)

BLOCK = 192  # rows worked on at a time
CACHE_LINE = 8  # in numbers of 8 bytes

# Sums may be reordered (so that they vectorise) in functions marked SUMS. The exponential must not be: its rounding
# trick is exactly what an algebraic simplifier would remove.
SUMS = {"reassoc", "contract", "nsz", "arcp"}
EXACT = {"contract"}
# Only the outermost function is called from Python and cached; it carries the code of the others. Those that are called
# from one place only become part of their caller before compilation, which takes a third off its time. The others are
# inlined by the compiler: a call left over would reach another copy of them in the process that compiles than in those
# that load its cache, and the copies round differently.
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

SCORE_BALANCED = int(Score.BALANCED_ACCURACY)
SCORE_KAPPA = int(Score.KAPPA)
SCORE_LOG_LOSS = int(Score.LOG_LOSS)
SCORE_LOO_ACCURACY = int(Score.LOO_ACCURACY)
SCORE_LOO_LOG_LOSS = int(Score.LOO_LOG_LOSS)
CONVERGED = int(Status.CONVERGED)
STOPPED = int(Status.STOPPED)
EMPTY = int(Status.EMPTY)
EMPTY_SCORES = tuple(empty_model_score(score) for score in Score)


def _aligned(*shape: int) -> FloatArray:
    """Zeros whose rows begin at whole cache lines; vector loads that straddle two lines cost double."""
    rows, width = math.prod(shape[:-1]), -(-shape[-1] // CACHE_LINE) * CACHE_LINE
    memory = np.zeros(rows * width + CACHE_LINE)
    skip = -(memory.ctypes.data // 8) % CACHE_LINE
    return memory[skip : skip + rows * width].reshape(*shape[:-1], width)


class Workspace(NamedTuple):
    """Scratch memory of one thread."""

    terms: FloatArray  # (max_terms, n_rows): columns of the support at hand
    weighted: FloatArray  # (max_terms, BLOCK): a block of them times the rows' curvatures
    predictor: FloatArray  # (n_rows,)
    leverage: FloatArray  # (BLOCK,)
    curvature: FloatArray  # (BLOCK,)
    decay: FloatArray  # (BLOCK,): exp(-|predictor|)
    penalty: FloatArray  # (max_terms,)
    coef: FloatArray  # (max_terms,)
    trial: FloatArray  # (max_terms,)
    step: FloatArray  # (max_terms,)
    rest: FloatArray  # (max_terms,)
    hessian: FloatArray  # (max_terms, max_terms + 1): upper half, and the gradient as column m
    factor: FloatArray  # like hessian: its Cholesky factor
    inverse: FloatArray  # (max_terms, max_terms): inverse of the factor
    stays: BoolArray  # (max_terms,): which terms stay after the test
    held: BoolArray  # (max_terms,): the same, by place in the support as it was handed in
    position: IntArray  # (max_terms,): where in the batch each kept term stands

    @classmethod
    def allocate(cls, max_terms: int, n_rows: int) -> Workspace:
        """Scratch memory for supports of at most `max_terms` terms."""
        m = max_terms + 2  # tiles of two terms may touch the next row
        return cls(
            terms=_aligned(m, n_rows),
            weighted=_aligned(m, BLOCK),
            predictor=_aligned(n_rows),
            leverage=_aligned(BLOCK),
            curvature=_aligned(BLOCK),
            decay=_aligned(BLOCK),
            penalty=_aligned(m),
            coef=_aligned(m),
            trial=_aligned(m),
            step=_aligned(m),
            rest=_aligned(m),
            hessian=_aligned(m, m),
            factor=_aligned(m, m),
            inverse=_aligned(m, m),
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


@njit(fastmath=EXACT, error_model="numpy")
def _exp_minus_abs(x):  # type: ignore[no-untyped-def]
    """exp(-|x|) without a library call, so that loops over it become vector code; within 1 ulp of math.exp."""
    x = max(-abs(x), LOWEST)
    rounded = x * LOG2_E + ROUND
    k = rounded - ROUND
    r = (x - k * LN2_HIGH) - k * LN2_LOW
    p = 1.6059043836821613e-10  # Taylor coefficients 1/13!, 1/12!, ...: |r| <= ln(2)/2 leaves 4e-18
    p = p * r + 2.08767569878681e-09
    p = p * r + 2.505210838544172e-08
    p = p * r + 2.755731922398589e-07
    p = p * r + 2.7557319223985893e-06
    p = p * r + 2.48015873015873e-05
    p = p * r + 0.0001984126984126984
    p = p * r + 0.001388888888888889
    p = p * r + 0.008333333333333333
    p = p * r + 0.041666666666666664
    p = p * r + 0.16666666666666666
    p = p * r + 0.5
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
def _derivatives(m, coef, target, weight, ws):  # type: ignore[no-untyped-def]
    """Leave the predictor at `coef`, and gradient and Hessian of the penalised loss, in the workspace.

    The (negative) gradient is column m of the Hessian table: the residuals ride along as one more weighted term.
    """
    for j in range(m):
        for i in range(j):
            ws.hessian[i, j] = 0.0
        ws.hessian[j, j] = ws.penalty[j]
        ws.hessian[j, m] = -ws.penalty[j] * coef[j]
    for start in range(0, target.size, BLOCK):
        stop = min(start + BLOCK, target.size)
        _predict_block(m, coef, start, stop, ws)
        _weigh_block(m, start, stop, target, weight, ws)
        _accumulate_block(m, start, stop, ws)


@njit(**ONCE)
def _predict_block(m, coef, start, stop, ws):  # type: ignore[no-untyped-def]
    """Linear predictor of one block, two terms at a time."""
    f = ws.predictor[start:stop]
    for k in range(f.size):
        f[k] = 0.0
    for j in range(0, m, 2):  # a row past the last term is finite scratch; its coefficient is taken as zero
        c0, c1 = coef[j], coef[j + 1] if j + 1 < m else 0.0
        a0, a1 = ws.terms[j, start:stop], ws.terms[j + 1, start:stop]
        for k in range(f.size):
            f[k] += c0 * a0[k] + c1 * a1[k]


@njit(**ONCE)
def _weigh_block(m, start, stop, target, weight, ws):  # type: ignore[no-untyped-def]
    """Weight the terms of one block by s p (1 - p) and leave its residuals s (t - p) as row m beside them."""
    f, y, s = ws.predictor[start:stop], target[start:stop], weight[start:stop]
    decay, curvature, residual = ws.decay, ws.curvature, ws.weighted[m]
    for k in range(f.size):
        decay[k] = _exp_minus_abs(f[k])
    for k in range(f.size):
        e = decay[k]
        q = 1.0 / (1.0 + e)  # probability of the likelier class; e * q is that of the other
        residual[k] = s[k] * y[k] * (q if y[k] * f[k] < 0.0 else e * q)
        curvature[k] = s[k] * e * q * q
    for j in range(m):
        column, weighted = ws.terms[j, start:stop], ws.weighted[j]
        for k in range(f.size):
            weighted[k] = column[k] * curvature[k]


@njit(**ONCE)
def _accumulate_block(m, start, stop, ws):  # type: ignore[no-untyped-def]
    """Add one block of rows to gradient and Hessian, in tiles of two terms by two weighted terms."""
    hessian, weighted = ws.hessian, ws.weighted
    for i in range(0, m, 2):
        a0, a1 = ws.terms[i, start:stop], ws.terms[i + 1, start:stop]
        for j in range(i, m + 1, 2):
            b0, b1 = weighted[j], weighted[j + 1]
            s00 = s01 = s10 = s11 = 0.0
            for k in range(stop - start):
                s00 += a0[k] * b0[k]
                s01 += a0[k] * b1[k]
                s10 += a1[k] * b0[k]
                s11 += a1[k] * b1[k]
            hessian[i, j] += s00
            hessian[i, j + 1] += s01
            hessian[i + 1, j] += s10
            hessian[i + 1, j + 1] += s11


@njit(**SHARED)
def _factorise(m, ws):  # type: ignore[no-untyped-def]
    """Upper Cholesky factor U of the Hessian, U'U = H. A term that depends on earlier ones gets a row of zeros.

    The gradient g rides along as column m and comes out as U'^-1 g. Rows are worked on in whole cache lines.
    """
    hessian, factor = ws.hessian, ws.factor
    width = (m // CACHE_LINE + 1) * CACHE_LINE
    for i in range(m):
        row = factor[i]
        for j in range(i):
            row[j] = 0.0
        for j in range(i, width):
            row[j] = hessian[i, j]
    for i in range(m):
        row = factor[i]
        pivot = row[i]
        scale = 1.0 / math.sqrt(pivot) if pivot > PIVOT_TOL * hessian[i, i] else 0.0
        for j in range(width):
            row[j] *= scale
        for k in range(i + 1, m):
            c, other = row[k], factor[k]
            for j in range(width):
                other[j] -= c * row[j]


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
def _derivatives_at_zero(m, slots, data, ws):  # type: ignore[no-untyped-def]
    """What `_derivatives` leaves for coefficients of zero, looked up where the Gram matrix of all terms is at hand."""
    if data.gram.size == 0:
        _derivatives(m, ws.coef, data.target, data.weight, ws)
        return
    for j in range(m):
        for i in range(j + 1):
            ws.hessian[i, j] = data.gram[slots[i], slots[j]]
        ws.hessian[j, j] += ws.penalty[j]
        ws.hessian[j, m] = data.gradient[slots[j]]
    ws.predictor[:] = 0.0


@njit(**ONCE)
def _newton(m, target, weight, ws):  # type: ignore[no-untyped-def]
    """Fit the m terms of the workspace from `ws.coef`, at which the derivatives stand already.

    A step is halved while the loss rises at its end more than half as steeply as it fell at the start; the loss is
    convex, so a step that ends before its minimum needs no further check. Leaves the factor at the solution. Returns
    (status, steps).
    """
    for n in range(1, MAX_NEWTON + 1):
        _factorise(m, ws)
        decrement = _solve(m, ws)
        if decrement <= NEWTON_TOL:
            for j in range(m):
                ws.coef[j] += ws.step[j]
            return CONVERGED, n
        for _ in range(MAX_HALVINGS):
            slope = 0.0
            for j in range(m):
                ws.trial[j] = ws.coef[j] + ws.step[j]
            _derivatives(m, ws.trial, target, weight, ws)
            for j in range(m):
                slope -= ws.hessian[j, m] * ws.step[j]
            if slope <= MAX_OVERSHOOT * decrement:
                break
            decrement *= 0.5  # the slope at the start, along the halved step
            for j in range(m):
                ws.step[j] *= 0.5
        for j in range(m):
            ws.coef[j] = ws.trial[j]
    _factorise(m, ws)
    return STOPPED, MAX_NEWTON


@njit(**ONCE)
def _invert_factor(m, ws):  # type: ignore[no-untyped-def]
    """Inverse V of the factor U, row by row; rows and columns of dependent terms become zero."""
    width = (m // CACHE_LINE + 1) * CACHE_LINE
    rest = ws.rest
    for k in range(m):
        inverse = ws.inverse[k]
        for j in range(width):
            inverse[j] = rest[j] = 0.0
        rest[k] = 1.0
        for j in range(k, m):
            row = ws.factor[j]
            v = rest[j] / row[j] if row[j] > 0.0 else 0.0
            inverse[j] = v
            for i in range(width):
                rest[i] -= v * row[i]


@njit(**ONCE)
def _hold_ties(m, start, ties, ws):  # type: ignore[no-untyped-def]
    """Let stay what is exempt from the test and what the terms that stay hold. Returns how many stay.

    Entries of the support count from `start`.
    """
    for j in range(m):
        ws.held[ws.position[j] - start] = False
    for j in range(m):
        entry = ws.position[j]
        if ws.stays[j] or ties.exempt[entry]:
            ws.held[entry - start] = True
            for k in range(ties.indptr[entry], ties.indptr[entry + 1]):
                ws.held[ties.entries[k] - start] = True
    kept = 0
    for j in range(m):
        ws.stays[j] = ws.held[ws.position[j] - start]
        kept += ws.stays[j]
    return kept


@njit(**ONCE)
def _drop_insignificant(m, threshold, start, ties, ws):  # type: ignore[no-untyped-def]
    """Test every term (interval (8) of the paper) and drop those that fail, but for ties. Returns how many stay.

    The coefficients that stay move to the minimum of the quadratic model of the loss without the dropped terms:
    H_kk step = H_kd coef_d. The refit starts there and is nearly done.
    """
    hessian, coef = ws.hessian, ws.coef
    kept = 0
    for j in range(m):
        variance = 0.0
        for k in range(j, m):
            variance += ws.inverse[j, k] * ws.inverse[j, k]
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
                ws.position[kept] = ws.position[j]
                for k in range(ws.terms.shape[1]):
                    ws.terms[kept, k] = ws.terms[j, k]
            kept += 1
    for j in range(kept):
        hessian[j, kept] = ws.trial[j]
    _factorise(kept, ws)
    _solve(kept, ws)
    for j in range(kept):
        coef[j] += ws.step[j]
    return kept


@njit(**ONCE)
def _leave_one_out(m, target, weight, ws):  # type: ignore[no-untyped-def]
    """Turn the predictor into its left-out value, f - u q r / (1 - u q p (1 - p)) with q = x' H^-1 x.

    One observation is left out: u = 1, or the whole row where its weight is below one. Rows of weight 2 are thereby
    the same as two rows.
    """
    for start in range(0, target.size, BLOCK):
        stop = min(start + BLOCK, target.size)
        f, y, s = ws.predictor[start:stop], target[start:stop], weight[start:stop]
        n = stop - start
        q, v = ws.leverage, ws.curvature
        for k in range(n):
            q[k] = 0.0
        for c in range(m):
            for k in range(n):
                v[k] = 0.0
            for j in range(0, c + 1, 2):
                u0, u1 = ws.inverse[j, c], ws.inverse[j + 1, c] if j < c else 0.0
                a0, a1 = ws.terms[j, start:stop], ws.terms[j + 1, start:stop]
                for k in range(n):
                    v[k] += u0 * a0[k] + u1 * a1[k]
            for k in range(n):
                q[k] += v[k] * v[k]
        for k in range(n):
            ws.decay[k] = _exp_minus_abs(f[k])
        for k in range(n):
            e = ws.decay[k]
            likelier = 1.0 / (1.0 + e)
            out = min(s[k], 1.0) * q[k]
            r = y[k] * (likelier if y[k] * f[k] < 0.0 else e * likelier)
            f[k] -= out * r / max(1.0 - out * e * likelier * likelier, MIN_LEFT_OUT)


@njit(**ONCE)
def _score(score, predictor, target, weight):  # type: ignore[no-untyped-def]
    """(score, mean log-loss) of a predictor; an output of exactly zero is an error on either class."""
    loss = hit_upper = hit_lower = upper = lower = 0.0
    for k in range(target.size):
        s, z = weight[k], target[k] * predictor[k]
        loss += s * (_log1p_unit(_exp_minus_abs(z)) + max(-z, 0.0))
        hit = s if z > 0.0 else 0.0
        upper += s if target[k] > 0.0 else 0.0
        lower += s if target[k] < 0.0 else 0.0
        hit_upper += hit if target[k] > 0.0 else 0.0
        hit_lower += hit if target[k] < 0.0 else 0.0
    total = upper + lower
    loss /= total
    if score in (SCORE_LOG_LOSS, SCORE_LOO_LOG_LOSS):
        return math.exp(-loss), loss
    if score == SCORE_BALANCED:
        return 0.5 * (hit_upper / upper + hit_lower / lower), loss
    accuracy = (hit_upper + hit_lower) / total
    if score == SCORE_KAPPA:
        called_upper = hit_upper + (lower - hit_lower)
        chance = (called_upper * upper + (total - called_upper) * lower) / (total * total)
        return max((accuracy - chance) / (1.0 - chance), 0.0), loss
    return accuracy, loss


@njit(**ONCE)
def _evaluate_support(m, start, slots, data, t_quantile, score, ties, ws):  # type: ignore[no-untyped-def]
    """Fit, test, drop and refit until every term is significant or held by a tie, then score.

    Returns (terms kept, score, log-loss, status, Newton steps); `ws.position` and `ws.coef` hold the kept terms first.
    """
    status, steps = EMPTY, 0
    while m > 0:
        if steps == 0:
            _derivatives_at_zero(m, slots, data, ws)
        else:
            _derivatives(m, ws.coef, data.target, data.weight, ws)
        status, spent = _newton(m, data.target, data.weight, ws)
        steps += spent
        _invert_factor(m, ws)
        kept = _drop_insignificant(m, t_quantile[m], start, ties, ws)
        if kept == m:
            break
        m = kept
    if m == 0:
        return 0, EMPTY_SCORES[score], LN2, EMPTY, steps
    if score in (SCORE_LOO_ACCURACY, SCORE_LOO_LOG_LOSS):
        _leave_one_out(m, data.target, data.weight, ws)
    value, loss = _score(score, ws.predictor[: data.target.size], data.target, data.weight)
    return m, value, loss, status, steps


@njit(fastmath=SUMS, error_model="numpy", nogil=True, cache=True)
def evaluate_supports(first, last, indptr, slots, data, t_quantile, score, ties, ws, out):  # type: ignore[no-untyped-def]
    """Evaluate supports first, ..., last - 1 of a batch; results go into `out`, aligned with the batch."""
    for s in range(first, last):
        start = indptr[s]
        m = indptr[s + 1] - start
        for j in range(m):
            slot = slots[start + j]
            for k in range(
                data.target.size
            ):  # assigning a slice would compile the text of its error message, for seconds
                ws.terms[j, k] = data.columns[slot, k]
            ws.penalty[j] = data.penalty[slot]
            ws.coef[j] = 0.0
            ws.position[j] = start + j
        own = slots[start : start + m]
        kept, value, loss, status, steps = _evaluate_support(m, start, own, data, t_quantile, score, ties, ws)
        for j in range(kept):
            out.kept[ws.position[j]] = True
            out.coef[ws.position[j]] = ws.coef[j]
        out.score[s] = value
        out.log_loss[s] = loss
        out.status[s] = status
        out.n_newton[s] = steps


@njit(fastmath=SUMS, error_model="numpy", nogil=True, cache=True)
def gram_matrix(columns, weight):  # type: ignore[no-untyped-def]
    """Weighted inner products of all pairs of columns. A BLAS product would round by its number of threads."""
    n_terms, n_rows = columns.shape
    gram = np.empty((n_terms, n_terms))
    weighted = np.empty(n_rows)
    for i in range(n_terms):
        a = columns[i]
        for k in range(n_rows):
            weighted[k] = a[k] * weight[k]
        for j in range(i, n_terms):
            b = columns[j]
            total = 0.0
            for k in range(n_rows):
                total += weighted[k] * b[k]
            gram[i, j] = gram[j, i] = total
    return gram
