"""The figures of a study's report beside its rows, against rows and documents counted by hand."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.stats import norm
from tests.test_reports import Elements, facts

from termsieve import Corpus, Plan, run_study, study_report
from termsieve.cli.app import app
from termsieve.cli.shell import exit_code
from termsieve.errors import UnknownNameError
from termsieve.reports import planes
from termsieve.reports.planes import study_plane
from termsieve.reports.study import study_figures
from termsieve.studies import sources
from termsieve.studies.folds import drawn_parts

STOP = {"the", "of", "and", "to", "in", "is", "that", "for", "it", "with"}
METHODS = 'methods = [{ metric = ["bns", "information_gain", "random"] }]'
PLAN = """
{corpora}
protocol = {{ folds = 2, trials = 1, seed = 1 }}
{methods}
learners = ["nb"]
sizes = {{ k = [4, 9] }}
"""


def mails(seed, sizes):
    """Documents of classes of these sizes: words of the class, common words, and English stop words."""
    generator = np.random.default_rng(seed)
    texts, labels = [], []
    for name, n in sizes.items():
        for _ in range(n):
            own = [f"{name}{i}" for i in range(6) if generator.random() < 0.5]
            common = [f"w{i}" for i in range(20) if generator.random() < 0.2]
            texts.append(" ".join([*sorted(STOP), *own, *common]))
            labels.append(name)
    return Corpus(texts, labels)


CORPORA = {
    "small": mails(1, {"a": 12, "b": 20, "c": 30}),  # skews 4.2, 2.1 and 1.1
    "large": mails(2, {"a": 10, "d": 90}),  # one problem, "d", of skew .1
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("data")
    for name, corpus in CORPORA.items():
        frame = pl.DataFrame({"text": corpus.texts, "label": corpus.labels.tolist()})
        frame.write_csv(path / f"{name}.csv")
    return path


@pytest.fixture(scope="module")
def results(folder, tmp_path_factory):
    corpora = [f'{{ name = "{name}", path = "{name}.csv" }}' for name in CORPORA]
    text = PLAN.format(corpora=f"corpora = [{', '.join(corpora)}]", methods=METHODS)
    plan = Plan.parse(text, "mails")
    return run_study(plan, tmp_path_factory.mktemp("results") / "out", data=folder, workers=1)


def test_the_problem_of_median_skew_is_shown_or_the_chosen_one(results):
    rows = results.frame().collect()
    sizes = ("corpus", "target", "pos", "neg")

    def shown(**chosen):
        return tuple(study_plane(rows, **chosen).sources[name] for name in sizes)

    assert shown() == ("small", "c", 30, 32)  # of .1, 1.1, 2.1 and 4.2 the lower middle
    assert shown(corpus="small") == ("small", "b", 20, 42)
    assert shown(corpus="large") == ("large", "d", 90, 10)
    assert shown(target="a") == ("small", "a", 12, 50)
    with pytest.raises(UnknownNameError, match="corpus 'smal' is unknown; did you mean 'small'"):
        shown(corpus="smal")
    with pytest.raises(UnknownNameError, match="class 'a' is unknown; known: d"):
        shown(corpus="large", target="a")


def test_the_map_has_the_words_of_the_one_corpus_that_is_read(results, folder, monkeypatch):
    opened = []
    read = sources.read
    monkeypatch.setattr(
        sources, "read", lambda path, *a, **k: opened.append(path.name) or read(path, *a, **k)
    )
    page = Elements(study_report(results, data=folder, corpus="small", target="a"))
    assert opened == ["small.csv"]
    (words,) = page.data["words"]
    rows = words["spec"]["datasets"][words["data"]]
    bags = [set(text.split()) for text in CORPORA["small"].texts]
    inside = [label == "a" for label in CORPORA["small"].labels]
    found = {}
    for word in set.union(*bags):
        tp = sum(word in bag for bag, own in zip(bags, inside, strict=True) if own)
        found.setdefault((sum(word in bag for bag in bags) - tp, tp), set()).add(word)
    assert {(row["fp"], row["tp"]): row["terms"] for row in rows} == {at: len(w) for at, w in found.items()}
    stop = {at: len(words & STOP) for at, words in found.items()}
    assert {(row["fp"], row["tp"]): row["stop"] for row in rows} == stop
    assert sum(stop.values()) == len(STOP)
    text = facts(page.text)
    assert "ROC map of the words of small, for and against a" in text
    assert "Crosses: English stop words. Dotted lines: terms in 3 and in 31 documents." in text
    drawn = [name for name, data in words["spec"]["datasets"].items() if data and "k" in data[0]]
    assert {row["k"] for row in words["spec"]["datasets"][drawn[0]]} == {9}  # the size nearest to 100


def test_contour_maps_are_those_of_the_problem_and_of_the_plans_metrics(results, folder):
    plane = study_plane(results.frame().collect(), results, data=folder)
    assert plane.metrics == ["bns", "information_gain"]  # random is no function of the table
    page = Elements(study_report(results, data=folder))
    maps, surfaces = page.data["isoclines"], page.data["surface"]
    assert len(maps) == len(surfaces) == 2
    (values,) = maps[0]["spec"]["datasets"].values()
    assert {row["metric"] for row in values} == {"bns"}

    def quantile(rate):
        return norm.ppf(np.clip(rate, 0.0005, 0.9995))

    inner = [row for row in values if 0.1 < row["fpr"] < 0.9 and 0.1 < row["tpr"] < 0.9]
    for row in inner:
        # Between two whole numbers of documents the lines are straight.
        assert abs(quantile(row["tpr"]) - quantile(row["fpr"])) == pytest.approx(row["level"], abs=0.02)
    assert len(inner) > 20
    note = "For a class of 30 documents among 62: c of small, the class of median skew."
    assert note in facts(page.text)


def test_without_data_a_sentence_says_how_to_get_the_map(results, tmp_path, monkeypatch):
    monkeypatch.setenv("TERMSIEVE_DATA", str(tmp_path))
    page = Elements(study_report(results))
    assert "words" not in page.data
    assert {"isoclines", "surface"} <= set(page.data)
    text = facts(page.text)
    assert text.count("The ROC map of words is drawn from the documents: corpus 'small' is not at") == 1
    assert "say where the corpora are with data= (--data)" in text
    rows = Elements(study_report(results.frame()))
    assert "rows alone do not say where these are" in facts(rows.text)
    assert "isoclines" in rows.data


def test_corpora_in_memory_and_changed_corpora(results):
    drawn = Elements(study_report(results, corpora=CORPORA))
    assert "words" in drawn.data
    other = {"small": mails(3, {"a": 12, "b": 20, "c": 30})}
    changed = Elements(study_report(results, corpora=other))
    assert "words" not in changed.data
    assert "corpus 'small' has changed since the study began" in facts(changed.text)


def test_rows_that_are_not_of_the_plan_have_no_map(results, folder):
    """As in a directory whose files were exchanged."""
    rows = results.frame().collect()
    for column, words in (("corpus", "no corpus 'x'"), ("target", "corpus 'small' has no class 'x'")):
        other = rows.filter(pl.col("corpus") == "small").with_columns(pl.lit("x").alias(column))
        assert words in study_plane(other, results, data=folder).lacking["words"]


def made(methods, tmp_path, sizes="k = [4, 9]"):
    plan = PLAN.format(corpora='corpora = [{ name = "small" }]', methods=methods)
    plan = plan.replace("k = [4, 9]", sizes)
    chosen = {"small": CORPORA["small"]}
    return run_study(Plan.parse(plan, "made"), tmp_path / "out", corpora=chosen, workers=1), chosen


def test_rankings_without_a_metric_have_no_maps(tmp_path):
    results, chosen = made('methods = [{ select = "weight", model = ["svm"] }]', tmp_path)
    page = Elements(study_report(results, corpora=chosen))
    assert not {"words", "isoclines", "surface"} & set(page.data)
    assert "There are no maps over the ROC plane: no method ranks terms" in facts(page.text)


def test_at_most_twelve_metrics_are_shown(tmp_path):
    names = ["bns", "ig", "chi", "odds", "pr", "acc", "acc2", "f1", "oddn", "pow", "cc", "gss", "mi", "wllr"]
    quoted = ", ".join(f'"{name}"' for name in names)
    results, chosen = made(f"methods = [{{ metric = [{quoted}] }}]", tmp_path)
    plane = study_plane(results.frame().collect(), results, corpora=chosen)
    assert len(plane.metrics) == 12
    assert plane.notes[0].startswith("Contour maps and the ROC map show 12 metrics, and leave ")
    sections, _ = study_figures(results.frame().collect(), plane=plane).sections()
    (own,) = [section for section in sections if section.id == "plane"]
    assert [len(figure.variants) for figure in own.figures] == [1, 12, 12]


def test_a_class_of_one_document_has_no_surface():
    rows = {"corpus": "x", "target": "y", "pos": 1, "neg": 30, "method": "bns", "size_kind": "k", "size": 5.0}
    plane = study_plane(pl.DataFrame([rows]))
    assert "no class has two documents" in plane.lacking["plane"]


def test_the_command_takes_the_folder_and_the_class(results, folder, tmp_path, capsys):
    page = tmp_path / "study.html"
    words = ["study", "report", str(results.path), "-o", str(page), "--data", str(folder)]
    assert exit_code(app, [*words, "--corpus", "large", "--class", "d"]) == 0
    assert "ROC map of the words of large, for and against d" in page.read_text(encoding="utf-8")
    assert exit_code(app, [*words, "--class", "q"]) == 2
    assert "class 'q' is unknown" in capsys.readouterr().err


SIDES = """methods = [
    { metric = ["chi_squared", "information_gain"] },
    { metric = "correlation_coefficient", side = "positive" },
]"""
RATIOS = """methods = [
    { metric = "bns" },
    { select = "ratio", metric = "correlation_coefficient", scenario = "practical" },
]"""


@pytest.fixture(scope="module")
def sided(tmp_path_factory):
    return made(SIDES, tmp_path_factory.mktemp("sided"))


def table_of(variant):
    """Return the rows of a figure's table, which the chart may hold."""
    if "data" in variant:
        return variant["spec"]["datasets"][variant["data"]]
    return [dict(zip(variant["columns"], row, strict=True)) for row in variant["rows"]]


