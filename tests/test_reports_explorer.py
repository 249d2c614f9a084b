"""The explorer in a real browser without network: from a word to its documents, and nothing runs or loads."""

import base64
import gzip
import json
import re
import struct

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS
from tests.browser import CHROMIUM, Visits

from termsieve import Corpus, Counts, corpus_report, rank, score, term_matrix
from termsieve.reports.corpus import METRICS

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium")
PLANTED = "The zyzzyva sang over the harbour at dawn."
HOSTILE = "<img src=x onerror=window.broken=1><script>window.broken=1</script> </script> \u202e evilword 🐘"
TOPICS = {
    "sport": ["goal", "match", "team", "league", "player", "coach", "referee", "stadium"],
    "business": ["market", "shares", "profit", "bank", "growth", "economy", "firm", "deal"],
    "film": ["film", "actor", "award", "director", "music", "oscar", "album", "band"],
}


def generated(n=150):
    generator = np.random.default_rng(7)
    common = [f"word{i}" for i in range(120)]
    names = list(TOPICS)
    texts, labels = [], []
    for i in range(n):
        label = names[i % 3 if i % 5 else 0]
        own = TOPICS[label] if i % 11 else TOPICS[names[(i + 1) % 3]]
        words = [*generator.choice(common, 18), *generator.choice(own, 5)]
        generator.shuffle(words)
        texts.append(" ".join(words).capitalize() + ".")
        labels.append(label)
    texts[10] += " " + PLANTED
    texts[20] += " " + HOSTILE
    texts[30] = texts[31]
    return Corpus(texts, labels, name="news")


def unpacked(html):
    """The explorer's data of a page, read independently of the page's script."""
    (text,) = re.findall(r'id="store">([^<]*)<', html)
    content = gzip.decompress(base64.b64decode(text))
    (length,) = struct.unpack("<I", content[:4])
    head = json.loads(content[4 : 4 + length])
    kinds = {"Uint8Array": "<u1", "Uint16Array": "<u2", "Uint32Array": "<u4", "Float32Array": "<f4"}
    for name, kind, at, n in head.pop("arrays"):
        head[name] = np.frombuffer(content, kinds[kind], n, 4 + length + at)
    return head


@pytest.fixture(scope="module")
def corpus():
    return generated()


@pytest.fixture(scope="module")
def counts(corpus):
    X, terms = term_matrix(corpus)
    return Counts.from_matrix(X, corpus.labels, terms=terms)


@pytest.fixture(scope="module")
def html(corpus, tmp_path_factory):
    return corpus_report(corpus, tmp_path_factory.mktemp("explorer") / "news.html", sizes=(5, 20, 50))


@pytest.fixture(scope="module")
def address(html, tmp_path_factory):
    path = tmp_path_factory.mktemp("explorer") / "page.html"
    path.write_text(html, encoding="utf-8")
    return path.as_uri()


@pytest.fixture(scope="module")
def shared(browser, address):
    visits = Visits(browser)
    visits.page = visits.open(address)
    yield visits
    visits.close()


@pytest.fixture
def page(shared):
    """The page, opened once, for tests that close the panel and empty the search behind them."""
    yield shared.page
    shared.page.keyboard.press("Escape")
    shared.page.get_by_role("searchbox", name="Find a word").fill("")
    if shared.page.evaluate("classShown()"):
        shared.page.evaluate("chooseClass(0)")
    assert shared.faults == []


def panel(page):
    return page.locator("#word")


def searched(page, word):
    page.get_by_role("searchbox", name="Find a word").fill(word)
    return page.get_by_role("listbox", name="Words found").get_by_role("option")


def test_a_word_in_no_chart_is_found_and_its_sentence_read(page):
    from playwright.sync_api import expect

    assert "zyzzyva" not in page.locator("figure .chart").all_inner_texts()
    options = searched(page, "zyzz")
    expect(options).to_have_count(1)
    options.first.click()
    region = page.get_by_role("region", name="zyzzyva")
    expect(region).to_be_visible()
    article = region.get_by_role("article").filter(has_text=PLANTED)
    expect(article).to_have_count(1)
    assert article.locator("mark").all_text_contents() == ["zyzzyva"]
    assert "word=zyzzyva" in page.url
    page.keyboard.press("Escape")
    expect(region).to_be_hidden()
    assert "word=" not in page.url


