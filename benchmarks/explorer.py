"""Times the explorer in a real browser: python benchmarks/explorer.py [--corpus PATH] [--documents N].

It writes the report of a corpus, or of N generated documents, and says how large it is, how long it took,
when the first view is there, how fast a click on a word is answered, and how many frames per second the word
map has while it is zoomed. `--pictures FOLDER` also takes pictures of 400 and 1,400 pixels width.
"""

import argparse
import os
import resource
import shutil
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl
from playwright.sync_api import CDPSession, sync_playwright

from termsieve import Counts, corpus_report, load_docstrings

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
ARGS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
REPEATS = 10
CLICK = """word => new Promise(done => {
  const start = performance.now();
  openWord(word);
  requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - start)));
})"""
ZOOM = """async () => {
  const draws = [], frames = [];
  resetView();
  let last = await new Promise(requestAnimationFrame);
  for (let i = 0; i < 60; i++) {
    const start = performance.now();
    map.waiting = true; // drawn here, not at the next frame
    zoomMap(i < 30 ? 0.93 : 1 / 0.93, 0.2, 0.6);
    drawMap();
    draws.push(performance.now() - start);
    const now = await new Promise(requestAnimationFrame);
    frames.push(now - last);
    last = now;
  }
  map.waiting = false;
  return {draws, frames, points: map.points.x.length, words: store.words.length};
}"""


def generated(n: int, folder: Path) -> Path:
    """Write n generated documents of ten classes as Parquet and return the file."""
    generator = np.random.default_rng(0)
    vocabulary = np.array([f"w{i:05d}" for i in range(50_000)])
    chance = 1 / np.arange(2, len(vocabulary) + 2)
    path, parts = folder / "documents.parquet", []
    for start in range(0, n, 100_000):
        size = min(100_000, n - start)
        labels = generator.integers(0, 10, size)
        common = generator.choice(len(vocabulary), (size, 30), p=chance / chance.sum())
        own = 1000 + 50 * labels[:, None] + generator.integers(0, 50, (size, 4))
        words = vocabulary[np.concatenate([common, own], axis=1)]
        parts.append(
            pl.DataFrame({"text": [" ".join(row) for row in words], "label": [f"c{c}" for c in labels]})
        )
    pl.concat(parts).write_parquet(path)
    return path


def many_words(n_terms: int) -> Counts:
    """Return counts of four classes with so many words, for the map."""
    generator = np.random.default_rng(0)
    df = np.minimum((generator.pareto(0.7, n_terms) * 3 + 1).astype(int), 40_000)
    tp = generator.binomial(np.minimum(df, 20_000), generator.beta(0.6, 2, (4, n_terms)) / 2)
    terms = [f"w{i}" for i in range(n_terms)]
    return Counts(tp, [20_000] * 4, df, 80_000, list("abcd"), terms, multilabel=True)


def measured(path: Path, word: str | None) -> None:
    """Print the times of a page in the browser: medians of ten."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGS)
        first, whole, drawn, clicks, worked = [], [], [], [], []
        for _ in range(REPEATS):
            page = browser.new_context(viewport={"width": 1400, "height": 900}, offline=True).new_page()
            session = page.context.new_cdp_session(page)
            # Processor time of the page's thread: on a busy machine the clock says little.
            session.send("Performance.enable", {"timeDomain": "threadTicks"})
            start = time.perf_counter()
            page.goto(path.as_uri())
            page.wait_for_selector("body[data-drawn]", timeout=120_000)
            whole.append(time.perf_counter() - start)
            drawn.append(_seconds(session))
            paint = "performance.getEntriesByName('first-contentful-paint')[0].startTime"
            first.append(page.evaluate(paint) / 1000)
            before = _seconds(session)
            clicks.append(page.evaluate(CLICK, word or page.evaluate("store.words[store.words.length >> 1]")))
            worked.append(1000 * (_seconds(session) - before))
        found = {}
        for axes in ("rates", "ranks"):
            page.locator("#map-axes").select_option(axes)
            page.evaluate("drawMap()")
            before = _seconds(session)
            found[axes] = page.evaluate(ZOOM)
            spent = _seconds(session) - before
            found[axes]["processor"] = 1000 * spent / len(found[axes]["draws"])
        browser.close()
    print(
        f"  first view {statistics.median(first):.2f} s, all figures drawn {statistics.median(whole):.2f} s "
        f"({statistics.median(drawn):.2f} s of processor)"
    )
    print(
        f"  a click is answered in {statistics.median(clicks):.0f} ms "
        f"({statistics.median(worked):.0f} ms of processor; load {os.getloadavg()[0]:.1f})"
    )
    for axes, one in found.items():
        draw, frame = statistics.median(one["draws"]), statistics.median(one["frames"])
        print(f"  map of {one['words']:,} words by {axes} ({one['points']:,} points): a zoom step takes "
              f"{one['processor']:.1f} ms of processor, {draw:.1f} ms by the clock; "
              f"{1000 / frame:.0f} frames per second")  # fmt: skip


def _seconds(session: CDPSession) -> float:
    """Return the processor time of all that the page's thread did."""
    metrics = session.send("Performance.getMetrics")["metrics"]
    return next(each["value"] for each in metrics if each["name"] == "TaskDuration")


def pictured(path: Path, folder: Path, name: str) -> None:
    """Take pictures of a page at two widths, and of the panel of a word."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGS)
        for width in (400, 1400):
            page = browser.new_context(viewport={"width": width, "height": 900}).new_page()
            page.goto(path.as_uri())
            page.wait_for_selector("body[data-drawn]", timeout=120_000)
            page.screenshot(path=folder / f"{name}-{width}.jpg", type="jpeg", quality=60)
            if page.locator("#wordmap").count():
                for place in ("overview", "map", "mistakes"):
                    page.evaluate(
                        "place => document.getElementById(place).scrollIntoView({behavior: 'instant'})", place
                    )
                    page.wait_for_timeout(200)
                    page.screenshot(path=folder / f"{name}-{place}-{width}.jpg", type="jpeg", quality=60)
                page.locator("#tiles .chips button").first.click()
                page.wait_for_timeout(1000)  # until the figures of the word's class are drawn
                page.screenshot(path=folder / f"{name}-word-{width}.jpg", type="jpeg", quality=60)
        browser.close()


def main() -> None:
    """Read the command line and report each source."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--corpus", help="a corpus that termsieve reads, such as a folder of 20 Newsgroups")
    parser.add_argument("--word", help="the word to click on")
    parser.add_argument("--documents", type=int, help="number of generated documents")
    parser.add_argument("--words", type=int, help="number of words of generated counts")
    parser.add_argument("--pictures", type=Path, help="folder for pictures")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        if given.documents:
            name, source = f"{given.documents:,} generated documents", generated(given.documents, place)
        elif given.words:
            name, source = f"counts of {given.words:,} words", many_words(given.words)
        elif given.corpus:
            name, source = given.corpus, given.corpus
        else:
            name, source = "docstrings of SciPy", load_docstrings()
        wall, cpu = time.perf_counter(), time.process_time()
        html = corpus_report(source, place / "report.html")
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        load = os.getloadavg()[0]
        size = len(html.encode()) / 1e6
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(
            f"{name}: {size:.2f} MB in {wall:.1f} s "
            f"({cpu:.1f} s of processor, at most {memory:.0f} MB of memory; load {load:.1f})",
            flush=True,
        )
        if given.pictures:
            pictured(place / "report.html", given.pictures, "explorer")
        else:
            measured(place / "report.html", given.word)


if __name__ == "__main__":
    main()
