"""ARFF: dense and sparse, words or text, and whatever else claims to be one."""

from __future__ import annotations

import gzip
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from termsieve import read
from termsieve.errors import FormatError, InputError, TermsieveError
from termsieve.readers.arff import read_arff

HEAD = "@relation r\n@attribute apple numeric\n@attribute pear real\n@attribute c {x,y,'z z'}\n@data\n"


@pytest.fixture
def write(tmp_path):
    def written(content: bytes | str, name: str = "t.arff"):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return written


def test_sparse_rows(write):
    corpus = read(write(HEAD + "{0 2,1 1,2 y}\n{}\n{1 3}\n{0 1, 2 'z z'}\n{ 2 x , 0 5 }\n"))
    assert corpus.matrix.toarray().tolist() == [[2, 1], [0, 0], [0, 3], [1, 0], [5, 0]]
    assert corpus.matrix.dtype == np.int64
    # A class that is left out is the first value.
    assert corpus.labels.tolist() == ["y", "x", "x", "z z", "x"]
    assert corpus.terms.tolist() == ["apple", "pear"]
    assert repr(corpus) == "<Corpus 't': 5 documents x 2 terms, 3 classes, read as arff (label='c')>"


def test_dense_rows(write):
    corpus = read(write(HEAD + "2,1,y\n0, 0.5 ,'z z'\n1e1,-1,\"x\" % why\n"))
    assert corpus.matrix.toarray().tolist() == [[2, 1], [0, 0.5], [10, -1]]
    assert corpus.matrix.nnz == 5
    assert corpus.labels.tolist() == ["y", "z z", "x"]


def test_comments_case_blank_lines_and_line_ends(write):
    head = "% about\n\n@RELATION r\n@Attribute a NUMERIC % words\n@ATTRIBUTE c{x , y}\n@DATA\n\n"
    content = head + "% rows\n1,x\n{0 2,1 y}\n"
    for text in (content, content.replace("\n", "\r\n"), "\ufeff" + content, content.replace("\n", "\r")):
        corpus = read(write(text))
        assert corpus.matrix.toarray().tolist() == [[1], [2]]
        assert corpus.labels.tolist() == ["x", "y"]


def test_quoted_names_with_escapes(write):
    head = r"""@relation 'r r'
@attribute 'don\'t' numeric
@attribute "a \"b\" \\ \u00e9" numeric
@attribute 'class name' {'it\'s',"b, {c}"}
@data
"""
    corpus = read(write(head + "1,2,'it\\'s'\n{0 1,2 \"b, {c}\"}\n"))
    assert corpus.terms.tolist() == ["don't", 'a "b" \\ é']
    assert corpus.labels.tolist() == ["it's", "b, {c}"]


@pytest.mark.parametrize(
    ("order", "label"),
    [("c a b", None), ("a c b", None), ("a b c", None), ("c a b", "first"), ("a b c", "last")],
)
def test_class_first_last_or_only(write, order, label):
    kinds = {"a": "numeric", "b": "numeric", "c": "{x,y}"}
    values = {"a": "1", "b": "2", "c": "y"}
    names = order.split()
    head = "@relation r\n" + "".join(f"@attribute {name} {kinds[name]}\n" for name in names) + "@data\n"
    dense = ",".join(values[name] for name in names)
    short = "{" + ",".join(f"{i} {values[name]}" for i, name in enumerate(names)) + "}"
    corpus = read(write(head + f"{dense}\n{short}\n"), **({"label": label} if label else {}))
    assert corpus.matrix.toarray().tolist() == [[1, 2], [1, 2]]
    assert corpus.terms.tolist() == ["a", "b"]
    assert corpus.labels.tolist() == ["y", "y"]


