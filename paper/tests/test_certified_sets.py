"""Certificates of the paper's sets: kept in a folder, and summed up in a table."""

from __future__ import annotations

from paper import certified_sets
from paper.certified_sets import certificate_of, section


def test_certificates_are_kept_and_summed_up(monkeypatch, tmp_path):
    monkeypatch.setattr(certified_sets, "N_PAIRS", 1)
    monkeypatch.setattr(certified_sets, "SETS", ("Iris",))
    found = certificate_of("Iris", tmp_path, 1)
    assert found.settings.n_halves == 2
    monkeypatch.setattr(certified_sets, "certify", None)  # not asked again
    assert certificate_of("Iris", tmp_path, 1).text() == found.text()
    text = section(tmp_path, n_jobs=1)
    assert f"| Iris | 150 | {found.score.auc:.3f} |" in text


def test_long_lists_are_cut():
    assert certified_sets._named(()) == "none"
    assert certified_sets._named(("a | b", "c")) == "a / b, c"
    assert certified_sets._named(tuple("abcdef")) == "a, b, c, d, and 2 more"
