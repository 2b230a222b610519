"""Servers that pileup starts for a target: in order, each awaited; restarted, paused, killed; ended in reverse.

Every process leads a session of its own, is known by pid and time of start, and is in the journal before it is
started and after it has ended, so that the next start ends what a crash left (`leftovers`).
"""

from __future__ import annotations

import signal
import threading
from pathlib import Path
from typing import Any, Protocol

from pileup.model.errors import TargetError
from pileup.plugin import Launcher
from pileup.run.servers.file_limits import FileLimits
from pileup.run.servers.scratch import new_nonce
from pileup.run.servers.server import Server

LAUNCHED = "a target of the suite with `launch`"


class Journal(Protocol):
    """Where intents are noted: a run folder, or nothing for servers of tests."""

    @property
    def nonce(self) -> str:
        """Part of the names of temporary folders."""

    def journal(self, what: str, state: str, **fields: Any) -> int:
        """Note an intent or that it is done; return the number of the entry."""

    def event(self, kind: str, text: str, **fields: Any) -> None:
        """Note something that happened."""


class NullJournal:
    """A journal that records nothing, for servers without a run."""

    def __init__(self) -> None:
        self.nonce = new_nonce()

    def journal(self, what: str, state: str, **fields: Any) -> int:
        """Note nothing."""
        return 0

    def event(self, kind: str, text: str, **fields: Any) -> None:
        """Note nothing."""


class Supervisor:
    """The servers of a run. A server is named by its target, one process of it by `target.process`.

    Methods may be called from any thread; those for one server wait for each other.
    """

    def __init__(self, journal: Journal | None = None) -> None:
        self._journal = journal or NullJournal()
        self._servers: dict[str, Server] = {}
        self._lock = threading.Lock()

    def launch(self, name: str, launcher: Launcher, folder: Path, disk: int = 0, whose: str = "") -> str:
        """Start a server, wait until every process of it is ready, and return its url.

        `disk`: bytes of a file system of its own for the folder that its launcher names; 0: none. `whose`: what its
        processes are in words, unless they are those `of target NAME`.

        Raises TargetError with the end of the output of the process that does not become ready; then none is left.
        """
        server = Server(name, launcher, folder, self._journal, disk, whose=whose)
        with self._lock:
            if name in self._servers:
                raise TargetError(f"target {name} has a server already", "a server that is launched once", "restart it")
            self._servers[name] = server
        return server.start()

    def restart(self, name: str, launcher: Launcher | None = None) -> str:
        """End a server in its own way and start it again, with another launcher if one is given; return its url.

        The server keeps its ports, so that clients find it where it was. One that has ended is started. Raises
        TargetError.
        """
        server, process = self._find(name)
        return server.restart(process, launcher)

    def kill(self, name: str, number: int = signal.SIGKILL) -> None:
        """End a server by a signal, by default at once, and leave it dead until it is restarted."""
        server, process = self._find(name)
        server.kill(process, number)

    def pause(self, name: str) -> None:
        """Stop everything in the sessions of a server (SIGSTOP), until `go_on`."""
        server, process = self._find(name)
        server.pause(process)

    def go_on(self, name: str) -> None:
        """Let a paused server go on; does nothing for one that is not paused."""
        server, process = self._find(name)
        server.go_on(process)

    def paused(self, name: str) -> bool:
        """Whether it is paused, in whole or in part."""
        server, process = self._find(name)
        return server.paused(process)

    def limit(self, name: str, files: int) -> FileLimits:
        """Let a server have so many files open at most, per process, until that is lifted. Raises TargetError."""
        server, process = self._find(name)
        return server.limit(process, files)

    def disk(self, name: str) -> Path:
        """Return where the small disk of a server is. Raises TargetError when it has none."""
        server, _ = self._find(name)
        if server.disk is None:
            raise TargetError(f"target {server.name} has no disk of its own", "a target with `disk: SIZE`")
        return server.disk

    def alive(self, name: str) -> bool:
        """Whether every process of a server runs."""
        server, process = self._find(name)
        return all(each.alive for each in server.chosen(process)) and bool(server.chosen(process))

    def gone(self, name: str) -> str:
        """Return which processes of a server have ended by themselves, in words; empty for none, or no server."""
        server = self._servers.get(name)
        return server.gone() if server is not None else ""

    def notice(self) -> None:
        """Note in the record, once for each, which processes have ended by themselves."""
        for server in list(self._servers.values()):
            server.notice()

    def pids(self, name: str) -> list[int]:
        """Return the pids of its processes in the order of their start."""
        server, process = self._find(name)
        return [each.identity.pid for each in server.chosen(process)]

    def running(self, name: str) -> dict[str, int]:
        """Return what runs of a server, in the order of its start: name -> pid. Raises TargetError."""
        server, process = self._find(name)
        return {each.daemon.name: each.identity.pid for each in server.chosen(process) if each.alive}

    def environment(self, name: str) -> dict[str, str]:
        """Return the variables that its processes were given, by which commands find it; none without a server."""
        if name.partition(".")[0] not in self._servers:
            return {}
        server, process = self._find(name)
        return server.environment(process)

    def url(self, name: str) -> str:
        """Return where a server is."""
        return self._find(name)[0].url

    def credentials(self, name: str) -> dict[str, str]:
        """Return the files that give pileup access, by the word of `credentials`."""
        return self._find(name)[0].credentials

    def port(self, name: str, port: str = "main") -> int:
        """Return a port that was given to a server."""
        return self._find(name)[0].filling.port(port)

    def end(self, name: str) -> None:
        """End a server in order: its processes in reverse, then whatever they have left."""
        server, _ = self._find(name)
        with self._lock:
            self._servers.pop(server.name, None)
        server.end()

    def end_all(self) -> None:
        """End the servers, the last one first. What goes wrong with one keeps none of the others and is raised then."""
        problems = []
        for name in reversed(list(self._servers)):
            try:
                self.end(name)
            except Exception as problem:
                problems.append(problem)
        if problems:
            raise problems[0]

    def _find(self, name: str) -> tuple[Server, str]:
        """Return a server and the name of the process that is meant, empty for all of them."""
        target, _, process = name.partition(".")
        server = self._servers.get(target)
        if server is None:
            raise TargetError(f"target {target} has no server of pileup's", LAUNCHED)
        known = server.names()
        if process and process not in known:
            raise TargetError(f"the server of target {target} has no process {process!r}", f"one of {', '.join(known)}")
        return server, process