def test_a_named_class_among_numbers(write):
    head = "@relation r\n@attribute w {0,1}\n@attribute k {p,q}\n@attribute n integer\n@data\n"
    corpus = read(write(head + "1,q,3\n{1 p,2 4}\n"), label="k")
    assert corpus.labels.tolist() == ["q", "p"]
    assert corpus.matrix.toarray().tolist() == [[1, 3], [0, 4]]
    numbered = read(
        write("@relation r\n@attribute w real\n@attribute n real\n@data\n1,2\n{0 1}\n"), label="n"
    )
    assert numbered.labels.tolist() == [2, 0]


def test_string_attribute_is_text(write):
    head = "@relation r\n@attribute id numeric\n@attribute t string\n@attribute c {x,y}\n@data\n"
    corpus = read(write(head + "1,'it\\'s, a \\n day',y\n2,?,x\n{1 \"word 'x'\"}\n3,bare words,y\n"))
    assert corpus.texts == ("it's, a \n day", "", "word 'x'", "bare words")
    assert corpus.labels.tolist() == ["y", "x", "x", "y"]
    assert corpus.source == "arff (label='c', text='t')"
    two = "@relation r\n@attribute s string\n@attribute t string\n@attribute c {x,y}\n@data\na,b,x\n"
    with pytest.raises(InputError, match=r"which attribute is the text\? .*'s', 't'"):
        read(write(two))
    assert read(write(two), text="t").texts == ("b",)
    with pytest.raises(InputError, match="no string attribute 'u'"):
        read(write(two), text="u")


def test_unknown_values(write):
    corpus = read(write(HEAD + "?,1,x\n{0 ?,2 y}\n"))
    assert corpus.matrix.toarray().tolist() == [[0, 1], [0, 0]]
    assert corpus.source == "arff (label='c', 2 unknown values '?' read as 0)"
    path = write(HEAD + "1,1,?\n{0 2,2 ?}\n3,1,y\n")
    with pytest.raises(InputError, match="2 of 3 documents have no label"):
        read(path)
    assert read(path, missing="drop").matrix.toarray().tolist() == [[3, 1]]


@pytest.mark.parametrize("quoted", ["'?'", '"?"'])
def test_a_quoted_question_mark_is_a_value(write, quoted):
    head = "@relation r\n@attribute a numeric\n@attribute c {x,'?'}\n@data\n"
    assert read(write(head + f"1,{quoted}\n")).labels.tolist() == ["?"]


