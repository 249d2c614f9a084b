import gc
import io
import os
import signal
import subprocess
import sys
import threading
from collections import Counter as Bag
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from termsieve.kernels.streaming import CellTable, cut_terms, merged_terms

from termsieve import Corpus, Counts, count, term_matrix
from termsieve.counts import counter, sources, stream, tally
from termsieve.counts.tally import Tally, joined, merged
from termsieve.engines import PrunedWarning, threads
from termsieve.errors import FormatError, InputError, ParameterError

WORDS = [
    "alpha",
    "beta",
    "Gamma",
    "größe",
    "ΣΊΣΥΦΟΣ",
    "слово",
    "İstanbul",
    "数据",
    "naïve",
    "x1",
    "é́",
    "𝒳𝒴",
    "zeta",
]


def in_memory(corpus, occurrences=False, **options):
    X, terms = term_matrix(corpus, **options)
    return Counts.from_matrix(X, corpus.labels, terms, occurrences)


def unicode_corpus(n_docs=400, several=False, seed=0):
    rng = np.random.default_rng(seed)
    words = WORDS + [f"{a}{b}" for a in WORDS for b in "aÉ7ж"]
    texts = [" ".join(rng.choice(words, rng.integers(0, 20))) for _ in range(n_docs)]
    names = np.array(["spam", "ham", "größe", "新"])
    if several:
        labels = [tuple(names[rng.random(4) < 0.4].tolist()) for _ in range(n_docs)]
    else:
        labels = rng.choice(names, n_docs).tolist()
    return Corpus(texts, labels)


def write(corpus, path, kind="parquet"):
    labels = corpus.labels.tolist()
    frame = pl.DataFrame(
        {"text": list(corpus.texts), "label": [list(v) for v in labels] if corpus.multilabel else labels}
    )
    getattr(frame, {"parquet": "write_parquet", "jsonl": "write_ndjson", "csv": "write_csv"}[kind])(path)
    return str(path)


def in_parts(corpus, folder, n_parts=3):
    bounds = np.linspace(0, len(corpus), n_parts + 1).astype(int)
    spans = list(pairwise(bounds))
    return [write(corpus.subset(slice(a, b)), folder / f"p{i}.parquet") for i, (a, b) in enumerate(spans)]


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("occurrences", [False, True])
@pytest.mark.parametrize("workers", [1, 2, 5])
def test_a_corpus_gives_the_counts_of_its_term_matrix(several, occurrences, workers, monkeypatch):
    monkeypatch.setattr(sources, "BATCH_DOCUMENTS", 37)
    corpus = unicode_corpus(several=several)
    assert count(corpus, workers=workers, occurrences=occurrences) == in_memory(corpus, occurrences)


@pytest.mark.parametrize(
    "options",
    [
        {"stem": "porter"},
        {"ngram_range": (1, 2)},
        {"analyzer": "char_wb", "ngram_range": (2, 3)},
        {"lowercase": False, "stop_words": ["alpha", "beta"]},
        {"strip_accents": "unicode"},
        {"tokenizer": str.split, "token_pattern": None},
    ],
)
def test_every_term_option_counts_as_in_memory(options, monkeypatch):
    monkeypatch.setattr(sources, "BATCH_DOCUMENTS", 40)
    corpus = unicode_corpus()
    assert count(corpus, workers=3, occurrences=True, **options) == in_memory(corpus, True, **options)


def test_stems_that_meet_in_a_document_count_once():
    counts = count([(["running runs", "run"], ["a", "b"])], occurrences=True, stem="porter")
    assert counts.terms.tolist() == ["run"]
    assert counts.df.tolist() == [2]
    assert counts.tf.tolist() == [[2], [1]]
    assert counts.squares.tolist() == [5]


@pytest.mark.parametrize("kind", ["parquet", "jsonl", "csv"])
def test_files_of_every_kind_give_the_same_counts(tmp_path, kind):
    corpus = unicode_corpus()
    path = write(corpus, tmp_path / f"t.{kind}", kind)
    assert count(path, workers=2) == in_memory(corpus)


