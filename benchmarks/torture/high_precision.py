"""A penalised logistic regression to many digits: Newton's method on the equations of docs/method.md, in mpmath."""

from __future__ import annotations

from typing import NamedTuple

import mpmath
import numpy as np

DIGITS = 100  # a Hessian of condition 1e32 leaves 68 of them
SMALL_STEP = mpmath.mpf(10) ** -40  # beside a coefficient: Newton's method then has twice as many digits
MAX_STEPS = 400


class Exact(NamedTuple):
    """Coefficients, standard errors and mean log-loss, rounded to doubles at the very end."""

    coef: np.ndarray
    standard_error: np.ndarray
    log_loss: float


def exact_fit(columns, target, weight, penalty) -> Exact:
    """The minimiser of sum weight log(1 + exp(-target f)) + penalty coef^2 / 2; raises if there is none.

    Rows that are equal count as one of their summed weight, which changes nothing but the time this takes.
    """
    rows, at = np.unique(np.vstack([columns, target]), axis=1, return_inverse=True)
    with mpmath.workdps(DIGITS):
        weights = [mpmath.mpf(0)] * rows.shape[1]
        for k, s in zip(at, weight, strict=True):
            weights[k] += mpmath.mpf(float(s))
        x = [[mpmath.mpf(float(value)) for value in row] for row in rows[:-1].T]
        return _newton(x, [int(y) for y in rows[-1]], weights, [mpmath.mpf(float(v)) for v in penalty])


def _newton(x, y, weight, penalty) -> Exact:
    n_terms = len(penalty)
    coef = mpmath.zeros(n_terms, 1)
    loss = _loss(x, y, weight, penalty, coef)
    for _ in range(MAX_STEPS):
        gradient, hessian = _derivatives(x, y, weight, penalty, coef)
        step = mpmath.cholesky_solve(hessian, gradient)
        reached = _loss(x, y, weight, penalty, coef + step)
        while reached > loss * (1 + mpmath.mpf(10) ** (20 - DIGITS)):
            step /= 2
            reached = _loss(x, y, weight, penalty, coef + step)
        coef, loss = coef + step, reached
        if all(abs(step[j]) <= SMALL_STEP * (1 + abs(coef[j])) for j in range(n_terms)):
            _, hessian = _derivatives(x, y, weight, penalty, coef)
            inverse = mpmath.inverse(hessian)
            error = [float(mpmath.sqrt(inverse[j, j])) for j in range(n_terms)]
            free = _loss(x, y, weight, [0] * n_terms, coef) / mpmath.fsum(weight)
            return Exact(np.array([float(c) for c in coef]), np.array(error), float(free))
    msg = f"no minimum within {MAX_STEPS} Newton steps"
    raise ArithmeticError(msg)


def _margin(row, y, coef):
    return y * mpmath.fdot(row, coef)


def _loss(x, y, weight, penalty, coef):
    fit = mpmath.fsum(
        s * mpmath.log1p(mpmath.exp(-_margin(row, yk, coef))) for row, yk, s in zip(x, y, weight, strict=True)
    )
    return fit + mpmath.fsum(v * c * c for v, c in zip(penalty, coef, strict=True)) / 2


def _derivatives(x, y, weight, penalty, coef):
    """Negative gradient and Hessian."""
    n_terms = len(penalty)
    gradient = mpmath.matrix([-v * c for v, c in zip(penalty, coef, strict=True)])
    hessian = mpmath.diag(penalty)
    for row, yk, s in zip(x, y, weight, strict=True):
        wrong = 1 / (1 + mpmath.exp(_margin(row, yk, coef)))
        for i in range(n_terms):
            gradient[i] += s * yk * wrong * row[i]
            for j in range(i + 1):
                hessian[i, j] += s * wrong * (1 - wrong) * row[i] * row[j]
                hessian[j, i] = hessian[i, j]
    return gradient, hessian
