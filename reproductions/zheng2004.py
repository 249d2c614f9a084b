"""Reuters-21578 in, the tables of zheng2004 beside the paper's figures out, as Markdown.

python -m reproductions.zheng2004 --data DIR [--quick] [--rows FILE]

Micro and macro F1 at break-even over 58 categories, for naive Bayes and logistic regression, eleven
numbers of terms, and the paper's nine methods with the ideal, the practical and the cross-validated ratio.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from scipy.stats import wilcoxon

from termsieve import Counts, RatioSelector, rank, read, score, term_matrix
from termsieve.estimators.evaluate import middle_of_best
from termsieve.estimators.ratio import RATIOS
from termsieve.learners import decision_path, decision_sets
from termsieve.measures import Confusion, break_even, f1, macro, micro
from termsieve.ranking import interleaved

SIZES = (10, 20, 30, 40, 50, 100, 200, 500, 1000, 2000, 3000)
LEARNERS = {"NB": "nb(quotient)", "LR": "lr"}
STANDARD = {
    "ig": ("information_gain(smoothing=0.5, nats=True)", "both"),
    "sig": ("sig", "positive"),
    "chi": ("chi", "both"),
    "cc": ("cc", "positive"),
    "ors": ("ors", "both"),
    "or": ("or", "positive"),
}
IMPROVED = {"isig": "sig", "icc": "cc", "ior": "or"}
ROWS = (
    "ig",
    "sig",
    "isig ideal",
    "chi",
    "cc",
    "icc ideal",
    "icc practical",
    "icc cross-validated",
    "ors",
    "or",
    "ior ideal",
)
# zheng2004's own figures, where they stand in its text and tables; sizes as keys.
PAPER_MICRO = {
    ("LR", "chi"): {10: 0.700, 50: 0.738, 500: 0.756, 3000: 0.761},
    ("LR", "cc"): {10: 0.700, 50: 0.738, 500: 0.747, 3000: 0.759},
    ("LR", "icc ideal"): {10: 0.728, 50: 0.792, 500: 0.812, 3000: 0.804},
    ("LR", "icc practical"): {10: 0.695, 50: 0.758, 500: 0.770, 3000: 0.771},
    ("NB", "chi"): {10: 0.681, 50: 0.671, 500: 0.683, 3000: 0.667},
    ("NB", "icc ideal"): {10: 0.735, 50: 0.770, 500: 0.749, 3000: 0.713},
    ("NB", "icc practical"): {10: 0.708, 50: 0.740, 500: 0.714, 3000: 0.686},
    ("LR", "all terms"): {0: 0.766},
    ("NB", "all terms"): {0: 0.641},
}
PAPER_MACRO = {
    ("NB", "icc ideal"): {10: 0.719, 50: 0.733, 500: 0.682, 3000: 0.627},
    ("NB", "icc practical"): {10: 0.658, 50: 0.680, 500: 0.633, 3000: 0.584},
    ("LR", "all terms"): {0: 0.676},
    ("NB", "all terms"): {0: 0.483},
}
PAPER_BEST = {
    ("LR", "isig ideal"): 0.81,
    ("LR", "icc ideal"): 0.812,
    ("LR", "ior ideal"): 0.816,
    ("NB", "isig ideal"): 0.763,
    ("NB", "icc ideal"): 0.77,
    ("NB", "ior ideal"): 0.768,
}
PAPER_LARGE = {  # F1 at 50 terms: chi, cc, icc ideal, icc practical
    ("NB", "earn"): (0.957, 0.914, 0.958, 0.956),
    ("NB", "acq"): (0.871, 0.819, 0.917, 0.907),
    ("LR", "earn"): (0.971, 0.959, 0.974, 0.970),
    ("LR", "acq"): (0.897, 0.858, 0.926, 0.926),
}
PAPER_RATIOS = {"money-fx": 0.95, "grain": 0.95, "dmk": 0.1, "lumber": 0.2}


@dataclass
class Split:
    """The documents as the paper prepares them; categories by falling number of training documents."""

    train: Any
    test: Any
    y_train: np.ndarray
    y_test: np.ndarray
    categories: list[str]

    def matrices(self, learner: str) -> tuple[Any, Any]:
        """Return training and test matrix: counts for naive Bayes, presence for the others."""
        if learner.startswith("nb"):
            return self.train, self.test
        return (self.train > 0).astype(np.int64), (self.test > 0).astype(np.int64)


def reuters(data: Path) -> Split:
    """Read Reuters-21578: words of letters without stop words, in at least 3 training documents."""
    corpus = read(data / "reuters21578", format="reuters")
    train, test = corpus.split()
    options = {"token_pattern": r"(?u)\b[^\W\d_]{2,}\b", "stop_words": "english"}
    X, terms = term_matrix(train, min_df=3, **options)
    X_test, _ = term_matrix(test, vocabulary=terms, **options)
    sizes = train.class_sizes
    categories = sorted(sizes, key=lambda name: (-sizes[name], name))
    members = [
        np.array([[name in labels for name in categories] for labels in part.labels])
        for part in (train, test)
    ]
    print(
        f"{X.shape[0]:,} training and {X_test.shape[0]:,} test documents, {len(terms):,} words",
        file=sys.stderr,
    )
    return Split(X, X_test, *members, categories)


def confusions(y: np.ndarray, values: np.ndarray) -> list[list[int]]:
    """Return tp, fp, fn at break-even for each row of decision values."""
    found = break_even(y, values)
    return np.stack([found.tp, found.fp, found.fn], axis=-1).astype(int).tolist()


def category_row(
    split: Split, counts: Counts, c: int, short: str, sizes: tuple[int, ...], cv_sizes: tuple[int, ...]
) -> dict:
    """Return the results of a category and a learner: confusion counts by method and size, and ratios."""
    row: dict[str, Any] = {"category": split.categories[c], "learner": short, "results": {}, "ratios": {}}
    problem, learner = counts.take([c]), LEARNERS[short]
    y, y_test = split.y_train[:, c].astype(np.int64), split.y_test[:, c]
    X, X_test = split.matrices(learner)
    for method, (metric, side) in STANDARD.items():
        order = rank(score(problem, metric), side=side).order
        row["results"][f"{short}|{method}"] = confusions(
            y_test, decision_path(learner, X, y, X_test, order, sizes)
        )
    everything = decision_path(learner, X, y, X_test, order, [len(order)])
    row["results"][f"{short}|all terms"] = confusions(y_test, everything)
    for method, metric in IMPROVED.items():
        _improve(row, f"{short}|{method}", learner, X, y, X_test, y_test, problem, metric, sizes)
    _cross_validate(row, f"{short}|icc cross-validated", learner, X, y, X_test, y_test, cv_sizes)
    return row


def _improve(
    row: dict,
    key: str,
    learner: str,
    X: Any,
    y: np.ndarray,
    X_test: Any,
    y_test: np.ndarray,
    problem: Counts,
    metric: str,
    sizes: tuple[int, ...],
) -> None:
    """Add the ideal ratio's results and, for icc, the practical one's: trained once for both."""
    scores = score(problem, metric)
    positive, negative = rank(scores, side="positive").order, rank(scores, side="negative").order
    judged = sparse.vstack([X_test, X]).tocsr() if key.endswith("icc") else X_test
    n_test = X_test.shape[0]
    scenarios = {"ideal": slice(0, n_test), "practical": slice(n_test, None)}
    scenarios = scenarios if key.endswith("icc") else {"ideal": scenarios["ideal"]}
    found: dict[str, list] = {name: [] for name in scenarios}
    ratios: dict[str, list] = {name: [] for name in scenarios}
    for size in sizes:
        sets = [interleaved(positive, negative, ratio)[:size] for ratio in RATIOS]
        values = decision_sets(learner, X, y, judged, sets)
        tests = confusions(y_test, values[:, :n_test])
        for name, rows in scenarios.items():
            target = y_test if name == "ideal" else y
            best = middle_of_best(np.asarray(f1(*break_even(target, values[:, rows]))))
            found[name].append(tests[best])
            ratios[name].append(RATIOS[best])
    for name in scenarios:
        row["results"][f"{key} {name}"] = found[name]
        row["ratios"][f"{key} {name}"] = ratios[name]


def _cross_validate(
    row: dict,
    key: str,
    learner: str,
    X: Any,
    y: np.ndarray,
    X_test: Any,
    y_test: np.ndarray,
    sizes: tuple[int, ...],
) -> None:
    found, ratios = [], []
    for size in sizes:
        selector = RatioSelector("cc", k=size, learner=learner, tune="cv", cv=5, random_state=0).fit(X, y)
        values = decision_sets(learner, X, y, X_test, [selector.selected_])
        found += confusions(y_test, values)
        ratios.append(selector.ratio_)
    row["results"][key], row["ratios"][key] = found, ratios


def computed_rows(split: Split, sizes: tuple[int, ...], n: int, path: Path | None, quick: bool) -> list[dict]:
    """Return a row for each of the n largest categories; those in the file are not computed again."""
    done = {}
    if path is not None and path.exists():
        lines = map(json.loads, path.read_text().splitlines())
        done = {(row["category"], row["learner"]): row for row in lines}
    counts = Counts.from_matrix(split.train, split.y_train)
    for short in LEARNERS:
        cv_sizes = () if quick else sizes
        for c in range(n):
            key = split.categories[c], short
            if key not in done:
                began = time.perf_counter()
                done[key] = category_row(split, counts, c, short, sizes, cv_sizes)
                print(*key, f"{time.perf_counter() - began:.1f} s", file=sys.stderr, flush=True)
                if path is not None:
                    with path.open("a") as out:
                        out.write(json.dumps(done[key]) + "\n")
    rows = []
    for name in split.categories[:n]:
        parts = [done[name, short] for short in LEARNERS]
        rows.append({"category": name} | {k: parts[0][k] | parts[1][k] for k in ("results", "ratios")})
    return rows


def pooled(rows: list[dict], key: str) -> Confusion:
    """Return tp, fp, fn, each categories x sizes."""
    cells = np.array([row["results"][key] for row in rows])
    return Confusion(cells[..., 0], cells[..., 1], cells[..., 2], np.zeros_like(cells[..., 0]))


def average_table(
    rows: list[dict], short: str, sizes: tuple[int, ...], average: Any, paper: dict
) -> list[str]:
    """Return a table of one average: ours, and the paper's in brackets."""
    lines = [f"| {short} | " + " | ".join(map(str, sizes)) + " |", "| --- " * (len(sizes) + 1) + "|"]
    for method in (*ROWS, "all terms"):
        key = f"{short}|{method}"
        if not rows[0]["results"][key]:
            continue
        values = np.atleast_1d(average("f1", pooled(rows, key), axis=0))
        known = paper.get((short, method), {})
        found = dict(zip((0,) if method == "all terms" else sizes, values, strict=True))
        cells = [
            _cell(found[size]) + (f" ({_cell(known[size])})" if size in known else "")
            if size in found
            else ""
            for size in (sizes if method != "all terms" else (0, *sizes[1:]))
        ]
        lines.append(f"| {method} | " + " | ".join(cells) + " |")
    return lines


