"""Tables: CSV, TSV, JSON lines and Parquet as they really come."""

from __future__ import annotations

import gzip
import json
from contextlib import suppress

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from termsieve import count, read
from termsieve.errors import FormatError, InputError, ParameterError, TermsieveError
from termsieve.readers.tables import batches, read_table

ROWS = [("good film", "pos"), ("bad film", "neg"), ("", "pos")]


@pytest.fixture
def write(tmp_path):
    def written(content: bytes | str, name: str = "t.csv"):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return written


def jsonl(*rows) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def check(corpus):
    assert list(zip(corpus.texts, corpus.labels.tolist(), strict=True)) == ROWS


@pytest.mark.parametrize("delimiter", [",", "\t", ";", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_csv_with_its_delimiter_sniffed(write, delimiter, end, mark):
    lines = [("text", "label"), *ROWS]
    corpus = read(write(mark + "".join(f"{a}{delimiter}{b}{end}" for a, b in lines)))
    check(corpus)
    named = {",": "", "\t": ", delimiter tab", ";": ", delimiter semicolon", "|": ", delimiter bar"}[
        delimiter
    ]
    assert corpus.source == f"table of columns 'text' (text) and 'label' (label){named}"
    assert corpus.name == "t"


def test_a_given_delimiter_wins(write):
    corpus = read(write("text,x;label\na,b;y\n"), delimiter=";", text="text,x")
    assert corpus.texts == ("a,b",)
    with pytest.raises(ParameterError, match="one character"):
        read(write("text,label\na,b\n"), delimiter=",,")


def test_quotes_newlines_and_blank_lines(write):
    corpus = read(write('text,label\n"one, ""two""\nthree",x\n\n"é\0",y\n'))
    assert corpus.texts == ('one, "two"\nthree', "é\0")
    assert corpus.labels.tolist() == ["x", "y"]


def test_a_stray_quote_inside_a_field_is_text(write):
    assert read(write('text,label\n5" disk,x\n')).texts == ('5" disk',)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("text,label\na,x\nb,x,y\n", "line 3: 3 fields where the header has 2"),
        ('text,label\n"a\nb",x\nb\n', "line 4: 1 fields where the header has 2"),
        ('text,label\na,x\n"b,y\n', "line 3: .*check the quotes"),
        ('text,label\na,x\n"b"c,y\n', "line 3: .*check the quotes"),
        ("", "is empty"),
        ("\n\n", "is empty"),
        ("text,label\n", "has a header but no row"),
    ],
)
def test_damaged_csv_names_the_line(write, content, message):
    with pytest.raises(FormatError, match=message):
        read_table(write(content), text="text", label="label")


def test_far_undecodable_line_is_named(write):
    path = write("text,label\ncafé,x\n".encode() + b"a,x\n" * 50_000 + b"\xff,y\n" + b"a,x\n" * 5)
    with pytest.raises(FormatError, match="line 50003: not valid utf-8"):
        read(path)


def test_encoding(write, caplog):
    path = write("text,label\ncafé – “now”,x\n".encode("cp1252"))
    assert read(path).texts == ("café – “now”",)
    assert "is not UTF-8 and was read as cp1252; give encoding= if it is another" in caplog.text
    assert read(path).source.endswith(", cp1252")
    caplog.clear()
    assert read(path, encoding="cp1252").texts == ("café – “now”",)
    assert not [record for record in caplog.records if record.levelname == "WARNING"]
    path = write(b"text,label\ncaf\xe9\x81,x\n")
    assert read(path).texts == ("café\x81",)
    assert "was read as latin-1" in caplog.text
    with pytest.raises(InputError, match="encoding 'klingon' is unknown"):
        read(path, encoding="klingon")
    with pytest.raises(FormatError, match="line 2: not valid utf-8"):
        read(path, encoding="utf-8")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_utf_16_is_known_by_its_mark(write, caplog, encoding):
    mark = "\ufeff" if encoding.endswith("e") else ""
    path = write((mark + "text,label\ncafé,x\n").encode(encoding))
    assert read(path).texts == ("café",)
    assert f"was read as {encoding[:6]}" in caplog.text


