"""Reports in a real browser: nothing fails, nothing is fetched, and every control changes what it should."""

import csv
import io
import json
import re

import numpy as np
import polars as pl
import pytest
from tests.browser import CHROMIUM, Visits

from termsieve import Counts, analysis, charts, corpus_report, study_report
from termsieve.reports.corpus import METRICS

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium")
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
[...document.querySelectorAll('figure:not([data-script])')].map(figure => {
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
    options = page.locator(".chooser[data-key=class]").first.locator("option").all_inner_texts()
    assert sorted(option.rsplit(" (", 1)[0] for option in options) == sorted(HOSTILE[:3])
    assert HOSTILE[0] in cells(page, "classes", 1)
    assert any(HOSTILE[0] in word or "🐘" in word for word in cells(page, "terms", 1))


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


def test_of_two_classes_the_rarer_is_shown_and_a_click_shows_the_other(opened, two_page):
    from playwright.sync_api import expect

    page = opened(two_page)
    says = page.locator(".says").first
    expect(says).to_have_text(
        "Words for and against spam, the rarer of two classes, 3 documents of 12: "
        "a word against spam speaks for ham."
    )
    speaks = dict(zip(cells(page, "terms", 1), cells(page, "terms", 2), strict=True))
    assert (speaks["buy"], speaks["hello"]) == ("for", "against")
    page.get_by_role("radio", name="ham").first.click()
    expect(says).to_contain_text("Words for and against ham")
    expect(page.locator("#figure-terms tbody tr", has_text="hello").locator("td").nth(1)).to_have_text("for")
    assert page.url.endswith("#class=ham")
    page.get_by_role("radio", name="spam").first.click()
    expect(page.locator("#figure-terms tbody tr", has_text="buy").locator("td").nth(1)).to_have_text("for")


@pytest.mark.slow
@pytest.mark.parametrize("width", [400, 1400])
def test_nothing_is_cut_off_at_any_width(opened, corpus_page, study_page, width):
    for address in (corpus_page, study_page):
        page = opened(address, viewport={"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.locator("figure .chart svg").count() >= 4
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
    for _ in range(150):
        page.keyboard.press("Tab")
    reached = page.evaluate("window.reached")
    wanted = {
        "SELECTselect-one",
        "INPUTsearch",
        "INPUTcheckbox",
        "CANVAS",
        "BUTTONbutton",
        "SUMMARY",
        "A",
    }
    assert wanted <= set(reached)
    before = drawing(page, "bars")
    for key, same in (("ArrowDown", False), ("ArrowUp", True)):
        drawn = page.locator("body").get_attribute("data-drawn")
        page.locator(".chooser[data-key=class] select").first.focus()
        page.keyboard.press(key)
        page.wait_for_function("before => document.body.dataset.drawn !== before", arg=drawn)
        assert (drawing(page, "bars") == before) == same


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


@pytest.mark.slow
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
