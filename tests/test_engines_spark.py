import functools
import sys

import numpy as np
import polars as pl
import pytest
from tests.generated import in_memory, unicode_corpus

from termsieve import Corpus, count
from termsieve.engines import PrunedWarning
from termsieve.engines import spark as scale
from termsieve.errors import InputError, MissingExtraError

pytest.importorskip("pyspark")

# PySpark itself warns about newer versions of pandas and of Python.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


def write(corpus, path):
    labels = [list(v) if corpus.multilabel else v for v in corpus.labels.tolist()]
    pl.DataFrame({"text": corpus.texts, "label": labels}).write_parquet(path)
    return str(path)


@pytest.mark.parametrize("several", [False, True])
def test_spark_gives_the_counts_of_one_pass_in_memory(spark, tmp_path, several):
    corpus = unicode_corpus(several=several)
    path = write(corpus, tmp_path / "t.parquet")
    frame = spark.read.parquet(path).repartition(5)
    assert count(frame, occurrences=True, engine="spark") == in_memory(corpus, True)
    assert count(path, workers=2, occurrences=True) == in_memory(corpus, True)


def test_columns_of_any_name_null_texts_and_whole_numbers(spark):
    rows = [("aa bb", 2), (None, 1), ("bb", 2), ("cc", None)]
    frame = spark.createDataFrame(rows, "`the.text` string, `a ``label` int")
    counts = count(frame, "the.text", "a `label", missing="drop", stop_words=["cc"], engine="spark")
    assert counts == count([(["aa bb", "", "bb"], [2, 1, 2])])
    assert counts.classes.dtype.kind == "i"


def test_separated_labels(spark):
    frame = spark.createDataFrame([("aa", "x;y"), ("bb", "y")], "text string, label string")
    assert count(frame, separator=";", engine="spark") == count([(["aa", "bb"], [["x", "y"], ["y"]])])


def test_pruning_is_that_of_dask_on_the_same_partitions(spark, tmp_path):
    rng = np.random.default_rng(5)
    share = 1 / np.arange(1, 2001)
    draws = rng.choice(2000, (1200, 12), p=share / share.sum())
    corpus = Corpus([" ".join(f"t{i}" for i in row) for row in draws], rng.choice(["a", "b"], 1200).tolist())
    parts = tmp_path / "parts"
    parts.mkdir()
    files = [write(corpus.subset(slice(i, None, 9)), parts / f"p{i}.parquet") for i in range(9)]
    # A partition of the dataframe for each file, in the order of their names, as Dask takes them.
    read = spark.read.schema("text string, label string")
    frame = functools.reduce(lambda a, b: a.union(b), [read.parquet(path) for path in files])
    with pytest.warns(PrunedWarning, match="max_terms=150 left out") as caught:
        counts = count(frame, max_terms=150, engine="spark")
    with pytest.warns(PrunedWarning) as also:
        assert counts == count(parts, engine="dask", max_terms=150)
    ((n_dropped, at_most),) = {
        (warning.message.n_dropped, warning.message.at_most)
        for warning in [*caught, *also]
        if warning.category is PrunedWarning
    }
    assert n_dropped > 0
    assert 0 < at_most < 1200


def test_what_is_left_for_the_driver_is_merged_alike(spark, tmp_path, monkeypatch):
    corpus = unicode_corpus()
    frame = spark.read.parquet(write(corpus, tmp_path / "t.parquet")).repartition(20)
    monkeypatch.setattr(scale, "ROUNDS", 0)
    assert count(frame, engine="spark") == in_memory(corpus)
    empty = spark.createDataFrame([], "text string, label string")
    with pytest.raises(InputError, match="there are no documents"):
        count(empty, engine="spark")


def test_a_null_label_is_a_named_error(spark):
    frame = spark.createDataFrame([("aa", "x"), ("bb", None)], "text string, label string").coalesce(1)
    with pytest.raises(InputError, match="partition 0: document 2 has no label"):
        count(frame, engine="spark")


def test_wrong_frames_and_columns_are_named_errors(spark):
    with pytest.raises(InputError, match="Spark cannot count a list; give a Spark dataframe"):
        count([("aa", "x")], engine="spark")
    with pytest.raises(InputError, match="no column 'body'"):
        count(spark.createDataFrame([("aa", "x")], "text string, label string"), "body", engine="spark")


def test_selected_terms_become_spark_features(spark):
    from pyspark.ml.feature import CountVectorizerModel, RegexTokenizer

    frame = spark.createDataFrame([("Aa bb aa", "x"), ("bb c", "y")], "text string, label string")
    words = RegexTokenizer(inputCol="text", outputCol="words", gaps=False, pattern=r"(?U)\b\w\w+\b")
    model = CountVectorizerModel.from_vocabulary(["bb", "aa"], inputCol="words", outputCol="features")
    rows = model.transform(words.transform(frame)).select("features").collect()
    assert [row.features.toArray().tolist() for row in rows] == [[1.0, 2.0], [1.0, 0.0]]


def test_without_spark_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(MissingExtraError, match=r'pip install "termsieve\[spark\]"'):
        count(Corpus(["a"], ["x"]), engine="spark")
