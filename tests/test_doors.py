"""Files as people have them: the documents, the classes, and the sentence that each one gets."""

from __future__ import annotations

import csv
import gzip
import io
import json
import pickle
import tarfile
import zipfile
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import polars as pl
import pytest

from termsieve import read
from termsieve.cli.app import app
from termsieve.cli.shell import exit_code

HAM = [
    "Ok lar... Joking wif u oni...",
    "U dun say so early hor... U c already then say...",
    "Nah I don't think he goes to usf, he lives around here though",
    "Even my brother is not like to speak with me",
    'He said "see you at five", but I will be late',
]
SPAM = [
    "Free entry in 2 a wkly comp to win FA Cup final tkts, text now",
    "WINNER!! As a valued network customer you have been selected",
    "Had your mobile 11 months or more? You are entitled to update",
    "URGENT! You have won a 1 week free membership in our prize draw",
    '"Call now" to claim your prize of 900 pounds; offer ends soon',
]
MAIL = [row for pair in zip(HAM, SPAM, strict=True) for row in ((pair[0], "ham"), (pair[1], "spam"))]
WORDS = {
    "german": (
        ["Der Müller kaufte größere Äpfel, für 3,50 €", "Übung macht den Meister, heißt es"],
        "gut schlecht",
    ),
    "russian": (["Привет, как дела сегодня вечером", "Купите дешёвые таблетки прямо сейчас"], "мама спам"),
    "arabic": (["كيف حالك اليوم يا صديقي العزيز", "اشتر الآن حبوب رخيصة جدا جدا"], "عادي مزعج"),
    "turkish": (["İstanbul'da hava bugün çok güzel", "Şimdi ucuz ilaç satın alın"], "iyi kötü"),
    "chinese": (["今天天气很好我们去公园玩吧", "现在购买便宜的药片立即发货"], "好 坏"),
    "japanese": (["今日はとても良い天気ですね", "今すぐ安い薬を買ってください"], "良い 悪い"),
    "thai": (["วันนี้อากาศดีมากเราไปเที่ยวกัน", "ซื้อยาราคาถูกได้แล้ววันนี้"], "ดี เลว"),
    "khmer": (["ថ្ងៃនេះអាកាសធាតុល្អណាស់", "ទិញថ្នាំថោកឥឡូវនេះ"], "ល្អ អាក្រក់"),
}
SEGMENTED = {"chinese": "jieba", "japanese": "sudachi", "thai": "pythainlp"}


def table(rows, header=None, delimiter=",", quoting=csv.QUOTE_MINIMAL, end="\n") -> str:
    page = io.StringIO()
    writer = csv.writer(page, delimiter=delimiter, quoting=quoting, lineterminator=end)
    writer.writerows([header, *rows] if header else rows)
    return page.getvalue()


def plain(rows, delimiter="\t") -> str:
    return "".join(delimiter.join(row) + "\n" for row in rows)


def in_language(name, n=6):
    texts, labels = WORDS[name]
    return [(f"{texts[i % 2]} {i}", labels.split()[i % 2]) for i in range(n)]


def folder(files: dict[str, str | bytes]):
    def write(path):
        for name, content in files.items():
            target = path / "corpus" / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content.encode() if isinstance(content, str) else content)
        return path / "corpus"

    return write


def file(name: str, content: str | bytes):
    def write(path):
        (path / name).write_bytes(content.encode() if isinstance(content, str) else content)
        return path / name

    return write


def workbook(sheets: dict[str, list[list[Any]]]) -> bytes:
    """A minimal Excel workbook with its texts in the cells."""

    def cell(value: Any) -> str:
        if isinstance(value, int):
            return f"<c><v>{value}</v></c>"
        if isinstance(value, date):
            return f'<c s="1"><v>{(value - date(1899, 12, 30)).days}</v></c>'
        text = str(value).replace("&", "&amp;").replace("<", "&lt;")
        return f'<c t="inlineStr"><is><t>{text}</t></is></c>'

    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    kinds = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    numbers = range(1, len(sheets) + 1)
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{kinds}.sheet.main+xml"/>'
        + "".join(
            f'<Override PartName="/xl/worksheets/sheet{n}.xml" ContentType="{kinds}.worksheet+xml"/>'
            for n in numbers
        )
        + f'<Override PartName="/xl/styles.xml" ContentType="{kinds}.styles+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{package}/relationships">'
        f'<Relationship Id="r1" Type="{office}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets>'
        + "".join(f'<sheet name="{name}" sheetId="{n}" r:id="s{n}"/>' for n, name in enumerate(sheets, 1))
        + "</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}/relationships">'
        + "".join(
            f'<Relationship Id="s{n}" Type="{office}/worksheet" Target="worksheets/sheet{n}.xml"/>'
            for n in numbers
        )
        + f'<Relationship Id="f" Type="{office}/styles" Target="styles.xml"/></Relationships>',
        # The second format is that of a date.
        "xl/styles.xml": f'<styleSheet xmlns="{main}"><cellXfs count="2"><xf numFmtId="0"/>'
        '<xf numFmtId="14"/></cellXfs></styleSheet>',
    }
    for n, rows in enumerate(sheets.values(), 1):
        lines = "".join(f"<row>{''.join(map(cell, row))}</row>" for row in rows)
        parts[f"xl/worksheets/sheet{n}.xml"] = (
            f'<worksheet xmlns="{main}"><sheetData>{lines}</sheetData></worksheet>'
        )
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return held.getvalue()


