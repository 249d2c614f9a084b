"""Exported models against the pipeline they come from: equality, size, speed, and alarms of `watch`.

    python -m benchmarks.portable equality [--train N] [--documents N]    decisions on the papers' corpora
    python -m benchmarks.portable speed [--documents N]        bytes, documents per second, memory, in one run
    python -m benchmarks.portable shuffled [--runs N]          alarms where nothing has changed
    python -m benchmarks.portable reuters                      alarms over the months of Reuters, and planted

The corpora are below TERMSIEVE_DATA. JavaScript runs in Node and, for equality, in chromium too.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline, make_pipeline

import termsieve
from termsieve.adviser.decisions import Decision
from termsieve.adviser.portfolio import BASELINES, METHODS, Representation, Setting, portfolio
from termsieve.corpus import Corpus
from termsieve.models import Model, drift, export
from termsieve.portable.scorer import loads
from termsieve.ranking import Size

PROBLEMS = ("20_newsgroups", "20_newsgroups/comp.graphics", "reuters21578", "movie_reviews")
SCORER = resources.files("termsieve.portable") / "scorer.js"
NODE = """
import { readFileSync } from "node:fs";
import { %s as work } from "./scorer.mjs";
const { model, texts } = JSON.parse(readFileSync(process.argv[2], "utf8"));
work(model, texts[0]);
const start = process.hrtime.bigint();
const all = texts.map((text) => work(model, text));
const seconds = Number(process.hrtime.bigint() - start) / 1e9;
const found = all.map(({ class: label, values, probabilities }) => ({ label, values, probabilities }));
console.log(JSON.stringify({ found, seconds, bytes: process.memoryUsage().rss }));
"""
PAGE = """<script type="application/json">{}</script><script type="module">
const {{ source, model, texts }} = JSON.parse(document.querySelector("script").textContent);
const address = URL.createObjectURL(new Blob([source], {{ type: "text/javascript" }}));
const {{ score }} = await import(address);
window.found = texts.map((text) => {{
  const {{ class: label, values, probabilities }} = score(model, text);
  return {{ label, values, probabilities }};
}});
</script>"""


@dataclass(frozen=True)
class Said:
    """What a scorer says of documents: decision values, labels, and perhaps probabilities."""

    values: Any
    labels: list[list[str]]
    probabilities: Any = None

    def distance(self, other: Said) -> tuple[float, int]:
        """Return the largest difference of a number, and how many documents get another class."""
        largest = float(np.abs(np.asarray(self.values) - other.values).max())
        if self.probabilities is not None and other.probabilities is not None:
            largest = max(largest, float(np.abs(np.asarray(self.probabilities) - other.probabilities).max()))
        return largest, sum(a != b for a, b in zip(self.labels, other.labels, strict=True))


def corpus_of(name: str) -> Corpus:
    """Return 20 Newsgroups, Reuters with several labels, or the movie reviews."""
    return termsieve.read(Path(os.environ["TERMSIEVE_DATA"]) / name)


def settings(k: int) -> Iterator[Setting]:
    """Yield each representation and learner that the adviser can recommend: with `k` terms, some with all."""
    seen: dict[Any, Setting] = {}
    for setting in [*portfolio(pairs=True), *BASELINES.values()]:
        seen.setdefault((setting.representation, setting.learner.split("C=")[0]), setting)
    for number, setting in enumerate(seen.values()):
        if number % 2 == 0:
            yield setting
        yield Setting(setting.representation, setting.learner, METHODS[number % len(METHODS)], Size("k", k))
    yield Setting(Representation(), "svm(C=1.0)", "bns", Size("sparsity", 4.0))


def fitted(setting: Setting, corpus: Corpus, target: str | None = None, own: bool = False) -> Pipeline:
    """Return the pipeline of a setting, fitted to a corpus, with probabilities.

    Thresholds are those of the learner (`own`), or others, as if they had been tuned.
    """
    several = corpus.multilabel or (target is None and len(corpus.classes) > 2)
    n, generator = len(corpus.classes) if several else 1, np.random.default_rng(0)
    slopes, offsets = generator.uniform(1, 4, n).tolist(), generator.uniform(-1, 1, n).tolist()
    thresholds = [0.0] * n if own else generator.uniform(-0.2, 0.2, n).tolist()
    decision = Decision(tuple(thresholds), tilt=0.0 if own else 0.05)
    options = {"ngram_range": (1, 2)} if setting.representation.pairs else {}
    model = setting.model(decision, target, sigmoids=list(zip(slopes, offsets, strict=True)))
    labels = list(corpus.labels) if corpus.multilabel else corpus.labels
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make_pipeline(termsieve.TermVectorizer(**options), model).fit(list(corpus.texts or ()), labels)


def listed(label: Any) -> list[str]:
    """Return a class, or several labels, as a sorted list of texts."""
    return sorted(map(str, label if isinstance(label, list | tuple) else [label]))


def by_pipeline(model: Model, texts: Sequence[str]) -> Said:
    """Return what the scikit-learn pipeline says."""
    pipeline, texts = model.pipeline, list(texts)
    values = np.asarray(pipeline.decision_function(texts)).reshape(len(texts), -1)
    labels = [listed(label) for label in model._named(np.asarray(pipeline.predict(texts)))]
    return Said(values, labels, pipeline.predict_proba(texts))


def by_stream(model: Model, texts: Sequence[str]) -> Said:
    """Return what `termsieve predict` says."""
    found = list(model.stream(texts, scores=True, probabilities=True))
    values, probabilities = ([getattr(each, name) for each in found] for name in ("values", "probabilities"))
    return Said(values, [listed(each.label) for each in found], probabilities)


def by_python(model: Model, texts: Sequence[str]) -> Said:
    """Return what the scorer in plain Python says."""
    plain = loads(export(model))
    values = [plain.values(text) for text in texts]
    labels = [listed(plain.decided(each)) for each in values]
    return Said(values, labels, [plain.probable(each) for each in values])


def in_node(description: dict[str, Any], texts: Sequence[str], work: str = "score") -> dict[str, Any]:
    """Return what the JavaScript module says in Node, how long it took, and its memory."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "scorer.mjs").write_text(SCORER.read_text(encoding="utf-8"), encoding="utf-8")
        Path(folder, "main.mjs").write_text(NODE % work, encoding="utf-8")
        Path(folder, "data.json").write_text(json.dumps({"model": description, "texts": list(texts)}))
        done = subprocess.run(["node", "main.mjs", "data.json"], cwd=folder, capture_output=True, check=True)
    return json.loads(done.stdout)


