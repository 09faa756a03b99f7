"""A table of patients with text and blanks, and a model that `rfsc fit` made of it."""

from __future__ import annotations

import pytest

from rfsc._input.example_table import patients
from rfsc.cli import main

QUICK = ["--basis", "polynomial", "--restarts", "1", "--set", "max_iter=15", "--set", "n_models=40", "--cv", "2"]


@pytest.fixture(scope="session")
def hospital(tmp_path_factory):
    """A folder with patients.csv, new.csv and model.json."""
    folder = tmp_path_factory.mktemp("hospital")
    patients(160, 5).to_csv(folder / "patients.csv", index=False)
    patients(30, 6).to_csv(folder / "new.csv", index=False)
    line = ["fit", str(folder / "patients.csv"), "-t", "diagnosis", "--drop", "patient", *QUICK]
    assert main([*line, "-o", str(folder / "model.json"), "--quiet"]) == 0
    return folder


@pytest.fixture
def refused(capsys):
    """The sentence with which a command ends in an error."""

    def run(*arguments, status=1, lines=1):
        capsys.readouterr()
        assert main([str(argument) for argument in arguments]) == status
        found = capsys.readouterr()
        assert found.out == ""
        assert "Traceback" not in found.err
        said = found.err.partition("rfsc: ")[2]
        assert said.count("\n") == lines
        return said

    return run
