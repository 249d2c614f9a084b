"""Result rows come in; sentences that the numbers support go out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from termsieve import analysis
from termsieve.analysis.values import Rows
from termsieve.charts.theme import measure_label
from termsieve.errors import TermsieveError

ALPHA = 0.05


def study_claims(parts: Mapping[str, Rows], measure: str = "f1") -> list[str]:
    """Return sentences: for each learner the best method, by how much, and whether by more than chance.

    `parts` holds the rows of each learner.
    """
    sentences = []
    for learner, own in parts.items():
        for claims in (_best, _differences, _near_the_best, _skewed, _cheapest):
            try:
                sentences += [f"{learner}: {claim}" for claim in claims(own, measure)]
            except TermsieveError:
                continue  # the results do not allow this kind of claim
    return sentences


def _leader(rows: Rows, measure: str) -> dict[str, Any]:
    sized = analysis.size_curves(rows, measure).filter(pl.col("size_kind") != "all")
    return sized.sort("value", "size", "method", descending=[True, False, False]).row(0, named=True)


def _at(kind: Any, size: Any) -> str:
    words = {"k": "with {:,g} terms", "sparsity": "at {:g} terms per document"}
    return words.get(str(kind), "at {:g}").format(size)


def _best(rows: Rows, measure: str) -> list[str]:
    curves = analysis.size_curves(rows, measure)
    sized = curves.filter(pl.col("size_kind") != "all")
    if sized.is_empty():
        return []
    best = _leader(rows, measure)
    band = (
        ""
        if best["low"] is None
        else f" (95 % band {best['low']:.3f} to {best['high']:.3f} over {best['n_problems']} problems)"
    )
    text = (
        f"the highest macro {measure_label(measure)}, {best['value']:.3f}{band}, is that of {best['method']} "
        f"{_at(best['size_kind'], best['size'])}"
    )
    whole = curves.filter(pl.col("size_kind") == "all")["value"].mean()
    if isinstance(whole, float):
        gain = best["value"] - whole
        word = "above" if gain > 0 else "below"
        text += f"; that is {abs(gain):.3f} {word} all features ({whole:.3f})"
    return [text + "."]


def _differences(rows: Rows, measure: str) -> list[str]:
    """Say which methods the best one beats significantly, and which not, at its best size over problems."""
    best = _leader(rows, measure)
    leader = best["method"]
    tests = analysis.paired_tests(
        rows, best["size"], measure, leader, unit="problem", size_kind=best["size_kind"]
    ).drop_nulls("p_wilcoxon_holm")
    if tests.is_empty():
        return []
    beaten = tests.filter((pl.col("p_wilcoxon_holm") < ALPHA) & (pl.col("difference") > 0)).sort("second")
    open_ones = tests.filter(pl.col("p_wilcoxon_holm") >= ALPHA).sort("second")
    at = f"{_at(best['size_kind'], best['size'])} over {int(tests['n'][0])} problems"
    sentences = []
    if not beaten.is_empty():
        p = max(beaten["p_wilcoxon_holm"].to_list())
        sentences.append(
            f"{at}, {leader} is better than {_listed(beaten['second'].to_list())} by more than chance "
            f"(Wilcoxon with Holm's correction, p {'=' if p >= 0.001 else '<'} {max(p, 0.001):.3f} or less)."
        )
    if not open_ones.is_empty():
        sentences.append(
            f"{at}, {leader} does not differ significantly from {_listed(open_ones['second'].to_list())}."
        )
    return sentences


def _near_the_best(rows: Rows, measure: str) -> list[str]:
    tolerance = analysis.tolerances_of(measure)[:1]
    alone = analysis.best_chances(rows, measure, tolerance).sort("share", "method", descending=[True, False])
    if alone.height < 2:
        return []
    first, second = alone.row(0, named=True), alone.row(1, named=True)
    near = f"within {tolerance[0]:.1%} of the best {measure_label(measure)}"
    sentences = [
        f"{first['method']} is {near} on {first['share']:.0%} of {first['n_problems']} problems, "
        f"{second['method']}, the next, on {second['share']:.0%}."
    ]
    pair = analysis.best_pairs(rows, measure, tolerance).row(0, named=True)
    if pair["gain"] > 0:
        sentences.append(
            f"one of {pair['first']} and {pair['second']}, the best pair, is {near} on {pair['share']:.0%}."
        )
    return sentences


def _skewed(rows: Rows, measure: str) -> list[str]:
    halves = analysis.skew_curves(rows, measure=measure).filter(pl.col("size_kind") != "all")
    sentences = []
    high = halves.filter(pl.col("skew_side") == "high").sort("value", "method", descending=[True, False])
    if not high.is_empty():
        best = high.row(0, named=True)
        sentences.append(
            f"on the {best['n_problems']} problems of a skew above 1:{best['threshold']:.0f}, "
            f"{best['method']} {_at(best['size_kind'], best['size'])} is best ({best['value']:.3f})."
        )
    return sentences


def _cheapest(rows: Rows, measure: str) -> list[str]:
    needed = analysis.size_needed(rows, 0.95, measure).drop_nulls("size").sort("size_kind", "size", "method")
    if needed.is_empty():
        return []
    first = needed.row(0, named=True)
    same = needed.filter((pl.col("size") == first["size"]) & (pl.col("size_kind") == first["size_kind"]))
    names = _listed(same["method"].to_list())
    return [f"95 % of the best is reached first by {names}, {_at(first['size_kind'], first['size'])}."]


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]
