"""Reuters-21578: its splits, its categories, and SGML that is none."""

from __future__ import annotations

import io
import tarfile
from contextlib import suppress

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from termsieve import read
from termsieve.errors import FormatError, ParameterError, TermsieveError, UnknownNameError
from termsieve.readers.reuters import read_reuters


def document(
    part="TRAIN", topics=("grain",), inner="<TITLE>T</TITLE><BODY>B</BODY>", has="YES", cgi="TRAINING-SET"
):
    listed = "".join(f"<D>{topic}</D>" for topic in topics)
    return (
        f'<REUTERS TOPICS="{has}" LEWISSPLIT="{part}" CGISPLIT="{cgi}" OLDID="1" NEWID="1">\n'
        f"<TOPICS>{listed}</TOPICS><PLACES><D>usa</D></PLACES>\n<TEXT>&#2;\n{inner}\n</TEXT>\n</REUTERS>\n"
    )


@pytest.fixture
def write(tmp_path):
    def written(*documents: str, name: str = "reut2-000.sgm"):
        path = tmp_path / name
        path.write_bytes(('<!DOCTYPE lewis SYSTEM "lewis.dtd">\n' + "".join(documents)).encode("latin-1"))
        return path

    return written


def test_categories_with_a_training_and_a_test_document(write):
    path = write(
        document(topics=("grain", "corn")),
        document("TEST", topics=("grain", "tea")),
        document(topics=("corn",)),
        document(topics=()),
        document("NOT-USED"),
        document(has="BYPASS"),
        document("TEST", has="NO"),
    )
    corpus = read(path)
    assert corpus.labels.tolist() == [("grain",), ("grain",)]
    assert corpus.parts.tolist() == ["train", "test"]
    assert corpus.texts == ("T\nB", "T\nB")
    assert corpus.source == "reuters (split=modapte)"
    everything = read(path, categories="all")
    assert everything.labels.tolist() == [("grain", "corn"), ("grain", "tea"), ("corn",), ()]
    assert read(path, split="modlewis").parts.tolist() == ["train", "test", "test"]
    with pytest.raises(FormatError, match="no Reuters-21578 document of the split 'modhayes'"):
        read(path, split="modhayes")
    with pytest.raises(UnknownNameError, match="did you mean 'modapte'"):
        read(path, split="modapt")
    with pytest.raises(ParameterError, match="'both' or 'all'"):
        read(path, categories="some")


@pytest.mark.parametrize(
    ("inner", "text"),
    [
        ("<TITLE>A &lt;B> &amp; C</TITLE><BODY>x&#3;</BODY>", "A <B> & C\nx"),
        ("<TITLE>Only</TITLE>", "Only"),
        ("<BODY>Only</BODY>", "Only"),
        ("<AUTHOR>me</AUTHOR><DATELINE>here</DATELINE><BODY>b</BODY>", "b"),
        ("****<DATELINE>raw</DATELINE> text &#127;", "**** raw  text"),
        ("<TITLE>caf\xe9\x00\x1e\x85</TITLE>", "café"),
        ("<TITLE>&#55296;&#1114112;&#9999999;&#233;&unknown;&#12345678;</TITLE>", "é&unknown;&#12345678;"),
        ("<TITLE>AT&T &ltd; &copy</TITLE>", "AT&T &ltd; &copy"),
        ("", ""),
        ("<TITLE>open", "open"),
    ],
)
def test_texts(write, inner, text):
    corpus = read(write(document(inner=inner), document("TEST")))
    assert " ".join(corpus.texts[0].split("  ")) == " ".join(text.split("  "))


