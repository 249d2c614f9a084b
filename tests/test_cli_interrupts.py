"""Ctrl-C in the first moments of a command, when it loads its modules."""

import random

import pytest
from tests.interrupts import COMMANDS, FIRST_SECONDS, is_good, outcome


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_an_interrupt_at_any_moment_is_answered_by_one_line(tmp_path, command):
    """One moment per run and command; `python -m tests.interrupts` tries many."""
    wait_seconds = random.random() * FIRST_SECONDS
    code, errors = outcome(tmp_path, command, wait_seconds)
    assert is_good(code, errors), f"{wait_seconds} s, exit code {code}: {errors}"


def test_an_interrupted_wait_ends_with_130(tmp_path):
    assert outcome(tmp_path, "rank -", FIRST_SECONDS) == (130, "termsieve: stopped\n")
