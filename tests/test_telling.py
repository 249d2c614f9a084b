"""The word tables people read: against per-document loops and the plain ranking."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy
import Stemmer
from scipy import sparse

from termsieve import (
    Corpus,
    Counts,
    class_summary,
    compare_metrics,
    count,
    rank,
    score,
    select_terms,
    telling_words,
)
from termsieve.errors import InputError, ParameterError
from termsieve.telling import class_words, common_terms, words_for_and_against

TEXTS = [
    "cheap pills now, buy",
    "buy cheap watches",
    "see you at noon",
    "minutes of the meeting",
    "the meeting is at noon",
    "the match at noon, what a match",
    "they won the match",
]
LABELS = ["spam", "spam", "ham", "ham", "ham", "sport", "sport"]
COLUMNS = ["rank", "term", "score", "class", "direction", "tp", "fp", "pos", "neg"]


@pytest.fixture(scope="module")
def corpus():
    return Corpus(TEXTS, LABELS, name="mail")


def documents_with(term, label, inside):
    return sum(
        term in text.replace(",", "").split() and (own == label) == inside
        for text, own in zip(TEXTS, LABELS, strict=True)
    )


@pytest.mark.parametrize(
    "options",
    [{}, {"side": "positive"}, {"side": "negative"}, {"combine": "mean"}, {"ratio": 0.5}, {"target": "spam"}],
    ids=str,
)
def test_the_rows_count_documents_of_the_class_they_name(corpus, options):
    frame = telling_words(corpus, "chi_squared", **options)
    assert frame.columns == COLUMNS
    assert frame["rank"].to_list() == list(range(1, len(frame) + 1))
    for row in frame.to_dicts():
        assert row["tp"] == documents_with(row["term"], row["class"], True)
        assert row["fp"] == documents_with(row["term"], row["class"], False)
        assert (row["pos"], row["pos"] + row["neg"]) == (LABELS.count(row["class"]), len(TEXTS))
        assert row["direction"] == np.sign(row["tp"] * row["neg"] - row["fp"] * row["pos"])


def test_the_class_is_the_one_with_the_highest_score(corpus):
    scores = score(count(corpus), "chi_squared")
    for row in telling_words(corpus, "chi_squared", side="both").to_dicts():
        column = scores.counts.terms.tolist().index(row["term"])
        at = scores.classes.tolist().index(row["class"])
        assert scores.values[at, column] == scores.values[:, column].max() == row["score"]


def test_a_side_names_a_class_on_that_side_where_there_is_one(corpus):
    directions = score(count(corpus), "bns").direction
    terms = count(corpus).terms.tolist()
    for side, sign in (("positive", 1), ("negative", -1)):
        for row in telling_words(corpus, side=side, k=100).to_dicts():
            if (directions[:, terms.index(row["term"])] == sign).any():
                assert row["direction"] == sign


def test_the_order_is_that_of_the_ranking(corpus):
    counts = count(corpus)
    best = rank(score(counts.take(["ham"]), "ig")).terms[:5].tolist()
    assert telling_words(corpus, "ig", target="ham", side="both", k=5)["term"].to_list() == best


def test_each_class_on_its_own(corpus):
    frame = telling_words(corpus, each=True, k=2)
    assert frame.select("class", "rank").rows() == [(c, r) for c in ("ham", "spam", "sport") for r in (1, 2)]
    for label in ("ham", "spam", "sport"):
        own = telling_words(corpus, target=label, k=2)
        assert frame.filter(pl.col("class") == label).equals(own)


def test_a_ranking_without_scores_names_the_class_by_difference_of_shares(corpus):
    from termsieve.ranking import Ranking

    counts = count(corpus)
    at = counts.terms.tolist().index("match")
    frame = Ranking(np.array([at]), np.zeros(counts.n_terms), counts).to_frame()
    assert frame.select("class", "direction", "tp", "fp").row(0) == ("sport", 1, 2, 0)


def test_every_kind_of_source_gives_the_same_words(tmp_path, corpus):
    expected = telling_words(count(corpus))
    columns = {"body": TEXTS, "folder": LABELS}
    pl.DataFrame(columns).write_csv(tmp_path / "mail.csv")
    count(corpus).save(tmp_path / "counts.parquet")
    for number, rows in enumerate((slice(0, 3), slice(3, None))):
        pl.DataFrame(columns)[rows].write_ndjson(tmp_path / f"part{number}.jsonl")
        count(corpus.subset(rows)).save(tmp_path / f"part{number}.parquet")
    for label in set(LABELS):
        (tmp_path / "folders" / label).mkdir(parents=True)
    for number, (text, label) in enumerate(zip(TEXTS, LABELS, strict=True)):
        (tmp_path / "folders" / label / f"{number}.txt").write_text(text)
    named = {"text": "body", "label": "folder"}
    assert telling_words(corpus).equals(expected)
    assert telling_words(pl.DataFrame(columns), **named).equals(expected)
    assert telling_words(pd.DataFrame(columns), **named).equals(expected)
    assert telling_words(tmp_path / "mail.csv", **named).equals(expected)
    assert telling_words([tmp_path / f"part{n}.jsonl" for n in (0, 1)], **named).equals(expected)
    assert telling_words(tmp_path / "counts.parquet").equals(expected)
    assert telling_words([tmp_path / f"part{n}.parquet" for n in (0, 1)]).equals(expected)
    assert telling_words(str(tmp_path / "folders")).equals(expected)


def test_term_options_and_occurrences_reach_the_counter(corpus):
    words = telling_words(corpus, k=100, ngram_range=(2, 2))["term"].to_list()
    assert "the meeting" in words
    assert "meeting" not in words
    found = telling_words(corpus, "word_frequency", target="sport", k=100)
    assert dict(found.select("term", "score").iter_rows())["match"] == "".join(TEXTS).count("match")


WRONG = [
    ({"k": 0}, ParameterError, "k must be a whole number"),
    ({"metric": "bnz"}, ParameterError, "did you mean 'bns'"),
    ({"target": "eggs"}, ParameterError, "class 'eggs' is unknown"),
    ({"target": "spam", "each": True}, ParameterError, "leave out target="),
    ({"text": "body"}, ParameterError, "text= is for files and frames"),
    ({"format": "table"}, ParameterError, "format= is for files and frames"),
]


@pytest.mark.parametrize(("options", "error", "sentence"), WRONG, ids=[s for _, _, s in WRONG])
def test_wrong_calls_are_told(corpus, options, error, sentence):
    with pytest.raises(error, match=sentence):
        telling_words(corpus, **options)


def test_wrong_sources_are_told(tmp_path, corpus):
    with pytest.raises(InputError, match="only one class 'spam'"):
        telling_words(corpus.subset([0, 1]))
    with pytest.raises(InputError, match="a int holds no documents"):
        telling_words(3)
    with pytest.raises(InputError, match="a list holds no documents"):
        telling_words([("a", "b")])
    with pytest.raises(ParameterError, match="stop_words= is for documents"):
        telling_words(count(corpus), stop_words="english")
    count(corpus).save(tmp_path / "counts.parquet")
    pl.DataFrame({"text": TEXTS, "label": LABELS}).write_csv(tmp_path / "mail.csv")
    with pytest.raises(InputError, match="one kind at a time"):
        telling_words([tmp_path / "counts.parquet", tmp_path / "mail.csv"])
    with pytest.raises(ParameterError, match="delimiter= is for files"):
        telling_words(pl.read_csv(tmp_path / "mail.csv"), delimiter=";")


def test_the_words_for_and_against_are_the_best_of_each_direction(corpus):
    counts = count(corpus)
    frame = words_for_and_against(counts, "ham", "chi_squared", n=3)
    ranking = rank(score(counts.take(["ham"]), "chi_squared")).to_frame()
    for sign in (1, -1):
        expected = ranking.filter(pl.col("direction") == sign).head(3)
        assert frame.filter(pl.col("direction") == sign).equals(expected)
    with pytest.raises(ParameterError, match="3 classes; choose one"):
        words_for_and_against(counts)


def test_the_class_summary_counts_documents(corpus):
    expected = [("ham", 3, 3 / 7, 4 / 3), ("spam", 2, 2 / 7, 2.5), ("sport", 2, 2 / 7, 2.5)]
    assert class_summary(corpus).rows() == expected
    empty = Counts([[0], [1]], [0, 1], [1], 1, ["a", "b"])
    assert class_summary(empty)["skew"].to_list() == [None, 0.0]


def test_the_commonest_terms_come_first(corpus):
    frame = common_terms(corpus, n=3)
    counted = Counter(term for text in TEXTS for term in set(text.replace(",", "").split()))
    assert frame["documents"].to_list() == sorted(counted.values(), reverse=True)[:3]
    assert all(counted[row["term"]] == row["documents"] for row in frame.to_dicts())


def test_selected_terms_are_those_of_the_cut(corpus):
    everything = telling_words(corpus, "chi", side="both", k=1000)["term"].to_list()
    assert select_terms(corpus, "chi", k=3) == everything[:3]
    assert select_terms(corpus, "chi", fraction=0.5) == everything[: round(len(everything) / 2)]
    assert select_terms(corpus, "chi") == everything
    with pytest.raises(ParameterError, match="not k and fraction together"):
        select_terms(corpus, k=3, fraction=0.5)
    with pytest.raises(ParameterError, match="the cut-off keeps no word"):
        select_terms(corpus, threshold=1e9)


def test_whole_numbers_as_classes_keep_their_type(tmp_path):
    corpus = Corpus(["one two", "two three"], [1, 2])
    assert telling_words(corpus, side="both", k=1)["class"].to_list() == [2]
    assert telling_words(corpus, target="1", k=1)["class"].to_list() == [1]
    assert class_summary(corpus)["class"].to_list() == [1, 2]
    count(corpus).save(tmp_path / "c.parquet")
    assert telling_words(tmp_path / "c.parquet", target=2, k=1)["class"].to_list() == [2]


def test_far_too_many_scores_are_refused():
    """A number per document in the place of the label: 10**6 classes and 10**4 terms would take an hour."""
    tp = sparse.csr_array(([1], ([5], [7])), shape=(10**6, 10**4), dtype=np.int64)
    counts = Counts(tp, np.ones(10**6), np.arange(10**4) == 7, 10**6, np.arange(10**6))
    for ask in (telling_words, select_terms, compare_metrics):
        with pytest.raises(InputError, match=r"1,000,000 classes and 10,000 terms are too many to score"):
            ask(counts, combine="mean")
    with pytest.raises(InputError, match="choose one class with target="):
        telling_words(counts, each=True)
    assert telling_words(counts, target=5, k=3).height == 1
    assert class_summary(counts).height == 10**6
    assert set(class_words(counts)["words"]) == {""}


def test_the_best_words_of_a_million_classes():
    tp = sparse.csr_array(([1, 1, 1], ([5, 5, 8], [7, 9, 9])), shape=(10**6, 10**4), dtype=np.int64)
    df = np.bincount([7, 9, 9], minlength=10**4)
    counts = Counts(tp, np.ones(10**6), df, 10**6, np.arange(10**6))
    rows = telling_words(counts, k=2).select("term", "class", "direction", "tp", "fp").rows()
    assert rows == [("x7", 5, 1, 1, 0), ("x9", 5, 1, 1, 1)]
    assert select_terms(counts, k=1) == ["x7"]


def test_a_short_list_has_the_words_for_every_class():
    mail = Corpus(["buy cheap", "buy now", "see you", "see me"], ["spam", "spam", "ham", "ham"])
    found = telling_words(mail, k=2).select("term", "class", "direction").rows()
    assert found == [("buy", "spam", 1), ("see", "ham", 1)]
    assert telling_words(mail, "chi", side="both", k=2)["direction"].to_list() == [1, -1]
    assert telling_words(mail, ratio=0.5, k=2)["direction"].to_list() == [1, -1]


def test_under_a_smoothed_signed_metric_the_direction_is_the_sign_of_the_score():
    counts = Counts(np.array([[0, 9]]), [10], [3, 9], 7770, ["few"], terms=["rare", "sure"])
    assert score(counts, "chi").direction.tolist() == [[-1, 1]]
    scores = score(counts, "log_odds_ratio")
    assert scores.values[0, 0] == pytest.approx(4.66, abs=0.005)
    assert scores.direction.tolist() == [[1, 1]]
    assert rank(scores).to_frame()["direction"].to_list() == [1, 1]
    assert words_for_and_against(counts, "few", "log_odds_ratio")["term"].to_list() == ["sure", "rare"]


def test_repeated_sentences_take_one_place():
    texts = ["goal goal match all rights reserved"] * 6 + ["goal scored"] * 3 + ["vote all"] * 6
    corpus = Corpus(texts, ["sport"] * 9 + ["politics"] * 6)
    repeated = telling_words(corpus, target="sport", k=4)["term"].to_list()
    assert repeated == ["goal", "match", "reserved", "rights"]
    found = telling_words(corpus, target="sport", k=4, redundancy=0.9)
    assert found["term"].to_list()[:3] == ["goal", "match", "scored"]
    assert found["rank"].to_list() == [1, 2, 3]
    with pytest.raises(ParameterError, match="redundancy= needs the documents"):
        telling_words(count(corpus), redundancy=0.9)


# What SciPy's own page says of each subpackage; the pages are not among the documents. These are the stems
# that `reproductions.demo_words.expected_stems` finds for SciPy 1.17. Two of five words is the least; the
# docstrings of an older SciPy are other documents, of which one class may miss it.
EXPECTED = json.loads((Path(__file__).parent / "data" / "scipy_pages.json").read_text(encoding="utf-8"))


def test_the_demo_names_words_that_a_person_would():
    from termsieve.cli.demo import _documents

    _, classes = _documents()
    assert {row["class"] for row in classes} == set(EXPECTED)
    short = []
    for row in classes:
        words = row["words"].split(", ")
        assert len(words) == 5
        stems = Stemmer.Stemmer("english").stemWords(words)
        if sum(stem in EXPECTED[row["class"]].split() for stem in stems) < 2:
            short.append(row)
    assert len(short) <= (not scipy.__version__.startswith("1.17.")), short


@pytest.mark.skipif(not scipy.__version__.startswith("1.17."), reason="the pages are those of SciPy 1.17")
def test_the_expected_words_are_those_of_scipys_pages():
    from reproductions.demo_words import expected_stems

    assert {name: " ".join(stems) for name, stems in expected_stems().items()} == EXPECTED
