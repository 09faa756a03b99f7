"""The page: what it says about its fields, and, in Chromium, what it computes."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from urllib.parse import urlencode

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.proportion import proportion_confint

from rfsc import RFSCClassifier, SearchSettings
from rfsc._model import Predictor, SparseModel
from rfsc._model.cells import CellFormat
from rfsc._model.recipe import LevelOf, MissingIn, NumberOf, RawColumn, Recipe
from rfsc._terms import monomial
from rfsc.export import from_json, to_html, to_json
from rfsc.export.calculator import fields_of, observed_of
from rfsc.export.workbook import workbook
from rfsc.monitor import with_reference

from ..report.test_browser import BROWSER, CONTRAST, DRIVER, browser, show  # noqa: F401  a fixture
from .random_models import (
    FAMILIES,
    answers,
    assert_agree,
    random_models,
    random_predictor,
    recipe_predictor,
    scaling_of,
)

HOSTILE = ["</script><img src=x onerror=alert(1)>", '"><b>&amp;', "<!-- {{ 6*7 }}", "__proto__"]
in_browser = pytest.mark.skipif(
    not (BROWSER and DRIVER), reason="needs Chromium and its driver (Debian: chromium-driver)"
)


def clinic():
    """A model of every kind of column: with and without a fill, text, codes, one that is only known or not."""
    columns = (
        RawColumn("age", "number"),
        RawColumn("dose", "number", cells=CellFormat(unit="mg")),
        RawColumn("ward", "text"),
        RawColumn("stage", "number"),
        RawColumn("note", "text"),
        RawColumn("sex", "text", ("f", "m")),
        RawColumn("not read", "number"),
    )
    features = (
        NumberOf(0, 61.0),
        MissingIn(0),
        NumberOf(1),
        LevelOf(2, ("north", "")),
        LevelOf(2, ("north", "", "south"), other=True),
        LevelOf(3, (1.0, 2.0, None)),
        MissingIn(4),
        LevelOf(5, ("f",)),
        NumberOf(6),
        LevelOf(3, (3.0,)),
    )
    names = ("age", "age missing", "dose", "ward n", "ward other", "stage 1 2", "no note", "sex_f", "not read", "s3")
    recipe = Recipe(columns, features, names)
    scaling = scaling_of([(18.0, 95.0), (0.0, 1.0), (-2.0, 8.0)] + [(0.0, 1.0)] * 7)
    supports = [(), (0,), (1,), (0, 2), (3,), (4, 7), (5,), (6,), (7,), (9,)]
    coef = np.array([-1.5, 1.75, 0.625, 2.25, -0.75, 0.5, 1.125, -0.875, 0.375, -0.25])
    model = SparseModel(tuple(map(monomial, supports)), coef, None, scaling, names, "sick", 100.0, None)
    return Predictor([model], ["healthy", "sick"], recipe)


def test_fields():
    predictor = clinic()
    age, dose, ward, stage, note, sex = fields_of(predictor)
    assert (age.range, age.typical, age.needed) == ("18 to 95", 61.0, False)
    assert age.missing == "A blank counts as 61, and the model takes into account that it is missing."
    assert (dose.range, dose.typical, dose.missing) == ("-2 to 8 mg", 3.0, "Needed.")
    assert [text for _, _, text in ward.options] == ["Not known", "north", "(empty text)", "south", "Another"]
    assert ward.another not in ("north", "", "south")
    assert [cell for cell, _, _ in stage.options] == [None, 1.0, 2.0, 3.0, 4.0]
    assert stage.missing == "Not known counts as a case of its own."
    assert [text for _, _, text in note.options] == ["Not known", "Known"]
    assert ([text for _, _, text in sex.options], sex.missing) == (["Choose", "f", "m"], "Needed.")


def test_the_page_allows_its_own_script_and_style_only():
    page = to_html(clinic())
    policy = re.search('http-equiv="Content-Security-Policy" content="([^"]*)"', page)[1]
    for tag, text in re.findall(r"<(script|style)[^>]*>(.*?)</\1>", page, re.DOTALL):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    assert not re.search(r"https?:|//[a-z]|@import|url\(", page.replace("http-equiv", ""))


def test_target_of_a_model_file():
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = (X[:, 0] > 0).astype(int)
    settings = SearchSettings(max_iter=5)
    clf = RFSCClassifier(basis="polynomial", n_restarts=1, search=settings, random_state=0).fit(X, y)
    clf.manifest_["target"] = "relapse"
    page = to_html(from_json(to_json(clf)))
    assert '<span class="unit">mg</span>' in to_html(clinic())
    assert "<title>Calculator: relapse</title>" in page
    assert 'const NAMES = ["relapse = 0", "relapse = 1"];' in page
    assert "It was fitted to 60 rows by rfsc " in page


def test_a_model_that_reads_nothing():
    predictor = clinic()
    model = predictor.models_[0]
    constant = replace(model, terms=model.terms[:1], coef=model.coef[:1])
    assert "reads no column" in to_html(constant)
    assert "reads no column" not in to_html(model)


# ---- in the browser


@pytest.fixture
def opened(browser, tmp_path):  # noqa: F811
    """The page of a model, opened from a file, with values in its link."""

    def open_page(predictor, cells=None):
        path = tmp_path / "calculator.html"
        path.write_text(to_html(predictor), encoding="utf-8")
        browser.get("about:blank")
        browser.get_log("browser"), browser.get_log("performance")
        show(browser, 1100)
        browser.get(path.as_uri() + (f"#{urlencode(cells)}" if cells else ""))
        return path.as_uri()

    return open_page


ANSWER = """
const answer = document.getElementById("probability"), items = [...document.querySelectorAll("#classes li")];
return [answer.dataset.value, items.map(li => li.dataset.value), document.getElementById("state").textContent];
"""


def shown(browser):  # noqa: F811
    """The large number, those of all classes (None if there is no answer), and the line below."""
    large, values, state = browser.execute_script(ANSWER)
    return (float(large), list(map(float, values)), state) if large else (None, None, state)


def type_in(browser, predictor, cells):  # noqa: F811
    """Fill in the fields as a person does."""
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.ui import Select

    for j, field in enumerate(fields_of(predictor)):
        entry, cell = browser.find_element(By.ID, f"field{j}"), cells[field.name]
        if field.levels is not None:
            known = [value for value, _, _ in field.options]
            Select(entry).select_by_index(known.index(cell) if cell in known else len(known) - 1)
        else:
            entry.clear()
            entry.send_keys("" if cell is None else repr(cell))


def check(browser, predictor, names, rows):  # noqa: F811
    _, probability, predicted = answers(predictor, rows)
    for row, expected, label in zip(rows, probability, predicted, strict=True):
        type_in(browser, predictor, dict(zip(names, row, strict=True)))
        large, values, state = shown(browser)
        if label is None:
            assert large is None
            assert state.startswith("Enter ")
            continue
        assert_agree(values, expected)
        assert large == (values[1] if len(values) == 2 else max(values))
        assert state == f"Predicted class: {label}"


@in_browser
@pytest.mark.slow
@pytest.mark.parametrize("classes", [("no", "yes"), ("a", "b", "c")], ids=["two", "three"])
def test_typed_values_of_recipes(browser, opened, classes):  # noqa: F811
    predictor = recipe_predictor(3, classes, n_terms=12)
    names = [column.name for column in predictor.recipe_.columns]
    opened(predictor)
    rows = [[50.5, 0.25, "red", 1.0, None], [None, 31.25, None, None, None], [90.0, None, "other", 7.5, None]]
    check(browser, predictor, names, [*rows, [18.0, -1.5, 'say "hi"', 3.0, None], [200.0, 0.0, "grün", 2.0, None]])
    assert browser.get_log("browser") == []


@in_browser
@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_typed_values_of_every_family(browser, opened, family):  # noqa: F811
    ranges = [(0.0, 1.0), (-3.0, 5.0), (20.0, 90.0)]
    predictor = random_predictor(4, families=[family], ranges=ranges, n_terms=5)
    opened(predictor)
    check(browser, predictor, predictor.models_[0].feature_names, [[0.25, 4.0, 61.5], [1.0, -3.0, 20.0]])


REASONS = """
return [...document.querySelectorAll(".reasons li")].map(
  (li) => [li.closest("ul").id, ...[...li.children].map((part) => part.textContent)]);
