"""Whatever happens to the file of a checkpoint: refused in a sentence, or warned of once; the fit is never lost."""

from __future__ import annotations

import pytest
from benchmarks.torture.checkpoints import (
    DAMAGES,
    OTHERS,
    PLACES,
    damage_fault,
    finished,
    half_a_fit,
    other_fit_fault,
    other_version_fault,
    place_fault,
)
from benchmarks.torture.kills import kill_and_resume

from rfsc._search.checkpoint import CheckpointError

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", DAMAGES)
def test_damaged_files_are_refused(name, tmp_path):
    assert damage_fault(name, tmp_path) is None


@pytest.mark.parametrize("name", OTHERS)
def test_other_fits_are_refused(name, tmp_path):
    assert other_fit_fault(name, tmp_path) is None


def test_other_versions_are_refused(tmp_path):
    assert other_version_fault(tmp_path) is None


def test_a_folder_in_its_place_is_refused(tmp_path):
    with pytest.raises(CheckpointError, match="cannot be read"):
        finished(tmp_path)


@pytest.mark.parametrize("name", PLACES)
def test_where_nothing_can_be_written_the_fit_goes_on(name, tmp_path):
    expected, _ = finished(None)
    place = place_fault(name, tmp_path, expected)
    assert place.fault is None
    if not place.tried:
        pytest.skip("needs an administrator")


def test_what_is_whole_is_taken_up(tmp_path):
    """Refusals are not the answer to everything."""
    path = tmp_path / "fit.checkpoint"
    half_a_fit(path)
    assert finished(path) == finished(None)


def test_parts_that_a_kill_has_left_do_no_harm_and_are_removed(tmp_path):
    path = tmp_path / "fit.checkpoint"
    half_a_fit(path)
    whole = path.read_bytes()
    (tmp_path / ".fit.checkpoint.abcdefgh.part").write_bytes(whole[: len(whole) // 2])
    (tmp_path / ".fit.checkpoint.12345678.part").write_bytes(b"\xff\x00")
    others = {".fit.checkpoint.other.abcdefgh.part", ".fit.abcdefgh.part", "fit.checkpoint.part"}
    for name in others:
        (tmp_path / name).touch()
    assert finished(path) == finished(None)
    assert {file.name for file in tmp_path.iterdir()} == {"fit.checkpoint", *others}


@pytest.mark.parametrize(("n_kills", "aimed"), [(2, False), (1, True)], ids=["at any moment", "in a write"])
def test_kills(n_kills, aimed):
    found = kill_and_resume("quick", n_kills, 0, aimed=aimed)
    assert (found.in_writes if aimed else found.kills) == n_kills
    assert found.lost == found.wrong == 0
