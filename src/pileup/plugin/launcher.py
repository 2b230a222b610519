"""How pileup starts a private server for a target: its processes, their readiness, and its url.

All texts (commands, environments, contents of files, urls, what readiness looks at) may hold

| word | filled in with |
|---|---|
| `{folder}` | the folder of the target below the run |
| `{short}` | a folder with a short path without spaces, removed at the end: unix sockets take 107 bytes |
| `{port}`, `{port:NAME}` | a free port of 127.0.0.1, the same one over restarts |
| `{again}` | nothing at the first start, then -2, -3, …: for files that a new start would empty |
| `{host}`, `{user}` | the short name of this host, the user who runs the server |

`Target.launcher` is also called to check a suite: it must not write anything; `files` does.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

StopSignal = Literal["TERM", "INT", "HUP", "QUIT", "KILL"]
WITHIN = 30 * 10**9
"""Default time to become ready, ns."""


@dataclass(frozen=True, slots=True)
class Line:
    """Ready when a line of its output (stdout or stderr) matches; a group `url` gives the url of the target."""

    pattern: str


@dataclass(frozen=True, slots=True)
class Answer:
    """Ready when a command ends with 0, and with `contains` somewhere in its output."""

    command: tuple[str, ...]
    contains: str = ""


@dataclass(frozen=True, slots=True)
class Accepts:
    """Ready when a connection is accepted: at a port of 127.0.0.1, or at the path of a unix socket."""

    address: str = "{port}"


@dataclass(frozen=True, slots=True)
class Exists:
    """Ready when a path exists."""

    path: str


Ready = Line | Answer | Accepts | Exists


@dataclass(frozen=True, slots=True)
class Daemon:
    """One process that keeps running, in its own session; its output goes to `NAME.log`.

    The log is in `TARGET.logs` next to the folder of the target, where only pileup writes.
    """

    command: tuple[str, ...]
    ready: Ready
    name: str = "server"
    """Faults and monitors may name it: `target.name`."""
    environment: dict[str, str] = field(default_factory=dict)
    folder: str = "{folder}"
    """Where it runs."""
    ready_within: int = WITHIN
    """Nanoseconds."""
    before_end: tuple[tuple[str, ...], ...] = ()
    """Commands to run before a normal end, e.g. to cancel jobs; a failure is reported, and the end goes on."""
    stop: StopSignal = "TERM"
    """Signal that asks it to end; after `grace` (ns) it is killed, with any processes that it has left."""
    grace: int = 5 * 10**9
    listen: tuple[str, ...] = ()
    """Names of ports whose listening sockets on 127.0.0.1 it gets from descriptor 3 on (LISTEN_FDS, as systemd does).
    Its port then accepts from the first moment, so `ready` should be a Line or an Answer.
    """
    backlog: int = 1024
    """Connections that may wait to be accepted at each of them (listen(2)); the kernel's somaxconn is a bound of it."""
    as_pileup: bool = False
    """Whether the user of pileup runs it, not that of the launcher: for programs of pileup, which another user may
    not be able to read.
    """


@dataclass(frozen=True, slots=True)
class Task:
    """One command that must end with exit code 0 before the next process is started, e.g. to make a database. It runs
    at the launch; at a restart only with `again`, and at the restart of one process only directly before it.
    """

    command: tuple[str, ...]
    name: str = "task"
    environment: dict[str, str] = field(default_factory=dict)
    folder: str = "{folder}"
    within: int = WITHIN
    """Nanoseconds."""
    again: bool = False


@dataclass(frozen=True, slots=True)
class File:
    """A file that the server needs, written before the start; without content a folder. Paths as in commands.

    `{short}` or `{folder}` alone is there already, and gets the mode.
    """

    path: str
    content: str | bytes | None = None
    """Words in braces are filled in if it is text, not if it is bytes."""
    mode: int = 0o600
    keep: bool = False
    """Whether an existing file is left as it is, such as a key that must not change at a restart."""


@dataclass(frozen=True, slots=True)
class Launcher:
    """The processes of a private server, started in this order, each when the one before is ready; ended in reverse."""

    processes: tuple[Daemon | Task, ...]
    url: str = ""
    """The url of the target; empty: from the group `url` of a ready line."""
    files: tuple[File, ...] = ()
    user: str = ""
    """The user who runs it when pileup is root, and owns its folders. Empty: the user of pileup."""
    credentials: dict[str, str] = field(default_factory=dict)
    """Keys of `credentials` with which pileup has access, as paths of files (`ca`, `token_file`); never a secret.
    Credentials of the suite take precedence.
    """
    disk: str = ""
    """The folder that `disk` of a target puts on a separate small file system: the one that the server must be able to
    write. Empty: `disk` is refused.
    """

    @classmethod
    def one(
        cls,
        command: tuple[str, ...],
        ready_line: str,
        ready_within: int = WITHIN,
        environment: dict[str, str] | None = None,
    ) -> Launcher:
        """A server of one process that prints a line with its url (group `url`) when it answers."""
        return cls((Daemon(command, Line(ready_line), environment=environment or {}, ready_within=ready_within),))
