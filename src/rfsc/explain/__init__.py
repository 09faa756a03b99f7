"""A model in words: its equation, its table of terms."""

from .equation import equation
from .summary import summary

__all__ = ["equation", "summary"]
