"""The page in a real browser: no error, no request, names as text, legible in the light, in the dark and on paper."""

from __future__ import annotations

import base64
import json
import re
import shutil

import pytest

from rfsc.cli import main
from rfsc.explain import equation
from rfsc.export import save

from ..explain.models import model_of
from .conftest import HOSTILE, LABELS

BROWSER = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)
DRIVER = shutil.which("chromedriver")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (BROWSER and DRIVER), reason="needs Chromium and its driver (Debian: chromium-driver)"),
]

CONTRAST = """
function channels(text) { const m = text.match(/[\\d.]+/g).map(Number); return m.length > 3 ? m : [...m, 1]; }
function light(c) {
  const f = v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  return 0.2126 * f(c[0]) + 0.7152 * f(c[1]) + 0.0722 * f(c[2]);
}
function behind(e) {
  for (; e; e = e.parentElement) { const c = channels(getComputedStyle(e).backgroundColor); if (c[3] == 1) return c; }
  return [255, 255, 255];
}
const poor = [];
for (const e of document.querySelectorAll("body *")) {
  if (e.closest("svg") || ![...e.childNodes].some(n => n.nodeType == 3 && n.textContent.trim())) continue;
  const [a, b] = [light(channels(getComputedStyle(e).color)), light(behind(e))];
  const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  if (ratio < 4.5) poor.push(e.tagName + " " + e.className + " " + ratio.toFixed(2));
}
return poor;
"""


@pytest.fixture(scope="module")
def browser():
    """Chromium without a window, its console and its requests recorded."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    yield driver
    driver.quit()


@pytest.fixture(params=["report_three", "report_hostile"])
def page(request, browser, tmp_path):
    """A report, opened from a file."""
    path = request.getfixturevalue(request.param).write_html(tmp_path / "report.html")
    browser.get_log("browser"), browser.get_log("performance")
    browser.get(path.as_uri())
    return path.as_uri()


def show(browser, width, scheme="light", media="screen"):
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500},
    )
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": features})


def test_no_error_and_no_other_request(browser, page):
    assert browser.get_log("browser") == []
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = {m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"}
    assert page in asked
    assert all(url == page or url.startswith("data:") for url in asked)


def test_names_are_shown_as_text(browser, report_hostile, tmp_path):
    browser.get(report_hostile.write_html(tmp_path / "hostile.html").as_uri())
    shown = browser.execute_script("return document.documentElement.textContent")
    for name in (*HOSTILE, *LABELS, "<i>target</i>"):
        assert name in shown
    assert browser.execute_script("return document.scripts.length") == 0
    assert browser.execute_script("return document.querySelectorAll('img, b, i:not(.bar i), main h1').length") == 0
    assert browser.title == "<h1>{{ 6*6 }}</h1>"


def test_names_in_exported_html_are_text(browser, tmp_path):
    """What a notebook shows and `rfsc export --to html-equation` writes, with nothing of ours around it."""
    parts = []
    for i in range(0, len(HOSTILE), 4):
        names = [*HOSTILE[i : i + 4], "b", "c", "d"][:4]
        model = model_of("polynomial", "hinge", "step", "radial", names=names, label=LABELS[0])
        path = tmp_path / f"{i}.json"
        save(model, path)
        assert main(["export", str(path), "--to", "html-equation", "-o", str(tmp_path / f"{i}.html"), "-q"]) == 0
        parts += [(tmp_path / f"{i}.html").read_text(encoding="utf-8"), equation(model, form="html", units="scaled")]
    path = tmp_path / "parts.html"
    path.write_text("<!doctype html><meta charset=utf-8><title>t</title>" + "<hr>".join(parts), encoding="utf-8")
    browser.get_log("browser")
    browser.get(path.as_uri())
    assert browser.get_log("browser") == []
    assert browser.execute_script("return document.scripts.length + document.images.length") == 0
    attributes = "return [...document.querySelectorAll('*')].flatMap(e => [...e.attributes]).map(a => a.name)"
    assert not [name for name in browser.execute_script(attributes) if name.startswith("on")]
    shown = browser.execute_script("return document.body.textContent")
    assert [name for name in HOSTILE if name not in shown] == []


@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_is_not_wider_than_the_window(browser, page, width):
    show(browser, width)
    browser.execute_script("document.querySelectorAll('details').forEach(e => e.open = true)")
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_have_enough_contrast(browser, page, scheme):
    show(browser, 1280, scheme)
    browser.execute_script("document.querySelectorAll('details').forEach(e => e.open = true)")
    dark = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, dark[4:-1].split(","))) < 200) == (scheme == "dark")
    assert browser.execute_script(CONTRAST) == []


def test_print_has_at_most_six_pages_and_no_appendix(browser, report_two, tmp_path):
    browser.get(report_two.write_html(tmp_path / "report.html").as_uri())
    show(browser, 900, media="print")
    assert browser.execute_script("return getComputedStyle(document.getElementById('appendix')).display") == "none"
    assert browser.execute_script(CONTRAST) == []
    pdf = base64.b64decode(browser.execute_cdp_cmd("Page.printToPDF", {})["data"])
    assert 1 < len(re.findall(rb"/Type\s*/Page\b", pdf)) <= 6


def test_the_page_in_a_notebook(browser, report_two, tmp_path):
    path = tmp_path / "notebook.html"
    path.write_text(f"<!doctype html><title>n</title>{report_two._repr_html_()}", encoding="utf-8")
    browser.get_log("browser")
    browser.get(path.as_uri())
    browser.switch_to.frame(0)
    assert browser.execute_script("return document.querySelector('h1').textContent") == report_two.content["title"]
    browser.switch_to.default_content()
    assert browser.get_log("browser") == []
