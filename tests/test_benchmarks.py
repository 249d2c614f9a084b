"""The benchmarks: every group is a function, and the page is made from the rows of all groups."""

import importlib
import inspect

import pytest
from benchmarks.__main__ import GROUPS, LEFT_OUT, page
from benchmarks.measure import all_compared


@pytest.mark.parametrize("group", GROUPS)
def test_a_group_is_a_function_that_yields_rows(group):
    module, function = GROUPS[group].split(".")
    found = getattr(importlib.import_module(f"benchmarks.{module}"), function)
    assert inspect.isgeneratorfunction(found)
    assert next(iter(inspect.signature(found).parameters)) == "quick"
    assert set(LEFT_OUT) < set(GROUPS)


@pytest.mark.slow
def test_works_are_compared_with_one_peer_in_turns():
    calls = []
    works = [("work a", lambda: calls.append("a"), "2x"), ("work b", lambda: calls.append("b"), "limit")]
    rows = all_compared("input", ("peer", lambda: calls.append("peer")), works, repeats=2, memory=False)
    assert calls == ["a", "b"] + ["peer", "a", "b"] * 2
    assert [row.work for row in rows] == ["work a", "work b"]
    assert all(row.ratio_low <= row.ratio <= row.ratio_high for row in rows)
    run = {"command": "python -m benchmarks x", "day": "2026-01-02", "seconds": 3, "machine": "2 cores"}
    text = page({"x": run | {"rows": [row.to_dict() for row in rows]}})
    assert "- `python -m benchmarks x` in 3 s on 2026-01-02: 2 cores" in text
    before, after = text.split("## Limits")
    assert "| work a | input | peer |" in before
    assert "| work b | input | peer |" in after
