"""Lines of equal score against the metrics themselves and contourpy."""

import itertools

import numpy as np
import pytest
from contourpy import contour_generator
from hypothesis import given, settings
from hypothesis import strategies as st

from termsieve import METRICS, Counts, cut, get_metric, rank, score
from termsieve.analysis.contours import Grid, score_grid

ELEMENTWISE = [name for name, each in METRICS.items() if each.elementwise]


def random_counts(seed, n_terms=60, pos=25, neg=40):
    generator = np.random.default_rng(seed)
    tp = generator.binomial(pos, generator.beta(0.3, 1, n_terms))
    fp = generator.binomial(neg, generator.beta(0.3, 1, n_terms))
    return Counts([tp], [pos], tp + fp, pos + neg, ["c"], [f"w{i}" for i in range(n_terms)], multilabel=True)


def key(name, tp, fp, pos, neg):
    """What a ranking of both sides sorts by, from the definition alone."""
    chosen = get_metric(name)
    tp, fp = np.asarray(tp, dtype=float), np.asarray(fp, dtype=float)
    if chosen.folds:
        mirrored = tp * neg < fp * pos
        tp, fp = np.where(mirrored, pos - tp, tp), np.where(mirrored, neg - fp, fp)
    value = chosen(tp, fp, pos, neg)
    return np.abs(value) if chosen.kind == "signed" else value


@pytest.mark.parametrize("name", ELEMENTWISE)
@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10_000), k=st.integers(1, 40))
def test_the_level_divides_selected_from_unselected_terms(name, seed, k):
    counts = random_counts(seed)
    ranking = rank(score(counts, name))
    k = min(k, len(ranking))
    chosen = cut(ranking, k=k)
    rest = np.setdiff1d(ranking.order, chosen)
    level = ranking.scores[ranking.order[k - 1]]
    values = key(name, counts.tp[0], counts.fp[0], 25, 40)
    slack = 1e-9 * max(1, abs(level))
    assert (values[chosen] >= level - slack).all()
    assert (values[rest] <= level + slack).all()


@pytest.mark.parametrize("name", ELEMENTWISE)
@pytest.mark.parametrize(("pos", "neg"), [(7, 30), (300, 4000)])
def test_a_drawn_line_is_within_a_grid_cell_of_the_exact_level_set(name, pos, neg):
    grid = score_grid(get_metric(name), pos, neg)
    values = key(name, grid.tp[:, None], grid.fp[None, :], pos, neg)
    levels = np.quantile(values, [0.5, 0.8, 0.97])
    # A value a hair above the level may be drawn on either side.
    slack = 1e-9 * max(1, np.abs(levels).max())
    for level in levels:
        high, low = values >= level - slack, values < level + slack
        lines = grid.level_lines(float(level))
        for line in lines:
            for point in densely(line):
                i, j = cell(grid.tp, point[1]), cell(grid.fp, point[0])
                near = np.s_[max(i - 1, 0) : i + 3, max(j - 1, 0) : j + 3]
                assert high[near].any(), (level, point)
                assert low[near].any(), (level, point)
        assert bool(lines) == bool(high.all() != low.any() and high.any() and (values < level).any())


def cell(ticks, value):
    return int(np.clip(np.searchsorted(ticks, value, side="right") - 1, 0, len(ticks) - 2))


def densely(line, n=5):
    return np.concatenate([np.linspace(a, b, n) for a, b in itertools.pairwise(line)])


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_every_step_across_the_level_between_two_tables_has_a_line(name):
    """On a full lattice the lines cross exactly the edges whose ends are on different sides."""
    pos, neg = 9, 14
    values = key(name, np.arange(pos + 1)[:, None], np.arange(neg + 1)[None, :], pos, neg)
    level = float(np.quantile(values, 0.8))
    grid = Grid(np.arange(neg + 1.0), np.arange(pos + 1.0), values)
    above = values >= level
    steps = int((above[1:] != above[:-1]).sum() + (above[:, 1:] != above[:, :-1]).sum())
    points = [
        line[:-1] if (line[0] == line[-1]).all() else line for line in grid.level_lines(level, tolerance=-1)
    ]
    assert sum(map(len, points)) == steps
    for fp, tp in np.concatenate(points) if points else []:
        ends = above[int(np.floor(tp)) : int(np.ceil(tp)) + 1, int(np.floor(fp)) : int(np.ceil(fp)) + 1]
        on_node = float(fp).is_integer() and float(tp).is_integer()
        assert on_node or ends.any() != ends.all()


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10_000), shape=st.tuples(st.integers(2, 9), st.integers(2, 9)))
def test_lines_are_those_of_contourpy(seed, shape):
    """Away from saddles, which contourpy settles its own way, the two agree point for point."""
    generator = np.random.default_rng(seed)
    rows, columns = np.ogrid[: shape[0], : shape[1]]
    a, b, c = generator.normal(size=3)
    values = a * rows + b * columns + 0.1 * c * rows * columns + generator.uniform()
    level = float(np.median(values) + 1e-6)
    wanted = contour_generator(z=values, name="serial").lines(level)
    found = Grid(np.arange(shape[1], dtype=float), np.arange(shape[0], dtype=float), values).level_lines(
        level, -1
    )
    points = [
        sorted(map(tuple, np.concatenate([*lines, np.empty((0, 2))]).tolist())) for lines in (found, wanted)
    ]
    assert np.allclose(*points)


def test_a_line_keeps_its_shape_when_it_is_thinned():
    values = np.hypot(*np.meshgrid(np.linspace(-1, 1, 81), np.linspace(-1, 1, 81)))
    grid = Grid(np.linspace(-1, 1, 81), np.linspace(-1, 1, 81), values)
    (whole,), (thin,) = grid.level_lines(0.7, tolerance=-1), grid.level_lines(0.7)
    assert len(thin) < len(whole) / 3
    assert (thin[0] == thin[-1]).all()  # a closed line stays closed
    assert np.abs(np.hypot(*densely(thin).T) - 0.7).max() < 0.1 * 0.025 * 1.5
