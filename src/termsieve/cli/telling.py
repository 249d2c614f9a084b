"""Counts and a way to rank come in; the rows that `rank` and `compare` print go out."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from termsieve.cli.shell import wrong
from termsieve.counts import Counts
from termsieve.metrics import get_metric
from termsieve.ranking import Ranking, cut, rank
from termsieve.scores import Scores, score


@dataclass(frozen=True)
class Way:
    """How scores become a ranking; the fields are `rank`'s."""

    side: str = "both"
    ratio: float | None = None
    alpha: float | None = None
    combine: str = "max"
    min_df: float = 1
    max_df: float = 1.0

    def ranking(self, counts: Counts, spec: str) -> tuple[Ranking, Scores]:
        """Return the ranking of the problems in `counts`, and the scores it comes from."""
        # As published, the positive side of a one-sided metric is not folded.
        scores = score(counts, spec, fold=self.side != "positive")
        return rank(scores, **vars(self)), scores


def problems(counts: Counts, target: str | None, combine: str = "max") -> Counts:
    """Return the counts of the class named, or of all classes that make a problem of their own."""
    if counts.n_classes < 2 and not counts.multilabel:
        only = f"class {str(counts.classes[0])!r}" if counts.n_classes else "class"
        raise wrong_data(f"there is only one {only}; to tell classes apart takes two")
    if target is not None:
        return counts.take([target])
    return counts if combine == "joint" else counts.take(counts.problems)


def wrong_data(sentence: str) -> Exception:
    """Return the error for documents that pose no problem."""
    from termsieve.errors import InputError

    return InputError(sentence)


def telling_rows(counts: Counts, spec: str, way: Way, **cut_off: Any) -> list[dict[str, Any]]:
    """Return a row for each of the terms that a cut-off keeps: rank, term, score, class, direction, tp, fp.

    The class is the one that the term tells most about, by the same score; tp, fp and direction are of it.
    """
    ranking, scores = way.ranking(counts, spec)
    columns = cut(ranking, **cut_off)
    best = _telling_class(scores, columns, way)
    tp = np.zeros(len(columns), dtype=np.int64)
    signs = np.zeros(len(columns), dtype=np.int64)
    for rows, table, _ in counts.blocks():
        here = (best >= rows.start) & (best < rows.stop)
        tp[here] = table[best[here] - rows.start, columns[here]]
    for rows, _, direction in scores.blocks():
        here = (best >= rows.start) & (best < rows.stop)
        signs[here] = direction[best[here] - rows.start, columns[here]]
    names, df, labels = counts.names(), counts.df, counts.classes
    return [
        {
            "rank": i + 1,
            "term": str(names[column]),
            "score": float(ranking.scores[column]),
            "class": labels[best[i]].item() if hasattr(labels[best[i]], "item") else labels[best[i]],
            "direction": int(signs[i]),
            "tp": int(tp[i]),
            "fp": int(df[column] - tp[i]),
            "pos": int(counts.pos[best[i]]),
            "neg": int(counts.neg[best[i]]),
        }
        for i, column in enumerate(columns.tolist())
    ]


def _telling_class(scores: Scores, columns: Any, way: Way) -> Any:
    """Return for each column the class where it stands highest on the wanted side."""
    best = np.zeros(len(columns), dtype=np.intp)
    top = np.full(len(columns), -np.inf)
    positive_first = way.side == "positive" or way.ratio is not None
    for rows, values, signs in scores.blocks():
        height = np.abs(values[:, columns])
        if positive_first or way.side == "negative":
            wanted = signs[:, columns] == (1 if positive_first else -1)
            # A class on the other side is the second choice, whatever its score.
            height = np.where(wanted, height, -1.0 / (1.0 + height))
        at = height.argmax(axis=0)
        higher = height[at, np.arange(len(columns))] > top
        best[higher] = at[higher] + rows.start
        top[higher] = height[at, np.arange(len(columns))][higher]
    return best


def compared(counts: Counts, specs: list[str], way: Way, k: int) -> dict[str, Any]:
    """Return where metrics agree and differ on the best k terms: `overlap` of each pair and `terms` of any.

    A pair's `shared` is the share of its k terms that both have; a term's ranks are None beyond the ranking.
    """
    names = [str(get_metric(spec)) for spec in specs]
    if len(set(names)) < 2:
        raise wrong("--metrics needs at least two different metrics, such as bns,ig")
    places: dict[str, dict[int, int]] = {}
    for name in dict.fromkeys(names):
        ranking, _ = way.ranking(counts, name)
        cut(ranking, k=k)
        places[name] = {column: i + 1 for i, column in enumerate(ranking.order.tolist())}
    best = {name: {column for column, place in found.items() if place <= k} for name, found in places.items()}
    overlap = [
        {
            "metric": a,
            "other": b,
            "both": len(best[a] & best[b]),
            "shared": len(best[a] & best[b]) / max(1, min(k, len(places[a]), len(places[b]))),
            "correlation": _rank_correlation(places[a], places[b], best[a] | best[b]),
        }
        for a, b in combinations(places, 2)
    ]
    union = set().union(*best.values())
    terms, df = counts.names(), counts.df
    rows: list[dict[str, Any]] = [
        {"term": str(terms[column]), "chosen_by": sum(column in found for found in best.values())}
        | {name: found.get(column) for name, found in places.items()}
        | {"df": int(df[column])}
        for column in union
    ]
    last = len(terms) + 1
    rows.sort(key=lambda row: (-row["chosen_by"], sum(row[name] or last for name in places), row["term"]))
    return {"k": k, "metrics": list(places), "overlap": overlap, "terms": rows}


def _rank_correlation(a: dict[int, int], b: dict[int, int], columns: set[int]) -> float | None:
    """Return Spearman's correlation of two rankings over some columns."""
    shared = sorted(column for column in columns if column in a and column in b)
    if len(shared) < 2:
        return None
    x, y = (np.argsort(np.argsort([ranks[column] for column in shared])) for ranks in (a, b))
    return float(np.corrcoef(x, y)[0, 1])
