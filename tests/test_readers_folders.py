"""Folders and archives with one directory per class."""

from __future__ import annotations

import io
import os
import tarfile
import zipfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from termsieve import read
from termsieve.errors import FormatError, InputError, TermsieveError, UnknownNameError
from termsieve.readers.folders import without_footer, without_headers, without_quotes

FILES = {"neg/b.txt": b"bad", "neg/a.txt": b"worse", "pos/c.txt": b"good", "pos/deep/d.txt": b"caf\xe9"}
TEXTS = ("worse", "bad", "good", "café")


def make_folder(root, files=FILES):
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return root


def make_tar(path, files=FILES, mode="w", prefix=""):
    with tarfile.open(path, mode) as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(prefix + name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path


def make_zip(path, files=FILES, prefix=""):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(prefix + name, content)
    return path


def check(corpus):
    assert corpus.texts == TEXTS
    assert corpus.labels.tolist() == ["neg", "neg", "pos", "pos"]


def test_folder(tmp_path):
    corpus = read(make_folder(tmp_path / "films"))
    check(corpus)
    assert corpus.name == "films"
    assert repr(corpus) == "<Corpus 'films': 4 texts, 2 classes, read as folder>"


def test_files_outside_the_classes_and_hidden_ones_are_left_out(tmp_path):
    make_folder(tmp_path, {**FILES, "README": b"x", "neg/.DS_Store": b"x", ".git/config": b"x"})
    corpus = read(tmp_path, name="films")
    check(corpus)
    assert corpus.source == "folder (1 file outside the classes left out, 2 hidden files left out)"


@pytest.mark.parametrize("suffix", ["", ":gz", ":bz2", ":xz"])
@pytest.mark.parametrize("prefix", ["", "films/", "./a/films/"])
def test_tar(tmp_path, suffix, prefix):
    path = tmp_path / f"films.tar{suffix.replace(':', '.')}"
    corpus = read(make_tar(path, mode=f"w{suffix}", prefix=prefix))
    check(corpus)
    assert corpus.name == "films"
    assert list(tmp_path.iterdir()) == [path]


def test_archives_are_known_by_content(tmp_path):
    check(read(make_tar(tmp_path / "one", mode="w:gz")))
    check(read(make_zip(tmp_path / "two")))
    check(read(make_zip(tmp_path / "films.zip", prefix="films/")))


@pytest.mark.parametrize("name", ["../neg/x", "/neg/x", "neg/../../x", "..\\x", "C:/neg/x"])
@pytest.mark.parametrize("make", [make_tar, make_zip])
def test_members_that_climb_out_are_refused(tmp_path, make, name):
    with pytest.raises(FormatError, match="absolute or parent path"):
        read(make(tmp_path / "a.archive", {**FILES, name: b"x"}))


def test_links_in_archives_are_passed_over(tmp_path):
    path = make_tar(tmp_path / "a.tar")
    with tarfile.open(path, "a") as archive:
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE):
            link = tarfile.TarInfo(f"pos/link{kind!r}")
            link.type, link.linkname = kind, "/etc/passwd"
            archive.addfile(link)
    check(read(path))
    packed = make_zip(tmp_path / "a.zip")
    with zipfile.ZipFile(packed, "a") as archive:
        info = zipfile.ZipInfo("pos/link")
        info.external_attr = 0o120777 << 16
        archive.writestr(info, "/etc/passwd")
    check(read(packed))


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_truncated_tar(tmp_path, mode):
    files = {f"{label}/{i}": os.urandom(3000) for label in "ab" for i in range(20)}
    whole = make_tar(tmp_path / "whole", files, mode).read_bytes()
    path = tmp_path / "cut.tar"
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(FormatError, match="damaged or truncated"):
        read(path)