def test_the_search_lists_hits_and_says_not_found(page):
    from playwright.sync_api import expect

    says = page.locator("#search-says")
    options = searched(page, "word1")
    names = [text.split()[0] for text in options.all_inner_texts()]
    assert names[0] == "word1"
    assert len(names) == 31  # word1, word10 to word19, word100 to word119
    expect(says).to_have_text("31 words")
    expect(searched(page, "nosuchword")).to_have_count(0)
    expect(says).to_have_text("“nosuchword” not found")
    # The arrow keys choose a hit, and Enter opens it.
    searched(page, "goal")
    page.keyboard.press("ArrowDown")
    expect(page.locator("#hits [aria-selected=true]")).to_have_text(re.compile("^goal"))
    page.keyboard.press("Enter")
    expect(page.get_by_role("region", name="goal")).to_be_visible()


@pytest.mark.parametrize("place", ["bar", "table", "tile", "pair"])
def test_a_word_opens_from_every_place(page, place):
    from playwright.sync_api import expect

    if place == "bar":
        page.locator("#figure-bars svg .mark-rect.role-mark path").first.click(force=True)
    elif place == "table":
        page.locator("#figure-terms td button.word").first.click()
    elif place == "tile":
        page.locator("#tiles .chips button").first.click()
    else:
        page.locator("#figure-pairs td button.word").first.click()
    expect(panel(page)).to_be_visible()
    assert panel(page).locator("h2").inner_text() in {word for words in TOPICS.values() for word in words}
    expect(panel(page).get_by_role("article").first).to_be_visible()


def test_rates_intervals_scores_and_ranks_are_those_of_the_library(page, counts):
    page.evaluate("openWord('goal')")
    at = counts.names().tolist().index("goal")
    rows = panel(page).locator("table.rates tbody tr")
    found = {cells[0]: cells[1:] for cells in (row.locator("th, td").all_inner_texts() for row in rows.all())}
    for c, label in enumerate(counts.classes.tolist()):
        tp, pos = int(counts.tp[c, at]), int(counts.pos[c])
        bounds = binomtest(tp, pos).proportion_ci(method="wilson")
        _, interval, documents = found[label]
        assert documents == f"{tp} of {pos}"
        low, high = (float(part.strip(" %")) / 100 for part in interval.split("–"))
        assert (low, high) == pytest.approx((bounds.low, bounds.high), abs=0.0051, rel=0.06)
    own = counts.take([0])  # business, the class that is shown first
    for row, metric in zip(
        panel(page).locator("table").nth(1).locator("tbody tr").all(), METRICS, strict=True
    ):
        name, value, place, _ = row.locator("th, td").all_inner_texts()
        ranking = rank(score(own, metric))
        position = 1 + ranking.order.tolist().index(at)
        first, _, tied = place.partition(" (with ")
        ties = int(tied.split()[0]) if tied else 0
        assert name == metric
        assert abs(float(value)) == pytest.approx(ranking.scores[at], rel=1e-3)
        assert int(first) <= position <= int(first) + ties


def test_the_company_of_a_word_is_counted(page, corpus):
    page.evaluate("openWord('goal')")
    chips = panel(page).locator(".chips li").all_inner_texts()
    pairs = dict(chip.rsplit(" ", 1) for chip in chips)
    assert set(pairs) & set(TOPICS["sport"])
    bags = [set(re.findall(r"\w\w+", text.lower())) for text in corpus.texts]
    for other, both in pairs.items():
        assert int(both) == sum({"goal", other} <= bag for bag in bags)


@pytest.mark.slow
def test_examples_are_typical_of_the_class_in_view_first(opened, address):
    from playwright.sync_api import expect

    view = opened(address + "#word=goal&class=sport")
    expect(view.get_by_role("region", name="goal")).to_be_visible()
    assert panel(view).locator("h4").first.inner_text() == "sport"
    articles = panel(view).get_by_role("article")
    assert all("goal" in text.lower() for text in articles.locator("mark").all_text_contents())
    assert view.locator(".chooser[data-key=class] select").first.evaluate("each => each.value") == "2"
    # A class chosen in the panel is chosen on the whole page.
    panel(view).locator("table.rates button", has_text="film").click()
    view.wait_for_function("location.hash.includes('class=film')")
    expect(panel(view).locator("h3", has_text="Scores in film")).to_be_visible()
    view.reload()
    expect(view.get_by_role("region", name="goal")).to_be_visible()


