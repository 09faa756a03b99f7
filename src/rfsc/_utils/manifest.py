"""The run manifest: what a fit was made with and made of, as plain numbers and texts that are saved with the model."""

from __future__ import annotations

import hashlib
import platform
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from itertools import chain
from types import MappingProxyType
from typing import Any

import joblib
import numpy as np

from .._version import __version__
from .arrays import FloatArray, IntArray

PACKAGES = ("numpy", "scipy", "scikit-learn", "numba")
FIELDS = {"versions", "engine", "seed", "target", "class", "group", "columns", "data", "stop_reasons", "timings"}
COLUMN_FIELDS = {"column", "kind", "use", "changed", "doubtful"}
CHUNK = 2**20  # numbers that are hashed at once; a long table is not copied as a whole


@cache
def versions() -> Mapping[str, str]:
    """Versions of Python and of the packages that a fit depends on; looking them up takes milliseconds."""
    found = {"rfsc": __version__, "python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return MappingProxyType(found)


def fingerprint(
    X: FloatArray,
    classes: np.ndarray[Any, Any],
    code: IntArray,
    weight: FloatArray,
    names: Sequence[str] | None,
    groups: IntArray | None = None,
) -> dict[str, Any]:
    """What a classifier was fitted to, without showing any of it.

    Hashes (SHA-256) tell apart what may differ. The same numbers give the same hashes whatever the memory layout,
    the type of float, the row index and the library of the frame; -0 counts as 0. The order of rows and columns counts,
    for the search depends on it.
    """
    labels = classes.tolist()
    kinds = sorted({type(label).__name__ for label in labels})
    content = hash_of(numbers_of(X), numbers_of(code), texts_of(map(repr, labels)))
    schema = hash_of(texts_of(kinds), texts_of([f"{X.shape[1]} without names"] if names is None else names))
    return {
        "rows": int(X.shape[0]),
        "features": int(X.shape[1]),
        "classes": len(labels),
        "class_sizes": np.bincount(code, minlength=len(labels)).tolist(),
        "content": content,
        "schema": schema,
        "weights": None if (weight == 1.0).all() else hash_of(numbers_of(weight)),
        "groups": None if groups is None else hash_of(numbers_of(groups)),
    }


def manifest_of(
    data: dict[str, Any], engine: str, seed: Any, stop_reasons: list[list[str]], seconds: float, target: Any = None
) -> dict[str, Any]:
    """All that a model file tells about a fit besides its settings."""
    return {
        "versions": dict(versions()),
        "engine": engine,
        "seed": int(seed) if isinstance(seed, int | np.integer) else None,
        "target": target if isinstance(target, str) else None,
        "class": None,
        "group": None,
        "columns": [],
        "data": data,
        "stop_reasons": stop_reasons,
        "timings": {
            "finished": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "seconds": round(seconds, 3),
        },
    }


def read_manifest(d: Any) -> dict[str, Any]:
    """A manifest out of a file, checked."""
    data, timings = d["data"], d["timings"]
    sizes = data.get("class_sizes", [])  # not of a table larger than memory
    found = [
        *(type(value) is str for value in (d["engine"], *d["versions"].values(), data["content"], data["schema"])),
        *(set(row) == COLUMN_FIELDS for row in d["columns"]),
        *(type(value) is str for row in d["columns"] for value in row.values()),
        *(type(value) in (str, type(None)) for value in (d["target"], d["class"], d["group"])),
        *(type(value) in (str, type(None)) for value in (data["weights"], data["groups"])),
        *(type(value) is str for reasons in d["stop_reasons"] for value in reasons),
        *(type(data[name]) is int and data[name] >= 0 for name in ("rows", "features", "classes")),
        *(type(n_rows) is int and n_rows >= 0 for n_rows in sizes),
        len(sizes) in (0, data["classes"]),
        type(d["seed"]) in (int, type(None)),
        timings is None or (type(timings["finished"]) is str and 0.0 <= float(timings["seconds"]) < float("inf")),
        set(d) == FIELDS and "rfsc" in d["versions"],
    ]
    if not all(found):
        msg = "a part of the manifest is of the wrong type"
        raise ValueError(msg)
    return dict(d)


def hash_of(*parts: Iterable[bytes]) -> str:
    """SHA-256 of pieces, one after the other."""
    found = hashlib.sha256()
    for piece in chain(*parts):
        found.update(piece)
    return f"sha256:{found.hexdigest()}"


def content_digest(name: str, value: Any) -> str:
    """A digest of a parameter, by what is in it."""
    try:
        return str(joblib.hash(value))
    except Exception as error:  # whatever the object raises when it is written
        msg = f"a checkpoint compares the settings of fits, but {name} cannot be pickled. Fit without a checkpoint."
        raise ValueError(msg) from error


def numbers_of(table: Any) -> Iterator[bytes]:
    """The shape, then the numbers row by row, in one type and byte order."""
    yield repr(table.shape).encode()
    step = max(1, CHUNK // max(1, table[:1].size))
    for first in range(0, len(table), step):
        yield (np.asarray(table[first : first + step], dtype="<f8") + 0.0).tobytes()  # makes -0 to 0


def texts_of(texts: Iterable[str]) -> Iterator[bytes]:
    """Texts with their lengths, so that no two lists of texts look the same."""
    for text in texts:
        encoded = text.encode("utf-8", "surrogatepass")
        yield b"%d:" % len(encoded)
        yield encoded