def first_training(results):
    """Return the words of each training document of the first split, and its class."""
    data = planes.Sources(planes._plan(results), Path(), CORPORA, {})["small"]
    part = drawn_parts(planes._plan(results), data, 0)[0]
    corpus = CORPORA["small"]
    return [(set(corpus.texts[i].split()), corpus.labels[i]) for i in part.train]


def chi(tp, fp, pos, neg):
    """Pearson's statistic of a table, from its definition."""
    table = np.array([[tp, fp], [pos - tp, neg - fp]], dtype=float)
    expected = table.sum(1, keepdims=True) * table.sum(0) / table.sum()
    seen = expected > 0
    return ((table - expected)[seen] ** 2 / expected[seen]).sum()


def scored(documents, label):
    """Return (score, documents, direction) of each word for a class."""
    pos = sum(own == label for _, own in documents)
    neg = len(documents) - pos
    found = {}
    for word in set.union(*(bag for bag, _ in documents)):
        tp = sum(word in bag for bag, own in documents if own == label)
        fp = sum(word in bag for bag, own in documents) - tp
        found[word] = chi(tp, fp, pos, neg), tp + fp, np.sign(tp / pos - fp / neg)
    return found


def test_the_largest_scores_of_all_classes_are_those_of_the_first_training_documents(sided):
    results, corpora = sided
    page = Elements(study_report(results, corpora=corpora))
    variants = page.data["largest"]
    assert len(variants) == 3  # one per metric of the plan, also the signed one
    rows = table_of(variants[0])
    assert {row["metric"] for row in rows} == {"chi_squared"}
    assert [row["class"] for row in rows] == ["c", "b", "a"]  # the largest first
    documents = first_training(results)
    for row in rows:
        words = scored(documents, row["class"])
        for side, sign in (("positive", 1), ("negative", -1)):
            best = max(score for score, _, direction in words.values() if direction == sign)
            assert row[f"{side}_score"] == pytest.approx(best, rel=1e-5)
            assert words[row[f"{side}_term"]][0] == pytest.approx(best)
    assert "The largest scores of positive and of negative terms, classes of small" in facts(page.text)


