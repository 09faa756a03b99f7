"""What speaks for and against a class in a sample: the paper's y+ and y-, and the confidence made of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._typing import FloatArray
from ..model import SparseModel


class ForAgainst(NamedTuple):
    """f of every sample, split by the sign of the contributions: f = for_class - against_class.

    Both are at least zero within the training ranges, and also beyond them, where a term may turn its sign: each
    contribution is counted on the side where it pulls.
    """

    for_class: FloatArray
    against_class: FloatArray

    @property
    def confidence(self) -> FloatArray:
        """delta = (y+ - y-) / max(y+, y-): 1 where nothing speaks against the class, -1 where nothing speaks for it."""
        larger = np.maximum(self.for_class, self.against_class)
        gap = self.for_class - self.against_class
        return np.divide(gap, larger, out=np.zeros_like(gap), where=larger > 0)


def for_and_against(model: SparseModel, X: FloatArray) -> ForAgainst:
    """Split the output of a model into what speaks for its class and what speaks against it (paper, Eq. nl_reg2).

    Parameters
    ----------
    model : SparseModel
        The model of one output.
    X : ndarray of shape (n_samples, n_features)
        Samples in the user's own units.

    Returns
    -------
    ForAgainst
        y+ and y- of every sample.
    """
    parts = model.coef[:, None] * model.columns(X)
    return ForAgainst(np.maximum(parts, 0.0).sum(axis=0), np.maximum(-parts, 0.0).sum(axis=0))
