"""Curves in characters: each mark stands at the height of its value, above its tick."""

from termsieve.cli.plot import drawn_curves


def columns_of(line, n_ticks):
    """Return what stands above each tick, without the axis at the left."""
    body = line.split("│")[1]
    width = len(body) // n_ticks
    return [body[i * width : (i + 1) * width].strip() for i in range(n_ticks)]


def test_marks_stand_at_the_height_of_their_values():
    plot = drawn_curves({"bns": [0.0, 0.5, 1.0], "random": [0.0, 0.0, 0.5]}, ["10", "100", "1000"], height=3)
    *grid, axis, ticks, legend = plot.plain.split("\n")
    assert [columns_of(line, 3) for line in grid] == [["", "", "●"], ["", "●", "▲"], ["●▲", "▲", ""]]
    assert [float(line.split("│")[0]) for line in grid] == [1.0, 0.5, 0.0]
    assert axis.strip() == "└" + "─" * (len(grid[0].split("│")[1]))
    assert ticks.split() == ["10", "100", "1000"]
    assert legend.split() == ["●", "bns", "▲", "random"]


def test_curves_that_are_level_are_drawn_on_one_line():
    plot = drawn_curves({"a": [0.7, 0.7]}, ["1", "2"], height=4)
    assert [columns_of(line, 2) for line in plot.plain.split("\n")[:4]] == [["", ""]] * 3 + [["●", "●"]]


def test_many_curves_have_marks_again_from_the_first():
    plot = drawn_curves({str(n): [float(n)] for n in range(9)}, ["1"], height=9)
    marks = [columns_of(line, 1)[0] for line in plot.plain.split("\n")[:9]]
    assert marks == list("●◇□△○◆■▲●")
    assert len({str(span.style) for span in plot.spans}) == 8
