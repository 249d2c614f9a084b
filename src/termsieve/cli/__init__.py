"""Words on the command line come in; one library call is made and its answer printed."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line of this process."""
    try:
        # Loaded here, so that Ctrl-C at the very start is answered as it is later.
        from termsieve.cli.app import app
        from termsieve.cli.shell import exit_code
    except KeyboardInterrupt:
        sys.stderr.write("termsieve: stopped\n")
        sys.exit(1)
    sys.exit(exit_code(app, sys.argv[1:]))