def test_many_files_lists_and_separated_labels(tmp_path):
    corpus = unicode_corpus(several=True)
    in_parts(corpus, tmp_path)
    assert count(str(tmp_path / "*.parquet"), "text", "label") == in_memory(corpus)
    rows = {"body": list(corpus.texts), "tags": [";".join(labels) for labels in corpus.labels]}
    pl.DataFrame(rows).write_csv(tmp_path / "flat.csv", quote_style="always")
    # An empty cell of a CSV file is a missing label, not an empty list.
    labelled = corpus.subset([i for i, labels in enumerate(corpus.labels) if labels])
    assert count(tmp_path / "flat.csv", separator=";", missing="drop") == in_memory(labelled)


@pytest.mark.parametrize("labels", [[3, 1, 3], [True, False, True], [2.0, 1.0, 2.0]])
def test_labels_keep_the_type_a_corpus_gives_them(labels):
    texts = ["aa bb", "bb", "cc"]
    counts = count([(texts, labels)])
    assert counts == in_memory(Corpus(texts, labels))
    assert counts.classes.dtype.kind == in_memory(Corpus(texts, labels)).classes.dtype.kind


def test_a_corpus_with_a_matrix_is_counted_as_it_is():
    corpus = Corpus(matrix=[[1, 0], [2, 1]], labels=["a", "b"], terms=["z", "a"])
    assert count(corpus, occurrences=True).terms.tolist() == ["z", "a"]


def reference_cells(rows, classes):
    docs, sums = Bag(), Bag()
    for row, labels in zip(rows, classes, strict=True):
        for c in labels:
            for term, n in row.items():
                docs[term, c] += 1
                sums[term, c] += n
    return dict(docs), dict(sums)


documents = st.lists(
    st.tuples(
        st.dictionaries(st.integers(0, 30) | st.integers(0, 300), st.integers(1, 5), max_size=12),
        st.sets(
            st.integers(0, 5) | st.integers(0, 9).map(lambda i: 64 * i) | st.integers(0, 700), max_size=40
        ),
    ),
    min_size=1,
    max_size=40,
)


def table_of(documents, occurrences):
    table = CellTable(occurrences)
    for start in range(0, len(documents), 7):
        part = documents[start : start + 7]
        indptr = np.cumsum([0] + [len(row) for row, _ in part])
        ids = np.array([t for row, _ in part for t in row], np.int32)
        numbers = np.array([n for row, _ in part for n in row.values()], np.int32)
        class_ptr = np.cumsum([0] + [len(labels) for _, labels in part])
        classes = np.array([c for _, labels in part for c in labels], np.int32)
        table.add(indptr, ids, numbers, class_ptr, classes, 301)
    return table


def check_cells(table, documents, occurrences, order, column):
    indptr, indices, docs, sums, totals = table.table(order, column)
    terms = np.repeat(order, np.diff(indptr))
    classes = np.argsort(column)[indices]
    want_docs, want_sums = reference_cells([row for row, _ in documents], [c for _, c in documents])
    keys = list(zip(terms.tolist(), classes.tolist(), strict=True))
    assert dict(zip(keys, docs.tolist(), strict=True)) == want_docs
    assert all((np.diff(indices[a:b]) > 0).all() for a, b in pairwise(indptr))
    excess, total, squares = table.columns(order)
    every = [row for row, _ in documents]
    df = totals if excess is None else totals - excess
    assert df.tolist() == [sum(t in row for row in every) for t in order]
    if occurrences:
        assert dict(zip(keys, sums.tolist(), strict=True)) == want_sums
        assert total.tolist() == [sum(row.get(t, 0) for row in every) for t in order]
        assert squares.tolist() == [sum(row.get(t, 0) ** 2 for row in every) for t in order]
    else:
        assert (sums, total, squares) == (None, None, None)


@settings(max_examples=40)
@given(documents, st.booleans(), st.randoms(use_true_random=False))
def test_cells_equal_a_loop_in_any_order_of_terms_and_classes(documents, occurrences, random):
    order, column = np.arange(301), np.arange(701, dtype=np.int32)
    random.shuffle(order)
    random.shuffle(column)
    table = table_of(documents, occurrences)
    check_cells(table, documents, occurrences, order, column)


