"""The compiled tokeniser beside a plain one that follows the definition character by character."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from termsieve.kernels.documents import Alphabet, Documents
from termsieve.kernels.tokenise import TermTable, place_rows

from termsieve.terms import Analysis
from termsieve.terms.alphabet import N_CODE_POINTS, alphabet_of, lower_case, members

WORD = alphabet_of("", r"\w", True)
ODD = "İıΣσςßẞǅſKÅ𐐀ΆЁé́̇_0٣²中\ud83d\ude00\udfff\x00\x1c\x85 \n-'.aAzZ😀"
texts = st.text(st.one_of(st.characters(), st.sampled_from(ODD), st.sampled_from("abAB1_ ")), max_size=30)


def tokens_by_definition(text, atom, min_length, starts_word, ends_word, lowercase):
    """Cut runs of the characters that match `atom`; a slow reading of what the kernel does."""
    if lowercase:
        text = text.lower()
    runs, start = [], None
    for i, c in enumerate([*text, None]):
        inside = c is not None and re.fullmatch(atom, c) is not None
        if inside and start is None:
            start = i
        if not inside and start is not None:
            before = start > 0 and re.fullmatch(r"\w", text[start - 1])
            after = i < len(text) and re.fullmatch(r"\w", text[i])
            if i - start >= min_length and not (starts_word and before) and not (ends_word and after):
                runs.append(text[start:i])
            start = None
    return runs


def rows_by_definition(docs, known, *rule):
    """Count tokens in order of first appearance, adding to `known`."""
    out = []
    for text in docs:
        row: dict[int, int] = {}
        for token in tokens_by_definition(text, *rule):
            i = known.setdefault(token, len(known))
            row[i] = row.get(i, 0) + 1
        out.append(list(row.items()))
    return out


def as_lists(indptr, ids, counts):
    pairs = list(zip(ids.tolist(), counts.tolist(), strict=True))
    return [pairs[a:b] for a, b in pairwise(indptr)]


def utf8(docs):
    raw = [text.encode("utf-8", "surrogatepass") for text in docs]
    return np.cumsum([0] + [len(text) for text in raw]), b"".join(raw)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.lists(texts, max_size=4), max_size=3),
    st.sampled_from([r"\w", "[a-z]", "[A-Za-z]", r"[^\W\d_]", r"\d"]),
    st.integers(1, 3),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)
def test_batches_continue_the_numbers(batches, atom, min_length, starts_word, ends_word, lowercase):
    letters = alphabet_of("", atom, lowercase)
    table = TermTable(letters, min_length, starts_word, ends_word)
    arrow = TermTable(letters, min_length, starts_word, ends_word)
    known: dict[str, int] = {}
    for docs in batches:
        expected = rows_by_definition(docs, known, atom, min_length, starts_word, ends_word, lowercase)
        assert as_lists(*table.rows(Documents.of_texts(docs, letters))) == expected
        assert as_lists(*arrow.rows(Documents.of_utf8(*utf8(docs), letters))) == expected
    assert table.terms() == arrow.terms() == list(known)
    assert len(table) == len(known)
    assert table.terms(table.order()) == sorted(known)


def test_every_code_point_is_lowered_and_sorted_as_python_does():
    lower, specials = lower_case()
    np.testing.assert_array_equal(lower[lower], lower)
    found = lower.tolist()
    assert all(chr(found[c]) == chr(c).lower() for c in range(N_CODE_POINTS) if c not in specials)
    assert set(specials) == {0x3A3, *(c for c in range(N_CODE_POINTS) if len(chr(c).lower()) != 1)}
    word = members(r"\w").tolist()
    assert [c for c in range(N_CODE_POINTS) if word[c] != (chr(c).isalnum() or c == 95)] == []


def test_every_code_point_goes_through_the_kernel():
    # All of the first planes' scripts; further up there is little but ideographs and nothing.
    codes = [c for c in (*range(0x3000), *range(0x3000, N_CODE_POINTS, 11)) if c not in lower_case()[1]]
    docs = [f"x{chr(c)}y" for c in codes]
    table = Analysis().table()
    for source in (Documents.of_texts(docs, WORD), Documents.of_utf8(*utf8(docs), WORD)):
        indptr, ids, _ = table.rows(source)
        words = table.terms(ids)
        wide = np.diff(indptr)
        assert [words[i] if n else None for i, n in zip(indptr, wide, strict=False)] == [
            f"x{low}y" if (low := chr(c).lower()).isalnum() or low == "_" else None for c in codes
        ]


@pytest.mark.parametrize("length", [1, 7, 8, 9, 15, 16, 17, 24, 31, 4095, 4096, 4097, 20000])
@pytest.mark.parametrize("letter", ["a", "é", "中", "😀a"])
def test_terms_of_every_length_are_told_apart(length, letter):
    words = [letter * length, letter * length + "b", "b" + letter * length]
    letters = alphabet_of("", r"\S", True)
    table = TermTable(letters, 1, False, False)
    rows = as_lists(*table.rows(Documents.of_texts([" ".join(words), words[1]], letters)))
    assert rows == [[(0, 1), (1, 1), (2, 1)], [(1, 1)]]
    assert table.terms() == words


def test_terms_that_differ_in_a_trailing_nul_are_told_apart():
    letters = alphabet_of("", r"\S", True)
    table = TermTable(letters, 1, False, False)
    words = ["a", "a\0", "a\0\0", "\0", "abcdefgh", "abcdefgh\0"]
    table.rows(Documents.of_texts([" ".join(words)], letters))
    assert table.terms() == words
    assert table.terms(table.order()) == sorted(words)


def test_a_table_grows():
    words = [f"{i:x}" for i in range(1000, 60000)] + [f"{i:040d}" for i in range(20000)]
    table = Analysis().table()
    table.rows(Documents.of_texts([" ".join(words[i : i + 7]) for i in range(0, len(words), 7)], WORD))
    assert table.terms() == words
    assert table.terms(table.order()) == sorted(words)
    other = Analysis().table()
    other.rows(Documents.of_texts(["zzz zzzz", " ".join(words[1::2])], WORD))
    numbers = other.merge(table)
    assert other.terms(numbers) == words
    assert sorted(other.terms()) == sorted([*words, "zzz", "zzzz"])


def test_stop_words_are_left_out():
    table = TermTable(WORD, 2, True, True, ["the", "", "a" * 40, "é\ud800", "the"])
    rows = as_lists(*table.rows(Documents.of_texts(["The cat", "a" * 40 + " the THE hat"], WORD)))
    assert rows == [[(0, 1)], [(1, 1)]]
    assert table.terms() == ["cat", "hat"]


def test_merging_gives_the_numbers_of_the_other_table():
    first, second = Analysis().table(), Analysis().table()
    first.rows(Documents.of_texts(["aa bb cc"], WORD))
    second.rows(Documents.of_texts(["dd bb " + "e" * 50], WORD))
    assert first.merge(second).tolist() == [3, 1, 4]
    assert first.terms() == ["aa", "bb", "cc", "dd", "e" * 50]
    assert second.terms() == ["dd", "bb", "e" * 50]


@pytest.mark.parametrize(
    "raw",
    [
        b"\xff",
        b"ab\xc3",
        b"\xe4\xb8",
        b"\xf0\x9f\x98",
        b"\xc0\xaf",
        b"\xe0\x80\xaf",
        b"\xf4\x90\x80\x80",
        b"\x80",
        b"\xc3(",
    ],
)
def test_bytes_that_are_not_utf8_are_refused(raw):
    for prefix in (b"", b"word " * 2000):
        docs = Documents.of_utf8([0, 0, len(prefix + raw)], prefix + raw, WORD)
        with pytest.raises(UnicodeError) as caught:
            Analysis().table().rows(docs)
        assert caught.value.args == (1,)


@pytest.mark.parametrize("text", ["İSTANBUL'da", "ΟΔΟΣ ΣΑΣ", "aΣ ΣbΣ", "İ" * 40])
def test_letters_whose_lower_case_depends_on_others_are_lowered_in_bytes_too(text):
    raw = text.encode()
    table = Analysis().table()
    table.rows(Documents.of_utf8([0, len(raw)], raw, WORD))
    assert table.terms() == list(dict.fromkeys(tokens_by_definition(text, r"\w", 2, True, True, True)))
    with pytest.raises(UnicodeError) as caught:
        Analysis().table().rows(Documents.of_utf8([0, len(raw) + 1], raw + b"\xff", WORD))
    assert caught.value.args == (0,)


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=60))
def test_any_bytes_are_read_as_python_reads_them(raw):
    try:
        text = raw.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        with pytest.raises(UnicodeError):
            Analysis().table().rows(Documents.of_utf8([0, len(raw)], raw, WORD))
        return
    table = Analysis().table()
    table.rows(Documents.of_utf8([0, len(raw)], raw, WORD))
    assert table.terms() == list(dict.fromkeys(tokens_by_definition(text, r"\w", 2, True, True, True)))


@pytest.mark.parametrize("offsets", [[0, 9], [-1, 2], [2, 1], [0, 3, 2]])
def test_offsets_outside_the_data_are_refused(offsets):
    with pytest.raises(ValueError, match="offsets of document"):
        Documents.of_utf8(offsets, b"abc", WORD)


def test_nothing_gives_nothing():
    table = Analysis().table()
    for docs in (
        Documents.of_texts([], WORD),
        Documents.of_utf8([], b"", WORD),
        Documents.of_utf8([0], b"", WORD),
    ):
        indptr, ids, counts = table.rows(docs)
        assert (indptr.tolist(), ids.tolist(), counts.tolist()) == ([0], [], [])
    assert table.terms() == []
    assert table.order().tolist() == []
    assert as_lists(*table.rows(Documents.of_texts(["", "\0"], WORD))) == [[], []]


def test_documents_keep_their_texts_alive():
    docs = Documents.of_texts([f"{'w' * n} ΑΣ" for n in range(2, 50)], WORD)
    table = Analysis().table()
    table.rows(docs)
    assert table.terms()[:3] == ["ww", "ας", "www"]


def test_what_is_no_text_is_named_by_its_position():
    with pytest.raises(TypeError) as caught:
        Documents.of_texts(["a", b"b"], WORD)
    assert caught.value.args == (1,)


def test_bad_tables_are_refused():
    with pytest.raises(ValueError, match="0x1100"):
        Alphabet(np.zeros(3, np.uint16), np.zeros((1, 256), np.int32), ())
    with pytest.raises(ValueError, match="A to Z"):
        Alphabet(np.zeros(0x1100, np.uint16), np.full((1, 256), 4, np.int32), ())
    with pytest.raises(ValueError, match="at least one"):
        TermTable(WORD, 0, True, True)
    table = Analysis().table()
    table.rows(Documents.of_texts(["cheap pills"], WORD))
    for number in (-1, 2):
        with pytest.raises(IndexError):
            table.terms([number])
        with pytest.raises(IndexError):
            table.spelling([0, number])


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_rows_are_placed_in_column_order(data):
    n_ids = data.draw(st.integers(1, 8))
    n_columns = data.draw(st.sampled_from([1, 3, 64, 65, 4096, 4097, 300000]))
    columns = np.array(
        data.draw(st.lists(st.integers(-1, n_columns - 1), min_size=n_ids, max_size=n_ids)), np.int32
    )
    rows = data.draw(
        st.lists(st.lists(st.tuples(st.integers(0, n_ids - 1), st.integers(1, 9)), max_size=8), max_size=4)
    )
    expected, ends = [], []
    for row in rows:
        total: dict[int, int] = {}
        for i, count in row:
            if columns[i] >= 0:
                total[int(columns[i])] = total.get(int(columns[i]), 0) + count
        expected += sorted(total.items())
        ends.append(len(expected))
    flat = [pair for row in rows for pair in row]
    indptr = np.cumsum([0] + [len(row) for row in rows])
    ids, counts = (np.array([pair[k] for pair in flat], np.int32) for k in (0, 1))
    indices, cells, got = (
        np.empty(len(flat), np.int32),
        np.empty(len(flat), np.int64),
        np.empty(len(rows), np.int64),
    )
    n = place_rows(indptr, ids, counts, columns, n_columns, indices, cells, got)
    assert list(zip(indices[:n].tolist(), cells[:n].tolist(), strict=True)) == expected
    assert got.tolist() == ends
