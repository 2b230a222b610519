"""Servers that pileup starts for a target: own session, readiness, ended in order by pid, journalled."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import threading
import time
from collections import deque
from pathlib import Path
from typing import IO

import psutil

from pileup.model.errors import TargetError
from pileup.model.units import format_time
from pileup.plugin import Launcher
from pileup.record import RunFolder

GRACE = 5.0
"""Seconds between SIGTERM and SIGKILL."""


class Server:
    """One launched server."""

    def __init__(self, name: str, process: subprocess.Popen[str], url: str, entry: int) -> None:
        self.name = name
        self.url = url
        self.process = process
        self.entry = entry

    @property
    def alive(self) -> bool:
        """Whether it still runs."""
        return self.process.poll() is None

    def end(self) -> None:
        """Ask it to end, and make it end after GRACE; its whole session goes."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(GRACE)
                break
        if self.process.stdout:
            self.process.stdout.close()


class Supervisor:
    """Starts and ends the servers of a run."""

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder
        self._servers: list[Server] = []

    def launch(self, name: str, launcher: Launcher, folder: Path) -> str:
        """Start a server, wait until it says that it is ready, and return its url.

        Raises TargetError with the end of its output when it does not become ready.
        """
        folder.mkdir(parents=True, exist_ok=True)
        command = [part.replace("{folder}", str(folder)) for part in launcher.command]
        log = (folder / "server.log").open("w")
        try:
            process = subprocess.Popen(
                command,
                stdout=subprocess.PIPE,
                stderr=log,
                stdin=subprocess.DEVNULL,
                text=True,
                start_new_session=True,
                env={**os.environ, **launcher.environment},
            )
        except OSError as problem:
            raise TargetError(
                f"target {name}: {command[0]} cannot be started: {problem}", "a program that runs here"
            ) from problem
        finally:
            log.close()
        entry = self._folder.journal(
            "server", "started", target=name, pid=process.pid, born=_birth(process.pid), command=command[0]
        )
        server = Server(name, process, "", entry)
        self._servers.append(server)
        server.url = _await_ready(name, process, launcher, folder / "server.log")
        return server.url

    def end_all(self) -> None:
        """End the servers, the last one first."""
        while self._servers:
            server = self._servers.pop()
            gone = not server.alive
            server.end()
            self._folder.journal("server", "ended", of=server.entry, target=server.name)
            if gone:
                code = server.process.returncode
                self._folder.event("server", f"the server of target {server.name} had ended by itself with code {code}")


def _birth(pid: int) -> float | None:
    """Time of start of a process: with the pid it names one process for ever."""
    try:
        return psutil.Process(pid).create_time()
    except psutil.Error:
        return None


def _await_ready(name: str, process: subprocess.Popen[str], launcher: Launcher, log: Path) -> str:
    lines: deque[str] = deque(maxlen=20)
    found: list[str] = []
    ready = threading.Event()
    pattern = re.compile(launcher.ready_line)
    reader = threading.Thread(target=_read_on, args=(process.stdout, pattern, lines, found, ready), daemon=True)
    reader.start()
    deadline = time.monotonic() + launcher.ready_within / 1e9
    while not ready.wait(0.05) and process.poll() is None and time.monotonic() < deadline:
        pass
    if found:
        return found[0]
    reader.join(0.5)
    said = " | ".join([*lines, *log.read_text(errors="replace").splitlines()[-5:]]) or "nothing"
    state = f"ended with code {process.poll()}" if process.poll() is not None else "still runs"
    within = format_time(launcher.ready_within)
    raise TargetError(
        f"target {name}: its server {state} and did not become ready; it said: {said}",
        f"a ready line within {within}",
        "look at its launch settings",
    )


def _read_on(
    stream: IO[str] | None, pattern: re.Pattern[str], lines: deque[str], found: list[str], ready: threading.Event
) -> None:
    """Read the server's stdout to its end, so that it never blocks on a full pipe."""
    if stream is None:
        return
    with contextlib.suppress(ValueError):  # closed while reading: the server is being ended
        for line in stream:
            lines.append(line.rstrip())
            match = pattern.search(line)
            if match and not found:
                found.append(match.group("url"))
                ready.set()
    ready.set()