@settings(max_examples=40)
@given(documents, documents, st.booleans())
def test_a_table_absorbs_another_under_its_own_numbers(mine, theirs, occurrences):
    renumbered = [({300 - t: n for t, n in row.items()}, labels) for row, labels in theirs]
    table = table_of(mine, occurrences)
    table.absorb(table_of(renumbered, occurrences), np.arange(300, -1, -1, dtype=np.int32))
    check_cells(table, mine + theirs, occurrences, np.arange(301), np.arange(701, dtype=np.int32))


words = st.sets(st.text(min_size=1, max_size=12), max_size=30)


@settings(deadline=None)
@given(words, words)
def test_merged_terms_are_the_sorted_union(a, b):
    def packed(terms):
        return tally.spelled(sorted(terms))

    data, ends, at_a, at_b = merged_terms(*packed(a), *packed(b))
    both, starts = sorted(a | b), [0, *ends.tolist()][: len(ends)]
    cut = [data.tobytes()[s:e].decode("utf-8", "surrogatepass") for s, e in zip(starts, ends, strict=True)]
    assert cut == both == cut_terms(data, ends)
    assert [both[i] for i in at_a] == sorted(a)
    assert [both[i] for i in at_b] == sorted(b)


@pytest.mark.parametrize("pattern", [r"\S+", r"(?u)\b\w\w+\b"])
def test_terms_with_nul_and_surrogates_survive(pattern):
    corpus = Corpus(["a\0b \0 \ud800x é\0", "\0 𝒳 \0\0", "plain é"], ["x", "y", "x"])
    assert count(corpus, token_pattern=pattern) == in_memory(corpus, token_pattern=pattern)


def tally_of(corpus):
    return stream.tally_of(sources.Source(corpus), counter.analysis_of({}), occurrences=True).tally


@pytest.mark.parametrize("several", [False, True])
def test_tallies_of_parts_merge_to_that_of_the_whole_and_travel_as_bytes(several):
    corpus = unicode_corpus(several=several)
    parts = [tally_of(corpus.subset(slice(i, None, 5))) for i in range(5)]
    whole = merged(Tally.from_bytes(part.to_bytes()) for part in parts)
    assert whole.counts() == in_memory(corpus, True)
    assert parts[0].counts() + parts[1].counts() == (parts[0] + parts[1]).counts()


def test_a_counter_holds_no_more_documents_than_it_can(monkeypatch):
    corpus = unicode_corpus()
    monkeypatch.setattr(stream, "PIECE_DOCUMENTS", 130)
    assert count(corpus, workers=2, occurrences=True) == in_memory(corpus, True)
    assert tally_of(corpus).counts() == in_memory(corpus, True)


def test_pieces_do_not_change_exact_counts(monkeypatch, tmp_path):
    corpus = unicode_corpus()
    in_parts(corpus, tmp_path)
    monkeypatch.setattr(stream, "PIECE_CHARACTERS", 3000)
    monkeypatch.setattr(stream, "PIECE_LEAST", 100)
    monkeypatch.setattr(threads, "SAVE_SECONDS", 0)
    assert count(tmp_path, checkpoint=tmp_path / "run.npz", workers=2) == in_memory(corpus)
    assert count(tmp_path, checkpoint=tmp_path / "run.npz", workers=2) == in_memory(corpus)


def zipfian(n_docs=3000, n_terms=4000, seed=3):
    rng = np.random.default_rng(seed)
    share = 1 / np.arange(1, n_terms + 1)
    draws = rng.choice(n_terms, (n_docs, 12), p=share / share.sum())
    return Corpus(
        [" ".join(f"t{i:04d}" for i in row) for row in draws], rng.choice(["a", "b"], n_docs).tolist()
    )


def test_pruning_is_the_same_for_any_workers_and_its_bound_holds(monkeypatch):
    corpus, exact = zipfian(), in_memory(zipfian())
    monkeypatch.setattr(stream, "PIECE_CHARACTERS", 20_000)
    results = []
    for workers, batch in ((1, 20_000), (2, 20_000), (2, 71)):
        monkeypatch.setattr(sources, "BATCH_DOCUMENTS", batch)
        with pytest.warns(PrunedWarning, match="max_terms=300 left out") as caught:
            results.append(count(corpus, max_terms=300, workers=workers))
    assert results[0] == results[1] == results[2]
    assert results[0].n_terms == 300
    warning = caught[0].message
    kept = dict(zip(results[0].terms, results[0].df.tolist(), strict=True))
    assert 0 < warning.at_most < exact.df.max()
    for term, df in zip(exact.terms, exact.df.tolist(), strict=True):
        assert df - kept.get(term, 0) <= warning.at_most
    # The frequent terms were never in doubt.
    assert all(kept[term] == df for term, df in zip(exact.terms, exact.df, strict=True) if df > 200)


