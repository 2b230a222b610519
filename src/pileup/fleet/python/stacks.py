"""Where a thread or a task hangs: the part of its stack in the test's code."""

from __future__ import annotations

import asyncio
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from types import FrameType
from typing import Any

from pileup.plugin.verdict import place

MOST = 100
"""Lines of a stack that are kept: the innermost."""


@dataclass(frozen=True, slots=True)
class Stack:
    """Where something was: (file, line, function) from the outermost inwards."""

    lines: tuple[tuple[str, int, str], ...] = ()

    def of_test(self, is_users: Callable[[str], bool]) -> Stack:
        """Return it from the user's first line on; empty where none is the user's."""
        first = next((at for at, (file, _, _) in enumerate(self.lines) if is_users(file)), len(self.lines))
        return Stack(self.lines[first:])

    def innermost(self, is_users: Callable[[str], bool]) -> tuple[str, int]:
        """Return file and line of the user's innermost line; ("", 0) where none is the user's."""
        return next(((file, line) for file, line, _ in reversed(self.lines) if is_users(file)), ("", 0))

    def text(self) -> str:
        """Return it as Python writes it."""
        return "".join(traceback.format_list([(file, line, name, None) for file, line, name in self.lines]))


def stacks_of_threads(idents: Iterable[int]) -> list[Stack]:
    """Return where the threads of these numbers are now; empty for one that has ended."""
    frames = sys._current_frames()
    return [_stack(reversed(list(_outwards(frames.get(ident))))) for ident in idents]


def stack_of_thread(ident: int) -> Stack:
    """Return where the thread of a number is now; empty when it has ended."""
    return stacks_of_threads([ident])[0]


def stack_of_task(task: asyncio.Task[Any], loop_thread: int) -> Stack:
    """Return where a task waits, down to what it awaits in the end; where its loop is when it runs just now."""
    frames: list[FrameType] = []
    awaited: Any = task.get_coro()
    while awaited is not None:
        if getattr(awaited, "cr_running", False) or getattr(awaited, "gi_running", False):
            return stack_of_thread(loop_thread)
        frame = getattr(awaited, "cr_frame", None) or getattr(awaited, "gi_frame", None)
        if frame is None:
            break
        frames.append(frame)
        awaited = getattr(awaited, "cr_await", None) or getattr(awaited, "gi_yieldfrom", None)
    return _stack(iter(frames))


def hung(operation: str | None, stack: Stack, is_users: Callable[[str], bool]) -> str:
    """Return where an iteration hangs, in short: its open operation and the user's line."""
    file, line = stack.innermost(is_users)
    inside = f", in {operation!r}" if operation else ""
    return inside + (f" ({place(file, line)})" if file else "")


def _outwards(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def _stack(frames: Iterator[FrameType]) -> Stack:
    found = [(frame.f_code.co_filename, frame.f_lineno or 0, frame.f_code.co_name) for frame in frames]
    return Stack(tuple(found[-MOST:]))
