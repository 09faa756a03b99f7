"""Counts, lists and numbers as text."""

from __future__ import annotations

import pytest

from rfsc._utils.words import fixed, listed, number, p_value, percent, plural


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
def test_shares_are_never_rounded_to_0_or_100_percent(share, text):
    assert percent(share) == text


def test_long_lists_end_in_a_count():
    assert listed([]) == ""
    assert listed(["a"]) == "a"
    assert listed(["a", "b", "c"]) == "a, b and c"
    assert listed(["a", "b", "c", "d", "e"], 2) == "a, b and 3 more"
    assert listed(["a", "b"], 3) == "a and b"


def test_missing_numbers_are_dashes_and_nouns_follow_their_count():
    assert number(-0.00012345) == "−0.0001234"
    assert number(None) == number(float("nan")) == p_value(None) == fixed(None) == "–"
    assert p_value(3e-9) == "<0.0001"
    assert p_value(0.0321) == "0.032"
    assert fixed(0.5) == "0.500"
    assert plural(1, "row") == "1 row"
    assert plural(12345, "row") == "12,345 rows"
    assert plural(2, "search", "searches") == "2 searches"
