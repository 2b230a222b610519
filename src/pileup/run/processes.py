"""Processes of launched servers: known for ever by pid and time of start, with all that they have started."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

import psutil

MARK = "PILEUP_SERVER"
"""Variable in the environment of every launched process: what it starts is found even in a session of its own."""
SAME = 1.0
"""Seconds by which two readings of one time of start may differ when the clock of the host is set."""
NAP = 0.02
KILLED_WITHIN = 5.0
"""Seconds in which the kernel takes killed processes away."""


@dataclass(frozen=True, slots=True)
class Identity:
    """One process: its number and its time of start, seconds since the epoch."""

    pid: int
    born: float

    @classmethod
    def of(cls, pid: int) -> Identity | None:
        """Return who has this number now; None when nobody has."""
        with suppress(psutil.Error):
            return cls(pid, psutil.Process(pid).create_time())
        return None

    @property
    def alive(self) -> bool:
        """Whether it still runs; a dead one that nobody has reaped does not."""
        with suppress(psutil.Error):
            process = psutil.Process(self.pid)
            return self._same(process) and process.status() != psutil.STATUS_ZOMBIE
        return False

    @property
    def known(self) -> bool:
        """Whether its number still is its own: alive, or dead and not reaped."""
        with suppress(psutil.Error):
            return self._same(psutil.Process(self.pid))
        return False

    def _same(self, process: psutil.Process) -> bool:
        return abs(process.create_time() - self.born) < SAME


def session(leader: Identity, mark: str) -> list[psutil.Process]:
    """Return what runs in the session of a launched process, itself first.

    Once the leader is gone its number alone proves nothing: then only those with the mark count.
    """
    sure = leader.known
    found = [each for each in _all() if _session_of(each) == leader.pid and (sure or _has(each, mark))]
    return sorted(found, key=lambda each: each.pid != leader.pid)


def marked(mark: str) -> list[psutil.Process]:
    """Return every process that was started by a server with this mark, in whatever session."""
    return [each for each in _all() if _has(each, mark)] if mark else []


def send(processes: list[psutil.Process], number: int) -> None:
    """Send a signal to processes; those that are gone are passed over."""
    for each in processes:
        with suppress(psutil.Error):  # psutil knows a number that was given to another process since
            each.send_signal(number)


def wait_gone(processes: list[psutil.Process], seconds: float) -> bool:
    """Wait until none of them runs; False when that did not happen in time."""
    end = time.monotonic() + seconds
    while any(_runs(each) for each in processes):
        if time.monotonic() > end:
            return False
        time.sleep(NAP)
    return True


def end_leader(leader: Identity, mark: str, number: int, grace: float) -> None:
    """Ask a launched process to end with a signal, wait up to `grace` seconds, then kill what is left of its session.

    A paused one goes on first: it could not end. Safe for one that has ended: its number is checked.
    """
    members = session(leader, mark)
    first = [each for each in members if each.pid == leader.pid and leader.alive]
    for processes, asked, patience in ((first, number, grace), (members, signal.SIGTERM, min(grace, 1.0))):
        if number == signal.SIGKILL:
            break
        send(processes, asked)
        send(members, signal.SIGCONT)
        wait_gone(processes, patience)
        members = session(leader, mark)
    kill(members)


def kill(processes: list[psutil.Process]) -> None:
    """Kill processes and wait until the kernel has taken them away."""
    send(processes, signal.SIGKILL)
    wait_gone(processes, KILLED_WITHIN)


def _all() -> Iterator[psutil.Process]:
    own = os.getpid()
    for pid in psutil.pids():
        with suppress(psutil.Error):
            process = psutil.Process(pid)
            if pid != own and _runs(process):
                yield process


def _session_of(process: psutil.Process) -> int:
    with suppress(OSError):
        return os.getsid(process.pid)
    return 0


def _has(process: psutil.Process, mark: str) -> bool:
    with suppress(psutil.Error):
        return bool(mark) and process.environ().get(MARK) == mark
    return False


def _runs(process: psutil.Process) -> bool:
    with suppress(psutil.Error):
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    return False
