import os
import signal
import socket
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
import polars as pl
import pytest
from tests.generated import in_memory, unicode_corpus

from termsieve import Corpus, Counts, count, term_matrix
from termsieve.counts.shards import read_shards, shard_terms
from termsieve.engines import PrunedWarning
from termsieve.engines import dask as scale
from termsieve.engines.dask import Dask
from termsieve.errors import FormatError, InputError, MissingExtraError, ParameterError, TermsieveError

pytest.importorskip("distributed")


def write_parts(corpus, folder, n_parts=4):
    folder.mkdir(exist_ok=True)
    for i in range(n_parts):
        part = corpus.subset(slice(i, None, n_parts))
        labels = [list(v) if corpus.multilabel else v for v in part.labels.tolist()]
        pl.DataFrame({"text": part.texts, "label": labels}).write_parquet(folder / f"p{i}.parquet")
    return folder


@pytest.mark.parametrize("several", [False, True])
def test_two_processes_give_the_counts_of_one_pass_in_memory(dask_client, tmp_path, several):
    corpus = unicode_corpus(several=several)
    folder = write_parts(corpus, tmp_path / "parts")
    want = in_memory(corpus, True)
    assert count(folder, engine=Dask(dask_client), occurrences=True) == want
    assert count(folder, occurrences=True, workers=2) == want


@pytest.mark.slow
def test_the_command_line_counts_on_a_cluster(dask_client, tmp_path):
    corpus = unicode_corpus()
    files = sorted(str(path) for path in write_parts(corpus, tmp_path / "parts").iterdir())
    out = str(tmp_path / "counts.parquet")
    words = ["count", *files, "-o", out, "--engine", "dask", "--address", dask_client.scheduler.address]
    subprocess.run([sys.executable, "-c", "from termsieve.cli import main; main()", *words], check=True)
    assert Counts.load(out) == in_memory(corpus)


def test_dataframes_and_bags_count_alike(dask_client):
    import dask.bag as db
    import dask.dataframe as dd
    import pandas as pd

    corpus = unicode_corpus()
    rows = {"body": list(corpus.texts), "kind": corpus.labels.tolist(), "other": range(len(corpus))}
    frame = dd.from_pandas(pd.DataFrame(rows), npartitions=3)
    pairs = list(zip(corpus.texts, corpus.labels.tolist(), strict=True))
    dicts = [{"t": text, "l": label} for text, label in pairs]
    want = in_memory(corpus)
    assert count(frame, "body", "kind", engine=Dask(dask_client)) == want
    assert count(db.from_sequence(pairs, npartitions=3), engine=Dask(dask_client)) == want
    assert count(db.from_sequence(dicts, npartitions=3), "t", "l", engine=Dask(dask_client)) == want
    assert count(frame, label="kind", engine="dask") == want


def test_pruning_depends_on_the_partitions_only_and_its_bound_holds(dask_client, tmp_path):
    rng = np.random.default_rng(5)
    share = 1 / np.arange(1, 2001)
    draws = rng.choice(2000, (1200, 12), p=share / share.sum())
    corpus = Corpus([" ".join(f"t{i}" for i in row) for row in draws], rng.choice(["a", "b"], 1200).tolist())
    folder, exact = write_parts(corpus, tmp_path / "parts", 11), in_memory(corpus)
    results = []
    for where in (dask_client, None, dask_client):
        with pytest.warns(PrunedWarning, match="max_terms=150 left out") as caught:
            results.append((count(folder, engine=Dask(where), max_terms=150), caught[0].message.at_most))
        assert caught[0].filename == __file__
    assert results[0] == results[1] == results[2]
    counts, at_most = results[0]
    kept = dict(zip(counts.terms, counts.df.tolist(), strict=True))
    short = [df - kept.get(term, 0) for term, df in zip(exact.terms, exact.df.tolist(), strict=True)]
    assert counts.n_terms == 150
    assert 0 <= min(short) <= max(short) <= at_most < exact.df.max()
    assert count(folder, engine=Dask(dask_client), max_terms=2000) == exact
    with pytest.raises(ParameterError, match="max_terms=0 must be"):
        count(folder, engine=Dask(dask_client), max_terms=0)


def test_a_worker_killed_in_the_middle_changes_nothing(dask_client, tmp_path):
    corpus = unicode_corpus()
    folder, mark = write_parts(corpus, tmp_path / "parts", 6), tmp_path / "killed"

    def tokens(text):
        if not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return text.split()

    options = {"token_pattern": None}
    assert count(folder, engine=Dask(dask_client), tokenizer=tokens, **options) == in_memory(
        corpus, tokenizer=str.split, **options
    )
    assert mark.exists()


