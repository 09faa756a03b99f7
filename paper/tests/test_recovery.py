"""The bar under the table of planted polynomials."""

from __future__ import annotations

import pytest

from paper import recovery as module
from paper.recovery import recovery_section


@pytest.mark.parametrize(("others", "line"), [(1, "met (1.00)"), (2, "**MISSED** (2.00)")])
def test_bar_is_about_the_default_from_500_rows_on(monkeypatch, others, line):
    def found(n, noise, seed, setting):
        return 1.0, others if setting == "default" and n >= 500 else 9, False

    monkeypatch.setattr(module, "recovery", found)
    text = recovery_section(1)
    assert text.splitlines()[-1] == f"- default: at most 1 other term on average from 500 samples on: {line}"
