"""Files on their way from tape to a node: each is opened in a thread, and followed in the log of the copy commands."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pileup.builtin.stager.names import FileNames
from pileup.builtin.stager.site import Site
from pileup.builtin.stager.transfers import LibraryEvent, Transfer, event_log, transfer_log
from pileup.builtin.xrootd.session import Sessions
from pileup.plugin import Ambiguous, Failed, PluginError, Refused
from pileup.plugin.logs import Log
from pileup.plugin.tape import Stage, Step

POLL = 0.02
"""Seconds between two looks into the logs while something is under way."""
AGAIN = 1.0
"""Seconds before a file is asked for again whose node did not answer."""
ATTEMPTS = 120
PATIENCE = 30 * 86_400
"""Seconds that an open may take: how long a test waits is its own `timeout`."""


class Opened(NamedTuple):
    """A file was opened, or not."""

    time: int
    problem: str


@dataclass(slots=True)
class Way:
    """A file that somebody waits for."""

    steps: asyncio.Queue[Transfer | Opened] = field(default_factory=asyncio.Queue)
    given_up: threading.Event = field(default_factory=threading.Event)
    drive: str = ""
    """The drive that reads it, or has read it."""


class Recalls:
    """All that is under way in one event loop."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._names = FileNames(site.rules, site.files)
        self._ways: dict[str, Way] = {}
        self._logs: tuple[Log[Transfer], Log[LibraryEvent]] | None = None
        """Those of the copy commands and of the library, open while something is under way."""
        self._follower: asyncio.Task[None] | None = None
        self._sessions = [Sessions({"url": f"root://{node}/{site.folder}"}, PATIENCE) for node in site.nodes]

    async def recall(self, node: int, path: str) -> AsyncIterator[Step]:
        """Open a file of the folder of `path` at a node; yield what becomes of it until it is open."""
        name = self._names.take(path.rpartition("/")[0])
        whole, way = f"{self._site.folder}/{name}", Way()
        self._ways[whole] = way
        self._begin_to_follow()
        asked = time.time_ns()
        self._open(node, name, way)
        try:
            yield Step(Stage.ASKED, asked)
            async for step in self._steps(way, asked):
                yield step
        finally:
            del self._ways[whole]
            way.given_up.set()

    async def _steps(self, way: Way, asked: int) -> AsyncIterator[Step]:
        handed, began, begun, reason = 0, asked, 0, ""
        while True:
            match await way.steps.get():
                case Transfer(event="started", time=at):
                    began = max(at, asked)
                    yield Step(Stage.REQUEUED if handed else Stage.HANDED, began)
                    handed = handed or began
                case Transfer(event="done", time=at) as done:
                    begun = min(began + done.queue_wait, at)
                case Transfer(event="failed", problem=reason):
                    pass
                case Opened(problem="", time=at):
                    if not handed:  # it was there
                        yield Step(Stage.HANDED, asked)
                    yield Step(Stage.BEGUN, min(begun or asked, at), way.drive)
                    yield Step(Stage.DELIVERED, at, way.drive)
                    return
                case Opened(problem=problem):
                    raise Failed(reason or problem)

    def _open(self, node: int, name: str, way: Way) -> None:
        """Open a file in a thread of its own, which waits as long as the stager takes."""
        loop = asyncio.get_running_loop()

        def tell(problem: str) -> None:
            opened = Opened(time.time_ns(), problem)
            with suppress(RuntimeError):  # the loop has ended: nobody waits
                loop.call_soon_threadsafe(self._opened, way, opened)

        def work() -> None:
            for attempt in range(ATTEMPTS):
                try:
                    with self._sessions[node].session(f"/{name}") as session:
                        session.read(name, self._site.size - 1, 1)
                    tell("")
                except Refused as problem:  # so XRootD calls it when a copy command has failed
                    tell(problem.what)
                except (Failed, Ambiguous) as problem:  # its XRootD is away, or has gone away meanwhile
                    if attempt + 1 < ATTEMPTS and not way.given_up.wait(AGAIN):
                        continue
                    tell(problem.what)
                break
            self._sessions[node].close()

        threading.Thread(target=work, name=f"open {name}", daemon=True).start()

    def _opened(self, way: Way, opened: Opened) -> None:
        self._look()  # what its copy command has noted comes first
        way.steps.put_nowait(opened)

    def _begin_to_follow(self) -> None:
        if self._logs is None:
            self._logs = transfer_log(self._site.transfers), event_log(self._site.events)
            self._follower = asyncio.get_running_loop().create_task(self._follow(*self._logs))

    async def _follow(self, *logs: Log[Any]) -> None:
        try:
            while self._ways:
                await asyncio.sleep(POLL)
                self._look()
        finally:
            self._logs = None
            for log in logs:
                log.close()

    def _look(self) -> None:
        """Bring what was noted to those who wait for it."""
        if self._logs is None:
            return
        transfers, events = self._logs
        with suppress(PluginError):  # whose folder is gone writes nothing
            for event in events.entries():
                if event.event == "begun" and (way := self._ways.get(event.path)):
                    way.drive = event.drive
            for transfer in transfers.entries():
                if way := self._ways.get(transfer.path):
                    way.steps.put_nowait(transfer)