def test_hostile_documents_are_text(page, html):
    page.evaluate("openWord('evilword')")
    article = panel(page).get_by_role("article")
    assert "<script>window.broken=1</script>" in article.first.inner_text()
    assert page.locator("main img, #word img, #word script").count() == 0
    assert page.evaluate("window.broken") is None
    assert html.count("window.broken") == 0  # what documents say is compressed, never markup


def test_the_map_reaches_every_word(page, counts):
    """All words of all points together are the vocabulary, and a click lists those of one point."""
    assert page.evaluate("[...new Set(map.points.of)].flatMap(wordsAt).length") == counts.n_terms
    page.locator("#wordmap").scroll_into_view_if_needed()
    box = page.locator("#wordmap").bounding_box()
    p = page.evaluate(
        "[...map.points.n.keys()].reduce((a, b) => (map.points.n[b] > map.points.n[a] ? b : a))"
    )
    x, y = page.evaluate("p => [toX(map.points.x[p]), toY(map.points.y[p])]", p)
    page.mouse.move(box["x"] + x, box["y"] + y)
    assert re.search(r"score .*, rank \d+", page.locator("#map-tip").inner_text())
    page.mouse.click(box["x"] + x, box["y"] + y)
    n = page.evaluate("p => map.points.n[p]", p)
    assert page.locator("#map-here button.word").count() == n
    page.locator("#map-here button.word").last.click()
    assert panel(page).is_visible()


def test_stop_words_and_document_frequencies_are_in_the_file(tmp_path):
    texts = [text + " the of and to in is that for it with as be" for text in generated().texts]
    said = corpus_report(Corpus(texts, generated().labels), sizes=(5,))
    head = unpacked(said)
    marked = {head["words"][i] for i in head["stop"]}
    assert marked >= {"the", "of", "and", "to", "in", "is", "that", "for", "it", "with"}
    assert marked <= ENGLISH_STOP_WORDS
    assert head["cutoffs"] == [3, 75]
    assert "Crosses: English stop words. Dotted lines: terms in 3 and in 75 documents." in said


def test_without_stop_words_none_are_marked(html):
    head = unpacked(html)
    assert (head["stop"].size, head["cutoffs"]) == (0, [3, 75])
    assert "Crosses:" not in html
    assert 'id="map-stop"' not in html
    assert 'id="map-cutoffs"' in html


def test_the_map_draws_lines_of_document_frequencies(page, counts):
    """Every point of a line has this document frequency, and the box hides the lines."""
    pos, neg = int(counts.pos[0]), int(counts.n_docs - counts.pos[0])
    for scale in ("near", "whole"):
        page.locator("#map-near").select_option(scale)
        for cut in (3, 75):
            line = np.array(page.evaluate("cut => cutoffLine(cut)", cut))
            if scale == "near":
                fp, tp = (np.expm1(line[:, i] * np.log1p(n)) for i, n in enumerate((neg, pos)))
            else:
                fp, tp = line[:, 0] * neg, line[:, 1] * pos
            np.testing.assert_allclose(fp + tp, cut, atol=1e-6)
            assert fp.min() == pytest.approx(max(0, cut - pos), abs=1e-6)
            assert fp.max() == pytest.approx(min(cut, neg), abs=1e-6)
    page.locator("#map-near").select_option("near")
    picture = "() => { drawMap(); return mapCanvas.toDataURL(); }"
    drawn = page.evaluate(picture)
    page.locator("#map-cutoffs").uncheck()
    assert page.evaluate(picture) != drawn
    assert "cutoffs=false" in page.url
    page.locator("#map-cutoffs").check()
    assert page.evaluate(picture) == drawn


@pytest.mark.slow
def test_the_map_crosses_the_points_of_stop_words(opened, tmp_path):
    texts = [text + " the of and to in is that for it with as be" for text in generated().texts]
    path = tmp_path / "page.html"
    corpus_report(Corpus(texts, generated().labels), path, sizes=(5,))
    view = opened(path.as_uri())
    for axes in ("frequency", "ranks", "rates"):
        view.locator("#map-axes").select_option(axes)
        crossed = view.evaluate("map.points.stop.flatMap(wordsAt).map(word => store.words[word])")
        assert set(crossed) >= {"the", "of", "and"}
        assert "goal" not in crossed
    picture = "() => { drawMap(); return mapCanvas.toDataURL(); }"
    drawn = view.evaluate(picture)
    view.locator("#map-stop").uncheck()
    assert view.evaluate(picture) != drawn


