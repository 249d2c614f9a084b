"""Training along a ranking, beside scikit-learn's solvers on the same columns and folds; a whole study."""

from __future__ import annotations

import os
import tempfile
import time
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.feature_selection import SelectKBest, chi2
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_validate
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, LinearSVC

from benchmarks.measure import Row, compared, seconds
from termsieve import Counts, load_plan, rank, read, run_study, score, study_report
from termsieve.learners import decision_path, decision_sets
from termsieve.learners.rows import Columns
from termsieve.measures import decision_values
from termsieve.studies import study_status
from termsieve.terms import term_matrix

SIZES = [10, 20, 50, 100, 200, 500, 1000, 2000]
FORMAN = ["acc", "acc2", "bns", "chi", "dfreq", "f1", "ig", "oddn", "odds", "pow", "pr", "rand"]
QUICK = ["oh0", "re0", "tr11"]
SETS = ["oh0", "re0", "tr11", "wap", "fbis", "la1"]
RATIOS = np.linspace(0, 1, 21)
FOLDS = 4
MEASURES = ["accuracy", "precision", "recall", "f1"]


class Split(NamedTuple):
    """One fold of a corpus, presence features, and some of its classes: small, middle and large."""

    name: str
    train: Any
    test: Any
    y: np.ndarray
    classes: np.ndarray


def presence(name: str) -> tuple[Any, np.ndarray]:
    """Return one of Forman's sets, or generated documents of its kind where TERMSIEVE_DATA is not set."""
    data = os.environ.get("TERMSIEVE_DATA")
    if data:
        corpus = read(Path(data, "forman", f"{name}.wc.arff"))
        X = term_matrix(corpus)[0]
        return of_ones(X), np.asarray(corpus.labels)
    rng = np.random.default_rng(len(name))
    y = rng.choice(10, size=1500, p=np.arange(1, 11) / 55)
    share = np.clip(3.0 / np.arange(5, 4005), 0, 0.5)
    lean = np.where(rng.integers(0, 10, 4000) == y[:, None], 4.0, 0.8)
    return sparse.csr_matrix((rng.random((1500, 4000)) < share * lean).astype(float)), y.astype(str)


