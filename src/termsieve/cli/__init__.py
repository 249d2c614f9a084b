"""Words on the command line come in; one library call is made and its answer printed."""

from __future__ import annotations

import os
import sys

INTERRUPTED = 130  # what shells answer for a command that Ctrl-C ended


def main() -> None:
    """Run the command line of this process."""
    try:
        import signal
    except KeyboardInterrupt:
        _stop()
    heeds = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if heeds:
        signal.signal(signal.SIGINT, _stop)
    from termsieve.cli.app import app
    from termsieve.cli.shell import exit_code

    if heeds:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    code = exit_code(app, sys.argv[1:])
    if code == INTERRUPTED:
        # Python would end itself by the signal if the interrupt came while it ran generated code.
        sys.stdout.flush()
        os._exit(code)
    sys.exit(code)


def _stop(*_: object) -> None:
    """End at once: while modules are loaded there is nothing to clean up, and an error may get lost."""
    os.write(2, b"termsieve: stopped\n")
    os._exit(INTERRUPTED)
