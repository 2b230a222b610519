"""Processes of launched servers: identified by boot, pid namespace, pid and start tick, and by a mark."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import psutil

from pileup.plugin.process_group import runs

MARK = "PILEUP_SERVER"
"""Variable in the environment of every launched process: what it starts is found even in a session of its own.

It is last there (`with_mark`): programs that write a title over their arguments and environment, as slurmstepd
does, leave alone what follows the variables that they have set.
"""
NAP = 0.02
KILLED_WITHIN = 5.0
"""Seconds that the kernel has to remove killed processes."""
LOOKS = 5
"""Most looks for what a server has left."""
START = 19
"""Place of the start tick in /proc/PID/stat, counted behind the name, which may hold blanks and brackets."""


@cache
def boot() -> str:
    """Return what names this boot of the machine; empty where the kernel does not say."""
    with suppress(OSError):
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return ""


@cache
def namespace() -> int:
    """Return what names the pid namespace: a container has its own numbers. 0 where the kernel does not say."""
    with suppress(OSError):
        return Path("/proc/self/ns/pid").stat().st_ino
    return 0


@dataclass(frozen=True, slots=True)
class Identity:
    """One process: its number, the tick of its start since the boot, and where the number counts.

    No clock is in it: one that is set moves times of start, and no ticks.
    """

    pid: int
    ticks: int
    boot: str = ""
    namespace: int = 0

    @classmethod
    def of(cls, pid: int) -> Identity | None:
        """Return the process that has this pid now; None if there is none."""
        found = _ticks(pid)
        return None if found is None else cls(pid, found, boot(), namespace())

    @property
    def alive(self) -> bool:
        """Whether it still runs; a zombie does not."""
        with suppress(psutil.Error):
            return self.known and runs(psutil.Process(self.pid))
        return False

    @property
    def known(self) -> bool:
        """Whether its number still is its own: alive, or dead and not reaped."""
        return self == Identity.of(self.pid)


def _ticks(pid: int) -> int | None:
    with suppress(OSError, ValueError, IndexError):
        return int(Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[START])
    return None


def with_mark(environment: Mapping[str, str], mark: str) -> dict[str, str]:
    """Return an environment with the mark as its last variable."""
    return {**{name: value for name, value in environment.items() if name != MARK}, MARK: mark}


def session(leader: Identity, mark: str) -> list[psutil.Process]:
    """Return what runs in the session of a launched process, itself first.

    Once the leader is gone its pid may be reused: then only processes with the mark count.
    """
    sure = leader.known
    found = _running(psutil.pids(), lambda pid: _session_of(pid) == leader.pid and (sure or _has(pid, mark)))
    return sorted(found, key=lambda each: each.pid != leader.pid)


def marked(mark: str) -> list[psutil.Process]:
    """Return every process that was started by a server with this mark, in whatever session."""
    return _running(psutil.pids(), lambda pid: _has(pid, mark)) if mark else []


def bears(pid: int, mark: str, log: Path | None = None) -> bool:
    """Whether a process is one that was started with a mark: it is in its environment, or its output goes to `log`.

    A server that writes a title over its environment, as nginx and PostgreSQL do, keeps its output.
    """
    return _has(pid, mark) or (log is not None and any(_is_file(f"/proc/{pid}/fd/{number}", log) for number in (1, 2)))


def _is_file(descriptor: str, path: Path) -> bool:
    with suppress(OSError):
        return os.path.samestat(os.stat(descriptor), path.lstat())  # noqa: PTH116  what a descriptor leads to
    return False


def with_children(leaders: list[psutil.Process]) -> list[psutil.Process]:
    """Return processes and all that comes from them: a job need not have the environment of what started it."""
    found = {each.pid: each for each in leaders}
    for each in leaders:
        with suppress(psutil.Error):
            found |= {child.pid: child for child in each.children(recursive=True)}
    return [each for each in found.values() if runs(each)]


def kill_marked(mark: str) -> None:
    """Kill every process that was started by a server with this mark, and what comes from those, until none is left.

    Again, because one that was just being started is seen at the second look only.
    """
    for _ in range(LOOKS):
        if not (found := marked(mark)):
            return
        kill(with_children(found))


def send(processes: list[psutil.Process], number: int) -> None:
    """Send a signal to processes; those that are gone are skipped.

    A descriptor is opened for the pid, and then checked to be the right process, so that the signal cannot reach
    another one, whatever ends in between.
    """
    for each in processes:
        with suppress(psutil.Error, ProcessLookupError, PermissionError):
            _send(each, number)


def _send(process: psutil.Process, number: int) -> None:
    try:
        descriptor = os.pidfd_open(process.pid)
    except ProcessLookupError:
        return
    except (OSError, AttributeError):  # a kernel before 5.3, or a Python made for one: psutil looks, then sends
        process.send_signal(number)
        return
    try:
        if process.is_running():
            signal.pidfd_send_signal(descriptor, number)
    finally:
        os.close(descriptor)


def wait_gone(processes: list[psutil.Process], seconds: float) -> bool:
    """Wait until none of them runs; False when that did not happen in time."""
    end = time.monotonic() + seconds
    while any(runs(each) for each in processes):
        if time.monotonic() > end:
            return False
        time.sleep(NAP)
    return True


def end_leader(leader: Identity, mark: str, number: int, grace: float) -> None:
    """Ask a launched process to end with a signal, wait up to `grace` seconds, then kill what is left of its session.

    A paused one goes on first: it could not end. Safe for one that has ended: its number is checked.
    """
    first = _running([leader.pid]) if leader.alive else []
    send(first, number)  # at once: finding the others takes a while
    members = session(leader, mark)
    if number != signal.SIGKILL:
        send(members, signal.SIGCONT)
        wait_gone(first, grace)
        members = session(leader, mark)
        send(members, signal.SIGTERM)
        send(members, signal.SIGCONT)
        wait_gone(members, min(grace, 1.0))
        members = session(leader, mark)
    kill(members)


def kill(processes: list[psutil.Process]) -> None:
    """Kill processes and wait until the kernel has removed them."""
    send(processes, signal.SIGKILL)
    wait_gone(processes, KILLED_WITHIN)


def _running(pids: Iterable[int], wanted: Callable[[int], bool] = lambda pid: True) -> list[psutil.Process]:
    """Return those of some processes that are wanted and run, this one left out."""
    found = []
    for pid in pids:
        with suppress(psutil.Error):
            process = psutil.Process(pid)  # first: what is found out then is of this one, or of one that is gone
            if pid != os.getpid() and wanted(pid) and runs(process):
                found.append(process)
    return found


def _session_of(pid: int) -> int:
    with suppress(OSError):
        return os.getsid(pid)
    return 0


def _has(pid: int, mark: str) -> bool:
    """Whether a process has a mark. The kernel is asked: psutil ends at the first gap, as a title leaves one."""
    with suppress(psutil.Error, OSError):
        if (raw := Path(f"/proc/{pid}/environ")).exists():
            return bool(mark) and f"{MARK}={mark}".encode() in raw.read_bytes().split(b"\0")
        return bool(mark) and psutil.Process(pid).environ().get(MARK) == mark
    return False
