"""Restrictions on the models that are searched, by name, and what they require of the terms of one output."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any

import numpy as np

from ._terms import TermSpace
from ._terms.polynomial import read_factors
from ._terms.requirements import Requirements
from ._utils.arrays import BoolArray

# what names of terms hold beside features
KNOWN_WORDS = frozenset(
    ("max", "exp", "sin", "cos", "pi", "ramp", "near", "cluster", "narrow", "medium", "wide", "width")
)
WORD = re.compile(r"(?<!\w)[^\W\d]\w*")
NUMBER = re.compile(r"(?<![\w.])(?<!max\()\d+(?:\.\d+)?(?:e[+-]?\d+)?")  # not within the name of a feature such as x3
MONOTONE_FAMILIES = "polynomial", "centred", "hinge", "rule", "sigmoid", "step"  # with terms that only rise or fall
MAX_TERMS_TO_SUGGEST = 5000  # terms of a space in which names similar to an unknown one are looked for


class TermNotOfferedError(ValueError):
    """A named term is not among the candidates; another basis may offer it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Restrictions:
    """Which models are searched. Terms are named as `summary` and `term_names` write them, factors in any order.

    Features have the names of the data frame's columns, or x0, x1, ... if X has none.

    Parameters
    ----------
    force : sequence of str, default=()
        Terms that every model holds, whatever their p-values, such as ``"age"`` or ``"age*bmi"``.
    forbid : sequence of str or of sequences of str, default=()
        What no model holds. A text is one term; a tuple of features stands for all terms that read all of them:
        ``("age",)`` bars a feature, ``("age", "sex")`` every term in which the two meet.
    groups : sequence of sequences of str, default=()
        Terms that come in all together or not at all, such as the columns of a one-hot code. A group stays when one of
        its terms passes the t-test; terms of constant features do not count, and a group of more than `max_terms` never
        comes in.
    hierarchy : bool, default=False
        Whether a product comes only with its parents: a monomial with all monomials of one degree less that divide
        it, and so with theirs (except the constant), a product of hinges with both hinges.
    increasing : sequence of str, default=()
        Features with which the log-odds of the second class, ``classes_[1]``, never fall while all other features stay
        as they are; only for two classes. It holds within the range of the training rows, exactly: a model holds only
        terms that rise or fall with such a feature throughout, and only with the sign of the coefficient that is
        needed. A term whose fitted coefficient has the other sign leaves the model, also if it is forced, grouped or
        required by a product. This is more than is needed: a curve that rises ever more slowly is made of terms such
        as ``age`` and ``max(0, 60-age)``, but not of ``age`` less ``max(0, age-60)``. Constant features have no effect.
    decreasing : sequence of str, default=()
        Features with which these log-odds never rise.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rfsc import Restrictions, RFSCClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> restrictions = Restrictions(force=["x3"], forbid=[("x0",), "x1^2"], hierarchy=True)
    >>> clf = RFSCClassifier(basis="polynomial", restrictions=restrictions, n_restarts=1, random_state=0).fit(X, y)
    >>> all("x3" in model.names for model in clf.models_)
    True
    >>> rising = Restrictions(increasing=["x2"], decreasing=["x1"])
    >>> clf = RFSCClassifier(basis="hinge", restrictions=rising, n_restarts=1, random_state=0).fit(X[50:], y[50:])
    >>> longer = X[50:] + [0, 0, 0.5, 0]
    >>> bool((clf.decision_function(longer) >= clf.decision_function(X[50:])).all())
    True
    """

    force: Sequence[str] = ()
    forbid: Sequence[str | Sequence[str]] = ()
    groups: Sequence[Sequence[str]] = ()
    hierarchy: bool = False
    increasing: Sequence[str] = ()
    decreasing: Sequence[str] = ()

    def __post_init__(self) -> None:
        # tuples and plain texts, so that equal restrictions are equal and hash alike
        set_ = object.__setattr__
        for field in ("force", "increasing", "decreasing"):
            set_(self, field, tuple(_text(field, one) for one in _items(field, getattr(self, field))))
        forbid, groups = _items("forbid", self.forbid), _items("groups", self.groups)
        set_(self, "forbid", tuple(str(one) if isinstance(one, str) else _texts("forbid", one) for one in forbid))
        set_(self, "groups", tuple(_texts("each group", one, "groups=[[...]]") for one in groups))
        if not isinstance(self.hierarchy, bool | np.bool_):
            msg = f"hierarchy must be True or False, got {self.hierarchy!r}."
            raise TypeError(msg)
        set_(self, "hierarchy", bool(self.hierarchy))
        both = [name for name in self.increasing if name in self.decreasing]
        if both:
            msg = f"increasing and decreasing both name the feature {both[0]!r}. Leave it out of one of the two."
            raise ValueError(msg)

    @property
    def signs(self) -> dict[str, int]:
        """Required sign of the effect of each feature that has one, by name."""
        return dict.fromkeys(self.increasing, 1) | dict.fromkeys(self.decreasing, -1)


