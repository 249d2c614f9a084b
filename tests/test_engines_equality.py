import sys
import unicodedata

import numpy as np
import polars as pl
import pytest

import termsieve
from termsieve import Corpus, Counts, term_matrix
from termsieve.engines.dask import Dask

pytest.importorskip("distributed")
pytest.importorskip("pyspark")

# PySpark itself warns about newer versions of pandas and of Python.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

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


@pytest.mark.parametrize(
    "name",
    [
        "every letter",
        pytest.param("20_newsgroups", marks=pytest.mark.corpora),
        pytest.param("reuters21578", marks=pytest.mark.corpora),
    ],
)
def test_every_engine_counts_the_whole_corpus_as_memory_does(name, request, dask_client, spark, tmp_path):
    corpus = corpus_named(name, request)
    X, terms = term_matrix(corpus)
    want = Counts.from_matrix(X, corpus.labels, terms, True)
    for i in range(N_PARTS):
        part = corpus.subset(slice(i, None, N_PARTS))
        labels = [list(label) if corpus.multilabel else label for label in part.labels.tolist()]
        pl.DataFrame({"text": part.texts, "label": labels}).write_parquet(tmp_path / f"p{i}.parquet")
    for workers in (1, 2):
        assert termsieve.count(tmp_path, workers=workers, occurrences=True) == want
    assert termsieve.count(tmp_path, engine=Dask(dask_client), occurrences=True) == want
    frame = spark.read.parquet(str(tmp_path)).repartition(7)
    assert termsieve.count(frame, engine="spark", occurrences=True) == want
