"""Waiting until a launched process is ready: by a line of its output, an answer, a connection, a path."""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pileup.model.errors import TargetError
from pileup.model.units import format_time
from pileup.plugin import Accepts, Answer, Daemon, Exists, Line
from pileup.run.servers import commands
from pileup.run.servers.placeholders import PlaceholderValues

NAPS = (0.005, 0.1)
"""Shortest and longest pause between two looks, seconds."""
ANSWER_WITHIN = 5 * 10**9
"""Longest time that one look by a command may take, ns."""
QUOTED = 20
"""Lines of output quoted when it does not become ready."""


@dataclass(slots=True)
class Log:
    """The output of a process from where it began in its file."""

    path: Path
    begin: int
    _seen: int = 0
    _rest: str = ""

    def lines(self) -> list[str]:
        """Return the complete lines since the last call."""
        with self.path.open("rb") as file:
            file.seek(self.begin + self._seen)
            data = file.read()
        self._seen += len(data)
        *lines, self._rest = (self._rest + data.decode("utf-8", "replace")).split("\n")
        return lines

    def end(self) -> str:
        """Return its last lines, joined; "nothing" when there is none."""
        with self.path.open("rb") as file:
            length = file.seek(0, 2) - self.begin
            file.seek(self.begin + max(0, length - commands.KEPT))
            lines = file.read().decode("utf-8", "replace").splitlines()
        return " | ".join(line for line in lines[-QUOTED:] if line.strip()) or "nothing"


def await_ready(
    name: str, daemon: Daemon, filling: PlaceholderValues, log: Log, ended: Callable[[], int | None]
) -> str:
    """Wait until a process is ready and return the url of its ready line, empty if it has none.

    `ended` gives its exit code, None while it runs. Raises TargetError with the end of its output.
    """
    look = _look(daemon, filling, log)
    deadline = time.monotonic() + daemon.ready_within / 1e9
    nap = NAPS[0]
    while (found := look()) is None:
        code = ended()
        if code is not None and (found := look()) is not None:
            break
        if code is not None or time.monotonic() > deadline:
            raise _not_ready(name, daemon, log, code)
        time.sleep(nap)
        nap = min(nap * 1.5, NAPS[1])
    return found


def _not_ready(name: str, daemon: Daemon, log: Log, code: int | None) -> TargetError:
    state = "still runs" if code is None else f"ended with code {code}"
    return TargetError(
        f"target {name}: its {daemon.name} {state} and did not become ready; it said: {log.end()}",
        f"{_expected(daemon)} within {format_time(daemon.ready_within)}",
        f"check its launch settings and {log.path}",
    )


def _expected(daemon: Daemon) -> str:
    match daemon.ready:
        case Line():
            return "a ready line"
        case Answer(command):
            return f"code 0 of {command[0]}"
        case Accepts():
            return "an accepted connection"
        case Exists(path):
            return f"something at {path}"


def _look(daemon: Daemon, filling: PlaceholderValues, log: Log) -> Callable[[], str | None]:
    """Return a function that shows whether the process is ready: its url or "", None when it is not."""
    match daemon.ready:
        case Line(pattern):
            expression = re.compile(pattern)
            return lambda: _matching(expression, log)
        case Answer(command, contains):
            words, environment = filling.fill_all(command), filling.environment(daemon.environment)
            return lambda: _answering(words, environment, filling.fill(contains))
        case Accepts(address):
            filled = filling.fill(address)
            return lambda: "" if accepts(filled) else None
        case Exists(path):
            place = Path(filling.fill(path))
            return lambda: "" if place.exists() else None


def _matching(pattern: re.Pattern[str], log: Log) -> str | None:
    for line in log.lines():
        if match := pattern.search(line):
            return match.groupdict().get("url") or ""
    return None


def _answering(words: list[str], environment: dict[str, str], contains: str) -> str | None:
    done = commands.run(words, ANSWER_WITHIN, environment)
    return "" if done.good and contains in done.output else None


def accepts(address: str) -> bool:
    """Whether a connection is accepted at a port of 127.0.0.1 (digits) or at a unix socket (a path)."""
    family, place = (socket.AF_INET, ("127.0.0.1", int(address))) if address.isdigit() else (socket.AF_UNIX, address)
    with socket.socket(family) as probe:
        probe.settimeout(1)
        try:
            probe.connect(place)
        except OSError:
            return False
    return True
