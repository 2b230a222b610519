"""Limits of open files (descriptors) on running processes: put on them, and lifted again."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import suppress

import psutil

from pileup.model.errors import TargetError


class FileLimits:
    """A limit of `files` on all that `members` finds, from now until `lift`. What is open already stays open.

    `members` is asked again when it is lifted: what was started meanwhile has inherited it.
    """

    def __init__(self, members: Callable[[], Sequence[psutil.Process]], files: int) -> None:
        self._members = members
        self._files = files
        self._before: dict[tuple[int, float], tuple[int, int]] = {}
        for each in members():
            with suppress(psutil.NoSuchProcess, psutil.ZombieProcess):
                self._put(each)

    def lift(self) -> None:
        """Give back what each had; what began under the limit gets what the first had."""
        usual = next(iter(self._before.values()), None)
        for each in self._members():
            with suppress(psutil.Error):
                before = self._before.get((each.pid, each.create_time()), usual)
                if before is not None and _limit(each)[0] == min(self._files, before[0]):
                    each.rlimit(psutil.RLIMIT_NOFILE, before)

    def _put(self, process: psutil.Process) -> None:
        try:
            before = _limit(process)
            process.rlimit(psutil.RLIMIT_NOFILE, (min(self._files, before[0]), before[1]))
        except psutil.AccessDenied as problem:
            self.lift()
            raise TargetError(
                f"the open files of process {process.pid} cannot be limited: the kernel forbids it",
                "a server of the user who runs pileup, or root",
            ) from problem
        self._before[process.pid, process.create_time()] = before


def _limit(process: psutil.Process) -> tuple[int, int]:
    """Return what a process may have open: the limit, and the highest that it may set itself. Raises TargetError."""
    if sys.platform != "linux":
        raise TargetError(f"open files of another process cannot be limited on {sys.platform}", "Linux")
    soft, hard = process.rlimit(psutil.RLIMIT_NOFILE)
    return soft, hard