def check_number_of_classes(restrictions: Restrictions | None, n_classes: int) -> None:
    """Refuse signs if it is not clear for which class they hold."""
    if restrictions is None or not restrictions.signs or n_classes <= 2:
        return
    field = "increasing" if restrictions.increasing else "decreasing"
    msg = (
        f"{field} is about the log-odds of the second of two classes, but y holds {n_classes} classes. "
        "Fit one class against the rest, for instance y == 'name of the class', or leave it out."
    )
    raise ValueError(msg)


def barred_features(restrictions: Restrictions | None, feature_names: Sequence[str]) -> list[int]:
    """Features that no term may read."""
    return [next(iter(some)) for some in _apart(restrictions or Restrictions(), feature_names) if len(some) == 1]


def named_features(restrictions: Restrictions | None, feature_names: Sequence[str]) -> list[int]:
    """Features of the terms that are forced or grouped by name."""
    if restrictions is None:
        return []
    names = (*restrictions.force, *(name for group in restrictions.groups for name in group))
    return sorted({p for name in names for p in _features_in(name, feature_names)[0]})


def requirements_of(
    restrictions: Restrictions | None,
    space: TermSpace,
    feature_names: Sequence[str],
    *,
    constant: BoolArray,
    max_terms: int,
) -> Requirements | None:
    """What the restrictions mean for the candidate terms; None if nothing."""
    if restrictions is None or restrictions == Restrictions():
        return None
    wanted = restrictions
    names = _Names(space, feature_names, constant, barred_features(wanted, feature_names))
    groups, forbidden = _grouped(wanted, names)
    forbidden |= {j for one in wanted.forbid if isinstance(one, str) for j in names.forbidden(one)}
    apart = tuple(_apart(wanted, feature_names))
    requirements = Requirements(
        space,
        frozenset(),
        frozenset(forbidden),
        apart,
        _merged(groups),
        wanted.hierarchy,
        {_feature_index(name, feature_names, _field_of(wanted, name)): sign for name, sign in wanted.signs.items()},
    )
    unmet = requirements.unmet_signs()
    if unmet:
        raise _no_monotone_term(wanted, feature_names[unmet[0]])
    return replace(requirements, forced=_forced(wanted, names, requirements, max_terms))