def test_folder_and_archive(write, tmp_path):
    write(document("TEST"), name="reut2-001.sgm")
    write(document(), name="reut2-000.sgm")
    (tmp_path / "README.txt").write_text("x")
    assert read(tmp_path).parts.tolist() == ["train", "test"]
    packed = tmp_path / "r.tar.gz"
    with tarfile.open(packed, "w:gz") as archive:
        for name in ("reut2-001.sgm", "reut2-000.sgm"):
            archive.add(tmp_path / name, f"reuters/{name}")
    assert read(packed).parts.tolist() == ["train", "test"]
    (tmp_path / "empty").mkdir()
    with pytest.raises(FormatError, match=r"holds no \.sgm file"):
        read(tmp_path / "empty", "reuters")


def test_damaged_files_name_the_line(write):
    with pytest.raises(FormatError, match="line 8: a <REUTERS> is not closed; the file is truncated"):
        read(write(document(), document()[:-12]))
    with pytest.raises(FormatError, match="line 2: a <REUTERS> is not closed"):
        read(write(document()[:-12], document()))
    with pytest.raises(FormatError, match="line 2: <REUTERS> lacks TOPICS, CGISPLIT"):
        read(write('<REUTERS LEWISSPLIT="TRAIN"></REUTERS>'))
    with pytest.raises(FormatError, match="holds no Reuters-21578 document"):
        read(write())
    with pytest.raises(FormatError, match="holds no Reuters-21578 document"):
        read(write(document()))


pieces = st.lists(
    st.sampled_from(
        [
            document(),
            document("TEST"),
            document()[:-12],
            "<REUTERS",
            "<REUTERS>",
            "</REUTERS>",
            "<D>",
            "</D>",
            "<",
            ">",
            "&#",
            "&#99999999999;",
            "&lt;",
            '"',
            'TOPICS="',
            "<TOPICS>",
            "<TEXT>",
            "<TITLE",
            "\x00",
            "ÿ",
            "\n",
        ]
    ),
    max_size=12,
).map("".join)


@settings(deadline=None)
@given(body=pieces)
@example(body=document() + document("TEST") + "<REUTERS")
def test_any_pieces_give_a_corpus_or_a_clear_error(tmp_path_factory, body):
    path = tmp_path_factory.getbasetemp() / "fuzz.sgm"
    path.write_bytes(body.encode("latin-1"))
    with suppress(TermsieveError):
        assert len(read_reuters(path)) > 0


@settings(deadline=None)
@given(content=st.binary(max_size=300))
def test_any_bytes_give_a_corpus_or_a_clear_error(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "fuzz.sgm"
    start = '<REUTERS TOPICS="YES" LEWISSPLIT="{}" CGISPLIT=""><TOPICS><D>a</D></TOPICS><TEXT>'
    with io.BytesIO() as whole:
        for part in ("TRAIN", "TEST"):
            whole.write(start.format(part).encode() + content + b"</REUTERS>")
        path.write_bytes(whole.getvalue())
    with suppress(TermsieveError):
        assert len(read_reuters(path)) > 0
    path.write_bytes(content)
    with suppress(TermsieveError):
        assert len(read_reuters(path)) > 0


@pytest.mark.corpora
@pytest.mark.parametrize(
    ("options", "train", "test", "classes"),
    [
        ({}, 7_770, 3_019, 90),
        ({"categories": "all"}, 9_603, 3_299, 118),
        ({"split": "modlewis", "categories": "all"}, 13_625, 6_188, 118),
        ({"split": "modhayes", "categories": "all"}, 20_856, 722, 120),
    ],
)
def test_splits_of_the_collection(data_dir, options, train, test, classes):
    corpus = read(data_dir / "reuters21578", **options)
    assert tuple(map(len, corpus.split())) == (train, test)
    assert len(corpus.classes) == classes
    assert corpus.multilabel


@pytest.mark.corpora
def test_largest_and_smallest_categories(data_dir):
    train, test = read(data_dir / "reuters21578").split()
    assert train.class_sizes["earn"] == 2_877
    assert test.class_sizes["earn"] == 1_087
    assert train.class_sizes["acq"] == 1_650
    assert set(train.classes) == set(test.classes)
    assert min(train.class_sizes.values()) == 1
