"""`rfsc fit` on tables larger than memory: Parquet files that Dask reads in chunks."""

from __future__ import annotations

import json
import re
import signal

import numpy as np
import pandas as pd
import pytest

from rfsc._input.training_data import is_larger_than_memory
from rfsc.cli import fit_command, main
from rfsc.export import from_json

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
QUICK = ["--basis", "polynomial", "--restarts", "1", "--set", "max_iter=4", "--set", "n_models=40", "--quiet"]
N = 1200


@pytest.fixture
def little_memory(monkeypatch):
    """Every Parquet file is larger than memory, and a sample has fewer rows than the table."""
    monkeypatch.setattr("rfsc._input.training_data.IN_MEMORY_SHARE", 0.0)
    monkeypatch.setattr("rfsc._fit.large_tables.MAX_SAMPLE_ROWS", 600)


def numbers(n_rows, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 15))
    y = X[:, 0] - X[:, 1] * X[:, 2] + 0.5 * rng.logistic(size=n_rows) > 0
    return np.column_stack([X, y])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """One table as a file, and as a folder of files; and tables that are refused."""
    folder = tmp_path_factory.mktemp("large")
    values = numbers(N)
    frame = pd.DataFrame(values[:, :15], columns=[f"f{j}" for j in range(15)])
    frame["flag"] = frame["f3"] > 0
    frame["out"] = np.where(values[:, 15] > 0, "yes", "no")
    frame.to_parquet(folder / "whole.parquet", row_group_size=500)
    (folder / "pieces").mkdir()
    for number in range(3):
        frame.iloc[400 * number : 400 * (number + 1)].to_parquet(folder / "pieces" / f"{number}.parquet")
    odd = frame.assign(year=np.arange(N) % 40, rare=np.minimum(np.arange(N) // 2, 2), same=1, ID=np.arange(N) + 10_000)
    odd["some"], odd["much"] = odd["f1"].mask(odd.index.isin([3, 700])), odd["f0"].mask(odd.index == 5, np.inf)
    odd.assign(name="someone").to_parquet(folder / "odd.parquet")
    frame.assign(out=None).to_parquet(folder / "unlabelled.parquet")
    frame.to_parquet(folder / "damaged.parquet")
    with open(folder / "damaged.parquet", "r+b") as file:
        file.seek(20_000)
        file.write(bytes(range(256)) * 40)
    return folder


def model_of(path, out, *options):
    assert main(["fit", str(path), *options, *QUICK, "--force", "-o", str(out)]) == 0
    return from_json(out.read_text()).models_[0]


@pytest.mark.slow
@pytest.mark.usefixtures("little_memory")
def test_file_and_folder_give_the_same_model_which_can_be_verified(folder, tmp_path, capsys):
    first, second = (
        model_of(folder / name, tmp_path / f"{name}.json", "-t", "out", "--cv", "0")
        for name in ("pieces", "whole.parquet")
    )
    assert first.names == second.names
    np.testing.assert_allclose(first.coef, second.coef, rtol=1e-8)
    assert first.n_observations == N
    capsys.readouterr()
    assert main(["verify", str(tmp_path / "pieces.json"), str(folder / "pieces"), "--quiet"]) == 0
    assert "identical" in capsys.readouterr().out
    assert main(["predict", str(tmp_path / "pieces.json"), str(folder / "pieces"), "--quiet"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == N + 1


@pytest.mark.usefixtures("little_memory")
def test_a_score_on_held_out_rows(folder, tmp_path, capsys):
    line = ["fit", str(folder / "whole.parquet"), "-t", "out", *QUICK, "-o", str(tmp_path / "m.json")]
    assert main([*line, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["classes"] == ["no", "yes"]
    assert found["manifest"]["data"]["rows"] == N
    ours, majority = (one["accuracy"]["mean"] for one in found["score"]["methods"].values())
    assert ours > majority
    assert 0.1 * N < found["score"]["n_rows"] < 0.3 * N


@pytest.mark.usefixtures("little_memory")
def test_signs_hold_on_all_rows(folder, tmp_path):
    options = ("-t", "out", "--cv", "0", "--decreasing", "f0", "--increasing", "f3")
    model = model_of(folder / "whole.parquet", tmp_path / "m.json", *options)
    assert not {"f0", "f0^2"} & set(model.names)  # its odds rise
    for name, coef in zip(model.names, model.coef, strict=True):
        assert coef >= 0 or "f3" not in name.split("*")


NOT_NUMBERS = ("--drop", "name", "--drop", "ID")


@pytest.mark.usefixtures("little_memory")
@pytest.mark.parametrize(
    ("words", "file", "options", "status"),
    [
        ("must hold numbers only, but 'name' .* is of another type. Use --drop", "odd.parquet", (), 1),
        ("may be an identifier", "odd.parquet", ("--drop", "name", "--drop", "some", "--drop", "much"), 1),
        ("no column 'outt'. Did you mean 'out'", "whole.parquet", ("-t", "outt"), 1),
        ("--report needs the table in memory", "whole.parquet", ("--report", "r.html"), 2),
        ("--cv needs the table in memory", "whole.parquet", ("--cv", "5"), 2),
        ("more than 1,000 labels", "whole.parquet", ("-t", "f2", "--drop", "out"), 1),
        ("'year' holds 40 different numbers", "odd.parquet", ("-t", "year", "--drop", "out", *NOT_NUMBERS), 1),
        ("2 of the 3 classes in the target 'rare'", "odd.parquet", ("-t", "rare", "--drop", "out", *NOT_NUMBERS), 1),
        ("a single class", "odd.parquet", ("-t", "same", "--drop", "out", *NOT_NUMBERS), 1),
        (r"in 'some' \(2 rows\) and 'much' \(1 row\). .*--drop", "odd.parquet", NOT_NUMBERS, 1),
        ("only blanks", "unlabelled.parquet", (), 1),
        ("no column 'f99'", "whole.parquet", ("--increasing", "f99"), 1),
        ("'f2' is dropped .--drop.", "whole.parquet", ("--increasing", "f2", "--drop", "f2"), 1),
        ("damaged.parquet: a part of it cannot be read", "damaged.parquet", (), 1),
    ],
)
def test_refusals(folder, words, file, options, status, capsys):
    assert main(["fit", str(folder / file), "-t", "out", *QUICK, *options]) == status
    found = capsys.readouterr().err
    assert "Traceback" not in found
    assert re.search(words, " ".join(found.split()))


@pytest.mark.usefixtures("little_memory")
def test_rows_without_a_class_are_dropped(folder, tmp_path, capsys):
    frame = pd.read_parquet(folder / "whole.parquet")
    frame.assign(out=frame["out"].mask(frame.index < 3).where(frame.index > 3, "?")).to_parquet(tmp_path / "t.parquet")
    options = [option for option in QUICK if option != "--quiet"]
    assert main(["fit", str(tmp_path / "t.parquet"), "-t", "out", "--cv", "0", *options]) == 0
    found = " ".join(capsys.readouterr().err.split())
    assert f"t.parquet: {N - 4:,} rows, 16 features; larger than memory" in found
    assert "dropped 4 rows without a value of 'out'" in found


@pytest.mark.usefixtures("little_memory")
def test_ctrl_c_while_scoring_saves_the_model(folder, tmp_path, capsys, monkeypatch):
    def press(*_):
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(fit_command.fit_score, "held_out_score", press)
    line = ["fit", str(folder / "whole.parquet"), "-t", "out", *QUICK, "-o", str(tmp_path / "m.json")]
    assert main(line) == 130
    assert (tmp_path / "m.json").exists()
    assert "the model has no score" in capsys.readouterr().err


def test_the_size_of_a_file_decides(folder, tmp_path):
    n_bytes = N * 16 * 8
    for name in ("whole.parquet", "pieces"):  # 17 columns, one of text and one of truth values
        assert is_larger_than_memory(str(folder / name), memory=2 * n_bytes)
        assert not is_larger_than_memory(str(folder / name), memory=8 * n_bytes)
    (tmp_path / "t.csv").write_text("a,b\n" + "1,2\n" * 100)
    (tmp_path / "t.parquet").write_bytes(b"PAR1 but nothing else")
    for name in ("t.csv", "t.parquet", "none.parquet"):  # the reader of small tables reports what is wrong
        assert not is_larger_than_memory(str(tmp_path / name), memory=1)
