"""A model as a C99 function: a struct of columns in, a class out."""

from __future__ import annotations

import re
from typing import Any

from .._terms.scaling import FAR
from .program import CodePrinter, Program, one_line, plain_label, writable

# keywords of C and C++, and what the headers define in small letters
WORDS = """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl concept const constexpr
    continue decltype default delete do double dynamic_cast else enum errno explicit export extern false float for
    friend goto if inline int long main math_errhandling mutable namespace new noexcept not not_eq nullptr operator or
    or_eq private protected public register reinterpret_cast requires restrict return short signed sizeof static
    static_assert static_cast struct switch template this thread_local throw true try typedef typeid typename union
    unsigned using virtual void volatile wchar_t while xor xor_eq linux unix
"""
TAKEN = frozenset(WORDS.split())
LONGEST_FIELD = 40  # characters

SIGNATURE = """
/* Place of the class in NAME_labels, -1 if a cell that is needed is missing. Fills decision and probability, one number
   for each formula and each class, unless they are NULL. */
int NAME(const NAME_row *row, double *decision, double *probability)
{"""
HELPERS = {
    "scaled": f"""
/* a feature in training ranges above its minimum, cut off far beyond any real value */
static double NAME_scaled(double x, double half_minimum, double half_span)
{{
    return fmin(fmax((x / 2.0 - half_minimum) / half_span, {-FAR!r}), {FAR!r});
}}
""",
    "sigmoid": """
/* 1 / (1 + exp(-z)) */
static double NAME_sigmoid(double z)
{
    return 1.0 / (1.0 + exp(-z));
}
""",
    "log_sigmoid": """
/* logarithm of 1 / (1 + exp(-z)) */
static double NAME_log_sigmoid(double z)
{
    return fmin(z, 0.0) - log1p(exp(-fabs(z)));
}
""",
    "is_level": """
/* whether a text is present and is this level: small letters, of which ASCII ones may be capitals in the text; spaces
   around the text and repeated ones do not count */
static int NAME_is_level(const char *cell, const char *level)
{
    if (cell == NULL) return 0;
    while (*cell && strchr(" \\t\\n\\r", *cell)) cell++;
    for (; *cell; cell++) {
        const char *next = cell;
        while (*next && strchr(" \\t\\n\\r", *next)) next++;
        if (!*next) break;
        if (*cell == ' ' && cell[1] == ' ') continue;
        if ((*cell >= 'A' && *cell <= 'Z' ? *cell - 'A' + 'a' : *cell) != *level++) return 0;
    }
    return *level == 0;
}
""",
    "is": """
/* whether a text is present and is this one */
static int NAME_is(const char *cell, const char *level)
{
    return cell != NULL && strcmp(cell, level) == 0;
}
""",
}


class C(CodePrinter):
    """Expressions in C."""

    greatest = "fmax"

    def __init__(self, scaled: dict[int, str], name: str) -> None:
        super().__init__(scaled)
        self.helper = f"{name}_"

    def is_missing(self, cell: str, kind: str) -> str:
        return f"isnan({cell})" if kind == "number" else super().is_missing(cell, kind)

    def filled(self, cell: str, fill: float) -> str:
        return f"(isnan({cell}) ? {fill!r} : {cell})"

    def is_limit(self, cell: str, *, above: bool) -> str:
        return f"{cell}_limit {'>' if above else '<'} 0"

    def is_one_of(self, cell: str, levels: list[str | float]) -> str:
        same = "is" if cell.startswith("row->") else "is_level"  # cells with a format have variables of their own
        return self.any_of(
            [
                f"{self.helper}{same}({cell}, {text_literal(level)})"
                if isinstance(level, str)
                else f"{cell} == {level!r}"
                for level in levels
            ]
        )


def to_c(source: Any, name: str = "rfsc_predict") -> str:
    """Write a model as a C99 function.

    Parameters
    ----------
    source : SparseModel, RFSCClassifier, Pipeline or Predictor
        What to write. If it carries its preprocessing, the function reads the raw columns.
    name : str, default="rfsc_predict"
        Name of the function; other names in the file begin with it.

    Returns
    -------
    str
        A file for the compiler, without a header. ``<name>_row`` is a struct of the columns: doubles, NAN for a
        missing cell, and texts in UTF-8, NULL for a missing cell. C reads no texts as numbers: a cell such as ``<5
        mg/L`` is 5, with ``<column>_limit`` set to -1 if the model asks whether it is a limit. ``<name>(&row,
        decision, probability)`` returns the place of the class in ``<name>_labels``, or -1 if a cell that it needs is
        missing; it fills the two arrays unless they are NULL. To get the same bits on every machine, compile with
        ``-ffp-contract=off``.
    """
    if not re.fullmatch("[A-Za-z][A-Za-z0-9_]*", name) or name.lower() in TAKEN:
        msg = f"name must be a name that C allows for a function, got {name!r}."
        raise ValueError(msg)
    program = Program.of(source)
    fields = field_names(program)
    body = "\n".join(f"    {line}" if line else "" for line in _body(program, fields, name))
    helpers = [text for helper, text in HELPERS.items() if f"{name}_{helper}(" in body]
    functions = [text.replace("NAME", name) for text in (*helpers, SIGNATURE)]
    return "\n".join([*_head(program, fields, name), *functions, body, "}"]) + "\n"