"""
CELLS = {"age": 71, "dose": 2.5, "ward": "south", "stage": 2, "sex": "m"}


def expected_of(predictor, **changed):
    cells = {"age": None, "dose": None, "ward": None, "stage": None, "note": None, "sex": None, "not read": 0.0}
    cells |= {name: float(cell) if isinstance(cell, int) else cell for name, cell in CELLS.items()} | changed
    return predictor.predict_proba([list(cells.values())])[0]


@in_browser
@pytest.mark.slow
def test_the_link_keeps_the_values(browser, opened):  # noqa: F811
    from selenium.webdriver.common.by import By

    predictor = clinic()
    opened(predictor, CELLS)
    assert_agree(shown(browser)[1], expected_of(predictor))
    browser.find_element(By.ID, "field0").clear()
    browser.find_element(By.ID, "field0").send_keys("60.25")
    link = browser.find_element(By.ID, "link").get_attribute("href")
    browser.get("about:blank")
    browser.get(link)
    assert browser.find_element(By.ID, "field0").get_attribute("value") == "60.25"
    assert_agree(shown(browser)[1], expected_of(predictor, age=60.25))
    browser.find_element(By.ID, "clear").click()
    assert shown(browser)[0] is None


@in_browser
@pytest.mark.slow
def test_an_empty_form_has_no_answer(browser, opened):  # noqa: F811
    recipe = Recipe(
        (RawColumn("age", "number"), RawColumn("ward", "text")),
        (NumberOf(0, 61.0), LevelOf(1, ("n",))),
        ("age", "ward n"),
    )
    scaling = scaling_of([(18.0, 95.0), (0.0, 1.0)])
    terms = tuple(map(monomial, [(0,), (1,)]))
    model = SparseModel(terms, np.array([1.0, 2.0]), None, scaling, recipe.names, "sick", 100.0, None)
    opened(Predictor([model], ["healthy", "sick"], recipe))
    assert shown(browser) == (None, None, "Enter at least one value.")
    opened(Predictor([model], ["healthy", "sick"], recipe), {"ward": "n"})
    assert shown(browser)[0] > 0.5


@in_browser
@pytest.mark.slow
def test_missing_wrong_and_distant_values(browser, opened):  # noqa: F811
    from selenium.webdriver.common.by import By

    def warning(j):
        return browser.find_element(By.ID, f"warning{j}").text

    predictor = clinic()
    opened(predictor, {"age": 71})
    assert shown(browser)[2] == "Enter dose, sex."
    opened(predictor, {"dose": 2.5, "sex": "m"})
    assert_agree(shown(browser)[1], expected_of(predictor, age=None, ward=None, stage=None))
    opened(predictor, CELLS | {"age": 96, "dose": -2})
    assert ("Outside of the training range" in warning(0), warning(1)) == (True, "")
    browser.find_element(By.ID, "field0").clear()
    browser.find_element(By.ID, "field0").send_keys("7e")  # which is not missing, but wrong
    assert (warning(0), shown(browser)[0]) == ("This is not a number.", None)
    opened(predictor, CELLS | {"ward": "no such level"})
    assert "Choose one of the list." in warning(2)
    assert shown(browser)[0] is None


@in_browser
@pytest.mark.slow
def test_what_changes_the_probability(browser, opened):  # noqa: F811
    """Every line against `predict_proba` of the row that it names."""
    predictor = clinic()
    opened(predictor, CELLS)
    lines = {value.split(":")[0]: (side, value, rest) for side, value, rest in browser.execute_script(REASONS)}
    now = expected_of(predictor)[1]
    for name, value, compared in (("age", "71", [61.0]), ("dose", "2.5 mg", [3.0]), ("ward", "south", ["north", ""])):
        there = [expected_of(predictor, **{name: cell})[1] for cell in compared]
        side, shown_value, rest = lines[name]
        difference = now - np.mean(there)
        assert side == ("raises" if difference > 1e-12 else "lowers" if difference < -1e-12 else "neither")
        assert shown_value == f"{name}: {value}"
        numbers = [float(x) for x in re.findall(r"([\d.]+)\u00a0%", rest)]
        wanted = sorted({min(99.9, max(0.1, round(100 * p, 1))) for p in there})
        assert numbers == pytest.approx(wanted, abs=0.051)
    assert set(lines) == {"age", "dose", "ward", "stage", "sex"}  # there is no level to compare a note with


@in_browser
@pytest.mark.slow
def test_hostile_names_and_levels_are_text(browser, opened):  # noqa: F811
    columns = tuple(RawColumn(name, "text") for name in HOSTILE)
    features = tuple(LevelOf(j, (HOSTILE[j - 1],)) for j in range(len(HOSTILE)))
    recipe = Recipe(columns, features, tuple(HOSTILE))
    kinds = {"ranges": [(0.0, 1.0)] * len(HOSTILE), "families": ["monomial"], "names": HOSTILE, "n_terms": 20}
    predictor = Predictor(random_models(1, HOSTILE[:3], **kinds), HOSTILE[:3], recipe, manifest=None)
    url = opened(predictor)
    row = [HOSTILE[j - 1] for j in range(len(HOSTILE))]
    check(browser, predictor, HOSTILE, [row, [None, *row[1:]]])
    assert browser.get_log("browser") == []
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = {m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"}
    assert {address.split("#")[0] for address in asked} <= {url, "about:blank"}
    assert browser.execute_script("return document.images.length + document.querySelectorAll('main b b').length") == 0
    assert browser.execute_script("return document.scripts.length") == 1
    text = browser.execute_script("return document.querySelector('main').textContent")
    assert [name for name in HOSTILE if name not in text] == []


@in_browser
@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_fits_and_is_legible(browser, opened, scheme):  # noqa: F811
    opened(clinic(), CELLS | {"age": 96})
    for width in (1100, 360):
        show(browser, width, scheme)
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width
        assert browser.execute_script(CONTRAST) == []
    unnamed = "return [...document.querySelectorAll('input, select')].filter(e => !e.labels.length).length"
    assert browser.execute_script(unnamed) == 0
    show(browser, 1100)


@in_browser
@pytest.mark.slow
def test_keyboard_and_print(browser, opened):  # noqa: F811
    from selenium.webdriver.common.keys import Keys

    opened(clinic(), CELLS)
    body = browser.switch_to.active_element
    reached = []
    for _ in range(8):
        body.send_keys(Keys.TAB)
        body = browser.switch_to.active_element
        reached.append(body.get_attribute("id"))
    assert reached == [*(f"field{j}" for j in range(6)), "clear", "link"]
    show(browser, 1100, media="print")
    assert browser.execute_script(CONTRAST) == []
    assert not browser.execute_script("return document.getElementById('clear').checkVisibility()")
    assert browser.execute_script("return document.getElementById('probability').checkVisibility()")
    assert base64.b64decode(browser.execute_cdp_cmd("Page.printToPDF", {})["data"]).startswith(b"%PDF")
    show(browser, 1100)


# ---- how often similar rows had the class


def with_left_out_rows(predictor, n_rows=300):
    """The same model with a reference: rows, their classes, and probabilities as if they had been left out."""
    rng = np.random.default_rng(4)
    rows = pd.DataFrame(
        {
            "age": rng.integers(18, 95, n_rows).astype(float),
            "dose": rng.uniform(-2, 8, n_rows),
            "ward": rng.choice(["north", "south", "west"], n_rows),
            "stage": rng.choice([1.0, 2.0, 3.0], n_rows),
            "note": rng.choice(["x", "y"], n_rows),
            "sex": rng.choice(["f", "m"], n_rows),
            "not read": 0.0,
        }
    )
    proba = predictor.predict_proba(rows)
    sick = rng.random(n_rows) < 0.8 * proba[:, 1]
    return with_reference(predictor, rows, np.where(sick, "sick", "healthy"), proba=proba), proba[:, 1], sick


def test_similar_rows_have_an_interval():
    predictor, proba, sick = with_left_out_rows(clinic())
    found = observed_of(from_json(to_json(predictor)))
    assert [row[0] for row in found] == sorted(row[0] for row in found)
    assert found[-1][0] == 1.0
    before = -1.0
    for highest, n_rows, share, low, high in found:
        similar = sick[(proba > before) & (proba <= highest)]
        assert (n_rows, share) == (similar.size, pytest.approx(similar.mean()))
        np.testing.assert_allclose([low, high], proportion_confint(similar.sum(), similar.size, method="wilson"))
        before = highest
    assert sum(row[1] for row in found) == proba.size
    turned = observed_of(predictor.about("healthy"))
    assert turned == []  # the reference is that of the sick
    assert "There is no interval" in to_html(clinic())
    assert "There is no interval" not in to_html(predictor)
    said = [cell.value for row in workbook(predictor)["Model"].iter_rows() for cell in row if cell.value]
    assert any("There is no interval" in str(text) for text in said)  # the workbook has none


@in_browser
@pytest.mark.slow
def test_the_page_says_how_often_similar_rows_had_the_class(browser, opened):  # noqa: F811
    predictor, *_ = with_left_out_rows(clinic())
    opened(predictor)
    for age in (20, 50, 90):
        cells = {"age": age, "dose": 1.5, "ward": "south", "stage": 2.0, "note": "x", "sex": "f", "not read": 0.0}
        type_in(browser, predictor, cells)
        probability = predictor.predict_proba(pd.DataFrame([cells]))[0, 1]
        bins = observed_of(predictor)
        place = next(k for k, row in enumerate(bins) if probability <= row[0])
        _, n_rows, share, low, high = bins[place]
        below, above = (f"{100 * row[0]:.1f} %" for row in (bins[place - 1], bins[place]))
        range_ = f"of {below} to {above}"
        if place in (0, len(bins) - 1):
            range_ = f"above {below}" if place else f"up to {above}"
        said = browser.find_element("id", "observed").text.replace("\xa0", " ")
        ends = f"95 % interval {100 * low:.1f} % to {100 * high:.1f} %"
        assert said == (
            f"Of {n_rows} left-out rows with a probability {range_}, {100 * share:.1f} % were “sick” ({ends})."
        )
