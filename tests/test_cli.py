"""The command line: what it prints, what it writes, and what it imports."""

import csv
import io
import json
import subprocess
import sys
from itertools import chain
from typing import get_args

import numpy as np
import polars as pl
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from tests.generated import MAIL, MAIL_PLAN

from termsieve import (
    Counts,
    TermSelector,
    compare_metrics,
    cut,
    load_docstrings,
    rank,
    score,
    select_terms,
    telling_words,
    train_model,
)
from termsieve.cli.app import app
from termsieve.cli.shell import exit_code
from termsieve.cli.source import Source
from termsieve.cli.terms import split_specs
from termsieve.estimators.methods import METHODS
from termsieve.measures.confusion import MEASURES
from termsieve.ranking import CUTS, Combine, Side
from termsieve.ranking.cutoffs import TESTS
from termsieve.telling import class_words, common_terms


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TERMSIEVE_DATA", raising=False)
    with open("mail.csv", "w", newline="") as file:
        csv.writer(file).writerows([("body", "folder"), *MAIL])
    many = [
        {"text": "cheap pills", "labels": ["a", "b"]},
        {"text": "pills noon", "labels": ["b"]},
        {"text": "noon meet", "labels": []},
        {"text": "cheap meet", "labels": ["a"]},
    ]
    (tmp_path / "many.jsonl").write_text("\n".join(map(json.dumps, many)))
    return tmp_path


@pytest.fixture
def run(folder, capsys):
    """Run a command line; give its exit code, stdout and stderr."""

    def call(line, code=0):
        assert exit_code(app, line.split()) == code, capsys.readouterr().err
        return capsys.readouterr()

    return call


def mail_counts():
    vectorizer = CountVectorizer()
    X = vectorizer.fit_transform([text for text, _ in MAIL])
    return Counts.from_matrix(X, [label for _, label in MAIL], terms=vectorizer.get_feature_names_out())


def commands():
    """Every command with its words, from the app itself."""
    own = [[entry.name or entry.callback.__name__] for entry in app.registered_commands]
    groups = [
        [group.name, entry.name]
        for group in app.registered_groups
        for entry in group.typer_instance.registered_commands
    ]
    return own + groups


def test_rank_prints_what_the_library_ranks(run):
    rows = json.loads(run("rank mail.csv --label folder -m bns --side both -k 6 --json").out)
    counts = mail_counts()
    scores = score(counts.take([1]), "bns")
    best = cut(rank(scores), k=6)
    assert [row["term"] for row in rows] == counts.terms[best].tolist()
    assert [row["score"] for row in rows] == pytest.approx(scores.values[0, best])
    assert [row["tp"] for row in rows] == counts.tp[1, best].tolist()
    assert [row["fp"] for row in rows] == counts.fp[1, best].tolist()
    assert [row["direction"] for row in rows] == scores.direction[0, best].tolist()
    assert {(row["class"], row["pos"], row["neg"]) for row in rows} == {("spam", 2, 3)}


@pytest.mark.parametrize(
    "options", ["", "--side positive", "--side negative", "--combine mean", "--ratio 0.5"]
)
def test_rank_names_the_class_a_word_tells_about(run, options):
    rows = json.loads(run(f"rank many.jsonl --json -m chi {options}").out)
    counts = Source("many.jsonl").counts()
    for row in rows:
        at = counts.classes.tolist().index(row["class"])
        column = counts.terms.tolist().index(row["term"])
        assert row["tp"] == counts.tp[at, column]
        assert row["fp"] == counts.fp[at, column]
        if options == "--side positive" and (score(counts, "chi").direction[:, column] > 0).any():
            assert row["direction"] == 1


