"""The practice tape library as a machine in virtual time."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable

from pileup._core._native import TapeLibrary
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
    """A library and its stagers, moved by the clock of a simulation."""

    def __init__(
        self, rules: Callable[[int], str], seed: int, nodes: int, max_transfers: int, time: VirtualTime
    ) -> None:
        """`rules` are those of the library with a seed, which is drawn from its own and that of the simulation."""
        super().__init__()
        self._nodes = nodes
        self._time = time
        self._library = TapeLibrary(rules(_number(f"{seed} {time.seed}") >> 1), nodes, max_transfers, time.now())
        self._waiting: dict[int, asyncio.Queue[Step | Failed]] = {}
        self._planned: int | None = None
        """When the library goes on, as the clock knows."""
        self._plan()

    @property
    def nodes(self) -> int:
        """Worker nodes, each with a stager of its own."""
        return self._nodes

    async def recall(self, node: int, path: str, size: int) -> AsyncIterator[Step]:
        """Ask the stager of a node for a file; the files of a folder lie on one cartridge."""
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
