"""Fixtures that several test modules share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of the papers' corpora, named by TERMSIEVE_DATA."""
    path = os.environ.get("TERMSIEVE_DATA")
    if not path:
        pytest.skip("TERMSIEVE_DATA is not set")
    return Path(path)
