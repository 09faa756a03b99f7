"""A model in words and numbers: its equation, its table of terms, what speaks for and against a class."""

from .contributions import ForAgainst, for_and_against
from .equation import equation
from .summary import summary

__all__ = ["ForAgainst", "equation", "for_and_against", "summary"]
