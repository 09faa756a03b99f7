"""From a raw table to features and labels."""

from __future__ import annotations

import datetime
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from rfsc._input.column_checks import check_names
from rfsc._input.example_table import patients
from rfsc._input.table_files import RawTable
from rfsc._input.training_data import ColumnChoice, LeakError, training_table

WHOLE = {name: [str(v % 40) for v in range(120)] for name in ("body mass", "CRP", "haemoglobin")}  # without decimals


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


def test_a_word_of_a_name_is_enough_to_suggest_it():
    for wanted, advice in (("alter", "Did you mean 'Alter (Jahre)'"), ("123", "None of"), ("ja", "None of")):
        with pytest.raises(ValueError, match=re.escape(advice)):
            check_names(["Alter (Jahre)", "0.123 mg in a cell", "ja bitte"], [wanted], "x.csv")


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


@pytest.mark.parametrize(("share", "found"), [(0.04, False), (0.3, True), (0.75, True), (0.9, True), (0.95, False)])
def test_text_columns_with_many_numbers_are_reported(share, found):
    training = training_table(table(age=nearly(share)), "diagnosis", ColumnChoice(drop=["patient"]))
    assert training.nearly_numbers == ({"age": pytest.approx(share, abs=0.01)} if found else {})
    choice = ColumnChoice(drop=["patient"], number=["age"], keep=["age"])
    training = training_table(table(age=nearly(share)), "diagnosis", choice)
    encoder = training.encoder.fit(training.X)
    n_numbers = round(share * 120)
    assert encoder.columns_.doubtful[0] == f"{120 - n_numbers} cells without a number count as blank"
    found = encoder.transform(training.X)["age"][:n_numbers].tolist()
    assert found == [float(age % 30) for age in range(n_numbers)]


def test_few_different_numbers_beside_text_are_levels():
    grades = [str(i % 9) if i % 2 else f"grade {i % 8}" for i in range(120)]
    assert training_table(table(grade=grades), "diagnosis", ColumnChoice(drop=["patient"])).nearly_numbers == {}


def test_commas_that_may_be_decimal():
    rng = np.random.default_rng(0)
    cells = [f"{v:.3f}".replace(".", ",") for v in rng.uniform(1, 100, 120)]
    choice = ColumnChoice(drop=["patient"], keep=["x"])
    assert training_table(table(x=cells), "diagnosis", choice).doubts == ()  # other columns have decimal points
    for decimal, kind in ((".", "number"), (None, "text")):
        raw = replace(table(x=cells, **WHOLE), decimal=decimal)
        training = training_table(raw, "diagnosis", choice)
        assert training.doubts == (
            "the commas of 'x' may be decimal or separate thousands. Pass --decimal , or --decimal . to say which",
        )
        assert training.nearly_numbers == {}
        assert training.encoder.kinds.get("x", kind) == kind
        for sign, factor in ((".", 1000.0), (",", 1.0)):
            told = training_table(raw, "diagnosis", replace(choice, decimal=sign))
            assert told.doubts == ()
            value = told.encoder.fit_transform(told.X)["x"].iloc[0]
            assert value == pytest.approx(factor * float(cells[0].replace(",", ".")))
    with pytest.raises(ValueError, match=r"1,234 in 'x' may be 1.234 or 1234. Pass --decimal"):
        training_table(raw, "diagnosis", replace(choice, number=["x"]))


def test_commas_of_identifiers_that_may_be_decimal():
    cells = [f"{v},{100 + v}" for v in np.arange(100, 220)]
    with pytest.raises(LeakError) as caught:
        training_table(replace(table(x=cells, **WHOLE), decimal="."), "diagnosis", ColumnChoice(drop=["patient"]))
    assert caught.value.reasons["x"].endswith("; --decimal , reads its commas as decimal, --decimal . as thousands")


def test_classes_that_differ_in_case_or_spaces():
    labels = ["P", "p ", "Q", "q"] * 30
    doubts = training_table(table(diagnosis=labels), "diagnosis", ColumnChoice(drop=["patient"])).doubts
    assert doubts == (
        "the 4 classes of 'diagnosis' ('P', 'Q', 'p' and 'q') are 2 if capitals and spaces do not count. If they are "
        "the same, write them alike and fit again",
    )
    assert training_table(table(), "diagnosis", ColumnChoice(drop=["patient"])).doubts == ()