def test_latin_1_and_compressed(write):
    text = "@relation r\n@attribute café numeric\n@attribute c {x,ÿ}\n@data\n1,ÿ\n"
    for content in (text.encode("latin-1"), text.encode(), gzip.compress(text.encode())):
        corpus = read(write(content))
        assert corpus.terms.tolist() == ["café"]
        assert corpus.labels.tolist() == ["ÿ"]
    with pytest.raises(FormatError, match="line 2: not valid utf-8"):
        read(write(text.encode("latin-1")), encoding="utf-8")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("{3 1}", "line 7: index 3 is out of range; there are 3 attributes"),
        ("{3 1,2 y}", "line 7: index 3 is out of range"),
        ("{99999999999999999999999999 1,2 y}", "line 7: 'index value' was expected"),
        ("{0 1,0 2,2 y}", "line 7: index 0 occurs twice"),
        ("{0 1,0 2}", "line 7: index 0 occurs twice"),
        ("{2 y,2 y}", "line 7: index 2 occurs twice"),
        ("{0 1,2 w}", "line 7: 'w' is no value of the class 'c'"),
        ("{0 1", "line 7: a sparse row does not end"),
        ("{0 1} 2", "line 7: a sparse row does not end"),
        ("{0 one,2 y}", "line 7: 'one' is no number"),
        ("{0 1e999,2 y}", "line 7: a number is too large"),
        ("{0 nan}", "line 7: 'nan' is no number"),
        ("{0}", "line 7: 'index value' was expected at '0'"),
        ("{-1 2}", "line 7: 'index value' was expected at '-1 2'"),
        ("1,2", "line 7: 2 values for 3 attributes"),
        ("1,2,3,x", "line 7: 4 values for 3 attributes"),
        ("1,2,w", "line 7: 'w' is no value of the class 'c'"),
        ("1,two,x", "line 7: 'two' is no number, for attribute 'pear'"),
        ("1,,x", "line 7: '' is no number"),
        ("1,'2,x", "line 7: a stray quote"),
        ("1,1 2,x", "line 7: '1 2' is no number"),
        ("1,1e999,x", "line 7: '1e999' is no number"),
        ("1,2,x,{5}", "line 7: 4 values for 3 attributes"),
    ],
)
def test_bad_rows_name_the_line(write, row, message):
    with pytest.raises(FormatError, match=message):
        read(write(HEAD + "{}\n" + row + "\n"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "has no @data line"),
        ("@relation r\n@attribute a numeric\n", "has no @data line"),
        ("@relation r\n@data\n1\n", "line 2: @data before any @attribute"),
        ("@relation r\n@attribute a\n@data\n", "line 2: an @attribute needs a name and a type"),
        ("@relation r\n@attribute word\n@data\n", "line 2: an @attribute needs a name and a type"),
        ("@relation r\n@attribute a date 'yyyy'\n@data\n", "line 2: attribute 'a' has type 'date'"),
        ("@relation r\n@attribute a {x,y\n@data\n", "line 2: the list of nominal values does not end"),
        ("@relation r\nhello\n", "line 2: 'hello' is not a line of an ARFF header"),
        (HEAD, "has no row after @data"),
        ("@relation r\n@attribute a {b,d}\n@attribute c {x,y}\n@data\nb,x\n", "'a' is neither the class nor"),
        ("@relation r\n@attribute a {1,0}\n@attribute c {x,y}\n@data\n1,x\n", "'a' is neither the class nor"),
        (
            "@relation r\n@attribute c {x}\n@attribute c {x}\n@attribute n real\n@data\nx,x,1\n",
            "'c' is neither the class nor",
        ),
    ],
)
def test_bad_files(write, content, message):
    with pytest.raises(FormatError, match=message):
        read(write(content))


def test_doubt_about_the_class(write):
    numbers = "@relation r\n@attribute a real\n@attribute b real\n@data\n1,2\n"
    with pytest.raises(InputError, match=r"which attribute is the class\? .*none"):
        read(write(numbers))
    with pytest.raises(InputError, match="no attribute 'k' for label=; its nominal attributes: 'c'"):
        read(write(HEAD + "{}\n"), label="k")
    with pytest.raises(FormatError, match="a numeric class must be a whole number"):
        read(write(numbers + "1,0.5\n"), label="b")


rows = st.lists(
    st.tuples(st.dictionaries(st.integers(0, 11), st.integers(1, 50), max_size=12), st.sampled_from("xyz")),
    min_size=1,
    max_size=12,
)


@settings(deadline=None)
@given(rows=rows, place=st.integers(0, 12), dense=st.booleans(), blank=st.sampled_from(["", " "]))
def test_every_layout_gives_the_same_matrix(tmp_path_factory, rows, place, dense, blank):
    names = [f"w{i}" for i in range(12)]
    header = [f"@attribute {name} numeric" for name in names]
    header.insert(place, "@attribute c {x,y,z}")
    lines = ["@relation r", *header, "@data"]
    for counts, label in rows:
        values = [str(counts.get(i, 0)) for i in range(12)]
        values.insert(place, label)
        if dense:
            lines.append(f",{blank}".join(values))
        else:
            given_ones = [f"{i} {v}" for i, v in enumerate(values) if v not in ("0", "x")]
            lines.append("{" + f",{blank}".join(given_ones) + "}")
    path = tmp_path_factory.getbasetemp() / "layout.arff"
    path.write_text("\n".join(lines))
    corpus = read_arff(path, label="c")
    assert corpus.labels.tolist() == [label for _, label in rows]
    expected = [[counts.get(i, 0) for i in range(12)] for counts, _ in rows]
    assert corpus.matrix.toarray().tolist() == expected