def _cell(value: float) -> str:
    return f"{value:.3f}".lstrip("0")


def differences(rows: list[dict], sizes: tuple[int, ...]) -> list[str]:
    """Return how far our cells lie from the paper's."""
    found = []
    for name, average, paper in (("micro", micro, PAPER_MICRO), ("macro", macro, PAPER_MACRO)):
        for (short, method), cells in paper.items():
            values = np.atleast_1d(average("f1", pooled(rows, f"{short}|{method}"), axis=0))
            places = {0: 0} if method == "all terms" else {size: i for i, size in enumerate(sizes)}
            for size, theirs in cells.items():
                if size in places:
                    ours = float(values[places[size]])
                    found.append(
                        (
                            abs(ours - theirs),
                            f"{name} {short} {method} at {size or 'all'}: {ours:.3f}, paper {theirs:.3f}",
                        )
                    )
    gaps = [gap for gap, _ in found]
    lines = [
        f"{len(gaps)} cells: mean absolute difference {np.mean(gaps):.4f}, greatest {max(gaps):.4f}; "
        f"{sum(gap > 0.05 for gap in gaps)} above .05."
    ]
    return lines + [f"- {text}" for gap, text in sorted(found, reverse=True)[:8]]


def orderings(rows: list[dict], sizes: tuple[int, ...]) -> list[str]:
    """Return which of the paper's orderings hold, and the Wilcoxon tests over categories."""
    lines = []
    for short in LEARNERS:
        for ideal, standard in (("isig", ("ig", "sig")), ("icc", ("chi", "cc")), ("ior", ("ors", "or"))):
            better = micro("f1", pooled(rows, f"{short}|{ideal} ideal"), axis=0)
            for other in standard:
                worse = micro("f1", pooled(rows, f"{short}|{other}"), axis=0)
                held = int((better > worse).sum())
                lines.append(
                    f"- {short}: {ideal} ideal above {other} at {held} of {len(sizes)} sizes (micro)"
                )
    lines += ["", "| Wilcoxon, p (mean difference of F1) | " + " | ".join(map(str, sizes)) + " |"]
    lines.append("| --- " * (len(sizes) + 1) + "|")
    for short in LEARNERS:
        for a, b in (
            ("icc practical", "chi"),
            ("icc practical", "cc"),
            ("icc cross-validated", "chi"),
            ("icc cross-validated", "cc"),
            ("icc cross-validated", "icc practical"),
        ):
            if rows[0]["results"][f"{short}|{a}"]:
                cells = [_wilcoxon(rows, short, a, b, i) for i in range(len(sizes))]
                lines.append(f"| {short}: {a} - {b} | " + " | ".join(cells) + " |")
    return lines


