"""A metric and the sizes of a class come in; the lines on which its score has a given value go out."""

from __future__ import annotations

import math
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
    """Return the key of a two-sided ranking for all tables of `pos` and `neg` documents.

    Metrics that fold are folded, and signed scores are replaced by their absolute values, as in a ranking of
    both sides.
    """
    if not metric.elementwise:
        raise ParameterError(
            f"metric '{metric}' has no isoclines: its score does not follow from the table alone"
        )
    fp, tp = _ticks(neg, resolution), _ticks(pos, resolution)
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
    """Return the segments joined to lines; a closed line ends with its first point.

    An edge lies between two cells at most, so a point is in one segment or in two.
    """
    points, at = np.unique(segments, return_inverse=True)
    segment_ends: Any = at.reshape(segments.shape).tolist()  # numpy types it as a number
    by_point = np.argsort(at.ravel(), kind="stable")
    n_near = np.bincount(at.ravel(), minlength=len(points))
    last = np.cumsum(n_near) - 1
    # The two segments of each point; at the end of a line both are the same.
    near = np.column_stack([by_point[last - n_near + 1], by_point[last]]) // 2 if len(points) else by_point
    segments_of, numbers = near.tolist(), points.tolist()
    used = [False] * len(segment_ends)
    lines = []
    for start in [*np.flatnonzero(n_near == 1).tolist(), *range(len(numbers))]:
        line, point = [numbers[start]], start
        while True:
            first, second = segments_of[point]
            segment = second if used[first] else first
            if used[segment]:
                break
            used[segment] = True
            one, other = segment_ends[segment]
            point = other if one == point else one
            line.append(numbers[point])
        if len(line) > 1:
            lines.append(line)
    return lines


def _thinned(line: Floats, tolerance: float) -> Floats:
    """Return the line without points that hardly change its shape (Ramer, Douglas and Peucker)."""
    kept = np.zeros(len(line), dtype=bool)
    kept[[0, -1]] = True
    across_all, up_all = np.ascontiguousarray(line.T)
    stack = [(0, len(line) - 1)]
    while stack:
        first, last = stack.pop()
        if last - first < 2:
            continue
        (x, y), (to_x, to_y) = line[first].tolist(), line[last].tolist()
        across, up = across_all[first + 1 : last] - x, up_all[first + 1 : last] - y
        length = math.hypot(to_x - x, to_y - y)
        if length == 0:
            distance = np.hypot(across, up)
        else:
            distance = np.abs((to_x - x) * up - (to_y - y) * across) / length
        middle = int(distance.argmax())
        if distance[middle] > tolerance:
            middle += first + 1
            kept[middle] = True
            stack += [(first, middle), (middle, last)]
    return line[kept]
