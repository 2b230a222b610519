"""The command line: one file per command. Only here pileup prints, reads the environment and exits."""

from __future__ import annotations

import atexit
import os
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress


def run_and_exit() -> None:
    """Run the command line as a process. Threads that a test has left behind do not keep it from ending.

    Python does not take its memory apart first, which would be a tenth of a short command: all goes with the process.
    """
    code = main()
    if sys.getprofile() or sys.gettrace():
        sys.exit(code)  # to a profiler or a debugger, which has things to do
    if not any(not each.daemon and each is not threading.main_thread() for each in threading.enumerate()):
        atexit._run_exitfuncs()
    for stream in filter(None, (sys.stdout, sys.stderr)):
        with suppress(OSError):  # nobody reads it any more
            stream.flush()
    os._exit(code)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code (see model.exits)."""
    from pileup.cli.app import run_app

    return run_app(arguments)
