"""Other settings under the paper's optimistic protocol."""

from __future__ import annotations

from paper import optimistic as module
from paper.methods import Method
from paper.optimistic import optimistic_section
from rfsc import RFSCClassifier


def test_section_and_resumption(counted, monkeypatch, tmp_path):
    quick = {f"level {level}": RFSCClassifier("polynomial", n_restarts=2, significance=level) for level in (0.05, 0.01)}
    methods = {n: Method(name=n, make=lambda _, clf=clf: clf, kind="rfsc") for n, clf in quick.items()}
    monkeypatch.setattr(module, "VARIANTS", quick)
    monkeypatch.setattr(module, "METHODS", methods)
    text = optimistic_section(tmp_path, n_jobs=1, sets=("Iris", "Wine"), n_folds=1)
    assert "| printed | 0.967 (6.1) | 0.994 (7.5) |" in text
    assert [line.split(" | ")[0] for line in text.splitlines()[-2:]] == ["| level 0.05", "| level 0.01"]
    assert optimistic_section(tmp_path, n_jobs=1, sets=("Iris", "Wine"), n_folds=1) == text
    assert len(counted) == 4
    assert {task.seed for task in counted} == {module.SEED}
