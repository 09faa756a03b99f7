"""`rfsc bench`: how fast models are fitted on this machine, beside scikit-learn."""

from __future__ import annotations

from dataclasses import asdict

from .console import Voice, plain, show, show_json, text_table
from .options import Json, Quiet

NAME = "bench"


def command(quiet: Quiet = False, as_json: Json = False) -> None:
    """Measure how many small models are fitted in a second, beside a loop over scikit-learn.

    On the breast-cancer data, with products of two features, on one core; takes some seconds. Everyone fits the same
    random models and is judged by the best of three turns.
    """
    from ..experiments.fit_speed import SIZES, fit_speeds

    voice, found = Voice(quiet=quiet), []
    with voice.working("measuring") as tell:
        for speed in fit_speeds():
            found.append(speed)
            tell(f"measuring, {len(found)} of {len(SIZES)} sizes done")
    if as_json:
        show_json([asdict(speed) | {"ratio": speed.one_fit / speed.sklearn} for speed in found])
        return
    rows = [
        [
            f"{speed.size}",
            f"{speed.one_fit:,.0f}",
            f"{speed.sklearn:,.0f}",
            f"{speed.one_fit / speed.sklearn:.0f} times",
            f"{speed.full:,.0f}",
        ]
        for speed in found
    ]
    headers = ["terms", "rfsc, one fit", "scikit-learn", "faster by", "rfsc, full evaluation"]
    show("Models fitted per second, one core, 569 rows:\n" + plain(text_table(headers, rows)))
    worst = max(speed.difference for speed in found)
    show(
        "One fit comes with t-values, which scikit-learn's does not; a full evaluation tests, prunes, refits and\n"
        f"scores on left-out rows. Predicted probabilities of both agree within {worst:.1g}."
    )