@dataclass(frozen=True, slots=True, eq=False)
class _Names:
    """Names of terms in one space, and what is wrong with those that it lacks."""

    space: TermSpace
    feature_names: Sequence[str]
    constant: BoolArray
    barred: Sequence[int]

    def of(self, j: int) -> str:
        """Name of a term."""
        return self.space.terms(np.array([j]))[0].name(self.feature_names)

    def find(self, name: str) -> int | None:
        """Id of a term, None if there is none."""
        return self.space.find(name, self.feature_names)

    def forbidden(self, name: str) -> list[int]:
        """The term to forbid; none if the basis lacks it but all its features exist."""
        j = self.find(name)
        if j is not None:
            return [j]
        features, unknown = _features_in(name, self.feature_names)
        if unknown or not features:
            raise self.error("forbid", name)
        return []

    def feature(self, name: str, which: Iterable[int]) -> str | None:
        """Name of the first feature in the name of a term that is one of `which`."""
        some = set(which)
        return next((self.feature_names[p] for p in _features_in(name, self.feature_names)[0] if p in some), None)

    def error(self, field: str, name: str) -> ValueError:
        """Why the space lacks a term that it should have, and what to do."""
        start = f"restrictions.{field} names the term {name!r}"
        flat, barred = self.feature(name, np.flatnonzero(self.constant).tolist()), self.feature(name, self.barred)
        if flat is not None:
            return ValueError(
                f"{start}, but the feature {flat!r} is constant over the training rows, so no term of it is searched. "
                f"Leave the term out of {field}."
            )
        if barred is not None:
            return ValueError(f"{start}, but forbid bars the feature {barred!r}. Leave it out of one of the two.")
        return TermNotOfferedError(
            f"{start}, which the basis does not offer; its terms are written like {self._examples()} "
            "(term_names of a classifier fitted without this restriction lists them)."
            f"{self._suggestion(name)} A term of another family needs that family in basis, for instance "
            "basis=['polynomial', 'hinge']."
        )

    def _examples(self) -> str:
        last = self.space.n_terms - 1
        return ", ".join(repr(_masked(self.of(j))) for j in sorted({min(1, last), (1 + last) // 2, last}))

    def _suggestion(self, name: str) -> str:
        known: Iterable[str] = self.feature_names
        if self.space.n_terms <= MAX_TERMS_TO_SUGGEST:
            known = [term.name(self.feature_names) for term in self.space.terms(np.arange(self.space.n_terms))]
        close = [other for other in get_close_matches(name, known) if self.find(other) is not None]
        return _did_you_mean([other for other in close if _masked(other) == other])


def _forced(wanted: Restrictions, names: _Names, requirements: Requirements, max_terms: int) -> frozenset[int]:
    """The forced terms with all that they require; contradictions are errors."""
    found: frozenset[int] = frozenset()
    for name in wanted.force:
        j = names.find(name)
        if j is None:
            raise names.error("force", name)
        needs = requirements.needs(j)
        if needs is None:
            raise _contradiction(name, j, names, requirements)
        found |= needs
    if len(found) > max_terms:
        msg = (
            f"restrictions force {len(found)} terms, counting those that they require, but a model may hold at most "
            f"{max_terms}: max_drawn, or one less than the number of observations. Force fewer, or raise max_drawn."
        )
        raise ValueError(msg)
    return found


def _contradiction(name: str, j: int, names: _Names, requirements: Requirements) -> ValueError:
    """Why no model may hold a forced term."""
    obstacle = requirements.obstacle(j)
    other = names.of(obstacle)
    if requirements.sign(obstacle) is not None:
        what = "it" if obstacle == j else f"{other!r}, which it requires"
        return ValueError(f"restrictions force the term {name!r} but forbid {what}. Leave it out of one of the two.")
    what = "it" if obstacle == j else f"{_masked(other)!r}, which it requires"
    return TermNotOfferedError(
        f"restrictions force the term {name!r}, but increasing or decreasing forbid {what}: whatever its coefficient, "
        "it may go the wrong way. Leave the term out of force, or its features out of the other two."
    )


def _no_monotone_term(wanted: Restrictions, feature: str) -> TermNotOfferedError:
    field, families = _field_of(wanted, feature), ", ".join(repr(name) for name in MONOTONE_FAMILIES)
    return TermNotOfferedError(
        f"restrictions.{field} names the feature {feature!r}, but every term of it that the basis offers may both rise "
        f"and fall with it. Add a family with terms that do not ({families}), or leave the feature out of {field}."
    )


def _field_of(wanted: Restrictions, name: str) -> str:
    return "increasing" if name in wanted.increasing else "decreasing"


def _grouped(wanted: Restrictions, names: _Names) -> tuple[list[list[int]], set[int]]:
    """The groups by id, and the terms of groups that a barred feature rules out."""
    groups: list[list[int]] = []
    forbidden: set[int] = set()
    flat = np.flatnonzero(names.constant).tolist()
    for group in wanted.groups:
        found = {name: names.find(name) for name in group}
        ids = [j for j in found.values() if j is not None]
        missing = [name for name, j in found.items() if j is None and names.feature(name, flat) is None]
        for name in missing:
            if names.feature(name, names.barred) is None:
                raise names.error("groups", name)
        groups.append(ids)
        forbidden |= set(ids) if missing else set()
    return groups, forbidden


def _merged(groups: Iterable[Sequence[int]]) -> dict[int, frozenset[int]]:
    """Every group by each of its terms; groups that share a term are one."""
    of: dict[int, frozenset[int]] = {}
    for group in groups:
        whole = frozenset(group).union(*(of[j] for j in group if j in of))
        of.update(dict.fromkeys(whole, whole))
    return of


def _apart(wanted: Restrictions, feature_names: Sequence[str]) -> list[frozenset[int]]:
    """The features of each tuple in forbid, by index."""
    return [
        frozenset(_feature_index(name, feature_names) for name in some)
        for some in wanted.forbid
        if not isinstance(some, str)
    ]


def _feature_index(name: str, feature_names: Sequence[str], field: str = "forbid") -> int:
    places = [p for p, known in enumerate(feature_names) if known == name]
    if len(places) != 1:
        hint = f"{_did_you_mean(get_close_matches(name, feature_names))} Without column names features are x0, x1, ..."
        what = "two columns of X have that name. Rename one." if places else f"X has no such column.{hint}"
        msg = f"restrictions.{field} names the feature {name!r}, but {what}"
        raise ValueError(msg)
    return places[0]


def _features_in(name: str, feature_names: Sequence[str]) -> tuple[list[int], bool]:
    """Features in the name of a term of any family, and whether the name holds a word that is no feature."""
    factors = read_factors(name, np.arange(len(feature_names)), feature_names)
    if factors is not None:
        return list(dict.fromkeys(factors)), False
    found: list[int] = []
    within = [p for p, known in enumerate(feature_names) if known and known in name]
    for p in sorted(within, key=lambda p: -len(feature_names[p])):  # a long name may hold a shorter one
        rest = re.sub(rf"(?<!\w){re.escape(feature_names[p])}(?!\w)", " ", name)
        if rest != name:
            found.append(p)
            name = rest
    return found, any(word not in KNOWN_WORDS for word in WORD.findall(name))


def _masked(name: str) -> str:
    """The name of a term with k for its numbers: they come from the data, which errors do not show."""
    return NUMBER.sub("k", name)


def _did_you_mean(names: Sequence[str]) -> str:
    return f" Did you mean {' or '.join(map(repr, names))}?" if names else ""


def _items(field: str, value: Any, pattern: str | None = None) -> list[Any]:
    """The items of a list, tuple, array or index; texts, mappings and sets, which have no order, are refused."""
    if isinstance(value, str | bytes | Mapping | Set) or not isinstance(value, Iterable):
        got = repr(value) if isinstance(value, str) else f"an object of type {type(value).__name__}"
        msg = (
            f"{field} must be a list or tuple, got {got}. Write brackets around a name: {pattern or f'{field}=[...]'}."
        )
        raise TypeError(msg)
    return list(value)


def _text(field: str, value: Any) -> str:
    if not isinstance(value, str):
        msg = f"{field} must hold names of terms or features as texts, but one is of type {type(value).__name__}."
        raise TypeError(msg)
    return str(value)


def _texts(field: str, value: Any, pattern: str | None = None) -> tuple[str, ...]:
    found = tuple(_text(field, one) for one in _items(field, value, pattern))
    if not found:
        msg = f"{field} holds an empty list; put at least one name into each, or leave it out."
        raise ValueError(msg)
    return found
