"""The adviser's calibration: made of stored draws by the command, and its parts on draws made by hand."""

import sys
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

from termsieve.adviser.goals import get_goal
from termsieve.adviser.verdicts import Verdicts

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"


@pytest.fixture
def command(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import adviser_calibration

    yield adviser_calibration
    for name in ("adviser", "adviser_calibration", "adviser_corpora", "adviser_curve"):
        sys.modules.pop(name, None)


@pytest.mark.slow
def test_the_table_is_what_the_command_makes_of_the_stored_draws(command):
    import adviser

    stored = [adviser.lines_of(BENCHMARKS / f"adviser_{name}.jsonl.gz") for name in ("draws", "curves")]
    installed = resources.files("termsieve.adviser") / "calibration.toml"
    assert command.calibration(*stored) + "\n" == installed.read_text(encoding="utf-8")


@pytest.mark.parametrize("n_problems", [1, 3])
def test_verdicts_are_read_back(command, n_problems):
    generator = np.random.default_rng(n_problems)
    codes = np.arange(n_problems) if n_problems > 1 else np.array([1])
    truth, said = (generator.integers(0, max(2, n_problems), size=(50, 1)) == codes for _ in range(2))
    verdicts = Verdicts(truth, said, True, generator.random((50, n_problems)).round(5))
    for name in ("f1", "accuracy", "average_precision"):
        goal = get_goal(name)
        assert command.read_back(command.written(verdicts, goal), goal).figure(goal) == pytest.approx(
            verdicts.figure(goal)
        )


def rows_by_law(lack, power):
    """Return draws whose gain is exactly that of a law, and whose figures lie at the edge of an interval."""
    rows = []
    for number, size in enumerate([4, 9, 25, 100]):
        gain = 0.2 * lack * size**-power
        rows.append(
            {
                "corpus": f"c{number}", "kind": "binary", "goal": "f1", "expected": 0.8, "lacking": 0.7,
                "figure": 0.7 + gain, "rooms": (np.array([float(size)]), np.array([1.0])),
                "tails": np.array([-0.1, 0.05]),
            }
        )  # fmt: skip
    return rows


@pytest.mark.parametrize(("lack", "power"), [(0.3, 0.5), (0.1, 0.2), (0.2, 0.0)])
def test_a_law_is_found_again(command, lack, power):
    found = command.law_of(rows_by_law(lack, power))
    assert found == pytest.approx((lack, power))


def test_the_reach_holds_the_figures(command):
    rows = rows_by_law(0.0, 0.0)  # figures of .7, expected .8: all at the lower edge
    assert command.needed_reach(rows, 0.0, 0.0) == pytest.approx(1.0)
    above = [row | {"figure": 0.9} for row in rows]
    assert command.needed_reach(above, 0.0, 0.0) == pytest.approx(2.0)


def test_the_reach_puts_19_of_20_draws_inside(command):
    generator = np.random.default_rng(9)
    away = generator.uniform(-0.2, 0.2, size=61)
    rows = [rows_by_law(0.0, 0.0)[0] | {"figure": 0.8 + gap, "tails": np.array([-0.1, 0.1])} for gap in away]
    reach = command.needed_reach(rows, 0.0, 0.0)
    assert sum(abs(away) <= reach * 0.1 + 1e-12) in (58, 59)