def test_far_bytes_decide_what_ascii_left_open(write, caplog):
    plain = b"text,label\n" + (b"a plain line" * 20 + b",x\n") * 1500
    for content, expected in (("café,y\n".encode("cp1252"), "café"), ("café,y\n".encode(), "café")):
        for before in range(4):  # the letter may be cut by the end of a block
            path = write(plain + b"z" * before + b",x\n" + content * 3)
            assert read(path).texts[-1] == expected
    assert "was read as cp1252" in caplog.text
    assert count(write(plain + "café,y\n".encode("cp1252"))).n_docs == 1501


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Привет, как дела сегодня", "cp1251"),
        ("今天天气很好我们去公园玩", "gb18030"),
        ("今日はとても良い天気です", "shift_jis"),
    ],
)
def test_letters_that_are_not_western_are_no_cp1252(write, text, encoding):
    path = write(f"text;label\n{text * 3};x\n".encode(encoding))
    with pytest.raises(FormatError, match=f"neither UTF-8 nor a Western.*give encoding=.*{encoding}"):
        read(path)
    assert read(path, encoding=encoding).texts == (text * 3,)


def test_columns_are_guessed_only_without_doubt(write):
    assert read(write("id,Body,tag\n1,a,x\n")).source == "table of columns 'Body' (text) and 'tag' (label)"
    with pytest.raises(InputError, match=r"which column is the text\? .*'id', 'words', 'tag'"):
        read(write("id,words,tag\n1,a,x\n"))
    with pytest.raises(InputError, match=r"which column is the label\? .*several could be it"):
        read(write("text,class,tag\n1,a,x\n"))
    with pytest.raises(
        InputError, match="no column 'txt' for text=; did you mean 'text'\\? its columns: 'text', 'label'"
    ):
        read(write("text,label\na,x\n"), text="txt")
    with pytest.raises(InputError, match="2 columns named 'text'"):
        read(write("text,label,text\na,x,b\n"), text="text")
    with pytest.raises(InputError, match="both column 'text'"):
        read(write("text,label\na,x\n"), label="text")


def test_missing_labels_are_counted_or_dropped(write):
    path = write("text,label\na,x\nb,\nc,\n")
    with pytest.raises(InputError, match="2 of 3 documents have no label, the first is document 2"):
        read(path)
    assert read(path, missing="drop").texts == ("a",)
    with pytest.raises(ParameterError, match="'error' or 'drop'"):
        read(path, missing="ignore")


def test_several_labels_and_a_split(write):
    path = write("text,label,part\na,x|y,train\nb,y,test\nc,,\n")
    corpus = read(path, separator="|", split="part", missing="drop")
    assert corpus.labels.tolist() == [("x", "y"), ("y",)]
    assert [len(part) for part in corpus.split()] == [1, 1]


def test_jsonl(write):
    content = jsonl(*({"text": a, "label": b, "n": 1} for a, b in ROWS))
    check(read(write(content, "t.jsonl")))
    check(read(write(content, "data")))
    check(read(write("\n" + content.replace("\n", "\r\n\n"), "t.ndjson")))


def test_jsonl_with_lists_numbers_and_nulls(write):
    content = jsonl(
        {"text": "a", "label": ["x", "y"]}, {"text": None, "label": []}, {"label": ["y"], "text": "c"}
    )
    corpus = read(write(content, "t.jsonl"))
    assert corpus.texts == ("a", "", "c")
    assert corpus.labels.tolist() == [("x", "y"), (), ("y",)]
    numbers = read(write(jsonl({"text": "a", "label": 3}, {"text": "b", "label": 1}), "t.jsonl"))
    assert numbers.labels.tolist() == [3, 1]


def test_a_lone_surrogate_becomes_the_replacement_character(write):
    corpus = read(write('{"text": "a\\ud800b\\ud83d\\ude00", "label": "\\udc00"}\n', "t.jsonl"))
    assert corpus.texts == ("a\ufffdb\U0001f600",)
    assert corpus.labels.tolist() == ["\ufffd"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (jsonl({"text": "a", "label": "x"}) + "{", r"line 2: not a JSON object"),
        (jsonl({"text": "a", "label": "x"}, ["b"]), "line 2: a JSON object was expected"),
        (jsonl({"text": "a", "label": "x"}, {"label": "y"}), "line 2: no 'text' here; the row has: 'label'"),
        (jsonl({"text": "a", "label": "x"}, {"text": "b"}), "1 of 2 documents have no label, the first is"),
        (jsonl({"text": 7, "label": "x"}), "line 1: 'text' is 7, not text"),
        (jsonl({"text": "a", "label": "x"}, {"text": "b", "label": 1}), "mixed types"),
        (jsonl({"text": "a", "label": {"x": 1}}), r"its columns: 'text', 'label\.x'"),
        ("[" * 100_000, "line 1: not a JSON object"),
        (b'{"text": "\xc3\xa9\xff", "label": "\xc3\xa9"}\n', "line 1: not valid utf-8"),
        ("", "is empty"),
    ],
)
def test_damaged_jsonl_names_the_line(write, content, message):
    with pytest.raises(TermsieveError, match=message):
        read(write(content, "t.jsonl"))