def test_the_implied_ratios_are_those_of_two_sided_metrics_at_each_size(sided):
    results, corpora = sided
    page = Elements(study_report(results, corpora=corpora))
    (variant,) = page.data["implied"]
    rows = table_of(variant)
    assert {row["metric"] for row in rows} == {"chi_squared", "information_gain"}
    assert {row["size"] for row in rows} == {4, 9}
    assert len(rows) == 3 * 2 * 2
    documents = first_training(results)
    for row in rows:
        if row["metric"] == "chi_squared":
            words = sorted(scored(documents, row["class"]).values(), key=lambda word: (-word[0], -word[1]))
            top = words[: row["size"]]
            # Equal scores at the cut-off may be decided either way by the column.
            if words[row["size"]][:2] != top[-1][:2]:
                assert row["ratio"] == pytest.approx(np.mean([word[2] > 0 for word in top]), rel=1e-5)
    assert 0 < min(row["ratio"] for row in rows) < 1


def test_methods_that_choose_ratios_have_them_too_and_others_do_not(tmp_path, results, folder):
    chosen, corpora = made(RATIOS, tmp_path)
    page = Elements(study_report(chosen, corpora=corpora))
    assert {"largest", "implied"} <= set(page.data)
    (variant,) = page.data["implied"]
    assert {row["metric"] for row in table_of(variant)} == {"bns"}
    rows = Elements(study_report(chosen.frame()))  # recognised by the names of the methods
    assert "and the largest scores and implied ratios of classes are drawn from" in facts(rows.text)
    other = Elements(study_report(results, data=folder))
    assert not {"largest", "implied", "sparsity"} & set(other.data)
    assert "implied ratios" not in facts(other.text)


