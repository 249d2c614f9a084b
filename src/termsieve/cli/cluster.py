"""The address of a Dask scheduler comes in; a client of its cluster goes out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from termsieve.cli.shell import wrong
from termsieve.errors import InputError, require

ADDRESS = re.compile(r"((tcp|tls|ws|wss|ucx)://)?[^/\s]+:\d{1,5}(/.*)?")
CONNECT_SECONDS = 10


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """Give a client of the scheduler at an address."""
    # Dask's own client, refused an address it cannot read, lives on and complains when the process ends.
    if not ADDRESS.fullmatch(address):
        raise wrong(f"--dask takes the address of a scheduler, such as tcp://127.0.0.1:8786, not {address!r}")
    distributed = require("distributed", "dask")
    try:
        client = distributed.Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, TimeoutError) as error:
        raise InputError(
            f"no Dask scheduler answers at {address}; check the address, or start one with: dask scheduler"
        ) from error
    with client:
        yield client
