"""The processes of a program that runs in a group of its own."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import suppress

import psutil


class ProcessGroup:
    """The group that a process leads."""

    def __init__(self, leader: subprocess.Popen[bytes]) -> None:
        self._leader = leader

    def descendants(self) -> list[psutil.Process]:
        """Return the descendants of the leader, also those that have left the group."""
        with suppress(psutil.Error):
            return psutil.Process(self._leader.pid).children(recursive=True)
        return []

    def signal(self, strays: list[psutil.Process], number: signal.Signals) -> None:
        """Send a signal to the group and to strays."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._leader.pid, number)
        for stray in strays:
            with suppress(psutil.Error):  # psutil detects a reused pid
                stray.send_signal(number)

    def alive(self, strays: list[psutil.Process]) -> bool:
        """Return whether something of the group, or a stray, still runs. Zombies do not count.

        The leader counts until it is reaped: it is a zombie as soon as its first thread has ended, before the others.
        """
        ended = self._leader.poll() is not None
        try:
            os.killpg(self._leader.pid, 0)
        except ProcessLookupError:
            return any(map(runs, strays))
        except PermissionError:  # owned by another user: it cannot be ended
            return False
        return not ended or any(map(runs, (*self._members(), *strays)))

    def _members(self) -> Iterator[psutil.Process]:
        for pid in psutil.pids():
            with suppress(psutil.Error, ProcessLookupError):
                if os.getpgid(pid) == self._leader.pid:
                    yield psutil.Process(pid)


def runs(process: psutil.Process) -> bool:
    """Return whether a process still runs. A zombie does, as long as it is one by its first thread alone."""
    with suppress(psutil.Error):
        zombie = process.status() == psutil.STATUS_ZOMBIE and process.num_threads() <= 1
        return bool(process.is_running() and not zombie)
    return False
