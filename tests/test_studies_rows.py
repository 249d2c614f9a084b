"""Units: rows recomputed by hand with scikit-learn, folds, and that no cut of the work changes a row."""

import numpy as np
import polars as pl
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.multiclass import OneVsOneClassifier
from sklearn.naive_bayes import MultinomialNB
from sklearn.svm import SVC, LinearSVC

from termsieve.corpus import Corpus
from termsieve.counts import Counts
from termsieve.errors import StudyError
from termsieve.learners import decision_sets
from termsieve.ranking import ALL, Size, rank
from termsieve.scores import score
from termsieve.studies.folds import Fold, drawn_parts
from termsieve.studies.plan import NO_SELECTION, Plan
from termsieve.studies.prepared import prepared_corpus
from termsieve.studies.results import ROW_KEYS
from termsieve.studies.rows import unit_result
from termsieve.studies.tasks import Task, Unit, all_tasks, cut_units

PLAN = """
[[corpora]]
name = "toy"
path = "toy.csv"
[protocol]
trials = 2
folds = 3
seed = 5
[[methods]]
metric = ["bns", "ig", "random"]
[sizes]
k = [3, 10]
fraction = [0.5]
all = true
[[learners]]
name = "svm"
[measures]
break_even = true
"""


def toy(n_docs=90, n_terms=40, n_classes=3, seed=0, multilabel=False, weights=False):
    """A corpus of word counts in which class c favours the words c, c + n_classes, ..."""
    random = np.random.default_rng(seed)
    labels = random.choice(n_classes, n_docs, p=np.arange(1, n_classes + 1) / sum(range(n_classes + 1)))
    rate = np.where(np.arange(n_terms) % n_classes == labels[:, None], 0.35, 0.15)
    counts = random.poisson(rate)
    matrix = sparse.csr_matrix(counts * random.random(counts.shape) if weights else counts)
    names = [f"w{i}" for i in range(n_terms)]
    given = [f"c{label}" for label in labels]
    if multilabel:
        given = [(label, "even") if i % 2 == 0 else (label,) for i, label in enumerate(given)]
        given[3] = ()
    return Corpus(matrix=matrix, labels=given, terms=names, name="toy")


def plan_of(text=PLAN, *changes):
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return Plan.parse(text)


def whole_unit(plan, data, trial=0, fold=0):
    described = {"toy": data.described()}
    tasks = tuple(t for c, r, f, t in all_tasks(plan, described) if (r, f) == (trial, fold))
    return Unit("toy", trial, fold, tasks)


def results(plan, corpus, trial=0, fold=0):
    data = prepared_corpus(plan, "toy", corpus)
    return data, *unit_result(plan, data, whole_unit(plan, data, trial, fold))


def one(rows, **keys):
    found = rows.filter(*(pl.col(name).eq_missing(value) for name, value in keys.items()))
    assert found.height == 1
    return found.row(0, named=True)


def test_a_row_recomputed_with_scikit_learn():
    plan = plan_of()
    data, rows, selections = results(plan, toy(), trial=1, fold=2)
    train, test = drawn_parts(plan, data, 1)[2]
    presence = (data.matrix > 0).astype(float)
    y = data.member[:, data.classes.index("c2")].astype(int)
    seen = np.flatnonzero(presence[train].sum(axis=0))
    order = seen[rank(score(Counts.from_matrix(presence[train][:, seen], y[train]).take([1]), "bns")).order]
    for size, n_terms in (
        (Size("k", 3.0), 3),
        (Size("k", 10.0), 10),
        (Size("fraction", 0.5), round(len(seen) / 2 + 1e-9)),
    ):
        row = one(rows, problem="c2", method="bns", size_kind=size.kind, size=size.value)
        columns = order[:n_terms]
        model = LinearSVC(dual=True, tol=1e-8, max_iter=100_000, random_state=0)
        model.fit(presence[train][:, columns], y[train])
        predicted = model.predict(presence[test][:, columns])
        cells = [int(((predicted == p) & (y[test] == t)).sum()) for p, t in ((1, 1), (1, 0), (0, 1), (0, 0))]
        assert [row[name] for name in ("tp", "fp", "fn", "tn")] == cells
        assert (row["n_terms"], row["n_train"], row["pos"], row["neg"]) == (
            n_terms,
            len(train),
            y.sum(),
            (1 - y).sum(),
        )
        assert row["sparsity"] == pytest.approx(presence[train][:, columns].sum() / len(train))
        assert row["be_tp"] + row["be_fn"] == y[test].sum()
    row = one(rows, problem="c2", method="all")
    assert (row["size_kind"], row["size"], row["n_terms"]) == ("all", None, len(seen))
    chosen = one(selections, problem="c2", method="bns")
    assert chosen["terms"] == order[: len(chosen["terms"])].tolist()
    assert len(chosen["terms"]) == max(10, round(len(seen) / 2))
    assert chosen["learner"] is None


