"""Captures what tests print: each iteration has its own buffers, whatever runs at the same time."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NoReturn, TextIO, cast

from pileup.model.errors import Failed
from pileup.plugin.verdict import place

LARGEST = 1 << 20
"""Characters kept of one iteration and stream; more is counted."""


class Buffer:
    """The text that one iteration printed, cut at LARGEST."""

    __slots__ = ("_cut", "_room", "parts")

    def __init__(self) -> None:
        self.parts: list[str] = []
        """What was written, piece by piece; empty when nothing was."""
        self._room = LARGEST
        self._cut = 0

    def write(self, text: str) -> None:
        """Keep the text, as far as there is room."""
        self.parts.append(text[: self._room])
        self._cut += max(0, len(text) - self._room)
        self._room = max(0, self._room - len(text))

    def text(self) -> str:
        """Return what was kept, with a line that says how much was cut."""
        cut = f"\n[{self._cut} more characters cut]\n" if self._cut else ""
        return "".join(self.parts) + cut


_current: dict[str, ContextVar[Capture | None]] = {
    stream: ContextVar(f"pileup_{stream}", default=None) for stream in ("stdout", "stderr")
}


class Router:
    """Replaces sys.stdout or sys.stderr: sends text to the buffer of the iteration that prints, else on."""

    def __init__(self, stream: str, behind: TextIO) -> None:
        self._stream = stream
        self._behind = behind

    def write(self, text: str) -> int:
        """Write to the current iteration, or to the stream behind outside of one."""
        capture = _current[self._stream].get()
        if capture is None:
            return self._behind.write(text)
        buffer: Buffer = getattr(capture, self._stream)
        buffer.write(text)
        capture.printed = True
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._behind, name)


class NoInput(io.TextIOBase):
    """Replaces sys.stdin, because a test that reads from it would wait forever, as would a debugger."""

    def readline(self, limit: int = -1, /) -> NoReturn:  # type: ignore[override]
        """Refuse. Raises Failed."""
        raise Failed("the test reads its standard input", "none: a run has no debugger", DEBUG)

    read = readline  # type: ignore[assignment]


DEBUG = "to debug it: `pileup try SUITE TEST --pdb`"


def _no_breakpoint(*given: object, **named: object) -> NoReturn:
    caller = sys._getframe(1)
    told = f"breakpoint() at {place(caller.f_code.co_filename, caller.f_lineno)}"
    raise Failed(told, "none: a run has no debugger", DEBUG)


@contextmanager
def routed() -> Iterator[None]:
    """While it lasts, `capture` works: sys.stdout and sys.stderr are routers; nothing waits for somebody's input."""
    kept = sys.stdout, sys.stderr
    waiting = sys.stdin, sys.breakpointhook
    sys.stdout, sys.stderr = (cast(TextIO, Router(name, behind)) for name, behind in zip(_current, kept, strict=True))
    sys.stdin, sys.breakpointhook = NoInput(), _no_breakpoint
    try:
        yield
    finally:
        sys.stdout, sys.stderr = kept
        sys.stdin, sys.breakpointhook = waiting


class Capture:
    """Catches what a client prints in its thread or task, iteration after iteration."""

    __slots__ = ("_tokens", "printed", "stderr", "stdout")

    def __init__(self) -> None:
        self._renew()
        self._tokens = _current["stdout"].set(self), _current["stderr"].set(self)

    def _renew(self) -> None:
        self.stdout = Buffer()
        self.stderr = Buffer()
        self.printed = False
        """Whether `take` has something to return."""

    def take(self) -> tuple[tuple[str, str], ...]:
        """Return (stream, text) of what was printed since the last call, and begin again."""
        taken = ("stdout", self.stdout), ("stderr", self.stderr)
        self._renew()
        return tuple((stream, buffer.text()) for stream, buffer in taken if buffer.parts)

    def end(self) -> None:
        """Let the streams go."""
        _current["stdout"].reset(self._tokens[0])
        _current["stderr"].reset(self._tokens[1])