def test_pruned_parts_join_alike_in_any_order_and_the_bound_holds():
    corpus, exact = zipfian(), in_memory(zipfian())
    analysis = counter.analysis_of({})
    rng = np.random.default_rng(0)
    parts = [
        stream.tally_of(sources.Source(corpus.subset(slice(i, None, 6))), analysis, False, 300)
        for i in range(6)
    ]
    assert all(part.tally.n_terms == 300 and part.n_dropped > 0 for part in parts)
    sums = [joined([parts[i] for i in rng.permutation(6)], 300) for _ in range(3)]
    assert all(one.tally.counts() == sums[0].tally.counts() and one[1:] == sums[0][1:] for one in sums)
    kept = dict(zip(sums[0].tally.terms(), sums[0].tally.df.tolist(), strict=True))
    short = [df - kept.get(term, 0) for term, df in zip(exact.terms, exact.df.tolist(), strict=True)]
    assert 0 <= min(short) <= max(short) <= sums[0].at_most < exact.df.max()


def test_enough_max_terms_prunes_nothing():
    corpus = unicode_corpus()
    assert count(corpus, max_terms=10_000) == in_memory(corpus)


KILLED = """
import os, signal, sys
from termsieve import count
from termsieve.counts import sources
from termsieve.engines import threads
from termsieve.counts import stream
stream.PIECE_CHARACTERS, stream.PIECE_LEAST, threads.SAVE_SECONDS = 3000, 100, 0
sources.BATCH_DOCUMENTS = 25
def progress(n_docs):
    if n_docs > int(sys.argv[3]):
        os.kill(os.getpid(), signal.SIGKILL)
count(sys.argv[1], checkpoint=sys.argv[2], workers=2, progress=progress)
"""


@pytest.mark.slow
def test_a_killed_run_goes_on_and_ends_with_the_same_counts(tmp_path):
    corpus = unicode_corpus(800)
    in_parts(corpus, tmp_path)
    saved = tmp_path / "run.npz"
    for n_docs in ("300", "600"):
        done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path), str(saved), n_docs], check=False)
        assert done.returncode == -signal.SIGKILL
    seen = []
    assert count(tmp_path, checkpoint=saved, progress=seen.append) == in_memory(corpus)
    assert seen[0] > 300


@pytest.mark.parametrize("ahead", [1, 8])
def test_files_read_ahead_give_the_same_file_of_counts_for_any_workers(tmp_path, monkeypatch, ahead):
    monkeypatch.setattr(sources, "BATCH_DOCUMENTS", 10)
    monkeypatch.setattr(stream, "READ_AHEAD", ahead)
    corpus = unicode_corpus(300, several=True)
    paths = in_parts(corpus, tmp_path)
    saved = []
    for workers in (1, 2, 3, 5):
        counts = count(paths, workers=workers, occurrences=True)
        assert counts == in_memory(corpus, True)
        counts.save(tmp_path / "counts")
        saved.append((tmp_path / "counts").read_bytes())
    assert len(set(saved)) == 1


@pytest.mark.parametrize("workers", [2, 3])
def test_a_fault_while_files_are_read_ahead_is_one_sentence_and_leaves_no_thread(
    tmp_path, monkeypatch, workers
):
    monkeypatch.setattr(sources, "BATCH_DOCUMENTS", 10)
    paths = in_parts(unicode_corpus(300), tmp_path)
    before = set(threading.enumerate())

    def tokens(text):
        raise InputError("no tokens today")

    with pytest.raises(InputError, match="no tokens today"):
        count(paths, tokenizer=tokens, token_pattern=None, workers=workers)
    Path(paths[2]).write_bytes(b"PAR1" + bytes(500))
    with pytest.raises(FormatError, match=r"^\S*p2\.parquet is no readable Parquet file: [^\n]*$"):
        count(paths, workers=workers)
    gc.collect()
    assert set(threading.enumerate()) <= before