def test_words_and_limits_come_from_training_documents_only():
    corpus = toy(30, 6)
    changed = corpus.matrix.copy().tolil()
    plan = plan_of(PLAN, ("[protocol]", "[representation]\nmin_df = 2\nmax_df = 0.9\n[protocol]"))
    data = prepared_corpus(plan, "toy", corpus)
    train, test = drawn_parts(plan, data, 0)[0]
    changed[train, 5] = 0
    changed[train[0], 5] = 1
    changed[test, 5] = 1
    fold = Fold(
        plan, prepared_corpus(plan, "toy", Corpus(matrix=changed.tocsr(), labels=corpus.labels)), 0, 0
    )
    assert 5 not in fold.columns
    assert fold.test.shape[1] == len(fold.columns)
    assert fold.counts.df.min() >= 2


def test_training_counts_are_those_of_the_training_documents():
    plan = plan_of()
    for corpus in (toy(), toy(multilabel=True)):
        data = prepared_corpus(plan, "toy", corpus)
        for fold in range(3):
            one = Fold(plan, data, 0, fold)
            train = one.part.train
            tp = data.member[train].T.astype(int) @ (data.matrix[train][:, one.columns] > 0).toarray()
            assert np.array_equal(one.counts.tp, tp)
            assert one.counts.n_docs == len(train)


def test_folds_share_out_every_class_and_hold_out_each_document_once():
    plan = plan_of()
    data = prepared_corpus(plan, "toy", toy(95, n_classes=5))
    parts = drawn_parts(plan, data, 0)
    assert np.array_equal(np.sort(np.concatenate([part.test for part in parts])), np.arange(95))
    for part in parts:
        assert not set(part.train) & set(part.test)
        assert len(part.test) in (31, 32)
    shares = np.array([data.member[part.test].sum(axis=0) for part in parts])
    assert (np.ptp(shares, axis=0) <= 1).all()
    again = drawn_parts(plan, data, 0)
    assert all(np.array_equal(a.test, b.test) for a, b in zip(parts, again, strict=True))
    assert not np.array_equal(parts[0].test, drawn_parts(plan, data, 1)[0].test)


def test_a_rare_class_is_spread_and_a_fold_without_it_predicts_none():
    corpus = toy(60)
    labels = corpus.labels.copy()
    labels[:1] = "rare"
    plan = plan_of()
    data = prepared_corpus(plan, "toy", Corpus(matrix=corpus.matrix, labels=labels))
    held = [fold for fold, part in enumerate(drawn_parts(plan, data, 0)) if 0 in part.test]
    assert len(held) == 1
    rows, _ = unit_result(plan, data, whole_unit(plan, data, 0, held[0]))
    rare = rows.filter(pl.col("problem") == "rare")
    assert rare["tp"].sum() == rare["fp"].sum() == 0
    assert (rare["fn"] == 1).all()


def test_a_random_split_keeps_shares():
    plan = plan_of(PLAN, ("folds = 3", 'kind = "random"\ntest_size = 0.3'))
    data = prepared_corpus(plan, "toy", toy(100))
    (part,) = drawn_parts(plan, data, 0)
    assert len(part.test) in (29, 30, 31)
    assert np.abs(data.member[part.test].sum(axis=0) - 0.3 * data.member.sum(axis=0)).max() <= 1
    assert len(part.train) + len(part.test) == 100


