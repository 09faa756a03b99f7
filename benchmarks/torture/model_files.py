"""Damaged model files by the thousand: each is refused with one clean error, or gives a model that can be used."""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from typing import Any

import numpy as np
from sklearn.datasets import load_iris

from benchmarks.measuring import make_classifier
from rfsc.explain import equation
from rfsc.export import ModelFileError, from_json, to_json, to_sql

QUICK = {"n_restarts": 2, "n_models": 20, "max_iter": 10, "random_state": 0}
FITS = [
    {"basis": "polynomial"},
    {"basis": "polynomial", "size": None},
    {"basis": ["hinge", "radial", "fourier"]},
    {"basis": ["centred", "step", "sigmoid"]},
]
STRANGE = [None, True, -1, 0, 10**30, 10**400, 1e308, -1e-320, 0.5, "", "x", "\ud800", "=1+1", [], {}, [[]], [1, "a"]]
TOKENS = [
    "1e999",
    "-0",
    "NaN",
    "Infinity",
    '"\\ud800"',
    "[" * 50,
    "{" * 50,
    "0x1",
    "1" * 5000,
    "\x00",
    "\\",
    '"',
    "null",
]
SLOW = 2.0  # seconds of this process, for files of some kB; others may keep the machine busy


@cache
def corpus() -> list[str]:
    """The texts of some models of three classes, with terms of every family."""
    X, y = load_iris(return_X_y=True, as_frame=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # ten iterations do not converge
        return [to_json(make_classifier(**QUICK, **settings).fit(X, y)) for settings in FITS]


def damaged(texts: list[str], rng: np.random.Generator) -> str:
    """One of the texts with some damage: to its letters, or to its values."""
    text = texts[rng.integers(len(texts))]
    if rng.random() < 0.5:
        return _of_other_values(text, texts, rng)
    for _ in range(rng.integers(1, 4)):
        i, j = sorted(rng.integers(0, len(text) + 1, size=2))
        j = min(j, i + int(rng.integers(0, 40)))
        other = texts[rng.integers(len(texts))]
        k = int(rng.integers(0, len(other)))
        piece = ["", TOKENS[rng.integers(len(TOKENS))], chr(rng.integers(0, 0x300)), other[k : k + 60]][rng.integers(4)]
        text = text[:i] + piece + text[j:]
    return text


def _of_other_values(text: str, texts: list[str], rng: np.random.Generator) -> str:
    """Values taken out, changed, or put in from another file; still JSON."""
    document = json.loads(text)
    donor = list(_places(json.loads(texts[rng.integers(len(texts))])))
    for _ in range(rng.integers(1, 4)):
        places = list(_places(document))
        node, key = places[rng.integers(len(places))]
        way = rng.integers(4)
        if way == 0:
            del node[key]
        elif way == 1:
            node[key] = STRANGE[rng.integers(len(STRANGE))]
        elif way == 2:
            there, name = donor[rng.integers(len(donor))]
            node[key] = json.loads(json.dumps(there[name]))
        elif isinstance(node[key], int | float) and not isinstance(node[key], bool):
            node[key] = node[key] * [-1, 0, 1e300, 1e-300, 2][rng.integers(5)]
        if not isinstance(document, dict) or not document:
            break
    return json.dumps(document, ensure_ascii=bool(rng.integers(2)))


def _places(node: Any) -> Iterator[tuple[Any, Any]]:
    children = list(node.items()) if isinstance(node, dict) else list(enumerate(node)) if isinstance(node, list) else []
    for key, child in children:
        yield node, key
        yield from _places(child)


def fault(text: str) -> str | None:
    """What is wrong with how a text is read, in words; None if it is refused cleanly, or gives a model."""
    began = time.process_time()
    try:
        model = from_json(text, name="file")
        for one in model.models_:
            if not np.isfinite(one.decision(np.zeros((2, len(one.feature_names))))).all():
                return "a prediction is not finite"
            equation(one)
        again = to_json(model)
        if to_json(from_json(again)) != again:
            return "what is written again is not what was read"
        with suppress(ValueError):  # a name that SQL cannot write
            to_sql(model)
    except ModelFileError as error:
        if "\n" in str(error) or len(str(error)) > 300:
            return "the error is more than a sentence"
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:200]
    return f"it took {time.process_time() - began:.1f} s" if time.process_time() - began > SLOW else None


def faults(n: int, seed: int = 0) -> list[str]:
    """What went wrong with some damaged files, if anything did."""
    rng, texts = np.random.default_rng(seed), corpus()
    with np.errstate(all="ignore"):
        return [why for why in (fault(damaged(texts, rng)) for _ in range(n)) if why]


def rows(seconds: float = 60.0, seed: int = 0) -> list[tuple[str, int, int, int]]:
    """For the table of `make torture`: name, inputs tried, lost, wrong; what was wrong goes to stderr."""
    rng, texts = np.random.default_rng(seed), corpus()
    tried = wrong = 0
    end = time.monotonic() + seconds
    with np.errstate(all="ignore"):
        while time.monotonic() < end:
            why = fault(damaged(texts, rng))
            tried += 1
            if why:
                wrong += 1
                sys.stderr.write(f"damaged model file {tried} of seed {seed}: {why}\n")
    return [("damaged model files", tried, 0, wrong)]