def test_without_data_one_sentence_names_all_that_is_missing(sided):
    page = Elements(study_report(sided[0]))
    assert not {"largest", "implied", "words"} & set(page.data)
    missing = "The ROC map of words and the largest scores and implied ratios of classes are drawn from"
    text = facts(page.text)
    assert text.count(" drawn from the documents") == text.count(missing) == 1
    assert "corpus 'small' has no path in the plan" in text


def test_only_the_largest_classes_are_scored(sided, monkeypatch):
    results, corpora = sided
    monkeypatch.setattr(planes, "MAX_CLASSES", 2)
    plane = study_plane(results.frame().collect(), results, corpora=corpora)
    assert plane.sources["training"].classes.tolist() == ["c", "b"]
    assert plane.notes == ["Largest scores and implied ratios are those of the 2 largest classes."]


def test_studies_of_sparsities_show_terms_instead_of_sparsity(tmp_path, results):
    methods = 'methods = [{ metric = ["bns", "random"] }, { select = "weight", model = ["svm"] }]'
    spread, corpora = made(methods, tmp_path, "sparsity = [2, 5]")
    rows = spread.frame().collect()
    page = Elements(study_report(spread, corpora=corpora, measure="recall"))
    own = {name: page.data[name][0] for name in ("terms-recall", "selected-sparsity", "sparsity")}
    assert not {"terms-f1", "terms-precision"} & set(page.data)
    lines = own["terms-recall"]["spec"]["datasets"]
    drawn = {(row["method"], row["size"]): row for part in lines.values() for row in part if "method" in row}
    assert {method for method, _ in drawn} == {"bns", "random", "weight(svm, 1)"}
    for (method, size), row in drawn.items():
        mean = rows.filter(pl.col("method") == method, pl.col("size") == size)["n_terms"].mean()
        assert row["n_terms"] == pytest.approx(mean, rel=1e-5)  # as many folds of each problem
    axis = own["terms-recall"]["spec"]["layer"][0]["encoding"]["x"]
    assert axis["title"] == "number of terms"
    assert "values" not in axis["axis"]  # round numbers, not the means
    points = table_of(own["selected-sparsity"])
    found = sorted((row["metric"], row["terms"]) for row in points)
    expected = sorted((method, row["n_terms"]) for (method, _), row in drawn.items())
    assert [method for method, _ in found] == [method for method, _ in expected]
    assert [terms for _, terms in found] == pytest.approx([terms for _, terms in expected], rel=1e-5)
    assert "Recall by number of terms instead of sparsity" in facts(page.text)
    # Of the class that is shown, by the metrics whose scores need only counts.
    documents = first_training(spread)
    curve = table_of(own["sparsity"])
    assert {row["metric"] for row in curve} == {"bns"}
    words = set.union(*(bag for bag, _ in documents))
    assert curve[-1]["terms"] == len(words)
    assert curve[-1]["sparsity"] == pytest.approx(np.mean([len(bag) for bag, _ in documents]), rel=1e-5)
    assert "Sparsity by number of terms, for b of small" in facts(page.text)
    without = Elements(study_report(spread))
    assert {"terms-f1", "selected-sparsity"} <= set(without.data)
    assert "sparsity" not in without.data
    assert "The ROC map of words and the sparsity of every number of terms are drawn from" in facts(
        without.text
    )
    assert not {"terms-f1", "selected-sparsity"} & set(Elements(study_report(results)).data)