def _wilcoxon(rows: list[dict], short: str, a: str, b: str, i: int) -> str:
    first, second = (np.array(f1(*pooled(rows, f"{short}|{method}")))[:, i] for method in (a, b))
    gap = first - second
    if not gap.any():
        return "- (0)"
    return f"{wilcoxon(first, second).pvalue:.2g} ({gap.mean():+.3f})"


def ratio_notes(rows: list[dict], sizes: tuple[int, ...]) -> list[str]:
    """Return the ratios found at 50 terms for the paper's four categories, and over all."""
    lines = [
        "| ratio at 50 terms | " + " | ".join(PAPER_RATIOS) + " | median of all |",
        "| --- " * (len(PAPER_RATIOS) + 2) + "|",
    ]
    lines.append("| paper, NB, icc ideal | " + " | ".join(map(str, PAPER_RATIOS.values())) + " | |")
    by_name = {row["category"]: row for row in rows}
    for short in LEARNERS:
        for method in ("icc ideal", "icc practical", "icc cross-validated"):
            key = f"{short}|{method}"
            at = sizes.index(50)
            if len(rows[0]["ratios"][key]):
                cells = [
                    str(by_name[name]["ratios"][key][at]) if name in by_name else "" for name in PAPER_RATIOS
                ]
                median = np.median([row["ratios"][key][at] for row in rows])
                lines.append(f"| {short}, {method} | " + " | ".join(cells) + f" | {median:g} |")
    return lines


