"""Reports from corpora, counts and results: what they say, that they are whole, bounded and safe."""

import base64
import gzip
import hashlib
import json
import os
import re
from html.parser import HTMLParser

import numpy as np
import polars as pl
import pytest

import termsieve
from termsieve import Corpus, Counts, corpus_report, study_report
from termsieve.analysis.values import by_learner
from termsieve.errors import InputError, ParameterError
from termsieve.reports.claims import study_claims
from termsieve.reports.corpus import METRICS
from termsieve.reports.reading import documents_of

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</style><b>",
    "\u202eevil",
    "x" * 400,
    "🐘",
]


class Elements(HTMLParser):
    """The elements of a page with their attributes, and the text of each script."""

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.tags, self.scripts, self.text, self._open = [], [], "", None
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._open = tag
        if tag == "script":
            self.scripts.append((dict(attrs), ""))

    def handle_endtag(self, tag):
        self._open = None

    def handle_data(self, data):
        if self._open == "script":
            attrs, text = self.scripts[-1]
            self.scripts[-1] = (attrs, text + data)
        elif self._open != "style":
            self.text += data + " "

    @property
    def data(self):
        packed = next(text for attrs, text in self.scripts if attrs.get("id") == "data")
        return json.loads(gzip.decompress(base64.b64decode(packed)))


@pytest.fixture(scope="module")
def corpus():
    generator = np.random.default_rng(5)
    words = [f"w{i}" for i in range(80)]
    texts, labels = [], []
    for i in range(90):
        label = ["ham", "spam", "eggs"][i % 3]
        own = words[20 * (i % 3) : 20 * (i % 3) + 20]
        texts.append(" ".join([*generator.choice(words, 12), *generator.choice(own, 8)]))
        labels.append(label)
    texts += ["", texts[0], texts[0]]
    labels += ["ham", "ham", "spam"]
    return Corpus(texts, labels, name="mail")


@pytest.fixture(scope="module")
def page(corpus):
    return Elements(corpus_report(corpus))


def facts(page_text):
    return re.sub(r"\s+", " ", page_text)


def test_the_corpus_report_says_what_the_corpus_is(page):
    text = facts(page.text)
    assert "documents 93" in text
    assert "classes 3" in text
    assert "distinct terms 80" in text
    assert "1 document has no terms at all." in text
    assert "2 documents repeat the terms of another one exactly" in text
    assert "3 documents with equal terms have different labels." in text


