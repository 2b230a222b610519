"""How a relay in a process of its own is asked and changed: one line of JSON each way over a unix socket."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from pileup.model.errors import TargetError
from pileup.model.units import format_time

if TYPE_CHECKING:
    from pileup._core._native import Relay

WITHIN = 5.0
"""Seconds that an answer may take."""
LONGEST = 1 << 16
"""Bytes of a question."""


class Late(TypedDict):
    """How late the answers were that went through a relay since its path was last changed, in ns."""

    answers: int
    p50: int
    p99: int
    most: int


class Counts(TypedDict):
    """What went through a relay so far; of two numbers the first is towards the server."""

    connections: int
    open: int
    refused: int
    resets: int
    half_open: int
    bytes: tuple[int, int]
    messages: tuple[int, int]
    turns: int
    late: Late


def told_late(late: Late) -> str:
    """Return in words what a relay has added to round trips by itself; empty when nothing is known of it."""
    middle, high, most = (format_time(late[word]) for word in ("p50", "p99", "most"))
    return f"answers late by {middle} (median), {high} (p99), at most {most}" if late["answers"] else ""


def ask(where: Path, change: Mapping[str, object] | None = None) -> Counts:
    """Ask a relay for its counts so far, and change its path then. Raises TargetError when it refuses or is silent."""
    try:
        with socket.socket(socket.AF_UNIX) as line:
            line.settimeout(WITHIN)
            line.connect(str(where))
            with line.makefile("rwb") as both:
                both.write(json.dumps({} if change is None else {"change": change}).encode() + b"\n")
                both.flush()
                answer: Any = json.loads(both.readline())
    except (OSError, ValueError) as problem:
        raise TargetError(f"it does not answer: {problem}", "a relay that runs") from problem
    if refused := answer.get("error"):
        raise TargetError(f"it refuses: {refused}")
    counts: Counts = answer["counts"]
    return counts


def serve(relay: Relay, where: Path) -> Callable[[], None]:
    """Answer at a path in a thread of its own; return what ends that."""
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(str(where))
    where.chmod(0o600)
    listening.listen()

    def answer_all() -> None:
        while True:
            try:
                line, _ = listening.accept()
            except OSError:
                return
            with line:
                _answer(relay, line)

    threading.Thread(target=answer_all, name="relay control", daemon=True).start()

    def end() -> None:
        listening.shutdown(socket.SHUT_RDWR)  # wakes who waits there
        listening.close()

    return end


def _answer(relay: Relay, line: socket.socket) -> None:
    line.settimeout(WITHIN)
    try:
        with line.makefile("rwb") as both:
            both.write(_done(relay, both.readline(LONGEST)).encode() + b"\n")
    except OSError:
        return


def _done(relay: Relay, question: bytes) -> str:
    try:
        asked, counts = json.loads(question), relay.counts()
        if "change" in asked:
            relay.change(json.dumps(asked["change"]))
        return f'{{"counts": {counts}}}'
    except (ValueError, TypeError) as problem:
        return json.dumps({"error": str(problem)})
