"""One file from a tape system that is polled, as tests of projects want it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from typing import Protocol

from pileup.plugin import Failed, NotThere, VerdictException
from pileup.plugin.tape import FileState, Stage, StagedFile, Step, Times

FORGOTTEN = "the library does not know the file any more"


class Polled(Protocol):
    """A system that is polled, with the time between two polls, ns."""

    poll: int

    def stage(self, paths: list[str], lifetime: int = 0, node: int = 0) -> str:
        """Ask for files; return the id of the request."""

    def followed(self, request: str) -> list[StagedFile]:
        """Return how far the files of a request are."""

    def forget(self, request: str) -> None:
        """Cancel and release all of a request."""


async def recalled(target: Polled, node: int, path: str) -> AsyncIterator[Step]:
    """Ask for a file in a request of its own, and yield what becomes of it; whoever leaves takes it back."""
    released = False
    asking = asyncio.ensure_future(asyncio.to_thread(_ask, target, node, path))
    try:
        asked, request = await asyncio.shield(asking)
        yield Step(Stage.ASKED, asked, request=request)
        news = News(time.time_ns())
        while not news.over:
            files = await asyncio.to_thread(target.followed, request)
            for step in news.of(next(iter(files), None)):
                yield step
            if not news.over:
                await asyncio.sleep(target.poll / 1e9)
        released = await _forget(target, request)
    finally:
        if not released:
            with suppress(VerdictException):  # it was not made
                await _forget(target, (await asking)[1])
    if released:
        yield Step(Stage.RELEASED, time.time_ns())


async def _forget(target: Polled, request: str) -> bool:
    """Take a request back; return whether the system does not know it any more."""
    try:
        await asyncio.to_thread(target.forget, request)
    except NotThere:
        return True
    except VerdictException:
        return False
    return True


def _ask(target: Polled, node: int, path: str) -> tuple[int, str]:
    """Ask for a file; return when, without the wait for this thread, and the id of the request."""
    return time.time_ns(), target.stage([path], node=node)


class News:
    """What polls say that those before did not."""

    def __init__(self, answered: int) -> None:
        """`answered`: when the system had taken the request, ns since the epoch."""
        self._answered = answered
        self._handed = self._begun = 0
        self.over = False
        """Whether the file is there."""

    def of(self, file: StagedFile | None) -> Iterator[Step]:
        """Yield the new steps of a file. Raises Failed when it does not come."""
        if file is None:
            raise Failed(FORGOTTEN)
        if file.state in {FileState.FAILED, FileState.CANCELLED}:
            raise Failed(file.error or f"the library says {file.state}")
        now = time.time_ns()
        known = self._known(file, now)
        if known.handed and not self._handed:
            self._handed = known.handed
            yield Step(Stage.HANDED, known.handed)
        if self._begun and known.begun != self._begun:
            self._begun = 0
            yield Step(Stage.REQUEUED, min(now, known.begun or now), known.drive)
        if known.begun and not self._begun:
            self._begun = known.begun
            yield Step(Stage.BEGUN, known.begun, known.drive)
        if file.state is FileState.COMPLETED:
            self.over = True
            yield Step(Stage.DELIVERED, known.ended, known.drive)

    def _known(self, file: StagedFile, now: int) -> Times:
        """Return the times that the system says, or else those of the polls."""
        if file.times is not None:
            return file.times
        there = file.state is FileState.COMPLETED
        begun = self._begun or (now if there or file.state is FileState.STARTED else 0)
        return Times(self._answered, begun, now if there else 0)
