"""Whether two fits gave the same model, and if not, in what they differ."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from .._model import SparseModel
from .._model.access import as_predictor
from .json_file import to_json

# settings that change no bit of the answer
IDLE = frozenset({"n_jobs", "verbose", "callbacks"})
TABLES = {
    "content": "the cells or labels differ",
    "schema": "the features have other names, or the labels are of another kind",
    "weights": "the weights of the rows differ",
    "groups": "the groups of the rows differ",
}


def compared_text(source: Any) -> str:
    """The text of a model file without what may differ between two equal fits: timings, threads, who watched."""
    document = json.loads(to_json(source, history=False, timings=False))
    document["settings"] = {key: value for key, value in document["settings"].items() if key not in IDLE}
    document |= {"reference": None, "fallbacks": []}  # made beside the fit
    idle: dict[str, Any] = {"versions": {}, "target": None, "class": None, "group": None, "columns": []}
    document["manifest"] = (document["manifest"] or {}) | idle
    return json.dumps(document)


def differences(first: Any, second: Any) -> list[str]:
    """In what two fits differ, in sentences without values of the data."""
    one, two = as_predictor(first), as_predictor(second)
    found = _manifest_differences(one.manifest_ or {}, two.manifest_ or {})
    settings = [{key: value for key, value in fit.settings_.items() if key not in IDLE} for fit in (one, two)]
    found += _changed("setting", *settings)
    if list(one.classes_) != list(two.classes_):
        return [*found, "the classes differ"]
    if one.recipe_ != two.recipe_:
        found.append("the preprocessing of the columns differs")
    for a, b in zip(one.models_, two.models_, strict=True):
        found += _model_differences(a, b)
    return found


def largest_difference(first: Any, second: Any) -> float:
    """How far the coefficients of two models of the same terms are apart, relative to the largest of them."""
    one, two = as_predictor(first), as_predictor(second)
    if list(one.classes_) != list(two.classes_) or one.recipe_ != two.recipe_:
        return np.inf
    return max(_distance(a, b) for a, b in zip(one.models_, two.models_, strict=True))


def _distance(a: SparseModel, b: SparseModel) -> float:
    own, other = (np.stack([model.scaling.half_minimum, model.scaling.half_span]) for model in (a, b))
    if not np.array_equal(own, other) or a.feature_names != b.feature_names or set(a.terms) != set(b.terms):
        return np.inf
    place = {term: i for i, term in enumerate(b.terms)}  # equal coefficients may change places
    coef = b.coef[[place[term] for term in a.terms]]
    return float(np.abs(a.coef - coef).max(initial=0.0) / max(np.abs(a.coef).max(initial=0.0), 1e-300))


def _manifest_differences(one: Mapping[str, Any], two: Mapping[str, Any]) -> list[str]:
    data, more = one.get("data", {}), two.get("data", {})
    counts = [{name: part.get(name) for name in ("rows", "features", "classes")} for part in (data, more)]
    found = _changed("number of", *counts)
    found += [f"the data differ: {words}" for key, words in TABLES.items() if data.get(key) != more.get(key)]
    found += _changed("version of", one.get("versions", {}), two.get("versions", {}))
    found += _changed("the", {"engine": one.get("engine")}, {"engine": two.get("engine")})
    if one.get("stop_reasons") != two.get("stop_reasons"):
        found.append("searches ended for other reasons")
    return found


def _changed(what: str, one: Mapping[str, Any], two: Mapping[str, Any]) -> list[str]:
    pairs = {name: (one.get(name), two.get(name)) for name in (*one, *two)}
    return [f"{what} {name}: {old}, now {new}" for name, (old, new) in pairs.items() if repr(old) != repr(new)]


def _model_differences(a: SparseModel, b: SparseModel) -> list[str]:
    where = f"the model of class {a.label}"
    gone, new = set(a.names) - set(b.names), set(b.names) - set(a.names)
    if gone or new:
        return [
            f"{where} has other terms: "
            + "; ".join([f"without {name}" for name in sorted(gone)] + [f"with {name}" for name in sorted(new)])
        ]
    distance = _distance(a, b)
    if distance == 0.0:
        return []
    if np.isinf(distance):
        return [f"{where} has the same terms, but other ranges or knots"]
    return [f"{where} has the same terms, but coefficients that differ by up to {distance:.1e} of the largest"]
