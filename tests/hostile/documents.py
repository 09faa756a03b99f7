"""Hostile model files, certificates and cards: every place of a good one deleted, repeated, or made strange."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from rfsc._input.example_table import patients
from rfsc.card import ScoreCard, card
from rfsc.certify import Certificate
from rfsc.certify.certificate import CertificateSettings, HalfScore, UnitTable
from rfsc.cli.model_commands import model_as_dict
from rfsc.explain import equation
from rfsc.explain.stability import Stability
from rfsc.export import (
    ModelFileError,
    from_json,
    to_c,
    to_html,
    to_javascript,
    to_json,
    to_python,
    to_sql,
)
from rfsc.export.spreadsheet import sheet_cells
from rfsc.monitor import monitor, with_reference

from .walk import classifier

EXPORTS = (to_c, to_html, to_javascript, to_python, to_sql, sheet_cells)
CHANGES: dict[str, Any] = {
    "null": None,
    "true": True,
    "minus one": -1,
    "zero": 0,
    "three": 3,
    "beyond 64 bits": 10**30,
    "beyond doubles": 10**400,
    "largest": 1.7e308,
    "most negative": -1.7e308,
    "subnormal": 5e-324,
    "a half": 0.5,
    "empty text": "",
    "a letter": "x",
    "control characters": "\x00\x1b[2J\u202e",
    "a long text": "a" * 100_000,
    "a word for no number": "nan",
    "empty list": [],
    "list in a list": [[]],
    "list of two types": [1, "a"],
    "object": {},
}
DELETED, REPEATED, SHORTENED = "deleted", "repeated", "without its last entry"
WAYS = (*CHANGES, DELETED, REPEATED, SHORTENED)


@cache
def rows() -> tuple[Any, Any]:
    """A table with text and blanks, and its classes."""
    table = patients(60, 5)
    return table[["age", "sex", "CRP"]], table["diagnosis"]


@cache
def model_text() -> str:
    """A model with a recipe and a reference."""
    fitted = classifier(basis="step", size=2).fit(*rows())
    return to_json(with_reference(fitted, *rows()), history=False)


@cache
def card_text() -> str:
    return card(from_json(model_text())).to_json()


@cache
def certificate_text() -> str:
    half = np.array([0.01, 0.5])
    tables = [
        UnitTable(("a", "b"), ("supported", "passenger"), half, half, half, signs, members, clusters)
        for signs, members, clusters in (
            (None, ("a 90%", "b"), None),
            (half, ("", "a"), ("a", "b")),
            (half, None, None),
        )
    ]
    made = CertificateSettings(
        n_pairs=2,
        n_halves=4,
        level=0.05,
        n_rows=60,
        half_rows=30,
        half_events=10,
        n_features=5,
        classes=("no", "yes"),
        basis="step",
        is_weighted=False,
        n_groups=None,
        cut=0.7,
        random_state=0,
        content="sha256:0",
        version="0.1.0",
    )
    score, stability = HalfScore(0.5, 0.6, 0.8), Stability(0.5, 0.1, 0.9, 0.95, 4, 5, 2.0, "features")
    return Certificate(*tables, 0.01, stability, score, made, ("few rows",)).to_json()


def use_model(text: str) -> None:
    """What reads a model file; exports and rows may be refused, in one sentence."""
    X, y = rows()
    model = from_json(text)
    for one in model.models_:
        equation(one)
    again = to_json(model)
    assert to_json(from_json(again)) == again
    model_as_dict(model)
    calls = [lambda: model.predict_proba(X), lambda: monitor(model, X, y).text()]
    for call in (*(lambda export=export: export(model) for export in EXPORTS), *calls):
        with suppress(ValueError):
            call()


def use_card(text: str) -> None:
    found = _loaded(ScoreCard, text)
    assert all((found.text(), found.to_html(), found.to_json()))
    with suppress(ValueError):
        found.predict_proba(rows()[0])


def use_certificate(text: str) -> None:
    found = _loaded(Certificate, text)
    assert all((found.text(), found._repr_html_(), found.to_json()))
    assert found.bound(0.9) >= 0.0


def _loaded(kind: Any, text: str) -> Any:
    with TemporaryDirectory() as folder:
        path = Path(folder, "file.json")
        path.write_text(text, encoding="utf-8")
        return kind.load(path)


DOCUMENTS: dict[str, tuple[Callable[[], str], Callable[[str], None], type[ValueError]]] = {
    "model": (model_text, use_model, ModelFileError),
    "card": (card_text, use_card, ValueError),
    "certificate": (certificate_text, use_certificate, ValueError),
}
"""How each is made and used, and how it is refused."""


def document_through(name: str, way: str, step: int = 1) -> int:
    """Change every place, or every so many; the number of tries."""
    make, use, refused = DOCUMENTS[name]
    texts = list(_changed(json.loads(make()), way))[::step]
    with np.errstate(all="ignore"):
        for place, text in texts:
            said = ""
            try:
                use(text)
            except refused as error:
                said = str(error)
            except Exception as error:
                raise AssertionError(place) from error
            assert len(said.splitlines()) <= 1, place
            assert len(said) < 400, place
    return len(texts)


def _changed(document: Any, way: str) -> Iterator[tuple[tuple[Any, ...], str]]:
    """The text with a change at each place, and the place; of long lists only the first entry is changed."""
    for place in list(_places(document)):
        other = copy.deepcopy(document)
        node = other
        for key in place[:-1]:
            node = node[key]
        key = place[-1]
        if way == DELETED:
            del node[key]
        elif way == REPEATED and isinstance(node, list):
            node.append(node[key])
        elif way == SHORTENED and isinstance(node[key], list) and node[key]:
            node[key].pop()
        elif way in CHANGES:
            node[key] = CHANGES[way]
        else:
            continue
        yield place, json.dumps(other)


def _places(node: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    children = list(node.items()) if isinstance(node, dict) else list(enumerate(node))[:1]
    for key, child in children:
        yield (*above, key)
        if isinstance(child, dict | list):
            yield from _places(child, (*above, key))
