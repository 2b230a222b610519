"""Keys that a user presses while a run is on the screen, read one by one; the terminal is always put back.

A process in the background must neither read its terminal nor change its modes: it would be stopped.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import termios
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any


class Keyboard:
    """A terminal whose keys come at once and are not echoed; Ctrl-C and Ctrl-Z stay what they are."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._kept: Any = None
        self._lock = threading.Lock()
        self._over = False

    def take(self) -> None:
        """Let keys come one by one, if this is the foreground and they do not do so yet."""
        with self._lock, suppress(termios.error, OSError):
            if self._over or self._kept is not None or not self._in_front():
                return
            kept = termios.tcgetattr(self._number)
            modes = termios.tcgetattr(self._number)
            modes[3] &= ~(termios.ICANON | termios.ECHO)
            modes[6][termios.VMIN], modes[6][termios.VTIME] = 1, 0
            termios.tcsetattr(self._number, termios.TCSADRAIN, modes)
            self._kept = kept

    def give_back(self, over: bool = False) -> None:
        """Put the terminal back as it was; `over`: for good."""
        with self._lock, suppress(termios.error, OSError):
            self._over = self._over or over
            kept, self._kept = self._kept, None
            if kept is not None and self._in_front():
                termios.tcsetattr(self._number, termios.TCSADRAIN, kept)

    def wait(self, seconds: float) -> str:
        """Return what was typed within a time, empty for nothing."""
        self.take()
        if self._kept is None:
            threading.Event().wait(seconds)
            return ""
        try:
            ready, _, _ = select.select([self._number], [], [], seconds)
            return os.read(self._number, 64).decode("ascii", "ignore") if ready and self._in_front() else ""
        except OSError:
            return ""

    def _in_front(self) -> bool:
        return os.tcgetpgrp(self._number) == os.getpgrp()


def keyboard() -> Keyboard | None:
    """Return the terminal that stdin is; None where it is none."""
    try:
        number = sys.stdin.fileno()
        return Keyboard(number) if os.isatty(number) else None
    except (AttributeError, ValueError, OSError):
        return None


@contextmanager
def suspended(before: Callable[[], None], after: Callable[[], None]) -> Iterator[None]:
    """While it lasts, do something before Ctrl-Z stops this process, and something when it goes on."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, _frame: FrameType | None) -> None:
        before()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)  # it is delivered before this returns, and all stands still
        signal.signal(number, stop)
        after()

    kept = signal.signal(signal.SIGTSTP, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTSTP, kept)
