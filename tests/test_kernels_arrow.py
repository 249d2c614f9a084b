"""Columns of arrays beside polars' and pyarrow's own columns of the same values."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import polars as pl
import pytest
from termsieve.kernels.arrow import Column

ENDS = np.array([0, 2, 2, 5], dtype=np.int64)


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float64])
def test_lists_are_cut_at_the_ends(dtype: type) -> None:
    values = np.array([3, -1, 0, 7, 9], dtype=dtype)
    series = pl.Series(Column(values, ENDS))
    assert series.to_list() == [[3, -1], [], [0, 7, 9]]
    assert series.dtype == pl.List(pl.Series(values).dtype)


def test_texts_and_bytes() -> None:
    raw = np.frombuffer("äße".encode(), dtype=np.uint8)
    assert pl.Series(Column(raw, ENDS)).to_list() == ["ä", "", "ße"]
    surrogate = np.frombuffer("a\ud800b".encode("utf-8", "surrogatepass"), dtype=np.uint8)
    cut = np.array([0, 1, 4, 5], dtype=np.int64)
    assert pl.Series(Column(surrogate, cut, texts=False)).to_list() == [b"a", b"\xed\xa0\x80", b"b"]


def test_numbers_and_nothing() -> None:
    assert pl.Series(Column(np.array([5, 6]))).to_list() == [5, 6]
    assert pl.Series(Column(np.zeros(0, np.int32), np.zeros(1, np.int64))).to_list() == []


def test_pyarrow_reads_the_same() -> None:
    pa = pytest.importorskip("pyarrow")
    column = pa.array(Column(np.arange(5, dtype=np.int32), ENDS))
    column.validate(full=True)
    assert column.to_pylist() == [[0, 1], [], [2, 3, 4]]


def test_whoever_reads_the_column_keeps_its_arrays() -> None:
    values = np.arange(5)
    alive = weakref.ref(values)
    series = pl.Series(Column(values, ENDS))
    del values
    gc.collect()
    assert series.to_list() == [[0, 1], [], [2, 3, 4]]
    assert alive() is not None
    del series
    gc.collect()
    assert alive() is None


def test_unread_capsules_free_what_they_hold() -> None:
    values = np.arange(5)
    alive = weakref.ref(values)
    capsules = Column(values, ENDS).__arrow_c_array__()
    del values
    assert alive() is not None
    del capsules
    gc.collect()
    assert alive() is None


@pytest.mark.parametrize("ends", [[], [1, 5], [0, 3, 2, 5], [0, 4], [0, 6], [0, -1, 5]])
def test_ends_that_do_not_fit_are_refused(ends: list[int]) -> None:
    with pytest.raises(ValueError, match="the ends do not fit the values"):
        Column(np.arange(5), np.array(ends, dtype=np.int64))


def test_arrays_with_gaps_and_other_types_are_refused() -> None:
    with pytest.raises(ValueError, match="without gaps"):
        Column(np.arange(10)[::2])
    with pytest.raises(KeyError):
        Column(np.arange(5, dtype=np.int16))
