"""The command line: one file per command. Only here pileup prints, reads the environment and exits."""

from __future__ import annotations

import atexit
import os
import sys
import threading
from collections.abc import Sequence


def run_and_exit() -> None:
    """Run the command line as a process. Threads that a test has left behind do not keep it from ending.

    Python does not take its memory apart first, which would be a tenth of a short command: all goes with the process.
    """
    from pileup.cli.output import take_over

    results = take_over()
    code = main()
    sys.stdout.flush()
    code = results.code(code)
    if sys.getprofile() or sys.gettrace():
        sys.exit(code)  # to a profiler or a debugger, which has things to do
    if not any(not each.daemon and each is not threading.main_thread() for each in threading.enumerate()):
        atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code (see model.exits)."""
    from pileup.model.collecting import uncollected

    with uncollected():
        from pileup.cli.app import run_app

    return run_app(arguments)
