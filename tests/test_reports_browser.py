"""Reports in a real browser: nothing fails, nothing is fetched, and every control changes the picture."""

import csv
import io
import json
import re
import shutil

import numpy as np
import pytest

from termsieve import Counts, charts, corpus_report, study_report

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium")
QUIET = ("gpu", "quic", "background-networking", "component-update", "sync")
ARGS = ["--no-sandbox", "--no-first-run", "--disable-dev-shm-usage", *(f"--disable-{name}" for name in QUIET)]
HOSTILE = [
    "<script>window.broken=1</script>",
    '"><img src=x onerror="window.broken=1">',
    "</style></script>",
    "\u202e\u200fevil",
    "very" * 100,
    "🐘",
    "'+alert(1)+'",
    'a,b"c\nd',
]
INSIDE = """
name => [...document.querySelectorAll(name)].filter(each => each.textContent).filter(each => {
  const inner = each.getBoundingClientRect(), outer = each.closest('figure').getBoundingClientRect();
  return inner.left < outer.left - 1 || inner.right > outer.right + 1;
}).map(each => each.textContent)
"""
COLOURS = """
[document.body, document.querySelector('figure svg .role-axis-label text')]
  .map(each => getComputedStyle(each)).map((style, i) => i ? style.fill : style.backgroundColor)
"""


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGS)
        yield started
        started.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("reports")


def hostile_counts():
    generator = np.random.default_rng(2)
    words = HOSTILE + [f"word{i}" for i in range(150)]
    y = np.repeat([0, 1, 2], 60)
    rates = 0.02 + generator.beta(0.4, 2, (3, len(words)))
    X = generator.random((180, len(words))) < rates[y]
    return Counts.from_matrix(X.astype(int), np.array(HOSTILE[:3])[y], terms=words)


@pytest.fixture(scope="module")
def corpus_page(folder):
    corpus_report(hostile_counts(), folder / "corpus.html", title=HOSTILE[1], sizes=(10, 50, 100))
    return (folder / "corpus.html").as_uri()


@pytest.fixture(scope="module")
def study_page(folder, study_rows):
    study_report(study_rows, folder / "study.html")
    return (folder / "study.html").as_uri()


@pytest.fixture
def opened(browser):
    """A function that opens a page and afterwards insists that it was quiet."""
    contexts, faults = [], []

    def open_page(address, ready="body[data-drawn]", **options):
        contexts.append(browser.new_context(**{"viewport": {"width": 1280, "height": 900}} | options))
        page = contexts[-1].new_page()
        page.set_default_timeout(120_000)  # a busy machine is no fault of the page
        page.on("console", lambda message: faults.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: faults.append(f"error: {error}"))
        page.on("dialog", lambda dialog: (faults.append("a dialog"), dialog.dismiss()))
        page.on("request", lambda request: request.url.startswith(address) or faults.append(request.url))
        page.goto(address)
        page.wait_for_selector(ready)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert faults == []


def drawing(page, name):
    return page.locator(f"#figure-{name} svg").first.inner_html()


def redrawn(page, before, name="map", equal=False):
    """Wait until the drawing differs from what it was, or is equal to it again, and return it."""
    test = "([place, before, equal]) => (document.querySelector(place).innerHTML === before) === equal"
    page.wait_for_function(test, arg=[f"#figure-{name} svg", before, equal])
    return drawing(page, name)


def test_hostile_labels_and_words_are_text(opened, corpus_page):
    page = opened(corpus_page)
    assert page.evaluate("window.broken") is None
    assert page.locator("h1").inner_text() == HOSTILE[1]
    assert page.locator("main img, main iframe, h1 img").count() == 0
    options = page.locator("select[data-section] option").all_inner_texts()
    assert sorted(option.rsplit(" (", 1)[0] for option in options) == sorted(HOSTILE[:3])
    cells = page.locator("#figure-classes td").all_inner_texts()
    assert HOSTILE[0] in cells
    words = page.locator("#figure-terms td").all_inner_texts()
    assert any(HOSTILE[0] in word for word in words) or any("🐘" in word for word in words)


def test_hover_shows_the_words_of_a_point(opened, corpus_page):
    page = opened(corpus_page)
    page.locator("#figure-map svg .mark-symbol.role-mark path").first.hover(force=True)
    tooltip = page.locator("#vg-tooltip-element")
    tooltip.wait_for(state="visible")
    text = tooltip.inner_text()
    assert re.search(r"tp\s+\d+", text)
    assert "terms here" in text
    assert tooltip.locator("img, script").count() == 0


