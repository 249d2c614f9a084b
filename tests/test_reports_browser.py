"""Reports in a real browser: nothing fails, nothing is fetched, and every control changes what it should."""

import csv
import io
import json
import re
import shutil

import numpy as np
import polars as pl
import pytest

from termsieve import Counts, analysis, charts, corpus_report, study_report
from termsieve.reports.corpus import METRICS

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium")
QUIET = ("gpu", "quic", "background-networking", "component-update", "sync")
ARGS = ["--no-sandbox", "--no-first-run", "--disable-dev-shm-usage", *(f"--disable-{name}" for name in QUIET)]
PATIENCE = 120_000  # milliseconds: a busy machine is no fault of the page
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
# Of each table: its headings that no scrolling brings into view, and whether a hint names those out of sight.
COLUMNS = """
[...document.querySelectorAll('figure')].map(figure => {
  const place = figure.querySelector('.table'), heads = [...place.querySelectorAll('th')];
  const right = () => place.getBoundingClientRect().left + place.clientWidth;
  const beyond = () => heads.filter(head => head.getBoundingClientRect().right > right() + 2);
  const hidden = beyond().map(head => head.textContent), hint = figure.querySelector('.hint');
  const told = hidden.every(name => hint.textContent.includes(name)) && hint.hidden === (hidden.length === 0);
  place.scrollLeft = place.scrollWidth;
  const lost = beyond().map(head => head.textContent);
  place.scrollLeft = 0;
  return {id: figure.dataset.id, hidden, told, lost};
})
"""
UNNAMED = """
[...document.querySelectorAll('a, button, input, select, summary, [tabindex]')].filter(each => {
  const labels = [...(each.labels || [])].map(label => label.textContent).join('');
  return !(each.getAttribute('aria-label') || each.textContent.trim() || labels.trim());
}).map(each => each.outerHTML)
"""


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGS)
        yield started
        started.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("reports")


@pytest.fixture(scope="module")
def counts():
    generator = np.random.default_rng(2)
    words = HOSTILE + [f"word{i}" for i in range(150)]
    y = np.repeat([0, 1, 2], 60)
    rates = 0.02 + generator.beta(0.4, 2, (3, len(words)))
    X = generator.random((180, len(words))) < rates[y]
    return Counts.from_matrix(X.astype(int), np.array(HOSTILE[:3])[y], terms=words)


@pytest.fixture(scope="module")
def corpus_page(folder, counts):
    corpus_report(counts, folder / "corpus.html", title=HOSTILE[1], sizes=(10, 50, 100))
    return (folder / "corpus.html").as_uri()


@pytest.fixture(scope="module")
def two_page(folder):
    X = [[1, 0, 1, 1]] * 9 + [[0, 1, 1, 0]] * 3
    two = Counts.from_matrix(X, ["ham"] * 9 + ["spam"] * 3, terms=["hello", "buy", "the", "a"])
    corpus_report(two, folder / "two.html", metrics=["bns"])
    return (folder / "two.html").as_uri()


@pytest.fixture(scope="module")
def study_page(folder, study_rows):
    other = study_rows.with_columns(learner=pl.lit("nb"))
    study_report(pl.concat([study_rows, other]), folder / "study.html")
    return (folder / "study.html").as_uri()


class Visits:
    """Pages of one browser; `faults` collects everything that a quiet page does not do."""

    def __init__(self, browser):
        self.browser, self.contexts, self.faults = browser, [], []

    def open(self, address, ready="body[data-drawn]", **options):
        self.contexts.append(
            self.browser.new_context(**{"viewport": {"width": 1280, "height": 900}} | options)
        )
        page = self.contexts[-1].new_page()
        own = address.partition("#")[0]
        page.set_default_timeout(PATIENCE)
        page.on("console", lambda message: self.faults.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: self.faults.append(f"error: {error}"))
        page.on("dialog", lambda dialog: (self.faults.append("a dialog"), dialog.dismiss()))
        page.on("request", lambda request: request.url.startswith(own) or self.faults.append(request.url))
        page.goto(address)
        page.wait_for_selector(ready)
        return page

    def close(self):
        for context in self.contexts:
            context.close()
        assert self.faults == []


@pytest.fixture
def opened(browser):
    """A function that opens a page and afterwards insists that it was quiet."""
    visits = Visits(browser)
    yield visits.open
    visits.close()


