"""Draws of the tuning corpora and their learning curves come in; the adviser's calibration goes out, as TOML.

What the last fifth of the documents brings (`lack`, `lack_power`) is measured in pairs: on the same hidden
documents, the model that all shown documents trained, less the mean of the models that four fifths of them
trained. The difference varies far less than the hidden figure itself. `reach` puts as many hidden figures
inside their intervals as split conformal prediction asks for.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adviser_curve import GOALS, gain_reach, ratio_of, ratio_spread_of
from termsieve.adviser.goals import Goal, get_goal
from termsieve.adviser.promise import (
    Calibration,
    Promise,
    calibration_for,
    calibration_name,
    deviations,
    expected_figure,
    rooms,
)
from termsieve.adviser.verdicts import Verdicts

KINDS = ("binary", "classes")
POWERS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6)  # of the documents of a class
LEVEL = 0.95  # of the figures that an interval is to hold
Row = dict[str, Any]


def written(verdicts: Verdicts, goal: Goal) -> list[Any]:
    """Return what the promise needs of verdicts, as plain values.

    It is how many documents of each class were given to each class; of a goal of the order of the documents,
    the class and the decision values of each document.
    """
    truth, said = (_codes(flags) for flags in (verdicts.truth, verdicts.said))
    n_problems = verdicts.truth.shape[1]
    if goal.of_counts is None:
        assert verdicts.values is not None
        return [n_problems, truth.tolist(), np.round(verdicts.values, 5).tolist()]
    pairs, sizes = np.unique(np.stack([truth, said], axis=1), axis=0, return_counts=True)
    return [n_problems, pairs.tolist(), sizes.tolist()]


def _codes(flags: Any) -> Any:
    return flags[:, 0].astype(np.int64) if flags.shape[1] == 1 else flags.argmax(axis=1)


def read_back(stored: list[Any], goal: Goal) -> Verdicts:
    """Return verdicts that were written."""
    n_problems, first, second = stored
    codes = np.array([1]) if n_problems == 1 else np.arange(n_problems)
    if goal.of_counts is None:
        truth = np.array(first)[:, None] == codes
        values = np.array(second, dtype=np.float64).reshape(len(truth), -1)
        return Verdicts(truth, np.zeros_like(truth), True, values)
    pairs = np.repeat(np.array(first), second, axis=0)
    return Verdicts(pairs[:, :1] == codes, pairs[:, 1:] == codes, True)


def promise_of(row: Row, known: Calibration | None = None) -> Promise:
    """Return the promise of a draw, with the installed calibration or another."""
    goal = get_goal(row["goal"])
    used = calibration_for(row["kind"], goal) if known is None else known
    return Promise(read_back(row["verdicts"], goal), goal, used)


def with_expectations(rows: list[Row]) -> list[Row]:
    """Return the rows with what does not depend on the calibration."""
    told = []
    for row in rows:
        goal, n_documents = get_goal(row["goal"]), row["hidden"]
        verdicts = read_back(row["verdicts"], goal)
        tails = np.quantile(deviations(verdicts, goal, n_documents), [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
        facts = {"expected": expected_figure(verdicts, goal, n_documents), "rooms": rooms(verdicts, goal)}
        told.append(row | facts | {"tails": tails})
    return told


def calibration(rows: list[Row], curves: list[Row]) -> str:
    """Return the calibrations as TOML: for one class and for several classes, for each goal."""
    rows = with_expectations(rows)
    lack, power = law_of(rows)
    ratio, ratio_spread = ratio_of(curves), ratio_spread_of(curves)
    lines = ["# Made by benchmarks/adviser.py calibrate from the tuning corpora; see docs/adviser.md."]
    lines += [f"# {len(rows)} draws; error of the foreseen gains, that of power 0 being 1:"]
    lines += [f"# power {p}: {left_out_error(rows, p) / left_out_error(rows, 0.0):.3f}" for p in POWERS]
    for kind in KINDS:
        own = [row for row in rows if row["kind"] == kind]
        gains = gain_reach([c for c in curves if c["kind"] == kind], ratio)
        for goal in GOALS:
            n_draws = sum(row["goal"] == goal for row in own)
            n_curves = sum((c["kind"], c["goal"]) == (kind, goal) for c in curves)
            near = alike(own, goal) or alike(rows, goal)
            reach = needed_reach(near, lack, power) if near else 1.0
            lines += ["", f"[{kind}.{calibration_name(kind, get_goal(goal))}]"]
            lines += [f"# {n_draws} draws; the reach is from {len(near)}; {n_curves} learning curves"]
            lines += [f"lack = {lack:.3f}", f"lack_power = {power}", f"reach = {reach:.2f}"]
            lines += [f"ratio = {ratio:.2f}", f"ratio_spread = {ratio_spread:.2f}"]
            lines += [f"gain_reach = {gains:.2f}"]
    return "\n".join(lines)


def alike(rows: list[Row], goal: str) -> list[Row]:
    """Return the rows whose goal reads counts, or the order of the documents, as the given one does."""
    ordered = get_goal(goal).of_counts is None
    return [row for row in rows if (get_goal(row["goal"]).of_counts is None) == ordered]


def law_of(rows: list[Row]) -> tuple[float, float]:
    """Return `lack` and `lack_power`: the power that foresees the gains of left-out corpora best."""
    power = min(POWERS, key=lambda p: left_out_error(rows, p))
    return fitted_lack(rows, rows, power), power


def left_out_error(rows: list[Row], power: float) -> float:
    """Return the squared error of the gains of each corpus, foreseen by the lack of the others."""
    total = 0.0
    for corpus in sorted({row["corpus"] for row in rows}):
        lack = fitted_lack([row for row in rows if row["corpus"] != corpus], rows, power)
        own = [row for row in rows if row["corpus"] == corpus]
        x, gains, weights = _regression(own, rows, power)
        total += float((weights * (gains - lack * x) ** 2).sum())
    return total


def fitted_lack(rows: list[Row], everything: list[Row], power: float) -> float:
    """Return the lack that foresees the paired gains of the rows with the least squares."""
    x, gains, weights = _regression(rows, everything, power)
    return float((weights * x * gains).sum() / (weights * x * x).sum())


def _regression(rows: list[Row], everything: list[Row], power: float) -> tuple[Any, Any, Any]:
    """Return what a lack of 1 would gain, what was gained, and weights by the noise of kind and goal."""
    noise: dict[tuple[str, str], list[float]] = {}
    for row in everything:
        noise.setdefault((row["kind"], row["goal"]), []).append((row["figure"] - row["lacking"]) ** 2)
    x = [foreseen_rise(row, 1.0, power) for row in rows]
    gains = [row["figure"] - row["lacking"] for row in rows]
    weights = [1 / max(float(np.mean(noise[row["kind"], row["goal"]])), 1e-9) for row in rows]
    return np.array(x), np.array(gains), np.array(weights)


def foreseen_rise(row: Row, lack: float, power: float) -> float:
    """Return what the last fifth of a draw's documents is said to bring."""
    sizes, shares = row["rooms"]
    return float((1 - row["expected"]) * lack * (shares * sizes**-power).sum())


def needed_reach(rows: list[Row], lack: float, power: float) -> float:
    """Return how many times as far as resamples intervals reach that hold LEVEL of the hidden figures."""
    needed = []
    for row in rows:
        away = row["figure"] - min(1.0, row["expected"] + foreseen_rise(row, lack, power))
        low, high = row["tails"]
        needed.append(abs(away) / max(high if away > 0 else -low, 1e-4))
    level = min(1.0, LEVEL * (len(rows) + 1) / len(rows))
    return float(np.quantile(needed, level, method="higher"))
