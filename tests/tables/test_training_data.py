"""From a raw table to features and labels."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rfsc._tables.example_table import patients
from rfsc._tables.table_files import RawTable
from rfsc._tables.training_data import ColumnChoice, LeakError, training_table


def table(**changes):
    return RawTable(patients(120, 1).assign(**changes), "patients.csv")


def test_example():
    training = training_table(table(), "diagnosis", ColumnChoice(drop=["patient"]))
    assert training.dropped == {"patient": "--drop", "country": "the same value everywhere"}
    assert training.encoder.kinds == dict.fromkeys(
        ["age", "body mass", "CRP", "haemoglobin"], "number"
    ) | dict.fromkeys(["sex", "smokes", "ward"], "text")
    assert set(training.y) == {"sick", "healthy"}
    assert training.X.shape == (120, 7)


def test_identifiers_must_be_decided_on():
    copy = patients(120, 1)["diagnosis"].map({"sick": "1", "healthy": "0"})
    with pytest.raises(LeakError) as caught:
        training_table(table(copy=copy), "diagnosis")
    assert list(caught.value.reasons) == ["patient", "copy"]
    training = training_table(table(copy=copy), "diagnosis", ColumnChoice(drop=["patient"], keep=["copy"]))
    assert "copy" in training.X


def test_only():
    training = training_table(table(), "diagnosis", ColumnChoice(only=["age", "sex"]))
    assert list(training.X.columns) == ["age", "sex"]
    assert training.dropped["CRP"] == "--only"


def test_rows_without_a_label():
    labels = patients(120, 1)["diagnosis"].where(np.arange(120) >= 7, "")
    training = training_table(table(diagnosis=labels), "diagnosis", ColumnChoice(drop=["patient"]))
    assert (training.n_unlabelled, len(training.y), len(training.X)) == (7, 113, 113)


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        ([str(x) for x in np.linspace(0, 1, 120)], "120 different numbers, but this is a classifier"),
        (["sick"] * 120, "a single class"),
        ([""] * 120, "only blanks"),
        (
            ["a", "b"] * 58 + ["c", "c", "d", "e"],
            "3 of the 5 classes in the target 'diagnosis' have fewer (the smallest 1)",
        ),
        (["a"] * 118 + ["b"] * 2, "1 of the 2 classes in the target 'diagnosis' has fewer (the smallest 2)"),
    ],
)
def test_bad_targets(labels, words):
    with pytest.raises(ValueError, match=r"\w") as caught:
        training_table(table(diagnosis=labels), "diagnosis", ColumnChoice(drop=["patient"]))
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("target", "options", "words"),
    [
        ("diagnose", {}, "patients.csv has no column 'diagnose'. Did you mean 'diagnosis'?"),
        ("zzz", {}, "no column 'zzz'. None of its 10 columns has a similar name; is there a header row?"),
        ("crp", {}, "no column 'crp'. Did you mean 'CRP'?"),
        ("diagnosis", {"number": ["Age"]}, "no column 'Age'. Did you mean 'age'?"),
        ("diagnosis", {"number": ["ward"], "drop": ["patient"]}, "'ward' holds no number"),
        ("diagnosis", {"drop": ["Patient"]}, "no column 'Patient'. Did you mean 'patient'?"),
        ("diagnosis", {"only": ["country"]}, "no column is left to learn from"),
    ],
)
def test_bad_names(target, options, words):
    with pytest.raises(ValueError, match=r"\w") as caught:
        training_table(table(), target, ColumnChoice(**options))
    assert words in str(caught.value)


def test_a_table_without_a_header_does_not_show_its_first_row():
    frame = patients(120, 1).set_axis(
        ["P55221", "71", "male", "never", "22.1", "9.9", "14", "east", "NL", "sick"], axis=1
    )
    with pytest.raises(ValueError, match="None of its 10 columns") as caught:
        training_table(RawTable(frame, "t.csv"), "diagnosis")
    assert not any(str(name) in str(caught.value) for name in frame.columns if name != "71")


def nearly(share):
    """Ages of which only a share is written as numbers; few enough different ones to be no identifier."""
    ages = np.arange(120) % 30
    return [str(age) if i < share * 120 else f"about {age}" for i, age in enumerate(ages)]


def test_a_table_with_another_delimiter():
    frame = pd.DataFrame({"age|CRP|diagnosis": ["52|1.5|sick"] * 20})
    with pytest.raises(
        ValueError, match=r"no column 'diagnosis'. It has a single column: .* commas, semicolons or tabs"
    ):
        training_table(RawTable(frame, "t.csv"), "diagnosis")


@pytest.mark.parametrize(("share", "found"), [(0.6, False), (0.75, True), (0.9, True), (0.95, False)])
def test_text_columns_with_many_numbers_are_reported(share, found):
    training = training_table(table(age=nearly(share)), "diagnosis", ColumnChoice(drop=["patient"]))
    assert training.nearly_numbers == ({"age": pytest.approx(share, abs=0.01)} if found else {})
    training = training_table(table(age=nearly(share)), "diagnosis", ColumnChoice(drop=["patient"], number=["age"]))
    encoder = training.encoder.fit(training.X)
    n_other = 120 - round(share * 120)
    assert encoder.columns_.doubtful[0] == f"{n_other} cells without a number count as blank"
    assert encoder.transform(training.X)["age"][:70].tolist() == [float(age % 30) for age in range(70)]


def test_post_codes_are_not_reported_as_numbers():
    codes = [f"{i % 10:02d}" if i < 100 else "abroad" for i in range(120)]
    assert training_table(table(code=codes), "diagnosis", ColumnChoice(drop=["patient"])).nearly_numbers == {}


def test_numbers_that_look_like_free_text():
    cells = [f"{i}.5" if i % 5 else f"~{i}" for i in range(120)]
    with pytest.raises(LeakError) as caught:
        training_table(table(CRP=cells), "diagnosis", ColumnChoice(drop=["patient"]))
    assert caught.value.reasons["CRP"].endswith("80% of its cells are numbers: --number reads them as such")


def test_dates_cannot_be_kept():
    with pytest.raises(ValueError, match="dates are not numbers"):
        training_table(
            table(day=["2020-01-02"] * 60 + ["2021-01-02"] * 60),
            "diagnosis",
            ColumnChoice(drop=["patient"], keep=["day"]),
        )


def test_targets_of_other_types():
    frame = patients(120, 1)
    for labels in (frame["diagnosis"] == "sick", (frame["diagnosis"] == "sick").astype(int).astype(float)):
        training = training_table(
            RawTable(frame.assign(diagnosis=labels), "t"), "diagnosis", ColumnChoice(drop=["patient"])
        )
        assert set(training.y) in ({"True", "False"}, {"0", "1"})


def test_example_is_the_same_every_time():
    pd.testing.assert_frame_equal(patients(50, 3), patients(50, 3))
    assert not patients(50, 3).equals(patients(50, 4))
