"""The command line: one file per command. Only here pileup prints, reads the environment and exits."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Sequence


def run_and_exit() -> None:
    """Run the command line as a process. Threads that a test has left behind do not keep it from ending."""
    code = main()
    left = [thread for thread in threading.enumerate() if not thread.daemon and thread is not threading.main_thread()]
    if left:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(code)
    sys.exit(code)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code (see model.exits)."""
    from pileup.cli.app import run_app

    return run_app(arguments)
