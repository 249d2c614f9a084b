"""The documentation: examples run, commands work as written, and generated pages are up to date."""

import csv
import doctest
import importlib.util
import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from tests.releases import before

from termsieve import metrics
from termsieve.cli.app import app
from termsieve.cli.shell import exit_code
from termsieve.studies import PLANS

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
SHELLS = ("", "sh", "bash", "console")
GENERATED = {"metrics.md": "metrics_page.py", "cli.md": "cli_page.py"}
LONG = {*PLANS} - {"quick"}  # plans that run for minutes or hours on corpora that are not here
APPLIED = "contributing.md"  # tests/test_contributing.py applies its changes before it runs the examples


def blocks(page, wanted):
    return [
        body for language, body in FENCE.findall(page.read_text(encoding="utf-8")) if wanted(language, body)
    ]


def commands(page):
    """The lines of a page's shell blocks, fenced or indented, that call termsieve."""
    fenced = blocks(page, lambda language, _: language in SHELLS)
    unfenced = FENCE.sub("", page.read_text(encoding="utf-8"))
    indented = re.findall(r"^    (termsieve .*)$", unfenced, re.MULTILINE)
    lines = "\n".join([*fenced, *indented]).replace("\\\n", " ").splitlines()
    parts = [part.strip().removeprefix("$ ") for line in lines for part in line.split("&&")]
    return [shlex.split(part, comments=True)[1:] for part in parts if part.startswith("termsieve ")]


def with_(select, slow=()):
    found = [
        pytest.param(page, id=page.name, marks=[pytest.mark.slow] if page.name in slow else [])
        for page in PAGES
        if select(page)
    ]
    return pytest.mark.parametrize("page", found)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A place with the files that the pages speak of."""
    monkeypatch.chdir(tmp_path)
    generator = np.random.default_rng(0)

    def texts(classes, number):
        for label in generator.choice(classes, size=number):
            words = [f"word{i}" for i in generator.integers(0, 60, size=8)]
            words += [f"{label}{i}" for i in range(3) if generator.random() < 0.6]
            yield " ".join(words), str(label)

    def table(name, header, rows):
        with open(tmp_path / name, "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([header, *rows])

    table("mail.csv", ("text", "label"), texts(["ham", "spam"], 60))
    for name in ("tickets", "monday", "tuesday", "wednesday", "january", "february"):
        table(f"{name}.csv", ("body", "label"), texts(["billing", "login", "outage"], 60))
    table("new.csv", ("id", "text"), [(1, "spam1 word2"), (2, "ham1 word3")])
    topics = list(texts(["economy", "politics", "sport"], 40))
    table("topics.csv", ("text", "label"), [(text, f"{label}; daily") for text, label in topics])
    lines = [json.dumps({"text": text, "labels": [label, "daily"]}) for text, label in topics]
    (tmp_path / "articles.jsonl").write_text("\n".join(lines), encoding="utf-8")
    for name in ("may", "june"):
        table(f"{name}.csv", ("text", "label"), texts(["ham", "spam"], 60))
    return tmp_path


def run_page(page, capsys):
    for words in commands(page):
        if words == ["demo"]:
            continue  # tests/test_cli.py runs it; it takes seconds, and is the same on every page
        code = exit_code(app, words)
        said = capsys.readouterr().err
        if words[:2] == ["study", "run"] and words[2] in LONG:
            # The command is understood and the plan loaded: the only thing missing is the data.
            assert code == 1, said
            wanted = r"termsieve: corpus '\w+' is not at (DATA|DIR)/[^\n]*; say where [^\n]*\n"
            assert re.fullmatch(wanted, said)
        else:
            assert code == 0, f"termsieve {' '.join(words)}: {said}"


@with_(lambda page: page.name != "cli.md" and commands(page), slow=("studies.md", "tutorial.md"))
def test_commands_work_as_written(page, folder, capsys):
    run_page(page, capsys)


@with_(
    lambda page: page.name != APPLIED and blocks(page, lambda _, body: ">>>" in body), slow=("adviser.md",)
)
def test_examples_give_what_they_show(page, folder):
    before = dict(metrics.METRICS)
    text = "\n".join(blocks(page, lambda _, body: ">>>" in body))
    test = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
    runner = doctest.DocTestRunner(optionflags=FLAGS, verbose=False)
    try:
        runner.run(test)
    finally:
        metrics.METRICS.clear()
        metrics.METRICS.update(before)
    assert runner.summarize(verbose=False).failed == 0


@with_(lambda page: blocks(page, lambda language, body: language == "python" and ">>>" not in body))
def test_other_python_compiles(page):
    for body in blocks(page, lambda language, body: language == "python" and ">>>" not in body):
        compile(body, page.name, "exec")


@pytest.mark.parametrize(("page", "script"), GENERATED.items())
def test_generated_pages_are_up_to_date(page, script):
    if page == "cli.md" and before("typer", 0, 29):
        pytest.skip("earlier releases of typer word the help in another way")
    spec = importlib.util.spec_from_file_location(script.removesuffix(".py"), ROOT / "docs" / script)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    stored = (ROOT / "docs" / page).read_text(encoding="utf-8")
    assert stored == module.page(), f"run: python docs/{script} > docs/{page}"


@with_(lambda page: True)
def test_links_lead_somewhere(page):
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    for target in re.findall(r"\]\(([^)#\s]+)\)", text):
        if not target.startswith(("http://", "https://")):
            assert (page.parent / target).exists(), f"{page.name} points to {target}"


def test_the_paper_cites_what_is_in_its_references():
    cited = set(re.findall(r"@(\w+\d{4})", (ROOT / "paper" / "paper.md").read_text(encoding="utf-8")))
    listed = set(
        re.findall(r"^@\w+\{(\w+),", (ROOT / "paper" / "paper.bib").read_text(encoding="utf-8"), re.MULTILINE)
    )
    assert cited == listed


def rows_of(text):
    """Return the cells of each row of a page's tables, without the marks of the best ones."""
    lines = (line.replace("**", "").strip().strip("|") for line in text.splitlines() if line.startswith("|"))
    return [[cell.strip() for cell in line.split("|")] for line in lines]


