"""The figures of the README are those of docs/accuracy.md.

After a new study, ``python -m tests.contracts.test_readme_figures`` rewrites them.
"""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
README, PAGE = ROOT / "README.md", ROOT / "docs" / "accuracy.md"
BULLETS = re.compile(r"(?<=\n## How good it is\n).*?\n\n(?P<bullets>- .*?)\n(?=\n## )", re.DOTALL)


def section(page, name):
    """What is between the marks of a section that the study writes."""
    return page.partition(f"<!-- {name} -->\n")[2].partition(f"\n<!-- /{name} -->")[0]


def table(text):
    """Cells by row and column of the first table."""
    lines = text.partition("\n| ")[2] or text
    lines = f"| {lines}".partition("\n\n")[0].splitlines()
    head, _, *rows = ([cell.strip() for cell in line.strip("| ").split(" | ")] for line in lines)
    return {row[0]: dict(zip(head, row, strict=False)) for row in rows}


def found(pattern, text):
    """The groups of a pattern that must be there."""
    match = re.search(pattern, text)
    assert match, pattern
    return match.groups()


def bullets(page):
    """What the README tells of the study, from its page."""
    small = table(section(page, "tabmini"))
    ours, lasso, forest = (small[name] for name in ("RFSC", "L1 logistic, degree 2", "random forest"))
    by_size = table(section(page, "by size"))
    sizes = [k for k in by_size["RFSC"] if k != "method"]
    for k in sizes:
        losses = {name: float(row[k].strip("*")) for name, row in by_size.items()}
        assert losses.pop("RFSC") < min(losses.values()), f"another method is as good at {k} terms: tell so"
    ours, lasso, forest = ({k: v.strip("*") for k, v in row.items()} for row in (ours, lasso, forest))
    (others,) = found(r"default: at most .*\(([\d.]+)\)", section(page, "recovery"))
    bars = [line for line in section(page, "noise").splitlines() if line.startswith("- ")]
    noise, weak = (found(r"\(([^()]*)\)$", line)[0] for line in bars[-2:])
    agreed = next(row for row in table("\n" + section(page, "agreement")).values() if row["set"] == "mean")
    features, terms = (agreed[f"{what}, other folds too"] for what in ("features", "terms"))
    return [
        f"- TabMini's 44 sets: AUC {ours['AUC']}, log-loss {ours['log-loss']}, {ours['terms']} terms; forest "
        f"{forest['AUC']}, {forest['log-loss']}; degree-2 lasso {lasso['AUC']}, {lasso['log-loss']}, {lasso['terms']}.",
        f"- There, at every size from {sizes[0]} to {sizes[-1]} terms, a lower log-loss than lasso, fastcan, "
        "FasterRisk, FIGS and trees.",
        f"- Pure noise gives the constant on {noise} tables; with a weak signal {weak} are worse than it.",
        f"- Planted polynomials: from 500 rows on, {float(others):.1f} terms too many on average.",
        f"- Up to 30,000 rows one answer for every seed. With other folds, ten answers agree {features} on features, "
        f"{terms} on terms.",
    ]


def test_readme_tells_the_figures_of_the_page_in_five_lines():
    lines = bullets(PAGE.read_text(encoding="utf-8"))
    assert BULLETS.search(README.read_text(encoding="utf-8"))["bullets"].splitlines() == lines
    assert len(lines) == 5
    assert max(map(len, lines)) <= 120


if __name__ == "__main__":
    text = README.read_text(encoding="utf-8")
    start, end = BULLETS.search(text).span("bullets")
    README.write_text(
        text[:start] + "\n".join(bullets(PAGE.read_text(encoding="utf-8"))) + text[end:], encoding="utf-8"
    )