def field_names(program: Program) -> dict[int, str]:
    """Names that C allows for the columns that are read, by their place in the table."""
    out: dict[int, str] = {}
    for j in program.read:
        name = re.sub("[^a-z0-9]+", "_", program.columns[j].name.lower())[:LONGEST_FIELD].strip("_")
        name = name if name and not name[0].isdigit() else f"column_{name}".rstrip("_")
        name = f"{name}_" if name in TAKEN else name
        taken, first, number = set(out.values()), name, 1
        while name in taken:
            number += 1
            name = f"{first}_{number}"
        out[j] = name
    return out


def text_literal(text: str) -> str:
    """A text in UTF-8 between double quotes; what C could read differently is written as octal numbers."""
    plain = {byte: chr(byte) for byte in range(ord(" "), ord("~") + 1) if chr(byte) not in '"\\?'}
    letters = (plain.get(byte, f"\\{byte:03o}") for byte in writable(text, "C").encode())
    return f'"{"".join(letters)}"'


def _comment(text: str) -> str:
    """A comment in ASCII."""
    shown = one_line(text).encode("ascii", "replace").decode().replace("?", "_")
    return f"/* {shown} */"


def _head(program: Program, fields: dict[int, str], name: str) -> list[str]:
    lines = [
        "/* Made by rfsc: a classifier in C99. Link with -lm. Numbers have no units and no signs of limits. */",
        "#include <math.h>",
        "#include <string.h>",
        "",
    ]
    lines += [
        f"enum {{ {name}_n_classes = {len(program.classes)}, {name}_n_decisions = {len(program.models)} }};",
        "",
        "/* the columns of the table that are read: NAN or NULL if a cell is missing */",
        "typedef struct {",
    ]
    for j, field in fields.items():
        raw = program.columns[j]
        form = raw.cells
        note = "" if form is None else f", days since {form.since}" if form.since else form.unit and f", in {form.unit}"
        lines.append(f"    {'double ' if raw.kind == 'number' else 'const char *'}{field}; {_comment(raw.name + note)}")
        if program.reads_limits(j):
            lines.append(
                f"    int {field}_limit; /* -1 if the number is a limit such as <5, 1 if such as >5, else 0 */"
            )
    if not fields:
        lines.append("    char nothing; /* the model reads no column */")
    labels = ", ".join(text_literal(str(plain_label(label))) for label in program.classes)
    return [*lines, f"}} {name}_row;", "", f"const char *const {name}_labels[] = {{{labels}}};"]


def _body(program: Program, fields: dict[int, str], name: str) -> list[str]:
    used, n, n_classes = program.features_used, len(program.models), len(program.classes)
    printer = C({p: f"s{p}" for p in used}, name)
    lines = [f"double f[{n}];"]
    lines += [] if n == 1 else [f"double top, total = 0.0, share[{n}];"]
    lines += ["int k, best = 0;"]
    gaps = " || ".join(f"isnan(row->{fields[j]})" for j in program.required)
    if gaps:
        fill = ["if (decision != NULL)", f"    for (k = 0; k < {n}; k++) decision[k] = NAN;"]
        fill += ["if (probability != NULL)", f"    for (k = 0; k < {n_classes}; k++) probability[k] = NAN;"]
        lines += ["", f"if ({gaps}) {{", *(f"    {line}" for line in fill), "    return -1;", "}"]
    cells = {j: f"row->{field}" for j, field in fields.items()}
    for j, form in ((j, program.columns[j].cells) for j in fields if program.columns[j].kind == "text"):
        if form is not None:
            blank = printer.is_one_of(f"c{j}", list(form.blanks)).replace(f"(c{j},", f"({cells[j]},")
            lines.append(f"const char *const c{j} = {blank} ? NULL : {cells[j]};")
            cells[j] = f"c{j}"
    for p in used:
        value = printer.scaled_feature(program, p, cells[program.features[p].column])
        lines.append(f"const double s{p} = {value}; {_comment(program.feature_names[p])}")
    if not used:
        lines.append("(void)row;")
    for k in range(n):
        names = [_comment(term) for term in program.models[k].names] or [""]
        summands = printer.output(program, k)
        lines += ["", f"f[{k}] ="]
        ends = [" "] * (len(summands) - 1) + ["; "]
        lines += [f"    {text}{end}{comment}" for text, end, comment in zip(summands, ends, names, strict=True)]
    return [*lines, "", *_answer(n, name)]


def _answer(n: int, name: str) -> list[str]:
    """The lines that turn the formulas into classes and probabilities."""
    lines = ["if (decision != NULL)", f"    for (k = 0; k < {n}; k++) decision[k] = f[k];"]
    if n == 1:
        lines += [
            "if (probability != NULL)",
            f"    for (k = 0; k < 2; k++) probability[k] = {name}_sigmoid(k ? f[0] : -f[0]);",
            "best = f[0] > 0.0;",
        ]
    else:
        lines += [
            f"for (k = 1; k < {n}; k++)",
            "    if (f[k] > f[best]) best = k;",
            "if (probability != NULL) {",
            f"    top = {name}_log_sigmoid(f[best]);  /* it grows with f */",
            f"    for (k = 0; k < {n}; k++) total += share[k] = exp({name}_log_sigmoid(f[k]) - top);",
            f"    for (k = 0; k < {n}; k++) probability[k] = share[k] / total;",
            "}",
        ]
    return [*lines, "return best;"]