def implied_notes(split: Split, counts: Counts, chosen: range) -> list[str]:
    """Return the share of positive terms that two-sided metrics take at 50 terms, and extreme scores."""
    lines = []
    for name in ("chi", "ig", "ors"):
        shares = []
        for c in chosen:
            scores = score(counts.take([c]), STANDARD[name][0])
            shares.append((scores.direction[0, rank(scores).order[:50]] > 0).mean())
        only = sum(share == 1 for share in shares)
        lines.append(
            f"- {name} at 50 terms: only positive terms in {only} of {len(shares)} categories"
            + " (paper: 56)" * (name == "chi")
            + f", mean share {np.mean(shares):.3f}"
        )
    lines += [
        "",
        "| largest | "
        + " | ".join(f"{m}, {s}" for m in ("ig", "chi", "ors") for s in ("positive", "negative"))
        + " |",
        "| --- " * 7 + "|",
    ]
    for name in ("money-fx", "grain", "wheat", "dmk", "lumber"):
        cells = []
        for metric in ("ig", "chi", "ors"):
            scores = score(counts.take([split.categories.index(name)]), STANDARD[metric][0])
            values, signs = scores.values[0], scores.direction[0]
            cells += [f"{values[signs > 0].max():.4g}", f"{values[signs < 0].max():.4g}"]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return lines


