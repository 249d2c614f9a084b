"""Results of the plans of uchyigit2007 come in; its findings go out; the paper prints no figures."""

from __future__ import annotations

import os
from typing import Any

import polars as pl

from termsieve.analysis.findings.evidence import Reading, Register, Verdict, finding, judged, told
from termsieve.studies.results import Results

PAPER, STOPPED = "uchyigit2007", "uchyigit2007_stopped"
NAMES = {
    "chi": "chi_squared",
    "ngl": "correlation_coefficient side=positive",
    "gss": "gss side=positive",
    "mi": "mutual_information",
    "ig": "information_gain",
    "odds_ratio": "odds_ratio side=positive",
    "word_frequency": "word_frequency",
    "fisher": "fisher",
    "bss_wss": "bss_wss",
    "gu": "gu",
}
SHOWN = (50, 100, 200, 300, 500, 700, 1000)


def cells(results: Results, data: str | os.PathLike[str] | None) -> pl.DataFrame:
    """Return nothing: the paper has figures only as drawings."""
    return pl.DataFrame()


def _claim(where: str, claim: str) -> Register:
    return finding(PAPER, where, claim, PAPER, STOPPED, per_learner=True)


def _orders(reading: Reading, measure: str) -> dict[float, list[str]]:
    """Return for each size the metrics, the best first."""
    short = {name: key for key, name in NAMES.items()}
    return {
        size: [short[name] for name in reading.by_method(size, measure) if name in short]
        for size in reading.sizes
    }


def _runs(sizes: list[float]) -> str:
    """Return sizes as runs: 200 to 700, 1000."""
    if not sizes:
        return "no size"
    runs: list[list[float]] = []
    for size in sizes:
        if runs and size - runs[-1][-1] <= 10:
            runs[-1].append(size)
        else:
            runs.append([size])
    return ", ".join(f"{run[0]:g}" + (f" to {run[-1]:g}" if len(run) > 1 else "") for run in runs)


def _where(reading: Reading, measure: str, holds: Any) -> Verdict:
    """Return the verdict on an order of metrics: at every size, at some, or at none."""
    orders = _orders(reading, measure)
    sizes = [size for size, order in orders.items() if holds(order)]
    firsts = ", ".join(f"{size:g} {orders[size][0]}" for size in SHOWN if size in orders)
    figures = f"at {len(sizes)} of {len(orders)} sizes ({_runs(sizes)}); first at {firsts}"
    return judged([len(sizes) == len(orders), bool(sizes)], figures)


@_claim("F1", "gu has the best F1")
def gu_best_f1(reading: Reading) -> Verdict:
    """See at which sizes gu leads."""
    verdict = _where(reading, "f1", lambda order: order[0] == "gu")
    values = {size: reading.by_method(size) for size in reading.sizes}
    size, own = max(values.items(), key=lambda item: item[1]["gu"])
    other = max(value for name, value in own.items() if name != "gu")
    best = f"its best is {told(own['gu'])} at {size:g}, the best other there {told(other)}"
    return verdict._replace(figures=f"{verdict.figures}; {best}")


@_claim("F2", "gu has the best F2")
def gu_best_f2(reading: Reading) -> Verdict:
    """See at which sizes gu leads."""
    return _where(reading, "f2", lambda order: order[0] == "gu")


@_claim("F1", "chi, gu, bss_wss and ngl are the best four")
def best_four(reading: Reading) -> Verdict:
    """See at which sizes these four lead."""
    return _where(reading, "f1", lambda order: set(order[:4]) == {"chi", "gu", "bss_wss", "ngl"})


@_claim("precision", "chi and ngl have the best precision, gu is next")
def best_precision(reading: Reading) -> Verdict:
    """See at which sizes the first three are these."""
    return _where(reading, "precision", lambda order: set(order[:2]) == {"chi", "ngl"} and order[2] == "gu")


@_claim("recall", "ig and gss have the best recall, gu is next")
def best_recall(reading: Reading) -> Verdict:
    """See at which sizes the first three are these."""
    return _where(reading, "recall", lambda order: set(order[:2]) == {"ig", "gss"} and order[2] == "gu")


@_claim("F1", "odds_ratio is above ig and mi")
def odds_ratio_above(reading: Reading) -> Verdict:
    """See at which sizes it is."""
    return _where(
        reading, "f1", lambda order: order.index("odds_ratio") < min(order.index("ig"), order.index("mi"))
    )


@_claim("F1", "gss is not above ngl and chi")
def gss_below(reading: Reading) -> Verdict:
    """See at which sizes gss is below both."""
    return _where(
        reading, "f1", lambda order: order.index("gss") > max(order.index("ngl"), order.index("chi"))
    )


@_claim("F1", "mutual information is the worst")
def mi_worst(reading: Reading) -> Verdict:
    """See at which sizes mi is last."""
    return _where(reading, "f1", lambda order: order[-1] == "mi")