def test_the_command_line_prints_the_frames_of_the_library(run):
    """Every table of the command line is one call of the library."""
    mail = {"source": "mail.csv", "text": "body", "label": "folder"}
    cases = [
        ("rank mail.csv --label folder", telling_words(**mail)),
        (
            "rank mail.csv --label folder --class ham -m chi -k 3",
            telling_words(**mail, target="ham", metric="chi", k=3),
        ),
        (
            "rank mail.csv --label folder --each --side positive -k 2",
            telling_words(**mail, each=True, side="positive", k=2),
        ),
        ("rank many.jsonl --ratio 0.5 --min-df 2", telling_words("many.jsonl", ratio=0.5, min_df=2)),
    ]
    for line, frame in cases:
        assert json.loads(run(f"{line} --json").out) == frame.to_dicts()
    found = compare_metrics(**mail, metrics=["bns", "ig"], k=4)
    assert (
        json.loads(run("compare mail.csv --label folder --metrics bns,ig -k 4 --json").out) == found.to_dict()
    )
    shown = json.loads(run("show mail.csv --label folder --json").out)
    assert shown["classes"] == class_words(**mail).to_dicts()
    assert shown["commonest"] == common_terms(**mail).to_dicts()
    words = json.loads(run("select mail.csv --label folder --sparsity 1.5").out)
    assert words == select_terms(**mail, sparsity=1.5)
    run("select mail.csv --label folder -k 4 --pipeline model.skops")
    printed = json.loads(run("predict model.skops mail.csv --json").out)
    assert printed == train_model(**mail, k=4).predict_file("mail.csv")


def test_select_prints_the_quality_of_what_it_saved(run):
    told = run("select mail.csv --label folder -k 4 --pipeline model.skops").err
    assert "cross-validation in 5 parts, selection included" in told
    assert "Documents by true class" in told


def test_predict_prints_names_scores_and_measures(run, folder):
    run("select mail.csv --label folder -k 6 --learner lr --pipeline model.skops")
    shown = run("predict model.skops mail.csv --id body --label folder --score --proba")
    rows = [line.split("\t") for line in shown.out.splitlines()]
    assert [row[:2] for row in rows] == [list(pair) for pair in MAIL]
    assert all(float(row[2]) > 0 for row in rows if row[1] == "spam")
    assert all(0.5 < float(row[3]) <= 1 for row in rows)
    assert "f1 1.000" in shown.err
    assert "Measures per class" in shown.err
    found = json.loads(run("predict model.skops mail.csv --label folder --score --json").out)
    assert found["measures"]["table"] == [[3, 0], [0, 2]]
    assert found["documents"][0]["class"] == "spam"
    plain = run("predict model.skops mail.csv")
    assert plain.out.splitlines() == [label for _, label in MAIL]
    assert plain.err == "read 5 documents, from column 'body' (text)\n"
    run("select many.jsonl -k 3 --pipeline many.skops")
    assert run("predict many.skops many.jsonl --score").out.splitlines()[0].startswith("a;b\t")


def test_export_writes_every_form(run, folder):
    run("select mail.csv --label folder -k 4 --pipeline model.skops")
    for name in ("model.json", "model.py", "model.js", "model.sql", "try.html"):
        assert f"wrote {name}" in run(f"export model.skops -o {name}").err
    run("export model.skops -o postgres.sql --dialect postgres --card card.md")
    assert "regexp_matches" in (folder / "postgres.sql").read_text()
    assert (folder / "card.md").read_text().startswith("# Model card")
    assert exit_code(app, ["export", "model.skops"]) == 2
    assert exit_code(app, ["export", "model.skops", "-o", "model.txt"]) == 2
    assert exit_code(app, ["export", "model.skops", "-o", "model.json", "--to", "cobol"]) == 2


def test_watch_tells_by_its_exit_code(run, folder, capsys):
    for name, word in (("old", "word"), ("same", "word"), ("new", "crypto")):
        rows = [(f"{text} {word}", label) for text, label in MAIL * 12]
        with open(f"{name}.csv", "w", newline="") as file:
            csv.writer(file).writerows([("body", "folder"), *rows])
    run("select old.csv --label folder -k 4 --pipeline model.skops")
    assert "still applies" in run("watch model.skops same.csv").out
    assert exit_code(app, ["watch", "model.skops", "same.csv", "new.csv", "-o", "drift.html"]) == 3
    assert "crypto came" in capsys.readouterr().out
    assert "crypto" in (folder / "drift.html").read_text()
    assert exit_code(app, ["watch", "model.skops", "new.csv", "--json"]) == 3
    assert json.loads(capsys.readouterr().out)["changed"] is True


