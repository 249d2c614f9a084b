import numpy as np
import polars as pl
import pytest
from scipy import sparse
from sklearn.linear_model import SGDClassifier

from termsieve import Corpus, term_matrix
from termsieve.counts.shards import read_shards, shard_terms, write_shards
from termsieve.errors import FormatError, InputError, ParameterError


def corpus_of(n_docs=90, several=False):
    rng = np.random.default_rng(2)
    words = np.array(["alpha", "Beta", "größe", "数据", "delta", "running", "runs"])
    texts = [" ".join(rng.choice(words, rng.integers(0, 9))) for _ in range(n_docs)]
    labels = [("x", "y")[: i % 3] if several else "xyz"[i % 3] for i in range(n_docs)]
    return Corpus(texts, labels)


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("rows", [1, 25, 90, 1000])
def test_shards_under_each_other_are_the_columns_of_the_term_matrix(tmp_path, several, rows):
    corpus = corpus_of(several=several)
    X, terms = term_matrix(corpus)
    chosen = [4, 0, 2]
    paths = write_shards(corpus, terms[chosen], tmp_path / "out", rows=rows)
    assert len(paths) == -(-90 // rows)
    shards = list(read_shards(tmp_path / "out"))
    assert (np.vstack([X.toarray() for X, _ in shards]) == X[:, chosen].toarray()).all()
    assert [label for _, labels in shards for label in labels] == corpus.labels.tolist()
    assert shard_terms(tmp_path / "out") == terms[chosen].tolist()
    assert (sparse.load_npz(paths[0]) != shards[0][0]).nnz == 0


def test_files_stems_and_training_from_shards(tmp_path):
    corpus = corpus_of()
    pl.DataFrame({"text": corpus.texts, "label": corpus.labels.tolist()}).write_ndjson(tmp_path / "t.jsonl")
    X, terms = term_matrix(corpus, stem="porter")
    write_shards(tmp_path / "t.jsonl", terms, tmp_path / "out", rows=40, stem="porter")
    model = SGDClassifier(random_state=0)
    for part, labels in read_shards(tmp_path / "out"):
        model.partial_fit(part, labels, classes=["x", "y", "z"])
    whole = SGDClassifier(random_state=0)
    for rows in (slice(0, 40), slice(40, 80), slice(80, 90)):
        whole.partial_fit(X[rows], corpus.labels[rows], classes=["x", "y", "z"])
    assert (model.coef_ == whole.coef_).all()


def test_whole_number_labels_stay_whole_numbers(tmp_path):
    write_shards([(["aa", "bb"], [3, 1]), (["aa"], [2])], ["aa"], tmp_path)
    ((X, labels),) = read_shards(tmp_path)
    assert labels.dtype == np.int64
    assert labels.tolist() == [3, 1, 2]
    assert X.toarray().tolist() == [[1], [0], [1]]


def test_missing_labels_are_refused_or_dropped(tmp_path):
    batches = [(["aa", "bb aa", "aa"], ["x", None, "y"])]
    with pytest.raises(InputError, match="document 2 has no label"):
        write_shards(batches, ["aa"], tmp_path / "a")
    write_shards(batches, ["aa"], tmp_path / "b", missing="drop", rows=2)
    assert [labels.tolist() for _, labels in read_shards(tmp_path / "b")] == [["x", "y"]]


def test_unusable_folders_and_options_are_named_errors(tmp_path):
    with pytest.raises(ParameterError, match="rows=0"):
        write_shards(corpus_of(), ["alpha"], tmp_path, rows=0)
    with pytest.raises(FormatError, match="holds no shards"):
        list(read_shards(tmp_path))
    write_shards(corpus_of(), ["alpha"], tmp_path / "out")
    with pytest.raises(InputError, match="already holds shards"):
        write_shards(corpus_of(), ["alpha"], tmp_path / "out")
    (tmp_path / "out" / "shard-00000.npz").write_bytes(b"damaged")
    with pytest.raises(FormatError, match="no readable shard"):
        list(read_shards(tmp_path / "out"))
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be created"):
        write_shards(corpus_of(), ["alpha"], tmp_path / "file")
