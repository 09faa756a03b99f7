"""The search that the options of `rfsc fit` describe; what they get wrong is said before a table is read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from .console import Failure
from .options import listed, settings

if TYPE_CHECKING:
    from ..classifier import RFSCClassifier

NO_TEXT = ("callbacks", "restrictions", "verbose")  # parameters that cannot be written on a command line


def search_of(basis: str, more: list[str] | None, **chosen: Any) -> tuple[RFSCClassifier, dict[str, Any]]:
    """A classifier with the settings of a command line."""
    from ..classifier import RFSCClassifier

    search = RFSCClassifier().set_params(**{key: value for key, value in chosen.items() if value is not None})
    known = {key: value for key, value in search.get_params().items() if key not in NO_TEXT}
    given = {"basis": basis_of(basis)} | settings(more, known)
    search.set_params(**given)
    problem = _problem_of(search)
    if problem:
        raise Failure(problem, 2)
    return search, given


def basis_of(text: str) -> Any:
    """The families of terms that were named."""
    from ..bases import FAMILIES

    names, known = listed([text]), ("auto", *FAMILIES)
    strange = [name for name in names if name not in known]
    if strange or not names:
        msg = f"--basis does not know {', '.join(strange) or 'an empty name'}. Choose from: {', '.join(known)}."
        raise Failure(msg, 2)
    if len(names) > 1 and "auto" in names:
        msg = "--basis auto chooses the families itself; name no others beside it."
        raise Failure(msg, 2)
    return names[0] if len(names) == 1 else names


def _problem_of(search: RFSCClassifier) -> str | None:
    """What the classifier would complain about, in words of the command line."""
    from ..bases import resolve

    try:
        search._validate_params()
        if search.basis != "auto":
            resolve(search.basis)
    except (ValueError, TypeError) as error:
        words = re.fullmatch(r"The '(\w+)' parameter of \w+ must be (.*)\. Got (.*) instead\.", str(error), re.DOTALL)
        return f"--set {words[1]} must be {words[2]}, got {words[3]}." if words else f"--basis: {error}"
    return None
