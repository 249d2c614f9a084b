"""Selections come in; how similar they are over folds, and between methods, goes out."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from termsieve import sparse
from termsieve.errors import InputError

_RUN = ("corpus", "problem", "method", "learner", "size_kind", "size")


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
    selections = prefixes(selections, sizes) if sizes else selections
    coded = selections.with_columns(
        terms=pl.col("terms").cast(pl.List(pl.String)).cast(pl.List(pl.Categorical))
    )
    rows = []
    for key, part in coded.sort(_RUN, nulls_last=True).group_by(list(_RUN), maintain_order=True):
        row = dict(zip(_RUN, key, strict=True))
        size = n_terms.get(str(row["corpus"])) if isinstance(n_terms, Mapping) else n_terms
        shared = _shared(part["terms"])
        first, second = np.triu_indices(len(shared), 1)
        both, k, m = shared[first, second], shared.diagonal()[first], shared.diagonal()[second]
        rows.append(
            row
            | {
                "n_sets": len(shared),
                "jaccard": _mean(np.where(k + m == 0, 1.0, both / np.maximum(k + m - both, 1))),
                "kuncheva": None if size is None else _mean(_consistency(both, k, m, size)),
            }
        )
    schema = {name: selections.schema[name] for name in _RUN}
    return pl.DataFrame(
        rows, schema=schema | {"n_sets": pl.Int64, "jaccard": pl.Float64, "kuncheva": pl.Float64}
    )


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
    ranked = selections.filter(
        (pl.col("size_kind") == "k") & pl.col("ratio").is_null() & pl.col("lam").is_null()
    )
    shorter = [
        ranked.filter(pl.col("size") > size).with_columns(
            size=pl.lit(float(size)), terms=pl.col("terms").list.head(int(size))
        )
        for size in sizes
    ]
    keys = ("corpus", "problem", "trial", "fold", *_RUN[2:])
    return pl.concat([selections, *shorter]).unique(keys, keep="first", maintain_order=True)


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


def _shared(terms: pl.Series) -> NDArray[np.int64]:
    """Return how many terms each two of the selections have in common."""
    ends = terms.list.len().to_numpy().cumsum()
    codes = terms.explode().drop_nulls().to_physical().to_numpy().astype(np.int64)
    rows = np.searchsorted(ends, np.arange(len(codes)), side="right")
    chosen = sparse.csr_array(
        (np.ones(len(codes), np.int64), (rows, codes)), shape=(len(ends), codes.max(initial=0) + 1)
    )
    chosen.sum_duplicates()
    chosen.data[:] = 1
    return (chosen @ chosen.T).toarray()


def _mean(values: NDArray[Any]) -> float | None:
    return float(values.mean()) if values.size else None
