import shutil
import sys
import unicodedata
import warnings

import numpy as np
import polars as pl
import pytest

import termsieve
from termsieve import Corpus, Counts, term_matrix
from termsieve.engines.dask import Dask

pytest.importorskip("distributed")
pytest.importorskip("pyspark")

# PySpark itself warns about newer versions of pandas and of Python.
pytestmark = pytest.mark.filterwarnings("ignore")

N_PARTS = 5


def every_letter(n_docs=1000):
    """Return documents of words drawn from all characters there are, in three classes."""
    rng = np.random.default_rng(11)
    every = [c for c in map(chr, range(32, sys.maxunicode)) if unicodedata.category(c) not in ("Cs", "Cn")]
    # Plain letters often enough that words recur, and those whose lower case is not one letter for one.
    alphabet = every + list("abcdeABCDE \n\t.-_'") * 6000 + list("İΣςßẞǅﬁ٣é") * 3000
    letters = np.array(alphabet)
    texts = ["".join(rng.choice(letters, rng.integers(0, 400))) for _ in range(n_docs)]
    return Corpus(texts, rng.choice(["x", "größe", "新"], n_docs).tolist(), name="every letter")


def corpus_named(name, request):
    if name == "every letter":
        return every_letter()
    return termsieve.read(request.getfixturevalue("data_dir") / name)


@pytest.fixture(scope="module")
def client():
    from distributed import Client, LocalCluster

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cluster = LocalCluster(
            n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None, silence_logs=50
        )
        with cluster, Client(cluster, set_as_default=False) as connected:
            yield connected


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    if shutil.which("java") is None:
        pytest.skip("Spark needs java")
    from pyspark.sql import SparkSession

    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
        warnings.simplefilter("ignore")
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        made = (
            SparkSession.builder.master("local[2]")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.ui.enabled", "false")
            .config("spark.sql.shuffle.partitions", "2")
            .config("spark.local.dir", str(tmp_path_factory.mktemp("spark")))
            .getOrCreate()
        )
        made.sparkContext.setLogLevel("OFF")
        yield made
        made.stop()


@pytest.mark.parametrize(
    "name",
    [
        "every letter",
        pytest.param("20_newsgroups", marks=pytest.mark.corpora),
        pytest.param("reuters21578", marks=pytest.mark.corpora),
    ],
)
def test_every_engine_counts_the_whole_corpus_as_memory_does(name, request, client, session, tmp_path):
    corpus = corpus_named(name, request)
    X, terms = term_matrix(corpus)
    want = Counts.from_matrix(X, corpus.labels, terms, True)
    for i in range(N_PARTS):
        part = corpus.subset(slice(i, None, N_PARTS))
        labels = [list(label) if corpus.multilabel else label for label in part.labels.tolist()]
        pl.DataFrame({"text": part.texts, "label": labels}).write_parquet(tmp_path / f"p{i}.parquet")
    for workers in (1, 2):
        assert termsieve.count(tmp_path, workers=workers, occurrences=True) == want
    assert termsieve.count(tmp_path, engine=Dask(client), occurrences=True) == want
    frame = session.read.parquet(str(tmp_path)).repartition(7)
    assert termsieve.count(frame, engine="spark", occurrences=True) == want
