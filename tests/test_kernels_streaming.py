"""Documents are counted in the kernel as a plain loop counts them."""

import re
from collections import Counter as Bag

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from termsieve.kernels.documents import Documents
from termsieve.kernels.streaming import CellTable

from termsieve.terms import Analysis
from termsieve.terms.alphabet import alphabet_of

WORD = alphabet_of("", r"\w", True)
WORDS = [
    "aa",
    "AA",
    "Straße",
    "ΣΑΣ",
    "İİ",
    "naïve",
    "zz",
    "x" * 16,
    "x" * 16 + "y",
    "x" * 17 + "z",
    "日本語",
    "𝒜𝒜",
]
texts = st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join)
documents = st.lists(st.tuples(texts, st.sets(st.integers(0, 40), max_size=3)), max_size=80)


def class_arrays(classes):
    flat = [c for group in classes for c in sorted(group)]
    ptr = np.cumsum([0, *map(len, classes)], dtype=np.int64)
    return ptr, np.array(flat, dtype=np.int32)


def reference(docs, classes):
    """Return the documents and the occurrences of each term and class, by a loop."""
    n_docs, sums = Bag(), Bag()
    for text, group in zip(docs, classes, strict=True):
        for term, n in Bag(re.findall(r"\b\w\w+\b", text.lower())).items():
            for c in group:
                n_docs[term, c] += 1
                sums[term, c] += n
    return dict(n_docs), dict(sums)


def found(table, cells):
    """Return the same from the kernel's tables."""
    order = table.order()
    indptr, indices, docs, sums, _ = cells.table(order, np.arange(41, dtype=np.int32))
    terms = table.terms(order)
    assert terms == sorted(terms)
    keys = [(terms[i], int(c)) for i in range(len(terms)) for c in indices[indptr[i] : indptr[i + 1]]]
    return dict(zip(keys, docs.tolist(), strict=True)), dict(zip(keys, sums.tolist(), strict=True))


@settings(max_examples=60, deadline=None)
@given(documents, st.integers(0, 80))
def test_documents_are_counted_as_by_a_loop(pairs, cut):
    docs, classes = [text for text, _ in pairs], [group for _, group in pairs]
    tables = []
    for part in (slice(cut), slice(cut, None)):  # one of the two may have no documents
        table, cells = Analysis().table(), CellTable(True)
        cells.add_documents(table, Documents.of_texts(docs[part], WORD), *class_arrays(classes[part]))
        tables.append((table, cells))
    (table, cells), (other, more) = tables
    cells.absorb(more, table.merge(other))
    assert found(table, cells) == reference(docs, classes)


@pytest.mark.parametrize(
    "options", [{}, {"ngram_range": (1, 2)}, {"analyzer": "char_wb", "ngram_range": (2, 3)}]
)
def test_documents_are_counted_as_their_rows(options):
    docs = [" ".join(WORDS[i % 7 : i % 11 + 1]) for i in range(100)] + ["", "same same"] * 40
    classes = class_arrays([{i % 3} for i in range(len(docs))])
    analysis = Analysis(**options).checked()
    table, cells = analysis.table(), CellTable(True)
    cells.add_documents(table, analysis.documents(docs), *classes)
    plain, expected = analysis.table(), CellTable(True)
    expected.add(*plain.rows(analysis.documents(docs)), *classes, len(plain))
    order, column = table.order(), np.arange(3, dtype=np.int32)
    assert table.terms(order) == plain.terms(plain.order())
    for mine, theirs in zip(cells.table(order, column), expected.table(plain.order(), column), strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_what_is_no_column_is_refused():
    with pytest.raises(AttributeError):
        Documents.of_column(5, WORD)


def test_documents_need_their_classes():
    docs = Documents.of_texts(["aa", "bb"], WORD)
    ptr, numbers = class_arrays([{0}])
    with pytest.raises(ValueError, match="classes"):
        CellTable(False).add_documents(Analysis().table(), docs, ptr, numbers)


def test_an_unreadable_document_is_named_by_its_position():
    raw = [b"aa"] * 70 + [b"\xff\xfe"] + [b"bb"]
    docs = Documents.of_utf8(np.cumsum([0, *map(len, raw)]), b"".join(raw), WORD)
    with pytest.raises(UnicodeError) as error:
        CellTable(False).add_documents(Analysis().table(), docs, *class_arrays([{0}] * len(raw)))
    assert error.value.args == (70,)
