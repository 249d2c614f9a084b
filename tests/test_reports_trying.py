"""The box for a text in reports: a small classifier in the page decides as the one in Python, offline."""

import numpy as np
import pytest
from tests.browser import CHROMIUM, Visits
from tests.test_reports import Elements

from termsieve import Corpus, advise, corpus_report
from termsieve.errors import ParameterError
from termsieve.portable.scorer import Model as Plain
from termsieve.reports.reading import documents_of
from termsieve.reports.trying import CannotTryError, tried_model

HOSTILE = "</script><img src=x onerror='window.broken=1'>"
WORDS = {
    "spam": ["cheap", "pills", "buy", "offer7"],
    "ham": ["meeting", "noon", "minutes", "report"],
    HOSTILE: ["goal", "team", "match", "league"],
}
TEXT = "Cheap pills and the MATCH of the league, <b>offer7</b>"


def corpus_of(labels=tuple(WORDS), n=120, several=False):
    generator = np.random.default_rng(0)
    texts, own = [], []
    for number in range(n):
        label = labels[number % len(labels)]
        texts.append(
            " ".join(
                [*generator.choice(WORDS[label], 3), *generator.choice([f"word{i}" for i in range(30)], 5)]
            )
        )
        own.append((label, labels[0]) if several and number % 4 == 0 else (label,) if several else label)
    return Corpus(texts, own, name="mail")


def matrix_of(n):
    return Corpus(
        matrix=np.eye(n, dtype=int), labels=["ham", "spam"] * (n // 2), terms=[f"t{i}" for i in range(n)]
    )


def model_in(corpus, **options):
    return tried_model(documents_of(corpus, [], 1, True, False, dict(options)))


def test_the_figures_are_those_of_the_model_in_the_page():
    corpus = corpus_of()
    description, section = model_in(corpus)
    held = np.random.default_rng(0).permutation(len(corpus)) % 5 == 0
    plain = Plain(description)
    right = [plain.decide(corpus.texts[row]) == corpus.labels[row] for row in np.flatnonzero(held)]
    assert section.live
    assert f"is right for {np.mean(right):.1%} of them" in section.text[0]
    assert f"measured on {held.sum()} documents" in section.text[0]


def test_terms_are_cut_as_in_the_report():
    corpus = corpus_of()
    assert "buy cheap" in model_in(corpus, ngram_range=(1, 2))[0]["terms"]
    description, _ = tried_model(documents_of(corpus, [], 1, True, False, {}), mask=True)
    assert "cheap" in description["terms"]
    assert not [term for term in description["terms"] if any(letter.isdigit() for letter in term)]


def test_several_labels_are_tried_as_well():
    description, section = model_in(corpus_of(several=True))
    assert description["decision"] == "each"
    assert Plain(description).decide("goal team match league") == [HOSTILE]
    assert "right for" not in section.text[0]


@pytest.mark.parametrize(
    ("corpus", "options", "message"),
    [
        (corpus_of(), {"stem": "german"}, "no text can be tried: the stemmer 'german' cannot be exported"),
        (matrix_of(12), {}, "the texts"),
        (Corpus(["a1 b1"] * 900, [str(i % 450) for i in range(900)]), {}, "of 450 classes is too large"),
    ],
)
def test_why_nothing_can_be_tried_is_told(corpus, options, message):
    with pytest.raises(CannotTryError, match=message):
        model_in(corpus, **options)
    assert message in Elements(corpus_report(corpus, **options)).text


@pytest.fixture(scope="module")
def advised():
    corpus = corpus_of(("ham", "spam"))
    return advise(corpus, minutes=0.01, probabilities=True), corpus


@pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium")
def test_a_text_is_tried_in_the_corpus_report(browser, tmp_path):
    corpus = corpus_of()
    corpus_report(corpus, tmp_path / "report.html")
    description, _ = model_in(corpus)
    assert box_says(browser, tmp_path / "report.html") == expected(description)


@pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium")
def test_a_text_is_tried_in_the_advice(browser, tmp_path, advised):
    advice, corpus = advised
    advice.report(tmp_path / "advice.html", corpus=corpus)
    assert box_says(browser, tmp_path / "advice.html") == expected(advice.model(corpus).describe())


def box_says(browser, path):
    visits = Visits(browser)
    page = visits.open(path.as_uri())
    page.locator("#live-given").fill(TEXT)
    said = page.locator("#live-class").inner_text()
    margin = page.locator("#live-margin").inner_text()
    marked = [part for part in page.locator("#live-text mark").all_inner_texts() if part.strip()]
    assert page.locator("#live-text").inner_text() == TEXT
    assert page.evaluate("window.broken") is None
    visits.close()
    return said, margin, marked


def expected(description):
    """What the scorer in Python says: the class, the margin, and the words that it knows."""
    plain = Plain(description)
    values = plain.values(TEXT)
    if description["decision"] == "two":
        sure = max(plain.probabilities(TEXT))
        margin = f"(margin {abs(values[0]):.3f}, probability {sure:.3f})"
    else:
        first, second = np.argsort(values)[::-1][:2]
        margin = f"(margin {values[first] - values[second]:.3f} before {plain.classes[second]})"
    known = [word for word in ("Cheap", "pills", "MATCH", "league", "offer7") if plain.counts(word)]
    return plain.decide(TEXT), margin, known


def test_the_advice_has_the_card_of_its_model(advised):
    advice, corpus = advised
    page = Elements(advice.report(corpus=corpus))
    model = advice.model(corpus)
    assert model.record.fingerprint in page.text
    assert "It is meant for texts like those of mail" in page.text
    assert "Model card" not in Elements(advice.report()).text
    rows = {
        figure: variants[0]["rows"] for figure, variants in page.data.items() if figure.startswith("card")
    }
    assert rows["card-data"] == [["ham", 60, "50.0%"], ["spam", 60, "50.0%"]]
    assert {"cheap", "buy"} <= set(rows["card-words"][0][1].split(", "))
    assert model.record.call == "termsieve.advise(corpus, goal='f1').model(corpus)"
    with pytest.raises(ParameterError, match="needs the texts"):
        advice.model(matrix_of(4))


def test_a_large_classifier_gives_way_to_a_small_one(advised, monkeypatch):
    advice, corpus = advised
    large = len(advice.model(corpus).describe()["terms"])
    point = advice.within(0.01)
    monkeypatch.setattr("termsieve.adviser.report.MOST_WEIGHTS", large - 1)
    text = Elements(advice.report(corpus=corpus)).text
    small = None if point is None else len(advice.model(corpus, point.choice).describe()["terms"])
    told = "too many terms for a page" if small is not None and small < large else f"has {large} weights; ask"
    assert told in text
    monkeypatch.setattr("termsieve.adviser.report.MOST_WEIGHTS", 0)
    assert f"has {large} weights; ask for a smaller one" in Elements(advice.report(corpus=corpus)).text
