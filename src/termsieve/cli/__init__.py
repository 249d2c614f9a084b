"""The words of a command line come in; one library call is made and its result is printed."""

from __future__ import annotations

import gc
import os
import sys

TYPE_CHECKING = False  # typing itself is not loaded: the fewer modules, the sooner Ctrl-C has an answer
if TYPE_CHECKING:
    from types import FrameType
    from typing import NoReturn

INTERRUPTED = 130  # what shells answer for a command that Ctrl-C ended
# Modules alone are 100,000 objects, none of them garbage; looking through them again and again while they are
# loaded takes a tenth of a short command.
GARBAGE_THRESHOLD = 200_000


def main() -> None:
    """Run the command line of this process."""
    gc.set_threshold(GARBAGE_THRESHOLD)
    try:
        code = _run()
    except KeyboardInterrupt:
        _stop()
    if code == INTERRUPTED:
        # Python would end itself by the signal if the interrupt came while it ran generated code.
        sys.stdout.flush()
        os._exit(code)
    gc.freeze()  # so that Python does not look through all objects once more before it ends
    sys.exit(code)


def _run() -> int:
    """Run the command line and return its exit code; Ctrl-C is handled at any moment."""
    import signal

    heeds = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if heeds:
        signal.signal(signal.SIGINT, _interrupt)
    from termsieve.cli.app import app_for
    from termsieve.cli.shell import exit_code

    code = exit_code(app_for(sys.argv[1:]), sys.argv[1:])
    if heeds:
        signal.signal(
            signal.SIGINT, _stop
        )  # all is written, and what Python does at its end shows tracebacks
    return code


def _interrupt(_: int, frame: FrameType | None) -> None:
    """Raise KeyboardInterrupt; during an import, where it may become another error, end at once."""
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            _stop()
        frame = frame.f_back
    raise KeyboardInterrupt


def _stop(*_: object) -> NoReturn:
    """Print a message and end at once, without the work that Python does at exit."""
    os.write(2, b"termsieve: stopped\n")
    os._exit(INTERRUPTED)