def test_what_was_counted_before_a_damaged_file_is_not_lost(tmp_path, monkeypatch):
    corpus = unicode_corpus(300)
    paths = in_parts(corpus, tmp_path)
    whole = Path(paths[1]).read_bytes()
    for damage in (whole[:200], whole[:400] + b"\0" * 600 + whole[1000:]):
        saved = tmp_path / f"run{len(damage)}.npz"
        Path(paths[1]).write_bytes(damage)
        with pytest.raises(FormatError, match=r"p1\.parquet is no readable Parquet"):
            count(paths, checkpoint=saved)
        Path(paths[1]).write_bytes(whole)
        seen = []
        assert count(paths, checkpoint=saved, progress=seen.append) == in_memory(corpus)
        assert seen[0] == 200


def test_a_file_mended_after_part_of_it_was_counted_is_counted_anew(tmp_path, monkeypatch):
    corpus = unicode_corpus(300)
    paths = in_parts(corpus, tmp_path)
    frame = pl.read_parquet(paths[1])
    spoilt = frame.with_row_index().select(
        "text", pl.when(pl.col("index") != 70).then(pl.col("label")).alias("label")
    )
    spoilt.write_parquet(paths[1])
    monkeypatch.setattr(stream, "PIECE_CHARACTERS", 1500)
    monkeypatch.setattr(stream, "PIECE_LEAST", 100)
    monkeypatch.setattr(threads, "SAVE_SECONDS", 0)
    monkeypatch.setattr(sources, "BATCH_DOCUMENTS", 10)
    saved = tmp_path / "run.npz"
    with pytest.raises(InputError, match=r"p1\.parquet: document 71 has no label"):
        count(paths, checkpoint=saved)
    frame.write_parquet(paths[1])
    seen = []
    assert count(paths, checkpoint=saved, progress=seen.append) == in_memory(corpus)
    assert seen[0] == 110


def test_a_checkpoint_of_another_count_is_refused(tmp_path):
    corpus = unicode_corpus(50)
    paths, saved = in_parts(corpus, tmp_path, 2), tmp_path / "run.npz"
    count(paths, checkpoint=saved)
    with pytest.raises(InputError, match="count with occurrences=False, not True"):
        count(paths, checkpoint=saved, occurrences=True)
    with pytest.raises(InputError, match="other files"):
        count(paths[:1], checkpoint=saved)
    with pytest.raises(InputError, match="belongs to a count with lowercase"):
        count(paths, checkpoint=saved, lowercase=False)
    os.utime(paths[0], (1, 1))
    with pytest.raises(InputError, match=r"p0\.parquet has changed"):
        count(paths, checkpoint=saved)
    saved.write_bytes(b"PK nonsense")
    with pytest.raises(FormatError, match=r"run\.npz is not a checkpoint"):
        count(paths, checkpoint=saved)
    with pytest.raises(ParameterError, match="for files"):
        count(corpus, checkpoint=saved)


def test_files_that_differ_in_schema_are_named(tmp_path):
    pl.DataFrame({"text": ["aa"], "label": ["x"]}).write_parquet(tmp_path / "a.parquet")
    pl.DataFrame({"text": ["aa"], "label": [1]}).write_parquet(tmp_path / "b.parquet")
    with pytest.raises(InputError, match=r"b\.parquet: the labels are int here but str before"):
        count(tmp_path)
    pl.DataFrame({"text": ["aa"], "label": [["x"]]}).write_parquet(tmp_path / "b.parquet")
    with pytest.raises(InputError, match=r"b\.parquet: the labels are lists of str here but str before"):
        count(tmp_path)
    pl.DataFrame({"text": ["aa"], "topic": ["x"]}).write_parquet(tmp_path / "b.parquet")
    with pytest.raises(InputError, match=r"b\.parquet has no column 'label'"):
        count(tmp_path)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (3, "a int cannot be counted"),
        ([(["aa"], ["x", "y"])], "1 texts came with 2 labels"),
        ([("aa", ["x"])], "must be lists, not a str"),
        ([["aa"]], "each batch must be a pair"),
        ([(["aa", "bb"], ["x", None])], "document 2 has no label"),
        ([(["aa"], ["x"]), (["bb"], [1])], "labels are int here but str before"),
        ([(["aa", "b"], ["x", 1])], "mix different types"),
        ([(["aa", "b"], ["x", ["y"]])], "others a list"),
        ([(["aa"], [0.5])], "fraction"),
        ([([7], ["x"])], "must be a str"),
        (iter([]), "no documents"),
        ([(["a", "!"], ["x", "y"])], "none of the 2 documents has a term"),
    ],
)
def test_unusable_sources_are_named_errors(source, message):
    with pytest.raises(InputError, match=message):
        count(source)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"workers": 0}, "workers=0 must be"),
        ({"max_terms": 1.5}, "max_terms=1.5 must be"),
        ({"lower_case": True}, "option 'lower_case' is unknown; did you mean 'lowercase'"),
        ({"min_df": 3}, "min_df does not apply to counting"),
        ({"missing": "skip"}, "missing='skip'"),
        ({"separator": ""}, "separator=''"),
    ],
)
def test_unusable_options_are_named_errors(options, message):
    with pytest.raises(ParameterError, match=message):
        count([(["aa"], ["x"])], **options)


