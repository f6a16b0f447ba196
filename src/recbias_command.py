"""Where the command ``recbias`` begins: what stops it is answered before anything is imported.

It lies outside the package, whose import takes seconds in which a stop would show where it was.
"""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType

__all__ = ["main"]


def main() -> None:
    """Run the command line.

    Who stops it while it is imported is answered in one line. A command that was stopped, or that
    refused its input, ends at once: what Python tidies up at its end takes a second on a busy
    machine, and a thread of Arrow that still reads ahead in a refused table would then abort.
    """
    for number, usual in (
        (signal.SIGINT, signal.default_int_handler),
        (signal.SIGTERM, signal.SIG_DFL),
    ):
        if signal.getsignal(number) is usual:  # else somebody wants it to be ignored
            signal.signal(number, _end)
    # What counts semaphores would warn, behind the one line, of those that nobody tidied up.
    sys.warnoptions.append("ignore:resource_tracker")
    from recbias.cli.entry import main as command

    try:
        command(prog_name="recbias")
    except SystemExit as ended:
        if isinstance(ended.code, int) and ended.code:
            for stream in (sys.stdout, sys.stderr):
                stream.flush()
            os._exit(ended.code)
        raise


def _end(number: int, _: FrameType | None) -> None:
    os.write(2, b"recbias: stopped; nothing was begun\n")
    os._exit(128 + number)


if __name__ == "__main__":
    main()