@pytest.mark.parametrize("word", ["word77", HOSTILE[0], "["])
def test_search_marks_the_word_and_nothing_else(opened, corpus_page, word):
    page = opened(corpus_page)
    before = drawing(page, "map")
    page.locator("#figure-map input[type=search]").fill(word)
    redrawn(page, before)
    found = page.locator("#figure-map svg .mark-text.role-mark text").all_text_contents()
    assert len(list(filter(None, found))) == (0 if word == "[" else 1)
    page.locator("#figure-map input[type=search]").fill("")
    redrawn(page, before, equal=True)


def test_class_metric_k_and_plane_change_the_picture(opened, corpus_page):
    page = opened(corpus_page)
    lines = page.locator("#figure-map svg .mark-line.role-mark path")
    seen = [drawing(page, "map")]
    page.locator("#figure-map select[name=k]").select_option("10")
    seen.append(redrawn(page, seen[-1]))
    n_lines = lines.count()
    page.locator("#figure-map input[type=checkbox]").first.uncheck()
    seen.append(redrawn(page, seen[-1]))
    assert lines.count() < n_lines
    page.get_by_label("whole plane").check()
    seen.append(redrawn(page, seen[-1]))
    bars = drawing(page, "bars-1")
    page.locator("select[data-section]").select_option("2")
    page.wait_for_selector("body[data-drawn='2']")
    seen.append(drawing(page, "map"))
    assert len(set(seen)) == 5
    assert drawing(page, "bars-1") != bars
    # What was chosen before still holds for the new class.
    assert page.locator("#figure-map select[name=k]").input_value() == "10"
    assert not page.locator("#figure-map input[type=checkbox]").first.is_checked()
    assert page.get_by_label("whole plane").is_checked()


def test_downloads_hold_the_numbers(opened, corpus_page):
    page = opened(corpus_page, accept_downloads=True)
    page.locator("select[data-section]").select_option("1")
    page.wait_for_selector("body[data-drawn='2']")
    counts = hostile_counts()
    wanted = charts.term_points(counts, counts.classes[1], ["bns", "information_gain", "odds_ratio"])

    def saved(kind):
        with page.expect_download() as download:
            page.locator(f"#figure-map button[data-save={kind}]").click()
        assert download.value.suggested_filename == f"map-2.{kind}"
        return download.value.path().read_text(encoding="utf-8")

    rows = list(csv.reader(io.StringIO(saved("csv"), newline="")))
    assert rows[0] == wanted.columns
    assert [tuple(row) for row in rows[1:]] == [tuple(map(str, row)) for row in wanted.rows()]
    assert json.loads(saved("json")) == wanted.to_dicts()
    assert saved("svg").startswith("<svg")


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_is_cut_off_at_any_width(opened, corpus_page, study_page, width):
    for address in (corpus_page, study_page):
        page = opened(address, viewport={"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.locator("figure .chart svg").count() > 4
        assert page.evaluate(INSIDE, "figure .chart svg") == []
        assert page.evaluate(INSIDE, "figure .chart svg text") == []
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            dark = [sum(map(int, re.findall(r"\d+", found)[:3])) < 380 for found in page.evaluate(COLOURS)]
            assert dark == [scheme == "dark", scheme == "light"]


def test_a_keyboard_is_enough(opened, corpus_page):
    page = opened(corpus_page)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    reached = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.tagName + (document.activeElement.type || '')"))
    wanted = {"SELECTselect-one", "INPUTsearch", "INPUTcheckbox", "INPUTradio", "BUTTONbutton", "SUMMARY"}
    assert wanted <= reached
    before = drawing(page, "map")
    page.locator("select[data-section]").focus()
    page.keyboard.press("ArrowDown")
    page.wait_for_selector("body[data-drawn='2']")
    assert drawing(page, "map") != before


def test_paper_has_no_controls(opened, corpus_page):
    page = opened(corpus_page, color_scheme="dark")
    page.emulate_media(media="print", color_scheme="dark")
    assert not page.locator("nav").is_visible()
    assert not page.locator(".downloads").first.is_visible()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.pdf().startswith(b"%PDF")


def test_the_study_report_draws_every_figure(opened, study_page):
    page = opened(study_page)
    assert page.locator("figure .chart svg").count() == page.locator("figure .chart").count() >= 10
    page.locator("#figure-k-f1 summary").click()
    assert page.locator("#figure-k-f1 table tbody tr").count() > 20
    dots = page.locator("#figure-k-f1 svg .mark-symbol.role-mark path")
    dots.first.hover(force=True)
    page.locator("#vg-tooltip-element").wait_for(state="visible")
    assert "value" in page.locator("#vg-tooltip-element").inner_text()


def test_a_saved_chart_opens_offline(opened, folder):
    charts.save(charts.term_bars(hostile_counts(), HOSTILE[0]), folder / "bars.html")
    page = opened((folder / "bars.html").as_uri(), ready="#chart .marks")
    assert page.evaluate("window.broken") is None