@pytest.mark.parametrize("indent", [None, 2])
def test_a_json_object_of_rows(write, indent):
    objects = [{"text": a, "label": b} for a, b in ROWS]
    columns = {"text": dict(enumerate(a for a, _ in ROWS)), "label": dict(enumerate(b for _, b in ROWS))}
    for content in (
        {"data": objects},
        {"info": {"license": "free"}, "rows": objects},
        columns,
        {name: list(cells.values()) for name, cells in columns.items()},
        {"columns": ["text", "label"], "data": ROWS},
    ):
        check(read(write(json.dumps(content, indent=indent), "t.json")))
    check(read(write("\n".join(json.dumps(row, indent=indent) for row in objects), "t.json")))


def test_a_json_object_that_is_one_document(write):
    for content in (
        {"text": "a b", "label": "x"},
        {"text": "a b", "label": ["x"]},
        {"text": "a b", "label": "x", "more": {"0": 1}},
    ):
        assert read(write(json.dumps(content), "t.jsonl")).texts == ("a b",)
        assert read(write(json.dumps(content, indent=1), "t.jsonl")).texts == ("a b",)


def test_a_damaged_json_object_names_the_line(write):
    with pytest.raises(FormatError, match="line 2: not a JSON object"):
        read(write('{\n"data": [{"text": "a", "label": "x"}', "t.json"))
    with pytest.raises(FormatError, match="line 3: a JSON object was expected"):
        read(write('{\n"text": "a", "label": "x"}\n3', "t.json"))
    with pytest.raises(FormatError, match="an object over several lines is longer than"):
        read(write('{\n"data": [' + '"x",\n' * 100 + "1]}", "t.json"), max_bytes=800)


@pytest.mark.parametrize("indent", [None, 2])
def test_a_json_array(write, indent, monkeypatch):
    rows = [{"text": a, "label": b, "n": {"deep": [1, 2]}} for a, b in ROWS]
    content = json.dumps(rows, indent=indent)
    for size in (1, 7, 1 << 20):
        monkeypatch.setattr("termsieve.readers.json_rows._CHUNK", size)
        check(read(write(content, "t.json")))
        check(read(write("\n " + content, "data")))
    with pytest.raises(FormatError, match="element 3 of the array: not a JSON object"):
        read(write(content[:-20], "t.json"))
    with pytest.raises(FormatError, match="element 2 of the array: an object was expected"):
        read(write('[{"text": "a", "label": "x"}, 3]', "t.json"))
    with pytest.raises(FormatError, match="is empty"):
        read(write("[]", "t.json"))


def test_fields_within_fields(write, tmp_path):
    rows = [{"id": 1, "doc": {"body": a, "by": {"name": b}}} for a, b in ROWS]
    how = {"text": "doc.body", "label": "doc.by.name"}
    check(read(write(jsonl(*rows), "t.jsonl"), **how))
    assert count(write(jsonl(*rows), "t.jsonl"), **how).n_docs == 3
    pl.DataFrame(rows).write_parquet(tmp_path / "t.parquet")
    check(read(tmp_path / "t.parquet", **how))
    for name in ("t.jsonl", "t.parquet"):
        with pytest.raises(InputError, match=r"its columns: 'id', 'doc\.body', 'doc\.by\.name'"):
            read(tmp_path / name, text="body", label="doc.by.name")


def test_parquet(tmp_path):
    path = tmp_path / "t.parquet"
    pl.DataFrame({"text": [a or None for a, _ in ROWS], "label": [b for _, b in ROWS]}).write_parquet(path)
    check(read(path))
    path.rename(tmp_path / "data")
    check(read(tmp_path / "data"))


def test_parquet_kinds(tmp_path):
    path = tmp_path / "t.parquet"
    frame = pl.DataFrame({"text": ["a", "b"], "label": [["x"], ["x", "y"]], "n": [1, 2]})
    frame.with_columns(pl.col("text").cast(pl.Categorical)).write_parquet(path)
    corpus = read(path)
    assert corpus.texts == ("a", "b")
    assert corpus.labels.tolist() == [("x",), ("x", "y")]
    assert read(path, label="n").labels.tolist() == [1, 2]
    with pytest.raises(InputError, match="column 'n' holds Int64, not text"):
        read(path, text="n")
    with pytest.raises(InputError, match="its columns: 'text', 'label', 'n'"):
        read(path, text="nope")