def fold(name: str) -> Split:
    """Return the first of four stratified folds."""
    X, y = presence(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of classes smaller than the number of folds
        train, test = next(StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, y))
    classes, sizes = np.unique(y[train], return_counts=True)
    by_size = classes[np.argsort(sizes)][np.sort(sizes) >= 3]
    picked = by_size[[0, len(by_size) // 2, -1]]
    return Split(name, X[train], X[test], y[train], picked)


def rankings(part: Split, metrics: list[str]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the labels of each problem and its ranking by each metric."""
    for target in part.classes:
        y = (part.y == target).astype(np.int64)
        counts = Counts.from_matrix(part.train, y)
        for metric in metrics:
            yield y, rank(score(counts, metric)).order


def paths(part: Split, learner: str, metrics: list[str]) -> list[np.ndarray]:
    """Return the decision values of every problem and metric at every size: counting and ranking included."""
    train, test = Columns.of(part.train), Columns.of(part.test)  # once per fold, as a study does
    return [decision_path(learner, train, y, test, order, SIZES) for y, order in rankings(part, metrics)]


def separate(part: Split, model: Any, metrics: list[str], unfinished: bool = True) -> list[np.ndarray]:
    """Return the same from one fit of a classifier a size; NaN for `unfinished` ones if not asked."""
    values = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # LinearSVC often says that it has not converged
        for y, order in rankings(part, metrics):
            for k in SIZES:
                model.fit(part.train[:, order[:k]], y)
                row = decision_values(model, part.test[:, order[:k]])
                left_out = not unfinished and model.n_iter_ >= model.max_iter
                values.append(np.full_like(row, np.nan) if left_out else row)
    return values


def pipelines(part: Split) -> None:
    """Fit and apply SelectKBest and LinearSVC at every size, for every problem, with one metric."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for target in part.classes:
            for k in SIZES:
                selector = SelectKBest(chi2, k=min(k, part.train.shape[1]))
                model = make_pipeline(selector, LinearSVC(dual=True, tol=1e-4, random_state=0))
                model.fit(part.train, part.y == target).predict(part.test)


def cross_validated(X: Any, y: np.ndarray) -> None:
    """Do one trial of the study with one metric: each class against the rest, at each size, in four folds."""
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of classes with few documents, and of LinearSVC
        for target in np.unique(y):
            for k in SIZES:
                selector = SelectKBest(chi2, k=min(k, X.shape[1]))
                model = make_pipeline(selector, LinearSVC(dual=True, tol=1e-4, random_state=0))
                cross_validate(model, X, (y == target).astype(int), cv=folds, scoring=MEASURES)


def differing(ours: list[np.ndarray], theirs: list[np.ndarray]) -> str:
    """Say how many predictions differ; a peer's row of NaN is left out."""
    pairs = [(a, b) for a, b in zip(np.vstack(ours), np.vstack(theirs), strict=True) if not np.isnan(b).any()]
    wrong = sum(int(((a > 0) != (b > 0)).sum()) for a, b in pairs)
    total = sum(a.size for a, _ in pairs)
    return f"{wrong} of {total:,} predictions differ, {wrong / total:.1e}"


def forman(quick: bool) -> Iterator[Row]:
    """The trainings of forman2003: twelve metrics, eight sizes, three classes of each set."""
    linear = LinearSVC(dual=True, tol=1e-4, random_state=0)
    values = []
    for part in map(fold, QUICK if quick else SETS):
        n = len(part.classes) * len(FORMAN) * len(SIZES)
        row = compared(
            f"forman2003: {n} trainings, tests, counting and ranking", part.name,
            ("Pipeline(SelectKBest(chi2), LinearSVC)", lambda part=part: pipelines(part)),
            lambda part=part: paths(part, "svm", FORMAN), "25x", repeats=3 if quick else 5,
            scale=len(FORMAN), memory=False, note="the peer with one metric, times twelve",
        )  # fmt: skip
        rate = n / row.seconds
        values.append(row)
        yield replace(row, note=f"{row.note}; {rate:,.0f} trainings a second")
        ours = paths(part, "svm", FORMAN)
        note = f"{differing(ours, separate(part, linear, FORMAN))}; where LinearSVC converged, "
        note += differing(ours, separate(part, linear, FORMAN, unfinished=False))
        yield compared(
            "svm: the same trainings, ranking included", part.name,
            ("LinearSVC on the selected columns", lambda part=part: separate(part, linear, FORMAN[:3])),
            lambda part=part: paths(part, "svm", FORMAN), "at most 1e-4 differ, stretch 1e-5",
            repeats=3, scale=len(FORMAN) / 3, memory=False,
            note=note,
        )  # fmt: skip
    total = sum(row.peer_seconds for row in values), sum(row.seconds for row in values)
    ratios = [row.ratio for row in values]
    yield replace(
        values[0], work="forman2003: these sets together", input=f"{len(values)} sets", peer_seconds=total[0],
        seconds=total[1], ratio=total[0] / total[1], ratio_low=min(ratios), ratio_high=max(ratios),
        note="the seconds added up; the range is that of the sets",
    )  # fmt: skip


def growing(quick: bool) -> Iterator[Row]:
    """The squared hinge on a quarter, a half and all of the training documents."""
    whole = fold("oh0" if quick else "la1")
    order = np.random.default_rng(0).permutation(len(whole.y))
    model = LinearSVC(dual=True, tol=1e-4, random_state=0)
    for n in (len(order) // 4, len(order) // 2, len(order)):
        part = whole._replace(train=whole.train[order[:n]], y=whole.y[order[:n]])
        yield compared(
            "svm, ranking by bns included", f"{part.name}, {n:,} documents",
            ("LinearSVC on the selected columns", lambda part=part: separate(part, model, ["bns"])),
            lambda part=part: paths(part, "svm", ["bns"]), "", repeats=3, memory=False, size=n,
        )  # fmt: skip


def hinge(quick: bool) -> Iterator[Row]:
    """The hinge loss."""
    model, metrics = SVC(kernel="linear"), ["bns", "ig"]
    for part in map(fold, QUICK if quick else SETS):
        note = differing(paths(part, "svm(hinge)", metrics), separate(part, model, metrics))
        yield compared(
            "svm(hinge)", part.name,
            ('SVC(kernel="linear")', lambda part=part: separate(part, model, metrics)),
            lambda part=part: paths(part, "svm(hinge)", metrics), "5x, at most 0.2 % differ",
            repeats=3, note=note,
        )  # fmt: skip


def reuters() -> tuple[Any, Any, dict[str, np.ndarray]]:
    """Return training and test counts of Reuters-21578 and the labels of three categories, or made-up."""
    data = os.environ.get("TERMSIEVE_DATA")
    if not data:
        part = fold("generated")
        return part.train, part.test, {str(c): (part.y == c).astype(np.int64) for c in part.classes}
    corpus = read(Path(data, "reuters21578"))
    X = term_matrix(corpus)[0].astype(np.float64)
    first = corpus.split()[0]
    train, test = X[: len(first)], X[len(first) :]
    common = np.flatnonzero(np.bincount(train.indices, minlength=X.shape[1]) >= 3)
    targets = {
        c: np.array([c in labels for labels in first.labels], dtype=np.int64)
        for c in ("money-fx", "wheat", "dmk")
    }
    return train[:, common], test[:, common], targets


def ratio_sets(train: Any, y: np.ndarray, size: int) -> list[np.ndarray]:
    """Return the columns of the 21 ratios of zheng2004: the best terms for the class and those against it."""
    values = score(Counts.from_matrix(train, y), "cc").values
    order = np.argsort(-np.asarray(values).reshape(-1, train.shape[1])[-1], kind="stable")
    tops = [int(ratio * size + 0.5) for ratio in RATIOS]
    return [np.concatenate([order[:top], order[::-1][: size - top]]) for top in tops]


def of_ones(X: Any) -> Any:
    """Return the presence of terms."""
    return sparse.csr_matrix((np.ones(X.nnz), X.indices, X.indptr), shape=X.shape)


def ratios(learner: str, model: Any, matrices: Any, goals: dict[int, str], quick: bool) -> Iterator[Row]:
    """The 21 ratios of zheng2004 for one class and size, by a learner and by 21 fits of its peer."""
    (train, test), targets = matrices
    for name, y in targets.items():
        for size in (50, 500) if quick else goals:
            sets = ratio_sets(train, y, size)

            def fits(sets: Any = sets, y: Any = y) -> Any:
                return np.stack([decision_values(model.fit(train[:, c], y), test[:, c]) for c in sets])

            def shared(sets: Any = sets, y: Any = y) -> Any:
                return decision_sets(learner, train, y, test, sets)

            yield compared(
                f"zheng2004: 21 ratios, {size} terms, {learner}", f"Reuters-21578, {name}",
                (f"21 fits of {type(model).__name__}", fits), shared, goals[size],
                repeats=3 if quick else 5, note=differing([shared()], [fits()]),
            )  # fmt: skip


def bayes(quick: bool) -> Iterator[Row]:
    """Naive Bayes beside MultinomialNB."""
    train, test, targets = reuters()
    goals = dict.fromkeys((10, 50, 500, 3000), "10x")
    yield from ratios("nb", MultinomialNB(), ((train, test), targets), goals, quick)


def logistic(quick: bool) -> Iterator[Row]:
    """Logistic regression of presence beside liblinear."""
    train, test, targets = reuters()
    ones = of_ones(train), of_ones(test)
    model = LogisticRegression(C=1 / (2 * 0.0001 * train.shape[0]), solver="liblinear")
    goals = {500: "3x, stretch 5x", 3000: "3x, stretch 5x", 10: "", 50: ""}
    yield from ratios("lr", model, (ones, targets), goals, quick)


def whole_study(quick: bool) -> Iterator[Row]:
    """The whole of forman2003 on two cores (tr11 alone if quick), and its report; needs the data."""
    data = os.environ.get("TERMSIEVE_DATA")
    if not data:
        return
    plan = load_plan("forman2003")
    if quick:
        plan = replace(plan, corpora=tuple(each for each in plan.corpora if each.name == "tr11"))
    with tempfile.TemporaryDirectory(prefix="termsieve-study-") as folder:
        begun = time.perf_counter()
        results = run_study(plan, Path(folder, "results"), data=data, workers=2)
        own = time.perf_counter() - begun
        status = study_status(Path(folder, "results"))
        theirs = 0.0
        for name, (done, _) in status.corpora.items():
            X, y = presence(name)
            trial = seconds(lambda X=X, y=y: cross_validated(X, y))
            theirs += trial * done / (len(np.unique(y)) * len(SIZES) * FOLDS) / 2
        ratio = theirs / own
        yield Row(
            f"forman2003: the whole study, {status.trainings:,} trainings, 2 workers",
            f"{len(plan.corpora)} sets",
            "cross_validate(Pipeline(SelectKBest(chi2), LinearSVC))", theirs, own, ratio, ratio, ratio,
            "25x, under 240 s",
            note="one run; the peer with one metric and one trial, scaled to all, halved for two cores",
        )  # fmt: skip
        yield compared(
            "the report of a study", f"{len(results):,} rows",
            ("reading its rows", lambda: results.frame().collect()),
            lambda: study_report(results, Path(folder, "report.html")), "limit", repeats=3, memory=False,
        )  # fmt: skip