def test_missing_labels_are_left_out_on_request():
    batches = [(["aa bb", "bb", "cc"], ["x", None, "y"]), (["aa"], [float("nan")])]
    assert count(batches, missing="drop") == count([(["aa bb", "cc"], ["x", "y"])])


def test_progress_is_shown_on_stderr(capsys):
    count(unicode_corpus(20), progress=True)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("workers", [1, 2])
def test_an_interrupt_stops_the_workers_and_keeps_what_was_counted(tmp_path, monkeypatch, workers):
    corpus = unicode_corpus(600)
    paths, saved = in_parts(corpus, tmp_path), tmp_path / "run.npz"
    monkeypatch.setattr(stream, "PIECE_LEAST", 1)
    monkeypatch.setattr(sources, "BATCH_DOCUMENTS", 50)
    calls = []

    def interrupt(n_docs):
        calls.append(n_docs)
        if n_docs > 400:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        count(paths, checkpoint=saved, workers=workers, progress=interrupt)
    assert len(calls) == 9
    seen = []
    assert count(paths, checkpoint=saved, progress=seen.append) == in_memory(corpus)
    assert seen[0] == 450


def test_a_fault_in_a_callers_function_surfaces_and_stops_the_workers():
    def tokens(text):
        raise RuntimeError("broken tokenizer")

    with pytest.raises(RuntimeError, match="broken tokenizer"):
        count(unicode_corpus(50), tokenizer=tokens, token_pattern=None, workers=2)


def test_a_pipe_is_counted_while_it_is_read():
    row = b'{"text": "%s", "label": "spam"}\n' % (b"cheap pills " * 20_000)
    content, seen = row * 200, []  # 48 MB, where a batch is 16

    class Pipe(io.BytesIO):
        def seekable(self):
            return False

    pipe = Pipe(content)
    counts = count(pipe, workers=1, progress=lambda n_docs: seen.append((n_docs, pipe.tell())))
    assert counts.df.tolist() == [200, 200]
    assert seen[0][0] < 100
    assert seen[0][1] < len(content) // 2
    with pytest.raises(ParameterError, match="what comes through a pipe"):
        count(Pipe(content[:300_000]), checkpoint="run.npz")


def test_json_lines_of_an_open_file_are_counted_as_those_of_a_path(tmp_path):
    corpus = unicode_corpus()
    path = write(corpus, tmp_path / "t.jsonl", "jsonl")
    with open(path, "rb") as file:
        assert count(file, occurrences=True) == count(path, occurrences=True)
    assert count(io.BytesIO(b'{"body": "aa", "kind": "x"}\n'), "body", "kind").terms.tolist() == ["aa"]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "standard input is empty"),
        (b'{"text": "aa", "label": "x"}\n{"text"\n', "standard input, line 2: not a JSON object"),
        (b'{"text": "aa", "label": "x"}\n\n{"text": "bb"}\n', "standard input: document 2 has no label"),
        (b'{"text": "aa"}\n', "standard input: which column is the label"),
        (b'{"text": "aa", "label": "x"}\n\xff\n', "standard input, after line .*: not valid utf-8"),
    ],
)
def test_faults_in_a_pipe_are_named(content, sentence):
    with pytest.raises((FormatError, InputError), match=sentence):
        count(io.BytesIO(content))