def test_damaged_parquet(write, tmp_path):
    with pytest.raises(FormatError, match="no readable Parquet"):
        read(write(b"PAR1 and nothing else", "t.parquet"))
    with pytest.raises(TermsieveError):
        read(write(b"", "t.parquet"))
    whole = tmp_path / "whole.parquet"
    pl.DataFrame({"text": ["a"] * 1000, "label": ["x"] * 1000}).write_parquet(whole)
    with pytest.raises(FormatError, match="no readable Parquet"):
        read(write(whole.read_bytes()[:-100], "t.parquet"))


def test_compressed_tables(tmp_path):
    frame = pl.DataFrame({"text": [a for a, _ in ROWS], "label": [b for _, b in ROWS]})
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(frame.write_csv().encode()))
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(frame.write_ndjson().encode()))
    check(read(tmp_path / "a.csv.gz"))
    check(read(tmp_path / "b.jsonl.gz"))
    (tmp_path / "c.csv.gz").write_bytes(gzip.compress(frame.write_csv().encode() * 1000)[:-20])
    with pytest.raises(FormatError, match="damaged or truncated"):
        read(tmp_path / "c.csv.gz")


def test_zstd_tables(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    frame = pl.DataFrame({"text": [a for a, _ in ROWS], "label": [b for _, b in ROWS]})
    path = tmp_path / "a.jsonl.zst"
    path.write_bytes(pyarrow.compress(frame.write_ndjson().encode(), "zstd", asbytes=True))
    check(read(path))
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(FormatError):
        read(path)


def test_globs_lists_and_folders_of_tables(tmp_path):
    for i, (text, label) in enumerate(ROWS):
        (tmp_path / f"part-{i}.csv").write_text(f"label,text\n{label},{text}\n")
    for paths in (
        str(tmp_path / "part-*.csv"),
        tmp_path,
        [tmp_path / f"part-{i}.csv" for i in range(3)],
        [str(tmp_path / "part-[01].csv"), str(tmp_path / "part-2.csv")],
    ):
        check(read(paths))
    with pytest.raises(InputError, match="no file matches"):
        read(str(tmp_path / "*.tsv"))
    with pytest.raises(InputError, match="list of paths is empty"):
        read([])
    (tmp_path / "part-9.csv").write_text("label,words\nx,a\n")
    with pytest.raises(InputError, match=r"part-9\.csv has no column 'text'"):
        read(tmp_path)


def test_batches_are_bounded_and_cover_everything(tmp_path, monkeypatch):
    monkeypatch.setattr("termsieve.readers.tables._BATCH_CHARACTERS", 1000)
    monkeypatch.setattr("termsieve.readers.parquet_rows.BATCH_ROWS", 40)
    frame = pl.DataFrame(
        {"text": [f"word{i}" for i in range(300)], "label": [f"c{i % 3}" for i in range(300)]}
    )
    frame.write_csv(tmp_path / "a.csv")
    frame.write_ndjson(tmp_path / "b.jsonl")
    frame.write_parquet(tmp_path / "c.parquet", row_group_size=100)
    for name in ("a.csv", "b.jsonl", "c.parquet"):
        parts = list(batches(tmp_path / name))
        assert len(parts) > 3
        assert pl.concat(parts).equals(frame)
    assert sum(map(len, batches(tmp_path))) == 900


def test_a_long_line_is_a_long_document(write):
    corpus = read(write("text,label\n" + "word " * 400_000 + ",x\n"))
    assert len(corpus.texts[0]) == 2_000_000
    corpus = read(write(jsonl({"text": "word " * 400_000, "label": "x"}), "t.jsonl"))
    assert len(corpus.texts[0]) == 2_000_000


@settings(deadline=None)
@given(content=st.binary(max_size=80), name=st.sampled_from(["t.csv", "t.jsonl", "t.parquet"]))
def test_any_bytes_give_a_corpus_or_a_clear_error(tmp_path_factory, content, name):
    path = tmp_path_factory.getbasetemp() / name
    path.write_bytes((b"text,label\n" if name == "t.csv" else b"") + content)
    with suppress(TermsieveError):
        assert len(read_table(path, text="text", label="label")) > 0