pieces = st.lists(
    st.sampled_from(
        [
            "{",
            "}",
            "0 1",
            "1",
            "2 y",
            ",",
            "x",
            "'",
            '"',
            "\\",
            "%",
            "?",
            " ",
            "\n",
            "@data\n",
            "@attribute ",
            "numeric",
            "string",
            "{x,y}",
            "-1",
            "1e400",
            "\x00",
            "�",
            "é",
            "999999999999999999999",
            "\t",
            "\r",
            "\\u",
            "z z",
        ]
    ),
    max_size=25,
).map("".join)


@settings(deadline=None)
@given(
    head=st.sampled_from(["", HEAD, "@relation r\n@attribute t string\n@attribute c {x,y}\n@data\n"]),
    body=pieces,
)
@example(head="", body="@attribute c {x,y}\n@data\nx\n")
@example(head="", body="@attribute {}{}\n@data\n{}")
@example(head="", body="@attribute a {}\n@data\n{}\n")
def test_any_pieces_give_a_corpus_or_a_clear_error(tmp_path_factory, head, body):
    path = tmp_path_factory.getbasetemp() / "fuzz.arff"
    path.write_bytes((head + body).encode("utf-8", "surrogatepass"))
    with suppress(TermsieveError):
        assert len(read_arff(path)) > 0


@settings(deadline=None)
@given(content=st.binary(max_size=200))
def test_any_bytes_give_a_corpus_or_a_clear_error(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "fuzz.arff"
    for start in (b"", HEAD.encode()):
        path.write_bytes(start + content)
        with suppress(TermsieveError):
            assert len(read_arff(path)) > 0


# Documents, words, classes and the sizes of the smallest and the largest class of forman2003's sets.
FORMAN = {
    "fbis": (2463, 2000, 17, 38, 506),
    "la1": (3204, 31472, 6, 273, 943),
    "la2": (3075, 31472, 6, 248, 905),
    "oh0": (1003, 3182, 10, 51, 194),
    "oh10": (1050, 3238, 10, 52, 165),
    "oh15": (913, 3100, 10, 53, 157),
    "oh5": (918, 3012, 10, 59, 149),
    "ohscal": (11162, 11465, 10, 709, 1621),
    "re0": (1504, 2886, 13, 11, 608),
    "re1": (1657, 3758, 25, 10, 371),
    "tr11": (414, 6429, 9, 6, 132),
    "tr12": (313, 5804, 8, 9, 93),
    "tr21": (336, 7902, 6, 4, 231),
    "tr23": (204, 5832, 6, 6, 91),
    "tr31": (927, 10128, 7, 2, 352),
    "tr41": (878, 7454, 10, 9, 243),
    "tr45": (690, 8261, 10, 14, 160),
    "wap": (1560, 8460, 20, 5, 341),
}


@pytest.mark.slow
@pytest.mark.corpora
def test_the_sets_of_forman(data_dir):
    problems = 0
    for name, expected in FORMAN.items():
        corpus = read(data_dir / f"forman/{name}.wc.arff")
        sizes = corpus.class_sizes.values()
        assert (*corpus.matrix.shape, len(sizes), min(sizes), max(sizes)) == expected, name
        assert corpus.matrix.dtype == np.int64
        assert corpus.matrix.data.min() >= 1
        assert sum(sizes) == len(corpus)
        problems += len(sizes)
    assert problems == 193


@pytest.mark.corpora
def test_a_plain_reading_of_one_set_agrees(data_dir):
    path = data_dir / "forman/re0.wc.arff"
    corpus = read(path)
    rows = path.read_text("latin-1").split("@data\n")[1].split("\n")
    classes = [line for line in path.read_text("latin-1").split("\n") if "CLASS_LABEL" in line]
    first = classes[0].split("{")[1].split(",")[0]
    for number in range(0, len(corpus), 50):
        cells = dict(pair.split(" ") for pair in rows[number].strip("{}").split(","))
        assert corpus.labels[number] == cells.pop("2886", first)
        row = corpus.matrix[number]
        assert dict(zip(map(str, row.indices), map(str, row.data), strict=True)) == cells