def test_the_best_words_stand_beside_the_map(page, counts):
    """Those that the library ranks first, and a click opens their panel."""
    names, best = counts.names(), page.locator("#map-best ol")
    for place, side in ((0, "positive"), (1, "negative")):
        ranking = rank(score(counts.take([0]), METRICS[0]), side=side)
        listed = best.nth(place).locator("button").all_inner_texts()
        scores = [abs(ranking.scores[names.tolist().index(word)]) for word in listed]
        assert len(listed) == 12
        assert scores == sorted(scores, reverse=True)
        assert scores[0] == abs(ranking.scores[ranking.order[0]])
    page.locator("#map-axes").select_option("ranks")
    assert page.locator("#map-best h3").all_inner_texts() == ["For business", "For film"]
    page.locator("#map-axes").select_option("rates")
    best.first.locator("button").first.click()
    assert panel(page).locator("h2").inner_text() == best.first.locator("button").first.inner_text()


def test_a_word_of_a_tile_opens_in_the_class_of_the_tile(page):
    from playwright.sync_api import expect

    tile = page.locator("#tiles > li", has=page.get_by_role("button", name="sport"))
    tile.locator(".chips button").first.click()
    expect(panel(page).locator("h3", has_text="Scores in sport")).to_be_visible()
    assert "class=sport" in page.url


def test_labels_of_the_map_do_not_overlap_and_axes_change_them(page):
    pixels = (
        "() => { drawMap(); return mapCanvas.toDataURL().length + ':' + map.labels.map(l => l.text).join(); }"
    )
    seen = set()
    for axes in ("frequency", "ranks", "rates"):
        page.locator("#map-axes").select_option(axes)
        for zoom in (1, 0.5):
            page.evaluate("zoom => { resetView(); zoomMap(zoom, 0.2, 0.8); drawMap(); }", zoom)
            boxes = page.evaluate("map.labels.map(label => label.box)")
            assert boxes
            for i, a in enumerate(boxes):
                for b in boxes[:i]:
                    assert a[0] > b[2] or a[2] < b[0] or a[1] > b[3] or a[3] < b[1]
        seen.add(page.evaluate(pixels))
    assert len(seen) == 3
    assert "axes=" not in page.url


def test_the_address_holds_the_map(opened, address):
    view = opened(address + "#axes=ranks&other=2&k=5&show_1=false&search=word7&class=sport")
    values = view.evaluate("mapControls().map(control => [control.dataset.name, controlValue(control)])")
    assert dict(values) | {"axes": "ranks", "other": "2", "k": "5", "show_1": "false"} == dict(values)
    assert view.evaluate("map.marked.size") == 11
    assert view.evaluate("classShown()") == 2


def test_the_overview_sorts_and_searches(page, counts):
    from playwright.sync_api import expect

    names = page.locator("#tiles > li h3")
    sizes = dict(zip(counts.classes.tolist(), counts.pos.tolist(), strict=True))
    assert names.all_inner_texts() == sorted(sizes, key=lambda name: -sizes[name])
    page.locator("#tiles-order").select_option("name")
    assert names.all_inner_texts() == sorted(sizes)
    page.get_by_role("searchbox", name="Find a class").fill("referee")
    expect(page.locator("#tiles > li:visible")).to_have_count(1)
    page.get_by_role("searchbox", name="Find a class").fill("")
    page.locator("#tiles-order").select_option("documents")
    tile = page.locator("#tiles > li", has=page.get_by_role("button", name="sport"))
    assert re.search(r"F1 [01]\.\d\d", tile.inner_text())
    assert "nearest:" in tile.inner_text()


