"""A dialogue of known length over TCP: who speaks when is a script, and one answer may be thought about in secret.

The practice target of `pileup trace`: what it finds can be compared with the script. In a script `>` is a message to
the server and `<` one back; the default is the session of a catalogue of 2007, 14 messages of which 8 go there and 6
come back.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable

from pileup.model.errors import TargetError

SCRIPT = ">> < > < > < > < > < >> <"
SIZE = 64
"""Bytes of a message."""
GAP = 0.005
"""Seconds that an end thinks between two messages of its own: what comes without a pause is one message."""
WAITS = 3
"""Number of the answer, from 1, before which the server waits."""


def words(script: str) -> str:
    """Return a script without its spaces. Raises ValueError for one that is none."""
    found = "".join(script.split())
    if not found or set(found) - {">", "<"}:
        raise ValueError(f"{script!r} is no script; expected > and <, e.g. {SCRIPT!r}")
    return found


def serve(script: str, wait: float, port: int = 0) -> tuple[int, Callable[[], None]]:
    """Follow a script with everybody who connects to 127.0.0.1, in threads; return the port, and what ends it.

    `wait` in seconds, before answer WAITS (the last one of a shorter script). Raises OSError for a port that is taken.
    """
    listening = socket.create_server(("127.0.0.1", port), backlog=1024)
    pauses = {min(WAITS, script.count("<")): wait}

    def accept() -> None:
        while True:
            try:
                line, _ = listening.accept()
            except OSError:
                return
            threading.Thread(target=_follow, args=(line, script, "<", pauses), daemon=True).start()

    threading.Thread(target=accept, name="dialogue", daemon=True).start()

    def end() -> None:
        listening.shutdown(socket.SHUT_RDWR)  # wakes who waits there
        listening.close()

    return listening.getsockname()[1], end


def talk(host: str, port: int, script: str, patience: float = 30.0) -> None:
    """Follow a script as the client. Raises TargetError when the server does not."""
    try:
        with socket.create_connection((host, port), patience) as line:
            if not _follow(line, script, ">", {}):
                raise TargetError("the server ended the dialogue early", "a server that follows the same script")
    except OSError as problem:
        raise TargetError(f"no dialogue with {host}:{port}: {problem}", "`pileup practice dialogue` there") from problem


def _follow(line: socket.socket, script: str, mine: str, pauses: dict[int, float]) -> bool:
    """Speak and listen by the script; return whether it came to its end."""
    line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    spoken, before = 0, ""
    with line:
        for who in script:
            if who != mine:
                if not _received(line):
                    return False
            else:
                spoken += 1
                time.sleep(pauses.get(spoken, 0.0) + (GAP if before == mine else 0.0))
                line.sendall(bytes(SIZE))
            before = who
    return True


def _received(line: socket.socket) -> bool:
    left = SIZE
    while left:
        piece = line.recv(left)
        if not piece:
            return False
        left -= len(piece)
    return True