def test_rank_each_class_on_its_own(run):
    rows = json.loads(run("rank mail.csv --label folder --each -k 2 --json").out)
    assert [(row["class"], row["rank"]) for row in rows] == [("ham", 1), ("ham", 2), ("spam", 1), ("spam", 2)]


def test_rank_writes_the_same_rows_in_every_format(run, folder):
    rows = json.loads(run("rank mail.csv --label folder --json").out)
    for name in ("words.csv", "words.tsv", "words.json", "words.jsonl", "words.parquet"):
        assert f"wrote {name}" in run(f"rank mail.csv --label folder -o {name}").err
    assert pl.read_csv("words.csv").to_dicts() == rows
    assert pl.read_csv("words.tsv", separator="\t").to_dicts() == rows
    assert json.loads((folder / "words.json").read_text()) == rows
    assert pl.read_ndjson("words.jsonl").to_dicts() == rows
    assert pl.read_parquet("words.parquet").to_dicts() == rows
    printed = run("rank mail.csv --label folder --csv").out
    assert [row["term"] for row in csv.DictReader(io.StringIO(printed))] == [row["term"] for row in rows]
    assert sorted(path.name for path in folder.iterdir() if path.name.startswith(".")) == []


def test_rank_reads_json_lines_from_standard_input(folder):
    command = [sys.executable, "-m", "termsieve", "rank", "-", "-k", "2", "--json"]
    done = subprocess.run(
        command, input=(folder / "many.jsonl").read_bytes(), capture_output=True, check=True
    )
    assert len(json.loads(done.stdout)) == 2