def test_every_class_has_words_and_bars(page):
    data = page.data
    drawn = {"classes", "terms", "bars", "overlap", "sparsity", "isoclines", "surface"}
    assert set(data) == drawn | {"pairs", "figures", "repeated"}
    assert [len(data[name]) for name in ("terms", "bars", "overlap")] == [9, 9, 1]
    columns = data["terms"][0]["columns"]
    assert columns == ["term", "speaks", "score", "tp", "fp", "rank", "class", "metric"]
    for at, table in enumerate(data["terms"]):
        rows = [dict(zip(columns, row, strict=True)) for row in table["rows"]]
        assert {row["class"] for row in rows} == {["eggs", "ham", "spam"][at // 3]}
        assert {row["metric"] for row in rows} == {METRICS[at % 3]}
        assert {row["speaks"] for row in rows} == {"for", "against"}


def test_rows_that_a_chart_holds_are_not_stored_twice(page):
    for variant in page.data["overlap"]:
        assert "rows" not in variant
        points = variant["spec"]["datasets"][variant["data"]]
        assert set(points[0]) == set(variant["columns"])


def test_the_words_of_a_class_are_those_of_its_ranking(corpus, page):
    X, terms = termsieve.term_matrix(corpus)
    counts = Counts.from_matrix(X, corpus.labels, terms=terms)
    eggs = counts.take([0])
    best = termsieve.rank(termsieve.score(eggs, METRICS[0])).terms[:5].tolist()
    rows = [row for row in page.data["terms"][0]["rows"] if row[5] <= 5]
    assert [row[0] for row in sorted(rows, key=lambda row: row[5])] == best


def test_counts_make_the_same_report_without_what_documents_tell(corpus, page):
    X, terms = termsieve.term_matrix(corpus)
    other = Elements(corpus_report(Counts.from_matrix(X, corpus.labels, terms=terms), title="mail"))
    assert other.data["bars"] == page.data["bars"]
    assert other.data["terms"] == page.data["terms"]
    assert "repeat" not in facts(other.text).split("Left out")[0]
    assert "not known from counts alone" in other.text


def test_a_report_is_the_same_twice_and_is_written_as_it_is_returned(corpus, tmp_path):
    html = corpus_report(corpus, tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == html
    assert corpus_report(corpus) == html


def test_hostile_words_and_labels_stay_text():
    texts = [f"{a} {b}" for a in HOSTILE for b in HOSTILE]
    labels = [HOSTILE[i % 6] for i in range(36)]
    counts = Counts.from_matrix(np.random.default_rng(0).integers(0, 2, (36, 6)), labels, terms=HOSTILE)
    for source in (Corpus(texts, labels, name=HOSTILE[1]), counts):
        found = Elements(corpus_report(source))
        assert [tag for tag, _ in found.tags if tag in ("img", "b", "iframe", "object")] == []
        assert len(found.scripts) == (4 if source is counts else 5)  # with texts there is a model to try
        assert sum(tag == "style" for tag, _ in found.tags) == 1
        assert "<script>alert(1)</script>" in found.text  # as a class in the list
        assert not any(name.startswith("on") for _, attrs in found.tags for name in attrs)
    assert "<script>alert(1)</script>" in json.dumps(found.data)


@pytest.mark.skipif(os.name == "nt", reason="Windows allows no such names")
def test_a_hostile_path_stays_text(tmp_path):
    path = tmp_path / "<img src=x onerror=alert(1)> & 'quotes'.csv"
    path.write_text("text,label\ncheap pills,spam\nsee you,ham\n")
    html = corpus_report(path, metrics=["bns"])
    assert "<img" not in html
    assert html.count("&lt;img src=x onerror=alert(1)&gt; &amp; &#39;quotes&#39;") == 2  # title and heading


def test_lone_surrogates_are_written(tmp_path):
    counts = Counts.from_matrix([[1, 0], [0, 1]], ["a", "b"], terms=["\ud800x", "y"])
    corpus_report(counts, tmp_path / "report.html")
    assert "?x" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_the_policy_allows_the_own_scripts_and_nothing_from_outside(page):
    (policy,) = [a["content"] for tag, a in page.tags if a.get("http-equiv") == "Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "http:" not in policy
    assert "'unsafe-inline'" not in policy.split("script-src")[1]
    for attrs, text in page.scripts:
        if attrs.get("type") != "text/plain":
            digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
            assert f"'sha256-{digest}'" in policy
    addresses = [a.get(name, "#") for _, a in page.tags for name in ("src", "href", "action")]
    assert all(address.startswith("#") for address in addresses)


def test_giveaways_and_small_classes():
    X = np.zeros((40, 3), dtype=int)
    X[:20, 0] = 1  # in every document of the class, and in no other
    X[::2, 1] = 1
    counts = Counts.from_matrix(X, ["a"] * 20 + ["b"] * 17 + ["c"] * 3, terms=["label", "common", "never"])
    text = Elements(corpus_report(counts)).text
    assert "1 term gives its class away, such as “label” in 100% of a and 0.0% of the rest" in text
    assert "Fewer than 10 documents are in: c (3)" in text


def test_one_class_and_two_classes_and_several_labels():
    one = Elements(corpus_report(Corpus(["a b c dd", "dd ee"], ["x", "x"])))
    assert "There is only one class" in one.text
    two = Elements(corpus_report(Corpus(["aa bb", "bb cc", "cc dd"], ["y", "x", "x"])))
    assert [variant["rows"][0][6] for variant in two.data["terms"][::3]] == ["x", "y"]
    (first,) = {a["data-first"] for tag, a in two.tags if a.get("data-key") == "class" and tag == "fieldset"}
    assert first == "1"  # y, the rarer
    several = Elements(corpus_report(Corpus(["aa bb", "bb cc", "cc dd"], [("x",), ("x", "y"), ()])))
    assert "2, several per document" in facts(several.text)


def test_many_classes_are_cut_to_the_largest():
    generator = np.random.default_rng(1)
    y = generator.choice(40, 600, p=(w := np.arange(1, 41.0)) / w.sum())
    X = generator.integers(0, 2, (600, 30))
    found = Elements(corpus_report(Counts.from_matrix(X, y), max_classes=5))
    assert len(found.data["bars"]) == 15
    assert "no words here, only the 5 largest" in found.text


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: corpus_report([1]), InputError, "needs documents or their counts .*, not list"),
        (lambda: corpus_report(Corpus(["", ""], ["a", "b"])), InputError, "nothing to report|has a term"),
        (
            lambda: corpus_report(Corpus(["aa", "bb"], ["a", "b"]), max_classes=0),
            ParameterError,
            "max_classes",
        ),
        (lambda: study_report([1]), InputError, "needs Results or a polars frame"),
        (lambda: study_report(pl.DataFrame()), InputError, "no rows"),
    ],
)
def test_what_cannot_be_reported_is_said_in_a_sentence(call, error, words):
    with pytest.raises(error, match=words):
        call()


@pytest.fixture(scope="module")
def study_page(study_rows):
    return Elements(study_report(study_rows, title="Toy"))


def test_the_study_report_has_the_papers_figures(study_page):
    curves = {f"k-{name}" for name in ("f1", "precision", "recall", "accuracy", "f1-break-even")}
    trade = {"precision-recall", "skew", "skew-low", "skew-high", "needed", "trade-off"}
    wanted = curves | trade | {"best-chances", "pairs", "backups", "ranks", "paired", "isoclines", "surface"}
    assert set(study_page.data) == wanted
    text = facts(study_page.text)
    assert "problems 12" in text
    assert "trials x test parts 2 x 2" in text
    assert "polars " in text


def test_a_study_report_is_the_same_twice(study_rows, study_page):
    assert (
        Elements(study_report(study_rows.sample(fraction=1, shuffle=True, seed=3), title="Toy")).data
        == study_page.data
    )


def test_claims_hold(study_rows):
    claims = study_claims(by_learner(study_rows))
    curves = termsieve.analysis.size_curves(study_rows)
    best = curves.filter(pl.col("size_kind") == "k").sort("value", descending=True).row(0, named=True)
    assert claims[0].startswith(f"svm: the highest macro F1, {best['value']:.3f}")
    assert f"is that of {best['method']} with {best['size']:g} terms" in claims[0]
    beaten = next(claim for claim in claims if "by more than chance" in claim)
    tests = termsieve.analysis.paired_tests(
        study_rows, best["size"], reference=best["method"], unit="problem"
    )
    for row in tests.to_dicts():
        assert (row["second"] in beaten) == (row["p_wilcoxon_holm"] < 0.05 and row["difference"] > 0)


def test_no_claim_without_the_numbers(study_rows):
    one = study_rows.filter((pl.col("method") == "bns") & (pl.col("problem") == "class 3"))
    claims = study_claims(by_learner(one))
    assert not any("chance" in claim or "pair" in claim or "within" in claim for claim in claims)
    found = Elements(study_report(one))
    assert "Chances and tests compare methods; there is only one." in found.text
    assert "ranks" not in found.data


def test_learners_are_choices_and_selections_are_shown(study_rows):
    both = pl.concat([study_rows, study_rows.with_columns(learner=pl.lit("<b>nb</b>"))])
    fixed = {"corpus": "one", "trial": 0, "method": "icc", "size_kind": "k", "size": 2.0}
    chosen = [("class 1", 0, [1, 2]), ("class 1", 1, [2, 3]), ("class 2", 0, [1, 2]), ("class 2", 1, [1, 2])]
    own = [{"problem": p, "fold": fold, "terms": terms} for p, fold, terms in chosen]
    tuned = {"learner": None, "ratio": 0.4, "lam": None, "curve": [0.1, 0.2, 0.3]}
    types = {"lam": pl.Float64, "learner": pl.String}
    selections = pl.DataFrame([fixed | each | tuned for each in own], schema_overrides=types)
    found = Elements(study_report(both.lazy(), selections=selections.lazy(), measure="recall"))
    by_metric = {"isoclines", "surface"}
    assert {len(found.data[name]) for name in by_metric} == {4}
    assert {len(variants) for name, variants in found.data.items() if name not in by_metric} == {2}
    assert {"stability", "chosen-ratio", "tuning-ratio"} <= set(found.data)
    assert [tag for tag, _ in found.tags if tag == "b"] == []
    assert "How often a method is near the best Recall" in found.text


def test_words_of_shared_passages_are_not_counted_and_documents_stay_whole():
    note = "sent from my phone please excuse brevity and typing errors"
    texts = [f"cheap pill{i} {note}" if i % 2 else f"meeting at noon{i} {note}" for i in range(8)]
    corpus = Corpus(texts, ["ham", "spam"] * 4)
    found = documents_of(corpus, [], 1, True, True, {})
    assert set(found.counts.terms) == {"cheap", "meeting", "at"} | {
        f"pill{i}" if i % 2 else f"noon{i}" for i in range(8)
    }
    assert list(found.texts) == texts
    page = corpus_report(corpus, drop_passages=True)
    assert "passages that three documents or more share" in page
    assert "passages that three documents or more share" not in corpus_report(corpus)
    with pytest.raises(InputError, match="drop_passages= needs the documents"):
        corpus_report(termsieve.count(corpus), drop_passages=True)
