"""Counts whose tables nobody has read yet are the same counts."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from termsieve import Counts, count
from termsieve.counts.late import ByTerm
from termsieve.counts.storage import _spelled_column
from termsieve.errors import FormatError

TEXTS = ["cheap pills", "see naïve you you", "cheap cheap größe", "", "日本語 you \U0001f600"]
LABELS = ["spam", "ham", "spam", "ham", "größe"]


def unread(occurrences: bool = False) -> Counts:
    return count([(TEXTS, LABELS)], occurrences=occurrences, token_pattern=r"\S+")


@pytest.mark.parametrize("occurrences", [False, True])
def test_a_file_of_unread_tables_holds_what_the_tables_hold(tmp_path: Path, occurrences: bool) -> None:
    counts, read = unread(occurrences), unread(occurrences)
    assert read.terms is not None
    assert read.by_term is None
    counts.save(tmp_path / "unread.parquet")
    assert counts.by_term is not None  # saving has not read them
    read.save(tmp_path / "read.parquet")
    frames = [pl.read_parquet(tmp_path / f"{name}.parquet") for name in ("unread", "read")]
    assert frames[0].equals(frames[1])
    assert frames[0].schema == frames[1].schema
    assert Counts.load(tmp_path / "unread.parquet") == read == counts


def test_reading_one_table_makes_all() -> None:
    counts = unread(occurrences=True)
    assert "5 documents" in repr(counts)
    assert counts.occurrences
    assert counts.by_term is not None
    assert counts.tp[counts.position("spam"), counts.terms.tolist().index("cheap")] == 2
    assert counts.tf[counts.position("spam"), counts.terms.tolist().index("cheap")] == 3
    assert counts.by_term is None


def test_what_is_changed_in_a_table_is_saved(tmp_path: Path) -> None:
    counts = unread()
    counts.tp[counts.position("spam"), counts.terms.tolist().index("cheap")] = 1
    counts.save(tmp_path / "changed.parquet")
    assert np.array_equal(Counts.load(tmp_path / "changed.parquet").tp, counts.tp)
    assert not np.array_equal(counts.tp, unread().tp)


def test_pickled_and_replaced_counts_are_equal() -> None:
    assert pickle.loads(pickle.dumps(unread())) == unread()
    assert unread().replace(classes=["x", "y", "z"]).terms.tolist() == unread().terms.tolist()


def test_threads_that_read_at_once_see_the_same_table() -> None:
    for _ in range(50):
        counts = unread()
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(lambda name, own=counts: getattr(own, name), ["terms", "tp"] * 8))
        assert all(np.array_equal(table, found[i % 2]) for i, table in enumerate(found))


def test_a_term_with_a_lone_surrogate_is_saved_as_bytes(tmp_path: Path) -> None:
    counts = count([(["a\ud800b c", "c"], ["x", "y"])], token_pattern=r"\S+")
    counts.save(tmp_path / "c.parquet")
    assert pl.read_parquet(tmp_path / "c.parquet")["term"].dtype == pl.Binary
    assert Counts.load(tmp_path / "c.parquet").terms.tolist() == ["a\ud800b", "c"]


@pytest.mark.parametrize(
    ("raw", "ends"), [(b"a\xffb", [1, 3]), ("aä".encode(), [2, 3]), ("äa".encode(), [1, 3])]
)
def test_terms_that_are_no_text_are_refused(raw: bytes, ends: list[int]) -> None:
    held = ByTerm(np.frombuffer(raw, dtype=np.uint8), np.array(ends), unread().by_term.tp)
    with pytest.raises(FormatError, match="not valid text"):
        _spelled_column(held)
