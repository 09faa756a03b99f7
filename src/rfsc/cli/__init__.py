"""The command `rfsc`; no science here."""

from .main import main

__all__ = ["main"]
