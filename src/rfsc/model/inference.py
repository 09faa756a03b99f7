"""The final fit of a chosen support, to full precision, with the covariance of its coefficients.

Engines may run anywhere and stop when the search has what it needs; the model that a user sees is always refitted
here, by a few plain lines in double precision.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats
from scipy.special import expit

from .._typing import FloatArray

MAX_STEPS = 50
MAX_HALVINGS = 30


@dataclass(frozen=True, slots=True)
class WaldFit:
    """A penalised maximum-likelihood fit.

    Parameters
    ----------
    coef : ndarray of shape (n_terms,)
        Coefficients on the [0, 1] scale.
    standard_error : ndarray of shape (n_terms,)
        Square roots of the diagonal of the inverse Hessian (dispersion one).
    """

    coef: FloatArray
    standard_error: FloatArray


def refit(
    columns: FloatArray, target: FloatArray, weight: FloatArray, penalty: FloatArray, coef: FloatArray
) -> WaldFit:
    """Minimise sum weight * log(1 + exp(-target f)) + penalty coef^2 / 2, starting from `coef`.

    Parameters
    ----------
    columns : ndarray of shape (n_terms, n_rows)
        The terms.
    target, weight : ndarray of shape (n_rows,)
        Outputs in {-1, +1} and observations per row.
    penalty, coef : ndarray of shape (n_terms,)
        Ridge of each coefficient, and where to start.
    """
    coef = np.array(coef, dtype=np.float64)
    loss = _loss(columns, target, weight, penalty, coef)
    for _ in range(MAX_STEPS):
        gradient, hessian = _derivatives(columns, target, weight, penalty, coef)
        step = _scaled_inverse(hessian) @ gradient
        for _ in range(MAX_HALVINGS):
            reached = _loss(columns, target, weight, penalty, coef + step)
            if reached <= loss * (1.0 + 1e-15):
                break
            step = step / 2
        else:
            break  # no descent left: the solution, to the last bit that rounding allows
        coef, progress, loss = coef + step, loss - reached, reached
        if progress <= 1e-15 * loss and np.all(np.abs(step) <= 1e-10 * (1.0 + np.abs(coef))):
            break
    _, hessian = _derivatives(columns, target, weight, penalty, coef)
    return WaldFit(coef, np.sqrt(np.diag(_scaled_inverse(hessian))))


def _scaled_inverse(hessian: FloatArray) -> FloatArray:
    """Inverse of a Hessian whose terms may differ in scale by many orders; dependent terms share their effect."""
    scale = np.sqrt(np.diag(hessian))
    scale[scale == 0.0] = 1.0
    inverse: FloatArray = np.linalg.pinv(hessian / np.outer(scale, scale), hermitian=True)
    inverse /= np.outer(scale, scale)
    return inverse


def p_values(coef: FloatArray, standard_error: FloatArray, n_observations: float) -> FloatArray:
    """Two-sided p-values of the t-test with n_observations - n_terms degrees of freedom.

    They take the terms as given. The search has looked at many supports to find these terms, so the values are too
    small to be read as evidence against chance; they rank the terms of one model.
    """
    freedom = max(n_observations - coef.size, 1.0)
    t = np.divide(coef, standard_error, out=np.zeros_like(coef), where=standard_error > 0)
    return np.asarray(2.0 * stats.t.sf(np.abs(t), freedom), dtype=np.float64)


def _loss(columns: FloatArray, target: FloatArray, weight: FloatArray, penalty: FloatArray, coef: FloatArray) -> float:
    margin = target * _predictor(coef, columns)
    return float((weight * np.logaddexp(0.0, -margin)).sum() + 0.5 * (penalty * coef**2).sum())


def _predictor(coef: FloatArray, columns: FloatArray) -> FloatArray:
    # einsum, here and below: the rounding of a matrix product would depend on the threads of the BLAS library
    return np.asarray(np.einsum("j,jk->k", coef, columns), dtype=np.float64)


def _derivatives(
    columns: FloatArray, target: FloatArray, weight: FloatArray, penalty: FloatArray, coef: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Negative gradient and Hessian."""
    f = _predictor(coef, columns)
    gradient = np.einsum("jk,k->j", columns, weight * target * expit(-target * f)) - penalty * coef
    hessian = np.einsum("ik,jk->ij", columns * (weight * expit(f) * expit(-f)), columns)
    hessian[np.diag_indices_from(hessian)] += penalty
    return gradient, hessian
