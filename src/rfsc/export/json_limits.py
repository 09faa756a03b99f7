"""How large and how deep a model file may be: one from a stranger must not fill the memory or the stack."""

from __future__ import annotations

import re
from typing import IO, Any

MAX_SIZE = 64 * 2**20  # bytes of a file, characters of a text; a fit of three classes with its history takes about 1 MB
MAX_DEPTH = 32  # brackets within brackets; our own files need nine
# a text, closed or not, or a bracket; nothing is tried twice, so that the time grows with the length alone
TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[\]{}]', re.DOTALL)
HALF = re.compile(r"\\u[dD][89a-fA-F]")


def read_limited(stream: IO[Any]) -> Any:
    """What a stream gives, at most one more than is allowed; pipes and devices that never end do no harm."""
    return stream.read(MAX_SIZE + 1)


def too_much(text: str | bytes) -> str | None:
    """Why a text should not even be parsed."""
    if len(text) > MAX_SIZE:
        return f"it is larger than {MAX_SIZE // 2**20} MiB"
    if isinstance(text, str) and _depth(text) > MAX_DEPTH:
        return f"its parts are nested more than {MAX_DEPTH} deep"
    return None


def has_half_characters(text: str) -> bool:
    """Whether a text may name half a character (a surrogate), which nothing can print."""
    return HALF.search(text) is not None


def _depth(text: str) -> int:
    depth = deepest = 0
    for token in TOKEN.finditer(text):
        first = text[token.start()]
        if first in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif first != '"':
            depth -= 1
    return deepest
