"""The practice tape library as a machine in virtual time."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing

from pileup._core._native import TapeLibrary
from pileup.builtin.tape.cache import Cache, Link
from pileup.builtin.tape.settings import MachineSettings
from pileup.plugin import Failed, VirtualTime
from pileup.plugin.tape import Stage, Step, TapeTarget

MEANINGS = {
    "queued": Stage.HANDED,
    "begun": Stage.BEGUN,
    "requeued": Stage.REQUEUED,
    "delivered": Stage.DELIVERED,
}
"""Event of the library -> what it means for a request."""
PROBLEMS = {
    "unreadable": "its cartridge cannot be read",
    "lost": "the library does not know the request any more",
}
"""Event of the library -> why no file comes."""


class SimulatedTape(TapeTarget):
    """A library, its stagers and the caches before them, moved by the clock of a simulation."""

    def __init__(self, settings: MachineSettings, time: VirtualTime) -> None:
        super().__init__()
        self._nodes = settings.nodes
        self._time = time
        rules = settings.rules(_number(f"{settings.seed} {time.seed}") >> 1)
        self._library = TapeLibrary(rules, settings.nodes, settings.max_transfers, time.now())
        self._waiting: dict[int, asyncio.Queue[Step | Failed]] = {}
        caches = {"none": 0, "central": 1, "node": settings.nodes}[settings.cache]
        self._caches = [Cache(settings.cache_size, settings.warm) for _ in range(caches)]
        self._link = Link(settings.cache_speed if settings.cache == "central" else None)
        self._fetched: dict[tuple[int, str], asyncio.Event] = {}
        """Files that are on their way from tape to a cache, each with who waits for that."""
        self._planned: int | None = None
        """When the library goes on, as the clock knows."""
        self._plan()

    @property
    def nodes(self) -> int:
        """Worker nodes, each with a stager of its own."""
        return self._nodes

    def recall(self, node: int, path: str, size: int) -> AsyncIterator[Step]:
        """Ask for a file at a node; the files of a folder lie on one cartridge."""
        return (self._cached if self._caches else self._from_tape)(node, path, size)

    async def _cached(self, node: int, path: str, size: int) -> AsyncIterator[Step]:
        """Ask a cache first."""
        place = node % len(self._caches)
        cache = self._caches[place]
        yield Step(Stage.ASKED, self._time.now())
        found = cache.has(path, size)
        while not found and (under_way := self._fetched.get((place, path))):
            yield Step(Stage.SHARED, self._time.now())
            await under_way.wait()
            found = cache.has(path, size)
        if found:
            yield Step(Stage.FOUND, self._time.now())
        else:
            async with aclosing(self._to_cache(place, node, path, size)) as steps:
                async for step in steps:
                    yield step
        await self._until(self._link.copy(self._time.now(), size))
        yield Step(Stage.DELIVERED, self._time.now())

    async def _to_cache(self, place: int, node: int, path: str, size: int) -> AsyncGenerator[Step]:
        """Fetch a file from tape for a cache; who asks for it meanwhile waits for that, and asks again if it fails."""
        over = self._fetched[place, path] = asyncio.Event()
        try:
            async with aclosing(self._from_tape(node, path, size)) as steps:
                async for step in steps:
                    if step.stage is Stage.DELIVERED:
                        self._caches[place].add(path, size)
                        yield step._replace(stage=Stage.CACHED)
                    elif step.stage is not Stage.ASKED:
                        yield step
        finally:
            del self._fetched[place, path]
            over.set()

    async def _until(self, time: int) -> None:
        if time > self._time.now():
            there = asyncio.Event()
            self._time.at(time, there.set)
            await there.wait()

    async def _from_tape(self, node: int, path: str, size: int) -> AsyncGenerator[Step]:
        """Ask the stager of a node."""
        asked = self._time.now()
        number = self._library.submit(asked, node, _number(path.rpartition("/")[0]), size)
        steps = self._waiting[number] = asyncio.Queue()
        self._tell()
        try:
            yield Step(Stage.ASKED, asked)
            while True:
                step = await steps.get()
                if isinstance(step, Failed):
                    raise step
                yield step
                if step.stage is Stage.DELIVERED:
                    return
        finally:
            del self._waiting[number]
            self._library.cancel(self._time.now(), number)  # nothing is done where it has ended
            self._tell()

    def _go_on(self) -> None:
        self._planned = None
        self._library.advance(self._time.now())
        self._tell()

    def _tell(self) -> None:
        """Bring what happened to those who wait for it."""
        for time, word, request, drive in self._library.take_events():
            steps = None if request is None else self._waiting.get(request)
            if steps is None:
                continue
            if word in PROBLEMS:
                steps.put_nowait(Failed(PROBLEMS[word]))
            elif word in MEANINGS:
                steps.put_nowait(Step(MEANINGS[word], time, "" if drive is None else f"d{drive}"))
        self._plan()

    def _plan(self) -> None:
        due = self._library.next()
        if due is not None and (self._planned is None or due < self._planned):
            self._planned = due
            self._time.at(due, self._go_on)


def _number(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")