@pytest.mark.parametrize("role", ["group", "site", "time"])
def test_the_target_has_no_role(role):
    with pytest.raises(ValueError, match=f"--{role} names the target 'diagnosis'. Choose another column"):
        training_table(table(), "diagnosis", ColumnChoice(roles={role: "diagnosis"}))


def days(cells):
    """The times that a fit would use for these dates, as days since the first, and what it doubts."""
    choice = ColumnChoice(drop=["patient"], roles={"time": "when"})
    training = training_table(table(when=(list(cells) * 120)[:120]), "diagnosis", choice)
    times = training.roles["time"][: len(cells)]
    return ((times - times[0]) / (times[1] - times[0])).round(6).tolist(), training.doubts


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("cells", "expected", "is_doubtful"),
    [
        (["01.02.2021", "02.02.2021", "01.03.2021"], [0, 1, 28], False),  # dots: the day is first
        (["01.02.2021", "02.02.2021", "31.03.2021", "05.01.21"], [0, 1, 58, -27], False),
        (["02/01/2021", "02/02/2021", "02/28/2021"], [0, 1, 27], False),
        (["01/02/2021", "02/02/2021", "28/02/2021"], [0, 1, 27], False),
        (["01/02/2021", "02/02/2021", "01/03/2021"], [0, 1, 28], True),
        (["1-2-2021", "2-2-2021", "1-3-2021"], [0, 1, 28], True),
        (["2021-02-01", "2021/02/02", "2021-02-03 12:00", "2021-02-01T06:00:00"], [0, 1, 2.5, 0.25], False),
        (["01.02.2021", "2021-02-02", datetime.datetime(2021, 2, 3)], [0, 1, 2], False),
        (["31.12.69", "01.01.70", "1/1/00"], [0, 1, 10958], False),
    ],
    ids=str,
)
def test_dates(cells, expected, is_doubtful):
    found, doubts = days(cells)
    assert found == expected
    assert bool(doubts) == is_doubtful
    assert all("01/02/2026 is read as the first of February" in doubt for doubt in doubts)


@pytest.mark.parametrize("cells", [["31.02.2021", "01.02.2021"], ["2021-13-05"], ["13/01/2021", "01/13/2021"]])
def test_days_that_do_not_exist(cells):
    with pytest.raises(ValueError, match=r"dates of 'when' cannot be read. Write them as 2026-01-31"):
        days(cells)


def test_post_codes_are_not_reported_as_numbers():
    codes = [f"{i % 10:02d}" if i < 100 else "abroad" for i in range(120)]
    assert training_table(table(code=codes), "diagnosis", ColumnChoice(drop=["patient"])).nearly_numbers == {}


def test_numbers_that_look_like_free_text():
    cells = [f"{i}.5" if i % 5 else f"~{i}" for i in range(120)]
    with pytest.raises(LeakError) as caught:
        training_table(table(CRP=cells), "diagnosis", ColumnChoice(drop=["patient"]))
    assert caught.value.reasons["CRP"].endswith("80% of its cells are numbers: --number reads them as such")


def test_dates_need_a_decision():
    raw = table(day=["2020-01-02"] * 60 + ["2021-01-02"] * 60)
    with pytest.raises(LeakError) as caught:
        training_table(raw, "diagnosis", ColumnChoice(drop=["patient"]))
    assert caught.value.reasons["day"] == "dates, which new rows may not share; --keep reads them as days"
    training = training_table(raw, "diagnosis", ColumnChoice(drop=["patient"], keep=["day"]))
    assert training.encoder.fit_transform(training.X)["day (days since 2020-01-02)"].unique().tolist() == [0.0, 366.0]


def test_points_in_a_table_with_decimal_commas_are_doubtful():
    raw = table(CRP=[f"{k % 7},5" for k in range(120)], weight=[f"{k % 60 + 40}.125" for k in range(120)])
    training = training_table(raw, "diagnosis", ColumnChoice(drop=["patient"]))
    what = "the points of 'weight' are read as decimal. If they separate thousands, write numbers without them"
    assert what in training.doubts


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