def by_node(model: Model, texts: Sequence[str]) -> Said:
    """Return what the JavaScript module says in Node."""
    return _script(in_node(model.describe(), texts)["found"])


def by_chromium(page: Any, model: Model, texts: Sequence[str]) -> Said:
    """Return what the JavaScript module says in a page of chromium."""
    data = {"source": SCORER.read_text(encoding="utf-8"), "model": model.describe(), "texts": list(texts)}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "page.html")
        file.write_text(PAGE.format(json.dumps(data).replace("<", "\\u003c")), encoding="utf-8")
        page.goto(file.as_uri())
        page.wait_for_function("window.found")
        return _script(json.loads(page.evaluate("JSON.stringify(window.found)")))


@contextmanager
def chromium() -> Iterator[Any]:
    """Give a page of a browser."""
    from playwright.sync_api import sync_playwright

    options = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=options)
        page = browser.new_page()
        page.set_default_timeout(600_000)
        yield page
        browser.close()


def _script(found: list[dict[str, Any]]) -> Said:
    values, probabilities = ([each[name] for each in found] for name in ("values", "probabilities"))
    return Said(values, [listed(each["label"]) for each in found], probabilities)


def in_duckdb(model: Model, texts: Sequence[str]) -> Any:
    """Return a database with the texts and the model."""
    import duckdb
    import polars as pl

    database = duckdb.connect()
    documents = pl.DataFrame({"id": range(len(texts)), "text": list(texts)})
    database.register("frame", documents.to_arrow())
    database.execute("CREATE TABLE documents AS SELECT * FROM frame")
    database.execute(export(model, "sql"))
    return database


