"""Documents without the passages that several of them share."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from termsieve import Corpus, Counts, count, telling_words
from termsieve.cli.app import app
from termsieve.cli.shell import exit_code
from termsieve.errors import InputError, ParameterError
from termsieve.passages import without_passages
from termsieve.telling import class_words

NOTE = "This message is meant for you alone; please destroy it if it reached you by mistake"
MAILS = [f"{word} {NOTE}." for word in ("pay", "buy", "win")] + ["destroy the mistake", "see you", "you win"]
LABELS = ["spam"] * 3 + ["ham"] * 3


def kept_words(texts, words, documents):
    """The words of each text that are in no shared passage, by comparing all passages with all texts."""
    split = [[word.lower() for word in re.findall(r"\w+", text)] for text in texts]
    runs = [{tuple(row[i : i + words]) for i in range(len(row) - words + 1)} for row in split]
    kept = []
    for row in split:
        shared = set()
        for i in range(len(row) - words + 1):
            if sum(tuple(row[i : i + words]) in other for other in runs) >= documents:
                shared.update(range(i, i + words))
        kept.append([word for i, word in enumerate(row) if i not in shared])
    return kept


@given(
    texts=st.lists(st.text(alphabet="abAB .,\n", max_size=30), min_size=1, max_size=6),
    words=st.integers(2, 6),
    documents=st.integers(2, 4),
)
def test_equals_a_comparison_of_all_passages_with_all_texts(texts, words, documents):
    corpus = Corpus(texts, np.arange(len(texts)))
    found = without_passages(corpus, words=words, documents=documents)
    plain = [[word.lower() for word in re.findall(r"\w+", text)] for text in found.texts]
    assert plain == kept_words(texts, words, documents)
    assert found.labels.tolist() == corpus.labels.tolist()


def test_case_and_punctuation_do_not_matter_and_the_rest_stays_as_it_is():
    texts = [f"A-1! {NOTE}\n\nBye.", NOTE.upper(), NOTE.replace(" ", "\n > "), "İstanbul & more"]
    found = without_passages(Corpus(texts, list("abcd"), split=["train"] * 4, name="mails"))
    assert found.texts == ("A-1! \n\n\nBye.", "\n", "\n", "İstanbul & more")
    assert found.name == "mails"
    assert found.parts.tolist() == ["train"] * 4


def test_passages_within_one_document_and_in_two_documents_stay():
    once, twice = "one two three four five six seven eight", "a b c d e f g h"
    texts = (f"{once} {once} {once}", twice, twice)
    assert without_passages(Corpus(texts, [1, 2, 2])).texts == texts


def test_words_of_a_shared_sentence_are_no_longer_telling():
    corpus = Corpus(MAILS, LABELS)
    assert "message" in telling_words(corpus, target="spam", k=8)["term"].to_list()
    found = telling_words(corpus, target="spam", drop_passages=True)
    assert found["term"].to_list() == ["buy", "pay", "win", *found["term"].to_list()[3:]]
    assert found.filter(found["term"] == "mistake")["tp"].to_list() == [0]
    assert found.equals(telling_words(without_passages(corpus), target="spam"))
    assert class_words(corpus, 2, drop_passages=True)["words"].to_list()[1] == "buy, pay"
    both = telling_words(corpus, target="spam", drop_passages=True, redundancy=0.9)
    assert set(both["term"]) <= set(found["term"])


def test_a_likely_passage_is_pointed_out(tmp_path, capsys):
    note = "sent from my phone please excuse brevity and errors"
    rows = [(f"buy {i} {note}", "spam") for i in range(6)] + [(f"see {i}", "ham") for i in range(6)]
    path = tmp_path / "mail.csv"
    path.write_text("text,label\n" + "".join(f"{text},{label}\n" for text, label in rows))
    assert exit_code(app, ["rank", str(path), "--class", "spam"]) == 0
    assert "are in equally many documents" in capsys.readouterr().err
    assert exit_code(app, ["rank", str(path), "--class", "spam", "--drop-passages"]) == 0
    said = capsys.readouterr()
    assert "are in equally many documents" not in said.err
    assert "phone" not in said.out


def test_counts_without_shared_passages(tmp_path, capsys):
    path, out = tmp_path / "mail.csv", tmp_path / "counts.parquet"
    rows = "".join(f'"{text}",{label}\n' for text, label in zip(MAILS, LABELS, strict=True))
    path.write_text("text,label\n" + rows)
    line = ["count", str(path), "--drop-passages", "-o", str(out)]
    assert exit_code(app, [*line, "--occurrences"]) == 0
    assert Counts.load(out) == count(without_passages(Corpus(MAILS, LABELS)), occurrences=True)
    capsys.readouterr()
    assert exit_code(app, [*line, "--by", "label"]) == 2
    assert "leave out more files, --by" in capsys.readouterr().err
    assert exit_code(app, ["count", str(out), "--drop-passages", "-o", str(tmp_path / "again.parquet")]) == 2
    assert "holds counts, but this command needs the documents" in capsys.readouterr().err


def test_what_has_no_texts_is_told():
    with pytest.raises(InputError, match="this corpus holds a term matrix"):
        without_passages(Corpus(matrix=[[1], [0]], labels=[0, 1]))
    with pytest.raises(ParameterError, match="drop_passages= needs the documents themselves"):
        telling_words(count(Corpus(MAILS, LABELS)), drop_passages=True)


@pytest.mark.parametrize("wrong", [{"words": 1}, {"documents": 1}, {"words": 2.0}, {"documents": True}])
def test_wrong_numbers_are_told(wrong):
    with pytest.raises(ParameterError, match="must be a whole number of 2 or more"):
        without_passages(Corpus(MAILS, LABELS), **wrong)
