"""Every reader's corpus through count, rank and select; what each does with files that are too much."""

import bz2
import gzip
import io
import json
import os
import tarfile
import zipfile

import numpy as np
import polars as pl
import pytest
from scipy import sparse

from termsieve import Corpus, Counts, TermSelector, count, cut, rank, read, score, term_matrix
from termsieve.cli.app import app
from termsieve.cli.shell import exit_code
from termsieve.errors import FormatError, InputError, ParameterError
from termsieve.learners import get_learner
from termsieve.readers import FORMATS
from termsieve.readers.files import BYTES_PER_COLUMN, LINES_PER_LIMIT

TEXTS = ["cheap pills cheap", "see you soon", "cheap watches", "see the pills"]
LABELS = ["spam", "ham", "spam", "ham"]


def arff_file(folder):
    path = folder / "mail.arff"
    rows = "\n".join(["{0 2,1 1,3 spam}", "{2 1,3 ham}", "{0 1,3 spam}", "{1 1,2 1,3 ham}"])
    head = "\n".join(f"@attribute {word} numeric" for word in ("cheap", "pills", "see"))
    path.write_text(f"@relation mail\n{head}\n@attribute class {{ham,spam}}\n@data\n{rows}\n")
    return path


def svmlight_file(folder):
    path = folder / "mail.svm"
    path.write_text("spam 1:2 2:1\nham 3:1\nspam 1:1\nham 2:1 3:1\n")
    return path


def lines_file(folder):
    path = folder / "mail.txt"
    path.write_text("".join(f"__label__{a} {b}\n" for a, b in zip(LABELS, TEXTS, strict=True)))
    return path


def table_file(folder):
    path = folder / "mail.csv"
    pl.DataFrame({"text": TEXTS, "label": LABELS}).write_csv(path)
    return path


def documents_folder(folder):
    path = folder / "mail"
    for number, (text, label) in enumerate(zip(TEXTS, LABELS, strict=True)):
        (path / label).mkdir(parents=True, exist_ok=True)
        (path / label / f"{number}.txt").write_text(text)
    return path


def reuters_file(folder):
    path = folder / "mail.sgm"
    parts = ["TRAIN", "TRAIN", "TEST", "TEST"]
    path.write_text(
        "".join(
            f'<REUTERS TOPICS="YES" LEWISSPLIT="{part}" CGISPLIT="TRAINING-SET">'
            f"<TOPICS><D>{label}</D></TOPICS>"
            f"<TEXT><BODY>{text}</BODY></TEXT></REUTERS>\n"
            for text, label, part in zip(TEXTS, LABELS, parts, strict=True)
        )
    )
    return path


def reviews_folder(folder):
    path = folder / "mail"
    path.mkdir()
    for label in ("spam", "ham"):
        texts = [text for text, its in zip(TEXTS, LABELS, strict=True) if its == label]
        (path / f"{label}.review").write_text(
            "".join(f"<review><review_text>{text}</review_text></review>\n" for text in texts)
        )
    return path


SOURCES = {
    "arff": arff_file,
    "reuters": reuters_file,
    "reviews": reviews_folder,
    "svmlight": svmlight_file,
    "lines": lines_file,
    "table": table_file,
    "folder": documents_folder,
}


def test_there_is_a_source_for_every_format():
    assert SOURCES.keys() == FORMATS.keys()


@pytest.mark.parametrize("format", FORMATS)
def test_every_corpus_can_be_counted_ranked_and_selected(tmp_path, format):
    path = SOURCES[format](tmp_path)
    corpus = read(path)
    assert corpus.source.startswith(format)
    counts = count(corpus)
    assert counts.n_docs == 4
    names = counts.names().tolist()
    sizes = {str(label): size for label, size in zip(counts.classes, counts.pos.tolist(), strict=True)}
    assert sizes == {"ham": 2, "spam": 2}
    # "cheap", wherever it is, is in both documents of one class and in none of the other.
    best = cut(rank(score(counts, "bns")), k=1)[0]
    column = counts.tp[:, best].tolist()
    assert sorted(column) == [0, 2]
    if corpus.terms is not None or corpus.texts is not None:
        assert names[best] in ("cheap", "see")
    X, _ = term_matrix(corpus)
    assert TermSelector(k=1).fit_transform(X, list(corpus.labels)).shape == (4, 1)
    labels = [label[0] if isinstance(label, tuple) else label for label in corpus.labels]
    model = get_learner("svm").fit(X, labels)
    assert model.predict(X).tolist() == labels


@pytest.mark.parametrize("format", FORMATS)
def test_every_corpus_can_be_counted_and_ranked_by_command(tmp_path, format):
    path = SOURCES[format](tmp_path)
    saved = tmp_path / "mail.counts.parquet"
    assert exit_code(app, ["count", str(path), "-o", str(saved)]) == 0
    assert Counts.load(saved).n_docs == 4
    assert exit_code(app, ["rank", str(path)]) == 0


PLAIN = np.array([[2, 1, 0], [0, 0, 1], [1, 0, 0], [0, 1, 1]], dtype=np.float64)