def parquet(name: str, frame: pl.DataFrame, metadata: dict[str, str] | None = None):
    def write(path):
        frame.write_parquet(path / name, metadata=metadata)
        return path / name

    return write


def class_label(names: list[str], several: bool = False) -> dict[str, str]:
    """What Hugging Face's datasets writes beside the schema of a table."""
    label: dict[str, Any] = {"names": names, "_type": "ClassLabel"}
    if several:
        label = {"feature": label, "_type": "List"}
    features = {"text": {"dtype": "string", "_type": "Value"}, "label": label}
    return {"huggingface": json.dumps({"info": {"features": features}})}


def archive(files: dict[str, str | bytes], kind: str):
    def write(path):
        target = path / f"corpus.{kind}"
        if kind == "zip":
            with zipfile.ZipFile(target, "w") as packed:
                for name, content in files.items():
                    packed.writestr(name, content)
            return target
        with tarfile.open(target, "w:gz") as packed:
            for name, content in files.items():
                held = content.encode() if isinstance(content, str) else content
                info = tarfile.TarInfo(name)
                info.size = len(held)
                packed.addfile(info, io.BytesIO(held))
        return target

    return write


@dataclass
class Door:
    """A file as people have it, and what must come of it: numbers and a sentence, or an error."""

    write: Any
    documents: int = 10
    classes: int = 2
    line: str = ""  # a part of the one-line form
    said: str = ""  # a part of what is said about a guess; nothing may be said if it is empty
    error: str = ""
    options: dict[str, Any] = field(default_factory=dict)


def zstd(content: str) -> bytes:
    try:
        from compression import zstd as packer
    except ImportError:
        from backports import zstd as packer
    packed: bytes = packer.compress(content.encode())
    return packed


def parquet_bytes(frame: pl.DataFrame) -> bytes:
    held = io.BytesIO()
    frame.write_parquet(held)
    return held.getvalue()


def json_lines(rows) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