def test_truncated_or_damaged_zip(tmp_path):
    whole = make_zip(
        tmp_path / "whole.zip", {f"{label}/{i}": b"text " * 100 for label in "ab" for i in range(9)}
    )
    content = whole.read_bytes()
    (tmp_path / "cut.zip").write_bytes(content[: len(content) // 2])
    with pytest.raises(FormatError, match="damaged or truncated"):
        read(tmp_path / "cut.zip", "folder")
    with pytest.raises(TermsieveError):
        read(tmp_path / "cut.zip")
    (tmp_path / "bad.zip").write_bytes(content[:36] + b"\xff" * 6 + content[42:])
    with pytest.raises(FormatError, match=r"bad\.zip"):
        read(tmp_path / "bad.zip")


def test_a_split_in_directories(tmp_path):
    files = {f"news-{part}/{label}/1": part.encode() for part in ("train", "test") for label in ("x", "y")}
    for corpus in (
        read(make_folder(tmp_path / "a", files)),
        read(make_tar(tmp_path / "b.tar", files, prefix="n/")),
    ):
        assert corpus.class_sizes == {"x": 2, "y": 2}
        train, test = corpus.split()
        assert train.texts == ("train", "train")
        assert test.texts == ("test", "test")


def test_nothing_to_read(tmp_path):
    with pytest.raises(FormatError, match="empty folder"):
        read(tmp_path)
    with pytest.raises(FormatError, match="one directory for each class"):
        read(tmp_path, "folder")
    (tmp_path / "a.txt").write_text("x")
    with pytest.raises(FormatError, match="no directory for each class"):
        read(tmp_path)
    (tmp_path / "class").mkdir()
    with pytest.raises(FormatError, match="no directory"):
        read(tmp_path)
    with pytest.raises(InputError, match="does not exist"):
        read(tmp_path / "nope", "folder")


def test_encoding(tmp_path):
    make_folder(tmp_path / "a")
    with pytest.raises(FormatError, match=r"pos/deep/d\.txt, line 1: not valid utf-8"):
        read(tmp_path / "a", encoding="utf-8")
    assert read(tmp_path / "a", encoding="cp1252").texts == TEXTS
    make_folder(tmp_path / "b", {"x/1": "\ufeffcafé".encode(), "y/1": b"nul\0", "z/1": b""})
    assert read(tmp_path / "b").texts == ("café", "nul\0", "")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_unreadable_file(tmp_path):
    make_folder(tmp_path)
    (tmp_path / "neg/a.txt").chmod(0)
    with pytest.raises(InputError, match=r"a\.txt cannot be read: Permission denied"):
        read(tmp_path)


def test_dangling_and_circular_links(tmp_path):
    make_folder(tmp_path / "a")
    (tmp_path / "a/neg/up").symlink_to(tmp_path / "a")
    check(read(tmp_path / "a"))
    (tmp_path / "a/neg/gone").symlink_to("/nowhere/at/all")
    with pytest.raises(InputError, match="gone does not exist"):
        read(tmp_path / "a")


def test_a_class_name_that_is_not_utf_8(tmp_path):
    make_folder(tmp_path)
    os.makedirs(os.fsencode(tmp_path) + b"/caf\xe9")
    with open(os.fsencode(tmp_path) + b"/caf\xe9/1", "wb") as file:
        file.write(b"x")
    assert "café" in read(tmp_path).classes


POST = """From: me
Subject: x

In article <1> you wrote:
> old words
| more
new words

--
my signature
"""


def test_strip(tmp_path):
    make_folder(tmp_path, {"a/1": POST.encode(), "b/1": POST.replace("\n", "\r\n").encode()})
    assert read(tmp_path, strip=("headers", "footers", "quotes")).texts == ("new words\n",) * 2
    assert read(tmp_path, strip="headers").texts[0].startswith("In article")
    with pytest.raises(UnknownNameError, match="did you mean 'headers'"):
        read(tmp_path, strip="header")


def test_headers_that_are_read_as_text_are_told(tmp_path, caplog):
    mail = "Received: from a\n\tby b\nFrom: me\nSubject: x\n\nhello\n"
    make_folder(tmp_path, {"a/1": mail.encode(), "b/1": mail.replace("\n", "\r\n").encode()})
    make_folder(tmp_path, {"b/2": b"Note: this is\nno mail: it only\nlooks so\n"})
    assert read(tmp_path).texts[0] == mail
    assert "2 of 3 files" in caplog.text
    assert "give strip='headers' to leave them out" in caplog.text
    caplog.clear()
    assert read(tmp_path, strip="none").texts[0] == mail
    assert read(tmp_path, strip=()).texts[0] == mail
    assert read(tmp_path, strip="headers").texts[0] == "hello\n"
    make_folder(tmp_path, {"a/2": b"hello", "b/3": b"hello"})
    read(tmp_path)
    assert "headers of mails" not in caplog.text


lines = st.lists(
    st.sampled_from(
        ["", " ", "--", "- -", "---", "> q", "| q", "he wrote:", "In article", "words", "x says: y"]
    ),
    max_size=12,
).map("\n".join)


@settings(deadline=None)
@given(text=lines | st.text(alphabet="a\n->| ", max_size=30))
def test_strip_agrees_with_scikit_learn(text):
    theirs = pytest.importorskip("sklearn.datasets._twenty_newsgroups")
    assert without_headers(text) == theirs.strip_newsgroup_header(text)
    assert without_footer(text) == theirs.strip_newsgroup_footer(text)
    assert without_quotes(text) == theirs.strip_newsgroup_quoting(text)


@pytest.mark.slow
@pytest.mark.corpora
def test_20_newsgroups(data_dir):
    corpus = read(data_dir / "20_newsgroups")
    assert len(corpus) == 19_997
    assert len(corpus.classes) == 20
    assert corpus.class_sizes["soc.religion.christian"] == 997
    assert set(corpus.class_sizes.values()) == {997, 1000}
    assert corpus.name == "20_newsgroups"


@pytest.mark.corpora
def test_movie_reviews(data_dir):
    corpus = read(data_dir / "movie_reviews")
    assert corpus.class_sizes == {"neg": 1000, "pos": 1000}
