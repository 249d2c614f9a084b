"""Exported models against the pipeline they come from: equality, size, speed, and alarms of `watch`.

    python -m benchmarks.portable equality [--documents N]     decisions on the papers' corpora
    python -m benchmarks.portable speed [--documents N]        bytes, documents per second, memory, in one run
    python -m benchmarks.portable shuffled [--runs N]          alarms where nothing has changed
    python -m benchmarks.portable reuters                      alarms over the months of Reuters, and planted

The corpora are below TERMSIEVE_DATA. JavaScript runs in Node, or with --browser in chromium.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline, make_pipeline

import termsieve
from termsieve.adviser.decisions import Decision
from termsieve.adviser.portfolio import Representation, Setting
from termsieve.corpus import Corpus
from termsieve.models import Model, drift, export
from termsieve.portable.scorer import loads
from termsieve.ranking import Size

CORPORA = ("20_newsgroups", "reuters21578", "movie_reviews")
SCORER = resources.files("termsieve.portable") / "scorer.js"
NODE = """
import { readFileSync } from "node:fs";
import { decide } from "%s";
const { model, texts } = JSON.parse(readFileSync(process.argv[2], "utf8"));
decide(model, texts[0]);
const start = process.hrtime.bigint();
const found = texts.map((text) => decide(model, text));
const seconds = Number(process.hrtime.bigint() - start) / 1e9;
console.log(JSON.stringify({ found, seconds, bytes: process.memoryUsage().rss }));
"""
PAGE = """async ([source, model, texts]) => {
  const address = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  const { decide } = await import(address);
  decide(model, texts[0]);
  const start = performance.now();
  const found = texts.map((text) => decide(model, text));
  return { found, seconds: (performance.now() - start) / 1000, bytes: 0 };
}"""


def corpus_of(name: str) -> Corpus:
    """Return 20 Newsgroups, Reuters with several labels, or the movie reviews."""
    return termsieve.read(Path(os.environ["TERMSIEVE_DATA"]) / name)


def settings() -> Iterator[Setting]:
    """Yield each representation that the adviser can recommend, with each learner and way of selection."""
    for pairs in (False, True):
        representations = [Representation(pairs=pairs), Representation(weight="bns", pairs=pairs)]
        for representation in [*representations, *([] if pairs else [Representation("tf")])]:
            yield Setting(representation, "svm(balanced, C=1.0)", "weights", Size("k", 500))
    plain = Representation()
    yield Setting(plain, "svm(C=0.3)")
    for method in ("information_gain", "bns"):
        yield Setting(plain, "svm(C=1.0)", method, Size("k", 500))


def fitted(setting: Setting, corpus: Corpus) -> Pipeline:
    """Return the pipeline of a setting, with thresholds that are not 0, fitted to a corpus."""
    n = len(corpus.classes)
    decision = Decision((0.05,) * n) if corpus.multilabel else Decision((-0.1,), tilt=0.05)
    options = {"ngram_range": (1, 2)} if setting.representation.pairs else {}
    pipeline = make_pipeline(termsieve.TermVectorizer(**options), setting.model(decision))
    labels = list(corpus.labels) if corpus.multilabel else corpus.labels
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pipeline.fit(list(corpus.texts or ()), labels)


def in_node(description: dict[str, Any], texts: Sequence[str]) -> dict[str, Any]:
    """Return what the JavaScript module says in Node."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "scorer.mjs").write_text(SCORER.read_text(encoding="utf-8"), encoding="utf-8")
        Path(folder, "main.mjs").write_text(NODE % "./scorer.mjs", encoding="utf-8")
        Path(folder, "data.json").write_text(json.dumps({"model": description, "texts": list(texts)}))
        done = subprocess.run(["node", "main.mjs", "data.json"], cwd=folder, capture_output=True, check=True)
    return json.loads(done.stdout)


def in_browser(description: dict[str, Any], texts: Sequence[str]) -> dict[str, Any]:
    """Return what the JavaScript module says in chromium."""
    from playwright.sync_api import sync_playwright

    found: list[Any] = []
    seconds = 0.0
    with sync_playwright() as playwright:
        options = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=options)
        page = browser.new_page()
        for start in range(0, len(texts), 1000):
            part = list(texts[start : start + 1000])
            said = page.evaluate(PAGE, [SCORER.read_text(encoding="utf-8"), description, part])
            found += said["found"]
            seconds += said["seconds"]
        browser.close()
    return {"found": found, "seconds": seconds, "bytes": 0}