def test_a_fixed_split_may_leave_documents_out():
    plan = plan_of(PLAN, ("trials = 2\nfolds = 3", 'kind = "split"'))
    corpus = toy(60)
    words = ["train"] * 40 + ["test"] * 15 + [""] * 5
    data = prepared_corpus(plan, "toy", Corpus(matrix=corpus.matrix, labels=corpus.labels, split=words))
    fold = Fold(plan, data, 0, 0)
    assert (len(fold.part.train), len(fold.part.test), fold.counts.n_docs) == (40, 15, 40)
    with pytest.raises(StudyError, match="has no training and test part"):
        drawn_parts(plan, prepared_corpus(plan, "toy", corpus), 0)


def test_how_the_work_is_cut_never_changes_a_row(monkeypatch):
    plan = plan_of(
        PLAN,
        (
            'metric = ["bns", "ig", "random"]',
            'metric = ["bns", "ig", "random"]\n[[methods]]\nselect = "ratio"\nmetric = "cc"\n'
            'scenario = ["practical", "cv"]\nfolds = 2\n[[methods]]\nselect = "weight"\nsample = 0.5',
        ),
        ("k = [3, 10]", "k = [3]"),
        ("[measures]", '[[learners]]\nname = "nb"\nvalues = "counts"\n[measures]'),
    )
    data = prepared_corpus(plan, "toy", toy(48, 12))
    described = {"toy": data.described()}
    tasks = [placed for placed in all_tasks(plan, described) if placed[1:3] == (0, 1)]
    tables = []
    for seconds in (1e9, 0.2, 0.0):
        monkeypatch.setattr("termsieve.studies.tasks.UNIT_SECONDS", seconds)
        units = list(cut_units(plan, described, tasks))
        results = [unit_result(plan, data, unit) for unit in units]
        rows = pl.concat([rows for rows, _ in results]).drop("select_seconds", "fit_seconds")
        tables.append((len(units), rows.sort(ROW_KEYS, nulls_last=True)))
    assert tables[0][0] == 1 < tables[1][0] < tables[2][0]
    assert tables[0][1].equals(tables[1][1])
    assert tables[0][1].equals(tables[2][1])
    assert not tables[0][1].select(ROW_KEYS).is_duplicated().any()


def test_sizes_of_a_learned_lambda_run_together_or_apart_have_the_same_rows(monkeypatch):
    plan = plan_of(
        PLAN,
        ('metric = ["bns", "ig", "random"]', 'select = "wfo"\nfolds = 3'),
        ("k = [3, 10]", "k = [2, 5, 9]"),
        ('name = "svm"', 'name = "svm(hinge)"'),
    )
    data = prepared_corpus(plan, "toy", toy(48, 12))
    described = {"toy": data.described()}
    tasks = [placed for placed in all_tasks(plan, described) if placed[1:3] == (0, 1)]
    tables = []
    for seconds, together in ((1e9, 4), (0.0, 1)):  # three k, one fraction
        monkeypatch.setattr("termsieve.studies.tasks.SHARED_SECONDS", seconds)
        units = list(cut_units(plan, described, tasks))
        runs = [task.runs for unit in units for task in unit.tasks if task.method == "wfo(learned)"]
        assert {len(sizes) for ((_, sizes),) in runs} == {together}
        made = [unit_result(plan, data, unit) for unit in units]
        rows = pl.concat([rows for rows, _ in made]).drop("select_seconds", "fit_seconds")
        chosen = pl.concat([selections for _, selections in made])
        tables.append([rows.sort(ROW_KEYS, nulls_last=True), chosen.sort("problem", "method", "size")])
    assert tables[0][0].equals(tables[1][0])
    assert tables[0][1].equals(tables[1][1])
    assert tables[0][1]["lam"].null_count() == 0


