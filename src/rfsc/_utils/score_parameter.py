"""One attribute, two roles: `score` is a parameter (what the search maximises) and scikit-learn's method.

``clf.score`` is the parameter's text and can be called: ``clf.score(X, y)`` is the mean accuracy.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any


class CallableText(str):
    """A text that can also be called."""

    __slots__ = ("_call",)
    _call: Callable[..., Any]

    def __new__(cls, text: object, call: Callable[..., Any]) -> CallableText:
        """Attach a call to a text."""
        self = super().__new__(cls, text)
        self._call = call
        return self

    @property
    def __signature__(self) -> inspect.Signature:
        return inspect.signature(self._call)

    def __reduce__(self) -> tuple[type, tuple[str]]:
        return str, (str(self),)  # a copy is the plain text; it must not drag a fitted estimator along

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Do what the method of the same name does."""
        return self._call(*args, **kwargs)


class ScoreParameter:
    """Descriptor: the value lives in the instance's dictionary, the method is given at construction.

    Parameters
    ----------
    method : function
        What a call of the attribute does; also what the class itself shows.
    """

    def __init__(self, method: Callable[..., Any]) -> None:
        self._method = method
        self.__doc__ = method.__doc__

    def __get__(self, instance: Any, owner: type) -> Any:
        """The method on the class, the callable text on an instance."""
        if instance is None:
            return self._method
        if "score" not in vars(instance):
            msg = f"{owner.__name__} has no parameter 'score' yet"
            raise AttributeError(msg)
        return CallableText(vars(instance)["score"], self._method.__get__(instance, owner))

    def __set__(self, instance: Any, value: object) -> None:
        vars(instance)["score"] = str(value) if isinstance(value, CallableText) else value