def in_duckdb(model: Model, texts: Sequence[str], n_rows: int) -> tuple[Any, list[list[str]], float]:
    """Return the decision values of a database, the classes of each document, and the seconds."""
    import duckdb
    import polars as pl

    database = duckdb.connect()
    documents = pl.DataFrame({"id": range(len(texts)), "text": list(texts)})
    database.register("frame", documents.to_arrow())
    database.execute("CREATE TABLE documents AS SELECT * FROM frame")
    database.execute(export(model, "sql"))
    start = time.perf_counter()
    values = database.execute("SELECT value FROM model_values ORDER BY id, number").fetchnumpy()["value"]
    seconds = time.perf_counter() - start
    classes: list[list[str]] = [[] for _ in texts]
    for number, label in database.execute("SELECT id, class FROM model_decisions").fetchall():
        classes[number].append(label)
    return values.reshape(len(texts), n_rows), [sorted(each) for each in classes], seconds


def listed(label: Any) -> list[str]:
    """Return a class, or several labels, as a sorted list of texts."""
    return sorted(map(str, label if isinstance(label, list | tuple) else [label]))


def compare(
    corpus: Corpus, setting: Setting, n_train: int, n_test: int, browser: bool
) -> dict[str, tuple[float, int]]:
    """Train on a part of a corpus; return how far each scorer is from the pipeline on other documents.

    Of each scorer: the largest difference of a decision value, and how many documents get another class.
    """
    order = np.random.default_rng(0).permutation(len(corpus))
    train, test = (
        corpus.subset(np.sort(rows)) for rows in (order[:n_train], order[n_train : n_train + n_test])
    )
    model = Model(fitted(setting, train), tuple(train.classes.tolist()) if train.multilabel else None)
    texts = list(test.texts or ())
    predictions = list(model.stream(texts, scores=True))
    own = np.array([each.values for each in predictions])
    said = [listed(each.label) for each in predictions]
    description = model.describe()
    plain = loads(json.dumps(description))
    values = {"python": np.array([plain.values(text) for text in texts])}
    labels = {"python": [listed(plain.decide(text)) for text in texts]}
    script = (in_browser if browser else in_node)(description, texts)["found"]
    values["js"] = np.array([each["values"] for each in script])
    labels["js"] = [listed(each["class"]) for each in script]
    values["sql"], labels["sql"], _ = in_duckdb(model, texts, own.shape[1])
    return {
        name: (
            float(np.abs(found - own).max()),
            sum(a != b for a, b in zip(said, labels[name], strict=True)),
        )
        for name, found in values.items()
    }


def equality(arguments: argparse.Namespace) -> None:
    """Compare the scorers on three corpora."""
    for name in [arguments.corpus] if arguments.corpus else CORPORA:
        corpus = corpus_of(name)
        for setting in settings():
            found = compare(corpus, setting, 1500, arguments.documents, arguments.browser)
            print(f"{corpus.name}: {setting}, {arguments.documents:,} documents", flush=True)
            for scorer, (difference, differ) in found.items():
                print(f"  {scorer}: largest difference {difference:.1e}, {differ} classes differ", flush=True)