@pytest.fixture(scope="module")
def shared(browser, corpus_page):
    """The corpus report, opened once for the tests that leave it as they found it."""
    visits = Visits(browser)
    visits.page = visits.open(corpus_page, permissions=["clipboard-read"])
    yield visits
    visits.close()


@pytest.fixture
def corpus_view(shared):
    yield shared.page
    assert shared.faults == []
    assert "#" not in shared.page.url, "a test left a choice behind"


def drawing(page, name):
    return page.locator(f"#figure-{name} svg").first.inner_html()


def visible(page, name):
    """The drawing without the labels for screen readers, which Vega mends only when it draws all anew."""
    return re.sub(r' aria-label="[^"]*"', "", drawing(page, name))


def redrawn(page, before, name="map", equal=False):
    """Wait until the drawing differs from what it was, or is equal to it again, and return it."""
    test = "([place, before, equal]) => (document.querySelector(place).innerHTML === before) === equal"
    page.wait_for_function(test, arg=[f"#figure-{name} svg", before, equal])
    return drawing(page, name)


def choose(page, key, option):
    """Choose in a list, and wait until every figure that follows it is drawn."""
    drawn = page.locator("body").get_attribute("data-drawn")
    page.locator(f".chooser[data-key={key}] select").first.select_option(option)
    page.wait_for_function("before => document.body.dataset.drawn !== before", arg=drawn)


def cells(page, figure, column):
    """The cells of one column of a figure's table, from the first row on."""
    return page.locator(f"#figure-{figure} tbody tr td:nth-child({column})").all_text_contents()


def test_hostile_labels_and_words_are_text(corpus_view):
    page = corpus_view
    assert page.evaluate("window.broken") is None
    assert page.locator("h1").inner_text() == HOSTILE[1]
    assert page.locator("main img, main iframe, h1 img").count() == 0
    options = page.locator(".chooser[data-key=class] option").all_inner_texts()
    assert sorted(option.rsplit(" (", 1)[0] for option in options) == sorted(HOSTILE[:3])
    assert HOSTILE[0] in cells(page, "classes", 1)
    assert any(HOSTILE[0] in word or "🐘" in word for word in cells(page, "terms", 1))


def test_hover_shows_the_words_of_a_point(corpus_view):
    page = corpus_view
    page.locator("#figure-map svg .mark-symbol.role-mark path").first.hover(force=True)
    tooltip = page.locator("#vg-tooltip-element")
    tooltip.wait_for(state="visible")
    text = tooltip.inner_text()
    assert re.search(r"tp\s+\d+", text)
    assert "terms here" in text
    assert tooltip.locator("img, script").count() == 0
    page.mouse.move(0, 0)


@pytest.mark.parametrize("word", ["word77", HOSTILE[0], "["])
def test_search_marks_the_word_and_nothing_else(corpus_view, word):
    page = corpus_view
    before = drawing(page, "map")
    page.locator("#figure-map .vega-bindings input[type=search]").fill(word)
    redrawn(page, before)
    found = page.locator("#figure-map svg .mark-text.role-mark text").all_text_contents()
    assert len(list(filter(None, found))) == (0 if word == "[" else 1)
    page.locator("#figure-map .vega-bindings input[type=search]").fill("")
    redrawn(page, before, equal=True)


def test_a_table_sorts_by_any_column(corpus_view):
    page = corpus_view
    before = cells(page, "terms", 3)
    button = page.locator("#figure-terms th button", has_text="score")
    for falling in (True, False):
        button.click()
        order = "descending" if falling else "ascending"
        page.locator(f"#figure-terms th[aria-sort={order}]").wait_for()
        scores = [float(cell) for cell in cells(page, "terms", 3)]
        assert scores == sorted(scores, reverse=falling)
        assert button.evaluate("each => each === document.activeElement")
    page.locator("#figure-terms th button", has_text="term").press("Enter")  # and by the keyboard
    page.locator("#figure-terms th[aria-sort=ascending] button", has_text="term").wait_for()
    assert sorted(cells(page, "terms", 3)) == sorted(before)


