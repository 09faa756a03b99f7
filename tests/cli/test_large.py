"""`rfsc fit --engine dask`: tables that memory cannot hold."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from pkgutil import resolve_name

import numpy as np
import pandas as pd
import pytest

from rfsc.cli import main
from rfsc.export import from_json

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
QUICK = ["--basis", "polynomial", "--restarts", "1", "--set", "max_iter=4", "--set", "n_models=40", "--quiet"]
N = 1200

# the peak is taken above what Python, its packages and the compiled kernels need: a small fit has loaded all of it
MEASURED = """
import sys, threading, time
from pathlib import Path
from rfsc.cli import main

def resident():
    return 1024 * int(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmRSS")))

peak = [0]
def watch():
    while True:
        peak[0] = max(peak[0], resident())
        time.sleep(0.002)

small, large, model = sys.argv[1:4]
options = ["-t", "x15", "--engine", "dask", "--cv", "0", "--jobs", "1", "--force", "-o", model, *sys.argv[4:]]
assert main(["fit", small, *options]) == 0
before = peak[0] = resident()
threading.Thread(target=watch, daemon=True).start()
assert main(["fit", large, *options]) == 0
Path(model + ".peak").write_text(str(peak[0] - before))
"""


def numbers(n_rows, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 15))
    y = X[:, 0] - X[:, 1] * X[:, 2] + 0.5 * rng.logistic(size=n_rows) > 0
    return np.column_stack([X, y])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """One table as a file, as a folder of files, and as an array."""
    folder = tmp_path_factory.mktemp("large")
    values = numbers(N)
    frame = pd.DataFrame(values[:, :15], columns=[f"f{j}" for j in range(15)])
    frame["flag"] = frame["f3"] > 0
    frame["out"] = np.where(values[:, 15] > 0, "yes", "no")
    frame.to_parquet(folder / "whole.parquet", row_group_size=500)
    (folder / "pieces").mkdir()
    for number in range(3):
        frame.iloc[400 * number : 400 * (number + 1)].to_parquet(folder / "pieces" / f"{number}.parquet")
    np.save(folder / "values.npy", values)
    frame.assign(name="someone").to_parquet(folder / "text.parquet")
    frame.assign(ID=np.arange(N) + 10_000).to_parquet(folder / "identifier.parquet")
    return folder


def model_of(path, *options):
    out = path.with_suffix(".json")
    assert main(["fit", str(path), *options, *QUICK, "--force", "-o", str(out)]) == 0
    return from_json(out.read_text()).models_[0]


def test_same_model_as_from_memory(folder, capsys):
    here = model_of(folder / "whole.parquet", "-t", "out", "--cv", "0", "--set", "max_samples=300")
    for name in ("pieces", "whole.parquet"):
        options = ("-t", "out", "--engine", "dask", "--cv", "0", "--set", "max_samples=300")
        there = model_of(folder / name, *options)
        assert there.names == here.names
        np.testing.assert_allclose(there.coef, here.coef, rtol=1e-8)
    assert main(["verify", str(folder / "whole.json"), str(folder / "whole.parquet"), "--quiet"]) == 0
    assert "identical" in capsys.readouterr().out


def test_arrays_and_a_score_on_rows_left_out(folder, capsys):
    out = folder / "array.json"
    line = ["fit", str(folder / "values.npy"), "-t", "x15", "--engine", "dask", *QUICK, "--force", "-o", str(out)]
    assert main([*line, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["classes"] == ["0", "1"]
    assert said["manifest"]["engine"] == "dask"
    assert said["manifest"]["data"]["rows"] == N
    ours, others = (one["accuracy"]["mean"] for one in said["score"]["methods"].values())
    assert ours > others
    assert 0.1 * N < said["score"]["n_rows"] < 0.3 * N
    fresh = pd.DataFrame(numbers(300, seed=1), columns=[f"x{j}" for j in range(16)])
    told = from_json(out.read_text()).predict(fresh.drop(columns="x15"))
    assert np.mean(told == fresh["x15"].astype(int).astype(str)) > 0.7


@pytest.mark.parametrize(
    ("words", "file", "options", "status"),
    [
        ("numbers only.*'name'.*--drop", "text.parquet", (), 1),
        ("looks like an identifier", "identifier.parquet", (), 1),
        ("no column 'outt'.*Did you mean 'out'", "whole.parquet", ("-t", "outt"), 1),
        ("must be a Parquet file", "whole.csv", (), 1),
        ("no such file", "nowhere.parquet", (), 1),
        ("damaged", "damaged.parquet", (), 1),
        ("two dimensions", "flat.npy", (), 1),
        ("--report needs the table in memory", "whole.parquet", ("--report", "r.html"), 2),
        ("--cv needs the table in memory", "whole.parquet", ("--cv", "5"), 2),
        ("no column 'out'. It has 16 columns, .* from 'x0' to 'x15'", "values.npy", (), 1),
        ("no column 'nowhere'. It has 17 columns, none of a similar name", "whole.parquet", ("-t", "nowhere"), 1),
        ("1200 different numbers|more than 1000 different labels", "whole.parquet", ("-t", "f2", "--drop", "out"), 1),
        ("the target 'year' holds 40 different numbers", "odd.parquet", ("-t", "year", "--drop", "out"), 1),
        ("2 of the 3 classes in the target 'rare' have fewer", "odd.parquet", ("-t", "rare", "--drop", "out"), 1),
        ("a single class", "odd.parquet", ("-t", "same", "--drop", "out"), 1),
        (r"infinities in 'some' \(2 rows\), 'much' \(1 row\). .*--drop", "odd.parquet", (), 1),
        ("nothing but blanks", "empty.parquet", (), 1),
        ("got none, or a damaged one", "nothing", (), 1),
        ("'name' .str|object.", "text.parquet", (), 1),
        ("spoilt.parquet: a part of it cannot be read to its end", "spoilt.parquet", (), 1),
    ],
)
def test_what_cannot_be_done(folder, words, file, options, status, capsys):
    frame = pd.read_parquet(folder / "whole.parquet")
    odd = frame.assign(year=np.arange(N) % 40, rare=np.minimum(np.arange(N) // 2, 2), same=1)
    odd["some"], odd["much"] = odd["f1"].mask(odd.index.isin([3, 700])), odd["f0"].mask(odd.index == 5, np.inf)
    odd.to_parquet(folder / "odd.parquet")
    frame.iloc[:0].to_parquet(folder / "empty.parquet")
    frame.to_parquet(folder / "spoilt.parquet")
    with open(folder / "spoilt.parquet", "r+b") as spoilt:
        spoilt.seek(20_000)
        spoilt.write(bytes(range(256)) * 40)
    (folder / "nothing").mkdir(exist_ok=True)
    (folder / "whole.csv").write_text("a,out\n1,x\n")
    (folder / "damaged.parquet").write_bytes(b"PAR1 but nothing else")
    np.save(folder / "flat.npy", np.arange(5.0))
    line = ["fit", str(folder / file), "-t", "out", "--engine", "dask", *QUICK, *options]
    assert main(line) == status
    said = capsys.readouterr().err
    assert "Traceback" not in said
    assert re.search(words, " ".join(said.split()))


def test_the_table_is_told_of(folder, capsys, monkeypatch):
    frame = pd.read_parquet(folder / "whole.parquet")
    (folder / "gaps").mkdir()
    frame.assign(out=frame["out"].mask(frame.index < 3)).to_parquet(folder / "gaps" / "one.parquet")
    monkeypatch.chdir(folder / "gaps")
    told = [option for option in QUICK if option != "--quiet"]
    assert main(["fit", ".", "-t", "out", "--engine", "dask", "--cv", "0", *told]) == 0
    said = " ".join(capsys.readouterr().err.split())
    assert f"gaps: {N - 3} rows in 1 part, 17 columns, 16 of them features" in said
    assert "3 rows without a out were dropped" in said
    assert "without --engine dask it is fitted faster" in said


def test_stdin_is_refused(capsys):
    assert main(["fit", "-", "-t", "out", "--engine", "dask", *QUICK]) == 1
    assert "cannot read stdin" in capsys.readouterr().err


def test_what_it_was_fitted_to_is_read_by_other_commands(folder, capsys):
    options = ("--engine", "dask", "--cv", "0")
    model_of(folder / "values.npy", "-t", "x15", *options)
    model_of(folder / "pieces", "-t", "out", *options)
    capsys.readouterr()
    for table, model in (("values.npy", "values.json"), ("pieces", "pieces.json")):
        assert main(["predict", str(folder / model), str(folder / table), "--quiet"]) == 0
        assert len(capsys.readouterr().out.splitlines()) == N + 1


@pytest.mark.parametrize("where", ["rfsc.RFSCClassifier._filter", "rfsc.cli.large.left_out_score"])
def test_ctrl_c_saves_the_model_and_says_so(folder, tmp_path, capsys, monkeypatch, where):
    module, _, name = where.rpartition(".")
    work = getattr(resolve_name(module), name)

    def press(*arguments):
        signal.raise_signal(signal.SIGINT)
        return work(*arguments)

    monkeypatch.setattr(where, press)
    told = [option for option in QUICK if option != "--quiet"]
    line = ["fit", str(folder / "whole.parquet"), "-t", "out", "--engine", "dask", *told]
    assert main([*line, "-o", str(tmp_path / "part.json")]) == 130
    said = capsys.readouterr().err
    assert (tmp_path / "part.json").exists()
    assert "the model is not scored" in said
    assert "no file was changed" not in said


def test_a_model_of_blocks_is_verified_by_a_table_in_memory(folder, capsys):
    model_of(folder / "whole.parquet", "-t", "out", "--engine", "dask", "--cv", "0")
    pd.read_parquet(folder / "whole.parquet").to_csv(folder / "same.csv", index=False)
    line = ["verify", str(folder / "whole.json"), str(folder / "same.csv"), "--quiet", "--tolerance", "1e-8"]
    assert main(line) == 0
    assert "identical" in capsys.readouterr().out


def test_memory_stays_below_the_size_of_the_table(tmp_path):
    small, large, model = (str(tmp_path / name) for name in ("small.npy", "large.npy", "model.json"))
    np.save(small, numbers(3000))
    np.save(large, numbers(600_000))
    options = [*QUICK, "--set", "max_samples=500", "--set", "max_iter=2"]
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, small, large, model, *options], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]
    size = (tmp_path / "large.npy").stat().st_size
    assert int((tmp_path / "model.json.peak").read_text()) < 0.9 * size