def speed(arguments: argparse.Namespace) -> None:
    """Print the size of a 500-term model of 20 classes, and the documents per second of each scorer."""
    corpus = corpus_of("20_newsgroups")
    order = np.random.default_rng(0).permutation(len(corpus))
    train, test = (
        corpus.subset(np.sort(order[:4000])),
        corpus.subset(np.sort(order[4000:][: arguments.documents])),
    )
    model = Model(fitted(Setting(Representation(), "svm(balanced, C=1.0)", "weights", Size("k", 500)), train))
    description, texts = model.describe(), list(test.texts or ())
    print(
        f"{len(description['terms'])} terms, {len(description['classes'])} classes, {len(texts):,} documents"
    )
    print(f"{sum(map(len, texts)) / len(texts):,.0f} characters per document")
    for kind in ("json", "python", "js", "sql", "html"):
        content = export(model, kind).encode()
        print(f"{kind}: {len(content):,} bytes, {len(gzip.compress(content)):,} compressed", flush=True)
    plain = loads(json.dumps(description))
    n_slow = min(len(texts), 2000)
    for _ in range(arguments.rounds):
        _report("pipeline.predict", len(texts), lambda: model.pipeline.predict(texts))
        _report("Model.stream", len(texts), lambda: list(model.stream(texts)))
        _report("Model.stream, scores", len(texts), lambda: list(model.stream(texts, scores=True)))
        _report("scorer.py", n_slow, lambda: [plain.decide(text) for text in texts[:n_slow]])
        script = in_node(description, texts)
        print(
            f"scorer.js in Node: {len(texts) / script['seconds']:,.0f} documents/s, "
            f"{script['bytes'] / 1e6:.0f} MB with the texts",
            flush=True,
        )
        _, _, seconds = in_duckdb(model, texts[:n_slow], len(description["classes"]))
        print(f"DuckDB: {n_slow / seconds:,.0f} documents/s", flush=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak of this process, corpus included: {peak:,.0f} MB")


def _report(name: str, n: int, work: Any) -> None:
    wall, processor = time.perf_counter(), time.process_time()
    work()
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    print(f"{name}: {n / wall:,.0f} documents/s, {n / processor:,.0f} per processor second", flush=True)


def shuffled(arguments: argparse.Namespace) -> None:
    """Count the alarms where old and new documents are drawn at random."""
    corpus = corpus_of(arguments.corpus) if arguments.corpus else termsieve.load_docstrings()
    generator, alarms, reasons = np.random.default_rng(0), 0, []
    for _ in range(arguments.runs):
        order = generator.permutation(len(corpus))[:2000]
        half = len(order) // 2
        model = termsieve.train_model(corpus.subset(np.sort(order[:half])), k=500, folds=5)
        found = drift(model, corpus.subset(np.sort(order[half:])))
        alarms += found.changed
        reasons += [reason for period in found.periods for reason in period.reasons]
    print(
        f"{corpus.name}: {alarms} alarms in {arguments.runs} runs on shuffled documents", *reasons, sep="\n  "
    )


def reuters_months(path: Path) -> dict[str, Corpus]:
    """Return the articles of Reuters by month, those with a topic."""
    found: dict[str, tuple[list[str], list[tuple[str, ...]]]] = {}
    for file in sorted(path.glob("*.sgm")):
        content = file.read_text("latin-1")
        for article in re.findall(r"<REUTERS.*?</REUTERS>", content, re.DOTALL):
            date = re.search(r"<DATE>\s*\d+-(\w+)-(\d+)", article)
            body = re.search(r"<BODY>(.*?)</BODY>", article, re.DOTALL)
            topics = re.search(r"<TOPICS>(.*?)</TOPICS>", article)
            labels = tuple(re.findall(r"<D>(.*?)</D>", topics[1])) if topics else ()
            if date and body and labels:
                texts, kinds = found.setdefault(f"{date[2]}-{date[1]}", ([], []))
                texts.append(body[1])
                kinds.append(labels[:1])
    return {
        month: Corpus(texts, [kind[0] for kind in kinds], name=month)
        for month, (texts, kinds) in found.items()
    }


def reuters(arguments: argparse.Namespace) -> None:
    """Train on the first month of Reuters and watch the others; then a planted word and class."""
    months = reuters_months(Path(os.environ["TERMSIEVE_DATA"]) / "reuters21578")
    print({month: len(corpus) for month, corpus in months.items()})
    first = max(months, key=lambda month: len(months[month]))
    corpus = months.pop(first)
    half = np.random.default_rng(0).permutation(len(corpus))
    old, same = corpus.subset(np.sort(half[: len(half) // 2])), corpus.subset(np.sort(half[len(half) // 2 :]))
    model = termsieve.train_model(old, k=500, folds=5)
    later = {month: each for month, each in months.items() if len(each) >= 100}
    print(*drift(model, same, names=[f"other half of {first}"]).sentences(), sep="\n")
    print(*drift(model, *later.values(), names=list(later)).sentences(), sep="\n")
    texts = list(same.texts or ())
    planted = [f"{text} blockchain" if number % 50 == 0 else text for number, text in enumerate(texts)]
    print("planted: one new word in 2 % of the documents")
    print(*drift(model, planted).sentences(), sep="\n")
    if arguments.page:
        from termsieve.reports.drift import drift_report

        drift_report(drift(model, *later.values(), names=list(later)), arguments.page)


def main() -> None:
    """Run a command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", choices=("equality", "speed", "shuffled", "reuters"))
    parser.add_argument("--documents", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--corpus", help="A folder below TERMSIEVE_DATA.")
    parser.add_argument("--browser", action="store_true")
    parser.add_argument("--page")
    arguments = parser.parse_args()
    {"equality": equality, "speed": speed, "shuffled": shuffled, "reuters": reuters}[arguments.command](
        arguments
    )


if __name__ == "__main__":
    sys.exit(main())