HEADER = ["text", "label"]
PLAIN = table(MAIL, HEADER)
FRAME = pl.DataFrame({"text": [text for text, _ in MAIL], "label": [label for _, label in MAIL]})
RECORDS = FRAME.to_dicts()
LETTER = "From: a@example.org\nSubject: hello\nMIME-Version: 1.0\nContent-Transfer-Encoding: 7bit\n\n{}\n"
DOCUMENTS = {f"{label}/{i}.txt": text for i, (text, label) in enumerate(MAIL)}
SPLIT = {f"{('train', 'test')[i > 5]}/{label}/{i}.txt": text for i, (text, label) in enumerate(MAIL)}
NUMBERED = [(str(i), label, text) for i, (text, label) in enumerate(MAIL, 100)]
QUESTIONS = "".join(
    f"{label} {text} ?\n"
    for label, text in [
        ("DESC:manner", "How did serfdom develop in and then leave Russia"),
        ("ENTY:cremat", "What films featured the character Popeye Doyle"),
        ("DESC:manner", "How can I find a list of celebrities' real names"),
        ("NUM:date", "When, in what year, was the Great Fire"),
    ]
)
DOORS = {
    "SMS Spam Collection": Door(
        file("SMSSpamCollection", plain((label, text) for text, label in MAIL)),
        line="from columns 2 (text) and 1 (label), delimiter tab, no header",
        said="looks like a document, so it is read as a table without a header; give --header",
    ),
    "R8, label and text with a tab": Door(
        file("r8-train-stemmed.txt", plain((label, text.lower()) for text, label in MAIL)),
        line="columns 2 (text) and 1 (label), delimiter tab, no header",
        said="without a header",
    ),
    "AG News, numbers and quotes": Door(
        file(
            "train.csv",
            table(((str(len(label)), text[:9], text * 2) for text, label in MAIL), quoting=csv.QUOTE_ALL),
        ),
        line="columns 3 (text) and 1 (label), no header",
        said="without a header",
    ),
    "Sentiment140, sorted by class": Door(
        file("tweets.csv", table([("0", str(i), "NO_QUERY", text) for i, (text, _) in enumerate(MAIL)])),
        error="has no header: which column is the label? Give --label",
    ),
    "columns by number": Door(
        file("tweets.csv", table(NUMBERED)),
        options={"text": "3", "label": "2", "header": False},
        line="columns 3 (text) and 2 (label), no header",
    ),
    "columns by number, header recognised": Door(
        file("tweets.csv", table(NUMBERED)),
        options={"text": "3", "label": "2"},
        line="no header",
        said="without a header",
    ),
    "columns by number under a header": Door(
        file("mail.csv", table(NUMBERED, ["id", "kind", "words"])),
        options={"text": "3", "label": "2"},
        line="columns 'words' (text) and 'kind' (label)",
    ),
    "a plain CSV": Door(
        file("mail.csv", table(MAIL, ["text", "label"])), line="columns 'text' (text) and 'label'"
    ),
    "a CSV with unusual names": Door(
        file("mail.csv", table(MAIL, ["words", "kind"])),
        error="which columns are the text and the label? Give --text and --label, their names are not usual; "
        "its columns: 'words', 'kind'; 'words' holds the longest texts; 'kind' could be the label",
    ),
    "a CSV with a mistyped name": Door(
        file("mail.csv", table(MAIL, ["text", "label"])),
        options={"text": "txet"},
        error="did you mean 'text'?",
    ),
    "a TSV with lone quotes": Door(file("mail.tsv", "text\tlabel\n" + plain(MAIL)), line="delimiter tab"),
    "a TSV with quoting": Door(
        file("mail.tsv", table(MAIL, ["text", "label"], "\t", csv.QUOTE_ALL)), line="delimiter tab"
    ),
    "quotes that are text": Door(
        file("mail.csv", plain([("text", "label"), *((t.replace(",", ""), c) for t, c in MAIL)], ",")),
        error="check the quotes of this row, or give --quote none if quotes are text",
    ),
    "quotes that are text, said so": Door(
        file("mail.csv", plain([("text", "label"), *((t.replace(",", ""), c) for t, c in MAIL)], ",")),
        options={"quote": "none"},
    ),
    "a German spreadsheet": Door(
        file(
            "umfrage.csv", table(in_language("german"), ["Text", "Label"], ";", end="\r\n").encode("cp1252")
        ),
        documents=6,
        line="delimiter semicolon, cp1252",
        said="is not UTF-8 and was read as cp1252; give --encoding",
    ),
    "Excel's Unicode text": Door(
        file(
            "umfrage.txt", table(in_language("german"), ["Text", "Label"], "\t", end="\r\n").encode("utf-16")
        ),
        documents=6,
        line="delimiter tab, utf-16",
        said="was read as utf-16",
    ),
    "a bar as delimiter": Door(file("mail.txt", table(MAIL, ["text", "label"], "|")), line="delimiter bar"),
    "commas in the first line": Door(
        file(
            "mail.csv", table([(label, text) for text, label in MAIL], ["label", "text, as it was sent"], ";")
        ),
        options={"text": "text, as it was sent"},
        line="delimiter semicolon",
    ),
    "delimiter by its name": Door(
        file("mail.csv", "text\tlabel\n" + plain(MAIL)), options={"delimiter": "tab"}, line="delimiter tab"
    ),
    "an Excel workbook": Door(
        file("mail.xlsx", workbook({"Data": [["text", "label", "n"], *([a, b, 1] for a, b in MAIL)]})),
        line="columns 'text' (text) and 'label' (label), Excel",
    ),
    "an Excel workbook of two sheets": Door(
        file(
            "mail.xlsx", workbook({"Data": [["text", "label"], *map(list, MAIL)], "Notes": [["see above"]]})
        ),
        said="has 2 sheets, and only 'Data' was read",
    ),
    "an Excel workbook without a header": Door(
        file("mail.xlsx", workbook({"Data": [[b, a] for a, b in MAIL]})),
        line="columns 2 (text) and 1 (label), Excel, no header",
        said="without a header",
    ),
    "a Word document": Door(
        archive({"[Content_Types].xml": "<a/>", "word/document.xml": "<a/>"}, "zip"),
        error="is a document of an office program; save it as .xlsx or CSV first",
    ),
    "JSON lines": Door(
        file("mail.jsonl", "".join(json.dumps({"text": a, "label": b}) + "\n" for a, b in MAIL)),
        line="JSON lines",
    ),
    "nested JSON lines": Door(
        file(
            "mail.jsonl",
            "".join(json.dumps({"doc": {"body": a}, "meta": {"tag": b}}) + "\n" for a, b in MAIL),
        ),
        options={"text": "doc.body", "label": "meta.tag"},
        line="columns 'doc.body' (text) and 'meta.tag' (label), JSON lines",
    ),
    "a JSON array": Door(
        file("mail.json", json.dumps([{"text": a, "label": b} for a, b in MAIL], indent=1)), line="JSON array"
    ),
    "Hugging Face Parquet": Door(
        parquet(
            "0000.parquet",
            pl.DataFrame({"text": [a for a, _ in MAIL], "label": [0, 1] * 5}),
            class_label(["ham", "spam"]),
        ),
        line="columns 'text' (text) and 'label' (label), Parquet",
    ),
    "Hugging Face Parquet, several labels": Door(
        parquet(
            "0000.parquet",
            pl.DataFrame({"text": [a for a, _ in MAIL], "label": [[0], [0, 1]] * 5}),
            class_label(["joy", "anger"], several=True),
        ),
        line="2 classes (several per document)",
    ),
    "indicator columns": Door(
        file(
            "toxic.csv",
            table(
                [(i, a, int(b == "ham"), int(b == "spam")) for i, (a, b) in enumerate(MAIL)],
                ["id", "comment", "fine", "rude"],
            ),
        ),
        options={"label": "fine,rude"},
        line="columns 'comment' (text) and 'fine'+'rude' (label)",
    ),
    "indicator columns, not named": Door(
        file(
            "toxic.csv",
            table(
                [(f"id{i}", a, int(b == "ham"), int(b == "spam")) for i, (a, b) in enumerate(MAIL)],
                ["id", "comment", "fine", "rude"],
            ),
        ),
        error="'fine', 'rude' hold 0 and 1: give --label 'fine,rude' if they are the classes",
    ),
    "several labels in a cell": Door(
        file(
            "topics.csv",
            table([(a, "money|sport" if b == "ham" else "sport|arts") for a, b in MAIL], ["text", "topics"]),
        ),
        said="most labels hold '|'; give --separator '|'",
    ),
    "several labels in a cell, separated": Door(
        file(
            "topics.csv",
            table([(a, "money|sport" if b == "ham" else "sport|arts") for a, b in MAIL], ["text", "topics"]),
        ),
        options={"separator": "|"},
        classes=3,
        line="several per document",
    ),
    "a split as label": Door(
        file("mail.csv", table([(a, "train" if b == "ham" else "test") for a, b in MAIL], ["text", "label"])),
        said="the labels test, train are a split, not classes; give --label",
    ),
    "integers as labels": Door(file("mail.csv", table([(a, len(b)) for a, b in MAIL], ["text", "label"]))),
    "one file per class": Door(
        folder({"plot.tok.gt9.5000": "\n".join(HAM), "quote.tok.gt9.5000": "\n".join(SPAM)}),
        options={"label_from": "file"},
        line="lines (labels from the names of the files, 2 files)",
    ),
    "one file per class, not said": Door(
        folder({"plot.tok.gt9.5000": "\n".join(HAM), "quote.tok.gt9.5000": "\n".join(SPAM)}),
        error="give --label-from file if each file is a class with one document per line",
    ),
    "one table per class": Door(
        folder(
            {
                "ham.csv": table([(t,) for t in HAM], ["text"]),
                "spam.csv": table([(t,) for t in SPAM], ["text"]),
            }
        ),
        options={"label_from": "file"},
        line="column 'text' (text), 2 files, labels from the names of the files",
    ),
    "TREC questions": Door(
        file("train_5500.label", QUESTIONS),
        4,
        3,
        options={"format": "lines"},
        line="the first word of a line is its label",
    ),
    "TREC questions, fine": Door(
        file("train_5500.label", QUESTIONS),
        4,
        3,
        options={"format": "lines", "fine": True},
        line="its label, fine",
    ),
    "TREC questions, not said": Door(
        file("train_5500.label", QUESTIONS), error="such as 'lines' if each line is a label and a text"
    ),
    "fastText": Door(
        file("mail.txt", "".join(f"__label__{b} {a}\n" for a, b in MAIL)), line="the first word of a line"
    ),
    "a folder per class": Door(folder(DOCUMENTS), line="from folder"),
    "a folder per class with hidden files": Door(
        folder({**DOCUMENTS, "ham/.DS_Store": b"\0\1", ".git/config": "x", "README": "x"}),
        line="folder (1 file outside the classes left out, 2 hidden files left out)",
    ),
    "a folder of cp1252": Door(
        folder({f"{c}/{i}.txt": a.encode("cp1252") for i, (a, c) in enumerate(in_language("german"))}),
        documents=6,
        said="6 of 6 files of",
    ),
    "OHSUMED": Door(
        folder(
            {
                f"ohsumed/{part}/C0{i % 2}/{i}": a
                for part in ("training", "test")
                for i, (a, _) in enumerate(MAIL)
            }
        ),
        documents=20,
        line="from folder",
    ),
    "train, dev and test": Door(
        folder(
            {f"{part}/{c}/{i}": a for part in ("train", "valid", "test") for i, (a, c) in enumerate(MAIL)}
        ),
        documents=30,
    ),
    "IMDb, with lists beside the classes": Door(
        folder({**SPLIT, "train/urls.txt": "x", "test/urls.txt": "x", "imdb.vocab": "x"}),
        line="folder (3 files outside the classes left out)",
    ),
    "a split without classes": Door(
        folder({"train/1.txt": "a", "test/2.txt": "b"}),
        error="are a split (test, train), not classes; put a directory for each class into them",
    ),
    "a split beside other folders": Door(
        folder({**SPLIT, "docs/readme.txt": "x"}), error="directories of a split (test, train) beside others"
    ),
    "domains with the same classes": Door(
        folder({f"{d}/{c}/{i}.txt": a for d in ("books", "films") for i, (a, c) in enumerate(MAIL)}),
        error="hold the same directories ('ham', 'spam'); give --label-from top or --label-from inner",
    ),
    "domains with the same classes, said": Door(
        folder({f"{d}/{c}/{i}.txt": a for d in ("books", "films") for i, (a, c) in enumerate(MAIL)}),
        documents=20,
        options={"label_from": "inner"},
    ),
    "a zip of folders": Door(archive(DOCUMENTS, "zip"), line="from folder"),
    "a tar of folders": Door(archive(SPLIT, "tar.gz"), line="from folder"),
    "train and test as tables": Door(
        folder(
            {"train.csv": table(MAIL[:6], ["text", "label"]), "test.csv": table(MAIL[6:], ["text", "label"])}
        ),
        line="columns 'text' (text) and 'label' (label), 2 files",
    ),
    "a byte-order mark, semicolons and decimal commas": Door(
        file(
            "umfrage.csv",
            "\ufeff"
            + table(
                [(i, a, b, f"3,{i}") for i, (a, b) in enumerate(MAIL)],
                ["Nr", "Text", "Kategorie", "Wert"],
                ";",
                end="\r\n",
            ),
        ),
        line="columns 'Text' (text) and 'Kategorie' (label), delimiter semicolon",
    ),
    "an index column without a name": Door(
        file("mail.csv", table([(i, a, b) for i, (a, b) in enumerate(MAIL)], ["", *HEADER], end="\r\n")),
        line="columns 'text' (text) and 'label' (label)",
    ),
    "a column without a name, by its number": Door(
        file("mail.csv", table([(a, b) for a, b in MAIL], ["text", ""])),
        options={"label": "2"},
        line="columns 'text' (text) and '2' (label)",
    ),
    "old Mac line ends": Door(file("mail.csv", table(MAIL, HEADER, end="\r"))),
    "labels True and False": Door(file("mail.csv", table([(a, b == "spam") for a, b in MAIL], HEADER))),
    "labels with spaces around them": Door(
        file("mail.csv", table([(a, f" {b}" + " " * (i % 3)) for i, (a, b) in enumerate(MAIL)], HEADER))
    ),
    "labels in upper and lower case": Door(
        file("mail.csv", table([(a, b.title() if i > 5 else b) for i, (a, b) in enumerate(MAIL)], HEADER)),
        classes=4,
        said="the labels 'Ham', 'ham' (and others) differ only in case or spaces; spell them alike",
    ),
    "labels that say NaN": Door(
        file("mail.csv", table([(a, "NaN" if i > 7 else b) for i, (a, b) in enumerate(MAIL)], HEADER)),
        classes=3,
        said="2 documents have the label 'NaN'; leave the cell empty if they have none",
    ),
    "labels missing in some rows": Door(
        file("mail.csv", table([(a, " " if i > 7 else b) for i, (a, b) in enumerate(MAIL)], HEADER)),
        error="no label; label",
    ),
    "labels missing in some rows, left out": Door(
        file("mail.csv", table([(a, "" if i > 7 else b) for i, (a, b) in enumerate(MAIL)], HEADER)),
        documents=8,
        options={"drop_missing": True},
    ),
    "measurements as labels": Door(
        file("mail.csv", table([(f"{a} {i}", i / 7) for i, (a, _) in enumerate(MAIL * 3)], HEADER)),
        documents=30,
        classes=30,
        said="30 labels have 30 values; give --label another column if they are ids or measurements",
    ),
    "lists as labels": Door(
        file("mail.csv", table([(a, str([b, "all"])) for a, b in MAIL], HEADER)),
        said="most labels hold ','; give --separator ','",
    ),
    "lists as labels, separated": Door(
        file("mail.csv", table([(a, str([b, "all"])) for a, b in MAIL], HEADER)),
        classes=3,
        options={"separator": ","},
        line="several per document",
    ),
    "tweets": Door(file("tweets.csv", table(MAIL, ["tweet", "sentiment"])), line="columns 'tweet' (text)"),
    "product reviews with stars": Door(
        file(
            "reviews.tsv",
            table(
                [("US", f"R{i}", len(b), a) for i, (a, b) in enumerate(MAIL)],
                ["marketplace", "review_id", "star_rating", "review_body"],
                "\t",
            ),
        ),
        line="columns 'review_body' (text) and 'star_rating' (label), delimiter tab",
    ),
    "Category and Message": Door(
        file("spam.csv", table([(b, a) for a, b in MAIL], ["Category", "Message"])),
        line="columns 'Message' (text) and 'Category' (label)",
    ),
    "v1 and v2": Door(
        file("spam.csv", table([(b, a, "", "", "") for a, b in MAIL], ["v1", "v2", "", "", ""])),
        error="Give --text and --label, their names are not usual; its columns: 'v1', 'v2', '3', '4', '5'; "
        "'v2' holds the longest texts; 'v1' could be the label",
    ),
    "an id longer than the text": Door(
        file(
            "mail.csv", table([(f"{i:0200d}", a, b) for i, (a, b) in enumerate(MAIL)], ["id", "says", "of"])
        ),
        error="'says' holds the longest texts; 'of' could be the label, with values that recur",
    ),
    "an id longer than the text, no header": Door(
        file("mail.csv", table([(f"{i:0200d}", a, b) for i, (a, b) in enumerate(MAIL)])),
        line="columns 2 (text) and 3 (label), no header",
        said="without a header",
    ),
    "text and label twice": Door(
        file("mail.csv", table([(a, b, b) for a, b in MAIL], ["text", "label", "label"])),
        options={"label": "3"},
        error="has 2 columns named 'label'; rename all but one",
    ),
    "names in French": Door(
        file("avis.csv", table(MAIL, ["texte", "Étiquette"])),
        line="columns 'texte' (text) and 'Étiquette' (label)",
    ),
    "names in Chinese": Door(
        file("reviews.csv", table(MAIL, ["内容", "标签"])), line="columns '内容' (text) and '标签' (label)"
    ),
    "one column only": Door(
        file("mail.csv", table([(a,) for a, _ in MAIL], ["text"])),
        error="which column is the label? Give --label, none has a usual name; its columns: 'text'; give "
        "--delimiter if another character separates its cells",
    ),
    "a blank file": Door(file("mail.csv", "\n \n"), error="is empty"),
    "a header and nothing else": Door(
        file("mail.csv", "text,label\n"), error="mail.csv has a header but no row"
    ),
    "a quote that is never closed": Door(
        file("mail.csv", PLAIN + '"and then,ham\n' + table(MAIL)),
        error="line 12: ',' expected after '\"'; check the quotes of this row",
    ),
    "a huge cell": Door(file("mail.csv", table([("long " * 200_000, "ham"), *MAIL], HEADER)), documents=11),
    "numbers as texts": Door(
        file("mail.csv", table([(i, b) for i, (_, b) in enumerate(MAIL, 1000)], HEADER))
    ),
    "the delimiter in the first line": Door(
        file("mail.csv", "sep=;\r\n" + table(MAIL, HEADER, ";", end="\r\n")), line="delimiter semicolon"
    ),
    "notes above the header": Door(
        file("mail.csv", "# exported in 2024\n# by hand\n" + PLAIN),
        said="begins with row 3; what is above its header was left out",
    ),
    "single quotes": Door(
        file(
            "mail.csv",
            "text,label\n" + "".join(f"'{a.replace(chr(39), chr(39) * 2)}',{b}\n" for a, b in MAIL),
        ),
        line="single quotes",
    ),
    "backslashes before quotes": Door(
        file(
            "mail.csv",
            "text,label\n" + "".join('"' + a.replace('"', '\\"') + f'",{b}\n' for a, b in MAIL),
        ),
        line="a backslash before quotes",
    ),
    "spaces after commas": Door(
        file("mail.csv", "label, text\n" + "".join(f'{b}, "{a.replace(chr(34), "")}"\n' for a, b in MAIL))
    ),
    "UTF-16 without a mark": Door(
        file("mail.csv", PLAIN.encode("utf-16-le")), line="utf-16-le", said="was read as utf-16-le"
    ),
    "a JSON object that holds rows": Door(
        file("mail.json", json.dumps({"version": 1, "data": RECORDS})), line="(label), JSON"
    ),
    "a JSON object that holds rows, over several lines": Door(
        file("mail.json", json.dumps({"version": 1, "data": RECORDS}, indent=2)), line="(label), JSON"
    ),
    "to_json of pandas": Door(
        file("mail.json", json.dumps({name: dict(enumerate(FRAME[name])) for name in HEADER})),
        line="(label), JSON",
    ),
    "to_json of pandas, orient='split'": Door(
        file("mail.json", json.dumps({"columns": HEADER, "index": [0], "data": FRAME.rows()})),
        line="(label), JSON",
    ),
    "a JSON object of columns": Door(
        file("mail.json", json.dumps(FRAME.to_dict(as_series=False))), line="(label), JSON"
    ),
    "JSON objects over several lines": Door(
        file("mail.json", "\n".join(json.dumps(row, indent=2) for row in RECORDS)), line="(label), JSON"
    ),
    "a JSON array of arrays": Door(
        file("mail.json", json.dumps(MAIL)),
        error='a JSON object was expected, one on each line, such as {"text"',
    ),
    "JSON lines with missing texts": Door(
        file(
            "mail.jsonl", json_lines({**row, "text": None} if i < 2 else row for i, row in enumerate(RECORDS))
        )
    ),
    "JSON lines with missing labels": Door(
        file(
            "mail.jsonl", json_lines({"text": row["text"]} if i > 7 else row for i, row in enumerate(RECORDS))
        ),
        documents=8,
        options={"drop_missing": True},
    ),
    "JSON lines, the first has no label": Door(
        file("mail.jsonl", json_lines([{"text": "hello"}, *RECORDS])), options={"drop_missing": True}
    ),
    "tokens in JSON lines": Door(
        file("mail.jsonl", json_lines({**row, "text": row["text"].split()} for row in RECORDS)),
        error="not text; join its parts to one text",
    ),
    "a CSV in gzip": Door(file("mail.csv.gz", gzip.compress(PLAIN.encode()))),
    "a CSV in zstd": Door(file("mail.csv.zst", zstd(PLAIN))),
    "a CSV in a zip file": Door(archive({"mail.csv": PLAIN}, "zip"), line="zip of 'mail.csv'"),
    "the SMS Spam Collection as it is published": Door(
        archive(
            {"SMSSpamCollection": plain((b, a) for a, b in MAIL), "readme": "SMS Spam Collection"}, "zip"
        ),
        line="columns 2 (text) and 1 (label), delimiter tab, no header, zip of 'SMSSpamCollection'",
        said="without a header",
    ),
    "several tables in a zip file": Door(
        archive({"train.csv": PLAIN, "test.csv": PLAIN}, "zip"),
        error="is an archive of tables ('test.csv', 'train.csv'); unpack it, and give one",
    ),
    "AG News as it is published": Door(
        archive({"ag/train.csv": PLAIN, "ag/test.csv": PLAIN, "ag/classes.txt": "a"}, "tar.gz"),
        error="is an archive of tables ('ag/test.csv', 'ag/train.csv'); unpack it, and give one",
    ),
    "Parquet in a zip file": Door(
        archive({"mail.parquet": parquet_bytes(FRAME)}, "zip"),
        error="is a Parquet file within a zip file; unpack it first",
    ),
    "lines of each class in an archive": Door(
        archive({"plot.txt": "\n".join(HAM), "quote.txt": "\n".join(SPAM)}, "tar.gz"),
        error="unpack it, and put the files of each class into one, or give --label-from file",
    ),
    "a competition's folder": Door(
        folder(
            {
                "sample_submission.csv": "id,target\n1,0\n",
                "test.csv": "id,text\n1,see you\n",
                "train.csv": table([(i, a, b) for i, (a, b) in enumerate(MAIL)], ["id", "text", "target"]),
            }
        ),
        error="give one of the 3 tables ('sample_submission.csv', 'test.csv', 'train.csv') if they differ",
    ),
    "a clone of a Hugging Face dataset": Door(
        folder(
            {
                "README.md": "---",
                "data/train-00000-of-00001.parquet": parquet_bytes(FRAME),
                "data/test-00000-of-00001.parquet": parquet_bytes(FRAME[:4]),
            }
        ),
        documents=14,
        line="Parquet, 2 files",
    ),
    "tables in the directories of a split": Door(
        folder({"train/0000.parquet": parquet_bytes(FRAME), "test/0000.parquet": parquet_bytes(FRAME[:4])}),
        documents=14,
        line="Parquet, 2 files",
    ),
    "tables in other directories": Door(
        folder({"ham/1.json": "{}", "spam/2.json": "{}"}),
        error="holds tables in several directories ('ham', 'spam'); give one of them, or --format folder",
    ),
    "a dataset saved to disk": Door(
        folder({"data-00000-of-00001.arrow": b"\xff\xff\xff\xff", "dataset_info.json": "{}"}),
        error="holds Arrow files; load them in Python, with datasets.load_from_disk",
    ),
    "a dictionary column in Parquet": Door(
        parquet("mail.parquet", FRAME.cast(pl.Categorical)), line="Parquet"
    ),
    "booleans in Parquet": Door(
        parquet("mail.parquet", FRAME.with_columns(label=pl.col("label") == "spam")), line="Parquet"
    ),
    "bytes in Parquet": Door(
        parquet("mail.parquet", FRAME.with_columns(pl.col("text").cast(pl.Binary))),
        error="column 'text' holds Binary, not text",
    ),
    "a workbook whose first sheet has notes": Door(
        file("mail.xlsx", workbook({"Read me": [["Answers"]], "Data": [HEADER, *map(list, MAIL)]})),
        said="has 2 sheets, and only 'Data' was read",
    ),
    "a workbook with a title": Door(
        file("mail.xlsx", workbook({"Data": [["Survey", ""], ["", ""], HEADER, *map(list, MAIL)]})),
        said="begins with row 3; what is above its header was left out",
    ),
    "a workbook with dates as labels": Door(
        file("mail.xlsx", workbook({"D": [HEADER, *([a, date(2020, 1, len(b))] for a, b in MAIL)]})),
        line="Excel",
    ),
    "IMDb, with reviews without a class": Door(
        folder({**SPLIT, **{f"train/unsup/{i}.txt": text for i, (text, _) in enumerate(MAIL)}}),
        said="10 documents of {} are in a directory for documents without a class (unsup) and were left out",
    ),
    "mails in folders": Door(
        folder({f"{b}/{i}.eml": LETTER.format(a) for i, (a, b) in enumerate(MAIL)}),
        said="begin with the headers of mails or news posts, which are read as text; give --strip headers",
    ),
    "mails in folders, without headers": Door(
        folder({f"{b}/{i}.eml": LETTER.format(a) for i, (a, b) in enumerate(MAIL)}),
        options={"strip": "headers"},
        line="folder (strip=headers)",
    ),
    "mails without a class": Door(
        folder({f"{i}.eml": LETTER.format(a) for i, (a, _) in enumerate(MAIL)}),
        error="has no directory for each class; put the files of each class into one",
    ),
    "a mailbox": Door(
        file("mail.mbox", "From a@b Mon Jan  1 10:00:00 2001\n" + LETTER.format("hi")),
        error="is a mailbox; save",
    ),
    "documents of Word in folders": Door(
        folder({f"{b}/{i}.docx": b"PK\x03\x04\x14\0\6\0" for i, (_, b) in enumerate(MAIL)}),
        error="are no texts, such as ham/0.docx, which is a document of an office program",
    ),
    "PDF in folders": Door(
        folder({f"{b}/{i}.pdf": b"%PDF-1.7\n%\xe2\xe3\xcf\xd3" for i, (_, b) in enumerate(MAIL)}),
        error="are no texts, such as ham/0.pdf, which is a PDF document; save its text as .txt",
    ),
    "an image among the texts": Door(
        folder({**DOCUMENTS, "ham/logo.png": b"\x89PNG\r\n\x1a\n\0\0"}),
        said="1 of 11 files of {} are no texts, such as ham/logo.png, which is an image, and were left out",
    ),
    **{
        name: Door(file(f"mail.{suffix}", start), error=f"is {name}; {advice}")
        for name, suffix, start, advice in (
            ("a PDF document", "pdf", b"%PDF-1.7 a, b, c", "save its text"),
            ("an SQLite database", "db", b"SQLite format 3\0", "export its table as CSV"),
            ("a pickle of Python objects", "pkl", pickle.dumps(MAIL), "load it in Python and give the frame"),
            ("an Arrow file", "feather", b"ARROW1\0\0", "load it in Python and give the frame"),
            (
                "a file of an old office program",
                "xls",
                b"\xd0\xcf\x11\xe0\xa1\xb1",
                "save it as .xlsx or CSV",
            ),
            ("an XML file", "xml", "<?xml version='1.0'?><docs/>", "make a table of it"),
            ("a web page", "html", "<!DOCTYPE html><html></html>", "save its text as .txt"),
        )
    },
    "Cyrillic in cp1251": Door(
        file("mail.csv", table(in_language("russian"), ["text", "label"]).encode("cp1251")),
        error="neither UTF-8 nor a Western European encoding; give --encoding, such as 'cp1251'",
    ),
    "Cyrillic in cp1251, said": Door(
        file("mail.csv", table(in_language("russian"), ["text", "label"]).encode("cp1251")),
        documents=6,
        options={"encoding": "cp1251"},
        line="cp1251",
    ),
    "an empty file": Door(file("mail.csv", ""), error="is empty"),
    "prose": Door(
        file(
            "novel.txt",
            "It was late, and dark.\nNobody came\nThe wind, the rain, the night, all\nwere there\n",
        ),
        error="is in none of the known formats",
    ),
    **{
        name.title(): Door(file("mail.csv", table(in_language(name), ["text", "label"])), documents=6)
        for name in ("russian", "arabic", "turkish")
    },
    **{
        name.title(): Door(
            file("mail.csv", table(in_language(name), ["text", "label"])),
            documents=6,
            said="have no spaces between words",
        )
        for name in ("chinese", "japanese", "thai", "khmer")
    },
}