def with_values(dtype):
    """PLAIN with values of a type of which scipy itself may make no matrix."""
    X = sparse.csr_matrix(PLAIN)
    X.data = X.data.astype(dtype)
    return X


def strided():
    X = sparse.csr_matrix(PLAIN)
    X.data, X.indices = np.repeat(X.data, 2)[::2], np.repeat(X.indices, 3)[::3]
    return X


def wide_indices():
    X = sparse.csr_matrix(PLAIN)
    X.indices = X.indices.astype(np.int64)
    return X


def doubled():
    X = sparse.csr_matrix(PLAIN)
    cells = np.repeat(X.data / 2, 2), np.repeat(X.indices, 2)
    return sparse.csr_matrix((*cells, X.indptr * 2), shape=X.shape)


ODD = {
    "strided": strided(),
    "two index types": wide_indices(),
    "each cell twice": doubled(),
    "dense float16": PLAIN.astype(np.float16),
    "fortran": np.asfortranarray(PLAIN),
    "csc": sparse.csc_matrix(PLAIN),
    **{dtype: with_values(dtype) for dtype in ("f2", ">f8", "?", "u1", "g")},
}


@pytest.mark.parametrize("kind", ODD)
def test_a_matrix_of_any_make_works_wherever_one_enters(kind):
    X = ODD[kind]
    expected = Counts.from_matrix(PLAIN, LABELS)
    corpus = Corpus(matrix=X, labels=LABELS)
    assert count(corpus) == expected
    assert Counts.from_matrix(X, LABELS) == expected
    assert TermSelector(k=2).fit(corpus.matrix, LABELS).get_support().sum() == 2
    model = get_learner("svm").fit(corpus.matrix, LABELS)
    assert model.predict(corpus.matrix).tolist() == LABELS


@pytest.mark.parametrize("kind", ODD)
def test_estimators_take_a_matrix_of_any_make(kind):
    assert TermSelector(k=2).fit(ODD[kind], LABELS).get_support().sum() == 2


def test_an_index_outside_the_matrix_is_refused_wherever_one_enters():
    X = sparse.csr_matrix(np.eye(4))
    X.indices = np.array([0, 1, 2, 10**8], dtype=np.int32)
    for enter in (lambda: Corpus(matrix=X, labels=LABELS), lambda: Counts.from_matrix(X, LABELS)):
        with pytest.raises(InputError, match="damaged sparse matrix"):
            enter()


def compressed(path, content):
    """A gzip file of a few kilobytes that holds far more."""
    with gzip.open(path, "wb") as file:
        for _ in range(content >> 20):
            file.write(b"x" * (1 << 20))
    return path


@pytest.mark.parametrize(
    ("name", "format"),
    [
        ("a.arff.gz", "arff"),
        ("a.svm.gz", "svmlight"),
        ("a.sgm.gz", "reuters"),
        ("a.review.gz", "reviews"),
        ("a.csv.gz", "table"),
        ("a.jsonl.gz", "table"),
    ],
)
def test_a_small_file_that_holds_much_is_refused(tmp_path, name, format):
    path = compressed(tmp_path / name, 8 << 20)
    assert path.stat().st_size < 1 << 16
    options = {"text": "t", "label": "l"} if format == "table" else {}
    with pytest.raises(FormatError, match="max_bytes=1,000,000 allows; give a larger max_bytes="):
        read(path, format, max_bytes=10**6, **options)


