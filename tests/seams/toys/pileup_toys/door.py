"""A target with a protocol of its own over TCP, its client, and the server that `launch` starts."""

import socket
import socketserver
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pileup.plugin import (
    Accepts,
    Call,
    Daemon,
    Launcher,
    NotThere,
    ProgramClient,
    Refused,
    Target,
    TargetError,
    option,
)

NOBODY = "NOBODY"


def ask(host: str, port: int, line: str, seconds: float) -> str:
    """Send one line to a door and return the line that it answers. Raises OSError, also for no answer in time."""
    with socket.create_connection((host, port), timeout=seconds) as connection, connection.makefile("rw") as lines:
        lines.write(f"{line}\n")
        lines.flush()
        return lines.readline().strip()


class Door(Target):
    """A door that somebody answers, or nobody."""

    kind = "toy-door"
    provides = frozenset({"any", "files", "knocks"})

    floor: int = option(0, help="where it is")

    @classmethod
    def launcher(cls, settings: dict[str, Any], folder: Path) -> Launcher:
        """Start the server below."""
        if settings:
            raise ValueError(f"it has no settings {sorted(settings)}; expected launch: {{}}")
        command = (sys.executable, __file__, "{port}", "{folder}/knocks.log")
        return Launcher((Daemon(command, Accepts("{port}")),), url="toy://127.0.0.1:{port}")

    @property
    def address(self) -> tuple[str, int]:
        """Host and port."""
        host, _, port = self.url.removeprefix("toy://").rstrip("/").partition(":")
        return host, int(port)

    def program_client(self) -> Callable[[int], ProgramClient]:
        """Do the steps of native tests."""
        return lambda number: DoorClient(self)

    def problem_of(self, step: Any) -> str:
        """Say what it cannot do."""
        return DoorClient.problem(step)

    def probe(self) -> str:
        """Ask once."""
        try:
            return f"door on floor {self.floor}, {ask(*self.address, 'VERSION', 5)}"
        except OSError as problem:
            raise TargetError(f"{self.url} does not answer: {problem}", "a door", "is it open?") from problem

    def knock(self, name: str) -> str:
        """Return who answers, for tests in Python."""
        return ask(*self.address, f"KNOCK {name}", 5)

    def log(self) -> Path:
        """Return where the server writes its log."""
        return Path(ask(*self.address, "LOG", 5))


class DoorClient(ProgramClient):
    """The protocol as a client of native tests."""

    name = "door"

    def __init__(self, door: Door) -> None:
        self._door = door

    def stat(self, call: Call) -> int:
        """Knock, and take the length of the answer for a size."""
        answer = ask(*self._door.address, f"KNOCK {call.key}", call.leaves())
        if answer == NOBODY:
            raise NotThere("nobody is there")
        if not answer:
            raise Refused("the door was shut")
        return len(answer)


class Handler(socketserver.StreamRequestHandler):
    """Answers the lines of a connection."""

    def handle(self) -> None:
        """Answer until the other side has gone."""
        for line in self.rfile:
            begun = time.monotonic()
            verb, _, name = line.decode().strip().partition(" ")
            answers = {"VERSION": "toys 1", "LOG": sys.argv[2], "KNOCK": NOBODY if name == "empty" else f"IT IS {name}"}
            self.wfile.write(f"{answers.get(verb, '')}\n".encode())
            with Path(sys.argv[2]).open("a") as log:
                log.write(f"{verb} {name} took {time.monotonic() - begun:.6f} s\n")


class Server(socketserver.ThreadingTCPServer):
    """One thread for each connection."""

    allow_reuse_address = True
    daemon_threads = True


if __name__ == "__main__":
    with Server(("127.0.0.1", int(sys.argv[1])), Handler) as server:
        server.serve_forever()
