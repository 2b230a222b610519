"""Whole tracebacks of what went wrong in a load: the first few of each place in the user's code, the others counted."""

from __future__ import annotations

import threading
import traceback
from types import TracebackType
from typing import Protocol

from pileup.fleet.python.stacks import Stack
from pileup.model.errors import VerdictException
from pileup.plugin.verdict import Judge, place

STREAM = "tracebacks"
"""The stream of a case's output that they go to."""
KEPT = 3
"""Tracebacks kept of one place."""
PLACES = 50
"""Different places that are kept."""
LARGEST = 20_000
"""Characters kept of one: half from its beginning, half from its end."""
Place = tuple[str, str, int]
"""What it was (class of the exception), file and line."""


class Blocks(Protocol):
    """Where they go."""

    def append(self, stream: str, title: str, text: str) -> None:
        """Append one block."""


class Tracebacks:
    """Those of one load, from any thread."""

    def __init__(self, output: Blocks) -> None:
        self._output = output
        self._lock = threading.Lock()
        self._seen: dict[Place, int] = {}
        self._beyond = 0
        """How many were of places beyond PLACES."""

    def keep(self, title: str, problem: BaseException, judge: Judge) -> None:
        """Keep the traceback of an exception, unless it is a verdict that none of the user's code had a part in."""
        inner = judge.users_line(problem.__traceback__)
        if inner is None and isinstance(problem, VerdictException):
            return
        at = inner or problem.__traceback__
        file, line = (at.tb_frame.f_code.co_filename, at.tb_lineno) if at else ("", 0)
        if self._wanted((type(problem).__name__, file, line)):
            trace = _first(problem.__traceback__, judge) or problem.__traceback__
            told = traceback.TracebackException(type(problem), problem, trace, compact=True)
            self._output.append(STREAM, title, _bounded("".join(told.format())))

    def keep_stack(self, title: str, what: str, stack: Stack, judge: Judge) -> None:
        """Keep where something was given up, unless nothing of it is the user's code."""
        own = stack.of_test(judge.is_users)
        if own.lines and self._wanted((what, *own.innermost(judge.is_users))):
            self._output.append(STREAM, title, _bounded(f"{what}, stack (innermost last):\n{own.text()}"))

    def close(self) -> None:
        """Show how many were not kept."""
        with self._lock:
            more = {at: count - KEPT for at, count in self._seen.items() if count > KEPT}
            beyond, self._beyond = self._beyond, 0
            self._seen.clear()
        lines = [f"{count} more {what} at {place(file, line)}" for (what, file, line), count in more.items()]
        if beyond:
            lines.append(f"{beyond} at other places")
        if lines:
            self._output.append(STREAM, "not kept", "\n".join(lines))

    def _wanted(self, at: Place) -> bool:
        with self._lock:
            known = self._seen.get(at, 0)
            if not known and len(self._seen) >= PLACES:
                self._beyond += 1
                return False
            self._seen[at] = known + 1
        return known < KEPT


def _first(trace: TracebackType | None, judge: Judge) -> TracebackType | None:
    """Return a traceback from the user's first line on."""
    while trace is not None and not judge.is_users(trace.tb_frame.f_code.co_filename):
        trace = trace.tb_next
    return trace


def _bounded(text: str) -> str:
    if len(text) <= LARGEST:
        return text
    half = LARGEST // 2
    return f"{text[:half]}\n[{len(text) - LARGEST} characters cut]\n{text[-half:]}"
