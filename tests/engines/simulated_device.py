"""A device that needs no hardware: what the kernels of `fused.cu` do, in NumPy, one model after the other.

With it the host's side of the CUDA engine (stacks, padding, uploaded columns, levels) is tested on every machine.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from rfsc._engines.array_engine import factorise, invert, leave_one_out, row_sums

START, RUNNING, CONVERGED, STOPPED = range(4)
ALL_ROWS, RESUMED, TILE = 0, -1, 32


class SimulatedDevice:
    def put(self, array):
        return np.array(array)

    def get(self, array):
        return np.array(array)

    def empty(self, shape):
        return np.full(shape, np.nan)  # whatever reads before it writes shows

    def compile(self, source, constants):
        assert "derivatives" in source
        return SimulatedKernels(SimpleNamespace(**constants))


class SimulatedKernels:
    def __init__(self, constants):
        self.constants = constants

    def launch(self, name, grid, threads, shared, args):
        assert threads % 32 == 0 or threads % self.constants.TERMS == 0
        getattr(self, name)(*args)

    def terms(self, table, factors):
        assert factors.shape == (self.constants.TERMS, self.constants.DEGREE)
        return table[factors].prod(axis=1)

    def derivatives(self, *args):
        table, stride, n_slots, target, weight, factors, coef, step, active, n_active, *cut, share, partial = args
        assert (n_slots, stride) == table.shape
        assert n_active == active.size
        for position, model in enumerate(active):
            x, at = self.terms(table, factors[model]), coef[model] + step[model]
            for chunk, rows in enumerate(chunks(*cut)):
                seen = rows[(rows - rows[0]) // TILE % share == 0]
                z, w, y = x[:, seen], weight[seen], target[seen]
                wrong = 1 / (1 + np.exp(np.clip(y * (at @ z), -700, 700)))
                hessian = (z * (w * wrong * (1 - wrong))) @ z.T
                partial[chunk, position] = np.concatenate([packed(hessian), z @ (w * y * wrong)])

    def advance(
        self, partial, n_chunks, share, active, penalty, coef, step, decrement, hessian, inverse, variance, states
    ):
        c = self.constants
        assert n_chunks == partial.shape[0]
        for position, model in enumerate(active):
            h, g = unpacked(share * partial[:, position].sum(axis=0), c.TERMS)
            (phase, level, steps, halvings), s = states[model].tolist(), step[model].copy()
            g -= penalty[model] * (coef[model] + s)
            h += np.diag(penalty[model])
            if phase == RUNNING and -g @ s > c.MAX_OVERSHOOT * decrement[model] and halvings < c.MAX_HALVINGS:
                step[model], decrement[model] = 0.5 * s, 0.5 * decrement[model]
                states[model, 3] += 1
                continue
            coef[model] += s
            hessian[model] = h
            v = invert(factorise(h[None]))[0]
            s, reached = v @ (g @ v), (g @ v) @ (g @ v)
            coarse = level != ALL_ROWS
            astray = halvings == RESUMED and not reached <= c.MAX_RESUME * c.TERMS
            astray |= coarse and not (np.abs(coef[model] + s) <= c.COARSE_RANGE).all()
            after = (RUNNING, level, steps + 1, 0)
            if astray:
                after, coef[model] = (START, ALL_ROWS, 0, 0), 0.0
            elif coarse and (reached <= c.COARSE_TOL or steps + 1 >= c.MAX_COARSE):
                after, coef[model] = (START, ALL_ROWS, 0, RESUMED), coef[model] + s
            elif steps >= c.MAX_NEWTON:
                after = (STOPPED, level, steps, 0)
            elif not coarse and reached <= c.NEWTON_TOL:
                after = (CONVERGED, level, steps + 1, 0)
            step[model] = 0.0 if after[0] in (START, STOPPED) else s
            variance[model], decrement[model], states[model] = (v * v).sum(axis=1), reached, after
            if after[0] >= CONVERGED:
                inverse[model] = v

    def without(self, hessian, stays, coef):
        for h, stay, c in zip(hessian, stays > 0, coef, strict=True):
            v = invert(factorise(np.where(np.outer(stay, stay), h, 0.0)[None]))[0]
            g = np.where(stay, h @ np.where(stay, 0.0, c), 0.0)
            c[:] = np.where(stay, c + v @ (g @ v), 0.0)

    def scores(self, *args):
        table, _, _, target, weight, factors, coef, inverse, active, _, *cut, leave_out, partial = args
        for position, model in enumerate(active):
            x = self.terms(table, factors[model])
            for chunk, rows in enumerate(chunks(*cut)):
                z, y, w = x[None, :, rows], target[rows], weight[rows]
                predictor = coef[model][None] @ z[0]
                if leave_out:
                    predictor = leave_one_out(z, inverse[model][None], predictor, y, w)
                partial[chunk, position] = row_sums(predictor, y, w)[0]


def chunks(rows_per_chunk, n_rows):
    return [np.arange(first, min(first + rows_per_chunk, n_rows)) for first in range(0, n_rows, rows_per_chunk)]


def packed(hessian):
    """The 8 x 8 blocks on and above the diagonal, one after the other."""
    n = hessian.shape[0] // 8
    blocks = hessian.reshape(n, 8, n, 8).swapaxes(1, 2)
    return blocks[np.triu_indices(n)].ravel()


def unpacked(numbers, n_terms):
    n = n_terms // 8
    blocks = np.zeros((n, n, 8, 8))
    blocks[np.triu_indices(n)] = numbers[:-n_terms].reshape(-1, 8, 8)
    upper = blocks.swapaxes(1, 2).reshape(n_terms, n_terms)
    return np.triu(upper) + np.triu(upper, 1).T, numbers[-n_terms:].copy()
