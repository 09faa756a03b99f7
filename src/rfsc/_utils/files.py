"""Files that appear as a whole, and frozen dataclasses as JSON and back, checked by their type annotations.

A reader of our own rather than jsonschema: the core depends on numpy, scipy, scikit-learn and numba alone, and this
reader also builds the objects. Nothing that is read is ever run. A class with `as_dict` and `from_dict` writes itself;
a field with the metadata ``{"stored": False}`` is omitted.
"""

from __future__ import annotations

import glob
import json
import math
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import Field, fields, is_dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, ClassVar, Self, Union, get_args, get_origin

import numpy as np

MAX_SIZE = 64 * 2**20  # characters of a document that is read; a fit of three classes with its history takes 1 MB
LONGEST = 40  # characters that the name of a part takes over from that of its file


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A file to write to, which takes its name when it is complete, or vanishes."""
    target = Path(os.path.realpath(path))  # unlike Path.resolve, it never raises
    if target.exists() and not target.is_file():
        with _named(path, None):
            yield target  # to put a file in the place of /dev/null would do harm
        return
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:LONGEST]}.", suffix=".part")
    os.close(handle)
    part = Path(name)
    try:
        with _named(path, name):
            yield part
            with part.open("rb") as file:
                os.fsync(file.fileno())  # else a power cut may leave the name with nothing in it
            part.chmod(stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o666 & ~_umask())
            part.replace(target)
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def _named(path: str | os.PathLike[str], part: str | None) -> Iterator[None]:
    """Errors such as that of a full disk with the name of the file: they name none, or the part that is gone."""
    try:
        yield
    except OSError as error:
        if error.errno is None or error.filename not in (None, part):
            raise
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error


def remove_unfinished(path: str | os.PathLike[str]) -> None:
    """Remove unfinished parts of a file that killed processes have left beside it."""
    with suppress(OSError):  # a problem with the folder is reported when the file is written
        target = Path(os.path.realpath(path))
        if len(target.name) <= LONGEST:
            for part in target.parent.glob(f".{glob.escape(target.name)}.????????.part"):
                part.unlink()


def _umask() -> int:
    """Permissions that new files do not get; the only way to ask is to set them."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


class DamagedError(ValueError):
    """What is wrong with a document, in words that show none of its values."""


def encode(value: Any) -> Any:
    """A value as JSON knows it: dataclasses become objects, arrays and tuples lists."""
    if hasattr(value, "as_dict"):
        return value.as_dict()
    if is_dataclass(value):
        stored = [field.name for field in fields(value) if _is_stored(field)]
        return _kind(type(value)) | {name: encode(getattr(value, name)) for name in stored}
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, tuple | list):
        return [encode(part) for part in value]
    return value.item() if isinstance(value, np.generic) else value


class SavedRecord:
    """A dataclass with a file of its own."""

    _format: ClassVar[str]
    _version: ClassVar[int] = 1
    _what: ClassVar[str]  # messages call it

    def to_json(self) -> str:
        """What `save` writes: names, figures and settings, no row of the table."""
        head = {"format": self._format, "version": self._version}
        return json.dumps(head | encode(self), indent=1, allow_nan=False)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it as JSON; the file holds names, figures and settings, no row of the table.

        Parameters
        ----------
        path : str or path
            The file.
        """
        with whole_file(Path(path)) as part:
            part.write_text(self.to_json(), encoding="utf-8")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read what `save` has written.

        Parameters
        ----------
        path : str or path
            The file.

        Returns
        -------
        object
            As it was saved.
        """
        try:
            with Path(path).open(encoding="utf-8") as file:
                text = file.read(MAX_SIZE + 1)  # a device may have no end
            require(len(text) <= MAX_SIZE, f"it is larger than {MAX_SIZE // 2**20} MiB")
            content = json.loads(text)
            is_own = isinstance(content, dict) and content.pop("format", "") == cls._format
            require(is_own, f"it is no {cls._what} of rfsc")
            require(content.pop("version", None) == cls._version, "it was written by another version of rfsc")
            found: Self = decode(cls, content)
            return found
        except (ValueError, OverflowError, RecursionError) as error:
            why = str(error) if isinstance(error, DamagedError) else "it is not JSON, or a number is too large"
            msg = f"{Path(path).name} cannot be read as a {cls._what}: {why}. Make it again."
            raise ValueError(msg) from None


