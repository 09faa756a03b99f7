"""A model as a sympy expression."""

from __future__ import annotations
