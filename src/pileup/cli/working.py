"""A line on a terminal while a command works for longer than two seconds: what it does, and for how long by now."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

AFTER = 2.0
"""Seconds of silence before it."""
USUAL = 80
"""Columns of a terminal that does not say how many it has."""


class _Line:
    """The line, drawn by a thread; whatever is printed takes it away first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._drawn = False

    def draw(self, text: str) -> None:
        with self._lock, suppress(OSError, ValueError):
            sys.stderr.write(f"\r\x1b[2K{text}")
            sys.stderr.flush()
            self._drawn = True

    def hush(self) -> None:
        """Take it away."""
        with self._lock, suppress(OSError, ValueError):
            if self._drawn:
                sys.stderr.write("\r\x1b[2K")
                sys.stderr.flush()
                self._drawn = False


_line = _Line()
hush = _line.hush


@contextmanager
def working(what: str) -> Iterator[None]:
    """While this lasts and takes longer than two seconds, say so on stderr, if that is a terminal."""
    if not _shown():
        yield
        return
    begin, over = time.monotonic(), threading.Event()

    def run() -> None:
        wait = AFTER
        while not over.wait(wait):
            _line.draw(f"{what}: {time.monotonic() - begin:.0f} s"[: max(10, _columns() - 1)])
            wait = 1.0

    thread = threading.Thread(target=run, name="working", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(1)
        hush()


def _shown() -> bool:
    try:
        return sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb"
    except (AttributeError, ValueError):
        return False


def _columns() -> int:
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or USUAL
    except (OSError, ValueError):
        return USUAL