def test_the_paper_repeats_the_figures_of_the_pages():
    """If this fails, a study was run again: copy its figures into paper/paper.md."""
    paper = (ROOT / "paper" / "paper.md").read_text(encoding="utf-8")
    forman, zheng, mladenic = (
        (ROOT / "docs" / f"reproduction-{name}.md").read_text(encoding="utf-8")
        for name in ("forman2003", "zheng2004", "mladenic2004")
    )
    own = {row[0]: row[1:] for row in rows_of(paper)}
    averages = rows_of(forman.partition("## Macro averages")[2])
    sizes = averages[0][1:]
    theirs = {row[0]: dict(zip(sizes, row[1:], strict=False)) for row in reversed(averages)}
    names = {"Bi-Normal Separation": "bns"}
    for label in ("Bi-Normal Separation", "balanced accuracy", "information gain", "chi-squared"):
        name = names.get(label, label.replace(" ", "_").replace("-", "_"))
        assert own[label] == [theirs[name][size] for size in ("10", "50", "100", "500", "1000")], label
    assert own["all features"][-1] == theirs["all terms"]["10"]
    (distance,) = (row[2] for row in rows_of(zheng) if row[:2] == ["Tables 1 to 5", "444"])
    assert f"mean\nabsolute difference of {distance}" in paper
    reuters = {row[0]: row[1:] for row in reversed(rows_of(mladenic.partition("Reuters, with the SVM")[2]))}
    half = reuters["memory(svm, 2)"]
    assert f"({half[-1]} against {reuters['memory(svm, 1)'][-1]} with all terms)" in paper
    assert f"documents with all terms reach {half[-2]}." in paper
