"""svmlight: one label or several, names from files, and lines that are none."""

from __future__ import annotations

import gzip
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from termsieve import read
from termsieve.errors import FormatError, InputError, TermsieveError
from termsieve.readers.svmlight import read_svmlight


@pytest.fixture
def write(tmp_path):
    def written(content: bytes | str, name: str = "t.svm"):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return written


def test_one_label(write):
    content = "# head\n+1 1:0.5 3:2 # note\n\n-1 qid:7 2:1e-1\r\n1\n"
    for path in (write(content), write(gzip.compress(content.encode()), "t.svm.gz"), write(content, "data")):
        corpus = read(path)
        assert corpus.matrix.toarray().tolist() == [[0.5, 0, 2], [0, 0.1, 0], [0, 0, 0]]
        assert corpus.labels.tolist() == [1, -1, 1]
        assert corpus.terms is None
    assert corpus.source == "svmlight (one label per line)"


def test_several_labels_with_names(write):
    path = write("0,2 1:1\n 2:3\n1 1:0 2:1\n")
    names = write("spam\nhäm\r\neggs\n", "labels.txt")
    corpus = read(path, labels=names, terms=["a", "b"])
    assert corpus.labels.tolist() == [("spam", "eggs"), (), ("häm",)]
    assert corpus.terms.tolist() == ["a", "b"]
    assert corpus.matrix.nnz == 3
    assert read(path).labels.tolist() == [(0, 2), (), (1,)]
    assert read(write("1 1:1\n"), multilabel=True).labels.tolist() == [(1,)]


def test_where_indices_start(write):
    assert read(write("1 0:5 1:6\n")).matrix.toarray().tolist() == [[5, 6]]
    assert read(write("1 1:5 2:6\n")).matrix.toarray().tolist() == [[5, 6]]
    assert read(write("1 1:5 2:6\n"), zero_based=True).matrix.toarray().tolist() == [[0, 5, 6]]
    with pytest.raises(FormatError, match="line 1: index 0 in a file whose indices start at 1"):
        read(write("1 0:5\n"), zero_based=False)


def test_labels_that_are_words(write):
    assert read(write("spam 1:1\nham 2:1\n")).labels.tolist() == ["spam", "ham"]
    assert read(write("spam 1:1\n7 2:1\n")).labels.tolist() == ["spam", "7"]
    assert read(write("1.0 1:1\n-2 2:1\n")).labels.tolist() == [1, -2]


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ("1 1:1\n1 x:2\n", {}, "line 2: 'x:2' is no index:value pair"),
        ("1 1:1\n1 2:\n", {}, "line 2: '2:' is no index:value pair"),
        ("1 1:nan\n", {}, "line 1: '1:nan' is no index:value pair"),
        ("1 1:1e999\n", {}, "line 1: a value is too large"),
        ("1 -1:2\n", {}, "line 1: '-1:2' is no"),
        ("1:1 2:2\n", {}, "line 1: the line is not 'label index:value"),
        ("1 2:1 2:1\n", {}, "line 1: index 2 occurs twice"),
        ("1 1:1\n1 4:1\n", {"terms": ["a", "b", "c"]}, "line 2: index 4 is out of range; there are 3 terms"),
        ("1 99999999999:1\n", {}, "line 1: index 99999999999 is out of range"),
        ("0.5 1:1\n", {}, "line 1: label '0.5' is a fraction"),
        ("3 1:1\n", {"labels": ["a"]}, "line 1: label 3 is out of range; labels= names 1 classes"),
        ("x 1:1\n", {"labels": ["a"]}, "line 1: label 'x' is no number"),
        ("1,,2 1:1\n", {}, "line 1: an empty label between commas"),
        ("1,2 1:1\n", {"multilabel": False}, "line 1: one label was expected"),
        ("", {}, "has no document"),
        ("# only\n", {}, "has no document"),
    ],
)
def test_faults_name_the_line(write, content, options, message):
    with pytest.raises(FormatError, match=message):
        read_svmlight(write(content), **options)


def test_names_must_be_strings(write):
    with pytest.raises(InputError, match="terms must be strings"):
        read(write("1 1:1\n"), terms=[1])


rows = st.lists(
    st.tuples(
        st.integers(-3, 3), st.dictionaries(st.integers(1, 9), st.floats(-1e6, 1e6).filter(bool), max_size=6)
    ),
    min_size=1,
    max_size=8,
)


@settings(deadline=None)
@given(rows=rows)
def test_agrees_with_scikit_learn(tmp_path_factory, rows):
    datasets = pytest.importorskip("sklearn.datasets")
    path = tmp_path_factory.getbasetemp() / "agree.svm"
    rows = [(0, {9: 1.0}), *rows]
    path.write_text(
        "".join(f"{label} {' '.join(f'{i}:{v!r}' for i, v in sorted(d.items()))}\n" for label, d in rows)
    )
    X, y = datasets.load_svmlight_file(str(path))
    corpus = read_svmlight(path)
    assert np.array_equal(corpus.matrix.toarray(), X.toarray())
    assert corpus.labels.tolist() == y.astype(int).tolist()


@settings(deadline=None)
@given(content=st.binary(max_size=60) | st.text(alphabet="01:, .-#e\nq", max_size=40).map(str.encode))
@example(content=b"\x00\n\x00")
def test_any_bytes_give_a_corpus_or_a_clear_error(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "fuzz.svm"
    path.write_bytes(content)
    with suppress(TermsieveError):
        assert len(read_svmlight(path)) > 0


@pytest.mark.slow
@pytest.mark.corpora
def test_rcv1(data_dir):
    corpus = read(data_dir / "rcv1/rcv1_subset.svm", labels=data_dir / "rcv1/topics.txt")
    assert len(corpus) == 27_495
    assert corpus.matrix.shape == (27_495, 47_236)
    assert len(corpus.classes) == 101
    assert corpus.labels[0] == ("C11", "C18", "C181", "CCAT")
    lengths = np.sqrt(corpus.matrix.multiply(corpus.matrix).sum(axis=1))
    assert np.allclose(lengths, 1, atol=1e-3)
