"""The first screen of a report, and its methods in the order of TRIPOD: sentences filled in with the numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .._utils.words import fixed, listed, minus_sign, number, percent, plural
from ..certify.certificate import SUPPORTED
from .performance import RARE

MAX_NAMES = 6  # of columns in a sentence
FOLDS = {
    "rows": "random folds, stratified by class",
    "groups": "folds of whole groups, so that rows of one group are never on both sides",
    "sites": "folds of one site each, so that every site is predicted from the others",
    "time": "blocks of later rows, each predicted from earlier rows only",
}


def question(content: Mapping[str, Any]) -> str:
    """What is predicted from what."""
    task, used = content["task"], [column["name"] for column in content["data"] if column["used"]]
    columns = f"{len(used)} of {plural(task['n_columns'], 'column')}" if used else plural(task["n_columns"], "column")
    named = f": {listed(used, MAX_NAMES)}" if used else ""
    rows, what = plural(task["n_rows"], "row"), "the class" if task["target"] == "the target" else task["target"]
    if len(task["classes"]) == 2:
        event = task["classes"][1]
        what = f"whether {what} is {event['label']} ({event['n_rows']:,} of {rows}, {percent(event['share'])})"
    else:
        classes = listed([f"{c['label']} ({c['n_rows']:,})" for c in task["classes"]], MAX_NAMES)
        what += f" ({rows}: {classes})"
    return f"The model predicts {what} from {columns}{named}."


def first_figures(content: Mapping[str, Any]) -> list[dict[str, str]]:
    """Three figures: AUC, log-loss, and calibration if a class is rare, else accuracy."""
    score, one = content["score"], content["performance"][-1]
    ours, shares = score["figures"], score["class_shares"]
    if len(content["performance"]) == 1:
        interval = one["auc_low"] is not None and one["auc_low"] == one["auc_low"]
        ends = f"95 % interval {fixed(one['auc_low'])} to {fixed(one['auc_high'])}" if interval else "no interval"
    else:
        ends = "mean over the classes, each against the others"
    worse = ": worse" if ours["log_loss"] > shares["log_loss"] else ""
    figures = [
        {"name": "AUC", "value": fixed(ours["auc"]), "aside": f"{ends}; 1 is perfect, 0.5 is chance"},
        {
            "name": "log-loss",
            "value": fixed(ours["log_loss"]),
            "aside": f"{fixed(shares['log_loss'])} for class shares{worse}",
        },
    ]
    if min(c["share"] for c in content["task"]["classes"]) < RARE and len(content["performance"]) == 1:
        value = minus_sign(f"{fixed(one['slope'], 2)} / {fixed(one['intercept'], 2)}")
        name, aside = "calibration slope / intercept", "1 and 0 are perfect; a class is rare"
        return [*figures, {"name": name, "value": value, "aside": aside}]
    value, most = f"{fixed(100 * ours['accuracy'], 1)} %", f"{fixed(100 * shares['accuracy'], 1)} %"
    return [*figures, {"name": "accuracy", "value": value, "aside": f"{most} for the most frequent class"}]


def headline(content: Mapping[str, Any]) -> str:
    """The most important result in one or two sentences."""
    score, models = content["score"], content["models"]
    size = plural(sum(not t["constant"] for model in models for t in model["terms"]), "term")
    size += f" in {len(models)} formulas" if len(models) > 1 else ""
    rows = "held-out rows" if score["honest"] else "the rows given, which it may have been fitted to"
    found = [f"{one['name']} {one['value']}" for one in content["key_figures"]]
    first = f"A model with {size} has {listed(found)} on {rows}."
    if score["honest"] and score["n_folds"] > 1:
        first = f"Models found in the same way as this one of {size} have {listed(found)} on {rows}."
    others = [f"{m['name']} {fixed(m['scores']['auc']['mean'])}" for m in score["methods"][1:]]
    return f"{first} AUC of other methods: {listed(others)}." if others and score["n_folds"] > 1 else first


def methods(content: Mapping[str, Any]) -> list[dict[str, str]]:
    """Paragraphs in the order of TRIPOD, ready to be copied."""
    task, score = content["task"], content["score"]
    events = listed([f"{c['n_rows']:,} of class {c['label']}" for c in task["classes"]])
    used = [column["name"] for column in content["data"] if column["used"]]
    source = task["source"] or f"a table of {plural(task['n_rows'], 'row')}"
    found = {
        "Source of data": f"The data are {source}{_structure(content)}.",
        "Outcome": f"The outcome is {task['target']}, with {plural(len(task['classes']), 'class', 'classes')}: "
        f"{listed([c['label'] for c in task['classes']], MAX_NAMES)}."
        + (f" The model gives the probability of {task['classes'][1]['label']}." if len(task["classes"]) == 2 else ""),
        "Predictors": f"{plural(task['n_columns'], 'column')} were candidate predictors"
        + (f", which gave {plural(task['n_features'], 'feature')}" if task["n_features"] != task["n_columns"] else "")
        + (f"; the final model reads {listed(used, MAX_NAMES)}." if used else "."),
        "Sample size": f"There were {plural(task['n_rows'], 'row')}, {events}{_per_term(content)}.",
        **({"Data preparation": text} if (text := _preparation(content["read"])) else {}),
        "Missing data": _missing(content),
        "Model": _search(content),
        "Validation": _validation(score),
        "Performance": _performance(content),
        **({"Evidence": text} if (text := _evidence(content["certificate"], content["atlas"])) else {}),
    }
    return [{"head": head, "text": text} for head, text in found.items()]


def _structure(content: Mapping[str, Any]) -> str:
    """How rows belong together."""
    score, sites = content["score"], content["sites"]
    if score["n_groups"] is None:
        found = ", with one row for each observation"
    else:
        of = plural(content["task"]["n_rows"], "row") if content["task"]["source"] else "which are"
        found = f": {of} of {plural(score['n_groups'], 'subject')}, whose rows were always kept together"
    names = listed([one["site"] for one in sites], MAX_NAMES)
    return found + (f"; they come from {plural(len(sites), 'site')}: {names}" if sites else "")


def _preparation(columns: Sequence[Mapping[str, str]]) -> str:
    """What was changed in cells when they were read, such as limits and units, and what was doubtful."""
    parts = []
    for key, what in (("changed", "Cells were read as follows"), ("doubtful", "In doubt")):
        found = [f"{c['column']} ({c[key]})" for c in columns if c[key]]
        parts += [f"{what}: {listed(found, MAX_NAMES)}."] if found else []
    return " ".join(parts)


def _per_term(content: Mapping[str, Any]) -> str:
    """Rows of the smallest class for each term."""
    n_terms = max(sum(not t["constant"] for t in model["terms"]) for model in content["models"])
    fewest = min(c["n_rows"] for c in content["task"]["classes"])
    return f"; the rarest class has {number(fewest / n_terms, 3)} rows for each term" if n_terms else ""


def _missing(content: Mapping[str, Any]) -> str:
    gaps = [(c["name"], c["missing"]) for c in content["data"] if c["missing"] > 0]
    if not gaps:
        return "No cell was missing."
    named = listed([f"{name} ({percent(share)})" for name, share in sorted(gaps, key=lambda gap: -gap[1])], MAX_NAMES)
    made = [f for f in content["features"] if f["column"] in dict(gaps) and "missing" in f["definition"]]
    fills = [f"{f['name']}: {f['definition'].removeprefix('unchanged; ')}" for f in made]
    treated = f" In the features of the model: {'; '.join(fills)}." if fills else ""
    return f"Cells were missing in {plural(len(gaps), 'column')}: {named}.{treated}"


def _search(content: Mapping[str, Any]) -> str:
    models, settings = content["models"], content["settings"]
    parts = []
    tried = models[0]["n_candidates"]
    if tried:
        parts.append(
            f"Sparse logistic models were found by a randomised search (RFSC) among {tried:,} candidate terms, "
            f"with {plural(models[0]['n_restarts'], 'restart')}."
        )
    if models[0]["sizes"]:
        parts.append("The number of terms was chosen by cross-validation within the rows of the fit.")
    parts.append("Coefficients were estimated by logistic regression with a ridge penalty.")
    sizes = [sum(not t["constant"] for t in model["terms"]) for model in models]
    of = (
        f"{plural(sizes[0], 'term')}"
        if len(models) == 1
        else f"{listed([str(n) for n in sizes])} terms, one formula for each class"
    )
    parts.append(f"The final model has {of}. Software: rfsc {settings['versions']['rfsc']}.")
    return " ".join(parts)


def _validation(score: Mapping[str, Any]) -> str:
    if not score["honest"]:
        return (
            "The model was scored on the rows given; this is an external validation only if it was not fitted to them."
        )
    if score["n_folds"] == 1:
        later = "later " if score["folds_of"] == "time" else ""
        return f"The whole search was repeated without {score['n_predicted']:,} {later}rows, on which it was scored."
    repeated = f", every row held out {score['n_repeats']} times" if score["n_repeats"] > 1 else ""
    return (
        f"Internal validation by cross-validation with {plural(score['n_folds'], 'fit')}{repeated}: "
        f"{FOLDS[score['folds_of']]}. The whole search was repeated in every fold; all figures are of left-out rows."
    )


def _evidence(certificate: Mapping[str, Any] | None, atlas: Mapping[str, Any] | None) -> str:
    """How features were tested, and which other models are as good."""
    found = []
    if certificate is not None:
        made = certificate["settings"]
        features = [row["unit"] for row in certificate["features"] if row["verdict"] == SUPPORTED]
        found.append(
            f"The whole search was repeated on {made['n_halves']} random halves of the rows, and what each model read "
            "was tested on the other half, with score tests that hold after the selection (family-wise error "
            f"{made['level']:g}). Supported features: {listed(features) or 'none'}."
        )
    if atlas is not None:
        found += atlas["lines"]
    return " ".join(found)


def _performance(content: Mapping[str, Any]) -> str:
    score, one = content["score"], content["performance"][-1]
    ours = score["figures"]
    if len(content["performance"]) > 1:
        return (
            f"AUC {fixed(ours['auc'])} (each class against the others, averaged), log-loss "
            f"{fixed(ours['log_loss'])}, accuracy {percent(ours['accuracy'])}."
        )
    independent = "" if score["folds_of"] == "rows" else " (rows taken as independent)"
    how = f"DeLong{independent}" if score["n_groups"] is None else "resampling whole subjects"
    interval = f"95 % interval by {how} {fixed(one['auc_low'])} to {fixed(one['auc_high'])}"
    slope, intercept = (minus_sign(fixed(one[name], 2)) for name in ("slope", "intercept"))
    gap = content["optimism"]
    optimism = (
        f" Optimism of the AUC, that of the rows of the fit less this: {minus_sign(fixed(gap['auc'], 3))}."
        if gap
        else ""
    )
    return (
        f"AUC {fixed(ours['auc'])} ({interval}), log-loss {fixed(ours['log_loss'])}, Brier score "
        f"{fixed(ours['brier'])}, calibration slope {slope} and intercept {intercept}.{optimism}"
    )