def test_a_table_filters_copies_and_downloads_what_it_shows(corpus_view, counts):
    from playwright.sync_api import expect

    page = corpus_view
    wanted = analysis.telling_terms(counts, counts.classes[0], METRICS[0], n=20)
    some = wanted.filter((pl.col("speaks") == "against") & pl.col("term").str.contains("word1"))
    assert 0 < some.height < wanted.height
    rows = page.locator("#figure-terms tbody tr")
    expect(rows).to_have_count(wanted.height)
    filters = page.get_by_label("Filter the rows of: The telling words and their numbers")
    filters.fill("AGAINST word1")
    expect(rows).to_have_count(some.height)
    assert sorted(cells(page, "terms", 1)) == sorted(some["term"])
    expect(page.locator("#figure-terms .count")).to_have_text(f"{some.height} of {wanted.height} rows")
    page.locator("#figure-terms button[data-save=copy]").click()
    expect(page.locator("#figure-terms button[data-save=copy]")).to_have_text("Copied")
    pasted = list(csv.reader(io.StringIO(page.evaluate("navigator.clipboard.readText()")), delimiter="\t"))
    shown = cells(page, "terms", 1)
    assert [row[0] for row in pasted] == ["term", *shown]
    with page.expect_download() as download:
        page.locator("#figure-terms button[data-save=json]").click()
    assert [row["term"] for row in json.loads(download.value.path().read_text())] == shown
    filters.fill("")
    expect(rows).to_have_count(wanted.height)


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
    bars, plane = [drawing(page, "bars")], visible(page, "map")
    choose(page, "metric", "odds_ratio")
    bars.append(drawing(page, "bars"))
    assert visible(page, "map") == plane  # it shows all metrics
    choose(page, "class", "2")
    bars.append(drawing(page, "bars"))
    seen.append(drawing(page, "map"))
    assert len(set(seen)) == 5
    assert len(set(bars)) == 3
    # What was chosen before still holds for the new class.
    assert page.locator("#figure-map select[name=k]").input_value() == "10"
    assert not page.locator("#figure-map input[type=checkbox]").first.is_checked()
    assert page.get_by_label("whole plane").is_checked()
    # The same metric is chosen wherever it can be.
    assert page.locator(".chooser[data-key=metric] select").evaluate_all(
        "lists => lists.map(each => each.value)"
    ) == ["2", "2"]


def test_the_address_holds_the_view(opened, corpus_page, counts):
    from playwright.sync_api import expect

    page = opened(corpus_page)
    choose(page, "class", "1")
    choose(page, "metric", "odds_ratio")
    page.locator("#figure-map select[name=k]").select_option("100")
    page.locator("#figure-map .vega-bindings input[type=search]").fill("word7 &")
    page.wait_for_function("location.hash.includes('search=')")
    page.get_by_role("navigation").get_by_text("ROC map").click()
    page.wait_for_function("location.hash.includes('at=')")
    address = page.url
    picture, words = visible(page, "map"), cells(page, "terms", 1)
    assert words == analysis.telling_terms(counts, counts.classes[1], "odds_ratio", 20)["term"].to_list()
    page.reload()
    page.wait_for_selector("body[data-drawn]")
    for view in (page, opened(address)):
        expect(view.locator("#figure-map")).to_be_in_viewport()
        assert visible(view, "map") == picture
        assert cells(view, "terms", 1) == words
        assert view.locator("#figure-map select[name=k]").input_value() == "100"
        assert view.url == address
    # An address typed by hand, or with what is not there, is a view as well.
    page.goto(corpus_page + "#class=nobody&k=50&metric=odds_ratio&k=nonsense")
    page.wait_for_function("document.querySelector('#figure-map select[name=k]').value === '50'")
    assert page.locator(".chooser[data-key=metric] select").first.input_value() == "2"
    assert page.locator(".chooser[data-key=class] select").first.input_value() == "0"


def test_of_two_classes_the_rarer_is_shown_and_a_click_shows_the_other(opened, two_page):
    from playwright.sync_api import expect

    page = opened(two_page)
    says = page.locator(".says")
    expect(says).to_have_text(
        "Words for and against spam, the rarer of two classes, 3 documents of 12: "
        "a word against spam speaks for ham."
    )
    speaks = dict(zip(cells(page, "terms", 1), cells(page, "terms", 2), strict=True))
    assert (speaks["buy"], speaks["hello"]) == ("for", "against")
    page.get_by_role("radio", name="ham").click()
    expect(says).to_contain_text("Words for and against ham")
    expect(page.locator("#figure-terms tbody tr", has_text="hello").locator("td").nth(1)).to_have_text("for")
    assert page.url.endswith("#class=ham")
    page.get_by_role("radio", name="spam").click()
    expect(page.locator("#figure-terms tbody tr", has_text="buy").locator("td").nth(1)).to_have_text("for")


