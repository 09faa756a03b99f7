"""Terms out of plain numbers, texts and lists: the way back from `Term.as_dict`. Nothing that is read is ever run."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from .base import DamagedTermError, Term
from .centred import CentredTerm
from .fourier import FourierTerm
from .hinges import HingeTerm
from .monomials import Monomial
from .radial import RadialTerm
from .sigmoid import SigmoidTerm
from .steps import LevelTerm, StepTerm

READERS: dict[str, Callable[[Mapping[str, Any]], Term]] = {
    "monomial": Monomial.from_dict,
    "centred": CentredTerm.from_dict,
    "hinge": HingeTerm.from_dict,
    "step": StepTerm.from_dict,
    "level": LevelTerm.from_dict,
    "fourier": FourierTerm.from_dict,
    "radial": RadialTerm.from_dict,
    "sigmoid": SigmoidTerm.from_dict,
}


def term_from_dict(d: Mapping[str, Any]) -> Term:
    """The term that `as_dict` described, equal to the one that was written."""
    known = ", ".join(repr(kind) for kind in READERS)
    if not isinstance(d, Mapping):
        msg = f"a term must be a dict with 'kind' one of {known}; got a {type(d).__name__}. Pass what as_dict() gave."
        raise ValueError(msg)
    kind = d.get("kind")
    if not isinstance(kind, str) or kind not in READERS:
        got = repr(kind[:40]) if isinstance(kind, str) else "none" if kind is None else f"a {type(kind).__name__}"
        msg = (
            f"the kind of a term must be one of {known}; got {got}. A newer version of rfsc may have written it: "
            "update rfsc, or write the model again with this one."
        )
        raise ValueError(msg)
    try:
        term = READERS[kind](d)
        _check(term, d)
    except KeyError as error:
        raise _damaged(kind, f"it has no {error}") from None
    except DamagedTermError as error:
        raise _damaged(kind, str(error)) from None
    except (TypeError, ValueError, OverflowError, AttributeError):
        raise _damaged(kind, "a value is of the wrong type") from None  # Python's own words would show the value
    return term


def _check(term: Term, d: Mapping[str, Any]) -> None:
    """Refuse what a family does not look at itself."""
    # what was read differs from what is there: texts for numbers, fractions for indices, fields that nobody knows
    if term.as_dict() != dict(d):
        msg = "its fields are not those that as_dict() writes, or of other types"
        raise DamagedTermError(msg)
    if list(term.features) != sorted(set(term.features)) or min(term.features, default=0) < 0:
        msg = "features must be numbers from 0, ascending, each once"
        raise DamagedTermError(msg)
    if not all(math.isfinite(number) for number in _numbers(list(d.values()))):
        msg = "every number must be finite"
        raise DamagedTermError(msg)


def _numbers(value: Any) -> list[float]:
    """All numbers in nested lists."""
    if isinstance(value, list | tuple):
        return [number for part in value for number in _numbers(part)]
    return [value] if isinstance(value, int | float) else []


def _damaged(kind: str, why: str) -> DamagedTermError:
    return DamagedTermError(f"the dict of a {kind} term is damaged: {why}. Write the model again with as_dict().")
