"""How to run a fit again: the settings as code that can be pasted."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from ..partitioned import classifier_with

WIDTH = 88  # a call longer than this is broken into one argument per line


def code_for(source: Any, table: str) -> str:
    """Lines of Python that make and fit an estimator with the same settings."""
    used: set[tuple[str, str]] = set()
    made = _as_code(classifier_with(source) if isinstance(source, dict) else source, used, indent=0)
    imports = [f"from {module} import {name}" for module, name in sorted(used)]
    return "\n".join([*imports, "", f"model = {made}", f"model.fit(X, y)  # {table}"])


def changed(estimator: Any) -> dict[str, Any]:
    """The parameters of an estimator that are not at their default."""
    defaults = {name: p.default for name, p in inspect.signature(type(estimator)).parameters.items()}
    given = estimator.get_params(deep=False)
    # by their text: arrays and NaN do not compare as wanted
    return {name: value for name, value in given.items() if repr(value) != repr(defaults.get(name, inspect.Parameter))}


def _as_code(value: Any, used: set[tuple[str, str]], indent: int) -> str:
    deeper = indent + 4
    if isinstance(value, BaseEstimator):
        parts = [f"{name}={_as_code(part, used, deeper)}" for name, part in changed(value).items()]
        used.add((_public_module(type(value)), type(value).__name__))
        return _joined(type(value).__name__ + "(", parts, ")", indent)
    if type(value) in (list, tuple):
        parts = [_as_code(part, used, deeper) for part in value]
        if type(value) is tuple:
            return _joined("(", parts if len(parts) != 1 else [parts[0] + ","], ")", indent)
        return _joined("[", parts, "]", indent)
    if type(value) is dict:
        parts = [f"{_as_code(k, used, deeper)}: {_as_code(v, used, deeper)}" for k, v in value.items()]
        return _joined("{", parts, "}", indent)
    if inspect.isfunction(value):
        if value.__qualname__ != value.__name__ or value.__name__ == "<lambda>":
            return "..."  # made on the spot: nobody can import it
        used.add((value.__module__, value.__name__))
        return value.__name__
    if type(value).__module__.startswith("rfsc"):
        used.add((_public_module(type(value)), type(value).__name__))
    if isinstance(value, np.generic | np.ndarray):
        return _as_code(value.tolist(), used, indent)
    return repr(value)


def _joined(opening: str, parts: list[str], closing: str, indent: int) -> str:
    line = opening + ", ".join(parts) + closing
    if len(line) + indent <= WIDTH and "\n" not in line:
        return line
    pad = " " * (indent + 4)
    return opening + "\n" + "".join(f"{pad}{part.rstrip(',')},\n" for part in parts) + " " * indent + closing


def _public_module(cls: type) -> str:
    """Where a user imports a class from: the longest public part of its module that has it."""
    module = cls.__module__
    if module.startswith("rfsc."):
        return "rfsc.bases" if module.startswith("rfsc._terms.") else "rfsc"
    public = []
    for part in module.split("."):
        if part.startswith("_"):
            break
        public.append(part)
    return ".".join(public)
