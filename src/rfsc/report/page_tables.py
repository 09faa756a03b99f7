"""The tables of a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .._utils.words import NO_VALUE, fixed, listed, minus_sign, number, p_value, percent, plural
from ..atlas.model_tables import IN_ALL
from ..certify.certificate import SUPPORTED
from .table_one import QUARTILES

MAX_COLUMNS, MAX_FEATURES, MAX_UNITS, MAX_LINES = 60, 12, 30, 40  # the JSON has all
MORE_HEADS = {"too_few": "too few rows", "sign": "same sign", "stand_ins": "stand-ins"}


@dataclass(frozen=True, slots=True)
class TableCell:
    text: str
    kind: str = (
        "text"  # "text", "number" (aligned right), "name" (chosen by the user), "code" or "formula" (not printed)
    )
    note: str = ""  # in small print after the text
    bar: float | None = None  # a bar beside the text, from 0 to 1
    mark: str = ""  # "better" or "worse"
    strong: bool = False


@dataclass(frozen=True, slots=True)
class PageTable:
    """A table whose first column names the rows."""

    caption: str
    head: Sequence[TableCell]
    rows: Sequence[Sequence[TableCell]]
    highlight_first: bool = False

    def is_number(self, column: int) -> bool:
        """Whether a column holds numbers, which are aligned to the right."""
        return bool(self.rows) and self.rows[0][column].kind == "number"


def make_tables(content: Mapping[str, Any]) -> dict[str, Any]:
    """The tables by name; "terms", "effects" and others are lists with one table for each model."""
    settings, models = content["settings"], content["models"]
    of = [f" of class “{model['label']}”" if len(models) > 1 else "" for model in models]
    return {
        "thresholds": _thresholds(content["performance"]),
        "odds": [_odds(model) for model in models],
        "example": [_example(*pair) for pair in zip(models, of, strict=True)],
        "table_one": _table_one(content["table_one"]),
        "scores": _scores(content["score"]),
        "confusion": _confusion(content["score"], content["task"]["classes"]),
        "certificate": _certificate(content["certificate"] or {}),
        "atlas": _atlas(content["atlas"] or {}),
        "terms": [_terms(*pair) for pair in zip(models, of, strict=True)],
        "effects": [_effects(*pair) for pair in zip(models, of, strict=True)],
        "sizes": [_sizes(*pair) for pair in zip(models, of, strict=True)],
        "features": PageTable(
            "How the features of the formula are made from the columns of the table",
            _texts("feature", "column", "definition"),
            [[_name(f["name"]), _name(f["column"]), TableCell(f["definition"])] for f in content["features"]],
        ),
        "columns": _columns(content["data"], content["read"]),
        "sites": _sites(content["sites"]),
        "fallbacks": _fallbacks(content["fallbacks"]),
        "settings": _pairs("Settings", _texts("parameter", "value"), settings["parameters"], "code"),
        "versions": _pairs("Versions", _texts("package", "version"), settings["versions"], "text"),
    }


def _texts(*texts: str) -> list[TableCell]:
    return [TableCell(text) for text in texts]


def _name(text: str, note: str = "") -> TableCell:
    return TableCell(text, "name", note)


def _number(text: str, **more: Any) -> TableCell:
    return TableCell(text, "number", **more)


def _bar(share: float) -> TableCell:
    return TableCell(percent(share), bar=share)


def _pairs(caption: str, head: Sequence[TableCell], values: Mapping[str, str], kind: str) -> PageTable:
    return PageTable(caption, head, [[TableCell(name), TableCell(value, kind)] for name, value in values.items()])


def _thresholds(classes: Sequence[Mapping[str, Any]]) -> PageTable:
    """Of the second of two classes."""
    names = ("called", "sensitivity", "specificity", "ppv", "npv")
    rows = [
        [
            TableCell(f"{row['threshold']:g}"),
            *(_number(NO_VALUE if row[name] is None else percent(row[name])) for name in names),
            _number(minus_sign(fixed(row["net_benefit"]))),
        ]
        for row in classes[0]["thresholds"]
    ]
    head = _texts("probability at least", "of the rows", "sensitivity", "specificity", "PPV", "NPV", "net benefit")
    return PageTable(f"Class “{classes[0]['label']}” by threshold", head, rows)


def _odds(model: Mapping[str, Any]) -> PageTable:
    any_interval = any(row["low"] is not None for row in model["odds_ratios"])
    rows = []
    for row in model["odds_ratios"]:
        cells = [_name(row["feature"]), TableCell(row["change"]), _number(_ratio(row["odds_ratio"]))]
        if any_interval:
            ends = NO_VALUE if row["low"] is None else f"{_ratio(row['low'])} to {_ratio(row['high'])}"
            cells.append(_number(ends))
        rows.append(cells)
    head = _texts("feature", "change", "odds ratio", *(["95 % interval"] if any_interval else []))
    return PageTable(f"Odds ratios of class “{model['label']}”", head, rows)


def _ratio(value: float | None) -> str:
    """Two decimals, unless the number is very small or large."""
    return fixed(value, 2) if value is not None and 0.1 <= value < 10.0 else number(value, 3)


def _example(model: Mapping[str, Any], of: str) -> PageTable:
    example = model["example"]
    rows = [
        [
            _name(s["term"] or "constant"),
            _number(number(s["value"], 5) if s["term"] else ""),
            _number(number(s["coef"], 5) if s["term"] else ""),
            _number(number(s["product"])),
        ]
        for s in example["summands"]
    ]
    total = [TableCell("f, the sum", strong=True), _number(""), _number(""), _number(number(example["f"]), strong=True)]
    units = "" if example["units"] == "original" else ", on the scale from 0 to 1"
    head = _texts("term", "value", "coefficient", "product")
    return PageTable(f"f{of} for a typical row{units}", head, [*rows, total])


def _table_one(table: Mapping[str, Any]) -> PageTable:
    shown, last = table["lines"][:MAX_LINES], None
    rows = []
    for line in shown:
        name = "" if line["column"] == last else line["column"]
        what = "" if line["what"] == QUARTILES else line["what"]
        rows.append([_name(name), TableCell(what), *(_number(cell) for cell in line["cells"])])
        last = line["column"]
    of = f", the first {MAX_LINES} of {len(table['lines'])} lines" if len(shown) < len(table["lines"]) else ""
    return PageTable(
        f"Rows by class, {QUARTILES} of numbers{of}",
        [*_texts("column", "", table["heads"][0]), *map(_name, table["heads"][1:])],
        rows,
    )


def _scores(score: Mapping[str, Any]) -> PageTable:
    rows = []
    for method in score["methods"]:
        row = [TableCell(method["name"])]
        for metric in score["metrics"]:
            one = method["scores"][metric["key"]]
            row.append(_number(fixed(one["mean"]), note=f"± {fixed(one['sd'])}", mark=one.get("verdict", "")))
        if score["honest"]:
            row.append(_number("<0.01" if method["seconds"] < 0.01 else f"{method['seconds']:.2g}"))
        rows.append(row)
    head = ["method", *(metric["name"] for metric in score["metrics"]), *(["seconds"] if score["honest"] else [])]
    return PageTable("Mean ± standard deviation of the metrics", _texts(*head), rows, highlight_first=True)


def _confusion(score: Mapping[str, Any], classes: Sequence[Mapping[str, Any]]) -> PageTable:
    labels, rows = [_name(c["label"]) for c in classes], []
    for i, counts in enumerate(score["confusion"]):
        cells = [_number(f"{round(n, 1):,}", strong=i == j) for j, n in enumerate(counts)]
        rows.append([labels[i], *cells, _number(percent(counts[i] / sum(counts)) if sum(counts) else NO_VALUE)])
    head = [TableCell("true class"), *labels, TableCell("correct")]
    repeats = f", means of {score['n_repeats']} repeats" if score["n_repeats"] > 1 else ""
    return PageTable(f"Rows by true class (down) and predicted class (across){repeats}", head, rows)


def _certificate(found: Mapping[str, Any]) -> list[PageTable]:
    """Verdicts on clusters, if some have several members, on features and on terms."""
    several = any(" | " in row["unit"] for row in found.get("clusters", ()))
    kinds = (*(["clusters"] if several else []), "features", "terms") if found else ()
    return [_verdicts(found[kind], kind) for kind in kinds]


def _atlas(found: Mapping[str, Any]) -> list[PageTable]:
    """Features of good models, and what replaces what in them."""
    if not found:
        return []
    has_label = any(row["label"] is not None for row in found["features"])
    label = ["class"] if has_label else []
    features = [
        [
            _name(row["feature"]),
            *([_name(row["label"])] if has_label else []),
            TableCell(row["use"], strong=row["use"] == IN_ALL),
            _bar(row["share"]),
            _number(f"{fixed(row['least'], 1)} to {fixed(row['greatest'], 1)}"),
        ]
        for row in found["features"][:MAX_UNITS]
    ]
    swaps = [
        [
            _name(row["term"]),
            _name(row["replacement"]),
            *([_name(row["label"])] if has_label else []),
            _number(f"{row['times']:,}"),
            *(_number(minus_sign(f"{row[name]:+.1f}")) for name in ("least", "median")),
        ]
        for row in found["swaps"][:MAX_FEATURES]
    ]
    head = _texts("feature", *label, "use", "models", "importance")
    head_of_swaps = _texts("term", "replaced by", *label, "models", "least price", "median price")
    tables = PageTable("Features of the models", head, features), PageTable("Replacements", head_of_swaps, swaps)
    return [table for table in tables if table.rows]


def _verdicts(units: Sequence[Mapping[str, Any]], kind: str) -> PageTable:
    shown = units[:MAX_UNITS]
    more = [name for name in MORE_HEADS if any(row[name] is not None for row in shown)]
    rows = []
    for row in shown:
        cells = [_name(row["unit"]), TableCell(row["verdict"], strong=row["verdict"] == SUPPORTED)]
        cells += [_number(p_value(row["p_value"])), _bar(row["share"])]
        cells += [TableCell(row[name]) if name == "stand_ins" else _number(percent(row[name])) for name in more]
        rows.append(cells)
    head = _texts(kind[:-1], "verdict", "P", "halves", *(MORE_HEADS[name] for name in more))
    of = f", the first {MAX_UNITS} of {len(units)}" if len(shown) < len(units) else ""
    return PageTable(f"{kind.capitalize()} that some half has chosen, the smallest P first{of}", head, rows)


def _terms(model: Mapping[str, Any], of: str) -> PageTable:
    valued = any(t["worth"] is not None for t in model["terms"])
    head = ["term", *(["worth"] if valued else []), "coefficient", "odds ×", "influence"]
    rows = []
    for t in model["terms"]:
        row = [_name(t["term"], "(constant)" if t["constant"] else "")]
        if valued:
            row.append(_number(fixed(t["worth"], 1)))
        row.append(_number(number(t["coef"])))
        row.append(_number(number(t["odds_ratio"], 3), note=minus_sign(f"for {t['change']}") if t["change"] else ""))
        rows.append([*row, _bar(t["influence"])])
    return PageTable(f"Terms{of}, coefficients on the scale from 0 to 1", _texts(*head), rows)


def _effects(model: Mapping[str, Any], of: str) -> PageTable:
    rows = [
        [_name(e["feature"]), TableCell(minus_sign(e["effect"])), _number(number(e["change"], 3))]
        for e in model["effects"]["rows"]
    ]
    return PageTable(f"Features{of}, in your own units", _texts("feature", "effect on f", "f changes by"), rows)


def _sizes(model: Mapping[str, Any], of: str) -> PageTable:
    written = any(s["equation"] for s in model["sizes"])
    rows = [
        [
            TableCell(f"{s['n_terms']}", strong=s["chosen"]),
            _number(f"{s['n_features']}"),
            _number(fixed(s["log_loss"], 4), strong=s["chosen"]),
            _number(fixed(s["above_best"], 4), note=f"± {fixed(s['standard_error'], 4)}"),
            TableCell("yes" if s["within_1se"] else "no"),
            *([TableCell(s["equation"] or NO_VALUE, "formula")] if written else []),
        ]
        for s in model["sizes"]
    ]
    head = _texts("terms", "features", "left-out log-loss", "above the best", "within 1 s.e.")
    head += [TableCell("equation", "formula")] if written else []
    return PageTable(f"Models by size{of}", head, rows)


def _sites(sites: Sequence[Mapping[str, Any]]) -> PageTable:
    rows = [
        [
            _name(s["site"]),
            _number(f"{s['n_rows']:,}"),
            *(_number(fixed(s[key])) for key in ("auc", "log_loss", "accuracy")),
        ]
        for s in sites
    ]
    head = _texts("site", "rows", "AUC", "log-loss", "accuracy")
    return PageTable("Every site, predicted by a fit to the others", head, rows)


def _fallbacks(fallbacks: Sequence[Mapping[str, Any]]) -> PageTable:
    rows = [
        [
            TableCell(listed(f["when_missing"]), "name"),
            _name(listed(f["terms"]) or "no terms"),
            _number(minus_sign(f"{f['price']:+.4f}"), note=f"± {fixed(f['standard_error'], 4)}"),
            *(_number(fixed(f[key], 4)) for key in ("blank_log_loss", "median_log_loss")),
        ]
        for f in fallbacks
    ]
    head = _texts("without", "terms", "price", "log-loss of such rows", "by the median instead")
    return PageTable("Models for rows in which a measurement is missing", head, rows)


def _columns(data: Sequence[Mapping[str, Any]], read: Sequence[Mapping[str, str]]) -> PageTable:
    """The columns that the model reads, then others as far as there is room; Table 1 describes their values."""
    said, known = {c["column"]: c for c in read}, {c["name"] for c in data}
    dropped = [{"name": name, "kind": "", "used": False, "missing": None} for name in said if name not in known]
    every = sorted([*data, *dropped], key=lambda column: not column["used"])
    more = [key for key in ("use", "changed", "doubtful") if any(c[key] for c in read)]
    rows = []
    for c in every[:MAX_COLUMNS]:
        used = NO_VALUE if c["used"] is None else "yes" if c["used"] else "no"
        missing = NO_VALUE if c["missing"] is None else percent(c["missing"])
        row = [_name(c["name"]), *_texts(c["kind"], used), _number(missing)]
        rows.append([*row, *_texts(*(said[c["name"]][key] if c["name"] in said else "" for key in more))])
    caption = f"{MAX_COLUMNS} of {plural(len(every), 'column')}" if len(rows) < len(every) else "Columns"
    caption += ", those that the model uses first" if any(c["used"] for c in data) else ""
    caption += ": what was read, changed and doubted" if read else ""
    return PageTable(caption, _texts("column", "kind", "used", "missing", *more), rows)
