"""CPU time of ended children that is reported elsewhere, or is not pileup's own: of places, and of servers it launched.

The kernel counts every child that was waited for. The CPU time of a server would be in pileup's account once the server
has ended, so the code that waits for one reports its time; both happen under one lock, or a sample in between would
show the difference.
"""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import threading
import time
from contextlib import suppress

import psutil

_lock = threading.Lock()
_foreign = 0
NAP = 0.01


def poll(process: subprocess.Popen[bytes]) -> int | None:
    """Do what `poll` of a process does; what it used counts no more among children. Only this may wait for it."""
    global _foreign  # noqa: PLW0603  the kernel's account is one for the process, too
    with _lock:
        if process.returncode is None and not _runs(process.pid):  # that needs no file, of which there may be none left
            spent = _spent(process.pid)
            if process.poll() is not None:
                _foreign += spent
    return process.returncode


def wait(process: subprocess.Popen[bytes], seconds: float) -> int:
    """Do what `wait` of a process does, in the same way. Raises TimeoutExpired."""
    await_end(process, seconds)
    poll(process)
    return process.wait(0)


def await_end(process: subprocess.Popen[bytes], seconds: float) -> None:
    """Wait until it has ended; it stays to be waited for, so that its number is its own. Raises TimeoutExpired."""
    until = time.monotonic() + seconds
    while _runs(process.pid):
        if time.monotonic() > until:
            raise subprocess.TimeoutExpired(process.args, seconds)
        time.sleep(NAP)


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kill it with its whole group, unless it was reaped: then its pid may belong to another process."""
    with _lock, suppress(OSError):
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)


def children() -> int:
    """Return the CPU time of ended children but for those, ns."""
    with _lock:
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
        return max(0, round((ended.ru_utime + ended.ru_stime) * 1e9) - _foreign)


def _runs(pid: int) -> bool:
    """Whether a child still runs; one that has ended stays to be waited for."""
    with suppress(ChildProcessError):  # it was reaped
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None
    return False


def _spent(pid: int) -> int:
    """Return the CPU time of a process and its reaped children, ns; known until the process itself is reaped."""
    with suppress(psutil.Error, OSError):
        times = psutil.Process(pid).cpu_times()
        return round((times.user + times.system + times.children_user + times.children_system) * 1e9)
    return 0
