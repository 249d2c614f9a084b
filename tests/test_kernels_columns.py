"""Texts that the kernels read where polars keeps them, beside the same texts in a list."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from termsieve.kernels.documents import Documents
from termsieve.kernels.streaming import CellTable

from termsieve.terms import Analysis
from termsieve.terms.alphabet import alphabet_of

WORD = alphabet_of("", r"\w", True)
# A view holds up to 12 bytes of a text itself.
WORDS = ["aa", "AA", "Straße", "ΣΑΣ", "İİ", "naïve", "x" * 12, "x" * 13, "日本語", "𝒜𝒜"]
texts = st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join)


def column_of(docs, chunks):
    """Return the texts as a Series of several chunks, cut from a longer one."""
    longer = pl.Series(["before", *docs, "after" * 9], dtype=pl.String)
    parts = [longer[1 : len(docs) + 1][at : at + chunks] for at in range(0, len(docs), chunks)]
    return pl.concat(parts, rechunk=False) if parts else pl.Series([], dtype=pl.String)


def counted(documents, analysis):
    """Return the terms of documents that are all of one class, and their cells."""
    table, cells = analysis.table(), CellTable(True)
    ptr = np.arange(len(documents) + 1, dtype=np.int64)
    cells.add_documents(table, documents, ptr, np.zeros(len(documents), dtype=np.int32))
    order = table.order()
    return table.terms(order), [part.tolist() for part in cells.table(order, np.arange(1, dtype=np.int32))]


@settings(max_examples=60, deadline=None)
@given(st.lists(texts, max_size=80), st.integers(1, 50))
def test_a_column_gives_what_a_list_gives(docs, chunks):
    column, plain = Documents.of_column(column_of(docs, chunks), WORD), Documents.of_texts(docs, WORD)
    assert counted(column, Analysis()) == counted(plain, Analysis())


@pytest.mark.parametrize(
    "options", [{}, {"ngram_range": (1, 2)}, {"analyzer": "char_wb", "ngram_range": (2, 3)}]
)
def test_every_analysis_reads_columns(options):
    docs = [" ".join(WORDS[i % 7 : i % 10 + 1]) for i in range(100)] + ["", "same same"] * 40
    analysis = Analysis(**options).checked()
    column, plain = analysis.documents(column_of(docs, 30)), analysis.documents(docs)
    assert counted(column, analysis) == counted(plain, analysis)
    for mine, theirs in zip(analysis.table().rows(column), analysis.table().rows(plain), strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_gaps_in_a_column_are_empty_texts():
    column = pl.Series(["aa bb", None, None, "x" * 13 + " aa", "", None])
    indptr, ids, _ = Analysis().table().rows(Documents.of_column(column, WORD))
    assert indptr.tolist() == [0, 2, 2, 2, 4, 4, 4]
    assert ids.tolist() == [0, 1, 2, 0]
    assert len(Documents.of_column(column[1:3], WORD)) == 2
    assert len(Documents.of_column(pl.Series([], dtype=pl.String), WORD)) == 0


def test_a_column_lives_as_long_as_its_documents():
    docs = Documents.of_column(pl.Series([f"{'long' * 9}{i}" for i in range(1000)]), WORD)
    later = pl.Series([f"{'other' * 9}{i}" for i in range(10_000)])  # takes what memory was freed
    table = Analysis().table()
    table.rows(docs)
    assert len(later) == 10_000
    assert table.terms() == [f"{'long' * 9}{i}" for i in range(1000)]


@pytest.mark.parametrize("column", [pl.Series([1, 2]), pl.Series([b"a"]), pl.Series([["a"]])])
def test_a_column_of_something_else_is_refused(column):
    with pytest.raises(TypeError, match="texts"):
        Documents.of_column(column, WORD)