def by_duckdb(model: Model, texts: Sequence[str]) -> Said:
    """Return what the database says, which gives no probabilities."""
    database = in_duckdb(model, texts)
    database.execute("CREATE TABLE found AS SELECT * FROM model_values")
    values = database.execute("SELECT value FROM found ORDER BY id, number").fetchnumpy()["value"]
    classes: list[list[str]] = [[] for _ in texts]
    for number, label in database.execute("SELECT id, class FROM model_decisions").fetchall():
        classes[number].append(label)
    return Said(values.reshape(len(texts), -1), [sorted(each) for each in classes])


def halves(corpus: Corpus, n_train: int, n_test: int) -> tuple[Corpus, list[str]]:
    """Return documents to train on, and the texts of others; both drawn at random."""
    order = np.random.default_rng(0).permutation(len(corpus))
    train, test = (
        corpus.subset(np.sort(rows)) for rows in (order[:n_train], order[n_train : n_train + n_test])
    )
    return train, list(test.texts or ())


def compare(model: Model, texts: Sequence[str], page: Any) -> dict[str, tuple[float, int]]:
    """Return how far each scorer is from the pipeline: see `Said.distance`."""
    own = by_pipeline(model, texts)
    scorers: dict[str, Callable[[Model, Sequence[str]], Said]] = {
        "Model.stream": by_stream,
        "Python": by_python,
        "Node": by_node,
        "chromium": partial(by_chromium, page),
        "DuckDB": by_duckdb,
    }
    return {name: say(model, texts).distance(own) for name, say in scorers.items()}


def equality(arguments: argparse.Namespace) -> None:
    """Compare the scorers on three corpora, setting by setting; then say the largest difference of each."""
    rows = []
    with chromium() as page:
        for problem in [arguments.corpus] if arguments.corpus else PROBLEMS:
            name, _, target = problem.partition("/")
            train, texts = halves(corpus_of(name), arguments.train, arguments.documents)
            for number, setting in enumerate(settings(500)):
                pipeline = fitted(setting, train, target or None, own=number % 4 == 0)
                model = Model(pipeline, tuple(train.classes.tolist()) if train.multilabel else None)
                size = f"{len(model.describe()['terms']):,} terms, {len(model.classes)} classes"
                rows.append(compare(model, texts, page))
                print(f"{problem}, {len(texts):,} documents, {size}: {setting}")
                told = (f"{scorer} {far:.1e} {differ}" for scorer, (far, differ) in rows[-1].items())
                print("  largest difference, classes that differ:", *told, sep="  ", flush=True)
    print(f"all {len(rows)} models:")
    for scorer in rows[0]:
        far, differ = max(row[scorer][0] for row in rows), sum(row[scorer][1] for row in rows)
        print(f"  {scorer}: largest difference {far:.1e}, {differ} classes differ")


def speed(arguments: argparse.Namespace) -> None:
    """Print the size of a 500-term model of 20 classes, and the documents per second of each scorer."""
    train, texts = halves(corpus_of("20_newsgroups"), 4000, arguments.documents)
    model = Model(fitted(Setting(Representation(), "svm(balanced, C=1.0)", "weights", Size("k", 500)), train))
    description = model.describe()
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
        script = in_node(description, texts, "decide")
        print(
            f"scorer.js in Node: {len(texts) / script['seconds']:,.0f} documents/s, "
            f"{script['bytes'] / 1e6:.0f} MB with the texts",
            flush=True,
        )
        database = in_duckdb(model, texts[:n_slow])
        _report("DuckDB", n_slow, partial(_decisions, database))
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak of this process, corpus included: {peak:,.0f} MB")


def _decisions(database: Any) -> Any:
    return database.execute("SELECT * FROM model_decisions").fetchall()


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
    parser.add_argument("--corpus", help="A folder below TERMSIEVE_DATA, for equality perhaps with /CLASS.")
    parser.add_argument("--train", type=int, default=300, help="Training documents, for equality.")
    parser.add_argument("--page")
    arguments = parser.parse_args()
    {"equality": equality, "speed": speed, "shuffled": shuffled, "reuters": reuters}[arguments.command](
        arguments
    )


if __name__ == "__main__":
    sys.exit(main())
