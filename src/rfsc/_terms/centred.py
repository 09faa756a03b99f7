"""Products of deviations from typical values, such as (age-52)*(bmi-27), beside the features themselves.

They span the same functions as monomials. But a product of features on [0, 1] mostly repeats the features themselves,
so a pure interaction shows only in a model that holds all three; a product of deviations shows it alone, and the search
can find it. Ids are those of `MonomialSpace` less one, because the constant is left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from .._utils.arrays import FloatArray, IntArray
from .expression import Expression, Scaled, minus, product
from .knots import quantile_positions, readable, sorted_blocks
from .naming import name_of
from .polynomial import MonomialSpace, check_degree, monomial, read_factors, read_product
from .scaling import Scaling
from .score_tests import Part, column_part, pair_part
from .space import TermSpace, Training, checked_ids, mentioned
from .term import Term


class CentredSpace(TermSpace):
    """The features themselves and all products of their deviations up to a degree.

    `centres` and `shown` are the centre of each feature in scaled and in the user's own units.
    """

    def __init__(
        self,
        features: IntArray,
        centres: FloatArray,
        shown: FloatArray,
        degree: int,
        binary: IntArray | None = None,
    ) -> None:
        self._monomials = MonomialSpace(features, degree, binary)
        self._deviations: dict[int, Expression] = {
            p: minus(Scaled(p), centre, user)
            for p, centre, user in zip(features.tolist(), centres.tolist(), shown.tolist(), strict=True)
        }
        self._centre = np.zeros(int(features.max(initial=-1)) + 1)
        self._centre[features] = centres
        self.n_terms = self._monomials.n_terms - 1

    def columns(self, table: FloatArray, ids: IntArray) -> FloatArray:
        factors = self._factors(ids)
        out = np.ones((len(ids), table.shape[1]))
        single = (factors >= 0).sum(axis=1) == 1
        for p in factors.T:
            present = np.flatnonzero(p >= 0)
            used = p[present]
            out[present] *= table[used] - np.where(single[present], 0.0, self._centre[used])[:, None]
        return out

    def term(self, j: int) -> Term:
        factors = [p for p in self._factors(np.array([j]))[0].tolist() if p >= 0]
        return monomial(factors) if len(factors) == 1 else Term(product(*(self._deviations[p] for p in factors)))

    def find(self, name: str, feature_names: Sequence[str]) -> int | None:
        """Id of the feature or product with this name, its factors in any order; None if there is none.

        ``age*bmi`` is read as the product of the two deviations: who forbids or forces it under "auto" means both.
        """
        features = self._monomials.features
        factors = read_factors(name, features, feature_names)
        if factors is None:
            near = mentioned(name, features, feature_names).tolist()
            factors = read_product(name, {name_of(self._deviations[p], feature_names): p for p in near})
            if factors is not None and len(factors) == 1:
                return None
        if factors is None or not 1 <= len(factors) <= self._monomials.degree:
            return None
        return self._monomials.rank(factors) - 1

    def parents(self, ids: IntArray) -> list[tuple[int, ...]]:
        ids = checked_ids(ids, self.n_terms)
        return [tuple(j - 1 for j in above) for above in self._monomials.parents(ids + 1)]

    @property
    def lines(self) -> Mapping[int, int]:
        return {p: j - 1 for p, j in self._monomials.lines.items()}

    @property
    def singles(self) -> tuple[IntArray, IntArray]:
        ids, features = self._monomials.singles
        return ids - 1, features

    def simplest(self, ids: IntArray) -> IntArray:
        return self._monomials.simplest(ids + 1) - 1

    def parts(self, table: FloatArray, weight: FloatArray) -> list[Part]:  # noqa: ARG002  the centres are known
        monomials = self._monomials  # unlike theirs, these products show what they are without their parents
        parts = [column_part(self.columns, table, a - 1, b - 1) for a, b in monomials.by_degree]
        if monomials.degree > 1:
            number = lambda i, j: monomials.pair_ids(i, j) - 1  # noqa: E731
            parts[1] = pair_part(table, monomials.features, number, squares=True, leans=False)
        return parts

    def _factors(self, ids: IntArray) -> IntArray:
        return self._monomials.factors(checked_ids(ids, self.n_terms) + 1)


@dataclass(frozen=True, slots=True)
class Centred:
    """The features, and products of their deviations from the weighted median of the training rows.

    Parameters
    ----------
    degree : int, default=2
        Largest total degree of a term, from 1 to 5.
    """

    degree: int = 2

    def __post_init__(self) -> None:
        check_degree(self.degree, 1)

    def space(self, training: Training, rng: np.random.Generator) -> CentredSpace:  # noqa: ARG002  no randomness needed
        """Find the medians, and move them to short numbers nearby."""
        parts = [_centres(*block, training.scaling) for block in sorted_blocks(training)]
        features, centres, shown = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        return CentredSpace(features, centres, shown, int(self.degree), training.binary)


def _centres(
    features: IntArray, values: FloatArray, cumulative: FloatArray, scaling: Scaling
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Features with their centres in scaled and in the user's own units; a tenth of the way to a quartile is near."""
    quartiles = np.take_along_axis(values, quantile_positions(cumulative, 3), axis=1)
    low, middle, high = (scaling.to_user(features, quartiles[:, k]) for k in range(3))
    reach = np.minimum(middle / 10 - low / 10, high / 10 - middle / 10)  # divided first: a range may overflow
    shown = readable(middle, middle - reach, middle + reach)
    return features, scaling.to_scaled(features, shown), shown
