"""A metric and the sizes of a class come in; the lines on which its score has a given value go out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from termsieve.counts import Counts
from termsieve.errors import ParameterError
from termsieve.metrics import Metric
from termsieve.scores import score

Floats = NDArray[np.float64]
RESOLUTION = 160  # about this many grid lines per axis; all whole numbers if there are fewer


@dataclass(frozen=True)
class Grid:
    """Scores (`values`, tp x fp) at whole numbers of documents; both axes are finer near their two ends."""

    fp: Floats
    tp: Floats
    values: Floats

    def level_lines(self, level: float, tolerance: float = 0.1) -> list[Floats]:
        """Return the border of the tables scored at or above `level` as lines of (fp, tp) points.

        Every point lies on a grid edge whose ends are on different sides of the border. A point is left out
        where the line through its neighbours passes within `tolerance` grid cells of it.
        """
        lines = _marching_squares(self.values, level)
        return [self._placed(_thinned(line, tolerance)) for line in lines]

    def _placed(self, line: Floats) -> Floats:
        steps = np.arange(max(len(self.fp), len(self.tp)), dtype=float)
        fp = np.interp(line[:, 0], steps[: len(self.fp)], self.fp)
        return np.column_stack([fp, np.interp(line[:, 1], steps[: len(self.tp)], self.tp)])


def score_grid(metric: Metric, pos: int, neg: int, resolution: int = RESOLUTION) -> Grid:
    """Return the value that a two-sided ranking sorts by, for all tables of `pos` and `neg` documents.

    Metrics that fold are folded, and signed scores are replaced by their absolute values, as in a ranking of
    both sides.
    """
    return grid_at(metric, pos, neg, _ticks(pos, resolution), _ticks(neg, resolution))


def grid_at(metric: Metric, pos: int, neg: int, tp: NDArray[np.int64], fp: NDArray[np.int64]) -> Grid:
    """Return the scores of `score_grid` at the given numbers of documents."""
    if not metric.elementwise:
        raise ParameterError(
            f"metric '{metric}' has no isoclines: its score does not follow from the table alone"
        )
    inside, outside = (values.ravel() for values in np.meshgrid(tp, fp, indexing="ij"))
    tables = Counts(inside[None, :], [pos], inside + outside, pos + neg, [0])
    values = score(tables, metric).values[0]
    values = np.abs(values) if metric.kind == "signed" else values
    return Grid(fp.astype(float), tp.astype(float), values.reshape(len(tp), len(fp)))


def _ticks(total: int, resolution: int) -> NDArray[np.int64]:
    """Return whole numbers from 0 to `total`: all, or some, with smaller steps towards both ends."""
    if total <= resolution:
        return np.arange(total + 1)
    near = np.geomspace(1, total / 2, resolution // 3)
    even = np.linspace(0, total, resolution // 3)
    return np.unique(np.round(np.concatenate([near, total - near, even])).astype(np.int64))


# Which corners of a cell are at or above the level (bit 0 the lower left, then lower right, upper right,
# upper left) decides which pairs of its edges (0 lower, 1 right, 2 upper, 3 left) a line joins.
_JOINS: dict[int, tuple[tuple[int, int], ...]] = {
    1: ((3, 0),),
    2: ((0, 1),),
    3: ((3, 1),),
    4: ((1, 2),),
    6: ((0, 2),),
    7: ((3, 2),),
    8: ((2, 3),),
    9: ((2, 0),),
    11: ((2, 1),),
    12: ((1, 3),),
    13: ((1, 0),),
    14: ((0, 3),),
}
# If two opposite corners are above, the mean of all four decides whether the middle is above and joins them.
_SADDLES = {5: (((3, 0), (1, 2)), ((3, 2), (1, 0))), 10: (((0, 1), (2, 3)), ((0, 3), (2, 1)))}


def _marching_squares(values: Floats, level: float) -> list[Floats]:
    """Return lines of (column, row) positions, in cells, that divide values >= level from the rest."""
    above = values >= level
    code = above[:-1, :-1] + 2 * above[:-1, 1:] + 4 * above[1:, 1:] + 8 * above[1:, :-1]
    starts, ends = [], []

    def join(cells: NDArray[np.bool_], pairs: tuple[tuple[int, int], ...]) -> None:
        row, column = np.nonzero(cells)
        for first, second in pairs:
            starts.append(_edge_numbers(row, column, first, values.shape))
            ends.append(_edge_numbers(row, column, second, values.shape))

    for case, pairs in _JOINS.items():
        join(code == case, pairs)
    for case, (apart, joined) in _SADDLES.items():
        cells = code == case
        if cells.any():
            corners = values[:-1, :-1] + values[:-1, 1:] + values[1:, 1:] + values[1:, :-1]
            join(cells & (corners / 4 < level), apart)
            join(cells & (corners / 4 >= level), joined)
    segments = np.column_stack([np.concatenate(starts), np.concatenate(ends)]).astype(np.int64)
    return [_crossings(np.array(line), values, level) for line in _stitched(segments)]


def _edge_numbers(row: NDArray[Any], column: NDArray[Any], side: int, shape: tuple[int, ...]) -> NDArray[Any]:
    """Return numbers for a side of cells: even ones for horizontal edges, odd ones for vertical."""
    row, column = row + (side == 2), column + (side == 1)
    return 2 * (row * shape[1] + column) + (side in (1, 3))


def _crossings(edges: NDArray[np.int64], values: Floats, level: float) -> Floats:
    """Return where the level lies on each edge, by linear interpolation between its ends."""
    upright = edges % 2
    row, column = np.divmod(edges // 2, values.shape[1])
    low = values[row, column]
    high = values[row + upright, column + 1 - upright]
    share = np.clip((level - low) / (high - low), 0, 1)
    return np.column_stack([column + share * (1 - upright), row + share * upright])


def _stitched(segments: NDArray[np.int64]) -> list[list[int]]:
    """Return the segments joined to lines; a closed line ends with its first point."""
    neighbours: dict[int, list[int]] = {}
    for first, second in segments.tolist():
        neighbours.setdefault(first, []).append(second)
        neighbours.setdefault(second, []).append(first)
    lines = []
    ends = [point for point, near in neighbours.items() if len(near) == 1]
    for start in [*ends, *neighbours]:
        line = [start]
        while near := neighbours.get(line[-1]):
            following = near.pop()
            neighbours[following].remove(line[-1])
            line.append(following)
        if len(line) > 1:
            lines.append(line)
    return lines


def _thinned(line: Floats, tolerance: float) -> Floats:
    """Return the line without points that hardly change its shape (Ramer, Douglas and Peucker)."""
    kept = np.zeros(len(line), dtype=bool)
    kept[[0, -1]] = True
    stack = [(0, len(line) - 1)]
    while stack:
        first, last = stack.pop()
        if last - first < 2:
            continue
        way = line[last] - line[first]
        length = float(np.hypot(*way))
        offset = line[first + 1 : last] - line[first]
        if length == 0:
            distance = np.hypot(offset[:, 0], offset[:, 1])
        else:
            distance = np.abs(way[0] * offset[:, 1] - way[1] * offset[:, 0]) / length
        middle = first + 1 + int(np.argmax(distance))
        if distance[middle - first - 1] > tolerance:
            kept[middle] = True
            stack += [(first, middle), (middle, last)]
    return line[kept]
