"""The progress bar: it ends at the end, and says what was there already."""

from __future__ import annotations

import io
import re
from contextlib import redirect_stderr

from hypothesis import given
from hypothesis import strategies as st

from rfsc.cli.bar import Bar


@given(st.lists(st.floats(1e-3, 150.0), min_size=1, max_size=30), st.permutations(range(30)))
def test_bar_ends_at_the_end(costs, order):
    """Costs come back in another order than that of the sum; neither a warning nor a negative time may follow."""
    stream = io.StringIO()
    with redirect_stderr(stream):
        bar = Bar()
        bar._QUIET = 0.0
        bar.start(sum(costs), 0)
        for k in [k for k in order if k < len(costs)]:
            bar.advance(costs[k], "KNN on Iris")
        bar.close()
    last = re.split(r"[\r\n]+", stream.getvalue().strip())[-1]
    assert last.startswith("100%")
    assert "-" not in last.split("gone")[1].split("left")[0]


def test_bar_says_what_is_there_already(capsys):
    bar = Bar()
    bar.start(0, 7)
    bar.close()
    assert capsys.readouterr().err == "7 folds are there already\n"
