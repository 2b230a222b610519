"""Command lines that start a place: a process here, or one at another host by ssh."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass

from pileup.fleet.channel import Channel, ProcessChannel
from pileup.model.errors import TargetError

PLACE = ("-P", "-m", "pileup", "place")
"""With -P nothing is imported from the folder that it starts in: a `queue.py` there is none of Python's."""
SSH_OPTIONS = ("BatchMode=yes", "ConnectTimeout=15", "ServerAliveInterval=5", "ServerAliveCountMax=4")
"""Never ask; and end when the far end has been silent for 20 s."""
_NAME = r"[^@\s:/\[\]-][^@\s:/\[\]]*"
_HOST = re.compile(rf"(?:(?P<user>{_NAME})@)?(?P<host>\[[0-9A-Fa-f:.%]+\]|{_NAME})(?::(?P<port>\d{{1,5}}))?")


@dataclass(frozen=True, slots=True)
class Start:
    """How a place is started."""

    name: str
    """Its name: `process 1`, or the host as written."""
    command: tuple[str, ...]
    far: bool
    """Whether it is at another host: it does not share this file system."""
    python: str
    workers: int | None = None
    """Its native workers; None: as many as cores may be used there."""
    beside: int = 1
    """How many places share the cores of its host."""
    position: int = 1
    """Its position in the fleet, from 1: a replacement has that of the lost place."""

    def begin(self, environment: Mapping[str, str] | None = None) -> Channel:
        """Start it, with these variables if it is here, and return the way to it. Raises TargetError."""
        try:
            return ProcessChannel(self.command, environment)
        except OSError as problem:
            told = f"{self.name}: {self.command[0]} cannot be started: {problem.strerror}"
            raise TargetError(told, "a program that is there") from problem


def process(number: int, options: tuple[str, ...] = ()) -> Start:
    """Return how to start a place in a process here."""
    return Start(f"process {number}", (sys.executable, *PLACE, *options), False, sys.executable)


def by_ssh(host: str, python: str | None = None, ssh: str | None = None, options: tuple[str, ...] = ()) -> Start:
    """Return how to start a place at `[user@]host[:port]`, with Python `python` there.

    `ssh` is the command with options of its own, e.g. `ssh -F config`. Raises TargetError for what is not a host.
    """
    program = python or sys.executable
    return Start(host, over_ssh(host, (program, *PLACE, *options), ssh), True, program)


def over_ssh(host: str, words: tuple[str, ...], ssh: str | None = None) -> tuple[str, ...]:
    """Return the command line that runs a program with its arguments at `[user@]host[:port]`, `ssh` as above.

    Raises TargetError for what is not a host.
    """
    found = _HOST.fullmatch(host)
    if found is None:
        raise TargetError(f"{host!r} is not a host", "[user@]host[:port] as for the ssh command")
    command = [*shlex.split(ssh or "ssh"), *(word for option in SSH_OPTIONS for word in ("-o", option))]
    if found["port"]:
        command += ["-p", found["port"]]
    if found["user"]:
        command += ["-l", found["user"]]
    return (*command, "--", found["host"].strip("[]"), f"exec {shlex.join(words)}")
