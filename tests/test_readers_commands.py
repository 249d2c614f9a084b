"""Every reader's corpus through every command that takes documents."""

from __future__ import annotations

import json
import random

import pytest

from termsieve.cli.app import app
from termsieve.cli.shell import exit_code
from termsieve.readers import FORMATS

WORDS = {
    "spam": ["cheap", "pills", "buy", "offer", "free", "win"],
    "ham": ["noon", "lunch", "report", "team", "see", "you"],
}
COMMON = ["the", "and", "with", "from", "this"]
N_DOCS = 48


@pytest.fixture(scope="module")
def mail():
    generator = random.Random(5)
    labels = ["spam" if i % 3 == 0 else "ham" for i in range(N_DOCS)]
    return [(" ".join(generator.choices(WORDS[label] + COMMON, k=8)), label) for label in labels]


def numbered(mail):
    names = sorted({word for text, _ in mail for word in text.split()})
    return names, [(sorted({names.index(word) for word in text.split()}), label) for text, label in mail]


def written(format, mail, folder):
    if format == "table":
        path = folder / "mail.csv"
        path.write_text("text,label\n" + "".join(f"{text},{label}\n" for text, label in mail))
    elif format == "lines":
        path = folder / "mail.txt"
        path.write_text("".join(f"__label__{label} {text}\n" for text, label in mail))
    elif format == "folder":
        path = folder / "mail"
        for number, (text, label) in enumerate(mail):
            (path / label).mkdir(parents=True, exist_ok=True)
            (path / label / f"{number}.txt").write_text(text)
    elif format == "reviews":
        path = folder / "mail"
        path.mkdir()
        for label in ("ham", "spam"):
            texts = [text for text, its in mail if its == label]
            body = "".join(f"<review><review_text>{text}</review_text></review>\n" for text in texts)
            (path / f"{label}.review").write_text(body)
    elif format == "reuters":
        path = folder / "mail.sgm"
        head = '<REUTERS TOPICS="YES" LEWISSPLIT="{}" CGISPLIT="TRAINING-SET">'
        path.write_text(
            "".join(
                f"{head.format(('TRAIN', 'TEST')[i % 2])}<TOPICS><D>{label}</D></TOPICS>"
                f"<TEXT><BODY>{text}</BODY></TEXT></REUTERS>\n"
                for i, (text, label) in enumerate(mail)
            )
        )
    elif format == "arff":
        path = folder / "mail.arff"
        names, rows = numbered(mail)
        head = "".join(f"@attribute {name} numeric\n" for name in names)
        body = "".join(
            "{" + "".join(f"{i} 1," for i in row) + f"{len(names)} {label}" + "}\n" for row, label in rows
        )
        path.write_text(f"@relation mail\n{head}@attribute class {{ham,spam}}\n@data\n{body}")
    else:
        path = folder / "mail.svm"
        _, rows = numbered(mail)
        path.write_text("".join(f"{label} {' '.join(f'{i + 1}:1' for i in row)}\n" for row, label in rows))
    return str(path)


@pytest.mark.slow
@pytest.mark.parametrize("format", FORMATS)
def test_every_corpus_goes_through_every_command(format, mail, tmp_path, capsys):
    path = written(format, mail, tmp_path)
    has_texts = format not in ("arff", "svmlight")
    counts, model, page = (str(tmp_path / name) for name in ("c.parquet", "m.skops", "r.html"))

    def run(*words):
        code = exit_code(app, [*words])
        out, err = capsys.readouterr()
        assert code == 0, err
        assert err.startswith(("read ", "wrote ")) or "read 48 documents" in err, err
        return out

    assert f"read {N_DOCS} documents" in (exit_code(app, ["inspect", path]), capsys.readouterr().err)[1]
    assert run("rank", path, "-k", "3", "--json").count('"term"') == 3
    assert json.loads(run("show", path, "--json"))["documents"] == N_DOCS
    assert run("compare", path, "-k", "5")
    run("count", path, "-o", counts)
    assert len(json.loads(run("select", path, "-k", "4"))) == 4
    assert run("advise", path, "--goal", "f1", "--class", "spam", "--json")
    run("report", path, "-o", page)
    if has_texts:
        run("select", path, "-k", "8", "--pipeline", model)
        predicted = run("predict", model, path).split()
        assert set(predicted) == {"ham", "spam"}
        assert len(predicted) == N_DOCS