def test_all_terms_are_trained_once_whatever_ranked_them(monkeypatch):
    plan = plan_of(PLAN, ("k = [3, 10]", "k = [3, 40]"))
    trained = []

    def noted(learner, X, y, X_test, sets):
        trained.append([len(columns) for columns in sets])
        return decision_sets(learner, X, y, X_test, sets)

    monkeypatch.setattr("termsieve.studies.folds.decision_sets", noted)
    data, rows, _ = results(plan, toy(48, 12))
    n_terms = rows["n_terms"].max()
    assert trained == [[n_terms]] * len(data.classes)
    of_all = rows.filter(n_terms=n_terms)
    assert set(of_all["method"]) == {"bns", "information_gain", "random", "all"}
    cells = ["problem", "tp", "fp", "fn", "tn", "be_tp", "be_fp"]
    assert of_all.select(cells).unique().height == len(data.classes)


def test_tfidf_is_fitted_on_training_documents():
    plan = plan_of(PLAN, ("[protocol]", '[representation]\nvalues = "tfidf"\n[protocol]'))
    fold = Fold(plan, prepared_corpus(plan, "toy", toy()), 0, 0)
    train, test = fold.values("tfidf")
    oracle = TfidfTransformer().fit(fold.train)
    assert np.allclose(train.toarray(), oracle.transform(fold.train).toarray())
    assert np.allclose(test.toarray(), oracle.transform(fold.test).toarray())


@pytest.mark.parametrize("learner", ["svm(hinge)", "svm", "nb", "perceptron"])
def test_one_multi_class_problem_has_a_row_a_class(learner):
    plan = plan_of(
        PLAN,
        ("[protocol]", '[problems]\nkind = "multi-class"\n[protocol]'),
        ('name = "svm"', f'name = "{learner}"'),
    )
    data, rows, _ = results(plan, toy())
    train, test = drawn_parts(plan, data, 0)[0]
    X = (data.matrix > 0).astype(float)
    X = X[:, np.flatnonzero(X[train].sum(axis=0))]
    y = data.labels
    oracle = {
        "svm(hinge)": OneVsOneClassifier(SVC(kernel="linear", tol=1e-6)),
        "svm": LinearSVC(dual=True, tol=1e-8, max_iter=100_000, random_state=0),
        "nb": MultinomialNB(),
    }.get(learner)
    found = rows.filter(method="all")
    assert found["target"].to_list() == data.classes
    assert set(found["problem"]) == {"all classes"}
    assert (found["tp"] + found["fn"]).sum() == len(test)
    assert (found["tp"] + found["fp"]).sum() == len(test)
    if oracle is not None:
        predicted = oracle.fit(X[train], y[train]).predict(X[test])
        assert found["tp"].to_list() == [int(((predicted == c) & (y[test] == c)).sum()) for c in range(3)]
        assert found["fp"].to_list() == [int(((predicted == c) & (y[test] != c)).sum()) for c in range(3)]


def test_ideal_ratios_are_at_least_as_good_on_the_test_documents():
    plan = plan_of(
        PLAN,
        (
            'metric = ["bns", "ig", "random"]',
            'metric = "cc"\nratio = [0, 0.25, 0.5, 0.75, 1]\n[[methods]]\nselect = "ratio"\nmetric = "cc"\n'
            'scenario = ["ideal", "practical", "cv"]\nfolds = 2',
        ),
        ("fraction = [0.5]\n", ""),
    )
    _, rows, selections = results(plan, toy())
    f1 = 2 * pl.col("be_tp") / (2 * pl.col("be_tp") + pl.col("be_fp") + pl.col("be_fn"))
    best = (
        rows.with_columns(f1=f1)
        .filter(size_kind="k")
        .group_by("problem", "size", "method")
        .agg(pl.col("f1").max())
    )
    ideal = best.filter(method="ratio(correlation_coefficient, ideal)")
    others = (
        best.filter(pl.col("method").str.contains("ratio="))
        .group_by("problem", "size")
        .agg(pl.col("f1").max())
    )
    both = ideal.join(others, on=["problem", "size"], suffix="_tried")
    assert both.height == 6
    assert (both["f1"] >= both["f1_tried"] - 1e-12).all()
    learned = selections.filter(pl.col("ratio").is_not_null())
    assert set(learned["learner"]) == {"svm"}
    assert (learned["curve"].list.len() == 21).all()


