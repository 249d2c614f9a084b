"""Words in their classes and documents: rates, ranks, context, examples, company, duplicates."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from termsieve import Counts, analysis, get_metric, rank, score
from termsieve.analysis.context import Span, TermFinder, found_documents, masked, passages
from termsieve.analysis.examples import ExampleSampler
from termsieve.analysis.wordmap import best_for, scored_tables
from termsieve.errors import InputError
from termsieve.terms import Analysis

METRICS = ("correlation_coefficient", "bns", "odds_ratio", "information_gain")


@pytest.fixture(scope="module")
def counts():
    generator = np.random.default_rng(4)
    y = generator.choice(["a", "b", "c"], 80, p=[0.6, 0.3, 0.1])
    rates = generator.beta(0.4, 2, (3, 40))
    X = generator.random((80, 40)) < rates[np.unique(y, return_inverse=True)[1]]
    return Counts.from_matrix(X.astype(int), y, terms=[f"t{i}" for i in range(40)])


@given(st.integers(0, 50), st.integers(1, 50), st.sampled_from([0.8, 0.95, 0.99]))
def test_the_interval_of_a_rate_is_wilsons(hits, total, level):
    hits = min(hits, total)
    wanted = binomtest(hits, total).proportion_ci(level, method="wilson")
    assert np.array(analysis.rate_interval(hits, total, level)) == pytest.approx(
        [wanted.low, wanted.high], abs=1e-9
    )


def test_rates_and_ranks_of_a_word(counts):
    table = analysis.word_rates(counts, "t7", METRICS)
    assert table["rate"].to_list() == sorted(table["rate"], reverse=True)
    for row in table.to_dicts():
        c = counts.position(row["class"])
        assert row["with_word"] == counts.tp[c, 7]
        assert row["rest"] == pytest.approx((counts.df[7] - counts.tp[c, 7]) / counts.neg[c])
        for metric in METRICS:
            ranking = rank(score(counts.take([c]), metric))
            position = 1 + ranking.order.tolist().index(7)
            better = int((ranking.scores > ranking.scores[7] + 1e-12).sum())
            assert row[f"rank_{metric}"] == better + 1 <= position


def test_an_unknown_word_is_named_with_a_similar_one(counts):
    with pytest.raises(InputError, match="no document has the word 't77'; did you mean"):
        analysis.word_rates(counts, "t77")


@pytest.mark.parametrize("metrics", [METRICS, ("bns", "word_odds_ratio")])
def test_tables_give_every_word_its_score_and_rank(metrics):
    X = np.random.default_rng(0).integers(0, 3, (30, 12))
    counted = Counts.from_matrix(X, ["a", "b", "b"] * 10, occurrences=True)
    for c in range(2):
        own = counted.take([c])
        found = scored_tables(own, [get_metric(metric) for metric in metrics])
        for m, metric in enumerate(metrics):
            values = score(own, metric).values[0]
            assert found.scores[m][found.of_word] == pytest.approx(values)
            higher = [(np.abs(values) > abs(value) + 1e-12).sum() + 1 for value in values]
            assert found.ranks[m][found.of_word].tolist() == higher
        best = best_for(own, found, 3)
        assert all(own.tp[0, t] / own.pos[0] > own.fp[0, t] / own.neg[0] for t in best)


@given(st.text("ab cd\n.,-é", max_size=80), st.sampled_from([1, 2, 3]), st.sampled_from([None, ["ab"]]))
def test_terms_are_found_where_the_analysis_finds_them(text, most, stops):
    how = Analysis(ngram_range=(1, most), stop_words=stops, strip_accents="unicode")
    spans = list(TermFinder(how).spans(text))
    assert sorted(span.term for span in spans) == sorted(how.analyser()(text))
    for span in spans:
        if " " not in span.term:
            assert list(Analysis(strip_accents="unicode").analyser()(text[span.start : span.stop])) == [
                span.term
            ]


@given(st.text("abc  d", min_size=0, max_size=900), st.integers(0, 800))
def test_passages_hold_the_word_and_keep_to_the_room(text, at):
    at = min(at, len(text))
    whole = text[:at] + " goal " + text[at:]
    found = passages(whole, [Span(at + 1, at + 5, "goal")], 400)
    assert "goal" in found
    assert len(found) <= 400 + 10
    assert found == whole or "…" in found


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Mail a.b@c.org today", "Mail [mail] today"),
        ("see www.x.org/a?b=1 and http://y.de", "see [address] and [address]"),
        ("on 2024-05-06 at 12:30", "on [number] at [number]"),
        ("+49 30 123 456", "[number]"),
        ("nothing here", "nothing here"),
    ],
)
def test_masks(text, wanted):
    assert masked(text) == wanted


def test_documents_are_found_by_word_and_label():
    batches = [(["Goals win", "a goal"], [("x",), ("x", "y")]), (["GOAL!", "none"], [("y",), ()])]
    found = [(each.number, each.labels) for each in found_documents(batches, Analysis(), "goal")]
    assert found == [(2, ["x", "y"]), (3, ["y"])]
    assert [each.number for each in found_documents(batches, Analysis(), "goal", "x")] == [2]
    assert [each.number for each in found_documents(batches, Analysis(stem="porter"), "goal")] == [1, 2, 3]
    assert [each.number for each in found_documents(batches, Analysis())] == [1, 2, 3, 4]


@pytest.fixture(scope="module")
def texts():
    generator = np.random.default_rng(9)
    labels = generator.choice(["a", "b", "c"], 200).tolist()
    own = {"a": ["red", "blue"], "b": ["one", "two"], "c": ["cat", "dog"]}
    drawn = [
        " ".join([*generator.choice([f"w{i}" for i in range(30)], 6), *generator.choice(own[label], 2)])
        for label in labels
    ]
    return drawn, labels


def sampler_of(texts, labels, n, step, with_matrix):
    X, terms = _matrix(texts)
    counts = Counts.from_matrix(X, labels, terms=terms)
    sampler = ExampleSampler(counts, np.argsort(-counts.df, kind="stable"), Analysis(), n)
    for start in range(0, len(texts), step):
        rows = slice(start, start + step)
        sampler.add(texts[rows], labels[rows], X[rows] if with_matrix else None)
    return counts, sampler


def _matrix(texts):
    from termsieve import term_matrix

    return term_matrix(texts)


def test_examples_are_the_same_however_the_documents_come(texts):
    drawn, labels = texts
    seen = [
        sampler_of(drawn, labels, 2, step, with_matrix)[1].examples()
        for step, with_matrix in ((200, True), (7, True), (50, False))
    ]
    assert seen[0] == seen[1] == seen[2]


def test_every_word_has_the_most_typical_document_of_its_class(texts):
    """Against a plain search over all documents."""
    drawn, labels = texts
    counts, sampler = sampler_of(drawn, labels, 1, 60, True)
    examples = sampler.examples()
    bags = [set(re.findall(r"\w\w+", text)) for text in drawn]
    names = counts.names().tolist()
    odds = np.log((counts.tp + 0.5) / (counts.pos[:, None] + 1)) - np.log(
        (counts.fp + 0.5) / (counts.neg[:, None] + 1)
    )
    classes = counts.classes.tolist()

    def typical(i):
        c = classes.index(labels[i])
        return sum(odds[c, names.index(word)] for word in bags[i]) / (len(bags[i]) + 20)

    shown = {word: each for each in examples for word in each.shows}
    assert set(shown) == set(names)
    for word, each in shown.items():
        own = [i for i in range(len(drawn)) if word in bags[i]]
        at = names.index(word)
        best = max({labels[i] for i in own}, key=lambda label: odds[classes.index(label), at])
        wanted = max(typical(i) for i in own if labels[i] == best)
        assert typical(each.number - 1) == pytest.approx(wanted)
        assert classes[each.classes[0]] == best


def test_company_counts_documents_with_both_words(texts):
    drawn, labels = texts
    counts, sampler = sampler_of(drawn, labels, 1, 60, True)
    bags = [set(text.split()) for text in drawn]
    names = counts.names()
    company = sampler.company()
    for column, found in zip(company.words.tolist(), company.best(4), strict=True):
        for other, both in found:
            assert both == sum({names[column], names[other]} <= bag for bag in bags)
    found = dict(zip(names[company.words], company.best(1), strict=True))
    assert names[found["red"][0][0]] == "blue"


def test_duplicates_and_conflicts():
    texts = ["Buy now", "see you", "buy  NOW", "", "", "hello", "Hello", "buy now"]
    labels = ["spam", "ham", "spam", "ham", "spam", "ham", "ham", "ham"]
    table = analysis.duplicate_documents(analysis.text_keys(texts), labels)
    assert table.rows() == [
        (1, 0, ["spam"], True),
        (1, 2, ["spam"], True),
        (1, 7, ["ham"], True),
        (2, 5, ["ham"], False),
        (2, 6, ["ham"], False),
    ]
    several = analysis.duplicate_documents([b"x", b"x"], [("a", "b"), ("b", "a")])
    assert several["conflict"].to_list() == [False, False]
    listed = analysis.repeated_documents(table, texts)
    assert listed["document"].to_list() == [1, 3, 8, 6, 7]
    assert listed["conflict"].to_list() == ["labels differ"] * 3 + [""] * 2
