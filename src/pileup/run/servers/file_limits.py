"""Limits of open files (descriptors) on running processes: put on them, and lifted again."""

from __future__ import annotations

import os
import re
import resource
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import psutil

from pileup.model.errors import TargetError
from pileup.run.servers import commands

LINE = re.compile(r"^Max open files\s+(\S+)\s+(\S+)", re.MULTILINE)
INFINITE = resource.RLIM_INFINITY
WITHIN = 10 * 10**9


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
            with suppress(psutil.Error, TargetError):
                before = self._before.get((each.pid, each.create_time()), usual)
                if before is not None and _limit(each)[0] == min(self._files, before[0]):
                    _set(each, before)

    def _put(self, process: psutil.Process) -> None:
        before = _limit(process)
        try:
            _set(process, (min(self._files, before[0]), before[1]))
        except TargetError:
            self.lift()
            raise
        self._before[process.pid, process.create_time()] = before


def _limit(process: psutil.Process) -> tuple[int, int]:
    """Return what a process may have open: the limit, and the highest that it may set itself. Raises TargetError."""
    if sys.platform != "linux":
        raise TargetError(f"open files of another process cannot be limited on {sys.platform}", "Linux")
    limits = ""
    with suppress(OSError):
        limits = Path(f"/proc/{process.pid}/limits").read_text()
    found = LINE.search(limits)
    if found is None:  # it has ended
        raise psutil.NoSuchProcess(process.pid)
    soft, hard = (INFINITE if word == "unlimited" else int(word) for word in found.groups())
    return soft, hard


def _set(process: psutil.Process, limits: tuple[int, int]) -> None:
    """Set it; as who runs the process where the kernel lets root not (a container without CAP_SYS_RESOURCE)."""
    try:
        process.rlimit(psutil.RLIMIT_NOFILE, limits)
    except psutil.AccessDenied as problem:
        user = process.username() if os.geteuid() == 0 else ""
        said = _as(user, process.pid, limits) if user else "the kernel forbids it"
        if said:
            expected = "a server of the user who runs pileup, or root"
            raise TargetError(
                f"the open files of process {process.pid} cannot be limited: {said}", expected
            ) from problem


def _as(user: str, pid: int, limits: tuple[int, int]) -> str:
    """Set it as a user; return what went wrong, empty when nothing did."""
    soft, hard = ("unlimited" if number == INFINITE else str(number) for number in limits)
    done = commands.run(["prlimit", "--pid", str(pid), f"--nofile={soft}:{hard}"], WITHIN, user=user)
    return "" if done.good else f"prlimit {done.told()}"