@pytest.mark.parametrize("kind", ["zip", "tar", "tar.gz", "folder"])
def test_documents_that_are_too_much_together_are_refused(tmp_path, kind):
    folder = documents_folder(tmp_path)
    for number in range(20):
        (folder / "ham" / f"more{number}.txt").write_text("word " * 1000)
    path = folder
    if kind == "zip":
        path = tmp_path / "mail.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in sorted(folder.rglob("*.txt")):
                archive.write(file, file.relative_to(folder))
    elif kind != "folder":
        path = tmp_path / f"mail.{kind}"
        with tarfile.open(path, "w:gz" if kind == "tar.gz" else "w") as archive:
            archive.add(folder, "mail")
    with pytest.raises(FormatError, match="more bytes than max_bytes=50,000 allows"):
        read(path, max_bytes=50_000)
    assert len(read(path, max_bytes=200_000)) == 24


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.jsonl.bz2", "a.arff", "a.svm"])
def test_one_endless_line_is_refused(tmp_path, name):
    limit = 1 << 20
    body = {
        "a.csv": b"text,label\nshort,x\n" + b"w" * limit + b",y\n",
        "a.jsonl": b'{"text": "short", "label": "x"}\n'
        + json.dumps({"text": "w" * limit, "label": "y"}).encode(),
        "a.arff": b"@relation r\n@attribute t string\n@attribute c {x,y}\n@data\n'" + b"w" * limit + b"',x\n",
        "a.svm": b"x 1:1\ny " + b"".join(b"%d:1 " % i for i in range(1, limit // 7)) + b"\n",
    }
    content = body[name.removesuffix(".bz2")]
    (tmp_path / name).write_bytes(bz2.compress(content) if name.endswith(".bz2") else content)
    refused = limit * LINES_PER_LIMIT // 2
    with pytest.raises(
        FormatError, match=r", line \d+ is longer than 524,288 bytes .* give a larger max_bytes="
    ):
        read(tmp_path / name, max_bytes=refused)
    assert len(read(tmp_path / name, max_bytes=4 * refused)) in (1, 2)
    if name.startswith(("a.csv", "a.jsonl")):
        with pytest.raises(FormatError, match="longer than 524,288 bytes"):
            count(tmp_path / name, max_bytes=refused)
        assert count(tmp_path / name, max_bytes=4 * refused).n_docs == 2


def test_one_endless_cell_is_refused(tmp_path):
    (tmp_path / "a.csv").write_text('text,label\nshort,x\n"' + "word\n" * 20_000 + '",y\n')
    with pytest.raises(
        FormatError, match=r"line 3: a cell is longer than 62,500 bytes .* give a larger max_bytes="
    ):
        count(tmp_path / "a.csv", max_bytes=10**6)


def test_counting_tables_has_no_limit_but_that_of_lines(tmp_path):
    rows = pl.DataFrame({"text": ["some words"] * 5000, "label": ["x", "y"] * 2500})
    rows.write_csv(tmp_path / "a.csv")
    with pytest.raises(FormatError, match="more bytes of text and labels than max_bytes=20,000"):
        read(tmp_path / "a.csv", max_bytes=20_000)
    assert count(tmp_path / "a.csv", max_bytes=20_000).n_docs == 5000


@pytest.mark.parametrize("index", [2147483646, 10**9, 20_000_000])
def test_a_wild_svmlight_index_is_refused(tmp_path, index):
    (tmp_path / "a.svm").write_text(f"x 1:1\ny 2:1 {index}:1\n")
    with pytest.raises(FormatError, match=r"line 2: index .* give a larger max_bytes="):
        read(tmp_path / "a.svm")
    few = tmp_path / "b.svm"
    few.write_text("x 1:1\ny 1001:1\n")
    assert read(few, max_bytes=1001 * BYTES_PER_COLUMN).matrix.shape == (2, 1001)
    with pytest.raises(FormatError, match="index 1,001 makes a matrix of more columns"):
        read(few, max_bytes=1000 * BYTES_PER_COLUMN)


def test_the_limit_is_an_option_of_the_command_line(tmp_path, capsys):
    compressed(tmp_path / "a.csv.gz", 4 << 20)
    words = ["rank", str(tmp_path / "a.csv.gz"), "--text", "t", "--label", "l"]
    assert exit_code(app, [*words, "--max-bytes", "1000000"]) != 0
    assert "give a larger --max-bytes if that is meant" in capsys.readouterr().err


@pytest.mark.parametrize("limit", [0, -1, 1.5, "1", True, None])
def test_the_limit_is_a_number_of_bytes(tmp_path, limit):
    for format in FORMATS:
        (tmp_path / format).mkdir()
        path = SOURCES[format](tmp_path / format)
        with pytest.raises(ParameterError, match="must be a whole number of bytes"):
            read(path, format, max_bytes=limit)


def test_pipes_and_devices_in_a_folder_are_passed_over(tmp_path):
    folder = documents_folder(tmp_path)
    os.mkfifo(folder / "ham" / "pipe.txt")
    (folder / "spam" / "zero.txt").symlink_to("/dev/zero")
    assert len(read(folder)) == 4
    tables = tmp_path / "tables"
    tables.mkdir()
    table_file(tables)
    os.mkfifo(tables / "pipe.csv")
    (tables / "zero.jsonl").symlink_to("/dev/zero")
    assert len(read(tables)) == 4
    assert count(tables).n_docs == 4


@pytest.mark.parametrize("format", [None, *FORMATS])
def test_a_pipe_or_device_is_refused(tmp_path, format):
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "zero.csv").symlink_to("/dev/zero")
    for name in ("pipe.csv", "zero.csv"):
        with pytest.raises(InputError, match="is a pipe or a device, not a file"):
            read(tmp_path / name, format)
    with pytest.raises(InputError, match="is a pipe or a device, not a file"):
        count(tmp_path / "pipe.csv")


def test_a_number_of_many_digits_is_called_that(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "a", "label": ' + "1" * 5000 + "}\n")
    with pytest.raises(FormatError, match=r"line 1: .*a number has too many digits"):
        read(tmp_path / "a.jsonl")
    (tmp_path / "a.jsonl").write_text('{"text": ' + "[" * 10**5 + "\n")
    with pytest.raises(FormatError, match="nested too deep"):
        read(tmp_path / "a.jsonl")


def test_the_parts_of_a_tar_in_memory_are_closed(tmp_path):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for label in ("x", "y"):
            info = tarfile.TarInfo(f"{label}/1.txt")
            info.size = 3
            archive.addfile(info, io.BytesIO(b"abc"))
    (tmp_path / "a.tar").write_bytes(buffer.getvalue())
    assert read(tmp_path / "a.tar").texts == ("abc", "abc")