def decode(hint: Any, value: Any) -> Any:
    """The value that `encode` has written for a field of this type, or a DamagedError."""
    if hint is Any:
        return value
    if hasattr(hint, "from_dict"):
        return hint.from_dict(value)
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        return _decode_one_of(get_args(hint), value)
    if origin in (tuple, list):
        require(isinstance(value, list), "a list is missing")
        return origin(decode(get_args(hint)[0], part) for part in value)
    if origin is np.ndarray:
        return _decode_array(get_args(hint)[1], value)
    if is_dataclass(hint):
        return _decode_record(hint, value)  # type: ignore[arg-type]
    allowed = (int, float) if hint is float else (get_origin(hint) or hint,)
    require(type(value) in allowed, "a value is of the wrong type")
    require(hint is not float or math.isfinite(value), "a number is not finite")
    return float(value) if hint is float else value


def require(condition: bool, why: str) -> None:
    """Refuse a document."""
    if not condition:
        raise DamagedError(why)


def _kind(cls: Any) -> dict[str, str]:
    """What tells a dataclass from others that may stand in its place."""
    return {"kind": cls.json_kind} if hasattr(cls, "json_kind") else {}


def _is_stored(field: Field[Any]) -> bool:
    return bool(field.metadata.get("stored", True))


def _decode_record(cls: type, value: Any) -> Any:
    """An object with exactly the stored fields of the dataclass; a field that is not stored is empty."""
    names = [field.name for field in fields(cls) if _is_stored(field)]
    require(isinstance(value, dict) and set(value) == {*names, *_kind(cls)}, "a part is missing or unknown")
    # without `from __future__ import annotations` the types are objects; resolving texts would run code
    hints = {field.name: field.type for field in fields(cls)}
    found = {name: decode(hints[name], value[name]) for name in names}
    columns = [found[one.name] for one in fields(cls) if "column" in one.metadata and found[one.name] is not None]
    is_table = len({len(own) for own in columns}) <= 1 and all(getattr(own, "ndim", 1) == 1 for own in columns)
    require(is_table, "columns of a table differ in length")
    return cls(**found | {field.name: () for field in fields(cls) if not _is_stored(field)})


def _decode_one_of(hints: tuple[Any, ...], value: Any) -> Any:
    """None, an object that says its kind, a text or a number, or what the one other type says."""
    if value is None and NoneType in hints:
        return None
    others = [hint for hint in hints if hint is not NoneType]
    if len(others) == 1:
        return decode(others[0], value)
    if isinstance(value, dict):
        (record,) = [hint for hint in others if _kind(hint) == {"kind": value.get("kind")}]
        return decode(record, value)
    require(str in others, "a value is of the wrong type")
    return decode(str if type(value) is str else float, value)


def _decode_array(dtype: Any, value: Any) -> Any:
    """Numbers, or truth values, in one list or in lists of one length."""
    require(isinstance(value, list), "a list is missing")
    kind = get_args(dtype)[0]
    allowed = (bool,) if kind is np.bool_ else (int, float)
    rows = value if value and all(isinstance(row, list) for row in value) else [value]
    require(len({len(row) for row in rows}) == 1, "rows of numbers differ in length")
    require(all(type(number) in allowed for row in rows for number in row), "a number is of the wrong type")
    array = np.array(value, dtype=kind)
    require(bool(np.isfinite(array).all()), "a number is not finite")
    return array