def test_rank_and_its_table_import_no_heavy_part(folder):
    code = """
import sys
from termsieve.cli.app import app
from termsieve.cli.shell import exit_code
assert exit_code(app, ["rank", "mail.csv", "--label", "folder"]) == 0
heavy = {"sklearn", "altair", "dask", "distributed", "pyspark", "pandas", "skops", "jinja2", "vl_convert"}
heavy |= {"scipy", "numpy.f2py", "numpy.random", "numpy.testing", "pyarrow", "narwhals", "unittest"}
assert not heavy & set(sys.modules), heavy & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_tables_hold_no_control_characters_and_no_colour(run, folder):
    (folder / "odd.csv").write_text("text,label\n\x1b[31mred apple,a\n[bold]pear,b\n", encoding="utf-8")
    printed = run("rank odd.csv").out
    assert "\x1b" not in printed
    assert "bold" in printed
    (folder / "label.csv").write_text("text,label\nred apple,\x1b]0;title\x07\npear,b\n", encoding="utf-8")
    assert "\x1b" not in run("show label.csv").out


def test_counts_files_stand_for_documents(run, folder):
    whole = run("rank mail.csv --label folder --json").out
    run("count mail.csv --label folder -o all.parquet")
    assert run("rank all.parquet --json").out == whole
    lines = (folder / "mail.csv").read_text().splitlines()
    for number, part in enumerate((lines[1:3], lines[3:])):
        (folder / f"part{number}.csv").write_text("\n".join([lines[0], *part]))
        run(f"count part{number}.csv --label folder -o part{number}.parquet")
    run("merge part0.parquet part1.parquet -o both.parquet")
    assert Counts.load("both.parquet") == Counts.load("all.parquet")
    run("count part0.csv part1.csv --label folder -o again.parquet")
    assert Counts.load("again.parquet") == Counts.load("all.parquet")


def test_count_options_reach_the_counter(run):
    run("count mail.csv --label folder --ngrams 2 --occurrences --workers 1 -o two.parquet")
    counts = Counts.load("two.parquet")
    assert "see you" in counts.terms
    assert counts.occurrences
    assert "left out" in run("count mail.csv --label folder --max-terms 3 -o few.parquet").err
    run("count mail.csv --label folder --checkpoint run.state -o three.parquet")


def test_show_says_what_is_there(run):
    run("count mail.csv --label folder -o all.parquet")
    facts = json.loads(run("show all.parquet --json").out)
    assert (facts["documents"], facts["terms"]) == (5, mail_counts().n_terms)
    words = ", ".join(telling_words("all.parquet", target="spam", k=5)["term"])  # no sixth speaks for it
    assert facts["classes"][1] == {"class": "spam", "documents": 2, "share": 0.4, "skew": 1.5, "words": words}
    assert run("show mail.csv --label folder").out.startswith("5 documents, 14 words")


def test_show_lists_the_first_of_many_classes(run, folder):
    rows = "".join(f"word{i % 7} also,c{i:05}\n" for i in range(3_000))
    (folder / "many.csv").write_text(f"text,label\n{rows}")
    printed = run("show many.csv").out
    assert "c00099" in printed
    assert "c00100" not in printed
    assert "and 2,900 more classes; --json lists all\n" in printed
    assert len(json.loads(run("show many.csv --json").out)["classes"]) == 3_000


def test_compare_counts_what_metrics_share(run):
    found = json.loads(run("compare mail.csv --label folder --metrics bns,ig,wfo(0.3) -k 4 --json").out)
    best = {name: set(ranking_terms(name)[:4]) for name in ("bns", "information_gain", "wfo(0.3)")}
    for pair in found["overlap"]:
        assert pair["both"] == len(best[pair["metric"]] & best[pair["other"]])
        assert pair["shared"] == pair["both"] / 4
    assert {row["term"] for row in found["terms"]} == set(chain.from_iterable(best.values()))
    for row in found["terms"]:
        assert row["bns"] == ranking_terms("bns").index(row["term"]) + 1
        assert row["chosen_by"] == sum(row["term"] in terms for terms in best.values())
    assert "rank by each metric" in run("compare mail.csv --label folder -k 4 --show 3").out


def ranking_terms(metric):
    counts = mail_counts()
    return rank(score(counts.take([1]), metric)).terms.tolist()


def test_metrics_lists_the_registry(run):
    rows = json.loads(run("metrics --json").out)
    assert {"name", "aliases", "kind", "use", "formula", "source"} == set(rows[0])
    assert "bi_normal_separation" in run("metrics").out
    assert json.loads(run("metrics chi --json").out)["name"] == "chi_squared"
    assert "formula" in run("metrics bns").out


def test_a_selected_vocabulary_is_what_vectorisers_take(run, folder):
    run("select mail.csv --label folder -k 4 -o vocabulary.json")
    words = json.loads((folder / "vocabulary.json").read_text())
    assert words == ranking_terms("information_gain")[:4]
    assert (
        CountVectorizer(vocabulary=words).transform(["cheap cheap buy"]).toarray()[0, words.index("cheap")]
        == 2
    )
    assert (
        json.loads(run("select mail.csv --label folder --fraction 0.2 -m chi").out)
        == ranking_terms("chi")[:3]
    )


def test_a_saved_pipeline_predicts_as_the_library_does(run, folder):
    run("select mail.csv --label folder -k 4 --pipeline model.skops --learner lr")
    printed = run("predict model.skops mail.csv --text body").out.split()
    texts, labels = zip(*MAIL, strict=True)
    from termsieve import TermVectorizer, get_learner

    model = make_pipeline(TermVectorizer(binary=True), TermSelector(k=4), get_learner("lr")).fit(
        texts, labels
    )
    assert printed == model.predict(texts).tolist()
    (folder / "new.csv").write_text("id,text\n1,cheap\n2,noon\n")
    assert json.loads(run("predict model.skops new.csv --json").out) == ["spam", "ham"]


def test_a_pipeline_may_be_for_one_class_or_for_several_labels(run):
    run("select many.jsonl -k 4 --pipeline several.skops --learner svm")
    assert run("predict several.skops many.jsonl").out.splitlines() == ["a\tb", "b", "", "a"]
    run("select mail.csv --label folder --class ham -k 9 --pipeline one.skops --learner nb")
    assert set(run("predict one.skops mail.csv --text body").out.splitlines()) == {"ham", "not ham"}


def test_predict_reads_what_select_reads(run, folder):
    """A delimiter, an encoding or a format that the training table needs, the new documents need as well."""
    run("select mail.csv --label folder -k 9 --pipeline model.skops")
    (folder / "new.txt").write_bytes("note|body\n1;|cheap caf\xe9\n2;|noon\n".encode("latin-1"))
    assert "give --encoding" in run("predict model.skops new.txt --format table").err
    line = "predict model.skops new.txt --format table --encoding latin-1 --delimiter |"
    assert run(line).out.split() == ["spam", "ham"]


def test_training_says_nothing_of_classes_with_one_document(folder, run):
    rows = [("body", "folder"), *((text, f"c{i}") for i, (text, _) in enumerate(MAIL))]
    with open("each.csv", "w", newline="") as file:
        csv.writer(file).writerows(rows)
    said = run("select each.csv --label folder -k 9 --pipeline model.skops").err  # a warning is an error here
    assert [line.split()[0] for line in said.splitlines()[:2]] == ["read", "wrote"]


def test_predict_refuses_foreign_types_by_name(run):
    import skops.io

    model = make_pipeline(FunctionTransformer(np.load))
    skops.io.dump(model, "foreign.skops")
    answer = run("predict foreign.skops mail.csv", code=1).err
    assert "numpy" in answer
    assert "load" in answer
    assert "not loaded" in answer


def test_a_report_is_written(run, folder):
    how = "--class spam --metrics bns -k 2 --min-df 2 --examples 1 --mask --max-megabytes 3"
    assert "wrote report.html" in run(f"report mail.csv --label folder {how}").err
    page = (folder / "report.html").read_text()
    assert "<html" in page
    assert 'data-first="1"' in page  # spam
    assert len(page) < 3e6


def test_words_in_their_classes_and_lines(run, folder):
    found = json.loads(run("words mail.csv cheap --label folder --metrics bns --json").out)
    counts = mail_counts()
    at = counts.names().tolist().index("cheap")
    for row in found["rates"]:
        c = counts.position(row["class"])
        assert (row["with_word"], row["documents"]) == (counts.tp[c, at], counts.pos[c])
    numbers = [i for i, (text, _) in enumerate(MAIL, start=1) if "cheap" in text.split()]
    assert [line["document"] for line in found["lines"]] == numbers[:10]
    table = run("words mail.csv cheap --label folder -n 1").out
    assert "rank_bns" in table
    assert table.count("[cheap]") == 1
    run("count mail.csv --label folder -o mail.parquet")
    answer = run("words mail.parquet cheap")
    assert "rank_bns" in answer.out
    assert "holds counts and no text" in answer.err
    assert "did you mean 'cheap'" in run("words mail.csv cheep --label folder", code=1).err


def test_documents_with_a_word_and_a_class(run, folder):
    wanted = [i for i, (text, label) in enumerate(MAIL, 1) if "cheap" in text.split() and label == "spam"]
    rows = json.loads(run("documents mail.csv --label folder --class spam --word cheap -n 99 --json").out)
    assert [row["document"] for row in rows] == wanted
    assert {row["labels"] for row in rows} == {"spam"}
    assert rows[0]["text"] == MAIL[wanted[0] - 1][0]
    assert f"document {wanted[0]} (spam)" in run("documents mail.csv --label folder -c spam -w cheap").out
    assert [row["document"] for row in json.loads(run("documents many.jsonl --class b --json").out)] == [1, 2]
    assert "no document" in run("documents mail.csv --label folder --word nowhere").err
    run("count mail.csv --label folder -o mail.parquet")
    assert "needs the documents" in run("documents mail.parquet", code=2).err


def test_a_small_study_from_plan_to_report(run, folder):
    (folder / "tiny.toml").write_text(MAIL_PLAN)
    assert "trainings" in run("study plan tiny.toml").out
    assert "quick" in run("study plan").out
    for share in ("1/2", "2/2"):
        run(f"study run tiny.toml -o part{share[0]} --workers 1 --share {share}")
    run("study merge part1 part2 -o whole")
    run("study resume whole --workers 1")
    status = json.loads(run("study status whole --json").out)
    assert status["finished"]
    assert "100.0%" in run("study status whole --verify").out
    (folder / "whole" / "rows" / "merged-1.parquet").write_bytes(b"cut off")
    broken = run("study status whole --verify", 1)
    assert "rows/merged-1.parquet is damaged" in broken.out
    assert "damaged files: 1; run them again with: termsieve study resume whole" in broken.err
    assert "part 'merged-1' of whole is missing or damaged; it is run" in run("study resume whole").err
    assert json.loads(run("study status whole --verify --json").out)["faults"] == {}
    run("study report whole -o study.html")
    assert "<html" in (folder / "study.html").read_text()
    assert "wrote report.html" in run("report whole").err


@pytest.mark.slow
def test_demo_shows_the_classes_and_writes_a_report(run, folder):
    printed = run("demo").out
    corpus = load_docstrings()
    assert all(str(label) in printed for label in corpus.classes)
    assert "bns" in printed
    assert (folder / "report.html").stat().st_size > 10_000


def test_every_help_ends_with_an_example_of_its_own(run):
    for words in commands():
        page = run(" ".join([*words, "--help"])).out.rstrip()
        last = page.splitlines()[-1].strip()
        assert last.startswith(f"Example: termsieve {' '.join(words)}"), page
        assert len(last) < 110


def test_the_help_names_every_choice_of_the_library(run):
    """Importing the library takes too long for a help page, so its lists are written out there."""
    page = run("select --help").out
    for option, choices in (
        ("--side", get_args(Side)),
        ("--combine", get_args(Combine)),
        ("--method", METHODS),
    ):
        words = " ".join(page.split(f"  {option} ")[1].split("\n  --")[0].split())
        assert all(choice in words for choice in choices), words
    assert not [name for name in (*CUTS[1:], *TESTS) if f"--{name} " not in page]
    goals = " ".join(run("advise --help").out.split())
    assert all(name in goals for name in MEASURES)


def test_the_version_is_printed(run):
    from termsieve import __version__

    assert run("--version").out == f"termsieve {__version__}\n"


def test_completion_knows_the_commands():
    env = {"_TERMSIEVE_COMPLETE": "complete_bash", "COMP_WORDS": "termsieve ra", "COMP_CWORD": "1"}
    code = "import sys; sys.argv[0] = 'termsieve'; from termsieve.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    assert done.stdout.split() == ["rank"]


def test_names_with_commas_inside_brackets_stay_whole():
    assert split_specs("bns,mi(smoothing=1, classes=20) , ig") == ["bns", "mi(smoothing=1, classes=20)", "ig"]


def test_only_the_command_that_is_named_is_prepared():
    from termsieve.cli.app import app, app_for

    names = [info.callback.__name__ for info in app.registered_commands]
    for name in names:
        narrow = app_for([name, "--help"])
        assert [info.callback.__name__ for info in narrow.registered_commands] == [name]
        assert narrow.registered_groups == []
    study = app_for(["study", "plan"])
    assert [info.name for info in study.registered_groups] == ["study"]
    assert study.registered_commands == []
    for words in ([], ["--help"], ["rnk"], ["--debug", "rank"], ["file", "rank"]):
        assert app_for(words) is app
    assert [info.callback.__name__ for info in app.registered_commands] == names