def test_downloads_hold_the_numbers(corpus_view, counts):
    page = corpus_view
    choose(page, "class", "1")
    wanted = analysis.term_points(counts, counts.classes[1], METRICS)

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
    choose(page, "class", "0")


@pytest.mark.parametrize("width", [400, 1400])
def test_nothing_is_cut_off_at_any_width(opened, corpus_page, study_page, width):
    for address in (corpus_page, study_page):
        page = opened(address, viewport={"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.locator("figure .chart svg").count() > 4
        assert page.evaluate(INSIDE, "figure .chart svg") == []
        assert page.evaluate(INSIDE, "figure .chart svg text") == []
        tables = page.evaluate(COLUMNS)
        assert all(table["told"] for table in tables)
        assert [table["lost"] for table in tables] == [[]] * len(tables)
        hidden = {table["id"]: table["hidden"] for table in tables}
        if address == corpus_page:
            assert not {"term", "speaks", "score", "tp", "fp"} & set(hidden["terms"])
        elif width == 1400:
            assert not any(hidden.values())
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            dark = [sum(map(int, re.findall(r"\d+", found)[:3])) < 380 for found in page.evaluate(COLOURS)]
            assert dark == [scheme == "dark", scheme == "light"]


def test_a_keyboard_is_enough(corpus_view):
    page = corpus_view
    page.evaluate("""() => {
        window.reached = [];
        document.querySelector('a, button, input, select, summary, [tabindex]').focus();
        document.addEventListener('focusin', ({target}) => {
            window.reached.push(target.className + target.tagName + (target.type || ''));
        });
    }""")
    assert page.evaluate("document.activeElement.className") == "skip"
    for _ in range(90):
        page.keyboard.press("Tab")
    reached = page.evaluate("window.reached")
    wanted = {
        "SELECTselect-one",
        "INPUTsearch",
        "INPUTcheckbox",
        "INPUTradio",
        "BUTTONbutton",
        "SUMMARY",
        "A",
    }
    assert wanted <= set(reached)
    before = visible(page, "map")
    for key, same in (("ArrowDown", False), ("ArrowUp", True)):
        drawn = page.locator("body").get_attribute("data-drawn")
        page.locator(".chooser[data-key=class] select").focus()
        page.keyboard.press(key)
        page.wait_for_function("before => document.body.dataset.drawn !== before", arg=drawn)
        assert (visible(page, "map") == before) == same


def test_every_control_has_a_name(corpus_view):
    assert corpus_view.evaluate(UNNAMED) == []


def test_paper_has_no_controls(corpus_view):
    page = corpus_view
    page.emulate_media(media="print", color_scheme="dark")
    for name in ("nav", ".downloads", ".tools"):
        assert not page.locator(name).first.is_visible()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.pdf(page_ranges="1").startswith(b"%PDF")
    page.emulate_media(media="screen", color_scheme="light")


def test_the_study_report_draws_every_figure(opened, study_page, study_rows):
    from playwright.sync_api import expect

    page = opened(study_page)
    assert page.locator("figure .chart svg").count() == page.locator("figure .chart").count() >= 10
    page.locator("#figure-k-f1 summary").click()
    rows = page.locator("#figure-k-f1 table tbody tr")
    expect(rows).to_have_count(analysis.size_curves(study_rows, size_kind="k").height)
    dots = page.locator("#figure-k-f1 svg .mark-symbol.role-mark path")
    dots.first.hover(force=True)
    expect(page.locator("#vg-tooltip-element")).to_contain_text("value")
    index = page.get_by_role("navigation").get_by_role("link")
    linked = index.evaluate_all("links => links.map(each => each.hash.slice(1))")
    sections = page.locator("section:has(figure)")
    several = page.locator("section:has(figure + figure) figure, section > .figures > figure + figure")
    assert {each.get_attribute("id") for each in (*sections.all(), *several.all())} <= set(linked)
    # One click chooses the learner for the whole page.
    page.get_by_role("radio", name="svm").first.click()
    page.wait_for_function("location.hash === '#learner=svm'")
    expect(page.get_by_role("radio", name="svm", checked=True)).to_have_count(
        page.locator(".chooser[data-key=learner]").count()
    )


def test_a_saved_chart_opens_offline(opened, folder, counts):
    table = analysis.telling_terms(counts, HOSTILE[0])
    charts.save(charts.term_bars(table), folder / "bars.html")
    page = opened((folder / "bars.html").as_uri(), ready="#chart .marks")
    assert page.evaluate("window.broken") is None