def test_mistakes_are_listed_with_the_words_that_decided(page, corpus):
    cells = page.locator("#confusion tbody td:not(.right) button")
    labels = cells.evaluate_all("cells => cells.map(cell => cell.getAttribute('aria-label'))")
    assert labels
    cells.first.click()
    own, given = re.fullmatch(r"\d+ documents of (\w+) as (\w+)", labels[0]).groups()
    articles = page.locator("#mistakes-list article")
    for text in articles.all_inner_texts():
        assert f"labelled {own}, the classifier says {given}" in text
    assert articles.first.locator("mark").count() > 0
    number = int(re.search(r"Document (\d+)", articles.first.inner_text())[1])
    assert corpus.labels[number - 1] == own
    with page.expect_download() as download:
        page.locator("button[data-mistakes=json]").click()
    rows = json.loads(download.value.path().read_text(encoding="utf-8"))
    assert {row["label"] for row in rows} == {own}
    page.locator("#mistakes-own").select_option("")
    page.locator("#mistakes-given").select_option("")


def test_repeated_documents_are_a_table(page):
    rows = page.locator("#figure-repeated tbody tr").all_inner_texts()
    assert {re.split(r"\s+", row)[1] for row in rows} >= {"31", "32"}


@pytest.mark.slow
def test_no_serious_fault_for_people_who_use_other_means(page):
    """axe-core finds nothing serious, with and without the panel, in light and dark."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        for word in (None, "goal"):
            if word:
                page.evaluate("word => openWord(word)", word)
            found = axe.run(page, options={"resultTypes": ["violations"]}).response["violations"]
            serious = [each for each in found if each["impact"] in ("serious", "critical")]
            told = [(each["id"], [node["html"][:160] for node in each["nodes"][:3]]) for each in serious]
            assert told == []
        page.keyboard.press("Escape")
    page.emulate_media(color_scheme="light")


@pytest.mark.slow
@pytest.mark.parametrize("width", [400, 1400])
def test_the_panel_fits_the_screen(opened, address, width):
    view = opened(address + "#word=goal&class=sport", viewport={"width": width, "height": 800})
    assert view.evaluate("document.documentElement.scrollWidth") <= width
    box = panel(view).bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width
    assert panel(view).locator("article").first.evaluate("each => each.scrollWidth <= each.clientWidth + 1")


@pytest.mark.slow
def test_counts_and_no_text_say_why_there_are_no_documents(opened, counts, corpus, tmp_path):
    for name, source, how, why in (
        ("counts", counts, {}, "These are counts, which hold no text"),
        ("silent", corpus, {"show_text": False}, "The report was made without texts"),
    ):
        html = corpus_report(source, tmp_path / f"{name}.html", sizes=(5,), metrics=["bns"], **how)
        assert unpacked(html)["docs"] == []
        assert PLANTED not in html
        view = opened((tmp_path / f"{name}.html").as_uri() + "#word=zyzzyva")
        assert panel(view).is_visible()
        assert why in panel(view).inner_text()
        assert panel(view).get_by_role("article").count() == 0
        assert panel(view).locator("table.rates tbody tr").count() == 3


def test_masked_documents_have_no_numbers_and_addresses(corpus):
    texts = [f"{text} Call 0049 30 12345 or mail jo@example.org" for text in corpus.texts]
    html = corpus_report(Corpus(texts, corpus.labels), mask=True, sizes=(5,), metrics=["bns"])
    data = unpacked(html)
    assert data["docs"]
    assert not any(re.search(r"\d\d|@", doc["t"]) for doc in data["docs"] if "[number]" in doc["t"])
    assert all("[mail]" in doc["t"] for doc in data["docs"])
    assert not any(re.search(r"\d", word) for word in data["words"])


@pytest.mark.slow
def test_several_labels_work_throughout(opened, tmp_path):
    generator = np.random.default_rng(3)
    names = list(TOPICS)
    labels = [tuple(name for name in names if generator.random() < 0.5) for _ in range(90)]
    texts = []
    for own in labels:
        words = [f"word{j}" for j in generator.integers(0, 40, 6)]
        texts.append(" ".join(words + [word for name in own for word in generator.choice(TOPICS[name], 4)]))
    corpus_report(Corpus(texts, labels), tmp_path / "several.html", sizes=(5,), metrics=["bns"])
    view = opened((tmp_path / "several.html").as_uri() + "#word=goal&class=sport")
    assert panel(view).locator("h4").first.inner_text() == "sport"
    first = panel(view).get_by_role("article").first.inner_text()
    assert "sport" in first.rpartition(":")[2]
    assert view.locator("#confusion td").count() > 9


@pytest.mark.slow
def test_stems_and_word_pairs_are_marked_as_they_stand(opened, tmp_path):
    texts = ["Running dogs ran in New York", "She runs to New York", "quiet cats sleep", "a cat sleeps"] * 2
    corpus = Corpus(texts, ["dog", "dog", "cat", "cat"] * 2)
    how = {"sizes": (5,), "metrics": ["bns"], "stem": "porter", "ngram_range": (1, 2), "examples": 9}
    corpus_report(corpus, tmp_path / "stems.html", **how)
    view = opened((tmp_path / "stems.html").as_uri() + "#word=run&class=dog")
    assert set(panel(view).locator("mark").all_text_contents()) == {"Running", "runs"}
    view.evaluate("openWord('new york')")
    assert set(panel(view).locator("mark").all_text_contents()) == {"New York"}


@pytest.mark.slow
def test_a_page_keeps_to_its_megabytes_and_says_what_is_missing():
    generator = np.random.default_rng(0)
    n_terms, n_classes, pos = 60_000, 6, 500
    df = np.minimum((generator.pareto(0.9, n_terms) + 1).astype(int), 2900)
    tp = generator.binomial(np.minimum(df, pos), generator.beta(0.5, 8, (n_classes, n_terms)))
    counts = Counts(tp, [pos] * n_classes, df, pos * n_classes, [f"class {c}" for c in range(n_classes)],
                    [f"a rather long word {i}" for i in range(n_terms)], multilabel=True)  # fmt: skip
    most = len(corpus_report(counts, metrics=["bns"])) / 1e6 - 0.1
    html = corpus_report(counts, metrics=["bns"], max_megabytes=most)
    assert len(html.encode()) <= most * 1e6
    left_out = re.search(r"([\d,]+) of 60,000 words are left out, the least telling ones", html)
    data = unpacked(html)
    assert len(data["words"]) == 60_000 - int(left_out[1].replace(",", ""))
    best = {
        counts.names()[column] for c in range(6) for column in rank(score(counts.take([c]), "bns")).order[:20]
    }
    assert best <= set(data["words"])
    with pytest.raises(Exception, match=r"max_megabytes=0\.5 is too little"):
        corpus_report(counts, metrics=["bns"], max_megabytes=0.5)


@pytest.mark.slow
def test_a_table_read_in_pieces_gives_the_same_words_and_documents(corpus, tmp_path, monkeypatch):
    """Everything but what only a term matrix in memory shows: repeated documents."""
    path = tmp_path / "news.parquet"
    corpus.to_frame().write_parquet(path)
    how = {"sizes": (5,), "metrics": ["bns"], "title": "news"}
    whole = unpacked(corpus_report(path, **how))
    monkeypatch.setattr("termsieve.reports.reading.STREAMED_BYTES", 0)
    seen = []
    pieces = unpacked(corpus_report(path, progress=lambda share, what: seen.append(share), **how))
    assert whole.keys() == pieces.keys()
    for name in ("words", "df", "tp", "high0.0", "companyWith", "companyBoth"):
        assert np.array_equal(whole[name], pieces[name]), name
    assert [doc["n"] for doc in whole["docs"]] == [doc["n"] for doc in pieces["docs"]]
    assert [doc["t"] for doc in whole["docs"]] == [doc["t"] for doc in pieces["docs"]]
    assert seen == sorted(seen)
    assert (seen[0], seen[-1]) == (0.0, 1.0)


@pytest.mark.slow
@pytest.mark.corpora
def test_space_in_the_newsgroups(opened, data_dir, tmp_path):
    from termsieve import read

    html = corpus_report(read(data_dir / "20_newsgroups"), tmp_path / "news.html")
    assert len(html.encode()) <= 5e6
    view = opened((tmp_path / "news.html").as_uri() + "#word=space&class=sci.space")
    assert panel(view).locator("h4").first.inner_text() == "sci.space"
    assert panel(view).get_by_role("article").count() >= 3
    assert set(map(str.lower, panel(view).locator("mark").all_text_contents())) == {"space"}
    searched(view, "spacecraft").first.click()
    view.get_by_role("region", name="spacecraft").wait_for()
    assert panel(view).get_by_role("article").count() >= 1