def test_there_are_enough_doors():
    assert len(DOORS) >= 120


@pytest.mark.parametrize("name", DOORS)
def test_what_people_have_gets_in_or_a_sentence(name, tmp_path, capsys):
    door = DOORS[name]
    path = door.write(tmp_path)
    words = ["show", str(path), "--json"]
    for option, value in door.options.items():
        flag = "--" + option.replace("_", "-")
        words += ["--no-header"] if value is False else [flag] if value is True else [flag, str(value)]
    code = exit_code(app, words)
    out, err = capsys.readouterr()
    if door.error:
        assert code != 0
        assert door.error in err
        assert err.count("\n") == 1
        return
    assert code == 0, err
    lines = [line for line in err.splitlines() if line.startswith("read ")]
    guesses = [line for line in err.splitlines() if not line.startswith("read ")]
    assert len(lines) == 1
    assert door.line in lines[0]
    assert lines[0].startswith(f"read {door.documents:,} documents, {door.classes} classes")
    said = door.said.format(path)
    assert (len(guesses) == 1 and said in guesses[0]) if said else guesses == []
    found = json.loads(out)
    assert found["documents"] == door.documents
    assert len(found["classes"]) == door.classes
    corpus = read(path, **in_python(door.options))
    assert (len(corpus), len(corpus.classes)) == (door.documents, door.classes)


def in_python(options: dict[str, Any]) -> dict[str, Any]:
    """The options of `read` for those of the command line."""
    given = dict(options)
    return given | ({"missing": "drop"} if given.pop("drop_missing", False) else {})