def test_learned_lam_and_weights():
    plan = plan_of(
        PLAN,
        (
            'metric = ["bns", "ig", "random"]',
            'select = "wfo"\nfolds = 3\n[[methods]]\nselect = "weight"\n'
            'model = ["svm", "perceptron"]\nsample = [1.0, 0.5]',
        ),
        ("fraction = [0.5]\n", ""),
    )
    _, rows, selections = results(plan, toy(60, 20))
    wfo = selections.filter(method="wfo(learned)")
    assert wfo.height == 3 * 2
    assert wfo["lam"].is_between(0, 1).all()
    assert set(rows["method"]) == {
        "all",
        "wfo(learned)",
        "weight(svm, 1)",
        "weight(svm, 0.5)",
        "weight(perceptron, 1)",
        "weight(perceptron, 0.5)",
    }
    assert selections.filter(method="weight(svm, 1)")["learner"].is_null().all()


def test_the_memory_scenario_spends_its_budget():
    plan = plan_of(
        PLAN,
        ('metric = ["bns", "ig", "random"]', 'select = "memory"\nbudget = [1, 4]'),
        ("all = true", ""),
        ("k = [3, 10]\nfraction = [0.5]", ""),
    )
    data, rows, _ = results(plan, toy())
    fold = Fold(plan, data, 0, 0)
    full = fold.counts.df.sum()
    four = rows.filter(method="memory(svm, 4)")
    assert sorted(set(four["size"])) == [0.25, 0.5, 1.0]
    assert set(four["size_kind"]) == {"documents"}
    spent = four["n_train"] * four["sparsity"]
    assert (spent <= full / 4 * 1.1).all()  # a share of the documents is rounded
    assert (four.filter(size=0.25)["n_terms"] == len(fold.columns)).all()
    only = rows.filter(method="memory(svm, 1)")
    assert (only["n_train"] == len(fold.part.train)).all()


def test_weights_are_added_as_they_are_where_there_are_no_counts():
    plan = plan_of(
        PLAN, ('metric = ["bns", "ig", "random"]', 'metric = "word_odds_ratio"\nside = "positive"')
    )
    data, _, selections = results(plan, toy(weights=True))
    fold = Fold(plan, data, 0, 0)
    member = data.member[fold.part.train, 1]
    X = fold.train.toarray()
    q1, q0 = ((X[side].sum(axis=0) + 1) / (X[side].sum() + X.shape[1]) for side in (member, ~member))
    value = np.log(q1 * (1 - q0) / ((1 - q1) * q0))
    chosen = one(selections, problem="c1")["terms"]
    best = fold.columns[np.argsort(-value, kind="stable")][: len(chosen)].tolist()
    assert chosen == best


def test_documents_of_some_classes_only():
    plan = plan_of(PLAN, ('path = "toy.csv"', 'path = "toy.csv"\nclasses = ["c2", "c1"]\nper_class = 10'))
    data = prepared_corpus(plan, "toy", toy())
    assert data.classes == ["c1", "c2"]
    assert data.member.sum(axis=0).tolist() == [10, 10]
    several = prepared_corpus(plan, "toy", toy(multilabel=True))
    assert (several.member.sum(axis=1) == 1).all()
    with pytest.raises(StudyError, match="did you mean 'c1'"):
        prepared_corpus(
            plan_of(PLAN, ('path = "toy.csv"', 'path = "toy.csv"\nclasses = ["c11", "c2"]')), "toy", toy()
        )


def test_a_unit_is_named_by_its_work():
    unit = Unit("toy", 0, 1, (Task("c1", NO_SELECTION.name, (("svm", (ALL,)),)),))
    assert unit.name.startswith("toy-0-1-")
    assert unit.name != Unit("toy", 0, 1, (Task("c2", NO_SELECTION.name, (("svm", (ALL,)),)),)).name
