"""Score cards beside FasterRisk: folds that are kept, and the table."""

from __future__ import annotations

import csv

from paper import cards
from paper.cards import Outcome, run, section


def test_a_fold_of_steps_and_its_cards():
    found = cards.outcomes_of("WDBC", 0, "step")
    assert [one.method for one in found] == ["formula, step", "card, step, 10 points", "card, step, 5 points"]
    assert all(0 < one.log_loss < 0.5 < one.auc <= 1 and one.n_rows for one in found)


def test_finished_folds_are_not_measured_again(tmp_path, monkeypatch):
    path, asked = tmp_path / "folds.csv", []

    def measured(data, fold, kind):
        asked.append((data, fold, kind))
        method = "FasterRisk, 8 conditions" if kind == "FasterRisk" else f"card, {kind}, 5 points"
        return [Outcome(data, fold, method, 0.25 if kind == "rule" else 0.5, 0.75, 3)]

    monkeypatch.setattr(cards, "outcomes_of", measured)
    monkeypatch.setattr(cards, "two_class_sets", lambda: ["Bupa", "WDBC"])
    first = run(path, 2, 1)
    n_asked = len(asked)
    assert run(path, 2, 1) == first
    assert len(asked) == n_asked
    assert {one.fold for one in run(path, 1, 1)} == {0}
    with path.open(newline="") as file:
        assert len(list(csv.reader(file))) == n_asked
    text = section(first)
    assert text.startswith("| log-loss / AUC / rows | Bupa | WDBC |")
    assert text.count("**0.250** / 0.750 / 3") == 2
    assert "Means over 2 of ten" in text


def test_only_sets_with_two_classes():
    assert sorted(cards.two_class_sets()) == ["Bupa", "Ionosphere", "Sonar", "WDBC"]