def test_shards_written_by_workers_are_the_selected_columns(dask_client, tmp_path):
    corpus = unicode_corpus(several=True)
    folder = write_parts(corpus, tmp_path / "parts")
    X, terms = term_matrix(corpus)
    chosen = [7, 2, 5]
    paths = scale.write_shards(folder, terms[chosen], tmp_path / "out", address=dask_client, rows=30)
    assert len(paths) == 8
    assert shard_terms(tmp_path / "out") == terms[chosen].tolist()
    order = np.concatenate([np.arange(len(corpus))[i::4] for i in range(4)])
    shards = list(read_shards(tmp_path / "out"))
    assert (np.vstack([X.toarray() for X, _ in shards]) == X[order][:, chosen].toarray()).all()
    assert [labels for _, part in shards for labels in part] == corpus.labels[order].tolist()


def test_faults_are_named_whichever_worker_meets_them(dask_client, tmp_path):
    folder = write_parts(unicode_corpus(), tmp_path / "parts")
    (folder / "p2.parquet").write_bytes(b"PAR1 and nothing more")
    with pytest.raises(FormatError, match=r"p2\.parquet"):
        count(folder, engine=Dask(dask_client))
    pl.DataFrame({"text": ["aa"], "label": [None]}, schema_overrides={"label": pl.String}).write_parquet(
        folder / "p2.parquet"
    )
    with pytest.raises(InputError, match=r"p2\.parquet: document 1 has no label"):
        count(folder, engine=Dask(dask_client))
    pl.DataFrame({"text": ["aa"], "label": [3]}).write_parquet(folder / "p2.parquet")
    with pytest.raises(InputError, match="labels are"):
        count(folder, engine=Dask(dask_client))


def test_an_unreachable_scheduler_is_a_named_error(tmp_path, monkeypatch):
    folder = write_parts(unicode_corpus(20), tmp_path / "parts")
    monkeypatch.setattr(scale, "CONNECT_SECONDS", 1)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
        with pytest.raises(InputError, match="no Dask scheduler answers at tcp"):
            count(folder, engine="dask", address=address)


def test_a_worker_that_always_dies_is_a_named_error(dask_client, tmp_path):
    def tokens(text):
        os.kill(os.getpid(), signal.SIGKILL)

    def allow(n_failures):
        dask_client.run_on_scheduler(
            lambda dask_scheduler: setattr(dask_scheduler, "allowed_failures", n_failures)
        )

    folder = write_parts(unicode_corpus(4), tmp_path / "parts", 1)
    allow(0)
    with pytest.raises(TermsieveError, match="workers died again and again"):
        count(folder, engine=Dask(dask_client), tokenizer=tokens, token_pattern=None)
    allow(3)


@pytest.mark.slow
def test_a_cluster_without_workers_and_a_lost_scheduler_are_named_errors(tmp_path):
    from distributed import Client, LocalCluster

    folder = write_parts(unicode_corpus(4), tmp_path / "parts", 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        options = {"host": "127.0.0.1", "dashboard_address": None, "silence_logs": 50}
        with LocalCluster(n_workers=0, **options) as cluster, Client(cluster, set_as_default=False) as empty:
            with pytest.raises(TermsieveError, match="the Dask cluster has no workers"):
                count(folder, engine=Dask(empty))
            cluster.scale(1)
            empty.wait_for_workers(1)
            started = tmp_path / "started"

            def tokens(text):
                started.touch()
                time.sleep(60)

            def lose_the_scheduler():
                while not started.exists():
                    time.sleep(0.05)
                empty.close()

            loser = threading.Thread(target=lose_the_scheduler)
            loser.start()
            with pytest.raises(TermsieveError, match="the Dask scheduler was lost"):
                count(folder, engine=Dask(empty), tokenizer=tokens, token_pattern=None)
            loser.join()


def test_other_sources_and_odd_items_are_named_errors():
    import dask.bag as db

    with pytest.raises(InputError, match="Dask cannot count a list"):
        count([(["aa"], ["x"])], engine="dask")
    with pytest.raises(InputError, match="item 0 of partition 0"):
        count(db.from_sequence(["aa"], npartitions=1), engine="dask")


def test_without_dask_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "dask", None)
    with pytest.raises(MissingExtraError, match=r'pip install "termsieve\[dask\]"'):
        count("x.parquet", engine="dask")
