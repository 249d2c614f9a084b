"""Selections come in; how similar they are over folds, and between methods, goes out."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from termsieve.errors import InputError

_RUN = ("corpus", "problem", "method", "learner", "size_kind", "size")
MAX_CELLS = 2**22  # of a table of selections x terms at a time
NOWHERE = np.iinfo(np.int32).max  # the rank of a term that is not in a selection


def jaccard(a: Collection[Any], b: Collection[Any]) -> float:
    """Return the share of the terms in either set that are in both; two empty sets are equal.

    Parameters
    ----------
    a : collection
        A set of terms.
    b : collection
        Another set of terms.

    Returns
    -------
    float
        From 0 (nothing in common) to 1 (equal).

    Examples
    --------
    >>> jaccard({"a", "b"}, {"b", "c"})
    0.3333333333333333
    """
    first, second = set(a), set(b)
    return len(first & second) / len(first | second) if first | second else 1.0


def kuncheva(a: Collection[Any], b: Collection[Any], n_terms: int) -> float | None:
    """Return Kuncheva's consistency index of two selections out of `n_terms`: 1 equal, about 0 by chance.

    For sets of k terms with r in common it is (r n - k^2) / (k (n - k)) (Kuncheva, AIA 2007). For sets of
    different sizes it is Pearson's correlation of "selected", which agrees where sizes are equal (Nogueira
    and Brown, ECML 2016). None where a set is empty or holds every term: nothing was chosen.

    Parameters
    ----------
    a : collection
        A selection.
    b : collection
        Another selection.
    n_terms : int
        Number of terms that both were selected from.

    Returns
    -------
    float or None
        The index.

    Examples
    --------
    >>> kuncheva({1, 2}, {2, 3}, 10)
    0.375
    """
    first, second = set(a), set(b)
    both, k, m = (np.array([len(terms)]) for terms in (first & second, first, second))
    return _mean(_consistency(both, k, m, n_terms))


def _consistency(both: NDArray[Any], k: NDArray[Any], m: NDArray[Any], n: int) -> NDArray[np.float64]:
    """Return Kuncheva's index of pairs of k and m terms with so many in both, where it is defined."""
    if both.size and max(k.max(), m.max()) > n:
        raise InputError(
            f"a selection of {max(k.max(), m.max()):,} terms is larger than the vocabulary of {n:,}"
        )
    chosen = (np.minimum(k, m) > 0) & (np.maximum(k, m) < n)
    both, k, m = (values[chosen].astype(np.float64) for values in (both, k, m))
    return (both * n - k * m) / (np.sqrt(k * (n - k)) * np.sqrt(m * (n - m)))


def fold_stability(
    selections: pl.DataFrame,
    n_terms: int | Mapping[str, int] | None = None,
    sizes: Sequence[float] = (),
) -> pl.DataFrame:
    """Return for each problem, method and size the mean similarity of the selections of trials and folds.

    `jaccard` and, where the size of the vocabulary is known (`n_terms`: a number, or one per corpus),
    `kuncheva` are means over all pairs of the `n_sets` selections; they are null for a single selection.
    `sizes` adds the smaller numbers of terms that a study does not store; see `prefixes`.

    Parameters
    ----------
    selections : polars.DataFrame
        The selections of a study, collected from :meth:`termsieve.Results.selections`.
    n_terms : int or mapping of str to int, optional
        The size of the vocabulary: a number, or one per corpus.
    sizes : sequence of float, default=()
        Smaller numbers of terms to add.

    Returns
    -------
    polars.DataFrame
        One row per problem, method and size.
    """
    missing = [name for name in (*_RUN, "terms") if name not in selections.columns]
    if missing:
        raise InputError(f"the selections lack the column {missing[0]!r}; give them as a study writes them")
    entries = _entries(selections, sizes).sort(_RUN, nulls_last=True, maintain_order=True)
    groups = entries.group_by(list(_RUN), maintain_order=True).agg(n_sets=pl.len().cast(pl.Int64))
    codes, ends = _coded(selections["terms"])
    last = groups["n_sets"].cum_sum()
    places = [np.arange(end - n, end) for end, n in zip(last, groups["n_sets"], strict=True)]
    row, length = entries["row"].to_numpy(), entries["length"].to_numpy()
    found: list[tuple[float | None, float | None]] = []
    # The sizes of a method follow each other, and most are the beginnings of the same selections.
    each = zip(groups["corpus"], places, strict=True)
    for _, alike in groupby(each, lambda group: row[group[1]].tobytes()):
        corpora, own = zip(*alike, strict=True)
        terms = [codes[ends[r] : ends[r + 1]] for r in row[own[0]]]
        for corpus, shared in zip(corpora, _shared(terms, length[np.stack(own)]), strict=True):
            size = n_terms.get(str(corpus)) if isinstance(n_terms, Mapping) else n_terms
            found.append(_similarity(shared, size))
    columns = zip(*found, strict=True) if found else ((), ())
    indices = zip(("jaccard", "kuncheva"), columns, strict=True)
    return groups.with_columns(pl.Series(name, values, dtype=pl.Float64) for name, values in indices)


