"""Curves come in; a drawing of them in characters goes out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

MARKS = "●▲■◆○△□◇"
COLOURS = ("cyan", "yellow", "green", "magenta", "blue", "red", "white", "bright_black")


def drawn_curves(curves: Mapping[str, Sequence[float]], ticks: Sequence[str], height: int = 12) -> Any:
    """Return a rich text with one mark per curve and tick; marks that meet stand side by side."""
    from rich.text import Text

    values = [value for curve in curves.values() for value in curve]
    low, high = min(values), max(values)
    span = (high - low) or 1.0
    grid: dict[tuple[int, int], list[int]] = {}
    for number, curve in enumerate(curves.values()):
        for column, value in enumerate(curve):
            grid.setdefault((round((value - low) / span * (height - 1)), column), []).append(number)
    width = max(max(map(len, ticks)) + 4, max(map(len, grid.values())) + 1)
    plot = Text()
    for line in range(height - 1, -1, -1):
        plot.append(f"{low + span * line / (height - 1):6.3f} │")
        for column in range(len(ticks)):
            met = grid.get((line, column), [])
            before = (width - len(met)) // 2
            plot.append(" " * before)
            for number in met:
                plot.append(MARKS[number % len(MARKS)], style=COLOURS[number % len(COLOURS)])
            plot.append(" " * (width - len(met) - before))
        plot.append("\n")
    plot.append(" " * 7 + "└" + "─" * (width * len(ticks)) + "\n" + " " * 8)
    plot.append("".join(tick.center(width) for tick in ticks) + "\n")
    for number, name in enumerate(curves):
        plot.append(f"  {MARKS[number % len(MARKS)]} ", style=COLOURS[number % len(COLOURS)])
        plot.append(name)
    return plot