def large_categories(rows: list[dict], sizes: tuple[int, ...]) -> list[str]:
    """Return earn and acq at 50 terms beside the paper's."""
    at = sizes.index(50)
    methods = ("chi", "cc", "icc ideal", "icc practical")
    lines = ["| F1 at 50 terms | " + " | ".join(methods) + " |", "| --- " * 5 + "|"]
    by_name = {row["category"]: row for row in rows}
    for (short, name), theirs in PAPER_LARGE.items():
        ours = [f1(*by_name[name]["results"][f"{short}|{method}"][at]) for method in methods]
        cells = [f"{_cell(a)} ({_cell(b)})" for a, b in zip(ours, theirs, strict=True)]
        lines.append(f"| {short}, {name} | " + " | ".join(cells) + " |")
    return lines


def all_categories(split: Split) -> list[str]:
    """Return micro F1 over all 90 categories: chi at 2000 terms with NB, all terms with LR."""
    counts = Counts.from_matrix(split.train, split.y_train)
    lines = []
    for short, method, theirs in (("NB", "chi at 2000", 0.804), ("LR", "all terms", 0.854)):
        X, X_test = split.matrices(LEARNERS[short])
        cells = []
        for c in range(len(split.categories)):
            order = rank(score(counts.take([c]), "chi")).order[: 2000 if method.startswith("chi") else None]
            y = split.y_train[:, c].astype(np.int64)
            cells += confusions(split.y_test[:, c], decision_sets(LEARNERS[short], X, y, X_test, [order]))
        value = float(micro("f1", tuple(np.array(cells).T)))
        lines.append(
            f"- {short}, {method}, all {len(split.categories)} categories: micro {value:.3f} (paper {theirs})"
        )
    return lines


def main() -> None:
    """Compute what is not in the file of rows yet, and print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="folder of the unpacked corpora")
    parser.add_argument("--quick", action="store_true", help="sizes 10 and 50, without cross-validation")
    parser.add_argument("--rows", type=Path, help="JSON lines, one a category: read if there, and added to")
    options = parser.parse_args()
    split = reuters(options.data)
    sizes = (10, 50) if options.quick else SIZES
    chosen = range(2, 60)
    everything = computed_rows(split, sizes, 60, options.rows, options.quick)
    rows = everything[2:]
    for short in LEARNERS:
        for name, average, paper in (("Micro", micro, PAPER_MICRO), ("Macro", macro, PAPER_MACRO)):
            print(f"\n### {name} F1 at break-even, {short}: ours (paper)\n")
            print("\n".join(average_table(rows, short, sizes, average, paper)))
    print("\n### Distance from the paper\n")
    print("\n".join(differences(rows, sizes)))
    print("\n### Best ideal micro F1 over the sizes: ours (paper)\n")
    for (short, method), theirs in PAPER_BEST.items():
        ours = micro("f1", pooled(rows, f"{short}|{method}"), axis=0).max()
        print(f"- {short}, {method}: {_cell(ours)} ({_cell(theirs)})")
    print("\n### Orderings\n")
    print("\n".join(orderings(rows, sizes)))
    print("\n### Ratios\n")
    print("\n".join(ratio_notes(everything, sizes)))
    print()
    print("\n".join(implied_notes(split, Counts.from_matrix(split.train, split.y_train), chosen)))
    print("\n### The two largest categories\n")
    print("\n".join(large_categories(everything, sizes)))
    print("\n### All 90 categories\n")
    print("\n".join(all_categories(split)))


if __name__ == "__main__":
    main()