def _similarity(shared: NDArray[np.int64], n_terms: int | None) -> tuple[float | None, float | None]:
    """Return the mean Jaccard and Kuncheva index over pairs, from the numbers of terms that two share."""
    first, second = _pairs(len(shared))
    both, k, m = shared[first, second], shared.diagonal()[first], shared.diagonal()[second]
    jaccard = _mean(np.where(k + m == 0, 1.0, both / np.maximum(k + m - both, 1)))
    return jaccard, None if n_terms is None else _mean(_consistency(both, k, m, n_terms))


@lru_cache(maxsize=8)
def _pairs(n: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    first, second = np.triu_indices(n, 1)
    return first, second


def prefixes(selections: pl.DataFrame, sizes: Sequence[float]) -> pl.DataFrame:
    """Return the selections and also those of smaller numbers of terms, which a study does not store.

    If nothing was tuned for the size, the best k terms are the first k of a longer selection.

    Parameters
    ----------
    selections : polars.DataFrame
        The selections of a study, collected from :meth:`termsieve.Results.selections`.
    sizes : sequence of float
        The smaller numbers of terms.

    Returns
    -------
    polars.DataFrame
        One row per selection, those of the smaller sizes included.
    """
    entries = _entries(selections, sizes)
    chosen = selections[entries["row"]].with_columns(entries["size"], entries["length"])
    return chosen.with_columns(pl.col("terms").list.head(pl.col("length"))).drop("length")


def _entries(selections: pl.DataFrame, sizes: Sequence[float]) -> pl.DataFrame:
    """Return the keys of `prefixes`, each with the row of its selection and the number of its first terms."""
    own = selections.select(pl.exclude("terms"), length=pl.col("terms").list.len().fill_null(0))
    own = own.with_row_index("row")
    if not sizes:
        return own
    ranked = own.filter((pl.col("size_kind") == "k") & pl.col("ratio").is_null() & pl.col("lam").is_null())
    shorter = [
        ranked.filter(pl.col("size") > size).with_columns(
            size=pl.lit(float(size)), length=pl.col("length").clip(upper_bound=int(size))
        )
        for size in sizes
    ]
    keys = ("corpus", "problem", "trial", "fold", *_RUN[2:])
    return pl.concat([own, *shorter]).unique(keys, keep="first", maintain_order=True)


def overlaps(selections: Mapping[str, Collection[Any]]) -> pl.DataFrame:
    """Return for each pair of selections the number of shared terms and the Jaccard index.

    Parameters
    ----------
    selections : mapping of str to collection
        The selected terms by the name of the selection.

    Returns
    -------
    polars.DataFrame
        One row per pair of selections: first, second, shared, jaccard.
    """
    sets = {name: set(terms) for name, terms in selections.items()}
    rows = [
        {"first": a, "second": b, "shared": len(sets[a] & sets[b]), "jaccard": jaccard(sets[a], sets[b])}
        for a in sets
        for b in sets
    ]
    return pl.DataFrame(
        rows, schema={"first": pl.String, "second": pl.String, "shared": pl.Int64, "jaccard": pl.Float64}
    )


def _coded(terms: pl.Series) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the terms of all selections as small whole numbers, and where each selection begins and ends."""
    ends = np.concatenate([[0], terms.list.len().fill_null(0).to_numpy().cumsum()]).astype(np.int64)
    flat = terms.explode().drop_nulls()
    if not flat.dtype.is_integer():
        flat = flat.cast(pl.String).cast(pl.Categorical).to_physical()
    codes = flat.to_numpy()
    # A study's terms are numbers of columns; other numbers may be of any size.
    if len(codes) and not 0 <= codes.min() <= codes.max() < 2**24:
        codes = np.unique(codes, return_inverse=True)[1]
    return codes, ends


def _shared(selections: Sequence[NDArray[Any]], lengths: NDArray[Any]) -> NDArray[np.int64]:
    """Return, for each row of `lengths`, how many of their first so many terms each two selections share."""
    codes = np.concatenate(selections)
    owner = np.repeat(np.arange(len(selections)), [len(terms) for terms in selections])
    rank = np.concatenate([np.arange(len(terms), dtype=np.int32) for terms in selections])
    known = np.zeros(codes.max(initial=0) + 1, dtype=bool)
    known[codes] = True
    column = np.cumsum(known, dtype=np.int32)[codes] - 1
    shared = np.zeros((len(lengths), len(selections), len(selections)), dtype=np.int64)
    n_columns = int(known.sum())
    width = min(n_columns, MAX_CELLS // len(selections) + 1)
    for first in range(0, n_columns, max(width, 1)):
        inside = slice(None) if n_columns == width else (first <= column) & (column < first + width)
        table = np.full((len(selections), width), NOWHERE, dtype=np.int32)
        places = owner[inside] * width + (column[inside] - first)
        # Backwards, so that a term that is there twice has its first place.
        table.ravel()[places[::-1]] = rank[inside][::-1]
        for out, ends in zip(shared, lengths, strict=True):
            chosen = (table < ends[:, None]).astype(np.float32)  # whole numbers below 2^24 are exact
            out += (chosen @ chosen.T).astype(np.int64)
    return shared


def _mean(values: NDArray[Any]) -> float | None:
    return float(values.mean()) if values.size else None
