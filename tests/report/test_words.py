"""Numbers and lists as a reader expects them."""

from __future__ import annotations

import pytest

from rfsc.report.words import fixed, listed, number, p_value, percent, plural, points


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.0, "0 %"),
        (0.0004, "<0.1 %"),
        (0.004, "0.4 %"),
        (0.5, "50 %"),
        (0.992, "99.2 %"),
        (0.99999, ">99.9 %"),
        (1.0, "100 %"),
    ],
)
def test_shares_are_never_rounded_to_nothing_or_all(share, text):
    assert percent(share) == text


def test_lists():
    assert listed([]) == ""
    assert listed(["a"]) == "a"
    assert listed(["a", "b", "c"]) == "a, b and c"
    assert listed(["a", "b"], more=3) == "a, b and 3 more"
    assert listed(["a", "b"], more=-1) == "a and b"


def test_numbers():
    assert number(-0.00012345) == "−0.0001234"
    assert number(None) == number(float("nan")) == p_value(None) == fixed(None) == "–"
    assert p_value(3e-9) == "<0.0001"
    assert p_value(0.0321) == "0.032"
    assert fixed(0.5) == "0.500"
    assert points(0.0134) == "1.3 points"
    assert points(None) == "unknown"
    assert plural(1, "row") == "1 row"
    assert plural(12345, "row") == "12,345 rows"
    assert plural(2, "search", "searches") == "2 searches"
